#include "ripple/planning.hpp"

#include <algorithm>
#include <unordered_map>

namespace ripple {

namespace {

bool holds(std::span<const std::uint32_t> sorted, std::uint32_t id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

bool holds_all(std::span<const std::uint32_t> sorted, std::span<const std::uint32_t> wanted) {
  return std::includes(sorted.begin(), sorted.end(), wanted.begin(), wanted.end());
}

// Greedy cover of the question's words, rare words first; a word counts half as much each time it is covered.
std::vector<Row> choose_anchors(std::span<const TermId> query_terms, std::span<const Row> evidence,
                                const LexicalIndex& lexical, const WordVectors& words,
                                const PlannerOptions& options) {
  std::vector<double> worth;
  worth.reserve(query_terms.size());
  for (const TermId term : query_terms) {
    worth.push_back(term_worth(term, lexical, words));
  }
  std::vector<Row> anchors;
  double first_gain = 0.0;
  while (anchors.size() < options.anchors_max) {
    Row best = kNoRow;
    double best_gain = 0.0;
    for (const Row row : evidence) {
      if (std::find(anchors.begin(), anchors.end(), row) != anchors.end()) {
        continue;
      }
      double gain = 0.0;
      for (std::size_t i = 0; i < query_terms.size(); ++i) {
        gain += holds(lexical.terms_of(row).ids, query_terms[i]) ? worth[i] : 0.0;
      }
      if (gain > best_gain) {
        best_gain = gain;
        best = row;
      }
    }
    if (best == kNoRow || best_gain < options.anchor_gain_min * first_gain) {
      break;
    }
    first_gain = anchors.empty() ? best_gain : first_gain;
    anchors.push_back(best);
    for (std::size_t i = 0; i < query_terms.size(); ++i) {
      worth[i] *= holds(lexical.terms_of(best).ids, query_terms[i]) ? 0.5 : 1.0;
    }
  }
  if (anchors.empty()) {
    anchors.push_back(evidence.front());  // the question shares no word with its evidence: its best unit
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
        worth[term] += term_worth(term, lexical, words) * (lexical.df(term) < 2 ? options.lone_term_weight : 1.0);
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

std::vector<CueId> unbound(std::span<const CueId> wanted, std::span<const Row> anchors, const CueIndex& cues,
                           CueKind kind) {
  std::vector<CueId> missing;
  for (const CueId id : wanted) {
    const bool is_bound = std::any_of(anchors.begin(), anchors.end(), [&](Row row) {
      const CueView view = cues.cues(row);
      return holds(kind == CueKind::Participant ? view.participants : view.locations, id);
    });
    if (!is_bound) {
      missing.push_back(id);
    }
  }
  return missing;
}

}  // namespace

double term_worth(TermId term, const LexicalIndex& lexical, const WordVectors& words) {
  return lexical.idf(term) * words.salience(term);
}

Plan plan_by_rules(std::span<const TermId> query_terms, const CueView& query_cues,
                   std::span<const Row> evidence, const LexicalIndex& lexical, const WordVectors& words,
                   const CueIndex& cues, const PlannerOptions& options) {
  Plan plan;
  evidence = evidence.first(std::min<std::size_t>(evidence.size(), options.evidence));
  if (evidence.empty()) {
    plan.reason = StopReason::NoEvidence;
    return plan;
  }
  const bool is_complete = std::any_of(evidence.begin(), evidence.end(), [&](Row row) {
    return holds_all(lexical.terms_of(row).ids, query_terms) &&
           holds_all(cues.cues(row).participants, query_cues.participants);
  });
  if (is_complete && !query_terms.empty()) {
    plan.reason = StopReason::Covered;
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
  plan.participants = unbound(query_cues.participants, plan.anchors, cues, CueKind::Participant);
  if (plan.participants.empty()) {
    plan.participants.assign(query_cues.participants.begin(), query_cues.participants.end());
  }
  plan.locations = unbound(query_cues.locations, plan.anchors, cues, CueKind::Location);
  plan.time = query_cues.time;
  if (plan.uncovered.empty() && plan.new_terms.empty()) {
    plan.reason = StopReason::NoTarget;
  }
  return plan;
}

}  // namespace ripple
