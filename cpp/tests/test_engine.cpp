#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "ripple/engine.hpp"

using namespace ripple;

namespace {

constexpr std::size_t kDimension = 4;

struct Said {
  std::string text;
  std::string speaker;
  std::vector<float> vector;  // empty: none
  std::int64_t said_at = 0;
  SessionId session = 0;
};

// Keeps the arrays that a batch views.
struct Batch {
  std::vector<float> vectors;
  std::vector<std::int64_t> term_indptr{0};
  std::vector<std::uint32_t> terms;
  std::vector<std::uint32_t> counts;
  std::vector<CueId> speakers;
  std::vector<std::int64_t> cue_indptr{0};
  std::vector<std::int64_t> no_indptr{0};
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> said_at;
  std::vector<SessionId> sessions;
  std::vector<std::uint8_t> flags;

  Batch(Engine& engine, const std::vector<Said>& units) {
    for (const Said& unit : units) {
      const std::string_view text = unit.text;
      const std::string_view speaker = unit.speaker;
      const LexicalIndex::Terms words = engine.index_texts({&text, 1}).front();
      terms.insert(terms.end(), words.ids.begin(), words.ids.end());
      counts.insert(counts.end(), words.counts.begin(), words.counts.end());
      term_indptr.push_back(static_cast<std::int64_t>(terms.size()));
      speakers.push_back(engine.intern_cues(CueKind::Participant, {&speaker, 1}).front());
      cue_indptr.push_back(static_cast<std::int64_t>(speakers.size()));
      no_indptr.push_back(0);
      for (std::size_t i = 0; i < kDimension; ++i) {
        vectors.push_back(unit.vector.empty() ? std::numeric_limits<float>::quiet_NaN() : unit.vector[i]);
      }
      times.insert(times.end(), {kNoTime, kNoTime});
      said_at.push_back(unit.said_at);
      sessions.push_back(unit.session);
      flags.push_back(0);
    }
  }

  [[nodiscard]] UnitBatch view() const {
    return {.vectors = vectors,
            .terms = {term_indptr, terms},
            .term_counts = counts,
            .speakers = speakers,
            .participants = {cue_indptr, speakers},
            .locations = {no_indptr, {}},
            .times = times,
            .said_at = said_at,
            .sessions = sessions,
            .flags = flags};
  }
};

Engine make_engine() {
  EngineOptions options;
  options.dimension = kDimension;
  return Engine(options, nullptr);
}

std::vector<Row> recalled(const Engine& engine, const std::string& text) {
  const QueryTerms terms = engine.find_terms(text);
  Query query;
  query.terms = &terms;
  return engine.recall(query, {}, {}).rows;
}

void add(Engine& engine, const std::vector<Said>& units) {
  const Batch batch(engine, units);
  engine.stage(batch.view());
  engine.reveal();
}

const std::vector<Said> kGrill{
    {"You should try Harbor Grill", "Sam", {1, 0, 0, 0}, 100, 0},
    {"Harbor Grill is a seafood place", "Ben", {0.6F, 0.8F, 0, 0}, 90'000, 1},
    {"Even a bite of seafood makes me ill", "Maya", {0, 1, 0, 0}, 900'000, 2},
    {"I painted the fence", "Maya", {0, 0, 1, 0}, 1'900'000, 3},
};

}  // namespace

TEST_CASE("a staged unit is hidden until it is revealed") {
  Engine engine = make_engine();
  const Batch batch(engine, kGrill);
  const Staged staged = engine.stage(batch.view());
  CHECK(staged.rows == std::vector<Row>{0, 1, 2, 3});
  CHECK(engine.size() == 0);
  CHECK(recalled(engine, "harbor grill").empty());
  engine.reveal();
  CHECK(engine.size() == 4);
  CHECK(recalled(engine, "harbor grill").size() == 2);
}

TEST_CASE("a discarded batch leaves nothing") {
  Engine engine = make_engine();
  add(engine, {kGrill[0]});
  const auto edges_before = engine.neighbors(0);
  const Batch batch(engine, {kGrill[1], kGrill[2]});
  engine.stage(batch.view());
  engine.discard();
  CHECK(engine.size() == 1);
  CHECK(engine.neighbors(0) == edges_before);
  CHECK(engine.find_terms("seafood").ids.empty());
  CHECK(recalled(engine, "seafood").empty());
  const std::string_view maya = "Maya";
  CHECK(engine.find_cues(CueKind::Participant, {&maya, 1}).front() == kNoId);
}

TEST_CASE(
    "a rare word shared makes a term edge, over which expansion finds what the question does not name") {
  Engine engine = make_engine();
  add(engine, kGrill);
  const auto edges = engine.neighbors(1);
  CHECK(std::count_if(edges.begin(), edges.end(), [](const Edge& e) { return e.kind == EdgeKind::Term; }) ==
        2);
  const QueryTerms terms = engine.find_terms("should we try Harbor Grill with");
  const std::string_view maya = "Maya";
  const std::vector<CueId> people = engine.find_cues(CueKind::Participant, {&maya, 1});
  Query query;
  query.terms = &terms;
  query.cues.participants = people;
  RecallOptions options;
  options.top_k = 3;
  options.first = 2;
  options.views = kFoundLexical;
  const Recalled found = engine.recall(query, {}, options);
  CHECK(found.plan.participants == people);
  REQUIRE(found.rows.size() == 3);
  CHECK(found.rows[2] == 2);
  CHECK((found.found_by[2] & kFoundExpansion) != 0);
  CHECK(found.hops[2] == 1);
  CHECK(found.parents[2] == 1);
}

TEST_CASE("a target that names nobody is answered by words, and rounds add up") {
  Engine engine = make_engine();
  add(engine, kGrill);
  const QueryTerms terms = engine.find_terms("Harbor Grill");
  Query query;
  query.terms = &terms;
  RecallOptions options;
  options.top_k = 4;
  options.first = 2;
  options.views = kFoundLexical;
  const auto plan = [&](Row anchor, const char* words) {
    Plan towards;
    towards.anchors = {anchor};
    towards.new_terms = engine.find_terms(words).ids;
    return towards;
  };
  const Recalled first =
      engine.expand(query, engine.first_recall(query, {}, options), plan(1, "seafood"), {}, {}, options);
  CHECK(first.plan.reason == StopReason::None);
  CHECK(std::set(first.rows.begin(), first.rows.end()) == std::set<Row>{0, 1, 2, 3});
  CHECK(first.expanded.rows == std::vector<Row>{2, 3});  // 3 over the edge of the same speaker, in two hops
  CHECK(first.expanded.hops == std::vector<std::uint8_t>{1, 2});

  options.top_k =
      3;  // one place for what is found: 3 is reached and does not enter, so it is looked for again
  const Recalled one =
      engine.expand(query, engine.first_recall(query, {}, options), plan(1, "seafood"), {}, {}, options);
  CHECK(one.rows.back() == 2);
  const Recalled two = engine.expand_more(query, one, plan(2, "fence"), {}, {}, options);
  CHECK(two.plan.reason == StopReason::None);
  CHECK(two.expanded.rows == std::vector<Row>{2, 3});
  CHECK(two.rows == one.rows);
  options.top_k = 4;
  const Recalled three = engine.expand_more(query, two, plan(2, "fence"), {}, {}, options);
  CHECK(three.plan.reason == StopReason::NoSupport);  // both have places now: nothing is left to find
  CHECK(three.expanded.rows == two.expanded.rows);
  CHECK(three.rows == first.rows);
  CHECK(three.scores == first.scores);
}

TEST_CASE("removing a unit takes its words, name and edges, and frees the unit that it superseded") {
  Engine engine = make_engine();
  add(engine, kGrill);
  engine.stage_link(0, 1);
  engine.reveal();
  Selection current;
  current.with_superseded = false;
  CHECK(engine.select(current) == std::vector<Row>{1, 2, 3});
  const Row gone = 1;
  engine.remove({&gone, 1});
  CHECK(engine.select(current) == std::vector<Row>{0, 2, 3});
  CHECK(engine.neighbors(1).empty());
  CHECK(engine.find_terms("place").ids.empty());
  const std::string_view ben = "Ben";
  CHECK(engine.find_cues(CueKind::Participant, {&ben, 1}).front() == kNoId);
}

TEST_CASE("loading recorded edges gives the engine that wrote them") {
  Engine engine = make_engine();
  const Batch batch(engine, kGrill);
  const Staged staged = engine.stage(batch.view());
  engine.reveal();
  Engine loaded = make_engine();
  const Batch again(loaded, kGrill);
  loaded.load(again.view(), staged.edges.added);
  for (Row row = 0; row < 4; ++row) {
    CHECK(loaded.neighbors(row) == engine.neighbors(row));
  }
  CHECK(recalled(loaded, "seafood place") == recalled(engine, "seafood place"));
}

TEST_CASE("a selection bounds by person, session and time of saying") {
  Engine engine = make_engine();
  add(engine, kGrill);
  const std::string_view maya = "Maya";
  const std::vector<CueId> people = engine.find_cues(CueKind::Participant, {&maya, 1});
  Selection selection;
  selection.participants = people;
  CHECK(engine.select(selection) == std::vector<Row>{2, 3});
  selection.said = {0, 1'000'000};
  CHECK(engine.select(selection) == std::vector<Row>{2});
  const SessionId session = 3;
  selection.sessions = {&session, 1};
  CHECK(engine.select(selection).empty());
}

TEST_CASE("a malformed batch is refused before anything changes") {
  Engine engine = make_engine();
  Batch batch(engine, kGrill);
  batch.vectors.pop_back();
  CHECK_THROWS_AS(engine.stage(batch.view()), std::invalid_argument);
  CHECK(engine.size() == 0);
  Batch reversed(engine, kGrill);
  reversed.times = {5, 4, kNoTime, kNoTime, kNoTime, kNoTime, kNoTime, kNoTime};
  CHECK_THROWS_AS(engine.stage(reversed.view()), std::invalid_argument);
}
