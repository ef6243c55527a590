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

// Keeps the best k of what is pushed. O(log k) a push that enters, O(1) otherwise. Scores must not be NaN.
class TopK {
 public:
  explicit TopK(std::size_t k) : k_(k) { heap_.reserve(k < 4'096 ? k : 4'096); }

  void push(ScoredRow candidate) {
    if (heap_.size() < k_) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    } else if (k_ != 0 && ranks_before(candidate, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), ranks_before);
      heap_.back() = candidate;
      std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    }
  }

  // The score that a candidate must at least reach; lowest float while the list is not full.
  [[nodiscard]] float floor_score() const {
    return heap_.size() < k_ || k_ == 0 ? std::numeric_limits<float>::lowest() : heap_.front().score;
  }

  // The kept rows, best first; leaves the collector empty.
  [[nodiscard]] std::vector<ScoredRow> take() {
    std::sort_heap(heap_.begin(), heap_.end(), ranks_before);
    return std::exchange(heap_, {});
  }

 private:
  std::size_t k_;
  std::vector<ScoredRow> heap_;
};

}  // namespace ripple
