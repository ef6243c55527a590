// What the searches of the lexical index share: the query as ascending ids, and the BM25 formula.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "ripple/params.hpp"
#include "ripple/types.hpp"

namespace ripple {

// The one order of summation: ids ascending, no repeats.
[[nodiscard]] inline std::vector<TermId> distinct_terms(std::span<const TermId> query) {
  std::vector<TermId> terms(query.begin(), query.end());
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  return terms;
}

class Bm25Formula {
 public:
  Bm25Formula(const Bm25Options& options, double average_length)
      : gain_(double{options.k1} + 1.0),
        base_(double{options.k1} * (1.0 - double{options.b})),
        slope_(double{options.k1} * double{options.b} / average_length) {}

  [[nodiscard]] double part(double idf, std::uint32_t count, std::uint32_t length) const {
    return part(idf, count, norm(length));
  }
  [[nodiscard]] double part(double idf, std::uint32_t count, double norm) const {
    const auto tf = static_cast<double>(count);
    return idf * gain_ * tf / (tf + norm);
  }
  [[nodiscard]] double norm(double length) const { return base_ + slope_ * length; }

 private:
  double gain_;
  double base_;
  double slope_;
};

}  // namespace ripple
