#include "ripple/time_order.hpp"

#include <algorithm>
#include <cassert>

namespace ripple {
std::size_t TimeOrder::lower_bound(Entry entry) const {
  std::size_t first = 0;
  // Most insertions belong at the end.
  if (!rows_.empty() && (*this)[size() - 1] < entry) {
    return size();
  }
  for (std::size_t last = size(); first < last;) {
    const std::size_t middle = first + (last - first) / 2;
    if ((*this)[middle] < entry) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

std::size_t TimeOrder::count_until(std::int64_t time) const {
  return static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), time) - times_.begin());
}

std::size_t TimeOrder::insert(Entry entry) {
  const std::size_t position = lower_bound(entry);
  const auto offset = static_cast<std::ptrdiff_t>(position);
  times_.insert(times_.begin() + offset, entry.time);
  rows_.insert(rows_.begin() + offset, entry.row);
  return position;
}

std::size_t TimeOrder::erase(Entry entry) {
  const std::size_t position = lower_bound(entry);
  assert(position < size() && (*this)[position] == entry);
  const auto offset = static_cast<std::ptrdiff_t>(position);
  times_.erase(times_.begin() + offset);
  rows_.erase(rows_.begin() + offset);
  return position;
}

void IntervalOrder::insert(const TimeInterval& interval, Row row) {
  const std::size_t position = starts_.insert({interval.start, row});
  const auto offset = static_cast<std::ptrdiff_t>(position);
  ends_.insert(ends_.begin() + offset, interval.end);
  latest_ends_.insert(latest_ends_.begin() + offset, interval.end);
  update_latest_ends(position);
}

void IntervalOrder::erase(const TimeInterval& interval, Row row) {
  const std::size_t position = starts_.erase({interval.start, row});
  const auto offset = static_cast<std::ptrdiff_t>(position);
  ends_.erase(ends_.begin() + offset);
  latest_ends_.erase(latest_ends_.begin() + offset);
  update_latest_ends(position);
}

// From the changed position on, until a value stays as it was: what follows then stays too.
void IntervalOrder::update_latest_ends(std::size_t position) {
  for (std::size_t i = position; i < ends_.size(); ++i) {
    const std::int64_t latest = i == 0 ? ends_[i] : std::max(ends_[i], latest_ends_[i - 1]);
    if (i > position && latest_ends_[i] == latest) {
      return;
    }
    latest_ends_[i] = latest;
  }
}

MomentWalk::MomentWalk(const TimeOrder& order, std::int64_t from)
    : order_(&order),
      from_(from),
      left_(from == kNoTime ? order.size() : order.count_until(from)),
      right_(left_) {}

// Of two equally near, the later one.
bool MomentWalk::goes_right() const {
  return left_ == 0 || (right_ < order_->size() && gap_seconds((*order_)[right_].time, from_) <=
                                                       gap_seconds((*order_)[left_ - 1].time, from_));
}

TimeOrder::Entry MomentWalk::peek() const { return (*order_)[goes_right() ? right_ : left_ - 1]; }

std::uint64_t MomentWalk::next_gap() const { return gap_seconds(peek().time, from_); }

TimeOrder::Entry MomentWalk::next() {
  assert(!is_done());
  return (*order_)[goes_right() ? right_++ : --left_];
}

IntervalWalk::IntervalWalk(const IntervalOrder& order, const TimeInterval& from)
    : order_(&order), from_(from), left_(order.count_until(from.end)), right_(left_) {
  look_ahead();
}

void IntervalWalk::look_ahead() {
  next_gap_ = kFarGap;
  if (left_ > 0) {
    const std::int64_t end = order_->latest_end(left_ - 1);
    next_gap_ = end >= from_.start ? 0 : gap_seconds(from_.start, end);
    goes_right_ = false;
  }
  if (right_ < order_->size()) {
    if (const std::uint64_t gap = gap_seconds((*order_)[right_].time, from_.end); gap < next_gap_) {
      next_gap_ = gap;
      goes_right_ = true;
    }
  }
}

std::size_t IntervalWalk::next() {
  assert(!is_done());
  const std::size_t position = goes_right_ ? right_++ : --left_;
  look_ahead();
  return position;
}

bool IntervalWalk::has_visited(TimeOrder::Entry entry) const {
  return left_ < right_ && (*order_)[left_] <= entry && entry <= (*order_)[right_ - 1];
}

}  // namespace ripple
