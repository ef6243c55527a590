// MemoryGraph, the structural scores and diffusion as Python sees them: arrays in, arrays out, for tests and
// benchmarks of these kernels alone; recall goes through the engine.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <limits>
#include <optional>

#include "arrays.hpp"
#include "ripple/diffusion.hpp"
#include "ripple/edge_scoring.hpp"
#include "ripple/graph.hpp"

namespace ripple::bindings {

namespace py = pybind11;

namespace {

void require_same(std::size_t size, std::size_t wanted, const char* name) {
  if (size != wanted) {
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(size) +
                                " entries; it must have " + std::to_string(wanted));
  }
}

EdgeKind to_kind(std::uint8_t kind) {
  if (kind >= kEdgeKinds) {
    throw std::invalid_argument("edge kind is " + std::to_string(kind) + "; it must be below " +
                                std::to_string(kEdgeKinds));
  }
  return static_cast<EdgeKind>(kind);
}

void stage(MemoryGraph& graph, Row row, const Array<Row>& others, const Array<std::uint8_t>& kinds,
           const Array<float>& weights, const std::optional<Array<std::uint32_t>>& sharing_units,
           const std::optional<Array<std::int64_t>>& said_at) {
  const auto other_rows = view_1d(others, "others");
  const auto kind_codes = view_1d(kinds, "kinds");
  const auto weight_values = view_1d(weights, "weights");
  require_same(kind_codes.size(), other_rows.size(), "kinds");
  require_same(weight_values.size(), other_rows.size(), "weights");
  std::span<const std::uint32_t> sharing;
  std::span<const std::int64_t> said;
  if (sharing_units) {
    sharing = view_1d(*sharing_units, "sharing_units");
    require_same(sharing.size(), graph.rows(), "sharing_units");
  }
  if (said_at) {
    said = view_1d(*said_at, "said_at");
    require_same(said.size(), graph.rows(), "said_at");
  }
  std::vector<EdgeCandidate> candidates;
  candidates.reserve(other_rows.size());
  for (std::size_t i = 0; i < other_rows.size(); ++i) {
    candidates.push_back({other_rows[i], to_kind(kind_codes[i]), weight_values[i]});
  }
  graph.stage(row, candidates, [&](Row a, Row b, EdgeKind) {
    EdgeTie tie;
    if (!sharing.empty()) {
      tie.sharing_units = std::max(sharing[a], sharing[b]);
    }
    if (!said.empty()) {
      tie.gap_seconds = gap_seconds(said[a], said[b]);
    }
    return tie;
  });
}

void load(MemoryGraph& graph, const Array<Row>& src, const Array<Row>& dst, const Array<std::uint8_t>& kinds,
          const Array<float>& weights) {
  const auto sources = view_1d(src, "src");
  const auto targets = view_1d(dst, "dst");
  const auto kind_codes = view_1d(kinds, "kinds");
  const auto weight_values = view_1d(weights, "weights");
  require_same(targets.size(), sources.size(), "dst");
  require_same(kind_codes.size(), sources.size(), "kinds");
  require_same(weight_values.size(), sources.size(), "weights");
  std::vector<Edge> edges;
  edges.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    edges.push_back({sources[i], targets[i], to_kind(kind_codes[i]), weight_values[i]});
  }
  graph.load(edges);
}

py::tuple neighbors(const MemoryGraph& graph, Row row) {
  std::vector<Row> others;
  std::vector<std::uint8_t> kinds;
  std::vector<float> weights;
  std::vector<std::uint8_t> outgoing;
  graph.for_each_neighbor(row, [&](Row other, EdgeKind kind, float weight, bool leads_out) {
    others.push_back(other);
    kinds.push_back(static_cast<std::uint8_t>(kind));
    weights.push_back(weight);
    outgoing.push_back(leads_out ? 1 : 0);
  });
  return py::make_tuple(to_array(std::move(others)), to_array(std::move(kinds)), to_array(std::move(weights)),
                        to_array(std::move(outgoing)));
}

py::tuple compact(const MemoryGraph& graph) {
  Csr csr = graph.compact();
  return py::make_tuple(to_array(std::move(csr.indptr)), to_array(std::move(csr.indices)),
                        to_array(std::move(csr.kinds)), to_array(std::move(csr.weights)),
                        to_array(std::move(csr.outgoing)));
}

// The cues of n units as borrowed arrays.
struct CueArrays {
  std::span<const std::int64_t> participant_offsets;
  std::span<const CueId> participants;
  std::span<const std::int64_t> location_offsets;
  std::span<const CueId> locations;
  std::span<const std::int64_t> times;

  [[nodiscard]] std::size_t size() const { return times.size() / 2; }

  [[nodiscard]] CueView at(std::size_t unit) const {
    const auto part = [unit](std::span<const std::int64_t> offsets, std::span<const CueId> ids) {
      const auto first = static_cast<std::size_t>(offsets[unit]);
      return ids.subspan(first, static_cast<std::size_t>(offsets[unit + 1]) - first);
    };
    return {.participants = part(participant_offsets, participants),
            .locations = part(location_offsets, locations),
            .time = {times[2 * unit], times[2 * unit + 1]}};
  }
};

void require_csr(std::span<const std::int64_t> offsets, std::span<const CueId> ids, std::size_t units,
                 const char* name) {
  require_same(offsets.size(), units + 1, name);
  if (offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(ids.size())) {
    throw std::invalid_argument(std::string(name) + " does not span its ids");
  }
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (offsets[unit] > offsets[unit + 1]) {
      throw std::invalid_argument(std::string(name) + " falls at unit " + std::to_string(unit));
    }
  }
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (auto i = static_cast<std::size_t>(offsets[unit]) + 1;
         i < static_cast<std::size_t>(offsets[unit + 1]); ++i) {
      if (ids[i - 1] >= ids[i]) {
        throw std::invalid_argument(std::string(name) + ": ids of unit " + std::to_string(unit) +
                                    " are not sorted without repeats");
      }
    }
  }
}

py::tuple structural_scores(const Array<std::int64_t>& participant_indptr, const Array<CueId>& participants,
                            const Array<std::int64_t>& location_indptr, const Array<CueId>& locations,
                            const Array<std::int64_t>& times, const Array<std::uint32_t>& left,
                            const Array<std::uint32_t>& right, const EdgeOptions& options) {
  const CueArrays cues{view_1d(participant_indptr, "participant_indptr"),
                       view_1d(participants, "participants"), view_1d(location_indptr, "location_indptr"),
                       view_1d(locations, "locations"), view_2d(times, 2, "times")};
  const auto lefts = view_1d(left, "left");
  const auto rights = view_1d(right, "right");
  validate(options);
  require_csr(cues.participant_offsets, cues.participants, cues.size(), "participant_indptr");
  require_csr(cues.location_offsets, cues.locations, cues.size(), "location_indptr");
  require_same(rights.size(), lefts.size(), "right");
  for (const auto side : {lefts, rights}) {
    for (const std::uint32_t unit : side) {
      if (unit >= cues.size()) {
        throw std::out_of_range("pair names unit " + std::to_string(unit) + " of " +
                                std::to_string(cues.size()));
      }
    }
  }
  std::vector<double> scores(lefts.size());
  std::vector<std::uint8_t> is_edge(lefts.size());
  {
    const py::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < lefts.size(); ++i) {
      const CueView a = cues.at(lefts[i]);
      const CueView b = cues.at(rights[i]);
      scores[i] = structural_score(a, b, options).value_or(std::numeric_limits<double>::quiet_NaN());
      is_edge[i] = is_structural_edge(a, b, options) ? 1 : 0;
    }
  }
  return py::make_tuple(to_array(std::move(scores)), to_array(std::move(is_edge)));
}

RowMask to_mask(const Array<Row>& rows) {
  RowMask mask;
  for (const Row row : view_1d(rows, "rows")) {
    mask.set(row);
  }
  return mask;
}

Zone to_zone(const Array<Row>& rows, const Array<std::uint8_t>& hops, const Array<float>& strengths) {
  const auto row_values = view_1d(rows, "rows");
  const auto hop_values = view_1d(hops, "hops");
  const auto strength_values = view_1d(strengths, "strengths");
  require_same(hop_values.size(), row_values.size(), "hops");
  require_same(strength_values.size(), row_values.size(), "strengths");
  for (const float strength : strength_values) {
    if (!std::isfinite(strength)) {
      throw std::invalid_argument("a path strength is not finite");
    }
  }
  Zone zone;
  zone.rows.assign(row_values.begin(), row_values.end());
  zone.hops.assign(hop_values.begin(), hop_values.end());
  zone.strengths.assign(strength_values.begin(), strength_values.end());
  zone.parents.assign(row_values.size(), kNoRow);
  zone.anchors.assign(row_values.size(), kNoRow);
  zone.kinds.assign(row_values.size(), EdgeKind::Semantic);
  return zone;
}

py::tuple from_support(Support&& support) {
  return py::make_tuple(to_array(std::move(support.rows)), to_array(std::move(support.scores)),
                        to_array(std::move(support.channels)), to_array(std::move(support.zone_index)));
}

std::span<const float> scores_of(const std::optional<Array<float>>& scores, const char* name) {
  if (!scores) {
    return {};
  }
  const auto values = view_1d(*scores, name);
  for (const float value : values) {
    if (std::isinf(value)) {
      throw std::invalid_argument(std::string(name) + " holds an infinite score");
    }
  }
  return values;
}

void register_options(py::module_& module) {
  py::class_<EdgeOptions>(module, "EdgeOptions", "How edges are found, scored and capped (RippleMem 1.1).")
      .def(py::init<>())
      .def_readwrite("semantic_threshold", &EdgeOptions::semantic_threshold)
      .def_readwrite("structural_threshold", &EdgeOptions::structural_threshold)
      .def_readwrite("participant_weight", &EdgeOptions::participant_weight)
      .def_readwrite("location_weight", &EdgeOptions::location_weight)
      .def_readwrite("time_weight", &EdgeOptions::time_weight)
      .def_readwrite("time_decay_seconds", &EdgeOptions::time_decay_seconds)
      .def_readwrite("longest_interval_seconds", &EdgeOptions::longest_interval_seconds)
      .def_readwrite("semantic_degree", &EdgeOptions::semantic_degree)
      .def_readwrite("structural_degree", &EdgeOptions::structural_degree)
      .def_readwrite("term_degree", &EdgeOptions::term_degree)
      .def_readwrite("semantic_candidates", &EdgeOptions::semantic_candidates)
      .def_readwrite("cue_candidates", &EdgeOptions::cue_candidates)
      .def_readwrite("term_units_min", &EdgeOptions::term_units_min)
      .def_readwrite("term_units_max", &EdgeOptions::term_units_max)
      .def_readwrite("sequence_weight", &EdgeOptions::sequence_weight)
      .def_readwrite("term_weight", &EdgeOptions::term_weight)
      .def_readwrite("state_weight", &EdgeOptions::state_weight)
      .def_readwrite("participants_max", &EdgeOptions::participants_max);
  py::class_<DiffusionOptions>(module, "DiffusionOptions",
                               "How far and towards what recall expands (RippleMem 1.2).")
      .def(py::init<>())
      .def_readwrite("hops", &DiffusionOptions::hops)
      .def_readwrite("first_hop_kinds", &DiffusionOptions::first_hop_kinds)
      .def_readwrite("second_hop_kinds", &DiffusionOptions::second_hop_kinds)
      .def_readwrite("top_k_per_channel", &DiffusionOptions::top_k_per_channel)
      .def_readwrite("near_tie", &DiffusionOptions::near_tie)
      .def_readwrite("visited_max", &DiffusionOptions::visited_max);
}

// The graph's methods keep the interpreter lock: it is the lock that MemoryGraph itself lacks.
void register_memory_graph(py::module_& module) {
  py::class_<MemoryGraph>(module, "MemoryGraph",
                          "Typed edges of bounded degree; edges are (src, dst, kinds, weights).")
      .def(py::init<const EdgeOptions&>(), py::arg("options") = EdgeOptions{})
      .def("grow", &MemoryGraph::grow, py::arg("rows"), "Makes room for rows 0 .. rows - 1.")
      .def("stage", &stage, py::arg("row"), py::arg("others").noconvert(), py::arg("kinds").noconvert(),
           py::arg("weights").noconvert(), py::kw_only(), py::arg("sharing_units").noconvert() = py::none(),
           py::arg("said_at").noconvert() = py::none(),
           "Adds what the caps let in to the open batch. Edges of equal weight go by the larger "
           "sharing_units of "
           "their two rows, then the said_at gap, both given per row.")
      .def("add_state", &MemoryGraph::add_state, py::arg("old_row"), py::arg("new_row"), py::arg("weight"),
           "Stages a state edge; False when the pair has one.")
      .def(
          "staged",
          [](const MemoryGraph& graph) {
            const StagedEdges batch = graph.staged();
            return py::make_tuple(edges_to_arrays(batch.added), edges_to_arrays(batch.evicted));
          },
          "The edges (added, evicted) by the open batch.")
      .def_property_readonly("has_staged", &MemoryGraph::has_staged, "Whether a batch is open.")
      .def("reveal", &MemoryGraph::reveal, "Makes the open batch visible.")
      .def("discard", &MemoryGraph::discard, "Forgets the open batch.")
      .def("load", &load, py::arg("src").noconvert(), py::arg("dst").noconvert(),
           py::arg("kinds").noconvert(), py::arg("weights").noconvert(),
           "Takes edges as they stand in the record, without caps.")
      .def(
          "remove", [](MemoryGraph& graph, Row row) { return edges_to_arrays(graph.remove(row)); },
          py::arg("row"), "Takes all edges of a row away and returns them.")
      .def("neighbors", &neighbors, py::arg("row"),
           "The revealed (others, kinds, weights, outgoing) of a row, by other row, then kind.")
      .def("degree", &MemoryGraph::degree, py::arg("row"), "The number of revealed edges of a row.")
      .def(
          "edge_count",
          [](const MemoryGraph& graph, std::uint8_t kind) { return graph.edge_count(to_kind(kind)); },
          py::arg("kind"), "The number of revealed edges of a kind.")
      .def_property_readonly("rows", &MemoryGraph::rows, "The number of rows.")
      .def(
          "edges", [](const MemoryGraph& graph) { return edges_to_arrays(graph.edges()); },
          "All revealed edges by src, dst, kind.")
      .def("compact", &compact, "A CSR copy: (indptr, indices, kinds, weights, outgoing).");
}

void register_zone(py::module_& module) {
  py::class_<RowMask>(module, "RowMask", "A set of rows.")
      .def(py::init(&to_mask), py::arg("rows").noconvert());
  const auto copy = [](auto member) {
    return [member](const Zone& zone) { return to_array(std::vector(zone.*member)); };
  };
  py::class_<Zone>(module, "Zone", "The rows around some anchors, parallel arrays.")
      .def(py::init(&to_zone), py::arg("rows").noconvert(), py::arg("hops").noconvert(),
           py::arg("strengths").noconvert())
      .def_property_readonly("rows", copy(&Zone::rows), "uint32 (n,)")
      .def_property_readonly("hops", copy(&Zone::hops), "uint8 (n,): edges from the nearest anchor")
      .def_property_readonly("parents", copy(&Zone::parents), "uint32 (n,): the row before on the best path")
      .def_property_readonly("anchors", copy(&Zone::anchors), "uint32 (n,): where the best path starts")
      .def_property_readonly("strengths", copy(&Zone::strengths), "float32 (n,): product of the edge weights")
      .def_property_readonly(
          "kinds", [](const Zone& zone) { return kinds_to_array(zone.kinds); },
          "uint8 (n,): kind of the path's last edge");
}

}  // namespace

void register_graph(py::module_& module) {
  register_options(module);
  register_memory_graph(module);
  register_zone(module);
  module.def(
      "structural_scores", &structural_scores, py::arg("participant_indptr").noconvert(),
      py::arg("participants").noconvert(), py::arg("location_indptr").noconvert(),
      py::arg("locations").noconvert(), py::arg("times").noconvert(), py::arg("left").noconvert(),
      py::arg("right").noconvert(), py::arg("options") = EdgeOptions{},
      "The structural score of each pair of units (NaN where nothing is comparable) and whether it makes an "
      "edge: float64 (m,), uint8 (m,).");
  module.def(
      "collect_zone",
      [](const MemoryGraph& graph, const Array<Row>& anchors, const RowMask& exclude, const RowMask& allowed,
         const DiffusionOptions& options) {
        return collect_zone(graph, view_1d(anchors, "anchors"), exclude, allowed, options);
      },
      py::arg("graph"), py::arg("anchors").noconvert(), py::arg("exclude"), py::arg("allowed"),
      py::arg("options") = DiffusionOptions{},
      "The units around the anchors, by hop, path strength down, row.");
  module.def(
      "select_support",
      [](const Zone& zone, const std::optional<Array<float>>& semantic,
         const std::optional<Array<float>>& structural, const DiffusionOptions& options) {
        return from_support(select_support(zone, scores_of(semantic, "semantic"),
                                           scores_of(structural, "structural"), options));
      },
      py::arg("zone"), py::arg("semantic").noconvert(), py::arg("structural").noconvert(),
      py::arg("options") = DiffusionOptions{},
      "The units of a zone that answer a target best: (rows, scores, channels, zone_index).");
  module.def(
      "select_nearest", [](const Zone& zone, std::size_t k) { return from_support(select_nearest(zone, k)); },
      py::arg("zone"), py::arg("k"),
      "The first k of a zone without a target: (rows, scores, channels, zone_index).");
}

}  // namespace ripple::bindings
