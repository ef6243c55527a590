#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "ripple/cue_index.hpp"

using ripple::CueIndex;
using ripple::CueKind;
using ripple::CueView;
using ripple::kNoRow;
using ripple::kNoTime;
using ripple::Row;
using ripple::RowMask;

namespace {

constexpr std::int64_t kDay = 86'400;

RowMask all_rows(std::size_t rows) {
  RowMask mask(rows);
  for (Row row = 0; row < rows; ++row) {
    mask.set(row);
  }
  return mask;
}

}  // namespace

TEST_CASE("ids survive the compaction of removed rows") {
  CueIndex index;
  for (Row row = 0; row < 4'000; ++row) {
    const std::vector<ripple::CueId> who{1, 2 + row};
    const std::vector<ripple::CueId> where{7};
    index.add(row, {who, where, {}}, row);
  }
  for (Row row = 0; row < 3'900; ++row) {
    index.remove(row);
  }
  CHECK(index.size() == 100);
  for (Row row = 3'900; row < 4'000; ++row) {
    const CueView held = index.cues(row);
    CHECK(std::vector(held.participants.begin(), held.participants.end()) ==
          std::vector<ripple::CueId>{1, 2 + row});
    CHECK(std::vector(held.locations.begin(), held.locations.end()) == std::vector<ripple::CueId>{7});
  }
  CHECK(index.count(CueKind::Participant, 1) == 100);
  CHECK(index.postings(CueKind::Participant, 1).cardinality() == 100);
  CHECK(index.count(CueKind::Participant, 2) == 0);
}

TEST_CASE("a row may take the cues of another") {
  CueIndex index;
  const std::vector<ripple::CueId> who{1, 2, 3};
  index.add(0, {who, {}, {5, 6}}, 7);
  for (Row row = 1; row < 100; ++row) {
    index.add(row, index.cues(row - 1), 7);
  }
  const CueView held = index.cues(99);
  CHECK(std::vector(held.participants.begin(), held.participants.end()) == who);
  CHECK(held.time == ripple::TimeInterval{5, 6});
}

TEST_CASE("the extremes of time neither overflow nor hide a row") {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min() + 1;
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  CueIndex index;
  const std::vector<ripple::CueId> who{1};
  index.add(0, {who, {}, {kFirst, kFirst}}, kFirst);
  index.add(1, {who, {}, {kLast, kLast}}, kLast);
  index.add(2, {who, {}, {kFirst, kLast}}, kNoTime);  // longer than 100 years: as if it had no time
  const RowMask mask = all_rows(3);
  CHECK(index.candidates({who, {}, {kFirst, kFirst}}, 0, kNoRow, mask) == std::vector<Row>{0, 1, 2});
  CHECK(index.candidates({who, {}, {kLast, kLast}}, 0, kNoRow, mask) == std::vector<Row>{1, 0, 2});
  const auto found = index.search({who, {}, {kLast, kLast}}, 3, mask);
  REQUIRE(found.size() == 3);
  CHECK(found[0].row == 1);
  CHECK(found[0].score > found[1].score);
  CHECK(found[1] == ripple::ScoredRow{0, found[2].score});
}

TEST_CASE("the walk for candidates is bounded whatever the size of a hub") {
  CueIndex index;
  const std::vector<ripple::CueId> who{1};
  constexpr Row kRows = 50'000;
  for (Row row = 0; row < kRows; ++row) {
    index.add(row, {who, {}, {}}, row * kDay);
  }
  // Nothing is allowed but rows further away than the steps reach.
  RowMask far;
  far.set(10);
  far.set(40'000);
  CHECK(index.candidates({who, {}, {}}, 20'000 * kDay, kNoRow, far, {.candidates = 20, .steps_max = 512})
            .empty());
  CHECK(index.candidates({who, {}, {}}, 20'000 * kDay, kNoRow, far, {.candidates = 20, .steps_max = kRows}) ==
        std::vector<Row>{10, 40'000});
  const RowMask near = all_rows(kRows);
  CHECK(index.candidates({who, {}, {}}, 20'000 * kDay, 20'000, near, {.candidates = 4, .steps_max = 512}) ==
        std::vector<Row>{20'001, 19'999, 20'002, 19'998});
}
