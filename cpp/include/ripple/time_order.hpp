// Rows ordered by a time, for walks outward from a moment. Two forms: by one moment, and by the start of an
// interval. Insertion at the end is O(1) amortised, elsewhere O(rows behind it); so is removal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ripple/types.hpp"

namespace ripple {

// Rows by moment, then row, both ascending; kNoTime stands first.
class TimeOrder {
 public:
  struct Entry {
    std::int64_t time;
    Row row;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] Entry operator[](std::size_t position) const { return {times_[position], rows_[position]}; }

  // The number of entries that stand before, or at, the moment.
  [[nodiscard]] std::size_t count_until(std::int64_t time) const;

  std::size_t insert(Entry entry);  // returns its position
  std::size_t erase(Entry entry);   // the position it had; precondition: it is held

 private:
  [[nodiscard]] std::size_t lower_bound(Entry entry) const;

  std::vector<std::int64_t> times_;
  std::vector<Row> rows_;
};

// Rows by the start of their interval, with what a walk towards the past needs to know when it can stop.
class IntervalOrder {
 public:
  [[nodiscard]] std::size_t size() const { return starts_.size(); }
  [[nodiscard]] TimeOrder::Entry operator[](std::size_t position) const { return starts_[position]; }
  [[nodiscard]] TimeInterval interval(std::size_t position) const {
    return {starts_[position].time, ends_[position]};
  }
  [[nodiscard]] std::size_t count_until(std::int64_t time) const { return starts_.count_until(time); }

  // The latest end among the entries 0..position.
  [[nodiscard]] std::int64_t latest_end(std::size_t position) const { return latest_ends_[position]; }

  void insert(const TimeInterval& interval, Row row);
  void erase(const TimeInterval& interval, Row row);

 private:
  void update_latest_ends(std::size_t position);

  TimeOrder starts_;
  std::vector<std::int64_t> ends_;
  std::vector<std::int64_t> latest_ends_;
};

// Visits the entries of a TimeOrder from a moment outward, nearest first; from an unknown moment, latest
// first.
class MomentWalk {
 public:
  MomentWalk(const TimeOrder& order, std::int64_t from);

  [[nodiscard]] bool is_done() const { return left_ == 0 && right_ == order_->size(); }
  [[nodiscard]] std::uint64_t next_gap() const;  // precondition of both: not done
  [[nodiscard]] TimeOrder::Entry peek() const;   // the entry that next() will give
  TimeOrder::Entry next();

 private:
  [[nodiscard]] bool goes_right() const;

  const TimeOrder* order_;
  std::int64_t from_;
  std::size_t left_;  // entries left_..right_-1 were visited
  std::size_t right_;
};

// Visits the entries of an IntervalOrder from an interval outward. The gap of what is still to come never
// falls below next_gap(); single gaps may come out of order where long intervals lie among short ones.
class IntervalWalk {
 public:
  IntervalWalk(const IntervalOrder& order, const TimeInterval& from);

  [[nodiscard]] bool is_done() const { return next_gap_ == kFarGap; }
  [[nodiscard]] std::uint64_t next_gap() const { return next_gap_; }  // kFarGap when done
  std::size_t next();                                                 // a position; precondition: not done
  [[nodiscard]] bool has_visited(TimeOrder::Entry entry) const;       // of an entry of this order

 private:
  void look_ahead();

  const IntervalOrder* order_;
  TimeInterval from_;
  std::size_t left_;  // entries left_..right_-1 were visited
  std::size_t right_;
  bool goes_right_ = false;
  std::uint64_t next_gap_ = kFarGap;
};

}  // namespace ripple
