// Anchor-local diffusion (RippleMem 1.2): the units within a few hops of the anchors, and of those the ones
// that answer a target best. Free functions over const views; they may run side by side while nothing writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ripple/graph.hpp"
#include "ripple/params.hpp"
#include "ripple/row_mask.hpp"
#include "ripple/types.hpp"

namespace ripple {

// What lies around the anchors, by hop, then path strength down, then row.
struct Zone {
  std::vector<Row> rows;
  std::vector<std::uint8_t> hops;  // edges from the nearest anchor, 1 ..
  std::vector<Row> parents;        // the row before on the best path; the anchor itself at hop 1
  std::vector<Row> anchors;        // where the best path starts
  std::vector<float> strengths;    // product of the edge weights on the best path
  std::vector<EdgeKind> kinds;     // of the path's last edge
};

// The units within options.hops edges of an anchor, without the anchors. The first hop walks the kinds in
// first_hop_kinds, further ones those in second_hop_kinds. Rows in `exclude` are walked through but not
// returned, rows not in `allowed` (anchors too) are neither. Fewest hops win, then the strongest path, then
// the smaller parent row and kind. At most visited_max rows are visited, the last hop giving up its weakest.
// O(visited_max x degree). Throws std::invalid_argument for more than 255 hops.
[[nodiscard]] Zone collect_zone(const MemoryGraph& graph, std::span<const Row> anchors,
                                const RowMask& exclude, const RowMask& allowed,
                                const DiffusionOptions& options);

// Bits of Support::channels.
enum Channel : std::uint8_t { kChannelSemantic = 1, kChannelStructural = 2 };

// The units taken from a zone: score down, then fewer hops, stronger path, row up.
struct Support {
  std::vector<Row> rows;
  std::vector<float> scores;
  std::vector<std::uint8_t> channels;
  std::vector<std::uint32_t> zone_index;
};

// The best top_k_per_channel by each channel, united. semantic[i] = cos(target, zone.rows[i]), NaN where
// there is no vector; structural[i] = structural score of the target's cues, NaN where not comparable; an
// empty span leaves the channel out. A structural score of 0 shares nothing and is no support. Near ties:
// from the best score down, all scores within near_tie of the group's first form a group, ordered by hop,
// then path strength, then row; the next lower score opens the next group. This order is total and does not
// depend on how the zone was stored.
// The united score is the sum over the channels of 5 / (5 + rank), rank from 0 (the paper's rank support):
// the two scales have no common unit. O(zone log zone). Throws std::invalid_argument for a span of another
// length.
[[nodiscard]] Support select_support(const Zone& zone, std::span<const float> semantic,
                                     std::span<const float> structural, const DiffusionOptions& options);

// The first k of a zone with no target, by hop, then path strength, then row; the score is the path strength.
// What "undirected expansion" means in the papers' ablation.
[[nodiscard]] Support select_nearest(const Zone& zone, std::size_t k);

}  // namespace ripple
