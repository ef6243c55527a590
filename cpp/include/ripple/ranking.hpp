// Ranking of recalled units: the fitted linear sum over a pool, and RippleMem's own formula.
// Kernels over plain arrays; they know no index.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ripple/types.hpp"

namespace ripple {

// Columns of a score. The first kFittedFeatures make the fitted sum; the others are added by expansion or
// belong to the paper's formula. All are absolute: nothing is normalised over the pool, so a unit scores the same
// whatever else was recalled (but for Session). `mass` is the summed idf of the question's words, at least 3.
enum class Feature : std::uint8_t {
  Window,            // BM25 of the unit with its neighbours in the session as one document / mass
  Session,           // the best Window among the pooled units of its session
  WordMatch,         // idf-weighted best cosine of each word of the question among the unit's words / mass
  PreviousQuestion,  // BM25 of the previous unit / mass, where that asks something
  Context,           // 3 x cosine of the unit's surroundings with the question
  Dense,             // 3 x cosine of the unit with the question
  Speaker,           // said by the one speaker whom the question names
  Time,              // said when the question's date says
  When,              // names a time, and the question asks for one
  Question,          // asks something itself
  Capitals,          // ln(1 + capitalised words inside its sentences): names things
  Expansion,         // reached by expansion
  Similarity,        // paper: a
  Provenance,        // paper: pi
  Anchor,            // paper: the unit was an anchor
};
inline constexpr std::size_t kFeatures = 15;
inline constexpr std::size_t kFittedFeatures = 11;

// Signals from which support is estimated, see support_signals.
inline constexpr std::size_t kSupportSignals = 4;

using FeatureRow = std::array<float, kFeatures>;
using FeatureMatrix = std::vector<FeatureRow>;

// How the date of a question compares with the time of a unit.
enum class TimeGrain : std::uint8_t { None, Day, Week, Month, Year };

// Weights of the fitted sum, and of the signals of support with their bias. They belong to an embedder; fitted by
// cpp/tools/fit_ranking.py.
struct RankingWeights {
  std::array<float, kFittedFeatures> features{};
  std::array<float, kSupportSignals + 1> support{};
};

// Version 1, for the static embedder of the package.
inline constexpr RankingWeights kStaticWeights{
    {3.500F, 2.580F, 2.550F, 1.915F, 1.934F, 0.657F, 2.379F, 2.706F, 1.970F, -0.688F, 0.608F},
    {0.0F, 0.0F, 0.0F, 0.0F, 0.0F}};

// Version 1, for any other embedder; fitted with MiniLM.
inline constexpr RankingWeights kGenericWeights{
    {3.500F, 2.580F, 2.550F, 1.915F, 1.934F, 0.657F, 2.379F, 2.706F, 1.970F, -0.688F, 0.608F},
    {0.0F, 0.0F, 0.0F, 0.0F, 0.0F}};

// How well the pool covers the question, from raw features: the best Window, WordMatch and Context, and by how much
// the best WordMatch of the one named speaker falls short of the best of all (0 when no one speaker is named).
[[nodiscard]] std::array<float, kSupportSignals> support_signals(std::span<const FeatureRow> raw);

// Logistic of the weighted signals: 0..1.
[[nodiscard]] float support(std::span<const float, kSupportSignals> signals, const RankingWeights& weights);

// Turns raw values into weighted parts; a row's score is the sum of its parts. NaN (the unit has no such value)
// gives 0.
void weigh(std::span<FeatureRow> rows, const RankingWeights& weights);

// Sum of the parts in column order.
[[nodiscard]] float total(const FeatureRow& parts);

// How well a moment fits a question's date: inside the named day, week or month 1, a day's month too, and
// 1 more within 7 days after a named day; the year alone 0.3. PAPERS.md 5, `tm`.
[[nodiscard]] float time_match(const TimeInterval& asked, TimeGrain grain, const TimeInterval& moment);

// One way in which the paper's first recall or expansion found a unit.
struct Finding {
  Row row = kNoRow;
  std::uint8_t source = 0;  // one bit of FoundBy
  std::uint32_t rank = 0;   // from 0
  float strength = 1.0F;    // path strength of an expansion
};

// RippleMem 1.2: rho = 1.25 a + 1.0 pi + 0.05 anchor, over distinct rows in ascending order.
// similarity: cos(query, unit) along rows, NaN without a vector; min-max scaled within the set.
[[nodiscard]] FeatureMatrix paper_parts(std::span<const Row> rows, std::span<const float> similarity,
                                        std::span<const Finding> findings, std::span<const Row> anchors);

}  // namespace ripple
