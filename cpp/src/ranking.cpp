#include "ripple/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ripple {

namespace {

constexpr std::int64_t kDaySeconds = 86'400;

constexpr std::size_t column(Feature feature) { return static_cast<std::size_t>(feature); }

float source_weight(std::uint8_t source) {
  switch (source) {
    case kFoundDense:
      return 1.0F;
    case kFoundCue:
      return 0.9F;
    case kFoundExpansion:
      return 0.85F;
    case kFoundLexical:
      return 0.75F;
    default:
      return 0.0F;
  }
}

}  // namespace

void weigh(std::span<FeatureRow> rows, const RankingWeights& weights) {
  for (FeatureRow& row : rows) {
    for (std::size_t i = 0; i < kFittedFeatures; ++i) {
      row[i] = std::isnan(row[i]) ? 0.0F : row[i] * weights.features[i];
    }
  }
}

std::array<float, kSupportSignals> support_signals(std::span<const FeatureRow> raw, float best_score) {
  std::array<float, 3> named{};
  std::array<float, 3> others{};
  bool names_speaker = false;
  for (const FeatureRow& row : raw) {
    const bool is_named = row[column(Feature::Speaker)] > 0.0F;
    names_speaker = names_speaker || is_named;
    float words = row[column(Feature::WordMatch)];
    for (float& kept : is_named ? named : others) {
      if (words > kept) {
        std::swap(words, kept);
      }
    }
  }
  if (!names_speaker) {
    return {best_score, 0.0F, 0.0F};
  }
  const auto mean = [](const std::array<float, 3>& best) { return (best[0] + best[1] + best[2]) / 3.0F; };
  return {best_score, mean(named) - mean(others), 1.0F};
}

float support(std::span<const float, kSupportSignals> signals, const RankingWeights& weights) {
  double sum = weights.support[kSupportSignals];
  for (std::size_t i = 0; i < kSupportSignals; ++i) {
    sum += static_cast<double>(weights.support[i]) * static_cast<double>(signals[i]);
  }
  return static_cast<float>(1.0 / (1.0 + std::exp(-sum)));
}

float total(const FeatureRow& parts) {
  float sum = 0.0F;
  for (const float part : parts) {
    sum += part;
  }
  return sum;
}

float time_match(const TimeInterval& asked, const TimeInterval& months, TimeGrain grain,
                 std::int64_t moment) {
  if (grain == TimeGrain::None || !asked.is_grounded() || moment == kNoTime) {
    return 0.0F;
  }
  if (grain == TimeGrain::Year) {
    return moment >= asked.start && moment <= asked.end ? 0.3F : 0.0F;
  }
  float score = months.is_grounded() && moment >= months.start && moment <= months.end ? 1.0F : 0.0F;
  if (grain == TimeGrain::Day && moment >= asked.start && moment <= asked.end + 7 * kDaySeconds) {
    score += 1.0F;
  }
  return score;
}

FeatureMatrix paper_parts(std::span<const Row> rows, std::span<const float> similarity,
                          std::span<const Finding> findings, std::span<const Row> anchors) {
  FeatureMatrix parts(rows.size(), FeatureRow{});
  float low = std::numeric_limits<float>::max();
  float high = std::numeric_limits<float>::lowest();
  for (const float value : similarity) {
    if (!std::isnan(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  std::vector<float> provenance(rows.size(), 0.0F);
  for (const Finding& finding : findings) {
    const auto at = std::lower_bound(rows.begin(), rows.end(), finding.row);
    if (at != rows.end() && *at == finding.row) {
      provenance[static_cast<std::size_t>(at - rows.begin())] +=
          source_weight(finding.source) * finding.strength * 5.0F / (5.0F + static_cast<float>(finding.rank));
    }
  }
  const float best = provenance.empty() ? 0.0F : *std::max_element(provenance.begin(), provenance.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool has_range = !std::isnan(similarity[i]) && high > low;
    parts[i][column(Feature::Similarity)] = has_range ? 1.25F * (similarity[i] - low) / (high - low) : 0.0F;
    parts[i][column(Feature::Provenance)] = best > 0.0F ? provenance[i] / best : 0.0F;
    const bool is_anchor = std::find(anchors.begin(), anchors.end(), rows[i]) != anchors.end();
    parts[i][column(Feature::Anchor)] = is_anchor ? 0.05F : 0.0F;
  }
  return parts;
}

}  // namespace ripple
