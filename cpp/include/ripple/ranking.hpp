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
// belong to the paper's formula. All are absolute: nothing is normalised over the pool, so a unit scores the
// same whatever else was recalled. `mass` is the summed idf of the question's words, plus 8, so that a
// question of one common word does not divide by next to nothing.
enum class Feature : std::uint8_t {
  Window,         // 2 x BM25 of the unit with its neighbours in the session as one document / mass
  WordMatch,      // 2 x idf-weighted best cosine of each word of the question among the unit's words / mass
  NearWordMatch,  // the best WordMatch of the unit and its two neighbours
  PreviousQuestion,  // 2 x BM25 of the previous unit / mass, where that asks something
  Context,           // 3 x cosine of the unit's surroundings with the question
  Dense,             // 3 x cosine of the unit with the question
  Speaker,           // said by the one speaker whom the question names
  Time,              // said when the question's date says
  When,              // names a time, and the question asks for one
  Question,          // asks something itself
  Length,            // ln(words / 64) where the unit has more than 64
  Expansion,         // reached by expansion
  Similarity,        // paper: a
  Provenance,        // paper: pi
  Anchor,            // paper: the unit was an anchor
};
inline constexpr std::size_t kFeatures = 15;
inline constexpr std::size_t kFittedFeatures = 11;

// Signals from which support is estimated, see support_signals.
inline constexpr std::size_t kSupportSignals = 3;

using FeatureRow = std::array<float, kFeatures>;
using FeatureMatrix = std::vector<FeatureRow>;

// How the date of a question compares with the time of a unit.
enum class TimeGrain : std::uint8_t { None, Day, Week, Month, Year };

// Weights of the fitted sum, and of the signals of support with their bias. They belong to an embedder;
// fitted by cpp/tools/fit_ranking.py.
struct RankingWeights {
  std::array<float, kFittedFeatures> features{};
  std::array<float, kSupportSignals + 1> support{};
};

// Version 2, for the static embedder of the package. Fitted on LoCoMo, but for Length, which LoCoMo's short
// turns do not touch: by hand, on BEAM's long messages.
inline constexpr RankingWeights kStaticWeights{
    {3.674F, 1.447F, 2.174F, 1.860F, 1.768F, 0.758F, 2.407F, 2.727F, 1.891F, -0.713F, -1.5F},
    {0.344F, 5.950F, -1.822F, -2.168F}};

// Version 2, for any other embedder; fitted with MiniLM.
inline constexpr RankingWeights kGenericWeights{
    {3.254F, 1.472F, 2.119F, 1.576F, 2.006F, 0.675F, 2.408F, 2.733F, 1.985F, -0.640F, -1.5F},
    {0.368F, 6.048F, -1.990F, -2.289F}};

// How well the pool covers the question, from raw features and total scores: the best score; where the
// question names one speaker, the mean of the three best WordMatch of that speaker less that of all others,
// and 1.
[[nodiscard]] std::array<float, kSupportSignals> support_signals(std::span<const FeatureRow> raw,
                                                                 float best_score);

// Logistic of the weighted signals: 0..1.
[[nodiscard]] float support(std::span<const float, kSupportSignals> signals, const RankingWeights& weights);

// Turns raw values into weighted parts; a row's score is the sum of its parts. NaN (the unit has no such
// value) gives 0.
void weigh(std::span<FeatureRow> rows, const RankingWeights& weights);

// Sum of the parts in column order.
[[nodiscard]] float total(const FeatureRow& parts);

// How well a moment fits a question's date: in the named month, or the month of the named day, 1, and 1 more
// within 7 days after a named day; the year alone 0.3. PAPERS.md 5, `tm`. months: the calendar months that
// `asked` lies in.
[[nodiscard]] float time_match(const TimeInterval& asked, const TimeInterval& months, TimeGrain grain,
                               std::int64_t moment);

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
