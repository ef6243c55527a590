// Engine: one namespace behind arrays. Unpack, check, release the GIL, call, pack.
#include <pybind11/stl.h>

#include "engine_arrays.hpp"

namespace ripple::bindings {

namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

template <class Owner, class T>
auto array_of(std::vector<T> Owner::* member) {
  return [member](const Owner& self) { return to_array(std::vector<T>(self.*member)); };
}

void register_options(py::module_& module) {
  py::enum_<CueKind>(module, "CueKind")
      .value("PARTICIPANT", CueKind::Participant)
      .value("LOCATION", CueKind::Location);
  py::enum_<TimeGrain>(module, "TimeGrain")
      .value("NONE", TimeGrain::None)
      .value("DAY", TimeGrain::Day)
      .value("WEEK", TimeGrain::Week)
      .value("MONTH", TimeGrain::Month)
      .value("YEAR", TimeGrain::Year);
  py::enum_<Expansion>(module, "Expansion")
      .value("NONE", Expansion::None)
      .value("UNDIRECTED", Expansion::Undirected)
      .value("TARGETED", Expansion::Targeted);
  py::enum_<Ranking>(module, "Ranking").value("FITTED", Ranking::Fitted).value("PAPER", Ranking::Paper);
  py::enum_<StopReason>(module, "StopReason")
      .value("NONE", StopReason::None)
      .value("NO_EVIDENCE", StopReason::NoEvidence)
      .value("COVERED", StopReason::Covered)
      .value("NO_TARGET", StopReason::NoTarget)
      .value("NO_SUPPORT", StopReason::NoSupport)
      .value("DISABLED", StopReason::Disabled);
  py::class_<EngineOptions>(module, "EngineOptions",
                            "Settings of one namespace's engine; defaults from params.hpp.")
      .def(py::init<>())
      .def_readwrite("dimension", &EngineOptions::dimension)
      .def_readwrite("is_english", &EngineOptions::is_english)
      .def_property(
          "semantic_threshold", [](const EngineOptions& o) { return o.edges.semantic_threshold; },
          [](EngineOptions& o, float value) { o.edges.semantic_threshold = value; })
      .def_property(
          "exact_below", [](const EngineOptions& o) { return o.vectors.exact_below; },
          [](EngineOptions& o, std::size_t value) { o.vectors.exact_below = value; });
  py::class_<RecallOptions>(module, "RecallOptions", "Settings of one recall; defaults from engine.hpp.")
      .def(py::init([](bool is_static) {
             RecallOptions options;
             options.weights = is_static ? kStaticWeights : kGenericWeights;
             return options;
           }),
           py::arg("is_static"), "With the weights of the static embedder, or of any other.")
      .def_readwrite("top_k", &RecallOptions::top_k)
      .def_readwrite("first", &RecallOptions::first)
      .def_readwrite("pool", &RecallOptions::pool)
      .def_readwrite("views", &RecallOptions::views)
      .def_readwrite("edge_kinds", &RecallOptions::edge_kinds)
      .def_readwrite("expansion", &RecallOptions::expansion)
      .def_readwrite("ranking", &RecallOptions::ranking)
      .def_property(
          "weights", [](const RecallOptions& o) { return o.weights.features; },
          [](RecallOptions& o, const std::array<float, kFittedFeatures>& values) {
            o.weights.features = values;
          });
}

void register_inputs(py::module_& module) {
  py::class_<QueryTerms>(module, "QueryTerms", "The words of a question, known and unknown.")
      .def_property_readonly("ids", array_of(&QueryTerms::ids))
      .def_property_readonly("unknown_count", [](const QueryTerms& self) { return self.unknown.size(); });
  py::class_<QueryArrays>(module, "Query", "What a question asks by, as arrays; see ripple::Query.")
      .def(py::init([](Array<float> vector, const QueryTerms& terms, Ids participants, Ids locations,
                       std::int64_t start, std::int64_t end, TimeGrain grain,
                       std::pair<std::int64_t, std::int64_t> months, bool asks_when) {
             return QueryArrays{std::move(vector), terms, std::move(participants),       std::move(locations),
                                {start, end},      grain, {months.first, months.second}, asks_when};
           }),
           py::kw_only(), py::arg("vector").noconvert(), py::arg("terms"),
           py::arg("participants").noconvert(), py::arg("locations").noconvert(), py::arg("start") = kNoTime,
           py::arg("end") = kNoTime, py::arg("grain") = TimeGrain::None,
           py::arg("months") = std::pair(kNoTime, kNoTime), py::arg("asks_when") = false);
  py::class_<SelectionArrays>(module, "Selection",
                              "Which units may be returned, as arrays; see ripple::Selection.")
      .def(py::init([](Ids participants, Ids locations, Ids sessions, std::optional<Ids> rows,
                       std::pair<std::int64_t, std::int64_t> time, std::pair<std::int64_t, std::int64_t> said,
                       bool with_superseded) {
             const bool has_rows = rows.has_value();
             return SelectionArrays{std::move(participants),
                                    std::move(locations),
                                    std::move(sessions),
                                    has_rows ? std::move(*rows) : Ids(0),
                                    {time.first, time.second},
                                    {said.first, said.second},
                                    has_rows,
                                    with_superseded};
           }),
           py::kw_only(), py::arg("participants").noconvert(), py::arg("locations").noconvert(),
           py::arg("sessions").noconvert(), py::arg("rows") = py::none(),
           py::arg("time") = std::pair(kNoTime, kNoTime), py::arg("said") = std::pair(kNoTime, kNoTime),
           py::arg("with_superseded") = true);
  py::class_<BatchArrays>(module, "UnitBatch", "Units to write, as arrays; see ripple::UnitBatch.")
      .def(py::init([](Array<float> vectors, Offsets term_indptr, Ids terms, Ids term_counts, Ids speakers,
                       Offsets participant_indptr, Ids participants, Offsets location_indptr, Ids locations,
                       Array<std::int64_t> times, Offsets said_at, Ids sessions, Array<std::uint8_t> flags) {
             return BatchArrays{
                 std::move(vectors),      std::move(term_indptr),     std::move(terms),
                 std::move(term_counts),  std::move(speakers),        std::move(participant_indptr),
                 std::move(participants), std::move(location_indptr), std::move(locations),
                 std::move(times),        std::move(said_at),         std::move(sessions),
                 std::move(flags)};
           }),
           py::kw_only(), py::arg("vectors").noconvert(), py::arg("term_indptr").noconvert(),
           py::arg("terms").noconvert(), py::arg("term_counts").noconvert(), py::arg("speakers").noconvert(),
           py::arg("participant_indptr").noconvert(), py::arg("participants").noconvert(),
           py::arg("location_indptr").noconvert(), py::arg("locations").noconvert(),
           py::arg("times").noconvert(), py::arg("said_at").noconvert(), py::arg("sessions").noconvert(),
           py::arg("flags").noconvert());
}

void register_results(py::module_& module) {
  py::class_<FirstRecall>(module, "FirstRecall", "The pool of all views, ranked: score down, then row up.")
      .def_property_readonly("rows", array_of(&FirstRecall::rows))
      .def_property_readonly("scores", array_of(&FirstRecall::scores))
      .def_property_readonly("found_by", array_of(&FirstRecall::found_by))
      .def_property_readonly("parts", [](const FirstRecall& self) { return parts_to_array(self.parts); })
      .def_readonly("support", &FirstRecall::support);
  py::class_<Plan>(module, "Plan", "What is missing and from where to look for it; see planning.hpp.")
      .def(py::init([](StopReason reason, const Ids& anchors, const Ids& participants, const Ids& locations,
                       std::int64_t start, std::int64_t end, const Ids& terms) {
             const auto copy = [](const Ids& ids, const char* name) {
               const auto view = view_1d(ids, name);
               return std::vector<std::uint32_t>(view.begin(), view.end());
             };
             Plan plan;
             plan.reason = reason;
             plan.anchors = copy(anchors, "anchors");
             plan.new_terms = copy(terms, "terms");
             plan.participants = copy(participants, "participants");
             plan.locations = copy(locations, "locations");
             plan.time = {start, end};
             return plan;
           }),
           py::kw_only(), py::arg("reason"), py::arg("anchors").noconvert(),
           py::arg("participants").noconvert(), py::arg("locations").noconvert(), py::arg("start") = kNoTime,
           py::arg("end") = kNoTime, py::arg("terms").noconvert())
      .def_readonly("reason", &Plan::reason)
      .def_property_readonly("anchors", array_of(&Plan::anchors))
      .def_property_readonly("uncovered", array_of(&Plan::uncovered))
      .def_property_readonly("new_terms", array_of(&Plan::new_terms))
      .def_property_readonly("participants", array_of(&Plan::participants))
      .def_property_readonly("locations", array_of(&Plan::locations))
      .def_property_readonly("time",
                             [](const Plan& self) { return std::pair(self.time.start, self.time.end); });
  py::class_<Expanded>(module, "Expanded", "What expansion reached, best first.")
      .def_property_readonly("rows", array_of(&Expanded::rows))
      .def_property_readonly("scores", array_of(&Expanded::scores))
      .def_property_readonly("hops", array_of(&Expanded::hops))
      .def_property_readonly("parents", array_of(&Expanded::parents))
      .def_property_readonly("anchors", array_of(&Expanded::anchors))
      .def_property_readonly("strengths", array_of(&Expanded::strengths))
      .def_property_readonly("kinds", [](const Expanded& self) { return kinds_to_array(self.kinds); });
  py::class_<Recalled>(module, "Recalled", "The evidence, score down, then row up, and how it came about.")
      .def_readonly("first", &Recalled::first)
      .def_readonly("plan", &Recalled::plan)
      .def_readonly("target", &Recalled::target)
      .def_readonly("expanded", &Recalled::expanded)
      .def_property_readonly("rows", array_of(&Recalled::rows))
      .def_property_readonly("scores", array_of(&Recalled::scores))
      .def_property_readonly("found_by", array_of(&Recalled::found_by))
      .def_property_readonly("hops", array_of(&Recalled::hops))
      .def_property_readonly("parents", array_of(&Recalled::parents))
      .def_property_readonly("parts", [](const Recalled& self) { return parts_to_array(self.parts); })
      .def_property_readonly("support_signals",
                             [](const Recalled& self) { return self.first.support_signals; })
      .def_property_readonly("support", [](const Recalled& self) { return self.first.support; });
}

using Release = py::call_guard<py::gil_scoped_release>;

void register_writing(py::class_<Engine>& engine) {
  engine
      .def(
          "stage",
          [](Engine& self, const BatchArrays& batch) {
            Staged staged;
            {
              const UnitBatch view = batch.view(self.dimension());
              const py::gil_scoped_release release;
              staged = self.stage(view);
            }
            return py::make_tuple(to_array(std::move(staged.rows)), edges_to_arrays(staged.edges.added),
                                  edges_to_arrays(staged.edges.evicted));
          },
          py::arg("batch"), "Add units hidden from readers; (rows, edges added, edges evicted).")
      .def(
          "stage_link",
          [](Engine& self, Row old_row, Row new_row) {
            const StagedEdges edges = self.stage_link(old_row, new_row);
            return py::make_tuple(edges_to_arrays(edges.added), edges_to_arrays(edges.evicted));
          },
          py::arg("old_row"), py::arg("new_row"),
          "Stage a state edge old -> new; (edges added, edges evicted).")
      .def("reveal", &Engine::reveal, Release(), "Show the staged batch to readers.")
      .def("discard", &Engine::discard, Release(), "Forget the staged batch.")
      .def(
          "load",
          [](Engine& self, const BatchArrays& batch, const Ids& src, const Ids& dst,
             const Array<std::uint8_t>& kinds, const Array<float>& weights) {
            const std::vector<Edge> edges = edges_from_arrays(src, dst, kinds, weights);
            std::vector<Row> rows;
            {
              const UnitBatch view = batch.view(self.dimension());
              const py::gil_scoped_release release;
              rows = self.load(view, edges);
            }
            return to_array(std::move(rows));
          },
          py::arg("batch"), py::arg("src").noconvert(), py::arg("dst").noconvert(),
          py::arg("kinds").noconvert(), py::arg("weights").noconvert(),
          "Add units and their recorded edges as they are; their rows.")
      .def(
          "remove",
          [](Engine& self, const Ids& rows) {
            const auto view = view_1d(rows, "rows");
            std::vector<Edge> gone;
            {
              const py::gil_scoped_release release;
              gone = self.remove(view);
            }
            return edges_to_arrays(gone);
          },
          py::arg("rows").noconvert(), "Remove units from every index; the edges that went.")
      .def_property_readonly("wants_graph", &Engine::wants_graph)
      .def("build_graph_step", &Engine::build_graph_step, py::arg("rows"), Release(),
           "Build on the vector graph beside readers; true when adopt_graph may follow.")
      .def("adopt_graph", &Engine::adopt_graph, Release(), "Take the built vector graph into use.");
}

void register_reading(py::class_<Engine>& engine) {
  engine
      .def(
          "first_recall",
          [](const Engine& self, const QueryArrays& query, const SelectionArrays& selection,
             const RecallOptions& options) {
            const Query query_view = query.view();
            const Selection selection_view = selection.view();
            const py::gil_scoped_release release;
            return self.first_recall(query_view, selection_view, options);
          },
          py::arg("query"), py::arg("selection"), py::arg("options"), "All views, pooled and ranked.")
      .def(
          "plan",
          [](const Engine& self, const QueryArrays& query, const FirstRecall& first,
             const RecallOptions& options) { return self.plan(query.view(), first, options); },
          py::arg("query"), py::arg("first"), py::arg("options"), "The rule planner's decision.")
      .def("restatement", &Engine::restatement, py::arg("plan"), "The target's words, to be embedded.")
      .def(
          "expand",
          [](const Engine& self, const QueryArrays& query, const FirstRecall& first, const Plan& plan,
             const Array<float>& target_vector, const SelectionArrays& selection,
             const RecallOptions& options) {
            const Query query_view = query.view();
            const Selection selection_view = selection.view();
            const auto vector = view_1d(target_vector, "target_vector");
            const py::gil_scoped_release release;
            return self.expand(query_view, first, plan, vector, selection_view, options);
          },
          py::arg("query"), py::arg("first"), py::arg("plan"), py::arg("target_vector").noconvert(),
          py::arg("selection"), py::arg("options"), "Expansion towards a target, union and ranking.")
      .def(
          "expand_more",
          [](const Engine& self, const QueryArrays& query, const Recalled& so_far, const Plan& plan,
             const Array<float>& target_vector, const SelectionArrays& selection,
             const RecallOptions& options) {
            const Query query_view = query.view();
            const Selection selection_view = selection.view();
            const auto vector = view_1d(target_vector, "target_vector");
            const py::gil_scoped_release release;
            return self.expand_more(query_view, so_far, plan, vector, selection_view, options);
          },
          py::arg("query"), py::arg("so_far"), py::arg("plan"), py::arg("target_vector").noconvert(),
          py::arg("selection"), py::arg("options"), "One round of expansion more, union and ranking.")
      .def(
          "recall",
          [](const Engine& self, const QueryArrays& query, const SelectionArrays& selection,
             const RecallOptions& options) {
            const Query query_view = query.view();
            const Selection selection_view = selection.view();
            const py::gil_scoped_release release;
            return self.recall(query_view, selection_view, options);
          },
          py::arg("query"), py::arg("selection"), py::arg("options"),
          "First recall, plan, expansion and ranking.")
      .def(
          "select",
          [](const Engine& self, const SelectionArrays& selection) {
            std::vector<Row> rows;
            {
              const Selection view = selection.view();
              const py::gil_scoped_release release;
              rows = self.select(view);
            }
            return to_array(std::move(rows));
          },
          py::arg("selection"), "Rows that a selection lets through, ascending.")
      .def(
          "neighbors", [](const Engine& self, Row row) { return edges_to_arrays(self.neighbors(row)); },
          py::arg("row"), "Edges of a unit.")
      .def_property_readonly("size", &Engine::size)
      .def_property_readonly("dimension", &Engine::dimension)
      .def_property_readonly("has_graph", &Engine::has_graph)
      .def(
          "edge_count",
          [](const Engine& self, int kind) { return self.edge_count(static_cast<EdgeKind>(kind)); },
          py::arg("kind"), "Edges of a kind.")
      .def("self_recall", &Engine::self_recall, py::arg("sample"), Release(),
           "Share of sampled vectors that find themselves.");
}

}  // namespace

void register_engine(py::module_& module) {
  register_options(module);
  register_inputs(module);
  register_results(module);
  module.attr("FEATURES") = py::make_tuple("window", "word_match", "near_word_match", "previous_question",
                                           "context", "dense", "speaker", "time", "when", "question",
                                           "length", "expansion", "similarity", "provenance", "anchor");
  py::class_<Engine> engine(module, "Engine", "Owns all of one namespace. Many readers beside one writer.");
  engine
      .def(py::init([](const EngineOptions& options, std::shared_ptr<StaticEmbedder> words) {
             return std::make_unique<Engine>(options, std::move(words));
           }),
           py::arg("options"), py::arg("words") = py::none())
      .def(
          "intern",
          [](Engine& self, CueKind kind, const std::vector<std::string>& names) {
            return to_array(self.intern_cues(kind, views_of(names)));
          },
          py::arg("kind"), py::arg("names"),
          "Ids of names, new ones entered; 2^32 - 1 where nothing is left to name.")
      .def(
          "find",
          [](const Engine& self, CueKind kind, const std::vector<std::string>& names) {
            return to_array(self.find_cues(kind, views_of(names)));
          },
          py::arg("kind"), py::arg("names"), "Ids of names, 2^32 - 1 where unknown.")
      .def("cue_name", &Engine::cue_name, py::arg("kind"), py::arg("id"), "A name as first written.")
      .def(
          "index_texts",
          [](Engine& self, const std::vector<std::string>& texts) {
            std::vector<LexicalIndex::Terms> terms;
            {
              const py::gil_scoped_release release;
              terms = self.index_texts(views_of(texts));
            }
            return terms_to_arrays(std::move(terms));
          },
          py::arg("texts"), "Words of texts, new ones entered: (indptr, ids, counts).")
      .def(
          "find_terms", [](const Engine& self, const std::string& text) { return self.find_terms(text); },
          py::arg("text"), "The words of a question.");
  register_writing(engine);
  register_reading(engine);
}

}  // namespace ripple::bindings
