#include "ripple/edge_scoring.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>

namespace ripple {

namespace {

// Weights and threshold are compared as whole millionths. With the bounds below the largest product,
// threshold x all weights x both unions, stays under 5e18 and fits an int64.
constexpr double kMillion = 1e6;
constexpr double kWeightMax = 100.0;
constexpr std::size_t kCuesMax = 64;

std::int64_t millionths(double weight) {
  return weight > 0.0 ? std::llround(std::min(weight, kWeightMax) * kMillion) : 0;
}

// |a and b| / |a or b|; the union is 0 when the type is not present in both.
struct Jaccard {
  std::int64_t shared = 0;
  std::int64_t united = 0;
};

Jaccard jaccard(std::span<const CueId> a, std::span<const CueId> b, std::size_t longest) {
  a = a.first(std::min(a.size(), longest));
  b = b.first(std::min(b.size(), longest));
  if (a.empty() || b.empty()) {
    return {};
  }
  std::int64_t shared = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    shared += a[i] == b[j] ? 1 : 0;
    const bool step_a = a[i] <= b[j];
    j += b[j] <= a[i] ? 1 : 0;
    i += step_a ? 1 : 0;
  }
  return {shared, static_cast<std::int64_t>(a.size() + b.size()) - shared};
}

bool is_comparable(const TimeInterval& time, const EdgeOptions& options) {
  return time.is_grounded() && time.end >= time.start && options.longest_interval_seconds >= 0 &&
         gap_seconds(time.start, time.end) <= static_cast<std::uint64_t>(options.longest_interval_seconds);
}

// 1 when the intervals intersect, else the decayed gap.
double closeness(const TimeInterval& a, const TimeInterval& b, std::int64_t decay_seconds) {
  const std::int64_t earlier_end = std::min(a.end, b.end);
  const std::int64_t later_start = std::max(a.start, b.start);
  if (later_start <= earlier_end) {
    return 1.0;
  }
  return decay_seconds <= 0 ? 0.0
                            : std::exp(-static_cast<double>(gap_seconds(earlier_end, later_start)) /
                                       static_cast<double>(decay_seconds));
}

// The score as (fixed + decaying * decay) / (weight * denominator), integers but for the decay.
struct Comparison {
  std::int64_t fixed = 0;
  std::int64_t decaying = 0;
  double decay = 0.0;
  std::int64_t weight = 0;
  std::int64_t denominator = 1;
};

Comparison compare(const CueView& a, const CueView& b, const EdgeOptions& options) {
  const std::size_t longest = std::min<std::size_t>(options.participants_max, kCuesMax);
  Jaccard participants = jaccard(a.participants, b.participants, longest);
  Jaccard locations = jaccard(a.locations, b.locations, longest);
  const std::int64_t participant_weight =
      participants.united == 0 ? 0 : millionths(options.participant_weight);
  const std::int64_t location_weight = locations.united == 0 ? 0 : millionths(options.location_weight);
  const bool has_time = is_comparable(a.time, options) && is_comparable(b.time, options);
  const std::int64_t time_weight = has_time ? millionths(options.time_weight) : 0;
  participants.united = std::max<std::int64_t>(participants.united, 1);
  locations.united = std::max<std::int64_t>(locations.united, 1);

  Comparison result;
  result.weight = participant_weight + location_weight + time_weight;
  result.denominator = participants.united * locations.united;
  result.fixed = participant_weight * participants.shared * locations.united +
                 location_weight * locations.shared * participants.united;
  if (time_weight != 0) {
    result.decay = closeness(a.time, b.time, options.time_decay_seconds);
    (result.decay == 1.0 ? result.fixed : result.decaying) += time_weight * result.denominator;
  }
  return result;
}

}  // namespace

void validate(const EdgeOptions& options) {
  double total = 0.0;
  for (const double weight : {options.participant_weight, options.location_weight, options.time_weight}) {
    if (!(weight >= 0.0 && weight <= kWeightMax)) {
      throw std::invalid_argument("a cue weight is " + std::to_string(weight) + "; it must lie in 0..100");
    }
    total += weight;
  }
  if (!(total > 0.0)) {
    throw std::invalid_argument("all cue weights are 0; one of them must be positive");
  }
  for (const float threshold : {options.semantic_threshold, options.structural_threshold}) {
    if (!(threshold > 0.0F && threshold <= 1.0F)) {
      throw std::invalid_argument("an edge threshold is " + std::to_string(threshold) +
                                  "; it must be above 0 and at most 1");
    }
  }
  if (options.time_decay_seconds <= 0) {
    throw std::invalid_argument("time_decay_seconds is " + std::to_string(options.time_decay_seconds) +
                                "; it must be positive");
  }
}

std::optional<double> structural_score(const CueView& a, const CueView& b, const EdgeOptions& options) {
  const Comparison c = compare(a, b, options);
  if (c.weight == 0) {
    return std::nullopt;
  }
  return (static_cast<double>(c.fixed) + static_cast<double>(c.decaying) * c.decay) /
         static_cast<double>(c.weight * c.denominator);
}

bool is_structural_edge(const CueView& a, const CueView& b, const EdgeOptions& options) {
  const Comparison c = compare(a, b, options);
  if (c.weight == 0) {
    return false;
  }
  // At least a millionth: what shares nothing is never an edge.
  const double threshold = std::min(static_cast<double>(options.structural_threshold), 1.0);
  const std::int64_t needed = std::max<std::int64_t>(millionths(threshold), 1) * c.weight * c.denominator;
  const std::int64_t fixed = c.fixed * static_cast<std::int64_t>(kMillion);
  if (fixed >= needed) {
    return true;
  }
  return c.decaying != 0 &&
         c.decay >= static_cast<double>(needed - fixed) / (static_cast<double>(c.decaying) * kMillion);
}

bool is_stronger(const Edge& a, const EdgeTie& a_tie, const Edge& b, const EdgeTie& b_tie) {
  if (a.weight != b.weight) {
    return a.weight > b.weight;
  }
  // Smaller stands first in each place; the newer pair is the one with the larger row.
  const auto place = [](const Edge& edge, const EdgeTie& tie) {
    const auto [low, high] = std::minmax(edge.src, edge.dst);
    return std::tuple(tie.sharing_units, tie.gap_seconds, high - low, kNoRow - high, edge.kind);
  };
  return place(a, a_tie) < place(b, b_tie);
}

}  // namespace ripple
