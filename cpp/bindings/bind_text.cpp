// Keys, words and the lexical index. The index is bound for tests and benchmarks; the engine owns its own.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "ripple/english_stem.hpp"
#include "ripple/lexical_index.hpp"
#include "ripple/text.hpp"
#include "ripple/unicode.hpp"

namespace ripple::bindings {

namespace {

using Rows = Array<Row>;
using TermIds = Array<TermId>;
using TermArrays = std::pair<py::array_t<TermId>, py::array_t<std::uint32_t>>;
using HitArrays = std::pair<py::array_t<Row>, py::array_t<float>>;

[[nodiscard]] TermArrays to_arrays(TermView terms) {
  return {to_array(std::vector<TermId>(terms.ids.begin(), terms.ids.end())),
          to_array(std::vector<std::uint32_t>(terms.counts.begin(), terms.counts.end()))};
}

[[nodiscard]] HitArrays to_arrays(const std::vector<ScoredRow>& hits) {
  std::vector<Row> rows;
  std::vector<float> scores;
  for (const ScoredRow& hit : hits) {
    rows.push_back(hit.row);
    scores.push_back(hit.score);
  }
  return {to_array(std::move(rows)), to_array(std::move(scores))};
}

// None stands for all live rows.
using OptionalRows = std::optional<Rows>;

[[nodiscard]] RowMask to_mask(const LexicalIndex& index, const OptionalRows& rows, const char* name) {
  if (!rows) {
    return index.live_rows();
  }
  RowMask mask;
  for (const Row row : view_1d(*rows, name)) {
    mask.set(row);
  }
  return mask;
}

[[nodiscard]] std::vector<std::pair<std::string, std::string>> tokenize_pairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (Token& token : tokenize(text)) {
    pairs.emplace_back(std::move(token.term), std::move(token.surface));
  }
  return pairs;
}

void register_functions(py::module_& module) {
  using ReleaseGil = py::call_guard<py::gil_scoped_release>;
  module.attr("UNICODE_VERSION") = std::string(kUnicodeVersion);
  module.def(
      "normalize_key", &normalize_key, py::arg("text"), ReleaseGil(),
      "The key under which a name is matched: NFKC_Casefold without invisible characters, white space\n"
      "collapsed, at most 4,096 bytes. `text` is str, or bytes that are read as UTF-8.");
  module.def("tokenize", &tokenize_pairs, py::arg("text"), ReleaseGil(),
             "The (term, surface) pairs of a text in order, with repeats and without stop words.");
  module.def(
      "count_tokens", [](std::string_view text) { return tokenize(text).size(); }, py::arg("text"),
      ReleaseGil(), "How many tokens tokenize() gives, without handing them out.");
  module.def("is_stop_word", &is_stop_word, py::arg("folded"), "True for English function words.");
  module.def("english_stem", &english_stem, py::arg("word"), "The Porter2 stem of a folded word.");
}

// The index is not internally locked, so its methods keep the GIL.
void register_contents(py::class_<LexicalIndex>& index) {
  index
      .def(py::init([](float k1, float b) { return std::make_unique<LexicalIndex>(Bm25Options{k1, b}); }),
           py::kw_only(), py::arg("k1") = Bm25Options{}.k1, py::arg("b") = Bm25Options{}.b)
      .def(
          "intern",
          [](LexicalIndex& self, std::string_view text) { return to_arrays(self.intern(text).view()); },
          py::arg("text"), "Ids and counts of a text's terms; new ones enter the vocabulary.")
      .def(
          "lookup",
          [](const LexicalIndex& self, std::string_view text) {
            const LexicalIndex::Terms terms = self.lookup(text);
            auto [ids, counts] = to_arrays(terms.view());
            return std::tuple(std::move(ids), std::move(counts), terms.unknown);
          },
          py::arg("text"), "Ids and counts of a text's known terms, and how many tokens are unknown.")
      .def(
          "add",
          [](LexicalIndex& self, Row row, const TermIds& ids, const Array<std::uint32_t>& counts) {
            self.add(row, {view_1d(ids, "ids"), view_1d(counts, "counts")});
          },
          py::arg("row"), py::arg("ids").noconvert(), py::arg("counts").noconvert(),
          "Adds a row, staged: not counted until reveal().")
      .def("reveal", &LexicalIndex::reveal, py::arg("row"), "Counts a staged row.")
      .def("remove", &LexicalIndex::remove, py::arg("row"), "Forgets a row and terms that only it held.")
      .def("prune", &LexicalIndex::prune, "Drops terms that were interned and never added.")
      .def("__len__", &LexicalIndex::size, "Live rows.")
      .def_property_readonly("vocabulary_size", &LexicalIndex::vocabulary_size, "Terms held.")
      .def("df", &LexicalIndex::df, py::arg("term"), "Live rows that hold the term.")
      .def("idf", &LexicalIndex::idf, py::arg("term"), "ln(1 + (N - df + 0.5) / (df + 0.5)).")
      .def("idf_unknown", &LexicalIndex::idf_unknown, "idf of a term that no live row holds.")
      .def("term", &LexicalIndex::term, py::arg("term"), "The term; empty when not held.")
      .def("surface", &LexicalIndex::surface, py::arg("term"), "The word as first written.")
      .def("length", &LexicalIndex::length, py::arg("row"), "Tokens of a row.")
      .def(
          "terms_of", [](const LexicalIndex& self, Row row) { return to_arrays(self.terms_of(row)); },
          py::arg("row"), "Ids and counts of a row's terms.")
      .def(
          "postings",
          [](const LexicalIndex& self, TermId term) {
            std::vector<Row> rows;
            std::vector<std::uint32_t> counts;
            for (const Posting& posting : self.postings(term)) {
              rows.push_back(posting.row);
              counts.push_back(posting.count);
            }
            return std::pair(to_array(std::move(rows)), to_array(std::move(counts)));
          },
          py::arg("term"), "Rows that hold the term, ascending, staged ones included, and their counts.");
}

void register_searches(py::class_<LexicalIndex>& index) {
  index
      .def(
          "search",
          [](const LexicalIndex& self, const TermIds& query, std::size_t k, const OptionalRows& allowed) {
            return to_arrays(self.search(view_1d(query, "query"), k, to_mask(self, allowed, "allowed")));
          },
          py::arg("query").noconvert(), py::arg("k"), py::arg("allowed").noconvert() = py::none(),
          "The k best of the allowed rows (None: all live ones) by BM25: rows and scores, score down then "
          "row up.")
      .def(
          "score",
          [](const LexicalIndex& self, const TermIds& query, const Rows& rows) {
            std::vector<float> scores(view_1d(rows, "rows").size());
            self.score(view_1d(query, "query"), view_1d(rows, "rows"), scores);
            return to_array(std::move(scores));
          },
          py::arg("query").noconvert(), py::arg("rows").noconvert(), "BM25 of the given rows.")
      .def(
          "search_windows",
          [](const LexicalIndex& self, const TermIds& query, std::size_t k, const Rows& previous,
             const Rows& next, std::uint32_t radius, const OptionalRows& visible,
             const OptionalRows& allowed) {
            return to_arrays(self.search_windows(
                view_1d(query, "query"), k, {view_1d(previous, "previous"), view_1d(next, "next")}, radius,
                to_mask(self, visible, "visible"), to_mask(self, allowed, "allowed")));
          },
          py::arg("query").noconvert(), py::arg("k"), py::arg("previous").noconvert(),
          py::arg("next").noconvert(), py::arg("radius"), py::arg("visible").noconvert() = py::none(),
          py::arg("allowed").noconvert() = py::none(),
          "As search(), each row with its `radius` visible neighbours on both sides as one document.")
      .def(
          "score_windows",
          [](const LexicalIndex& self, const TermIds& query, const Rows& rows, const Rows& previous,
             const Rows& next, std::uint32_t radius, const OptionalRows& visible) {
            std::vector<float> scores(view_1d(rows, "rows").size());
            self.score_windows(view_1d(query, "query"), view_1d(rows, "rows"),
                               {view_1d(previous, "previous"), view_1d(next, "next")}, radius,
                               to_mask(self, visible, "visible"), scores);
            return to_array(std::move(scores));
          },
          py::arg("query").noconvert(), py::arg("rows").noconvert(), py::arg("previous").noconvert(),
          py::arg("next").noconvert(), py::arg("radius"), py::arg("visible").noconvert() = py::none(),
          "Window scores of the given rows.");
}

}  // namespace

void register_text(py::module_& module) {
  register_functions(module);
  py::class_<LexicalIndex> index(module, "LexicalIndex",
                                 "BM25 over rows that are staged, revealed and removed. Bound for tests.");
  register_contents(index);
  register_searches(index);
}

}  // namespace ripple::bindings
