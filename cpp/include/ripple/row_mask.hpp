// A set of rows as plain bits: which units a search may return. Cheap to test in inner loops.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ripple/types.hpp"

namespace ripple {

class RowMask {
 public:
  RowMask() = default;
  explicit RowMask(std::size_t rows) : words_((rows + 63) / 64) {}

  // False for rows beyond the end.
  [[nodiscard]] bool test(Row row) const {
    const std::size_t word = row >> 6U;
    return word < words_.size() && ((words_[word] >> (row & 63U)) & 1U) != 0;
  }

  // Grows when the row is beyond the end.
  void set(Row row) {
    const std::size_t word = row >> 6U;
    if (word >= words_.size()) {
      words_.resize(word + 1);
    }
    words_[word] |= std::uint64_t{1} << (row & 63U);
  }

  void reset(Row row) {
    if (const std::size_t word = row >> 6U; word < words_.size()) {
      words_[word] &= ~(std::uint64_t{1} << (row & 63U));
    }
  }

  // Keeps only rows that the other mask holds too.
  void intersect(const RowMask& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= i < other.words_.size() ? other.words_[i] : 0;
    }
  }

  [[nodiscard]] std::size_t count() const {
    std::size_t total = 0;
    for (const std::uint64_t word : words_) {
      total += static_cast<std::size_t>(std::popcount(word));
    }
    return total;
  }

  // Calls visit(row) for each row in ascending order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<Row>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace ripple
