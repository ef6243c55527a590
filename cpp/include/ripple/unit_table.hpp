// What the engine keeps of each unit besides vectors, words, cues and edges: who said it, when, in which
// session, and its place in that session. Rows are staged first and take their place among the others when
// revealed.
//
// One writer or many readers; the engine's lock sees to it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ripple/row_mask.hpp"
#include "ripple/types.hpp"

namespace ripple {

// Bits of UnitInfo::flags.
inline constexpr std::uint8_t kIsQuestion = 1;   // the unit asks something
inline constexpr std::uint8_t kHasTimeWord = 2;  // its wording names a time, grounded or not
inline constexpr std::uint8_t kIsTurn = 4;  // a raw turn that waits for extraction: found, but without edges

struct UnitInfo {
  CueId speaker = kNoId;
  SessionId session = 0;
  std::int64_t said_at = kNoTime;
  std::uint8_t flags = 0;
};

class UnitTable {
 public:
  // Appends a staged row and returns it. O(1).
  Row add(const UnitInfo& info);

  // Puts a staged row into its session's order: by said_at, then row; a row without said_at follows the last.
  // O(1) at the session's end, O(session) before it.
  void reveal(Row row);

  // Forgets a row, staged or visible; its neighbours in the session become each other's. The row is not
  // reused.
  void remove(Row row);

  // The visible row after which a row with this time would stand in its session; kNoRow when it would be
  // first.
  [[nodiscard]] Row last_before(SessionId session, std::int64_t said_at) const;

  [[nodiscard]] const UnitInfo& info(Row row) const { return infos_[row]; }
  [[nodiscard]] std::size_t rows() const { return infos_.size(); }
  [[nodiscard]] const RowMask& visible() const { return visible_; }
  [[nodiscard]] const RowMask& living() const { return living_; }  // visible or staged
  [[nodiscard]] SessionLinks links() const { return {previous_, next_}; }

  // The same between neighbours that both have a speaker: what counts as a unit's surroundings. A unit
  // without a speaker (a passage, a note) stands alone.
  [[nodiscard]] SessionLinks context_links() const { return {context_previous_, context_next_}; }

 private:
  void update_context(Row row);

  std::vector<UnitInfo> infos_;
  std::vector<Row> previous_;
  std::vector<Row> next_;
  std::vector<Row> context_previous_;
  std::vector<Row> context_next_;
  RowMask visible_;
  RowMask living_;
  std::unordered_map<SessionId, Row> last_;  // the last visible row of each session
};

}  // namespace ripple
