// Expansion from the anchors, union with first recall, and the ranking of both.
#include <algorithm>
#include <map>
#include <set>
#include <shared_mutex>

#include "engine_detail.hpp"
#include "ripple/distance.hpp"
#include "ripple/edge_scoring.hpp"
#include "ripple/engine.hpp"

namespace ripple {

namespace {

constexpr float kWorthScale = 6.0F;  // about the worth of a rare word that says much
constexpr float kRaiseStep = 1e-3F;  // between the scores of raised units; far above a float's rounding

void append(Expanded& out, const Expanded& from, std::size_t i) {
  out.rows.push_back(from.rows[i]);
  out.scores.push_back(from.scores[i]);
  out.hops.push_back(from.hops[i]);
  out.parents.push_back(from.parents[i]);
  out.anchors.push_back(from.anchors[i]);
  out.kinds.push_back(from.kinds[i]);
  out.strengths.push_back(from.strengths[i]);
}

// Both in turn, each unit once: scores towards different targets do not compare.
Expanded in_turn(const Expanded& before, const Expanded& more) {
  Expanded out;
  std::set<Row> taken;
  for (std::size_t i = 0; i < std::max(before.rows.size(), more.rows.size()); ++i) {
    for (const Expanded* from : {&before, &more}) {
      if (i < from->rows.size() && taken.insert(from->rows[i]).second) {
        append(out, *from, i);
      }
    }
  }
  return out;
}

// Places that first recall leaves to what expansion finds.
std::size_t places_left(const RecallOptions& options) {
  return options.top_k - std::min<std::size_t>(units_kept(options), options.top_k);
}

}  // namespace

Expanded Engine::reach(const FirstRecall& first, const Expanded& before, const Plan& plan,
                       std::span<const float> target_vector, const RowMask& allowed,
                       const RecallOptions& options) const {
  const std::uint32_t kept = units_kept(options);
  RowMask recalled(units_.rows());
  for (std::size_t i = 0; i < first.rows.size() && i < kept; ++i) {
    recalled.set(first.rows[i]);
  }
  for (std::size_t i = 0; i < before.rows.size() && i < places_left(options); ++i) {
    recalled.set(before.rows[i]);
  }
  DiffusionOptions diffusion = options_.diffusion;
  diffusion.first_hop_kinds &= options.edge_kinds;
  diffusion.second_hop_kinds &= options.edge_kinds;
  const Zone zone = collect_zone(graph_, plan.anchors, recalled, allowed, diffusion);
  Support support;
  if (options.expansion == Expansion::Undirected) {
    support = select_nearest(zone, places_left(options));
  } else {
    const TargetScores target = score_target(plan, target_vector, zone);
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

Engine::TargetScores Engine::score_target(const Plan& plan, std::span<const float> target_vector,
                                          const Zone& zone) const {
  const CueView cues{.participants = plan.participants, .locations = plan.locations, .time = plan.time};
  // A target that names nobody may be answered by any unit, by words and vector.
  const bool names_nobody = plan.participants.empty();
  TargetScores scores;
  for (std::size_t i = 0; i < zone.rows.size(); ++i) {
    const Row row = zone.rows[i];
    const auto held = lexical_.terms_of(row).ids;
    double words = 0.0;  // the best that one word of the target is answered, by worth
    for (const TermId term : plan.new_terms) {
      double match = std::binary_search(held.begin(), held.end(), term) ? 1.0 : 0.0;
      for (std::size_t k = 0; k < held.size() && match < 1.0; ++k) {
        const auto a = word_vectors_.vector(term);
        const auto b = word_vectors_.vector(held[k]);
        const double cosine = a.empty() || b.empty() ? 0.0 : std::max(0.0F, dot(a, b));
        match = std::max(match, cosine * cosine);
      }
      words = std::max(words, match * term_worth(term, lexical_, word_vectors_));
    }
    const bool has_vector = vectors_.contains(row);
    const float towards = has_vector && !target_vector.empty() ? vectors_.dot(target_vector, row) : 0.0F;
    const float near = has_vector && vectors_.contains(zone.anchors[i])
                           ? vectors_.dot(vectors_.vector(zone.anchors[i]), row)
                           : 0.0F;
    const double structural = structural_score(cues, cues_.cues(row), options_.edges).value_or(0.0);
    const bool shares_cue = structural > 0.0;
    const float semantic = static_cast<float>(words) / kWorthScale + 0.5F * near + 0.5F * towards;
    scores.semantic.push_back(shares_cue || names_nobody ? semantic : kNaN);
    scores.structural.push_back(shares_cue ? static_cast<float>(structural) : kNaN);
    scores.combined.push_back(semantic);
  }
  return scores;
}

Recalled Engine::expand(const Query& query, FirstRecall first, Plan plan,
                        std::span<const float> target_vector, const Selection& selection,
                        const RecallOptions& options) const {
  const std::shared_lock lock(mutex_);
  return expand_locked(query, std::move(first), {}, std::move(plan), target_vector, allowed_rows(selection),
                       options);
}

Recalled Engine::expand_more(const Query& query, Recalled so_far, Plan plan,
                             std::span<const float> target_vector, const Selection& selection,
                             const RecallOptions& options) const {
  const std::shared_lock lock(mutex_);
  return expand_locked(query, std::move(so_far.first), std::move(so_far.expanded), std::move(plan),
                       target_vector, allowed_rows(selection), options);
}

Recalled Engine::expand_locked(const Query& query, FirstRecall first, Expanded before, Plan plan,
                               std::span<const float> target_vector, const RowMask& allowed,
                               const RecallOptions& options) const {
  Recalled out;
  if (plan.proceeds()) {
    const Expanded more = reach(first, before, plan, target_vector, allowed, options);
    if (more.rows.empty()) {
      plan.reason = StopReason::NoSupport;
    }
    before = in_turn(before, more);
  }
  out.expanded = std::move(before);
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
  const auto taken =
      std::span(out.expanded.rows).first(std::min(out.expanded.rows.size(), places_left(options)));
  FeatureMatrix own = raw_features(seen_by(query, options), taken);
  weigh(own, options.weights);
  float limit = cut;
  std::map<Row, std::size_t> place;  // of an expanded row in `taken`
  std::vector<Row> rows;
  std::vector<float> scores;
  std::vector<FeatureRow> parts;
  std::vector<std::uint8_t> found_by;
  std::vector<std::uint8_t> hops;
  std::vector<Row> parents;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    place[taken[i]] = i;
    // Raised to just under the last kept unit, so that it enters the list and displaces nothing above; those
    // that answer the target less well stand lower.
    limit -= kRaiseStep;
    at(own[i], Feature::Expansion) = std::max(0.0F, limit - total(own[i]));
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
    similarity.push_back(query.vector.empty() || !vectors_.contains(row) ? kNaN
                                                                         : vectors_.dot(query.vector, row));
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

}  // namespace ripple
