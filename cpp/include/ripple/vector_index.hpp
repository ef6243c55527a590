// The dense view: unit vectors by row, and the rows nearest to a query.
// Below VectorIndexOptions::exact_below rows, and for narrow filters, every allowed row is compared; above it
// an HNSW graph (hnswlib) answers, with the exact scan as its fallback.
//
// Not locked inside: const functions may run side by side, all others run alone. The one exception is
// build_step, which touches only the graph being built: one thread may call it beside any number of readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "ripple/params.hpp"
#include "ripple/row_mask.hpp"
#include "ripple/types.hpp"
#include "ripple/vector_slots.hpp"

namespace ripple {

class HnswGraph;

struct VectorIndexStats {
  std::size_t rows = 0;
  std::size_t distinct = 0;       // rows with the same vector share one
  std::size_t graph_entries = 0;  // 0 while there is no graph
  std::size_t graph_deleted = 0;  // entries of the graph that no row uses any more
};

class VectorIndex {
 public:
  // std::invalid_argument for a dimension of 0 and for options that hnswlib cannot take.
  explicit VectorIndex(std::size_t dimension, const VectorIndexOptions& options = {});
  VectorIndex(VectorIndex&&) noexcept;
  VectorIndex& operator=(VectorIndex&&) noexcept;
  ~VectorIndex();

  // Copies the vector and scales it to unit length; within 1e-6 of it, it is kept bit for bit. Throws before
  // any change: DimensionMismatchError for another length; std::invalid_argument for NaN, inf, a norm below
  // 1e-12 or above 1e12, and a row that is held already. O(dimension), and one insertion into the graph where
  // there is one.
  void add(Row row, std::span<const float> vector);

  // Nothing happens when the row is not held.
  void remove(Row row);

  [[nodiscard]] bool contains(Row row) const { return slot_of(row) != kNoSlot; }

  // Unit length; empty when the row is not held. The address stays while the row is held.
  [[nodiscard]] std::span<const float> vector(Row row) const;

  // The cosine when the query has unit length; 0 when the row is not held. DimensionMismatchError.
  [[nodiscard]] float dot(std::span<const float> query, Row row) const;

  [[nodiscard]] std::size_t dimension() const { return slots_.dimension(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] VectorIndexStats stats() const;

  // The k allowed rows with the highest dot product, score down then row up; fewer only when fewer allowed
  // rows are held. By the graph where that is cheaper, then approximate. DimensionMismatchError,
  // std::invalid_argument (NaN or inf).
  [[nodiscard]] std::vector<ScoredRow> search(std::span<const float> query, std::size_t k,
                                              const RowMask& allowed) const;

  // The same, exactly: O(allowed rows * dimension).
  [[nodiscard]] std::vector<ScoredRow> search_exact(std::span<const float> query, std::size_t k,
                                                    const RowMask& allowed) const;

  // True when there are more than exact_below vectors and no graph, or a graph with too many deleted entries.
  [[nodiscard]] bool wants_graph() const;

  // Adds up to `rows` vectors to the graph being built, and starts one when there is none. True when it
  // covers everything. Vectors that are added, removed or revived between the steps are taken care of.
  bool build_step(std::size_t rows);

  // Puts the built graph in place of the old one, after adding what came since the last step. Nothing happens
  // when none is being built: an index that shrinks below half of exact_below drops both.
  void adopt_graph();

  [[nodiscard]] bool has_graph() const { return graph_ != nullptr; }

  // Audit: the share of `sample` evenly spread vectors that a search of the graph finds among the 10 nearest
  // to themselves. 1 when there is no graph.
  [[nodiscard]] double self_recall(std::size_t sample) const;

 private:
  [[nodiscard]] Slot slot_of(Row row) const {
    return row < slot_of_row_.size() ? slot_of_row_[row] : kNoSlot;
  }
  [[nodiscard]] bool is_live(Slot slot) const { return row_of_slot_[slot] != kNoRow; }
  void check_query(std::span<const float> query) const;
  [[nodiscard]] bool graph_pays(std::size_t matching, std::size_t ef) const;
  [[nodiscard]] std::vector<ScoredRow> search_graph(std::span<const float> query, std::size_t k,
                                                    std::size_t ef, const RowMask& allowed) const;
  template <class Visit>
  void for_each_row(Slot slot, Visit&& visit) const;  // the rows that share the slot
  [[nodiscard]] Slot find_equal(std::span<const float> unit, std::size_t hash) const;
  Slot claim_slot(std::span<const float> unit, std::size_t hash);
  void release_slot(Slot slot);
  void release_unreferenced_slots();
  void enter_graphs(Slot slot);
  void drop_graph();

  VectorIndexOptions options_;
  VectorSlots slots_;
  std::vector<Slot> slot_of_row_;
  std::vector<Row> row_of_slot_;  // the first row; kNoRow when no row uses the slot
  std::unordered_map<Slot, std::vector<Row>> further_rows_;  // of slots that several rows share
  std::unordered_multimap<std::size_t, Slot> slot_by_hash_;  // every slot that is live or still in a graph
  std::vector<Slot> free_slots_;
  std::size_t size_ = 0;
  std::size_t live_slots_ = 0;
  std::unique_ptr<HnswGraph> graph_;
  std::unique_ptr<HnswGraph> building_;
  Slot build_cursor_ = 0;  // slots below it are in building_, if they were live when it passed
};

}  // namespace ripple
