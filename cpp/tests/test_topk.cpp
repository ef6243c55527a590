#include <doctest/doctest.h>

#include "ripple/row_mask.hpp"
#include "ripple/topk.hpp"

using ripple::Row;
using ripple::RowMask;
using ripple::ScoredRow;
using ripple::TopK;

TEST_CASE("TopK orders by score down, then row up") {
  TopK best(3);
  for (const ScoredRow candidate : {ScoredRow{5, 1.0F}, {2, 3.0F}, {9, 3.0F}, {1, 1.0F}, {7, 2.0F}}) {
    best.push(candidate);
  }
  CHECK(best.take() == std::vector<ScoredRow>{{2, 3.0F}, {9, 3.0F}, {7, 2.0F}});
}

TEST_CASE("TopK of nothing or of zero is empty") {
  TopK none(0);
  none.push({1, 1.0F});
  CHECK(none.take().empty());
  CHECK(TopK(4).take().empty());
}

TEST_CASE("RowMask holds exactly what was set and intersects with a shorter mask") {
  RowMask mask(10);
  for (const Row row : {0U, 63U, 64U, 200U}) {
    mask.set(row);
  }
  RowMask other(64);
  other.set(63);
  CHECK(mask.count() == 4);
  mask.intersect(other);
  std::vector<Row> rows;
  mask.for_each([&](Row row) { rows.push_back(row); });
  CHECK(rows == std::vector<Row>{63});
  CHECK_FALSE(mask.test(1'000'000));
}
