#include <doctest/doctest.h>

#include <vector>

#include "ripple/lexical_index.hpp"

using ripple::LexicalIndex;
using ripple::Row;
using ripple::RowMask;

namespace {

RowMask mask_of(std::initializer_list<Row> rows) {
  RowMask mask;
  for (const Row row : rows) {
    mask.set(row);
  }
  return mask;
}

void add(LexicalIndex& index, Row row, const char* text) {
  index.add(row, index.intern(text).view());
  index.reveal(row);
}

}  // namespace

TEST_CASE("A term leaves the vocabulary with its last posting, and its surface with the unit it came from") {
  LexicalIndex index({});
  add(index, 0, "zebra pear");
  add(index, 1, "pear");
  const auto zebra = index.lookup("zebra").ids.at(0);
  CHECK(index.df(zebra) == 1);
  index.remove(0);
  CHECK(index.lookup("zebra").unknown == 1);
  CHECK(index.term(zebra).empty());
  CHECK(index.surface(zebra).empty());
  CHECK(index.df(index.lookup("pear").ids.at(0)) == 1);
  CHECK(index.vocabulary_size() == 1);
}

TEST_CASE("Slices survive compaction") {
  LexicalIndex index({});
  for (Row row = 0; row < 4'000; ++row) {
    add(index, row, row % 2 == 0 ? "pear plum" : "fig");
  }
  for (Row row = 0; row < 4'000; row += 2) {
    index.remove(row);
  }
  CHECK(index.size() == 2'000);
  const auto fig = index.lookup("fig").ids.at(0);
  for (Row row = 1; row < 4'000; row += 2) {
    REQUIRE(index.terms_of(row).ids.size() == 1);
    REQUIRE(index.terms_of(row).ids[0] == fig);
  }
  CHECK(index.terms_of(0).ids.empty());
}

TEST_CASE("prune drops what was interned and never added") {
  LexicalIndex index({});
  add(index, 0, "pear");
  static_cast<void>(index.intern("plum pear"));
  CHECK(index.vocabulary_size() == 2);
  index.prune();
  CHECK(index.vocabulary_size() == 1);
  CHECK(index.lookup("plum").unknown == 1);
}

TEST_CASE("A window reaches over hidden rows and ends with the session") {
  LexicalIndex index({});
  for (Row row = 0; row < 5; ++row) {
    add(index, row, row == 0 ? "pear" : "plum");
  }
  constexpr Row kEnd = ripple::kNoRow;
  const std::vector<Row> previous{kEnd, 0, 1, 2, kEnd};
  const std::vector<Row> next{1, 2, 3, kEnd, kEnd};
  const auto query = index.lookup("pear").ids;
  const auto found = [&](const RowMask& visible) {
    std::vector<Row> rows;
    for (const auto& hit : index.search_windows(query, 9, {previous, next}, 1, visible, visible)) {
      rows.push_back(hit.row);
    }
    return rows;
  };
  CHECK(found(mask_of({0, 1, 2, 3, 4})) == std::vector<Row>{0, 1});
  CHECK(found(mask_of({0, 2, 3, 4})) == std::vector<Row>{0, 2});
  CHECK(found(mask_of({1, 2, 3, 4})).empty());
}
