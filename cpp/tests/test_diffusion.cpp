#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "ripple/diffusion.hpp"

using ripple::DiffusionOptions;
using ripple::Edge;
using ripple::EdgeKind;
using ripple::MemoryGraph;
using ripple::Row;
using ripple::RowMask;
using ripple::Zone;

TEST_CASE("Zones of one graph can be collected side by side") {
  constexpr Row kRows = 600;
  MemoryGraph graph;
  graph.grow(kRows);
  std::vector<Edge> edges;
  RowMask everything(kRows);
  for (Row row = 0; row < kRows; ++row) {
    everything.set(row);
    for (Row step = 1; step <= 3 && row + step < kRows; ++step) {
      edges.push_back({row, row + step, EdgeKind::Structural, 1.0F / static_cast<float>(step)});
    }
  }
  graph.load(edges);
  const DiffusionOptions options{.hops = 4};
  const std::vector<Row> anchors{100, 300, 500};
  const Zone expected = ripple::collect_zone(graph, anchors, RowMask(), everything, options);
  CHECK(expected.rows.size() == 3 * 2 * 12);
  std::vector<Zone> zones(4);
  {
    std::vector<std::jthread> readers;
    for (Zone& zone : zones) {
      readers.emplace_back(
          [&] { zone = ripple::collect_zone(graph, anchors, RowMask(), everything, options); });
    }
  }
  for (const Zone& zone : zones) {
    CHECK(zone.rows == expected.rows);
    CHECK(zone.strengths == expected.strengths);
  }
}

TEST_CASE("Anchors beyond the graph lead nowhere") {
  const MemoryGraph graph;
  RowMask everything;
  everything.set(9);
  const std::vector<Row> anchors{9};
  CHECK(ripple::collect_zone(graph, anchors, RowMask(), everything, {}).rows.empty());
  CHECK(ripple::select_support({}, {}, {}, {}).rows.empty());
  CHECK(ripple::select_nearest({}, 5).rows.empty());
}
