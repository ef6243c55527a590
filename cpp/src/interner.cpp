#include "ripple/interner.hpp"

#include <stdexcept>

namespace ripple {

std::uint32_t Interner::intern(std::string_view key) { return intern(key, {}); }

std::uint32_t Interner::intern(std::string_view key, std::string_view display) {
  if (const auto found = ids_.find(key); found != ids_.end()) {
    Slot& slot = slots_[found->second];
    if (slot.display.empty() && display != key) {
      slot.display = display;
    }
    return found->second;
  }
  std::uint32_t id = kNoId;
  if (free_.empty()) {
    if (slots_.size() >= kNoId) {
      throw std::length_error("an interner holds at most 2^32 - 1 strings");
    }
    id = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Slot& slot = slots_[id];
  slot.key = key;
  slot.display = display == key ? std::string_view{} : display;
  slot.is_held = true;
  ids_.emplace(slot.key, id);
  return id;
}

std::uint32_t Interner::find(std::string_view key) const {
  const auto found = ids_.find(key);
  return found == ids_.end() ? kNoId : found->second;
}

std::string_view Interner::name(std::uint32_t id) const {
  return contains(id) ? std::string_view(slots_[id].key) : std::string_view{};
}

std::string_view Interner::display(std::uint32_t id) const {
  if (!contains(id)) {
    return {};
  }
  const Slot& slot = slots_[id];
  return slot.display.empty() ? slot.key : slot.display;
}

void Interner::clear_display(std::uint32_t id) {
  if (contains(id)) {
    slots_[id].display = {};
  }
}

void Interner::erase(std::uint32_t id) {
  if (!contains(id)) {
    return;
  }
  ids_.erase(slots_[id].key);
  slots_[id] = Slot{};
  free_.push_back(id);
}

}  // namespace ripple
