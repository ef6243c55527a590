#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "ripple/edge_scoring.hpp"

using ripple::CueId;
using ripple::CueView;
using ripple::Edge;
using ripple::EdgeKind;
using ripple::EdgeOptions;
using ripple::EdgeTie;
using ripple::kNoId;
using ripple::kNoTime;

TEST_CASE("Gaps between the ends of time do not overflow") {
  constexpr auto kFirst = std::numeric_limits<std::int64_t>::min() + 1;
  constexpr auto kLast = std::numeric_limits<std::int64_t>::max();
  CHECK(ripple::gap_seconds(kFirst, kLast) == std::numeric_limits<std::uint64_t>::max() - 1);
  CHECK(ripple::gap_seconds(kLast, kFirst) == std::numeric_limits<std::uint64_t>::max() - 1);
  CHECK(ripple::gap_seconds(-5, 7) == 12);
  CHECK(ripple::gap_seconds(kNoTime, 7) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("The rarest shared cue is the one with the fewest units") {
  const std::vector<std::uint32_t> counts{9, 4, 2, 7};
  const auto count_of = [&](CueId id) { return counts[id]; };
  const std::vector<CueId> all{0, 1, 2, 3};
  const std::vector<CueId> some{0, 3};
  const std::vector<CueId> other{1, 2};
  CHECK(ripple::rarest_shared(all, some, count_of) == 7);
  CHECK(ripple::rarest_shared(all, other, count_of) == 2);
  CHECK(ripple::rarest_shared(some, other, count_of) == kNoId);
  CHECK(ripple::rarest_shared({}, all, count_of) == kNoId);
}

TEST_CASE("The cap order is total: of two different edges one is the stronger") {
  std::vector<std::pair<Edge, EdgeTie>> edges;
  for (const float weight : {0.5F, 1.0F}) {
    for (const std::uint32_t sharing : {1U, kNoId}) {
      for (const std::uint64_t gap : {0ULL, 60ULL}) {
        for (const Edge& ends : {Edge{0, 3}, Edge{3, 4}, Edge{4, 5}, Edge{3, 5}}) {
          for (const EdgeKind kind : {EdgeKind::Semantic, EdgeKind::Term}) {
            edges.push_back({Edge{ends.src, ends.dst, kind, weight},
                             EdgeTie{.sharing_units = sharing, .gap_seconds = gap}});
          }
        }
      }
    }
  }
  for (const auto& [a, a_tie] : edges) {
    for (const auto& [b, b_tie] : edges) {
      const bool is_same =
          a == b && a_tie.sharing_units == b_tie.sharing_units && a_tie.gap_seconds == b_tie.gap_seconds;
      REQUIRE(ripple::is_stronger(a, a_tie, b, b_tie) + ripple::is_stronger(b, b_tie, a, a_tie) ==
              (is_same ? 0 : 1));
    }
  }
}

TEST_CASE("Options that were never validated cannot make a score of NaN") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<CueId> people{1, 2};
  const CueView unit{.participants = people, .locations = people, .time = {0, 0}};
  const CueView later{.participants = people, .locations = people, .time = {5, 5}};
  CHECK_FALSE(ripple::structural_score(
      unit, unit, EdgeOptions{.participant_weight = kNan, .location_weight = -1.0, .time_weight = 0.0}));
  CHECK(ripple::structural_score(unit, later, EdgeOptions{.time_weight = kNan}).value() == 1.0);
  CHECK(ripple::structural_score(unit, later, EdgeOptions{.time_decay_seconds = -3}).value() == 0.7);
  CHECK(ripple::structural_score(unit, unit, EdgeOptions{.longest_interval_seconds = -1}).value() == 1.0);
  CHECK(ripple::is_structural_edge(unit, unit, EdgeOptions{.participant_weight = 1e300}));
  const std::vector<CueId> nobody{9};
  const CueView stranger{.participants = nobody, .locations = {}, .time = {}};
  CHECK_FALSE(ripple::is_structural_edge(unit, stranger, EdgeOptions{.structural_threshold = 0.0F}));
}
