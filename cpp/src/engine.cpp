#include "ripple/engine.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <stdexcept>

#include "ripple/error.hpp"
#include "ripple/text.hpp"

namespace ripple {

namespace {

void check_lists(const IdLists& lists, std::size_t size, const char* name) {
  if (lists.indptr.size() != size + 1 || lists.indptr.front() != 0 ||
      lists.indptr.back() != static_cast<std::int64_t>(lists.ids.size()) ||
      !std::is_sorted(lists.indptr.begin(), lists.indptr.end())) {
    throw std::invalid_argument(std::string(name) +
                                ".indptr must rise from 0 to the number of ids, one entry a "
                                "unit and one more");
  }
  for (std::size_t i = 0; i < size; ++i) {
    const auto ids = lists.at(i);
    if (std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) != ids.end()) {
      throw std::invalid_argument(std::string(name) + " must be sorted without repeats in each unit");
    }
  }
}

void check_length(std::size_t length, std::size_t wanted, const char* name) {
  if (length != wanted) {
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(length) +
                                " entries; the batch needs " + std::to_string(wanted));
  }
}

void check_held(std::span<const CueId> ids, const Interner& names, const char* what) {
  for (const CueId id : ids) {
    if (!names.contains(id)) {
      throw std::invalid_argument(std::string(what) + " holds the id " + std::to_string(id) +
                                  ", which names nothing; intern names first");
    }
  }
}

}  // namespace

Engine::Engine(const EngineOptions& options, std::shared_ptr<const StaticEmbedder> words)
    : options_(options),
      words_(std::move(words)),
      vectors_(options.dimension, options.vectors),
      lexical_(options.bm25),
      cues_(options.edges),
      graph_(options.edges),
      word_vectors_(words_) {}

std::vector<CueId> Engine::intern_cues(CueKind kind, std::span<const std::string_view> names) {
  const std::unique_lock lock(mutex_);
  std::vector<CueId> ids;
  ids.reserve(names.size());
  for (const std::string_view name : names) {
    const std::string key = normalize_key(name);
    ids.push_back(key.empty() ? kNoId : names_[static_cast<std::size_t>(kind)].intern(key, name));
  }
  return ids;
}

std::vector<CueId> Engine::find_cues(CueKind kind, std::span<const std::string_view> names) const {
  const std::shared_lock lock(mutex_);
  std::vector<CueId> ids;
  ids.reserve(names.size());
  for (const std::string_view name : names) {
    ids.push_back(names_[static_cast<std::size_t>(kind)].find(normalize_key(name)));
  }
  return ids;
}

std::string Engine::cue_name(CueKind kind, CueId id) const {
  const std::shared_lock lock(mutex_);
  return std::string(names_[static_cast<std::size_t>(kind)].display(id));
}

std::vector<LexicalIndex::Terms> Engine::index_texts(std::span<const std::string_view> texts) {
  const std::unique_lock lock(mutex_);
  std::vector<LexicalIndex::Terms> terms;
  terms.reserve(texts.size());
  for (const std::string_view text : texts) {
    terms.push_back(lexical_.intern(text));
  }
  return terms;
}

QueryTerms Engine::find_terms(std::string_view text) const {
  const std::shared_lock lock(mutex_);
  QueryTerms terms;
  for (Token& token : tokenize(text)) {
    if (const TermId term = lexical_.find(token.term); term != kNoId) {
      terms.ids.push_back(term);
    } else {
      terms.unknown.push_back(std::move(token.surface));
    }
  }
  std::sort(terms.ids.begin(), terms.ids.end());
  terms.ids.erase(std::unique(terms.ids.begin(), terms.ids.end()), terms.ids.end());
  std::sort(terms.unknown.begin(), terms.unknown.end());
  terms.unknown.erase(std::unique(terms.unknown.begin(), terms.unknown.end()), terms.unknown.end());
  return terms;
}

void Engine::check(const UnitBatch& batch) const {
  const std::size_t size = batch.size();
  if (batch.vectors.size() != size * options_.dimension) {
    throw DimensionMismatchError("vectors hold " + std::to_string(batch.vectors.size()) + " numbers; " +
                                 std::to_string(size) + " units of dimension " +
                                 std::to_string(options_.dimension) + " need " +
                                 std::to_string(size * options_.dimension));
  }
  check_lists(batch.terms, size, "terms");
  check_lists(batch.participants, size, "participants");
  check_lists(batch.locations, size, "locations");
  check_length(batch.term_counts.size(), batch.terms.ids.size(), "term_counts");
  check_length(batch.speakers.size(), size, "speakers");
  check_length(batch.times.size(), 2 * size, "times");
  check_length(batch.sessions.size(), size, "sessions");
  check_length(batch.flags.size(), size, "flags");
  check_held(batch.participants.ids, names_[0], "participants");
  check_held(batch.locations.ids, names_[1], "locations");
  for (std::size_t i = 0; i < size; ++i) {
    const TimeInterval time{batch.times[2 * i], batch.times[2 * i + 1]};
    if ((time.start == kNoTime) != (time.end == kNoTime) || time.start > time.end) {
      throw std::invalid_argument("times[" + std::to_string(i) +
                                  "] must be a closed interval or wholly absent");
    }
  }
  for (const float value : batch.vectors) {
    if (std::isinf(value)) {
      throw std::invalid_argument("vectors hold an infinite number; a unit without a vector is a row of NaN");
    }
  }
}

Row Engine::insert(const UnitBatch& batch, std::size_t i) {
  const Row row = units_.add({.speaker = batch.speakers[i],
                              .session = batch.sessions[i],
                              .said_at = batch.said_at[i],
                              .flags = batch.flags[i]});
  const auto vector = batch.vectors.subspan(i * options_.dimension, options_.dimension);
  if (!vector.empty() && !std::isnan(vector[0])) {
    vectors_.add(row, vector);
  }
  const auto terms = batch.terms.at(i);
  const auto begin = static_cast<std::size_t>(batch.terms.indptr[i]);
  lexical_.add(row, {terms, batch.term_counts.subspan(begin, terms.size())});
  for (const TermId term : terms) {
    word_vectors_.add(term, lexical_.surface(term));
  }
  cues_.add(row,
            {.participants = batch.participants.at(i),
             .locations = batch.locations.at(i),
             .time = {batch.times[2 * i], batch.times[2 * i + 1]}},
            batch.said_at[i]);
  graph_.grow(units_.rows());
  if (batch.speakers[i] != kNoId) {
    ++speakers_[batch.speakers[i]];
  }
  return row;
}

Staged Engine::stage(const UnitBatch& batch) {
  {
    const std::shared_lock lock(mutex_);
    check(batch);
  }
  Staged staged;
  const TieRule rule = [this](Row a, Row b, EdgeKind kind) { return tie(a, b, kind); };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    // Locked unit by unit, so that readers wait for one insert and not for the batch.
    const std::unique_lock lock(mutex_);
    const Row row = insert(batch, i);
    staged_rows_.push_back(row);
    staged.rows.push_back(row);
    graph_.stage(row, edge_candidates(row), rule);
  }
  const std::shared_lock lock(mutex_);
  staged.edges = graph_.staged();
  return staged;
}

StagedEdges Engine::stage_link(Row old_row, Row new_row) {
  const std::unique_lock lock(mutex_);
  if (!units_.living().test(old_row) || !units_.living().test(new_row)) {
    throw std::out_of_range("a state edge needs two stored units");
  }
  graph_.add_state(old_row, new_row, options_.edges.state_weight);
  return graph_.staged();
}

void Engine::reveal() {
  const std::unique_lock lock(mutex_);
  for (const Row row : staged_rows_) {
    units_.reveal(row);
    lexical_.reveal(row);
  }
  const StagedEdges edges = graph_.staged();
  graph_.reveal();
  for (const Edge& edge : edges.added) {
    if (edge.kind == EdgeKind::State) {
      mark_superseded(edge.src);
    }
  }
  staged_rows_.clear();
}

void Engine::discard() {
  const std::unique_lock lock(mutex_);
  graph_.discard();
  for (const Row row : staged_rows_) {
    forget(row);
  }
  staged_rows_.clear();
  lexical_.prune();
}

std::vector<Row> Engine::load(const UnitBatch& batch, std::span<const Edge> edges) {
  const std::unique_lock lock(mutex_);
  check(batch);
  std::vector<Row> rows;
  rows.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Row row = insert(batch, i);
    units_.reveal(row);
    lexical_.reveal(row);
    rows.push_back(row);
  }
  graph_.load(edges);
  for (const Edge& edge : edges) {
    if (edge.kind == EdgeKind::State) {
      mark_superseded(edge.src);
    }
  }
  return rows;
}

void Engine::forget(Row row) {
  const CueView cues = cues_.cues(row);
  std::array<std::vector<CueId>, kCueKinds> ids{
      std::vector<CueId>(cues.participants.begin(), cues.participants.end()),
      std::vector<CueId>(cues.locations.begin(), cues.locations.end())};
  if (const auto speaker = speakers_.find(units_.info(row).speaker);
      speaker != speakers_.end() && --speaker->second == 0) {
    speakers_.erase(speaker);
  }
  vectors_.remove(row);
  const TermView terms = lexical_.terms_of(row);
  const std::vector<TermId> words(terms.ids.begin(), terms.ids.end());
  lexical_.remove(row);
  for (const TermId term : words) {
    if (lexical_.term(term).empty()) {
      word_vectors_.remove(term);
    }
  }
  cues_.remove(row);
  units_.remove(row);
  superseded_.reset(row);
  for (std::size_t kind = 0; kind < kCueKinds; ++kind) {
    for (const CueId id : ids[kind]) {
      if (cues_.count(static_cast<CueKind>(kind), id) == 0) {
        names_[kind].erase(id);
      }
    }
  }
}

std::vector<Edge> Engine::remove(std::span<const Row> rows) {
  const std::unique_lock lock(mutex_);
  std::vector<Edge> gone;
  for (const Row row : rows) {
    if (!units_.visible().test(row)) {
      continue;
    }
    const std::vector<Edge> edges = graph_.remove(row);
    gone.insert(gone.end(), edges.begin(), edges.end());
    forget(row);
    for (const Edge& edge : edges) {
      if (edge.kind == EdgeKind::State && edge.dst == row) {
        mark_superseded(edge.src);
      }
    }
  }
  return gone;
}

void Engine::mark_superseded(Row row) {
  bool is_superseded = false;
  graph_.for_each_neighbor(row, [&](Row, EdgeKind kind, float, bool outgoing) {
    is_superseded = is_superseded || (kind == EdgeKind::State && outgoing);
  });
  if (is_superseded) {
    superseded_.set(row);
  } else {
    superseded_.reset(row);
  }
}

bool Engine::wants_graph() const {
  const std::shared_lock lock(mutex_);
  return vectors_.wants_graph();
}

bool Engine::build_graph_step(std::size_t rows) {
  const std::shared_lock lock(mutex_);  // readers go on; the graph being built is touched by one thread only
  return vectors_.build_step(rows);
}

void Engine::adopt_graph() {
  const std::unique_lock lock(mutex_);
  vectors_.adopt_graph();
}

std::vector<Edge> Engine::neighbors(Row row) const {
  const std::shared_lock lock(mutex_);
  std::vector<Edge> edges;
  graph_.for_each_neighbor(row, [&](Row other, EdgeKind kind, float weight, bool outgoing) {
    edges.push_back(outgoing ? Edge{row, other, kind, weight} : Edge{other, row, kind, weight});
  });
  return edges;
}

std::size_t Engine::size() const {
  const std::shared_lock lock(mutex_);
  return units_.visible().count();
}

std::size_t Engine::edge_count(EdgeKind kind) const {
  const std::shared_lock lock(mutex_);
  return graph_.edge_count(kind);
}

bool Engine::has_graph() const {
  const std::shared_lock lock(mutex_);
  return vectors_.has_graph();
}

double Engine::self_recall(std::size_t sample) const {
  const std::shared_lock lock(mutex_);
  return vectors_.self_recall(sample);
}

Csr Engine::compact_graph() const {
  const std::shared_lock lock(mutex_);
  return graph_.compact();
}

}  // namespace ripple
