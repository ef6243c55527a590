// Text to match keys and to terms: what makes two spellings one name, and a text something to search by
// words. Pure functions of their input and of one Unicode version, so stored keys never drift; safe from any
// thread. Invalid UTF-8 is read with U+FFFD in place of each maximal ill-formed part (as Python's
// errors="replace").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ripple {

inline constexpr std::size_t kKeyBytesMax = 4'096;       // of a normalised key
inline constexpr std::size_t kTokenBytesMax = 128;       // longer words become a prefix, '#' and a hash
inline constexpr std::size_t kDistinctTermsMax = 4'096;  // of one text; further distinct terms are dropped

// NFKC_Casefold with default-ignorable characters (zero-width, bidi, tags) removed, control characters as
// spaces, runs of white space as one space, trimmed, then cut to kKeyBytesMax at a character. Idempotent.
// O(n), and reads no more of the text than the key needs.
[[nodiscard]] std::string normalize_key(std::string_view utf8);

struct Token {
  std::string term;     // English stem, or bigram of a script that is written without spaces
  std::string surface;  // the folded word as written, without a possessive 's or another clitic

  friend bool operator==(const Token&, const Token&) = default;
};

// The terms of a text in order, with repeats and without stop words. O(n).
// Words are runs of letters, digits and marks, joined over an apostrophe; Chinese, Japanese, Korean, Thai and
// the like give bigrams (one character when it stands alone); an emoji is a term.
[[nodiscard]] std::vector<Token> tokenize(std::string_view utf8);

// True for English function words; folded is a word as tokenize() sees it (lower case, ASCII apostrophe).
[[nodiscard]] bool is_stop_word(std::string_view folded);

}  // namespace ripple
