// The vector index, the cue index and what they stand on, as Python sees them: for tests and benchmarks of
// these components alone; memories go through the engine. Nothing is locked here, as in the core.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string_view>
#include <tuple>

#include "arrays.hpp"
#include "ripple/bitmap.hpp"
#include "ripple/cue_index.hpp"
#include "ripple/distance.hpp"
#include "ripple/error.hpp"
#include "ripple/vector_index.hpp"

namespace ripple::bindings {

namespace py = pybind11;

namespace {

using RankedArrays = std::tuple<py::array_t<Row>, py::array_t<float>>;
using Ids = Array<CueId>;
using Times = Array<std::int64_t>;

RankedArrays to_arrays(const std::vector<ScoredRow>& ranked) {
  std::vector<Row> rows;
  std::vector<float> scores;
  rows.reserve(ranked.size());
  scores.reserve(ranked.size());
  for (const auto& [row, score] : ranked) {
    rows.push_back(row);
    scores.push_back(score);
  }
  return {to_array(std::move(rows)), to_array(std::move(scores))};
}

template <class Search>
RankedArrays without_gil(Search&& search) {
  std::vector<ScoredRow> ranked;
  {
    const py::gil_scoped_release released;
    ranked = search();
  }
  return to_arrays(ranked);
}

CueKind to_cue_kind(std::uint8_t kind) {
  if (kind >= kCueKinds) {
    throw std::invalid_argument("cue kind is " + std::to_string(kind) + "; it must be 0 or 1");
  }
  return static_cast<CueKind>(kind);
}

TimeInterval to_interval(const Times& time) {
  const auto ends = view_1d(time, "time");
  if (ends.size() != 2) {
    throw std::invalid_argument("time has " + std::to_string(ends.size()) + " entries; it must have 2");
  }
  return {ends[0], ends[1]};
}

CueView to_cues(const Ids& participants, const Ids& locations, const Times& time) {
  return {view_1d(participants, "participants"), view_1d(locations, "locations"), to_interval(time)};
}

py::bytes to_bytes(const RoaringBitmap& bitmap) {
  const std::vector<std::byte> bytes = bitmap.serialise();
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::span<const std::byte> to_span(std::string_view bytes) { return std::as_bytes(std::span(bytes)); }

float checked_dot(const Array<float>& a, const Array<float>& b) {
  const auto left = view_1d(a, "a");
  const auto right = view_1d(b, "b");
  if (left.size() != right.size()) {
    throw DimensionMismatchError("a has dimension " + std::to_string(left.size()) + ", b has " +
                                 std::to_string(right.size()));
  }
  return dot(left, right);
}

void register_bitmap(py::module_& module) {
  py::class_<RoaringBitmap>(module, "RoaringBitmap", "A compressed set of rows.")
      .def(py::init<>())
      .def("add", &RoaringBitmap::add, py::arg("row"), "Adds a row; tells whether it was new.")
      .def("remove", &RoaringBitmap::remove, py::arg("row"), "Removes a row; tells whether it was there.")
      .def("__contains__", &RoaringBitmap::contains, py::arg("row"))
      .def("__len__", &RoaringBitmap::cardinality)
      .def("__and__", &RoaringBitmap::intersected, py::arg("other"))
      .def("__or__", &RoaringBitmap::united, py::arg("other"))
      .def("intersects", &RoaringBitmap::intersects, py::arg("other"), "Whether a row is in both.")
      .def(
          "__eq__", [](const RoaringBitmap& a, const RoaringBitmap& b) { return a == b; }, py::arg("other"))
      .def(
          "rows", [](const RoaringBitmap& bitmap) { return to_array(bitmap.rows()); },
          "The rows, uint32 (n,), ascending.")
      .def("serialise", &to_bytes, "The portable format of Roaring, as pyroaring reads it.")
      .def_static(
          "deserialise", [](std::string_view bytes) { return RoaringBitmap::deserialise(to_span(bytes)); },
          py::arg("data"), "The bitmap of these bytes; CorruptStoreError unless they are exactly one.");
}

void register_vector_index(py::module_& module) {
  py::class_<VectorIndex>(module, "VectorIndex",
                          "Unit vectors by row: exact scan below a size, HNSW above it. Not locked.")
      .def(py::init([](std::size_t dimension, std::size_t exact_below, std::size_t max_links,
                       std::size_t ef_construction, std::size_t ef_search, float rebuild_at_deleted,
                       std::uint64_t seed) {
             return VectorIndex(dimension, {.exact_below = exact_below,
                                            .max_links = max_links,
                                            .ef_construction = ef_construction,
                                            .ef_search = ef_search,
                                            .rebuild_at_deleted = rebuild_at_deleted,
                                            .seed = seed});
           }),
           py::arg("dimension"), py::kw_only(), py::arg("exact_below") = VectorIndexOptions{}.exact_below,
           py::arg("max_links") = VectorIndexOptions{}.max_links,
           py::arg("ef_construction") = VectorIndexOptions{}.ef_construction,
           py::arg("ef_search") = VectorIndexOptions{}.ef_search,
           py::arg("rebuild_at_deleted") = VectorIndexOptions{}.rebuild_at_deleted,
           py::arg("seed") = VectorIndexOptions{}.seed)
      .def(
          "add",
          [](VectorIndex& index, Row row, const Array<float>& vector) {
            index.add(row, view_1d(vector, "vector"));
          },
          py::arg("row"), py::arg("vector").noconvert(),
          "Copies float32 (d,) and scales it to unit length. Raises before any change.")
      .def("remove", &VectorIndex::remove, py::arg("row"), "Nothing happens when the row is not held.")
      .def("__contains__", &VectorIndex::contains, py::arg("row"))
      .def("__len__", &VectorIndex::size)
      .def(
          "vector",
          [](const VectorIndex& index, Row row) {
            const auto vector = index.vector(row);
            return to_array(std::vector<float>(vector.begin(), vector.end()));
          },
          py::arg("row"), "A copy, float32 (d,), of unit length; (0,) when the row is not held.")
      .def(
          "dot",
          [](const VectorIndex& index, const Array<float>& query, Row row) {
            return index.dot(view_1d(query, "query"), row);
          },
          py::arg("query").noconvert(), py::arg("row"), "0 when the row is not held.")
      .def(
          "search",
          [](const VectorIndex& index, const Array<float>& query, std::size_t k, const RowMask& allowed) {
            const auto values = view_1d(query, "query");
            return without_gil([&] { return index.search(values, k, allowed); });
          },
          py::arg("query").noconvert(), py::arg("k"), py::arg("allowed"),
          "The k allowed rows nearest to the query, by the graph where it pays: (row, score) in order.")
      .def(
          "search_exact",
          [](const VectorIndex& index, const Array<float>& query, std::size_t k, const RowMask& allowed) {
            const auto values = view_1d(query, "query");
            return without_gil([&] { return index.search_exact(values, k, allowed); });
          },
          py::arg("query").noconvert(), py::arg("k"), py::arg("allowed"),
          "As search, by comparing every allowed row.")
      .def("wants_graph", &VectorIndex::wants_graph, "Whether a graph should be built, or built anew.")
      .def("build_step", &VectorIndex::build_step, py::arg("rows"), py::call_guard<py::gil_scoped_release>(),
           "Adds up to so many vectors to the graph being built; True when it covers everything.")
      .def("adopt_graph", &VectorIndex::adopt_graph, py::call_guard<py::gil_scoped_release>(),
           "Puts the built graph in place of the old one.")
      .def("has_graph", &VectorIndex::has_graph)
      .def("self_recall", &VectorIndex::self_recall, py::arg("sample"),
           py::call_guard<py::gil_scoped_release>(),
           "Share of so many evenly spread vectors that the graph finds among the 10 nearest to themselves.")
      .def(
          "stats",
          [](const VectorIndex& index) {
            const VectorIndexStats stats = index.stats();
            return py::dict(py::arg("rows") = stats.rows, py::arg("distinct") = stats.distinct,
                            py::arg("graph_entries") = stats.graph_entries,
                            py::arg("graph_deleted") = stats.graph_deleted);
          },
          "Counts: rows, distinct vectors, entries of the graph and those deleted.");
}

void register_cue_index(py::module_& module) {
  py::class_<CueIndex>(
      module, "CueIndex",
      "Participants, locations and time by row. Not locked. Cue kinds: 0 participant, 1 location.")
      .def(py::init([](std::int64_t time_decay_seconds, std::int64_t longest_interval_seconds) {
             EdgeOptions options;
             options.time_decay_seconds = time_decay_seconds;
             options.longest_interval_seconds = longest_interval_seconds;
             return CueIndex(options);
           }),
           py::kw_only(), py::arg("time_decay_seconds") = EdgeOptions{}.time_decay_seconds,
           py::arg("longest_interval_seconds") = EdgeOptions{}.longest_interval_seconds)
      .def(
          "add",
          [](CueIndex& index, Row row, const Ids& participants, const Ids& locations, const Times& time,
             std::int64_t said_at) { index.add(row, to_cues(participants, locations, time), said_at); },
          py::arg("row"), py::arg("participants").noconvert(), py::arg("locations").noconvert(),
          py::arg("time").noconvert(), py::arg("said_at"),
          "Ids uint32, ascending without repeats; time int64 (2,). Raises before any change.")
      .def("remove", &CueIndex::remove, py::arg("row"), "Nothing happens when the row is not held.")
      .def("__contains__", &CueIndex::contains, py::arg("row"))
      .def("__len__", &CueIndex::size)
      .def(
          "postings",
          [](const CueIndex& index, std::uint8_t kind, CueId id) {
            return to_bytes(index.postings(to_cue_kind(kind), id));
          },
          py::arg("kind"), py::arg("id"), "The rows with a cue as portable Roaring bytes.")
      .def(
          "count",
          [](const CueIndex& index, std::uint8_t kind, CueId id) {
            return index.count(to_cue_kind(kind), id);
          },
          py::arg("kind"), py::arg("id"), "How many rows have the cue.")
      .def(
          "cues",
          [](const CueIndex& index, Row row) {
            const auto [participants, locations, time] = index.cues(row);
            return std::tuple(to_array(std::vector(participants.begin(), participants.end())),
                              to_array(std::vector(locations.begin(), locations.end())),
                              to_array(std::vector{time.start, time.end}));
          },
          py::arg("row"), "Participants, locations, time of a row.")
      .def("said_at", &CueIndex::said_at, py::arg("row"))
      .def(
          "candidates",
          [](const CueIndex& index, const Ids& participants, const Ids& locations, const Times& time,
             std::int64_t said_at, const RowMask& allowed, Row self, std::uint32_t candidates,
             std::uint32_t steps_max) {
            const CueView cues = to_cues(participants, locations, time);
            std::vector<Row> rows;
            {
              const py::gil_scoped_release released;
              rows = index.candidates(cues, said_at, self, allowed,
                                      {.candidates = candidates, .steps_max = steps_max});
            }
            return to_array(std::move(rows));
          },
          py::arg("participants").noconvert(), py::arg("locations").noconvert(), py::arg("time").noconvert(),
          py::arg("said_at"), py::arg("allowed"), py::arg("self_row") = kNoRow, py::kw_only(),
          py::arg("candidates") = CueWalkOptions{}.candidates,
          py::arg("steps_max") = CueWalkOptions{}.steps_max,
          "Rows that may share a structural edge with such a unit, the likeliest first.")
      .def(
          "search",
          [](const CueIndex& index, const Ids& participants, const Ids& locations, const Times& time,
             std::size_t k, const RowMask& allowed) {
            const CueView query = to_cues(participants, locations, time);
            return without_gil([&] { return index.search(query, k, allowed); });
          },
          py::arg("participants").noconvert(), py::arg("locations").noconvert(), py::arg("time").noconvert(),
          py::arg("k"), py::arg("allowed"), "The k allowed rows whose cues match best.");
}

}  // namespace

void register_indexes(py::module_& module) {
  module.def("isa_level", &isa_level,
             "The instructions in use: scalar, avx2 or avx512 (RIPPLE_ISA forces one).");
  module.def("dot", &checked_dot, py::arg("a").noconvert(), py::arg("b").noconvert(),
             "The dot product of two float32 (d,).");
  register_bitmap(module);
  register_vector_index(module);
  register_cue_index(module);
}

}  // namespace ripple::bindings
