// Strings to dense ids and back. Used for terms, participants and locations; keys come normalised (text.hpp).
// An erased id is given out again, so an id means something only while its string is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ripple/types.hpp"

namespace ripple {

// Not internally locked: one writer or many readers. Views that name() and display() return live until the id
// is erased; adding strings does not move them.
class Interner {
 public:
  Interner() = default;
  Interner(const Interner&) = delete;  // the map holds views into the slots
  Interner& operator=(const Interner&) = delete;
  Interner(Interner&&) = delete;
  Interner& operator=(Interner&&) = delete;

  // The id of key, new when it was not held. O(|key|) on average.
  std::uint32_t intern(std::string_view key);

  // As above, and keeps the form as written; the first form wins.
  std::uint32_t intern(std::string_view key, std::string_view display);

  // kNoId when key is not held.
  [[nodiscard]] std::uint32_t find(std::string_view key) const;

  // Empty for an id that is not held; so is display().
  [[nodiscard]] std::string_view name(std::uint32_t id) const;

  // The form as written, or the key when none was given.
  [[nodiscard]] std::string_view display(std::uint32_t id) const;

  // Forgets the form as written; the next intern() with one sets it anew.
  void clear_display(std::uint32_t id);

  // Forgets both strings; the id is free for reuse. Nothing happens when id is not held.
  void erase(std::uint32_t id);

  [[nodiscard]] bool contains(std::uint32_t id) const { return id < slots_.size() && slots_[id].is_held; }

  // Strings held.
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

  // One past the largest id ever given.
  [[nodiscard]] std::size_t id_limit() const { return slots_.size(); }

 private:
  struct Slot {
    std::string key;
    std::string display;
    bool is_held = false;
  };

  std::deque<Slot> slots_;  // a deque: the map's keys are views of the slots' strings, which must not move
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  std::vector<std::uint32_t> free_;
};

}  // namespace ripple
