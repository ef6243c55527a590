// The rule planner: what of the question is not covered by what was recalled, from which recalled units to
// look further, and for what. The stand-in for a model's recall planner (RippleMem 1.2) and what its failure
// falls back to.
//
// The paper's planner is a model; the rules here are ours. An anchor is one of the best recalled units that
// holds the rare words of the question. The gap are the people whom the question names and who speak in no
// anchor. The target is something of them about what the anchors bring and the question has not. Without such
// a person there is no gap that a rule could name, and recall stops: expansion then costs places and finds
// nothing (measured on LoCoMo: -.010 of recall@30 where it may take the last fifth whatever is asked).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ripple/lexical_index.hpp"
#include "ripple/params.hpp"
#include "ripple/types.hpp"
#include "ripple/unit_table.hpp"
#include "ripple/word_vectors.hpp"

namespace ripple {

enum class StopReason : std::uint8_t {
  None,        // goes on
  NoEvidence,  // nothing was recalled
  Covered,     // no one whom the question names is missing among those who speak in the anchors
  NoTarget,    // nothing is missing that could be named
  NoSupport,   // expansion reached nothing new
  Disabled,    // expansion was switched off
};

struct Plan {
  StopReason reason = StopReason::None;
  std::vector<Row> anchors;
  std::vector<TermId> uncovered;    // words of the question that no evidence holds, rarest first
  std::vector<TermId> new_terms;    // words that the anchors bring, best first
  std::vector<CueId> participants;  // of the target
  std::vector<CueId> locations;
  TimeInterval time;

  [[nodiscard]] bool proceeds() const { return reason == StopReason::None; }
};

// What a word is worth to plan and target: its rarity here times how much it says anywhere.
[[nodiscard]] double term_worth(TermId term, const LexicalIndex& lexical, const WordVectors& words);

// evidence: recalled rows, best first; only the first options.evidence are read.
// O(evidence x words of a unit). Reads only; may run beside other readers.
[[nodiscard]] Plan plan_by_rules(std::span<const TermId> query_terms, const CueView& query_cues,
                                 std::span<const Row> evidence, const LexicalIndex& lexical,
                                 const WordVectors& words, const UnitTable& units,
                                 const PlannerOptions& options);

}  // namespace ripple
