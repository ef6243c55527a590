#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "ripple/distance.hpp"

using ripple::Isa;

TEST_CASE("every level gives the dot product of every length at every alignment") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> a(1'100);
  std::vector<float> b(1'100);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = uniform(random);
    b[i] = uniform(random);
  }
  for (const Isa isa : {Isa::Scalar, Isa::Avx2, Isa::Avx512}) {
    if (!ripple::is_supported(isa)) {
      CHECK_THROWS_AS(static_cast<void>(ripple::distance_kernels(isa)), std::invalid_argument);
      MESSAGE("level " << static_cast<int>(isa) << " is not supported here: skipped");
      continue;
    }
    const auto& kernels = ripple::distance_kernels(isa);
    for (std::size_t dimension = 0; dimension <= 1'030; dimension += dimension < 140 ? 1 : 89) {
      for (const std::size_t shift : {0U, 1U, 5U}) {
        const std::span<const float> left = std::span(a).subspan(shift, dimension);
        const std::span<const float> right = std::span(b).subspan(2 * shift, dimension);
        double expected = 0.0;
        double magnitude = 0.0;
        for (std::size_t i = 0; i < dimension; ++i) {
          expected += static_cast<double>(left[i]) * right[i];
          magnitude += std::abs(static_cast<double>(left[i]) * right[i]);
        }
        // Each of the roundings on the way is at most half an ulp of the magnitude; chains are dimension / 8
        // long.
        CHECK(std::abs(kernels.dot(left, right) - expected) <= 1e-6 * magnitude * (1.0 + dimension / 64.0));
        // The same bits at another address.
        const std::vector<float> copy(left.begin(), left.end());
        CHECK(kernels.dot(copy, right) == kernels.dot(left, right));
      }
    }
  }
}
