#include "ripple/planning.hpp"

#include <algorithm>
#include <unordered_map>

namespace ripple {

double term_worth(TermId term, const LexicalIndex& lexical, const WordVectors& words) {
  return lexical.idf(term) * words.salience(term);
}

namespace {

bool holds(std::span<const std::uint32_t> sorted, std::uint32_t id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

// Of the best units those that hold at least a share of what the best of them holds of the question's words,
// by rarity; the first unit when none holds any. A chance mention further down would hide the gap.
std::vector<Row> choose_anchors(std::span<const TermId> query_terms, std::span<const Row> evidence,
                                const LexicalIndex& lexical, const WordVectors& words,
                                const PlannerOptions& options) {
  const auto candidates = evidence.first(std::min<std::size_t>(evidence.size(), options.anchors_max));
  std::vector<double> gains;
  for (const Row row : candidates) {
    double gain = 0.0;
    for (const TermId term : query_terms) {
      gain += holds(lexical.terms_of(row).ids, term) ? term_worth(term, lexical, words) : 0.0;
    }
    gains.push_back(gain);
  }
  const double best = *std::max_element(gains.begin(), gains.end());
  std::vector<Row> anchors;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (best > 0.0 ? gains[i] >= options.anchor_gain_min * best : i == 0) {
      anchors.push_back(candidates[i]);
    }
  }
  return anchors;
}

// Words of the anchors that the question has not: rare ones first, those that stand in no other unit last.
std::vector<TermId> new_terms(std::span<const TermId> query_terms, std::span<const Row> anchors,
                              const LexicalIndex& lexical, const WordVectors& words,
                              const PlannerOptions& options) {
  std::unordered_map<TermId, double> worth;
  for (const Row row : anchors) {
    for (const TermId term : lexical.terms_of(row).ids) {
      if (!holds(query_terms, term)) {
        worth[term] +=
            term_worth(term, lexical, words) * (lexical.df(term) < 2 ? options.lone_term_weight : 1.0);
      }
    }
  }
  std::vector<std::pair<double, TermId>> order;
  order.reserve(worth.size());
  for (const auto& [term, value] : worth) {
    order.emplace_back(-value, term);
  }
  std::sort(order.begin(), order.end());
  std::vector<TermId> terms;
  for (std::size_t i = 0; i < order.size() && i < options.target_terms_max; ++i) {
    terms.push_back(order[i].second);
  }
  return terms;
}

// The people asked about who speak in no anchor.
std::vector<CueId> missing_people(std::span<const CueId> asked, std::span<const Row> anchors,
                                  const UnitTable& units) {
  std::vector<CueId> missing;
  for (const CueId id : asked) {
    if (std::none_of(anchors.begin(), anchors.end(),
                     [&](Row row) { return units.info(row).speaker == id; })) {
      missing.push_back(id);
    }
  }
  return missing;
}

}  // namespace

Plan plan_by_rules(std::span<const TermId> query_terms, const CueView& query_cues,
                   std::span<const Row> evidence, const LexicalIndex& lexical, const WordVectors& words,
                   const UnitTable& units, const PlannerOptions& options) {
  Plan plan;
  evidence = evidence.first(std::min<std::size_t>(evidence.size(), options.evidence));
  if (evidence.empty()) {
    plan.reason = StopReason::NoEvidence;
    return plan;
  }
  for (const TermId term : query_terms) {
    const bool is_covered = std::any_of(evidence.begin(), evidence.end(),
                                        [&](Row row) { return holds(lexical.terms_of(row).ids, term); });
    if (!is_covered) {
      plan.uncovered.push_back(term);
    }
  }
  std::sort(plan.uncovered.begin(), plan.uncovered.end(), [&](TermId a, TermId b) {
    return lexical.df(a) != lexical.df(b) ? lexical.df(a) < lexical.df(b) : a < b;
  });
  plan.anchors = choose_anchors(query_terms, evidence, lexical, words, options);
  plan.new_terms = new_terms(query_terms, plan.anchors, lexical, words, options);
  plan.participants = missing_people(query_cues.participants, plan.anchors, units);
  plan.time = query_cues.time;
  if (plan.participants.empty()) {
    plan.reason = StopReason::Covered;
  } else if (plan.new_terms.empty()) {
    plan.reason = StopReason::NoTarget;
  }
  return plan;
}

}  // namespace ripple
