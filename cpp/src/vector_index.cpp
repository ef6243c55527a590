#include "ripple/vector_index.hpp"

#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "hnsw_graph.hpp"
#include "ripple/distance.hpp"
#include "ripple/error.hpp"
#include "ripple/topk.hpp"

namespace ripple {
namespace {

constexpr double kNormMin = 1e-12;
constexpr double kNormMax = 1e12;
constexpr std::size_t kEfMin = 64;
// A vector this close to unit length keeps its bits, so that what was read out comes back as it was.
constexpr double kUnitTolerance = 1e-6;
// Entries that a search of the graph compares for each result it keeps, times the share that the filter
// allows: measured 10 to 23 with M = 16, ef = 96 and a tenth or more allowed.
constexpr double kVisitsPerResult = 20.0;
constexpr std::size_t kSelfRecallDepth = 10;

std::size_t hash_of(std::span<const float> unit) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(unit.data()), unit.size_bytes()});
}

// The vector at unit length; + 0 turns -0 into 0, so that equal vectors have equal bits.
std::vector<float> to_unit(std::span<const float> vector) {
  double squares = 0.0;
  for (const float value : vector) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const double norm = std::sqrt(squares);
  if (!(norm >= kNormMin && norm <= kNormMax)) {  // also when NaN or inf is among the values
    std::ostringstream message;
    message << "vector has the length " << norm << "; it must be finite, at least 1e-12 and at most 1e12";
    throw std::invalid_argument(message.str());
  }
  const double divisor = std::abs(norm - 1.0) <= kUnitTolerance ? 1.0 : norm;
  std::vector<float> unit(vector.size());
  std::transform(vector.begin(), vector.end(), unit.begin(),
                 [divisor](float value) { return static_cast<float>(value / divisor) + 0.0F; });
  return unit;
}

}  // namespace

VectorIndex::VectorIndex(std::size_t dimension, const VectorIndexOptions& options)
    : options_(options), slots_(dimension) {
  if (dimension == 0) {
    throw std::invalid_argument("dimension is 0; it must be at least 1");
  }
  if (options.max_links < 2 ||
      options.max_links > 1'000) {  // hnswlib divides by log M and counts links in 16 bits
    throw std::invalid_argument("max_links is " + std::to_string(options.max_links) +
                                "; it must be between 2 and 1000");
  }
  static_cast<void>(distance_kernels());  // a wrong RIPPLE_ISA shows here, not in the first search
}

VectorIndex::VectorIndex(VectorIndex&&) noexcept = default;
VectorIndex& VectorIndex::operator=(VectorIndex&&) noexcept = default;
VectorIndex::~VectorIndex() = default;

void VectorIndex::add(Row row, std::span<const float> vector) {
  if (vector.size() != dimension()) {
    throw DimensionMismatchError("vector has dimension " + std::to_string(vector.size()) + ", index has " +
                                 std::to_string(dimension()));
  }
  if (row == kNoRow || contains(row)) {
    throw std::invalid_argument("row " + std::to_string(row) + " cannot be added: it " +
                                (row == kNoRow ? "is no row" : "has a vector already"));
  }
  const std::vector<float> unit = to_unit(vector);
  if (row >= slot_of_row_.size()) {
    slot_of_row_.resize(row + std::size_t{1}, kNoSlot);
  }
  const std::size_t hash = hash_of(unit);
  Slot slot = find_equal(unit, hash);
  if (slot == kNoSlot) {
    slot = claim_slot(unit, hash);
  }
  if (is_live(slot)) {
    further_rows_[slot].push_back(row);
  } else {
    row_of_slot_[slot] = row;
    ++live_slots_;
    enter_graphs(slot);
  }
  slot_of_row_[row] = slot;
  ++size_;
}

void VectorIndex::remove(Row row) {
  const Slot slot = slot_of(row);
  if (slot == kNoSlot) {
    return;
  }
  slot_of_row_[row] = kNoSlot;
  --size_;
  if (const auto shared = further_rows_.find(slot); shared != further_rows_.end()) {
    std::vector<Row>& others = shared->second;
    if (row_of_slot_[slot] == row) {
      row_of_slot_[slot] = others.back();
      others.pop_back();
    } else {
      others.erase(std::find(others.begin(), others.end(), row));
    }
    if (others.empty()) {
      further_rows_.erase(shared);
    }
    return;
  }
  row_of_slot_[slot] = kNoRow;
  --live_slots_;
  bool is_referenced = false;
  for (HnswGraph* graph : {graph_.get(), building_.get()}) {
    if (graph != nullptr && graph->holds(slot)) {
      graph->mark_deleted(slot);
      is_referenced = true;
    }
  }
  if (!is_referenced) {
    release_slot(slot);
  }
  if (graph_ != nullptr && live_slots_ < options_.exact_below / 2) {
    drop_graph();
  }
}

std::span<const float> VectorIndex::vector(Row row) const {
  const Slot slot = slot_of(row);
  return slot == kNoSlot ? std::span<const float>{} : slots_.vector(slot);
}

float VectorIndex::dot(std::span<const float> query, Row row) const {
  if (query.size() != dimension()) {
    check_query(query);
  }
  const Slot slot = slot_of(row);
  return slot == kNoSlot ? 0.0F : distance_kernels().dot(query, slots_.vector(slot));
}

VectorIndexStats VectorIndex::stats() const {
  VectorIndexStats stats{.rows = size_, .distinct = live_slots_};
  if (graph_ != nullptr) {
    stats.graph_entries = graph_->entries();
    stats.graph_deleted = graph_->deleted();
  }
  return stats;
}

void VectorIndex::check_query(std::span<const float> query) const {
  if (query.size() != dimension()) {
    throw DimensionMismatchError("query has dimension " + std::to_string(query.size()) + ", index has " +
                                 std::to_string(dimension()) + "; use the embedder that made the vectors");
  }
  if (!std::all_of(query.begin(), query.end(), [](float value) { return std::isfinite(value); })) {
    throw std::invalid_argument("query holds NaN or inf; all its values must be finite");
  }
}

std::vector<ScoredRow> VectorIndex::search_exact(std::span<const float> query, std::size_t k,
                                                 const RowMask& allowed) const {
  check_query(query);
  TopK best(k);
  const DistanceKernels& kernels = distance_kernels();
  allowed.for_each([&](Row row) {
    if (const Slot slot = slot_of(row); slot != kNoSlot) {
      best.push({row, kernels.dot(query, slots_.vector(slot))});
    }
  });
  return best.take();
}

std::vector<ScoredRow> VectorIndex::search(std::span<const float> query, std::size_t k,
                                           const RowMask& allowed) const {
  check_query(query);
  if (graph_ != nullptr) {
    const std::size_t matching = std::min(allowed.count(), size_);
    const std::size_t wanted = std::min(k, matching);
    std::size_t ef = std::max({options_.ef_search, wanted, kEfMin});
    for (int attempt = 0; attempt < 2 && graph_pays(matching, ef); ++attempt, ef *= 4) {
      if (auto found = search_graph(query, wanted, ef, allowed); found.size() == wanted) {
        return found;
      }
    }
  }
  return search_exact(query, k, allowed);
}

// A filtered search visits about ef / selectivity entries; a scan visits the matching rows.
bool VectorIndex::graph_pays(std::size_t matching, std::size_t ef) const {
  const auto rows = static_cast<double>(matching);
  return matching > options_.exact_below &&
         rows * rows > kVisitsPerResult * static_cast<double>(ef) * static_cast<double>(size_);
}

template <class Visit>
void VectorIndex::for_each_row(Slot slot, Visit&& visit) const {
  if (!is_live(slot)) {
    return;
  }
  visit(row_of_slot_[slot]);
  if (const auto shared = further_rows_.find(slot); shared != further_rows_.end()) {
    std::for_each(shared->second.begin(), shared->second.end(), visit);
  }
}

std::vector<ScoredRow> VectorIndex::search_graph(std::span<const float> query, std::size_t k, std::size_t ef,
                                                 const RowMask& allowed) const {
  class AllowedSlots final : public hnswlib::BaseFilterFunctor {
   public:
    AllowedSlots(const VectorIndex& index, const RowMask& allowed) : index_(index), allowed_(allowed) {}
    bool operator()(hnswlib::labeltype label) override {
      bool is_allowed = false;
      index_.for_each_row(static_cast<Slot>(label), [&](Row row) { is_allowed |= allowed_.test(row); });
      return is_allowed;
    }

   private:
    const VectorIndex& index_;
    const RowMask& allowed_;
  };
  AllowedSlots filter(*this, allowed);
  TopK best(k);
  for (const ScoredSlot& found : graph_->search(query, ef, filter)) {
    for_each_row(found.slot, [&](Row row) {
      if (allowed.test(row)) {
        best.push({row, found.score});
      }
    });
  }
  return best.take();
}

bool VectorIndex::wants_graph() const {
  if (live_slots_ <= options_.exact_below) {
    return false;
  }
  return graph_ == nullptr || static_cast<double>(graph_->deleted()) >=
                                  options_.rebuild_at_deleted * static_cast<double>(graph_->entries());
}

bool VectorIndex::build_step(std::size_t rows) {
  if (building_ == nullptr) {
    building_ = std::make_unique<HnswGraph>(dimension(), options_, live_slots_ + live_slots_ / 8);
    build_cursor_ = 0;
  }
  try {
    for (std::size_t added = 0; added < rows && build_cursor_ < slots_.size(); ++build_cursor_) {
      if (is_live(build_cursor_)) {
        building_->add(build_cursor_, slots_.data(build_cursor_));
        ++added;
      }
    }
  } catch (...) {
    building_.reset();  // hnswlib leaves a half-made entry behind when memory ends
    throw;
  }
  return build_cursor_ == slots_.size();
}

void VectorIndex::adopt_graph() {
  if (building_ == nullptr) {
    return;
  }
  build_step(slots_.size());
  graph_ = std::move(building_);
  release_unreferenced_slots();
}

double VectorIndex::self_recall(std::size_t sample) const {
  if (graph_ == nullptr || sample == 0) {
    return 1.0;
  }
  RowMask all(slot_of_row_.size());
  std::vector<Row> rows;
  for (Row row = 0; row < slot_of_row_.size(); ++row) {
    if (contains(row)) {
      all.set(row);
      rows.push_back(row);
    }
  }
  const std::size_t tried = std::min(sample, rows.size());
  std::size_t found = 0;
  for (std::size_t i = 0; i < tried; ++i) {
    const Row row = rows[i * rows.size() / tried];
    const auto nearest =
        search_graph(vector(row), kSelfRecallDepth, std::max(options_.ef_search, kEfMin), all);
    found += std::any_of(nearest.begin(), nearest.end(),
                         [&](const ScoredRow& hit) { return slot_of(hit.row) == slot_of(row); });
  }
  return tried == 0 ? 1.0 : static_cast<double>(found) / static_cast<double>(tried);
}

Slot VectorIndex::find_equal(std::span<const float> unit, std::size_t hash) const {
  const auto [first, last] = slot_by_hash_.equal_range(hash);
  const auto equal = std::find_if(first, last, [&](const auto& entry) {
    const auto held = slots_.vector(entry.second);
    return std::equal(held.begin(), held.end(), unit.begin());
  });
  return equal == last ? kNoSlot : equal->second;
}

Slot VectorIndex::claim_slot(std::span<const float> unit, std::size_t hash) {
  Slot slot = kNoSlot;
  if (free_slots_.empty()) {
    slot = slots_.append();
    row_of_slot_.resize(slots_.size(), kNoRow);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_.write(slot, unit);
  slot_by_hash_.emplace(hash, slot);
  return slot;
}

void VectorIndex::release_slot(Slot slot) {
  const auto [first, last] = slot_by_hash_.equal_range(hash_of(slots_.vector(slot)));
  const auto entry =
      std::find_if(first, last, [&](const auto& candidate) { return candidate.second == slot; });
  if (entry != last) {  // absent when the slot was free already
    slot_by_hash_.erase(entry);
  }
  free_slots_.push_back(slot);
}

void VectorIndex::release_unreferenced_slots() {
  free_slots_.clear();
  for (Slot slot = 0; slot < slots_.size(); ++slot) {
    const bool is_referenced =
        (graph_ != nullptr && graph_->holds(slot)) || (building_ != nullptr && building_->holds(slot));
    if (!is_live(slot) && !is_referenced) {
      release_slot(slot);
    }
  }
}

// A vector that comes back after its removal finds its old entry and takes it up again.
void VectorIndex::enter_graphs(Slot slot) {
  const auto enter = [&](HnswGraph& graph) {
    if (graph.holds(slot)) {
      graph.unmark_deleted(slot);
    } else {
      graph.add(slot, slots_.data(slot));
    }
  };
  try {
    if (graph_ != nullptr) {
      enter(*graph_);
    }
    if (building_ != nullptr && slot < build_cursor_) {
      enter(*building_);
    }
  } catch (const std::exception&) {
    // Out of memory inside hnswlib: the exact scan needs no graph, and wants_graph asks for a new one.
    drop_graph();
  }
}

void VectorIndex::drop_graph() {
  graph_.reset();
  building_.reset();
  release_unreferenced_slots();
}

}  // namespace ripple
