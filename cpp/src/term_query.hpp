// What the searches of the lexical index share: the query as ascending ids, the BM25 formula, and the sum of
// the postings of several terms.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "ripple/lexical_index.hpp"
#include "ripple/params.hpp"
#include "ripple/topk.hpp"
#include "ripple/types.hpp"

namespace ripple {

// The one order of summation: ids ascending, no repeats.
[[nodiscard]] inline std::vector<TermId> distinct_terms(std::span<const TermId> query) {
  std::vector<TermId> terms(query.begin(), query.end());
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  return terms;
}

// Where a row stands in postings, or would.
[[nodiscard]] auto find_row(auto& postings, Row row) {
  return std::lower_bound(postings.begin(), postings.end(), row,
                          [](const Posting& posting, Row wanted) { return posting.row < wanted; });
}

class Bm25Formula {
 public:
  Bm25Formula(const Bm25Options& options, double average_length)
      : gain_(double{options.k1} + 1.0),
        base_(double{options.k1} * (1.0 - double{options.b})),
        slope_(double{options.k1} * double{options.b} / average_length) {}

  [[nodiscard]] double norm(double length) const { return base_ + slope_ * length; }
  [[nodiscard]] double part(double idf, std::uint32_t count, double norm) const {
    const auto tf = static_cast<double>(count);
    return idf * gain_ * tf / (tf + norm);
  }

 private:
  double gain_;
  double base_;
  double slope_;
};

// The postings of one query term, in row order, and its weight.
struct WeightedPostings {
  std::span<const Posting> postings;
  double idf = 0.0;
};

// The k best allowed rows by the sum over the lists, taken in their order. Summed block of rows by block of
// rows, so that the sums stay in the first cache and nothing of the size of the store is cleared for a query.
// length(row) is asked once a row.
template <class Length>
class BlockSearch {
 public:
  BlockSearch(const Bm25Formula& formula, const RowMask& allowed, Length length)
      : formula_(formula), allowed_(allowed), length_(std::move(length)) {}

  [[nodiscard]] std::vector<ScoredRow> best(std::vector<WeightedPostings> lists, std::size_t k) {
    TopK best(k);
    for (Row base = next_row(lists); base != kNoRow; base = next_row(lists)) {
      base -= base % kBlock;
      for (WeightedPostings& list : lists) {
        add_block(list, base);
      }
      for (const Row row : touched_) {
        best.push({row, static_cast<float>(std::exchange(sums_[row - base], 0.0))});
      }
      touched_.clear();
    }
    return best.take();
  }

 private:
  static constexpr Row kBlock = 1'024;

  // The first row that any list still holds; kNoRow at the end.
  [[nodiscard]] static Row next_row(std::span<const WeightedPostings> lists) {
    Row first = kNoRow;
    for (const WeightedPostings& list : lists) {
      first = list.postings.empty() ? first : std::min(first, list.postings.front().row);
    }
    return first;
  }

  void add_block(WeightedPostings& list, Row base) {
    std::size_t used = 0;
    for (; used < list.postings.size() && list.postings[used].row - base < kBlock; ++used) {
      const auto [row, count] = list.postings[used];
      if (!allowed_.test(row)) {
        continue;
      }
      double& sum = sums_[row - base];
      if (sum == 0.0) {
        touched_.push_back(row);
        norms_[row - base] = formula_.norm(length_(row));
      }
      sum += formula_.part(list.idf, count, norms_[row - base]);
    }
    list.postings = list.postings.subspan(used);
  }

  Bm25Formula formula_;
  const RowMask& allowed_;
  Length length_;
  std::array<double, kBlock> sums_{};
  std::array<double, kBlock> norms_{};
  std::vector<Row> touched_;
};

}  // namespace ripple
