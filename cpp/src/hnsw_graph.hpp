// hnswlib behind the guards that it needs; private to the vector index.
//
// It holds pointers to vectors that live elsewhere, one entry a slot. Kept away from its faults: every entry
// is distinct and finite (the index sees to it), a label is never given to another vector, a search asks for
// ef results instead of changing the shared ef, its replace_deleted and its save and load are not used.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ripple/params.hpp"
#include "ripple/vector_slots.hpp"

namespace hnswlib {
class BaseFilterFunctor;
}

namespace ripple {

struct ScoredSlot {
  Slot slot = kNoSlot;
  float score = 0.0F;
};

class HnswGraph {
 public:
  HnswGraph(std::size_t dimension, const VectorIndexOptions& options, std::size_t capacity);
  HnswGraph(const HnswGraph&) = delete;
  HnswGraph& operator=(const HnswGraph&) = delete;
  ~HnswGraph();

  // The vector must stay where it is as long as the graph lives. Grows when full. std::bad_alloc,
  // std::runtime_error.
  void add(Slot slot, const float* vector);

  [[nodiscard]] bool holds(Slot slot) const;
  void mark_deleted(Slot slot);
  void unmark_deleted(Slot slot);

  [[nodiscard]] std::size_t entries() const;
  [[nodiscard]] std::size_t deleted() const;

  // Up to ef entries near the query that are not deleted and pass the filter, in no order. Searches may run
  // side by side.
  [[nodiscard]] std::vector<ScoredSlot> search(std::span<const float> query, std::size_t ef,
                                               hnswlib::BaseFilterFunctor& filter) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ripple
