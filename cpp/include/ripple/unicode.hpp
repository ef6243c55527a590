// Unicode below the words: UTF-8 in and out, NFKC_Casefold, and which characters make words.
// The tables are generated for one version (tools/generate_unicode_tables.py), so results never drift with a
// platform. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ripple {

// Every supported Python knows at least this version, so each can check the tables. Stores record it.
inline constexpr std::string_view kUnicodeVersion = "14.0.0";

enum class CharClass : std::uint8_t {
  Other,     // separates words
  Word,      // letters and digits
  Mark,      // combining; belongs to the character before it
  Unspaced,  // letters of scripts written without spaces between words (and Hangul), regional indicators
  Symbol,    // emoji and the like: a word of its own
};

struct CodePoint {
  char32_t value = 0;
  std::uint32_t bytes = 0;  // that it took
};

// The character at byte `at` (< utf8.size()); U+FFFD for a maximal ill-formed part (as Python's "replace").
[[nodiscard]] CodePoint decode(std::string_view utf8, std::size_t at);

// code_point is a scalar value, no surrogate.
void append_utf8(std::string& out, char32_t code_point);

// NFKC_Casefold, default-ignorable characters removed, with every control and separator as a space. Runs of
// spaces stay. Stable: folding twice changes nothing. O(n log m), m the longest run of combining marks.
[[nodiscard]] std::string fold(std::string_view utf8);

[[nodiscard]] CharClass char_class(char32_t code_point);

}  // namespace ripple
