#include <doctest/doctest.h>

#include <vector>

#include "ripple/unit_table.hpp"

using namespace ripple;

namespace {

std::vector<Row> order_from(const UnitTable& table, Row first) {
  std::vector<Row> rows;
  for (Row row = first; row != kNoRow; row = table.links().next[row]) {
    rows.push_back(row);
  }
  return rows;
}

Row add_revealed(UnitTable& table, SessionId session, std::int64_t said_at) {
  const Row row = table.add({.speaker = kNoId, .session = session, .said_at = said_at, .flags = 0});
  table.reveal(row);
  return row;
}

}  // namespace

TEST_CASE("units stand in their session by time, then arrival, whatever the order of arrival") {
  UnitTable table;
  add_revealed(table, 1, 100);      // row 0
  add_revealed(table, 1, 300);      // row 1
  add_revealed(table, 2, 10);       // row 2
  add_revealed(table, 1, 200);      // row 3
  add_revealed(table, 1, 100);      // row 4
  add_revealed(table, 1, 50);       // row 5
  add_revealed(table, 1, kNoTime);  // row 6
  CHECK(order_from(table, 5) == std::vector<Row>{5, 0, 4, 3, 1, 6});
  CHECK(order_from(table, 2) == std::vector<Row>{2});
}

TEST_CASE("a staged unit has no neighbours and is not one") {
  UnitTable table;
  add_revealed(table, 1, 100);
  const Row staged = table.add({.speaker = kNoId, .session = 1, .said_at = 200, .flags = 0});
  CHECK(table.living().test(staged));
  CHECK_FALSE(table.visible().test(staged));
  CHECK(table.links().next[0] == kNoRow);
  table.remove(staged);
  CHECK(order_from(table, 0) == std::vector<Row>{0});
}

TEST_CASE("removed units leave their neighbours joined, at the ends too") {
  UnitTable table;
  for (int i = 0; i < 4; ++i) {
    add_revealed(table, 1, i);
  }
  table.remove(1);
  CHECK(order_from(table, 0) == std::vector<Row>{0, 2, 3});
  table.remove(3);
  table.remove(0);
  CHECK(order_from(table, 2) == std::vector<Row>{2});
  add_revealed(table, 1, 9);
  CHECK(order_from(table, 2) == std::vector<Row>{2, 4});
  table.remove(2);
  table.remove(4);
  CHECK(table.last_before(1, 100) == kNoRow);
}
