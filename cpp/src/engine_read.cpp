// The reading half of the engine: which units may be returned, first recall, plan, and all in one call.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "engine_detail.hpp"
#include "ripple/engine.hpp"

namespace ripple {

RowMask Engine::allowed_rows(const Selection& selection) const {
  RowMask allowed = units_.visible();
  if (selection.selects_all()) {
    return allowed;
  }
  if (selection.has_rows) {
    RowMask rows(units_.rows());
    for (const Row row : selection.rows) {
      if (row < units_.rows()) {
        rows.set(row);
      }
    }
    allowed.intersect(rows);
  }
  const auto shares = [](std::span<const CueId> held, std::span<const CueId> wanted) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](CueId id) {
             return std::binary_search(held.begin(), held.end(), id);
           });
  };
  RowMask selected(units_.rows());
  allowed.for_each([&](Row row) {
    const CueView cues = cues_.cues(row);
    const UnitInfo& info = units_.info(row);
    const bool in_session = selection.sessions.empty() ||
                            std::find(selection.sessions.begin(), selection.sessions.end(), info.session) !=
                                selection.sessions.end();
    const bool in_time =
        !selection.time.is_grounded() || (cues.time.is_grounded() && cues.time.start <= selection.time.end &&
                                          cues.time.end >= selection.time.start);
    const bool in_said =
        !selection.said.is_grounded() || (info.said_at != kNoTime && info.said_at >= selection.said.start &&
                                          info.said_at <= selection.said.end);
    if (in_session && in_time && in_said && (selection.with_superseded || !superseded_.test(row)) &&
        shares(cues.participants, selection.participants) && shares(cues.locations, selection.locations)) {
      selected.set(row);
    }
  });
  return selected;
}

std::vector<Row> Engine::select(const Selection& selection) const {
  const std::shared_lock lock(mutex_);
  std::vector<Row> rows;
  allowed_rows(selection).for_each([&](Row row) { rows.push_back(row); });
  return rows;
}

FirstRecall Engine::first_recall(const Query& query, const Selection& selection,
                                 const RecallOptions& options) const {
  const std::shared_lock lock(mutex_);
  return first_recall_locked(query, allowed_rows(selection), options);
}

FirstRecall Engine::first_recall_locked(const Query& query, const RowMask& allowed,
                                        const RecallOptions& options) const {
  std::map<Row, std::uint8_t> found;
  std::vector<Finding> findings;
  const bool is_paper = options.ranking == Ranking::Paper;
  const auto take = [&](const std::vector<ScoredRow>& hits, FoundBy view) {
    for (std::size_t rank = 0; rank < hits.size(); ++rank) {
      found[hits[rank].row] |= view;
      findings.push_back({hits[rank].row, view, static_cast<std::uint32_t>(rank), 1.0F});
    }
  };
  // The paper's view sizes (LoCoMo preset): 10 dense, 5 lexical, 5 by cue.
  const std::size_t dense_size = is_paper ? 10 : options.pool;
  const std::size_t other_size = is_paper ? 5 : options.pool;
  if ((options.views & kFoundDense) != 0 && !query.vector.empty()) {
    take(vectors_.search(query.vector, dense_size, allowed), kFoundDense);
  }
  if ((options.views & kFoundLexical) != 0 && query.terms != nullptr && !query.terms->ids.empty()) {
    take(is_paper ? lexical_.search(query.terms->ids, other_size, allowed)
                  : lexical_.search_windows(query.terms->ids, other_size, units_.context_links(),
                                            kWindowRadius, units_.visible(), allowed),
         kFoundLexical);
  }
  if ((options.views & kFoundCue) != 0) {
    take(cues_.search(query.cues, is_paper ? other_size : options.pool / 2, allowed), kFoundCue);
  }
  FirstRecall first;
  std::vector<Row> rows;
  std::vector<std::uint8_t> found_by;
  for (const auto& [row, views] : found) {
    rows.push_back(row);
    found_by.push_back(views);
  }
  FeatureMatrix parts;
  if (is_paper) {
    std::vector<float> similarity(rows.size(), kNaN);
    for (std::size_t i = 0; i < rows.size() && !query.vector.empty(); ++i) {
      similarity[i] = vectors_.contains(rows[i]) ? vectors_.dot(query.vector, rows[i]) : kNaN;
    }
    parts = paper_parts(rows, similarity, findings, {});
    first.findings = std::move(findings);
  } else {
    const FeatureMatrix raw = raw_features(seen_by(query, options), rows);
    parts = raw;
    weigh(parts, options.weights);
    float best = 0.0F;
    for (const FeatureRow& row : parts) {
      best = std::max(best, total(row));
    }
    first.support_signals = support_signals(raw, best);
    first.support = raw.empty() ? 0.0F : support(first.support_signals, options.weights);
  }
  std::vector<float> scores;
  scores.reserve(parts.size());
  for (const FeatureRow& row : parts) {
    scores.push_back(total(row));
  }
  for (const std::size_t i : ranked_order(rows, scores)) {
    first.rows.push_back(rows[i]);
    first.scores.push_back(scores[i]);
    first.found_by.push_back(found_by[i]);
    first.parts.push_back(parts[i]);
  }
  return first;
}

Plan Engine::plan(const Query& query, const FirstRecall& first, const RecallOptions& options) const {
  const std::shared_lock lock(mutex_);
  return plan_locked(query, first, options);
}

Plan Engine::plan_locked(const Query& query, const FirstRecall& first, const RecallOptions& options) const {
  if (options.expansion == Expansion::None) {
    Plan plan;
    plan.reason = StopReason::Disabled;
    return plan;
  }
  const std::span<const TermId> words = query.terms == nullptr ? std::span<const TermId>() : query.terms->ids;
  const std::size_t shown = std::min<std::size_t>(first.rows.size(), units_kept(options));
  return plan_by_rules(words, query.cues, std::span(first.rows).first(shown), lexical_, word_vectors_, units_,
                       options_.planner);
}

std::string Engine::restatement(const Plan& plan) const {
  const std::shared_lock lock(mutex_);
  return restatement_locked(plan);
}

std::string Engine::restatement_locked(const Plan& plan) const {
  std::string text;
  for (const TermId term : plan.new_terms) {
    text += text.empty() ? "" : " ";
    text += lexical_.surface(term);
  }
  return text;
}

Recalled Engine::recall(const Query& query, const Selection& selection, const RecallOptions& options) const {
  const std::shared_lock lock(mutex_);
  const RowMask allowed = allowed_rows(selection);
  FirstRecall first = first_recall_locked(query, allowed, options);
  Plan plan = plan_locked(query, first, options);
  std::string target = plan.proceeds() ? restatement_locked(plan) : std::string();
  std::vector<float> vector(options_.dimension);
  const bool has_vector = words_ != nullptr && !target.empty() && words_->embed(target, vector);
  Recalled out =
      expand_locked(query, std::move(first), {}, std::move(plan),
                    has_vector ? std::span<const float>(vector) : std::span<const float>(), allowed, options);
  out.target = std::move(target);
  return out;
}

}  // namespace ripple
