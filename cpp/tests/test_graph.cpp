#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include "ripple/graph.hpp"

using ripple::CueView;
using ripple::Edge;
using ripple::EdgeCandidate;
using ripple::EdgeKind;
using ripple::EdgeOptions;
using ripple::EdgeTie;
using ripple::kNoId;
using ripple::MemoryGraph;
using ripple::Row;

namespace {

constexpr EdgeKind kKinds[] = {EdgeKind::Semantic, EdgeKind::Structural, EdgeKind::State, EdgeKind::Sequence,
                               EdgeKind::Term};

// Each revealed edge stands in both of its rows with one kind and weight, and the counts agree.
void check_symmetry(const MemoryGraph& graph) {
  std::size_t ends = 0;
  for (Row row = 0; row < graph.rows(); ++row) {
    graph.for_each_neighbor(row, [&](Row other, EdgeKind kind, float weight, bool outgoing) {
      ++ends;
      std::size_t back = 0;
      graph.for_each_neighbor(other, [&](Row target, EdgeKind its_kind, float its_weight, bool its_outgoing) {
        const bool is_directed = kind == EdgeKind::State;
        back += target == row && its_kind == kind && its_weight == weight &&
                        its_outgoing == (is_directed ? !outgoing : outgoing)
                    ? 1U
                    : 0U;
      });
      REQUIRE(back == 1);
    });
  }
  std::size_t counted = 0;
  for (const EdgeKind kind : kKinds) {
    counted += graph.edge_count(kind);
  }
  CHECK(ends == 2 * counted);
  CHECK(graph.edges().size() == counted);
}

}  // namespace

TEST_CASE("Batches of random candidates keep the graph symmetric and within its caps") {
  constexpr Row kRows = 200;
  std::mt19937 random(5);
  MemoryGraph graph;
  graph.grow(kRows);
  const auto tie = [](Row a, Row b, EdgeKind) {
    return EdgeTie{.sharing_units = (a + b) % 3, .gap_seconds = (a * b) % 5};
  };
  std::vector<Edge> record;
  for (Row row = 1; row < kRows; ++row) {
    std::vector<EdgeCandidate> candidates;
    for (int i = 0; i < 20; ++i) {
      candidates.push_back({static_cast<Row>(random() % row), kKinds[random() % 5],
                            static_cast<float>(1 + random() % 4) / 4.0F});
    }
    graph.stage(row, candidates, tie);
    if (row % 3 != 0) {
      continue;
    }
    if (row % 7 == 0) {
      graph.discard();
      CHECK(graph.edges() == record);
    } else {
      const auto batch = graph.staged();
      for (const Edge& edge : batch.evicted) {
        REQUIRE(std::erase(record, edge) == 1);
      }
      record.insert(record.end(), batch.added.begin(), batch.added.end());
      std::ranges::sort(record, {},
                        [](const Edge& edge) { return std::tuple(edge.src, edge.dst, edge.kind); });
      graph.reveal();
      CHECK(graph.edges() == record);
    }
    if (row % 11 == 0) {
      for (const Edge& edge : graph.remove(row / 2)) {
        REQUIRE(std::erase(record, edge) == 1);
      }
    }
  }
  graph.reveal();
  check_symmetry(graph);
  for (Row row = 0; row < kRows; ++row) {
    std::array<std::uint32_t, ripple::kEdgeKinds> degree{};
    graph.for_each_neighbor(
        row, [&](Row, EdgeKind kind, float, bool) { ++degree[static_cast<std::size_t>(kind)]; });
    for (const EdgeKind capped : {EdgeKind::Semantic, EdgeKind::Structural, EdgeKind::Term}) {
      REQUIRE(degree[static_cast<std::size_t>(capped)] <= 6);
    }
  }
}

TEST_CASE("A reloaded graph chooses as the grown one does") {
  MemoryGraph grown;
  grown.grow(40);
  const auto tie = [](Row a, Row b, EdgeKind) { return EdgeTie{.sharing_units = a % 2 + b % 2}; };
  const auto candidates_of = [](Row row) {
    std::vector<EdgeCandidate> candidates;
    for (Row other = row > 12 ? row - 12 : 0; other < row; ++other) {
      candidates.push_back({other, EdgeKind::Structural, 1.0F});
    }
    return candidates;
  };
  for (Row row = 1; row < 30; ++row) {
    grown.stage(row, candidates_of(row), tie);
  }
  grown.reveal();
  MemoryGraph reloaded;
  reloaded.grow(40);
  reloaded.load(grown.edges());
  for (Row row = 30; row < 40; ++row) {
    grown.stage(row, candidates_of(row), tie);
    reloaded.stage(row, candidates_of(row), tie);
  }
  CHECK_FALSE(grown.staged().evicted.empty());
  CHECK(grown.staged().added == reloaded.staged().added);
  CHECK(grown.staged().evicted == reloaded.staged().evicted);
}

TEST_CASE("Ties are looked up for capped kinds only, and at a full unit for equal weights only") {
  MemoryGraph graph(EdgeOptions{.semantic_degree = 2});
  graph.grow(6);
  std::size_t asked = 0;
  const auto tie = [&](Row, Row, EdgeKind) {
    ++asked;
    return EdgeTie{};
  };
  graph.stage(1, std::vector<EdgeCandidate>{{0, EdgeKind::Sequence, 0.6F}, {0, EdgeKind::State, 0.9F}}, tie);
  CHECK(asked == 0);
  graph.stage(2, std::vector<EdgeCandidate>{{0, EdgeKind::Semantic, 0.9F}}, tie);
  graph.stage(3, std::vector<EdgeCandidate>{{0, EdgeKind::Semantic, 0.95F}}, tie);
  CHECK(asked == 2);
  graph.stage(4, std::vector<EdgeCandidate>{{0, EdgeKind::Semantic, 0.95F}}, tie);
  CHECK(asked == 4);  // the candidate, and the weakest held edge only once the 0.95 meets its like
  graph.stage(5, std::vector<EdgeCandidate>{{0, EdgeKind::Semantic, 0.5F}}, {});
  CHECK(asked == 4);
}
