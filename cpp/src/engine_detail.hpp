// What the files of the engine's reading half share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ripple/engine.hpp"
#include "ripple/topk.hpp"

namespace ripple {

// Added to the idf mass of the question; see Feature.
inline constexpr double kIdfMassAdded = 8.0;
inline constexpr float kLongUnitWords = 64.0F;

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

[[nodiscard]] inline float& at(FeatureRow& row, Feature feature) {
  return row[static_cast<std::size_t>(feature)];
}

// Ranks rows that carry scores and parts alike: score down, then row up.
[[nodiscard]] inline std::vector<std::size_t> ranked_order(std::span<const Row> rows,
                                                           std::span<const float> scores) {
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ranks_before({rows[a], scores[a]}, {rows[b], scores[b]});
  });
  return order;
}

// Places that expansion may take at most, and never more than the last fifth: with six of thirty it cost
// LoCoMo .002 of recall@30, with two nothing.
inline constexpr std::uint32_t kExpandedMax = 2;

// Units of first recall that stay whatever expansion finds.
[[nodiscard]] inline std::uint32_t units_kept(const RecallOptions& options) {
  return options.first != 0 ? std::min(options.first, options.top_k)
                            : options.top_k - std::min(options.top_k / 5, kExpandedMax);
}

// The query without what belongs to views that are switched off.
[[nodiscard]] inline Query seen_by(Query query, const RecallOptions& options) {
  if ((options.views & kFoundDense) == 0) {
    query.vector = {};
  }
  if ((options.views & kFoundLexical) == 0) {
    query.terms = nullptr;
  }
  if ((options.views & kFoundCue) == 0) {
    query.cues = {};
  }
  return query;
}

}  // namespace ripple
