// Which edges a new unit asks for (RippleMem 1.1), and what decides between equals at a full unit.
#include <algorithm>

#include "ripple/edge_scoring.hpp"
#include "ripple/engine.hpp"

namespace ripple {

Row Engine::session_predecessor(Row row) const {
  const UnitInfo& info = units_.info(row);
  Row before = units_.last_before(info.session, info.said_at);
  while (before != kNoRow && is_turn(before)) {
    before = units_.links().previous[before];
  }
  for (const Row other : staged_rows_) {
    const UnitInfo& staged = units_.info(other);
    if (other == row || staged.session != info.session ||
        (info.said_at != kNoTime && staged.said_at > info.said_at)) {
      continue;
    }
    if (before == kNoRow || staged.said_at >= units_.info(before).said_at) {
      before = other;
    }
  }
  return before;
}

EdgeTie Engine::tie(Row a, Row b, EdgeKind kind) const {
  EdgeTie tie{.sharing_units = kNoId, .gap_seconds = gap_seconds(cues_.said_at(a), cues_.said_at(b))};
  if (kind == EdgeKind::Structural) {
    const CueView left = cues_.cues(a);
    const CueView right = cues_.cues(b);
    const auto count = [&](CueKind cue) { return [this, cue](CueId id) { return cues_.count(cue, id); }; };
    tie.sharing_units =
        std::min(rarest_shared(left.participants, right.participants, count(CueKind::Participant)),
                 rarest_shared(left.locations, right.locations, count(CueKind::Location)));
  } else if (kind == EdgeKind::Term) {
    tie.sharing_units = rarest_shared(lexical_.terms_of(a).ids, lexical_.terms_of(b).ids, [&](TermId id) {
      return static_cast<std::uint32_t>(lexical_.postings(id).size());
    });
  }
  return tie;
}

bool Engine::is_turn(Row row) const { return (units_.info(row).flags & kIsTurn) != 0; }

std::vector<EdgeCandidate> Engine::edge_candidates(Row row) const {
  const EdgeOptions& edges = options_.edges;
  std::vector<EdgeCandidate> out;
  if (is_turn(row)) {
    return out;
  }
  std::vector<Row> near;
  if (vectors_.contains(row)) {
    for (const ScoredRow& hit :
         vectors_.search(vectors_.vector(row), edges.semantic_candidates + 1, units_.living())) {
      if (hit.row != row) {
        near.push_back(hit.row);
        if (hit.score >= edges.semantic_threshold) {
          out.push_back({hit.row, EdgeKind::Semantic, std::min(hit.score, 1.0F)});
        }
      }
    }
  }
  const CueView cues = cues_.cues(row);
  for (const Row other :
       cues_.candidates(cues, cues_.said_at(row), row, units_.living(), options_.cue_walk)) {
    near.push_back(other);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  for (const Row other : near) {
    if (other != row && is_structural_edge(cues, cues_.cues(other), edges)) {
      const double score = structural_score(cues, cues_.cues(other), edges).value_or(0.0);
      out.push_back({other, EdgeKind::Structural, static_cast<float>(score)});
    }
  }
  std::vector<Row> sharing;
  for (const TermId term : lexical_.terms_of(row).ids) {
    const auto postings = lexical_.postings(term);
    if (postings.size() >= edges.term_units_min && postings.size() <= edges.term_units_max) {
      for (const Posting& posting : postings) {
        sharing.push_back(posting.row);
      }
    }
  }
  std::sort(sharing.begin(), sharing.end());
  sharing.erase(std::unique(sharing.begin(), sharing.end()), sharing.end());
  for (const Row other : sharing) {
    if (other != row) {
      out.push_back({other, EdgeKind::Term, edges.term_weight});
    }
  }
  if (const Row before = session_predecessor(row); before != kNoRow) {
    out.push_back({before, EdgeKind::Sequence, edges.sequence_weight});
  }
  std::erase_if(out, [this](const EdgeCandidate& candidate) { return is_turn(candidate.other); });
  return out;
}

}  // namespace ripple
