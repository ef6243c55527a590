#include "ripple/cue_index.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "ripple/topk.hpp"

namespace ripple {
namespace {

const RoaringBitmap& empty_bitmap() {
  static const RoaringBitmap empty;
  return empty;
}

// A unit met by the walk for candidates.
struct Neighbour {
  std::uint64_t gap;
  std::int64_t said_at;
  Row row;
};

bool is_nearer(const Neighbour& a, const Neighbour& b) {
  if (a.gap != b.gap) {
    return a.gap < b.gap;
  }
  return a.said_at != b.said_at ? a.said_at > b.said_at : a.row > b.row;
}

}  // namespace

void CueIndex::check_cues(const CueView& cues) {
  for (const auto ids : {cues.participants, cues.locations}) {
    if (std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) != ids.end()) {
      throw std::invalid_argument("cue ids must ascend without repeats");
    }
  }
  const auto [start, end] = cues.time;
  if ((start == kNoTime) != (end == kNoTime) || start > end) {
    throw std::invalid_argument("time interval [" + std::to_string(start) + ", " + std::to_string(end) +
                                "] must start no later than it ends, or have neither end");
  }
}

CueIndex::CueIndex(const EdgeOptions& options)
    : time_decay_seconds_(options.time_decay_seconds),
      longest_interval_seconds_(options.longest_interval_seconds) {
  if (time_decay_seconds_ <= 0) {
    throw std::invalid_argument("time_decay_seconds is " + std::to_string(time_decay_seconds_) +
                                "; it must be above 0");
  }
}

template <class Change>
void CueIndex::for_each_list(Row row, Change&& change) {
  const Record& record = records_[row];
  const CueView held = view(record, ids_);
  for (const CueId id : held.participants) {
    change(CueKind::Participant, id);
  }
  for (const CueId id : held.locations) {
    change(CueKind::Location, id);
  }
}

void CueIndex::add(Row row, const CueView& cues, std::int64_t said_at) {
  check_cues(cues);
  if (row == kNoRow || contains(row)) {
    throw std::invalid_argument("row " + std::to_string(row) + " cannot be added: it " +
                                (row == kNoRow ? "is no row" : "has cues already"));
  }
  if (row >= records_.size()) {
    records_.resize(row + std::size_t{1});
  }
  records_[row] = {.offset = ids_.size(),
                   .participants = static_cast<std::uint32_t>(cues.participants.size()),
                   .locations = static_cast<std::uint32_t>(cues.locations.size()),
                   .time = cues.time,
                   .said_at = said_at,
                   .is_held = true};
  // Made apart first: the cues may be another row's, which lie in ids_.
  std::vector<CueId> ids(cues.participants.begin(), cues.participants.end());
  ids.insert(ids.end(), cues.locations.begin(), cues.locations.end());
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  const bool is_timed = has_time(cues.time);
  const auto enter = [&](TimeLists& lists) {
    lists.said.insert({said_at, row});
    if (is_timed) {
      lists.timed.insert(cues.time, row);
    }
  };
  for_each_list(row, [&](CueKind kind, CueId id) {
    Postings& postings = postings_[static_cast<std::size_t>(kind)][id];
    postings.rows.add(row);
    enter(postings.times);
  });
  if (is_timed) {
    enter(all_timed_);
  }
  ++size_;
}

void CueIndex::remove(Row row) {
  if (!contains(row)) {
    return;
  }
  const TimeInterval time = records_[row].time;
  const std::int64_t said_at = records_[row].said_at;
  const bool is_timed = has_time(time);
  const auto leave = [&](TimeLists& lists) {
    lists.said.erase({said_at, row});
    if (is_timed) {
      lists.timed.erase(time, row);
    }
  };
  for_each_list(row, [&](CueKind kind, CueId id) {
    auto& lists = postings_[static_cast<std::size_t>(kind)];
    const auto postings = lists.find(id);
    postings->second.rows.remove(row);
    leave(postings->second.times);
    if (postings->second.times.said.size() == 0) {
      lists.erase(postings);
    }
  });
  if (is_timed) {
    leave(all_timed_);
  }
  dead_ids_ += std::size_t{records_[row].participants} + records_[row].locations;
  records_[row] = {};
  --size_;
  if (dead_ids_ > 4'096 && dead_ids_ > ids_.size() / 2) {
    compact_ids();
  }
}

void CueIndex::compact_ids() {
  std::vector<CueId> kept;
  kept.reserve(ids_.size() - dead_ids_);
  for (Record& record : records_) {
    const auto first = ids_.begin() + static_cast<std::ptrdiff_t>(record.offset);
    record.offset = kept.size();
    kept.insert(kept.end(), first, first + record.participants + record.locations);
  }
  ids_ = std::move(kept);
  dead_ids_ = 0;
}

CueView CueIndex::view(const Record& record, std::span<const CueId> ids) {
  const auto held = ids.subspan(record.offset, std::size_t{record.participants} + record.locations);
  return {held.first(record.participants), held.last(record.locations), record.time};
}

CueView CueIndex::cues(Row row) const { return contains(row) ? view(records_[row], ids_) : CueView{}; }

std::int64_t CueIndex::said_at(Row row) const { return contains(row) ? records_[row].said_at : kNoTime; }

bool CueIndex::has_time(const TimeInterval& time) const {
  return time.is_grounded() &&
         static_cast<std::uint64_t>(time.end) - static_cast<std::uint64_t>(time.start) <=
             static_cast<std::uint64_t>(longest_interval_seconds_);
}

const CueIndex::Postings* CueIndex::find(CueKind kind, CueId id) const {
  const auto& lists = postings_[static_cast<std::size_t>(kind)];
  const auto found = lists.find(id);
  return found == lists.end() ? nullptr : &found->second;
}

const RoaringBitmap& CueIndex::postings(CueKind kind, CueId id) const {
  const Postings* found = find(kind, id);
  return found == nullptr ? empty_bitmap() : found->rows;
}

std::uint32_t CueIndex::count(CueKind kind, CueId id) const {
  const Postings* found = find(kind, id);
  return found == nullptr ? 0 : static_cast<std::uint32_t>(found->times.said.size());
}

std::vector<CueIndex::QueryCue> CueIndex::held_cues(const CueView& query) const {
  std::vector<QueryCue> held;
  const auto collect = [&](CueKind kind, std::span<const CueId> ids) {
    for (const CueId id : ids) {
      if (const Postings* found = find(kind, id); found != nullptr) {
        held.push_back({kind, id, found});
      }
    }
  };
  collect(CueKind::Participant, query.participants);
  collect(CueKind::Location, query.locations);
  // Stable: of equal counts, participants first, then by id.
  std::stable_sort(held.begin(), held.end(), [](const QueryCue& a, const QueryCue& b) {
    return a.postings->times.said.size() < b.postings->times.said.size();
  });
  return held;
}

bool CueIndex::has_cue(Row row, const QueryCue& cue) const {
  const CueView held = cues(row);
  const auto ids = cue.kind == CueKind::Participant ? held.participants : held.locations;
  return std::binary_search(ids.begin(), ids.end(), cue.id);
}

// Lists are walked rarest cue first, and a row belongs to the first list that holds it: met again in a later
// one, it was either chosen already or had no chance.
class CueIndex::CandidateWalk {
 public:
  CandidateWalk(const CueIndex& index, const CueView& cues, std::int64_t said_at, Row self,
                const RowMask& allowed, const CueWalkOptions& options)
      : index_(index),
        cues_(index.held_cues(cues)),
        said_at_(said_at),
        self_(self),
        allowed_(allowed),
        options_(options),
        steps_left_(options.steps_max) {
    if (index.has_time(cues.time)) {
      time_ = cues.time;
    }
  }

  std::vector<Row> run() {
    for (std::size_t rank = 0; rank < cues_.size(); ++rank) {
      walk(cues_[rank].postings->times, rank);
    }
    if (time_) {
      walk(index_.all_timed_, cues_.size());
    }
    return std::move(chosen_);
  }

 private:
  // Units that both have a time are compared by it, all others by when they were said.
  void walk(const TimeLists& lists, std::size_t rank) {
    TopBy<Neighbour, is_nearer> nearest(options_.candidates - chosen_.size());
    static const IntervalOrder nothing;
    const TimeInterval time = time_.value_or(TimeInterval{});
    IntervalWalk timed(time_ ? lists.timed : nothing, time);
    static const TimeOrder nothing_said;
    MomentWalk said(rank < cues_.size() ? lists.said : nothing_said, said_at_);
    for (; steps_left_ > 0 && !(timed.is_done() && said.is_done()); --steps_left_) {
      const std::uint64_t said_gap = said.is_done() ? kFarGap : said.next_gap();
      if (nearest.is_closed_to(bound(timed, said, said_gap))) {
        break;
      }
      if (!timed.is_done() && timed.next_gap() <= said_gap) {
        const std::size_t position = timed.next();
        consider(lists.timed[position].row, rank, gap_seconds(lists.timed.interval(position), time), nearest);
      } else if (const Row row = said.next().row; !time_ || !index_.has_time(index_.records_[row].time)) {
        consider(row, rank, said_gap, nearest);
      }
    }
    for (const Neighbour& neighbour : nearest.take()) {
      chosen_.push_back(neighbour.row);
    }
  }

  // No row that is still to come stands before it. Unknown gaps come last, and then latest first.
  static Neighbour bound(const IntervalWalk& timed, const MomentWalk& said, std::uint64_t said_gap) {
    if (timed.is_done() && said_gap == kFarGap) {
      const auto [time, row] = said.peek();
      return {kFarGap, time, row};
    }
    return {std::min(timed.next_gap(), said_gap), std::numeric_limits<std::int64_t>::max(), kNoRow};
  }

  void consider(Row row, std::size_t rank, std::uint64_t gap, TopBy<Neighbour, is_nearer>& nearest) const {
    if (row == self_ || !allowed_.test(row)) {
      return;
    }
    for (std::size_t rarer = 0; rarer < rank; ++rarer) {
      if (index_.has_cue(row, cues_[rarer])) {
        return;
      }
    }
    nearest.push({gap, index_.records_[row].said_at, row});
  }

  const CueIndex& index_;
  std::vector<QueryCue> cues_;
  std::optional<TimeInterval> time_;
  std::int64_t said_at_;
  Row self_;
  const RowMask& allowed_;
  CueWalkOptions options_;
  std::uint32_t steps_left_;
  std::vector<Row> chosen_;
};

std::vector<Row> CueIndex::candidates(const CueView& cues, std::int64_t said_at, Row self,
                                      const RowMask& allowed, const CueWalkOptions& options) const {
  check_cues(cues);
  return CandidateWalk(*this, cues, said_at, self, allowed, options).run();
}

}  // namespace ripple
