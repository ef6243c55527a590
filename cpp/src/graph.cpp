#include "ripple/graph.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>

namespace ripple {

namespace {

constexpr std::uint32_t kUncapped = std::numeric_limits<std::uint32_t>::max();

bool edge_before(const Edge& a, const Edge& b) {
  return std::tie(a.src, a.dst, a.kind) < std::tie(b.src, b.dst, b.kind);
}

// The one form of an edge: undirected ones lead from the smaller row to the larger, State from the old unit.
Edge make_edge(Row row, const EdgeCandidate& candidate) {
  const bool is_reversed = candidate.kind == EdgeKind::State || candidate.other < row;
  return is_reversed ? Edge{candidate.other, row, candidate.kind, candidate.weight}
                     : Edge{row, candidate.other, candidate.kind, candidate.weight};
}

struct RankedEdge {
  Edge edge;
  EdgeTie tie;
};

}  // namespace

MemoryGraph::MemoryGraph(const EdgeOptions& options) : options_(options) { validate(options_); }

void MemoryGraph::grow(std::size_t rows) {
  if (rows > links_.size()) {
    links_.resize(rows);
  }
}

std::uint32_t MemoryGraph::cap(EdgeKind kind) const {
  switch (kind) {
    case EdgeKind::Semantic:
      return options_.semantic_degree;
    case EdgeKind::Structural:
      return options_.structural_degree;
    case EdgeKind::Term:
      return options_.term_degree;
    case EdgeKind::State:
    case EdgeKind::Sequence:
      break;
  }
  return kUncapped;
}

void MemoryGraph::check(const Edge& edge) const {
  for (const Row row : {edge.src, edge.dst}) {
    if (row >= links_.size()) {
      throw std::out_of_range("edge names row " + std::to_string(row) + ", the graph has " +
                              std::to_string(links_.size()) + " rows; grow it first");
    }
  }
  if (edge.src == edge.dst) {
    throw std::invalid_argument("edge leads from row " + std::to_string(edge.src) + " to itself");
  }
  if (static_cast<std::size_t>(edge.kind) >= kEdgeKinds) {
    throw std::invalid_argument("edge kind is " + std::to_string(static_cast<int>(edge.kind)) +
                                "; it must be below " + std::to_string(kEdgeKinds));
  }
  if (!(edge.weight > 0.0F && edge.weight <= 1.0F)) {
    throw std::invalid_argument("edge weight is " + std::to_string(edge.weight) +
                                "; it must be above 0 and at most 1");
  }
}

void MemoryGraph::require_no_batch(const char* what) const {
  if (has_staged()) {
    throw std::logic_error(std::string(what) + " while a batch is staged; reveal or discard it first");
  }
}

bool MemoryGraph::holds(const Edge& edge) const {
  return std::ranges::any_of(links_[edge.src], [&](const Link& link) {
    return link.other == edge.dst && link.kind == edge.kind && link.state != LinkState::Evicted;
  });
}

Edge MemoryGraph::edge_of(Row row, const Link& link) {
  const bool is_source = link.kind == EdgeKind::State ? link.outgoing : row < link.other;
  return is_source ? Edge{row, link.other, link.kind, link.weight}
                   : Edge{link.other, row, link.kind, link.weight};
}

MemoryGraph::Room MemoryGraph::room_at(Row row, const Edge& edge, const EdgeTie& edge_tie,
                                       const TieRule& tie) const {
  const auto is_rival = [&](const Link& link) {
    return link.kind == edge.kind && link.state != LinkState::Evicted;
  };
  const std::uint32_t most = cap(edge.kind);
  if (most == kUncapped || std::ranges::count_if(links_[row], is_rival) < static_cast<std::ptrdiff_t>(most)) {
    return {.is_open = true, .leaves = {}};
  }
  RankedEdge weakest{edge, edge_tie};
  for (const Link& link : links_[row]) {
    if (!is_rival(link) || link.weight > weakest.edge.weight) {
      continue;
    }
    // A tie costs a look at both units' cues: taken only where the weight leaves the order open.
    const Edge held = edge_of(row, link);
    const EdgeTie held_tie = tie ? tie(held.src, held.dst, held.kind) : EdgeTie{};
    if (is_stronger(weakest.edge, weakest.tie, held, held_tie)) {
      weakest = {held, held_tie};
    }
  }
  const bool is_open = weakest.edge != edge;
  return {.is_open = is_open, .leaves = is_open ? weakest.edge : Edge{}};
}

void MemoryGraph::stage(Row row, std::span<const EdgeCandidate> candidates, const TieRule& tie) {
  std::vector<RankedEdge> ranked;
  ranked.reserve(candidates.size());
  for (const EdgeCandidate& candidate : candidates) {
    const Edge edge = make_edge(row, candidate);
    check(edge);
    const bool needs_tie = tie && cap(edge.kind) != kUncapped;
    ranked.push_back({edge, needs_tie ? tie(edge.src, edge.dst, edge.kind) : EdgeTie{}});
  }
  std::ranges::sort(ranked, [](const RankedEdge& a, const RankedEdge& b) {
    return is_stronger(a.edge, a.tie, b.edge, b.tie);
  });
  for (const auto& [edge, edge_tie] : ranked) {
    if (holds(edge)) {
      continue;
    }
    const Room at_src = room_at(edge.src, edge, edge_tie, tie);
    const Room at_dst = room_at(edge.dst, edge, edge_tie, tie);
    if (!at_src.is_open || !at_dst.is_open) {
      continue;
    }
    for (const Edge& leaving : {at_src.leaves, at_dst.leaves}) {
      if (leaving.src != kNoRow) {
        evict(leaving);
      }
    }
    insert(edge, LinkState::Staged);
  }
}

bool MemoryGraph::add_state(Row old_row, Row new_row, float weight) {
  const Edge edge{old_row, new_row, EdgeKind::State, weight};
  check(edge);
  if (holds(edge)) {
    return false;
  }
  insert(edge, LinkState::Staged);
  return true;
}

void MemoryGraph::insert(const Edge& edge, LinkState state) {
  const bool is_state = edge.kind == EdgeKind::State;
  insert_link(edge.src, {edge.dst, edge.weight, edge.kind, state, true});
  insert_link(edge.dst, {edge.src, edge.weight, edge.kind, state, !is_state});
}

void MemoryGraph::insert_link(Row row, const Link& link) {
  std::vector<Link>& links = links_[row];
  const auto after = std::ranges::upper_bound(links, link, [](const Link& a, const Link& b) {
    return std::tie(a.other, a.kind) < std::tie(b.other, b.kind);
  });
  if (link.state == LinkState::Staged) {
    touched_.push_back(row);
    // An edge that this batch evicted and takes back unchanged was never gone.
    if (after != links.begin()) {
      Link& before = *std::prev(after);
      if (before.other == link.other && before.kind == link.kind && before.weight == link.weight) {
        before.state = LinkState::Live;
        return;
      }
    }
  }
  links.insert(after, link);
}

void MemoryGraph::evict(const Edge& edge) {
  evict_link(edge.src, edge.dst, edge.kind);
  evict_link(edge.dst, edge.src, edge.kind);
}

void MemoryGraph::evict_link(Row row, Row other, EdgeKind kind) {
  std::vector<Link>& links = links_[row];
  const auto found = std::ranges::find_if(links, [&](const Link& link) {
    return link.other == other && link.kind == kind && link.state != LinkState::Evicted;
  });
  assert(found != links.end());
  touched_.push_back(row);
  if (found->state == LinkState::Staged) {
    links.erase(found);
  } else {
    found->state = LinkState::Evicted;
  }
}

StagedEdges MemoryGraph::staged() const {
  std::vector<Row> rows = touched_;
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  StagedEdges result;
  for (const Row row : rows) {
    for (const Link& link : links_[row]) {
      const Edge edge = edge_of(row, link);
      if (link.state != LinkState::Live && edge.src == row) {
        (link.state == LinkState::Staged ? result.added : result.evicted).push_back(edge);
      }
    }
  }
  std::ranges::sort(result.added, edge_before);
  std::ranges::sort(result.evicted, edge_before);
  return result;
}

void MemoryGraph::reveal() {
  const StagedEdges batch = staged();
  for (const Edge& edge : batch.added) {
    ++counts_[static_cast<std::size_t>(edge.kind)];
  }
  for (const Edge& edge : batch.evicted) {
    --counts_[static_cast<std::size_t>(edge.kind)];
  }
  close_batch(LinkState::Evicted);
}

void MemoryGraph::discard() { close_batch(LinkState::Staged); }

void MemoryGraph::close_batch(LinkState dropped) {
  for (const Row row : touched_) {
    std::erase_if(links_[row], [dropped](const Link& link) { return link.state == dropped; });
    for (Link& link : links_[row]) {
      link.state = LinkState::Live;
    }
  }
  touched_.clear();
}

void MemoryGraph::load(std::span<const Edge> edges) {
  require_no_batch("load");
  std::vector<Edge> pairs;
  pairs.reserve(edges.size());
  const auto name = [](const Edge& edge) {
    return "edge " + std::to_string(edge.src) + " - " + std::to_string(edge.dst) + " of kind " +
           std::to_string(static_cast<int>(edge.kind));
  };
  for (const Edge& edge : edges) {
    check(edge);
    if (holds(edge)) {
      throw std::invalid_argument(name(edge) + " is in the graph already");
    }
    pairs.push_back({std::min(edge.src, edge.dst), std::max(edge.src, edge.dst), edge.kind, edge.weight});
  }
  std::ranges::sort(pairs, edge_before);
  const auto repeated =
      std::ranges::adjacent_find(pairs, [](const Edge& a, const Edge& b) { return !edge_before(a, b); });
  if (repeated != pairs.end()) {
    throw std::invalid_argument(name(*repeated) + " is given twice");
  }
  for (const Edge& edge : edges) {
    insert(edge, LinkState::Live);
    ++counts_[static_cast<std::size_t>(edge.kind)];
  }
}

std::vector<Edge> MemoryGraph::remove(Row row) {
  require_no_batch("remove");
  std::vector<Edge> removed;
  if (row >= links_.size()) {
    return removed;
  }
  for (const Link& link : links_[row]) {
    removed.push_back(edge_of(row, link));
    --counts_[static_cast<std::size_t>(link.kind)];
    std::erase_if(links_[link.other],
                  [&](const Link& back) { return back.other == row && back.kind == link.kind; });
  }
  links_[row].clear();
  std::ranges::sort(removed, edge_before);
  return removed;
}

std::size_t MemoryGraph::degree(Row row) const {
  std::size_t total = 0;
  for_each_neighbor(row, [&](Row, EdgeKind, float, bool) { ++total; });
  return total;
}

std::vector<Edge> MemoryGraph::edges() const {
  std::vector<Edge> result;
  for (Row row = 0; row < links_.size(); ++row) {
    for (const Link& link : links_[row]) {
      const Edge edge = edge_of(row, link);
      if (link.state != LinkState::Staged && edge.src == row) {
        result.push_back(edge);
      }
    }
  }
  std::ranges::sort(result, edge_before);
  return result;
}

Csr MemoryGraph::compact() const {
  Csr csr;
  csr.indptr.reserve(links_.size() + 1);
  csr.indptr.push_back(0);
  for (Row row = 0; row < links_.size(); ++row) {
    for_each_neighbor(row, [&](Row other, EdgeKind kind, float weight, bool outgoing) {
      csr.indices.push_back(other);
      csr.kinds.push_back(static_cast<std::uint8_t>(kind));
      csr.weights.push_back(weight);
      csr.outgoing.push_back(outgoing ? 1 : 0);
    });
    csr.indptr.push_back(static_cast<std::int64_t>(csr.indices.size()));
  }
  return csr;
}

}  // namespace ripple
