#include "ripple/unit_table.hpp"

#include <stdexcept>

namespace ripple {

Row UnitTable::add(const UnitInfo& info) {
  if (infos_.size() >= kNoRow) {
    throw std::out_of_range("the namespace holds 2^32 - 1 units; no more can be added");
  }
  const auto row = static_cast<Row>(infos_.size());
  infos_.push_back(info);
  previous_.push_back(kNoRow);
  next_.push_back(kNoRow);
  context_previous_.push_back(kNoRow);
  context_next_.push_back(kNoRow);
  living_.set(row);
  return row;
}

Row UnitTable::last_before(SessionId session, std::int64_t said_at) const {
  const auto found = last_.find(session);
  Row at = found == last_.end() ? kNoRow : found->second;
  while (said_at != kNoTime && at != kNoRow && infos_[at].said_at > said_at) {
    at = previous_[at];
  }
  return at;
}

void UnitTable::reveal(Row row) {
  if (visible_.test(row) || !living_.test(row)) {
    return;
  }
  const UnitInfo& info = infos_[row];
  const Row before = last_before(info.session, info.said_at);
  if (before == kNoRow) {
    // First of its session, or earlier than all of it: walk to the session's present first row.
    const auto found = last_.find(info.session);
    Row first = found == last_.end() ? kNoRow : found->second;
    while (first != kNoRow && previous_[first] != kNoRow) {
      first = previous_[first];
    }
    next_[row] = first;
  } else {
    next_[row] = next_[before];
    next_[before] = row;
    previous_[row] = before;
  }
  if (next_[row] == kNoRow) {
    last_[info.session] = row;
  } else {
    previous_[next_[row]] = row;
  }
  visible_.set(row);
  update_context(row);
}

void UnitTable::update_context(Row row) {
  const auto spoken = [this](Row other) { return other != kNoRow && infos_[other].speaker != kNoId; };
  for (const Row other : {previous_[row], row, next_[row]}) {
    if (other != kNoRow) {
      const bool speaks = spoken(other);
      context_previous_[other] = speaks && spoken(previous_[other]) ? previous_[other] : kNoRow;
      context_next_[other] = speaks && spoken(next_[other]) ? next_[other] : kNoRow;
    }
  }
}

void UnitTable::remove(Row row) {
  if (row >= infos_.size() || !living_.test(row)) {
    return;
  }
  const Row before = previous_[row];
  const Row after = next_[row];
  if (before != kNoRow) {
    next_[before] = after;
  }
  if (after != kNoRow) {
    previous_[after] = before;
  }
  if (visible_.test(row) && after == kNoRow) {
    if (before == kNoRow) {
      last_.erase(infos_[row].session);
    } else {
      last_[infos_[row].session] = before;
    }
  }
  previous_[row] = kNoRow;
  next_[row] = kNoRow;
  context_previous_[row] = kNoRow;
  context_next_[row] = kNoRow;
  for (const Row end : {before, after}) {
    if (end != kNoRow) {
      update_context(end);
    }
  }
  infos_[row] = UnitInfo{};
  visible_.reset(row);
  living_.reset(row);
}

}  // namespace ripple
