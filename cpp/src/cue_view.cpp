// The cue view of first recall: the search half of the cue index.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ripple/cue_index.hpp"
#include "ripple/topk.hpp"

namespace ripple {
namespace {

// A unit met by the search of the cue view.
struct Match {
  float score;
  std::int64_t said_at;
  Row row;
};

bool matches_better(const Match& a, const Match& b) {
  if (a.score != b.score) {
    return a.score > b.score;
  }
  return a.said_at != b.said_at ? a.said_at > b.said_at : a.row > b.row;
}

}  // namespace

// Two walks through a list at once, latest said first and nearest in time first: what neither has met can
// score no better than the list's rarity, those of commoner cues that meet it, and the next gap's share.
class CueIndex::ViewSearch {
 public:
  ViewSearch(const CueIndex& index, const CueView& query, std::size_t k, const RowMask& allowed)
      : index_(index), cues_(index.held_cues(query)), allowed_(allowed), best_(k) {
    if (index.has_time(query.time)) {
      time_ = query.time;
    }
    for (const QueryCue& cue : cues_) {
      const auto count = static_cast<double>(cue.postings->times.said.size());
      rarities_.push_back(std::log(1.0 + static_cast<double>(index.size()) / count));
    }
  }

  std::vector<ScoredRow> run() {
    for (std::size_t rank = 0; rank < cues_.size(); ++rank) {
      walk(cues_[rank].postings->times, rank);
    }
    if (time_) {
      walk(index_.all_timed_, cues_.size());
    }
    std::vector<ScoredRow> ranked;
    for (const Match& match : best_.take()) {
      ranked.push_back({match.row, match.score});
    }
    return ranked;
  }

 private:
  void walk(const TimeLists& lists, std::size_t rank) {
    static const IntervalOrder nothing;
    IntervalWalk timed(time_ ? lists.timed : nothing, time_.value_or(TimeInterval{}));
    const double rarity_bound = bound_rarity(rank);
    for (std::size_t unsaid = lists.said.size(); unsaid > 0;) {
      const TimeOrder::Entry latest = lists.said[unsaid - 1];
      // The next gap may lie past what the decay can tell from 0; summed in the order of score(), so never
      // below it.
      const auto bound = static_cast<float>(rarity_bound + (timed.is_done() ? 0.0 : decay(timed.next_gap())));
      if (best_.is_closed_to({bound, latest.time, latest.row})) {
        return;
      }
      --unsaid;
      const TimeInterval time = index_.records_[latest.row].time;
      if (!index_.has_time(time) || !timed.has_visited({time.start, latest.row})) {
        consider(latest.row, rank);
      }
      if (!timed.is_done()) {
        const Row row = lists.timed[timed.next()].row;
        if (TimeOrder::Entry{index_.records_[row].said_at, row} < lists.said[unsaid]) {
          consider(row, rank);
        }
      }
    }
  }

  // The list's own rarity and those of the commoner cues that share a row with it.
  [[nodiscard]] double bound_rarity(std::size_t rank) const {
    double sum = 0.0;
    for (std::size_t cue = rank; cue < cues_.size(); ++cue) {
      if (cue == rank || cues_[cue].postings->rows.intersects(cues_[rank].postings->rows)) {
        sum += rarities_[cue];
      }
    }
    return sum;
  }

  [[nodiscard]] double decay(std::uint64_t gap) const {
    return std::exp(-static_cast<double>(gap) / static_cast<double>(index_.time_decay_seconds_));
  }

  // Rows that a rarer list holds were met there, or had no chance.
  void consider(Row row, std::size_t rank) {
    if (!allowed_.test(row)) {
      return;
    }
    double sum = 0.0;
    for (std::size_t cue = 0; cue < cues_.size(); ++cue) {
      if (index_.has_cue(row, cues_[cue])) {
        if (cue < rank) {
          return;
        }
        sum += rarities_[cue];
      }
    }
    const Record& record = index_.records_[row];
    if (time_ && index_.has_time(record.time)) {
      sum += decay(gap_seconds(record.time, *time_));
    }
    best_.push({static_cast<float>(sum), record.said_at, row});
  }

  const CueIndex& index_;
  std::vector<QueryCue> cues_;
  std::vector<double> rarities_;
  std::optional<TimeInterval> time_;
  const RowMask& allowed_;
  TopBy<Match, matches_better> best_;
};

std::vector<ScoredRow> CueIndex::search(const CueView& query, std::size_t k, const RowMask& allowed) const {
  check_cues(query);
  return ViewSearch(*this, query, k, allowed).run();
}

}  // namespace ripple
