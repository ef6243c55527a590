// Memory for vectors of one dimension in chunks: addresses never change while the store grows.
// Each vector starts on a 64-byte boundary.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace ripple {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

class VectorSlots {
 public:
  explicit VectorSlots(std::size_t dimension)
      : dimension_(dimension), lines_((dimension + kLine - 1) / kLine) {}

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] const float* data(Slot slot) const {
    return chunks_[slot / kChunk][(slot % kChunk) * lines_].values.data();
  }
  [[nodiscard]] std::span<const float> vector(Slot slot) const { return {data(slot), dimension_}; }

  // A new slot at the end.
  Slot append() {
    if (size_ % kChunk == 0) {
      chunks_.emplace_back(kChunk * lines_);
    }
    return static_cast<Slot>(size_++);
  }

  void write(Slot slot, std::span<const float> vector) {
    std::copy(vector.begin(), vector.end(), chunks_[slot / kChunk][(slot % kChunk) * lines_].values.data());
  }

 private:
  static constexpr std::size_t kLine = 16;   // floats in 64 bytes
  static constexpr std::size_t kChunk = 64;  // vectors: small namespaces stay small
  struct alignas(64) Line {
    std::array<float, kLine> values{};
  };

  std::size_t dimension_;
  std::size_t lines_;
  std::size_t size_ = 0;
  std::vector<std::vector<Line>> chunks_;
};

}  // namespace ripple
