// The words of the core: identifiers, edge kinds, time intervals and the arrays that kernels take and return.
// Used by every component; holds no behaviour beyond what a value needs to describe itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace ripple {

// Dense index of a unit inside one namespace's engine. Never leaves the engine as an identity.
using Row = std::uint32_t;
using TermId = std::uint32_t;
using CueId = std::uint32_t;
using SessionId = std::uint32_t;

inline constexpr Row kNoRow = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();
// Not grounded: the bits of NumPy's NaT.
inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

// Closed interval in whole seconds UTC; both ends kNoTime when not grounded.
struct TimeInterval {
  std::int64_t start = kNoTime;
  std::int64_t end = kNoTime;

  [[nodiscard]] bool is_grounded() const { return start != kNoTime; }
  friend bool operator==(const TimeInterval&, const TimeInterval&) = default;
};

// What gap_seconds gives for a moment that is not known.
inline constexpr std::uint64_t kFarGap = std::numeric_limits<std::uint64_t>::max();

// Seconds between two moments, kFarGap when either is kNoTime. The difference of two int64 fits in a uint64.
[[nodiscard]] inline std::uint64_t gap_seconds(std::int64_t a, std::int64_t b) {
  if (a == kNoTime || b == kNoTime) {
    return kFarGap;
  }
  return a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
               : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

// Seconds between two grounded intervals, 0 when they intersect.
[[nodiscard]] inline std::uint64_t gap_seconds(const TimeInterval& a, const TimeInterval& b) {
  if (a.start > b.end) {
    return gap_seconds(a.start, b.end);
  }
  return b.start > a.end ? gap_seconds(b.start, a.end) : 0;
}

enum class EdgeKind : std::uint8_t { Semantic, Structural, State, Sequence, Term };
inline constexpr std::size_t kEdgeKinds = 5;

enum class CueKind : std::uint8_t { Participant, Location };
inline constexpr std::size_t kCueKinds = 2;

// Bits of Hits::found_by: every way in which a unit was reached.
enum FoundBy : std::uint8_t {
  kFoundDense = 1,
  kFoundLexical = 2,
  kFoundCue = 4,
  kFoundExpansion = 8,
  kFoundBridge = 16,
  kFoundPropagation = 32,
  kFoundSource = 64,
};

// One undirected link (State: directed, src is the old unit, dst the new one).
struct Edge {
  Row src = kNoRow;
  Row dst = kNoRow;
  EdgeKind kind = EdgeKind::Semantic;
  float weight = 0.0F;

  friend bool operator==(const Edge&, const Edge&) = default;
};

// A row with its score; lists of these are ordered score down, then row up.
struct ScoredRow {
  Row row = kNoRow;
  float score = 0.0F;

  friend bool operator==(const ScoredRow&, const ScoredRow&) = default;
};

// The cues of one unit, query or target; ids sorted, no repeats.
struct CueView {
  std::span<const CueId> participants;
  std::span<const CueId> locations;
  TimeInterval time;
};

// Session order as links between visible rows; kNoRow at the ends and for rows that are not visible.
struct SessionLinks {
  std::span<const Row> previous;
  std::span<const Row> next;
};

// A text as the lexical index sees it: term ids sorted, no repeats, with their counts.
struct TermView {
  std::span<const TermId> ids;
  std::span<const std::uint32_t> counts;
};

}  // namespace ripple
