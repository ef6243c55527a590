#include "hnsw_graph.hpp"

#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cstring>

#include "ripple/distance.hpp"

namespace ripple {
namespace {

struct DotParameters {
  std::size_t dimension;
  float (*dot)(std::span<const float>, std::span<const float>);
};

// hnswlib hands over its copies of an entry's data: here, pointers to the vectors. The distance is the
// negative dot product, not 1 minus it: that would round away what tells near neighbours apart.
float negative_dot(const void* a, const void* b, const void* parameters) {
  const auto& p = *static_cast<const DotParameters*>(parameters);
  const float* left = nullptr;  // copied out: hnswlib does not align an entry's data
  const float* right = nullptr;
  std::memcpy(static_cast<void*>(&left), a, sizeof left);
  std::memcpy(static_cast<void*>(&right), b, sizeof right);
  return -p.dot({left, p.dimension}, {right, p.dimension});
}

class PointerSpace final : public hnswlib::SpaceInterface<float> {
 public:
  explicit PointerSpace(std::size_t dimension) : parameters_{dimension, distance_kernels().dot} {}
  std::size_t get_data_size() override { return sizeof(const float*); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return negative_dot; }
  void* get_dist_func_param() override { return &parameters_; }

 private:
  DotParameters parameters_;
};

}  // namespace

struct HnswGraph::Parts {
  Parts(std::size_t dimension, const VectorIndexOptions& options, std::size_t capacity)
      : space(dimension),
        graph(&space, std::max<std::size_t>(capacity, 1), options.max_links, options.ef_construction,
              static_cast<std::size_t>(options.seed)) {}

  [[nodiscard]] hnswlib::tableint entry(Slot slot) const { return graph.label_lookup_.at(slot); }

  PointerSpace space;  // the graph points into it
  hnswlib::HierarchicalNSW<float> graph;
};

HnswGraph::HnswGraph(std::size_t dimension, const VectorIndexOptions& options, std::size_t capacity)
    : parts_(std::make_unique<Parts>(dimension, options, capacity)) {}

HnswGraph::~HnswGraph() = default;

void HnswGraph::add(Slot slot, const float* vector) {
  auto& graph = parts_->graph;
  if (entries() == graph.max_elements_) {
    graph.resizeIndex(graph.max_elements_ + graph.max_elements_ / 2 + 64);
  }
  graph.addPoint(static_cast<const void*>(&vector), slot);
}

bool HnswGraph::holds(Slot slot) const { return parts_->graph.label_lookup_.contains(slot); }

void HnswGraph::mark_deleted(Slot slot) { parts_->graph.markDeletedInternal(parts_->entry(slot)); }

void HnswGraph::unmark_deleted(Slot slot) { parts_->graph.unmarkDeletedInternal(parts_->entry(slot)); }

std::size_t HnswGraph::entries() const { return parts_->graph.cur_element_count; }

std::size_t HnswGraph::deleted() const { return parts_->graph.num_deleted_; }

std::vector<ScoredSlot> HnswGraph::search(std::span<const float> query, std::size_t ef,
                                          hnswlib::BaseFilterFunctor& filter) const {
  const float* data = query.data();
  auto nearest = parts_->graph.searchKnn(static_cast<const void*>(&data), ef, &filter);
  std::vector<ScoredSlot> found;
  found.reserve(nearest.size());
  for (; !nearest.empty(); nearest.pop()) {
    found.push_back({static_cast<Slot>(nearest.top().second), -nearest.top().first});
  }
  return found;
}

}  // namespace ripple
