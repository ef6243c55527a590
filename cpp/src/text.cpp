#include "ripple/text.hpp"

namespace ripple {

namespace {

[[nodiscard]] bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

[[nodiscard]] char fold_byte(char c) {
  if (c >= 'A' && c <= 'Z') {
    return static_cast<char>(c - 'A' + 'a');
  }
  return static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
}

}  // namespace

std::string normalize_key(std::string_view utf8) {
  std::string key;
  for (const char byte : utf8) {
    const char c = fold_byte(byte);
    if (c == ' ' && (key.empty() || key.back() == ' ')) {
      continue;
    }
    if (key.size() == kKeyBytesMax) {
      break;
    }
    key.push_back(c);
  }
  while (!key.empty() && key.back() == ' ') {
    key.pop_back();
  }
  return key;
}

std::vector<Token> tokenize(std::string_view utf8) {
  std::vector<Token> tokens;
  std::string word;
  for (std::size_t i = 0; i <= utf8.size(); ++i) {
    const char c = i < utf8.size() ? fold_byte(utf8[i]) : ' ';
    if (is_word_byte(c)) {
      word.push_back(c);
    } else if (!word.empty()) {
      if (!is_stop_word(word)) {
        tokens.push_back({word, word});
      }
      word.clear();
    }
  }
  return tokens;
}

bool is_stop_word(std::string_view folded) {
  return folded == "the" || folded == "a" || folded == "and" || folded == "of" || folded == "to";
}

}  // namespace ripple
