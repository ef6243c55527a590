// Which units are linked, and which link is the stronger: the structural score of two units' cues and the
// order that decides at a full unit. Used when a unit is written and, with a target's cues, when recall
// expands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ripple/params.hpp"
#include "ripple/types.hpp"

namespace ripple {

// Throws std::invalid_argument when a weight is NaN, negative or above 100, no weight is positive, a
// threshold lies outside (0, 1], or the decay is not positive.
void validate(const EdgeOptions& options);

// RippleMem 1.1: the weighted mean over the cue types present in both: Jaccard of participants and of
// locations; time is 1 when the intervals intersect, else exp(-gap / time_decay_seconds). In 0..1, none when
// no type is present in both. A time interval that is reversed, half open or longer than
// longest_interval_seconds counts as absent, as does a type whose weight is not positive. O(cues of both), no
// allocation.
[[nodiscard]] std::optional<double> structural_score(const CueView& a, const CueView& b,
                                                     const EdgeOptions& options);

// True when structural_score reaches structural_threshold, decided without rounding: weights and threshold
// are read as whole millionths (0.60F is 600,000), Jaccards stay fractions. Only where the score hangs on a
// decayed time is a double compared, with a relative error below 1e-14; such a time is irrational, so no case
// meant to be exact is touched.
[[nodiscard]] bool is_structural_edge(const CueView& a, const CueView& b, const EdgeOptions& options);

// What orders two edges of equal weight. Evaluated when it is needed and never stored: the number of units
// that hold a cue grows, and two edges are only comparable by counts taken at the same moment (with counts
// kept from the time of insertion, the older edge of a growing hub would always seem the rarer).
struct EdgeTie {
  // Units that hold the rarest cue which both ends share; kNoId when they share none.
  std::uint32_t sharing_units = kNoId;
  std::uint64_t gap_seconds = kFarGap;  // between the two said_at
};

// The smallest count among the ids that two sorted lists share, kNoId when they share none.
// count_of(id) -> std::uint32_t, the units that hold the cue now.
template <class CountOf>
[[nodiscard]] std::uint32_t rarest_shared(std::span<const CueId> a, std::span<const CueId> b,
                                          CountOf&& count_of) {
  std::uint32_t rarest = kNoId;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] < b[j]) {
      ++i;
    } else if (b[j] < a[i]) {
      ++j;
    } else {
      const std::uint32_t count = count_of(a[i]);
      rarest = count < rarest ? count : rarest;
      ++i;
      ++j;
    }
  }
  return rarest;
}

// The cap order, a total order of the edges at one moment: weight down, then the rarer shared cue, the
// smaller said_at gap, the smaller distance in rows, the newer pair, the kind. Of several candidates of a new
// unit at the same instant the smaller distance is the newer; measured from a unit between older and newer
// ones it keeps both sides, where "newer first" would strip every old unit of its edges (a session whose
// turns all carry one date).
[[nodiscard]] bool is_stronger(const Edge& a, const EdgeTie& a_tie, const Edge& b, const EdgeTie& b_tie);

}  // namespace ripple
