// Porter2, the English stemmer of the Snowball project, written from its public definition (version 3.1).
// Used by tokenize(); words of other languages that end like English ones lose those endings too.
#pragma once

#include <string>
#include <string_view>

namespace ripple {

// The stem of a folded word (lower case, ASCII apostrophe). Characters outside ASCII count as consonants.
// O(length).
[[nodiscard]] std::string english_stem(std::string_view word);

}  // namespace ripple
