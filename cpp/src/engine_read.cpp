// The reading half of the engine: first recall, plan, expansion, ranking.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "ripple/distance.hpp"
#include "ripple/edge_scoring.hpp"
#include "ripple/engine.hpp"
#include "ripple/topk.hpp"
#include "ripple/word_match.hpp"

namespace ripple {

namespace {

// Added to the idf mass of the question; see Feature.
constexpr double kIdfMassAdded = 8.0;
constexpr float kLongUnitWords = 64.0F;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

float& at(FeatureRow& row, Feature feature) { return row[static_cast<std::size_t>(feature)]; }

// Ranks rows that carry scores and parts alike: score down, then row up.
std::vector<std::size_t> ranked_order(std::span<const Row> rows, std::span<const float> scores) {
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ranks_before({rows[a], scores[a]}, {rows[b], scores[b]});
  });
  return order;
}

std::uint32_t units_kept(const RecallOptions& options) {
  return options.first != 0 ? std::min(options.first, options.top_k) : options.top_k - options.top_k / 5;
}

// The query without what belongs to views that are switched off.
Query seen_by(Query query, const RecallOptions& options) {
  if ((options.views & kFoundDense) == 0) {
    query.vector = {};
  }
  if ((options.views & kFoundLexical) == 0) {
    query.terms = nullptr;
  }
  if ((options.views & kFoundCue) == 0) {
    query.cues = {};
  }
  return query;
}

}  // namespace

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
    const bool in_session = selection.sessions.empty() || std::find(selection.sessions.begin(), selection.sessions.end(),
                                                                    info.session) != selection.sessions.end();
    const bool in_time = !selection.time.is_grounded() ||
                         (cues.time.is_grounded() && cues.time.start <= selection.time.end &&
                          cues.time.end >= selection.time.start);
    const bool in_said = !selection.said.is_grounded() ||
                         (info.said_at != kNoTime && info.said_at >= selection.said.start &&
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

double Engine::idf_mass(const QueryTerms& terms) const {
  double mass = kIdfMassAdded + static_cast<double>(terms.unknown.size()) * lexical_.idf_unknown();
  for (const TermId term : terms.ids) {
    mass += lexical_.idf(term);
  }
  return mass;
}

float Engine::trust(const QueryTerms* terms) const {
  if (!options_.is_english || terms == nullptr) {
    return 1.0F;
  }
  double all = 0.0;
  double latin = 0.0;
  const auto add = [&](double idf, std::string_view word) {
    all += idf;
    latin += is_ascii(word) ? idf : 0.0;
  };
  for (const TermId term : terms->ids) {
    add(lexical_.idf(term), lexical_.term(term));
  }
  for (const std::string& word : terms->unknown) {
    add(lexical_.idf_unknown(), word);
  }
  return all > 0.0 ? static_cast<float>(latin / all) : 1.0F;
}

void Engine::add_word_features(const QueryTerms& terms, std::span<const Row> rows, FeatureMatrix& raw) const {
  const double scale = 2.0 / idf_mass(terms);
  const SessionLinks links = units_.context_links();
  std::vector<float> window(rows.size());
  lexical_.score_windows(terms.ids, rows, links, kWindowRadius, units_.visible(), window);
  std::vector<Row> asking;
  for (const Row row : rows) {
    const Row before = links.previous[row];
    asking.push_back(before != kNoRow && (units_.info(before).flags & kIsQuestion) != 0 ? before : kNoRow);
  }
  std::vector<float> asked(rows.size());
  lexical_.score(terms.ids, asking, asked);
  WordMatcher matcher(terms, lexical_, word_vectors_, words_.get());
  std::unordered_map<Row, float> matches;  // neighbours are met again and again
  const auto match = [&](Row row) {
    if (row == kNoRow) {
      return 0.0F;
    }
    const auto [place, is_new] = matches.try_emplace(row, 0.0F);
    if (is_new) {
      place->second = static_cast<float>(scale * matcher.match(lexical_.terms_of(row).ids));
    }
    return place->second;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    const float own = match(row);
    at(raw[i], Feature::Window) = static_cast<float>(scale * window[i]);
    at(raw[i], Feature::PreviousQuestion) = static_cast<float>(scale * asked[i]);
    at(raw[i], Feature::WordMatch) = own;
    at(raw[i], Feature::NearWordMatch) = std::max({own, match(links.previous[row]), match(links.next[row])});
  }
}

FeatureMatrix Engine::raw_features(const Query& query, std::span<const Row> rows) const {
  FeatureMatrix raw(rows.size(), FeatureRow{});
  if (query.terms != nullptr) {
    add_word_features(*query.terms, rows, raw);
  }
  const auto& named = query.cues.participants;
  const auto named_speakers =
      std::count_if(named.begin(), named.end(), [&](CueId person) { return speakers_.contains(person); });
  const float trusted = 3.0F * trust(query.terms);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const UnitInfo& info = units_.info(rows[i]);
    FeatureRow& features = raw[i];
    const bool has_cosine = !query.vector.empty() && vectors_.contains(rows[i]);
    at(features, Feature::Context) = query.vector.empty() ? kNaN : trusted * context_cosine(query.vector, rows[i]);
    at(features, Feature::Dense) = has_cosine ? trusted * vectors_.dot(query.vector, rows[i]) : kNaN;
    const bool is_named = named_speakers == 1 && std::binary_search(named.begin(), named.end(), info.speaker);
    at(features, Feature::Speaker) = is_named ? 1.0F : 0.0F;
    at(features, Feature::Time) = time_match(query.cues.time, query.months, query.time_grain, info.said_at);
    at(features, Feature::When) = query.asks_when && (info.flags & kHasTimeWord) != 0 ? 1.0F : 0.0F;
    at(features, Feature::Question) = (info.flags & kIsQuestion) != 0 ? 1.0F : 0.0F;
    at(features, Feature::Length) =
        std::max(0.0F, std::log(static_cast<float>(lexical_.length(rows[i])) / kLongUnitWords));
  }
  return raw;
}

float Engine::context_cosine(std::span<const float> query, Row row) const {
  const SessionLinks links = units_.context_links();
  std::vector<float> sum(options_.dimension, 0.0F);
  const auto add = [&](Row neighbor, float weight) {
    if (neighbor != kNoRow && vectors_.contains(neighbor)) {
      const auto vector = vectors_.vector(neighbor);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += weight * vector[i];
      }
    }
  };
  const auto step = [](std::span<const Row> link, Row from) { return from == kNoRow ? kNoRow : link[from]; };
  const Row before = step(links.previous, row);
  const Row after = step(links.next, row);
  add(row, 1.0F);
  add(before, 0.5F);
  add(after, 0.5F);
  add(step(links.previous, before), 0.25F);
  add(step(links.next, after), 0.25F);
  const float norm = std::sqrt(dot(sum, sum));
  return norm > 0.0F ? dot(query, sum) / norm : kNaN;
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
                  : lexical_.search_windows(query.terms->ids, other_size, units_.context_links(), kWindowRadius,
                                            units_.visible(), allowed),
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
  return plan_by_rules(words, query.cues, std::span(first.rows).first(shown), lexical_, word_vectors_, cues_,
                       options_.planner);
}

std::string Engine::restatement(const Plan& plan) const {
  const std::shared_lock lock(mutex_);
  return restatement_locked(plan);
}

std::string Engine::restatement_locked(const Plan& plan) const {
  std::string text;
  for (const auto* terms : {&plan.uncovered, &plan.new_terms}) {
    for (const TermId term : *terms) {
      text += text.empty() ? "" : " ";
      text += lexical_.surface(term);
    }
  }
  return text;
}

Expanded Engine::reach(const Query& query, const FirstRecall& first, const Plan& plan,
                       std::span<const float> target_vector, const RowMask& allowed,
                       const RecallOptions& options) const {
  const std::uint32_t kept = units_kept(options);
  RowMask recalled(units_.rows());
  for (std::size_t i = 0; i < first.rows.size() && i < kept; ++i) {
    recalled.set(first.rows[i]);
  }
  DiffusionOptions diffusion = options_.diffusion;
  diffusion.first_hop_kinds &= options.edge_kinds;
  diffusion.second_hop_kinds &= options.edge_kinds;
  const Zone zone = collect_zone(graph_, plan.anchors, recalled, allowed, diffusion);
  Support support;
  if (options.expansion == Expansion::Undirected) {
    support = select_nearest(zone, options.top_k - kept);
  } else {
    const TargetScores target = score_target(query, plan, target_vector, zone.rows);
    support = select_support(zone, target.semantic, target.structural, diffusion);
    for (std::size_t i = 0; i < support.rows.size(); ++i) {
      support.scores[i] = target.combined[support.zone_index[i]];
    }
  }
  Expanded out;
  for (const std::size_t i : ranked_order(support.rows, support.scores)) {
    const std::uint32_t z = support.zone_index[i];
    out.rows.push_back(support.rows[i]);
    out.scores.push_back(support.scores[i]);
    out.hops.push_back(zone.hops[z]);
    out.parents.push_back(zone.parents[z]);
    out.anchors.push_back(zone.anchors[z]);
    out.kinds.push_back(zone.kinds[z]);
    out.strengths.push_back(zone.strengths[z]);
  }
  return out;
}

Engine::TargetScores Engine::score_target(const Query& query, const Plan& plan,
                                          std::span<const float> target_vector,
                                          std::span<const Row> rows) const {
  std::vector<TermId> terms(plan.uncovered);
  terms.insert(terms.end(), plan.new_terms.begin(), plan.new_terms.end());
  std::sort(terms.begin(), terms.end());
  double worth = 0.0;
  for (const TermId term : terms) {
    worth += term_worth(term, lexical_, word_vectors_);
  }
  const CueView cues{.participants = plan.participants, .locations = plan.locations, .time = plan.time};
  TargetScores scores;
  for (const Row row : rows) {
    double shared = 0.0;
    for (const TermId term : lexical_.terms_of(row).ids) {
      if (std::binary_search(terms.begin(), terms.end(), term)) {
        shared += term_worth(term, lexical_, word_vectors_);
      }
    }
    const auto words = static_cast<float>(worth > 0.0 ? shared / worth : 0.0);
    const bool has_vector = vectors_.contains(row);
    const float towards = has_vector && !target_vector.empty() ? vectors_.dot(target_vector, row) : 0.0F;
    const float asked = has_vector && !query.vector.empty() ? vectors_.dot(query.vector, row) : 0.0F;
    const auto structural = structural_score(cues, cues_.cues(row), options_.edges);
    const float semantic = towards + words;
    scores.semantic.push_back(semantic);
    scores.structural.push_back(structural ? static_cast<float>(*structural) : kNaN);
    scores.combined.push_back(semantic + 0.5F * static_cast<float>(structural.value_or(0.0)) + 0.25F * asked);
  }
  return scores;
}

Recalled Engine::expand(const Query& query, FirstRecall first, Plan plan, std::span<const float> target_vector,
                        const Selection& selection, const RecallOptions& options) const {
  const std::shared_lock lock(mutex_);
  return expand_locked(query, std::move(first), std::move(plan), target_vector, allowed_rows(selection), options);
}

Recalled Engine::expand_locked(const Query& query, FirstRecall first, Plan plan,
                               std::span<const float> target_vector, const RowMask& allowed,
                               const RecallOptions& options) const {
  Recalled out;
  if (plan.proceeds()) {
    out.expanded = reach(query, first, plan, target_vector, allowed, options);
    if (out.expanded.rows.empty()) {
      plan.reason = StopReason::NoSupport;
    }
  }
  out.first = std::move(first);
  out.plan = std::move(plan);
  if (options.ranking == Ranking::Paper) {
    rank_by_paper(query, options, out);
  } else {
    rank_fitted(query, options, out);
  }
  for (const Row row : out.rows) {
    out.is_superseded.push_back(superseded_.test(row));
  }
  return out;
}

void Engine::rank_fitted(const Query& query, const RecallOptions& options, Recalled& out) const {
  const FirstRecall& first = out.first;
  const std::size_t kept = std::min<std::size_t>(units_kept(options), first.rows.size());
  const float cut = kept == 0 ? 0.0F : first.scores[kept - 1];
  const std::size_t room = options.top_k - std::min<std::size_t>(units_kept(options), options.top_k);
  const auto taken = std::span(out.expanded.rows).first(std::min(out.expanded.rows.size(), room));
  FeatureMatrix own = raw_features(seen_by(query, options), taken);
  weigh(own, options.weights);
  std::map<Row, std::size_t> place;  // of an expanded row in `taken`
  std::vector<Row> rows;
  std::vector<float> scores;
  std::vector<FeatureRow> parts;
  std::vector<std::uint8_t> found_by;
  std::vector<std::uint8_t> hops;
  std::vector<Row> parents;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    place[taken[i]] = i;
    // Raised to just under the last kept unit, so that it enters the list and displaces nothing above.
    at(own[i], Feature::Expansion) = std::max(0.0F, cut - total(own[i]));
    rows.push_back(taken[i]);
    scores.push_back(total(own[i]));
    parts.push_back(own[i]);
    found_by.push_back(kFoundExpansion);
    hops.push_back(out.expanded.hops[i]);
    parents.push_back(out.expanded.parents[i]);
  }
  for (std::size_t i = 0; i < first.rows.size() && rows.size() < options.top_k; ++i) {
    if (const auto at_place = place.find(first.rows[i]); at_place != place.end()) {
      found_by[at_place->second] |= first.found_by[i];
      continue;
    }
    rows.push_back(first.rows[i]);
    scores.push_back(first.scores[i]);
    parts.push_back(first.parts[i]);
    found_by.push_back(first.found_by[i]);
    hops.push_back(0);
    parents.push_back(kNoRow);
  }
  for (const std::size_t i : ranked_order(rows, scores)) {
    out.rows.push_back(rows[i]);
    out.scores.push_back(scores[i]);
    out.parts.push_back(parts[i]);
    out.found_by.push_back(found_by[i]);
    out.hops.push_back(hops[i]);
    out.parents.push_back(parents[i]);
  }
}

void Engine::rank_by_paper(const Query& query, const RecallOptions& options, Recalled& out) const {
  std::vector<Finding> findings = out.first.findings;
  std::map<Row, std::uint8_t> found;
  std::map<Row, std::size_t> expanded;
  for (std::size_t i = 0; i < out.expanded.rows.size(); ++i) {
    const Row row = out.expanded.rows[i];
    expanded[row] = i;
    findings.push_back({row, kFoundExpansion, static_cast<std::uint32_t>(i), out.expanded.strengths[i]});
  }
  for (const Finding& finding : findings) {
    found[finding.row] |= finding.source;
  }
  std::vector<Row> rows;
  std::vector<float> similarity;
  for (const auto& [row, views] : found) {
    rows.push_back(row);
    similarity.push_back(query.vector.empty() || !vectors_.contains(row) ? kNaN : vectors_.dot(query.vector, row));
  }
  const FeatureMatrix parts = paper_parts(rows, similarity, findings, out.plan.anchors);
  std::vector<float> scores;
  for (const FeatureRow& row : parts) {
    scores.push_back(total(row));
  }
  for (const std::size_t i : ranked_order(rows, scores)) {
    if (out.rows.size() == options.top_k) {
      break;
    }
    const auto reached = expanded.find(rows[i]);
    out.rows.push_back(rows[i]);
    out.scores.push_back(scores[i]);
    out.parts.push_back(parts[i]);
    out.found_by.push_back(found[rows[i]]);
    out.hops.push_back(reached == expanded.end() ? 0 : out.expanded.hops[reached->second]);
    out.parents.push_back(reached == expanded.end() ? kNoRow : out.expanded.parents[reached->second]);
  }
}

Recalled Engine::recall(const Query& query, const Selection& selection, const RecallOptions& options) const {
  const std::shared_lock lock(mutex_);
  const RowMask allowed = allowed_rows(selection);
  FirstRecall first = first_recall_locked(query, allowed, options);
  Plan plan = plan_locked(query, first, options);
  std::string target = plan.proceeds() ? restatement_locked(plan) : std::string();
  std::vector<float> vector(options_.dimension);
  const bool has_vector = words_ != nullptr && !target.empty() && words_->embed(target, vector);
  Recalled out = expand_locked(query, std::move(first), std::move(plan),
                               has_vector ? std::span<const float>(vector) : std::span<const float>(), allowed,
                               options);
  out.target = std::move(target);
  return out;
}

}  // namespace ripple
