// The graph of one namespace: typed edges of bounded degree between units, grown a batch at a time.
// A batch is staged, hidden from readers, and then revealed or discarded as a whole, so that it can be
// written to the record in between. Undirected, but for State, which leads from the old unit to the new.
//
// Not locked inside: one writer, or any number of readers. stage, add_state, staged and discard change
// nothing that readers can tell apart, but they do move memory: the engine excludes readers during every
// non-const call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ripple/edge_scoring.hpp"
#include "ripple/params.hpp"
#include "ripple/types.hpp"

namespace ripple {

// An edge that a unit asks for, its weight in (0, 1]. With State, `other` is the old unit and the asking unit
// the new one.
struct EdgeCandidate {
  Row other = kNoRow;
  EdgeKind kind = EdgeKind::Semantic;
  float weight = 0.0F;
};

// Gives the tie of two units for a kind. Called during stage only: once a candidate of a capped kind, and for
// the edges of a full unit whose weight equals the new one's. May be empty: ties then go by rows alone.
using TieRule = std::function<EdgeTie(Row, Row, EdgeKind)>;

// The net effect of a batch, each list by src, dst, kind. Whoever repeats it drops `evicted` first: an edge
// whose weight changed stands in both.
struct StagedEdges {
  std::vector<Edge> added;
  std::vector<Edge> evicted;
};

// A snapshot of the revealed edges. Each edge stands in both of its rows; a row's entries go by index, then
// kind.
struct Csr {
  std::vector<std::int64_t> indptr;    // rows + 1
  std::vector<std::uint32_t> indices;  // the other row
  std::vector<std::uint8_t> kinds;     // EdgeKind
  std::vector<float> weights;
  std::vector<std::uint8_t> outgoing;  // 0 only where a State edge is seen from its new end
};

class MemoryGraph {
 public:
  // Throws std::invalid_argument as validate() does.
  explicit MemoryGraph(const EdgeOptions& options = {});

  // Makes room for rows 0 .. rows - 1; never shrinks.
  void grow(std::size_t rows);

  // Adds what the caps let in to the open batch (and opens one). Candidates are taken in the cap order; at a
  // full end the weakest edge of the kind gives way if the new one is stronger, otherwise the candidate is
  // dropped. There is one edge a pair and kind: a pair that has one keeps it. Sequence and State know no cap.
  // O(candidates x degree). Throws std::out_of_range for a row beyond rows(), std::invalid_argument for an
  // edge from a unit to itself or a weight outside (0, 1], before anything has changed.
  void stage(Row row, std::span<const EdgeCandidate> candidates, const TieRule& tie);

  // Stages old -> new; false when the pair has a state edge, of either direction, already. Throws as stage.
  bool add_state(Row old_row, Row new_row, float weight);

  [[nodiscard]] StagedEdges staged() const;
  [[nodiscard]] bool has_staged() const { return !touched_.empty(); }

  // Makes the batch visible / forgets it, leaving the graph as it was. Nothing when no batch is open.
  void reveal();
  void discard();

  // Takes edges as they stand in the record: no choosing, no caps. Throws std::out_of_range or
  // std::invalid_argument for an edge that stage would refuse or that repeats a pair and kind, before
  // anything has changed, and std::logic_error while a batch is open.
  void load(std::span<const Edge> edges);

  // Takes all edges of a row away at once, staged nowhere, and returns them in order. A chain of State edges
  // through the row is cut: the caller joins its ends. Throws std::logic_error while a batch is open.
  std::vector<Edge> remove(Row row);

  // Calls visit(Row other, EdgeKind kind, float weight, bool outgoing) for each revealed edge of a row by
  // other, then kind; an edge that an open batch will evict is still there. outgoing is false only where a
  // State edge is seen from its new end. Nothing for a row beyond the end.
  template <class Visit>
  void for_each_neighbor(Row row, Visit&& visit) const {
    if (row >= links_.size()) {
      return;
    }
    for (const Link& link : links_[row]) {
      if (link.state != LinkState::Staged) {
        visit(link.other, link.kind, link.weight, link.outgoing);
      }
    }
  }

  [[nodiscard]] std::size_t rows() const { return links_.size(); }
  [[nodiscard]] std::size_t degree(Row row) const;
  [[nodiscard]] std::size_t edge_count(EdgeKind kind) const {
    return counts_[static_cast<std::size_t>(kind)];
  }
  // All revealed edges by src, dst, kind: src < dst, but for State.
  [[nodiscard]] std::vector<Edge> edges() const;
  [[nodiscard]] Csr compact() const;

 private:
  enum class LinkState : std::uint8_t { Live, Staged, Evicted };
  // One end of an edge, kept sorted by other, kind, state in its row.
  struct Link {
    Row other;
    float weight;
    EdgeKind kind;
    LinkState state;
    bool outgoing;
  };

  // What one end says to a new edge: open to it or not, and the edge that leaves for it (src kNoRow: none).
  struct Room {
    bool is_open = false;
    Edge leaves;
  };

  [[nodiscard]] static Edge edge_of(Row row, const Link& link);
  [[nodiscard]] std::uint32_t cap(EdgeKind kind) const;
  void check(const Edge& edge) const;
  void require_no_batch(const char* what) const;
  [[nodiscard]] bool holds(const Edge& edge) const;
  [[nodiscard]] Room room_at(Row row, const Edge& edge, const EdgeTie& edge_tie, const TieRule& tie) const;
  void insert(const Edge& edge, LinkState state);
  void insert_link(Row row, const Link& link);
  void evict(const Edge& edge);
  void evict_link(Row row, Row other, EdgeKind kind);
  void close_batch(LinkState dropped);

  EdgeOptions options_;
  std::vector<std::vector<Link>> links_;
  std::vector<Row> touched_;  // rows whose links an open batch has changed; may repeat
  std::array<std::size_t, kEdgeKinds> counts_{};
};

}  // namespace ripple
