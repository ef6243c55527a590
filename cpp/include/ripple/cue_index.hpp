// Who, where and when of every unit: the postings of participants and locations, and rows in the order of
// time. It gives the candidates for structural edges when a unit is written, and the cue view of first
// recall.
//
// Not locked inside: one writer alone, or many readers side by side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ripple/bitmap.hpp"
#include "ripple/params.hpp"
#include "ripple/row_mask.hpp"
#include "ripple/time_order.hpp"
#include "ripple/types.hpp"

namespace ripple {

class CueIndex {
 public:
  // Takes time_decay_seconds and longest_interval_seconds.
  explicit CueIndex(const EdgeOptions& options = {});

  // Copies the cues. std::invalid_argument, before any change, when ids are not ascending without repeats,
  // the interval is half grounded or ends before it starts, or the row is held already. O(cues) for rows that
  // come in the order of time; a row out of order moves what stands behind it in its postings.
  void add(Row row, const CueView& cues, std::int64_t said_at);

  // Nothing happens when the row is not held. Moves what stands behind the row in its postings.
  void remove(Row row);

  [[nodiscard]] bool contains(Row row) const { return row < records_.size() && records_[row].is_held; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // The rows with the cue; empty for a cue that no row has.
  [[nodiscard]] const RoaringBitmap& postings(CueKind kind, CueId id) const;
  [[nodiscard]] std::uint32_t count(CueKind kind, CueId id) const;

  // Valid until the next add or remove; empty, not grounded and kNoTime when the row is not held.
  [[nodiscard]] CueView cues(Row row) const;
  [[nodiscard]] std::int64_t said_at(Row row) const;

  // RippleMem 1.1: rows that could share a structural edge with a unit of these cues, the likeliest first: by
  // the rarest cue they share (count up, then kind, then id), then nearer in time (by T where both have it,
  // else by said_at), then said later, then the higher row; after them rows that share no cue, by T alone. At
  // most options.candidates. Looks at no more than options.steps_max postings, whatever a cue's size: within
  // that it is exact, beyond it the best of what a walk outward from the unit's time has met. `self` may be
  // kNoRow.
  [[nodiscard]] std::vector<Row> candidates(const CueView& cues, std::int64_t said_at, Row self,
                                            const RowMask& allowed, const CueWalkOptions& options = {}) const;

  // The cue view of first recall: the k allowed rows that match the query best. The score is the sum of ln(1
  // + N/count) over the participants and locations shared, plus exp(-gap / decay) when both have a time (1
  // when they intersect). Score down, then said later, then the higher row. Exact. Stops as soon as what is
  // left cannot enter: O(k) postings for one cue of any size without a filter, O(the postings of all but the
  // commonest cue + k) for several; in the worst case (cues that are all common and hardly ever occur
  // together, or a narrow filter) O(postings of the query's cues).
  [[nodiscard]] std::vector<ScoredRow> search(const CueView& query, std::size_t k,
                                              const RowMask& allowed) const;

 private:
  static void check_cues(const CueView& cues);
  struct Record {
    std::size_t offset = 0;  // of its ids in ids_: participants, then locations
    std::uint32_t participants = 0;
    std::uint32_t locations = 0;
    TimeInterval time;
    std::int64_t said_at = kNoTime;
    bool is_held = false;
  };
  // The rows of one cue, or of all units that have a time, in both orders.
  struct TimeLists {
    TimeOrder said;       // every row
    IntervalOrder timed;  // rows whose time counts
  };
  struct Postings {
    RoaringBitmap rows;
    TimeLists times;
  };
  struct QueryCue {
    CueKind kind;
    CueId id;
    const Postings* postings;
  };
  class CandidateWalk;
  class ViewSearch;

  [[nodiscard]] static CueView view(const Record& record, std::span<const CueId> ids);
  [[nodiscard]] bool has_time(const TimeInterval& time) const;
  [[nodiscard]] const Postings* find(CueKind kind, CueId id) const;
  // The query's cues that have postings, rarest first.
  [[nodiscard]] std::vector<QueryCue> held_cues(const CueView& query) const;
  [[nodiscard]] bool has_cue(Row row, const QueryCue& cue) const;
  template <class Change>
  void for_each_list(Row row, Change&& change);
  void compact_ids();

  std::int64_t time_decay_seconds_;
  std::int64_t longest_interval_seconds_;
  std::vector<Record> records_;
  std::vector<CueId> ids_;
  std::size_t dead_ids_ = 0;
  std::array<std::unordered_map<CueId, Postings>, kCueKinds> postings_;
  TimeLists all_timed_;
  std::size_t size_ = 0;
};

}  // namespace ripple
