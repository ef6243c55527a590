// One namespace's engine: owns its indexes and graph and is the only component that knows them all.
// Written to in two steps (stage, then reveal or discard), read by first_recall, plan, expand and rank, or by
// recall, which is all four in one call.
//
// Any number of threads may read beside one writer: every method locks for itself. stage, stage_link, reveal,
// discard, remove and load are the writer's and must come from one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ripple/cue_index.hpp"
#include "ripple/diffusion.hpp"
#include "ripple/graph.hpp"
#include "ripple/interner.hpp"
#include "ripple/lexical_index.hpp"
#include "ripple/params.hpp"
#include "ripple/planning.hpp"
#include "ripple/ranking.hpp"
#include "ripple/row_mask.hpp"
#include "ripple/static_embedder.hpp"
#include "ripple/types.hpp"
#include "ripple/unit_table.hpp"
#include "ripple/vector_index.hpp"
#include "ripple/word_match.hpp"
#include "ripple/word_vectors.hpp"

namespace ripple {

struct EngineOptions {
  std::size_t dimension = 0;
  VectorIndexOptions vectors;
  Bm25Options bm25;
  EdgeOptions edges;
  CueWalkOptions cue_walk;
  PlannerOptions planner;
  DiffusionOptions diffusion;
  bool is_english =
      false;  // the embedder knows Latin script only: cosines count by the question's share of it
};

// Lists of ids, one a unit: row i is ids[indptr[i]] .. ids[indptr[i + 1]].
struct IdLists {
  std::span<const std::int64_t> indptr;
  std::span<const std::uint32_t> ids;

  [[nodiscard]] std::span<const std::uint32_t> at(std::size_t i) const {
    const auto begin = static_cast<std::size_t>(indptr[i]);
    return ids.subspan(begin, static_cast<std::size_t>(indptr[i + 1]) - begin);
  }
};

// Units to write, as arrays of equal length.
struct UnitBatch {
  std::span<const float> vectors;  // size() x dimension; a row that starts with NaN has no vector
  IdLists terms;
  std::span<const std::uint32_t> term_counts;  // along terms.ids
  std::span<const CueId> speakers;             // kNoId where unknown
  IdLists participants;
  IdLists locations;
  std::span<const std::int64_t> times;  // size() x 2
  std::span<const std::int64_t> said_at;
  std::span<const SessionId> sessions;
  std::span<const std::uint8_t> flags;

  [[nodiscard]] std::size_t size() const { return said_at.size(); }
};

struct Staged {
  std::vector<Row> rows;
  StagedEdges edges;
};

struct Query {
  std::span<const float> vector;      // of the question without names; empty: no dense view
  const QueryTerms* terms = nullptr;  // of the question without names
  CueView cues;
  TimeGrain time_grain = TimeGrain::None;
  TimeInterval months;  // the calendar months in which the question's date lies
  bool asks_when = false;
};

// Which units may be returned. Ids of one kind are alternatives; kinds must all match.
struct Selection {
  std::span<const CueId> participants;
  std::span<const CueId> locations;
  std::span<const SessionId> sessions;
  TimeInterval time;          // units whose time intersects it; an open end is the largest value
  TimeInterval said;          // units said inside it
  std::span<const Row> rows;  // only these, when has_rows
  bool has_rows = false;
  bool with_superseded = true;

  [[nodiscard]] bool selects_all() const {
    return participants.empty() && locations.empty() && sessions.empty() && !time.is_grounded() &&
           !said.is_grounded() && !has_rows && with_superseded;
  }
};

enum class Expansion : std::uint8_t { None, Undirected, Targeted };
enum class Ranking : std::uint8_t { Fitted, Paper };

// Units on each side that count as a unit's surroundings (w2, PAPERS.md 5).
inline constexpr std::uint32_t kWindowRadius = 2;

// Views of first recall as bits.
inline constexpr std::uint8_t kAllViews = kFoundDense | kFoundLexical | kFoundCue;

struct RecallOptions {
  std::uint32_t top_k = 30;
  std::uint32_t first =
      0;  // units of first recall that stay whatever expansion finds; 0: all but the last fifth, 2 at most
  std::uint32_t pool = 150;  // units taken from each view, half as many by cues
  std::uint8_t views = kAllViews;
  std::uint8_t edge_kinds = 0b11111;  // kinds that expansion may walk
  Expansion expansion = Expansion::Targeted;
  Ranking ranking = Ranking::Fitted;
  RankingWeights weights = kGenericWeights;
};

// First recall: the pool of all views, ranked.
struct FirstRecall {
  std::vector<Row> rows;  // score down, then row up
  std::vector<float> scores;
  std::vector<std::uint8_t> found_by;
  FeatureMatrix parts;            // features times weight, along rows
  std::vector<Finding> findings;  // of each view by rank, kept for the paper's ranking
  std::array<float, kSupportSignals> support_signals{};
  float support = 0.0F;  // 0..1; 0 when nothing was recalled
};

// What expansion reached, best first.
struct Expanded {
  std::vector<Row> rows;
  std::vector<float> scores;  // towards the target
  std::vector<std::uint8_t> hops;
  std::vector<Row> parents;
  std::vector<Row> anchors;
  std::vector<EdgeKind> kinds;
  std::vector<float> strengths;
};

struct Recalled {
  FirstRecall first;
  Plan plan;
  std::string target;  // the target's restatement
  Expanded expanded;
  std::vector<Row> rows;  // the evidence, score down, then row up
  std::vector<float> scores;
  std::vector<std::uint8_t> found_by;
  std::vector<std::uint8_t> hops;
  std::vector<Row> parents;
  FeatureMatrix parts;
  std::vector<bool> is_superseded;
};

class Engine {
 public:
  // words gives word vectors and embeds targets; may be null: then no text is embedded here.
  Engine(const EngineOptions& options, std::shared_ptr<const StaticEmbedder> words);

  // --- names and words ---
  std::vector<CueId> intern_cues(CueKind kind, std::span<const std::string_view> names);
  [[nodiscard]] std::vector<CueId> find_cues(CueKind kind, std::span<const std::string_view> names) const;
  [[nodiscard]] std::string cue_name(CueKind kind, CueId id) const;
  std::vector<LexicalIndex::Terms> index_texts(std::span<const std::string_view> texts);
  [[nodiscard]] QueryTerms find_terms(std::string_view text) const;

  // --- writing ---
  // Adds the batch hidden from readers, chooses its edges, and tells which were added and evicted.
  // Throws before any change when an array is malformed.
  Staged stage(const UnitBatch& batch);
  // A directed state edge old -> new, staged likewise.
  StagedEdges stage_link(Row old_row, Row new_row);
  void reveal();
  void discard();
  // Adds units and their recorded edges as they are; chooses nothing.
  std::vector<Row> load(const UnitBatch& batch, std::span<const Edge> edges);
  // Removes units from every index, with their edges. Returns the edges that went.
  std::vector<Edge> remove(std::span<const Row> rows);

  // --- background build of the vector graph: steps run beside readers, adopt excludes them ---
  [[nodiscard]] bool wants_graph() const;
  bool build_graph_step(std::size_t rows);
  void adopt_graph();

  // --- reading ---
  [[nodiscard]] FirstRecall first_recall(const Query& query, const Selection& selection,
                                         const RecallOptions& options) const;
  [[nodiscard]] Plan plan(const Query& query, const FirstRecall& first, const RecallOptions& options) const;
  [[nodiscard]] std::string restatement(const Plan& plan) const;
  // target_vector: empty when the target has none.
  [[nodiscard]] Recalled expand(const Query& query, FirstRecall first, Plan plan,
                                std::span<const float> target_vector, const Selection& selection,
                                const RecallOptions& options) const;
  // One round more, from what the rounds before came to: first recall and expanded units are kept, those that
  // entered the evidence are not looked for again, old and new finds take places in turn, all is ranked anew.
  [[nodiscard]] Recalled expand_more(const Query& query, Recalled so_far, Plan plan,
                                     std::span<const float> target_vector, const Selection& selection,
                                     const RecallOptions& options) const;
  // All of the above in one call, the target embedded by `words`.
  [[nodiscard]] Recalled recall(const Query& query, const Selection& selection,
                                const RecallOptions& options) const;

  [[nodiscard]] std::vector<Row> select(const Selection& selection) const;
  [[nodiscard]] std::vector<Edge> neighbors(Row row) const;
  [[nodiscard]] std::size_t dimension() const { return options_.dimension; }
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t edge_count(EdgeKind kind) const;
  [[nodiscard]] bool has_graph() const;
  [[nodiscard]] double self_recall(std::size_t sample) const;
  [[nodiscard]] Csr compact_graph() const;

 private:
  void check(const UnitBatch& batch) const;
  Row insert(const UnitBatch& batch, std::size_t i);
  void forget(Row row);
  [[nodiscard]] std::vector<EdgeCandidate> edge_candidates(Row row) const;
  [[nodiscard]] Row session_predecessor(Row row) const;
  [[nodiscard]] bool is_turn(Row row) const;
  [[nodiscard]] EdgeTie tie(Row a, Row b, EdgeKind kind) const;
  [[nodiscard]] RowMask allowed_rows(const Selection& selection) const;
  void mark_superseded(Row row);

  // Scores of a zone's rows towards a target, along the rows.
  struct TargetScores {
    std::vector<float> semantic;
    std::vector<float> structural;  // NaN where not comparable
    std::vector<float> combined;
  };

  // The reading steps, for callers that hold the lock.
  [[nodiscard]] FirstRecall first_recall_locked(const Query& query, const RowMask& allowed,
                                                const RecallOptions& options) const;
  [[nodiscard]] Plan plan_locked(const Query& query, const FirstRecall& first,
                                 const RecallOptions& options) const;
  [[nodiscard]] std::string restatement_locked(const Plan& plan) const;
  [[nodiscard]] Recalled expand_locked(const Query& query, FirstRecall first, Expanded before, Plan plan,
                                       std::span<const float> target_vector, const RowMask& allowed,
                                       const RecallOptions& options) const;
  [[nodiscard]] Expanded reach(const FirstRecall& first, const Expanded& before, const Plan& plan,
                               std::span<const float> target_vector, const RowMask& allowed,
                               const RecallOptions& options) const;
  [[nodiscard]] TargetScores score_target(const Plan& plan, std::span<const float> target_vector,
                                          const Zone& zone) const;
  [[nodiscard]] FeatureMatrix raw_features(const Query& query, std::span<const Row> rows) const;
  void add_word_features(const QueryTerms& terms, std::span<const Row> rows, FeatureMatrix& raw) const;
  [[nodiscard]] double idf_mass(const QueryTerms& terms) const;
  [[nodiscard]] float trust(const QueryTerms* terms) const;
  [[nodiscard]] float context_cosine(std::span<const float> query, Row row) const;
  void rank_fitted(const Query& query, const RecallOptions& options, Recalled& out) const;
  void rank_by_paper(const Query& query, const RecallOptions& options, Recalled& out) const;

  EngineOptions options_;
  std::shared_ptr<const StaticEmbedder> words_;
  mutable std::shared_mutex mutex_;
  std::array<Interner, kCueKinds> names_;
  UnitTable units_;
  VectorIndex vectors_;
  LexicalIndex lexical_;
  CueIndex cues_;
  MemoryGraph graph_;
  WordVectors word_vectors_;
  RowMask superseded_;
  std::unordered_map<CueId, std::uint32_t> speakers_;  // units said by each
  std::vector<Row> staged_rows_;
};

}  // namespace ripple
