#include "ripple/distance.hpp"

#include <array>
#include <cassert>
#include <cstdlib>
#include <stdexcept>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ripple {
namespace {

// Eight running sums: without fast-math the compiler may keep them in registers of any width.
float dot_scalar(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kLanes = 8;
  assert(a.size() == b.size());
  const std::size_t dimension = a.size();
  std::array<float, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= dimension; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (std::size_t lane = 0; i + lane < dimension; ++lane) {
    sums[lane] += a[i + lane] * b[i + lane];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

constexpr DistanceKernels kScalarKernels{Isa::Scalar, "scalar", dot_scalar};

#if defined(__x86_64__)

// Lanes 0..count-1 on; count 0..8.
__attribute__((target("avx2,fma"))) inline __m256i lanes_avx2(std::size_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

__attribute__((target("avx2,fma"))) inline float sum_avx2(__m256 sums) {
  const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
  const __m128 half = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

// Four running sums hide the latency of the fused multiply-add (4 cycles, two loads a cycle).
__attribute__((target("avx2,fma"))) float dot_avx2(std::span<const float> a, std::span<const float> b) {
  assert(a.size() == b.size());
  const std::size_t dimension = a.size();
  const float* p = a.data();
  const float* q = b.data();
  __m256 sum0 = _mm256_setzero_ps();
  __m256 sum1 = _mm256_setzero_ps();
  __m256 sum2 = _mm256_setzero_ps();
  __m256 sum3 = _mm256_setzero_ps();
  std::size_t i = 0;
  for (; i + 32 <= dimension; i += 32) {
    sum0 = _mm256_fmadd_ps(_mm256_loadu_ps(p + i), _mm256_loadu_ps(q + i), sum0);
    sum1 = _mm256_fmadd_ps(_mm256_loadu_ps(p + i + 8), _mm256_loadu_ps(q + i + 8), sum1);
    sum2 = _mm256_fmadd_ps(_mm256_loadu_ps(p + i + 16), _mm256_loadu_ps(q + i + 16), sum2);
    sum3 = _mm256_fmadd_ps(_mm256_loadu_ps(p + i + 24), _mm256_loadu_ps(q + i + 24), sum3);
  }
  for (; i + 8 <= dimension; i += 8) {
    sum0 = _mm256_fmadd_ps(_mm256_loadu_ps(p + i), _mm256_loadu_ps(q + i), sum0);
  }
  if (i < dimension) {
    const __m256i lanes = lanes_avx2(dimension - i);
    sum1 = _mm256_fmadd_ps(_mm256_maskload_ps(p + i, lanes), _mm256_maskload_ps(q + i, lanes), sum1);
  }
  return sum_avx2(_mm256_add_ps(_mm256_add_ps(sum0, sum2), _mm256_add_ps(sum1, sum3)));
}

constexpr DistanceKernels kAvx2Kernels{Isa::Avx2, "avx2", dot_avx2};

__attribute__((target("avx512f"))) float dot_avx512(std::span<const float> a, std::span<const float> b) {
  assert(a.size() == b.size());
  const std::size_t dimension = a.size();
  const float* p = a.data();
  const float* q = b.data();
  __m512 sum0 = _mm512_setzero_ps();
  __m512 sum1 = _mm512_setzero_ps();
  __m512 sum2 = _mm512_setzero_ps();
  __m512 sum3 = _mm512_setzero_ps();
  std::size_t i = 0;
  for (; i + 64 <= dimension; i += 64) {
    sum0 = _mm512_fmadd_ps(_mm512_loadu_ps(p + i), _mm512_loadu_ps(q + i), sum0);
    sum1 = _mm512_fmadd_ps(_mm512_loadu_ps(p + i + 16), _mm512_loadu_ps(q + i + 16), sum1);
    sum2 = _mm512_fmadd_ps(_mm512_loadu_ps(p + i + 32), _mm512_loadu_ps(q + i + 32), sum2);
    sum3 = _mm512_fmadd_ps(_mm512_loadu_ps(p + i + 48), _mm512_loadu_ps(q + i + 48), sum3);
  }
  for (; i + 16 <= dimension; i += 16) {
    sum0 = _mm512_fmadd_ps(_mm512_loadu_ps(p + i), _mm512_loadu_ps(q + i), sum0);
  }
  if (i < dimension) {
    const auto lanes = static_cast<__mmask16>((1U << (dimension - i)) - 1U);
    sum1 = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, p + i), _mm512_maskz_loadu_ps(lanes, q + i), sum1);
  }
  // GCC 12 warns inside its own _mm512_reduce_add_ps.
  alignas(64) std::array<float, 16> sums;
  _mm512_store_ps(sums.data(), _mm512_add_ps(_mm512_add_ps(sum0, sum2), _mm512_add_ps(sum1, sum3)));
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      sums[lane] += sums[lane + half];
    }
  }
  return sums[0];
}

constexpr DistanceKernels kAvx512Kernels{Isa::Avx512, "avx512", dot_avx512};

const DistanceKernels* find_kernels(Isa isa) {
  switch (isa) {
    case Isa::Scalar:
      return &kScalarKernels;
    case Isa::Avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kAvx2Kernels : nullptr;
    case Isa::Avx512:
      return __builtin_cpu_supports("avx512f") ? &kAvx512Kernels : nullptr;
  }
  return nullptr;
}

#else

const DistanceKernels* find_kernels(Isa isa) { return isa == Isa::Scalar ? &kScalarKernels : nullptr; }

#endif

Isa isa_by_name(std::string_view name) {
  if (name == "scalar") {
    return Isa::Scalar;
  }
  if (name == "avx2") {
    return Isa::Avx2;
  }
  if (name == "avx512") {
    return Isa::Avx512;
  }
  throw std::invalid_argument("RIPPLE_ISA is '" + std::string(name) +
                              "'; it must be scalar, avx2 or avx512, or not set");
}

const DistanceKernels& choose_kernels() {
  if (const char* forced = std::getenv("RIPPLE_ISA"); forced != nullptr && *forced != '\0') {
    return distance_kernels(isa_by_name(forced));
  }
  for (const Isa isa : {Isa::Avx512, Isa::Avx2}) {
    if (const DistanceKernels* kernels = find_kernels(isa); kernels != nullptr) {
      return *kernels;
    }
  }
  return kScalarKernels;
}

}  // namespace

bool is_supported(Isa isa) { return find_kernels(isa) != nullptr; }

const DistanceKernels& distance_kernels(Isa isa) {
  if (const DistanceKernels* kernels = find_kernels(isa); kernels != nullptr) {
    return *kernels;
  }
  const char* name = isa == Isa::Avx512 ? "avx512" : "avx2";
  throw std::invalid_argument(std::string("this processor has no ") + name +
                              "; set RIPPLE_ISA to a lower level or unset it");
}

const DistanceKernels& distance_kernels() {
  static const DistanceKernels& chosen = choose_kernels();
  return chosen;
}

std::string_view isa_level() { return distance_kernels().name; }

float dot(std::span<const float> a, std::span<const float> b) { return distance_kernels().dot(a, b); }

}  // namespace ripple
