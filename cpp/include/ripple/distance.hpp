// Dot products of float vectors, by the best instructions that the processor has.
// Used by the vector index and by whatever compares two unit vectors (there, the dot product is the cosine).
// The level is chosen once a process; RIPPLE_ISA = scalar, avx2 or avx512 forces one. All functions may run
// side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ripple {

enum class Isa : std::uint8_t { Scalar, Avx2, Avx512 };

// One level. The order of summation depends on the dimension alone: the same two vectors give the same bits
// at any address. There is no form for many rows at once: a scan waits for memory, not for the processor
// (bench_vector_index).
struct DistanceKernels {
  Isa isa;
  std::string_view name;
  float (*dot)(std::span<const float> a, std::span<const float> b);  // of the same length
};

[[nodiscard]] bool is_supported(Isa isa);

// std::invalid_argument when this processor, or the target of this build, lacks the level.
[[nodiscard]] const DistanceKernels& distance_kernels(Isa isa);

// The level in use. std::invalid_argument when RIPPLE_ISA names none, or one that is not supported.
[[nodiscard]] const DistanceKernels& distance_kernels();

// "scalar", "avx2" or "avx512".
[[nodiscard]] std::string_view isa_level();

// Inner loops take the function from distance_kernels() once instead. Both spans have the same length.
[[nodiscard]] float dot(std::span<const float> a, std::span<const float> b);

}  // namespace ripple
