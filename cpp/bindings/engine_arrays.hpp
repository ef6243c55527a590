// The engine's inputs and results as arrays.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "ripple/engine.hpp"

namespace ripple::bindings {

using Ids = Array<std::uint32_t>;
using Offsets = Array<std::int64_t>;

// Array arguments of a query, kept alive beside the views.
struct QueryArrays {
  Array<float> vector;
  QueryTerms terms;
  Ids participants;
  Ids locations;
  TimeInterval time;
  TimeGrain grain = TimeGrain::None;
  TimeInterval months;
  bool asks_when = false;

  [[nodiscard]] Query view() const {
    return {.vector = view_1d(vector, "vector"),
            .terms = &terms,
            .cues = {.participants = view_1d(participants, "participants"),
                     .locations = view_1d(locations, "locations"),
                     .time = time},
            .time_grain = grain,
            .months = months,
            .asks_when = asks_when};
  }
};

struct SelectionArrays {
  Ids participants;
  Ids locations;
  Ids sessions;
  Ids rows;
  TimeInterval time;
  TimeInterval said;
  bool has_rows = false;
  bool with_superseded = true;

  [[nodiscard]] Selection view() const {
    return {.participants = view_1d(participants, "participants"),
            .locations = view_1d(locations, "locations"),
            .sessions = view_1d(sessions, "sessions"),
            .time = time,
            .said = said,
            .rows = view_1d(rows, "rows"),
            .has_rows = has_rows,
            .with_superseded = with_superseded};
  }
};

struct BatchArrays {
  Array<float> vectors;
  Offsets term_indptr;
  Ids terms;
  Ids term_counts;
  Ids speakers;
  Offsets participant_indptr;
  Ids participants;
  Offsets location_indptr;
  Ids locations;
  Array<std::int64_t> times;
  Offsets said_at;
  Ids sessions;
  Array<std::uint8_t> flags;

  [[nodiscard]] UnitBatch view(std::size_t dimension) const {
    return {.vectors = view_2d(vectors, static_cast<py::ssize_t>(dimension), "vectors"),
            .terms = {view_1d(term_indptr, "term_indptr"), view_1d(terms, "terms")},
            .term_counts = view_1d(term_counts, "term_counts"),
            .speakers = view_1d(speakers, "speakers"),
            .participants = {view_1d(participant_indptr, "participant_indptr"),
                             view_1d(participants, "participants")},
            .locations = {view_1d(location_indptr, "location_indptr"), view_1d(locations, "locations")},
            .times = view_2d(times, 2, "times"),
            .said_at = view_1d(said_at, "said_at"),
            .sessions = view_1d(sessions, "sessions"),
            .flags = view_1d(flags, "flags")};
  }
};

// From (src, dst, kind, weight) arrays.
[[nodiscard]] inline std::vector<Edge> edges_from_arrays(const Ids& src, const Ids& dst,
                                                         const Array<std::uint8_t>& kinds,
                                                         const Array<float>& weights) {
  const auto from = view_1d(src, "src");
  const auto to = view_1d(dst, "dst");
  const auto kind = view_1d(kinds, "kinds");
  const auto weight = view_1d(weights, "weights");
  if (to.size() != from.size() || kind.size() != from.size() || weight.size() != from.size()) {
    throw std::invalid_argument("src, dst, kinds and weights must have one length");
  }
  std::vector<Edge> edges;
  edges.reserve(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (kind[i] >= kEdgeKinds) {
      throw std::invalid_argument("kinds holds " + std::to_string(kind[i]) + "; edge kinds are 0 to 4");
    }
    edges.push_back({from[i], to[i], static_cast<EdgeKind>(kind[i]), weight[i]});
  }
  return edges;
}

[[nodiscard]] inline py::tuple terms_to_arrays(std::vector<LexicalIndex::Terms>&& texts) {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::uint32_t> ids;
  std::vector<std::uint32_t> counts;
  for (const LexicalIndex::Terms& terms : texts) {
    ids.insert(ids.end(), terms.ids.begin(), terms.ids.end());
    counts.insert(counts.end(), terms.counts.begin(), terms.counts.end());
    indptr.push_back(static_cast<std::int64_t>(ids.size()));
  }
  return py::make_tuple(to_array(std::move(indptr)), to_array(std::move(ids)), to_array(std::move(counts)));
}

[[nodiscard]] inline py::array_t<float> parts_to_array(const FeatureMatrix& parts) {
  std::vector<float> flat;
  flat.reserve(parts.size() * kFeatures);
  for (const FeatureRow& row : parts) {
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return to_array_2d(std::move(flat), kFeatures);
}

}  // namespace ripple::bindings
