// The one tie rule of the core: score down, then row up. Every ranked list is made here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "ripple/types.hpp"

namespace ripple {

// True when a stands before b in a ranked list.
[[nodiscard]] inline bool ranks_before(const ScoredRow& a, const ScoredRow& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

// Keeps the best k of what is pushed, by an order in which no two elements are equal.
// O(log k) a push that enters, O(1) otherwise.
template <class T, auto Before>
class TopBy {
 public:
  explicit TopBy(std::size_t k) : k_(k) { heap_.reserve(k < 4'096 ? k : 4'096); }

  void push(const T& candidate) {
    if (heap_.size() < k_) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end(), Before);
    } else if (k_ != 0 && Before(candidate, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), Before);
      heap_.back() = candidate;
      std::push_heap(heap_.begin(), heap_.end(), Before);
    }
  }

  // True when nothing that stands at or behind the candidate can enter any more.
  [[nodiscard]] bool is_closed_to(const T& candidate) const {
    return heap_.size() == k_ && (k_ == 0 || !Before(candidate, heap_.front()));
  }

  // The last of the kept; nullptr while there is room.
  [[nodiscard]] const T* worst() const { return heap_.size() < k_ || k_ == 0 ? nullptr : heap_.data(); }

  // What was kept, best first; leaves the collector empty.
  [[nodiscard]] std::vector<T> take() {
    std::sort_heap(heap_.begin(), heap_.end(), Before);
    return std::exchange(heap_, {});
  }

 private:
  std::size_t k_;
  std::vector<T> heap_;
};

// Rows by score. Scores must not be NaN.
class TopK : public TopBy<ScoredRow, ranks_before> {
 public:
  using TopBy::TopBy;

  // The score that a candidate must at least reach; lowest float while the list is not full.
  [[nodiscard]] float floor_score() const {
    return worst() == nullptr ? std::numeric_limits<float>::lowest() : worst()->score;
  }
};

}  // namespace ripple
