#include "ripple/wordpiece.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <stdexcept>

namespace ripple {
namespace {

enum class CodeClass : std::uint8_t { Keep, Drop, Space, Alone };

struct CodeRange {
  char32_t first;
  char32_t last;
  CodeClass code_class;
};

struct CodeFold {
  char32_t code;
  std::uint16_t start;
  std::uint8_t length;
};

#include "wordpiece_tables.inc"

constexpr std::size_t kWordCodesMax = 100;  // BERT's limit; longer words are unknown
constexpr char32_t kInvalid = 0xFFFD;       // the replacement character, which is dropped like controls
constexpr char32_t kHangulFirst = 0xAC00;
constexpr char32_t kHangulLast = 0xD7A3;

constexpr std::uint32_t kHashWord = 0x811C9DC5;          // FNV-1a's start
constexpr std::uint32_t kHashContinuation = 0x2F0B4C47;  // another, so that "ing" and "##ing" lie apart

[[nodiscard]] constexpr std::uint32_t hash_byte(std::uint32_t hash, char byte) {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x01000193U;
}

[[nodiscard]] constexpr CodeClass ascii_class(unsigned char byte) {
  if (byte == ' ' || (byte >= '\t' && byte <= '\r')) {
    return CodeClass::Space;
  }
  if (byte < ' ' || byte == 0x7F) {
    return CodeClass::Drop;
  }
  const bool is_word =
      (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
  return is_word ? CodeClass::Keep : CodeClass::Alone;
}

constexpr auto kAsciiClasses = [] {
  std::array<CodeClass, 128> classes{};
  for (unsigned char byte = 0; byte < 128; ++byte) {
    classes[byte] = ascii_class(byte);
  }
  return classes;
}();

[[nodiscard]] CodeClass class_of(char32_t code) {
  const auto* range = std::upper_bound(std::begin(kCodeRanges), std::end(kCodeRanges), code,
                                       [](char32_t value, const CodeRange& r) { return value < r.first; });
  if (range == std::begin(kCodeRanges) || code > std::prev(range)->last) {
    return CodeClass::Keep;
  }
  return std::prev(range)->code_class;
}

// Reads one code point at the position and moves past it; kInvalid, one byte further, for what is not UTF-8.
[[nodiscard]] char32_t next_code(std::string_view utf8, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(utf8[at]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || lead > 0xF4 || length > utf8.size() - at) {
    ++at;
    return kInvalid;
  }
  char32_t code = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(utf8[at + i]);
    if ((byte & 0xC0U) != 0x80) {
      ++at;
      return kInvalid;
    }
    code = (code << 6U) | (byte & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || is_surrogate) {
    ++at;
    return kInvalid;
  }
  at += length;
  return code;
}

void append_utf8(char32_t code, std::string& out) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
    return;
  }
  const std::size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  out.push_back(static_cast<char>((0xF00U >> length) | (code >> (6 * (length - 1)))));
  for (std::size_t i = length - 1; i-- > 0;) {
    out.push_back(static_cast<char>(0x80U | ((code >> (6 * i)) & 0x3FU)));
  }
}

// Appends the folded form, decomposed, without marks, lower case; returns its number of code points.
std::size_t append_folded(char32_t code, std::string& out) {
  if (code >= kHangulFirst && code <= kHangulLast) {
    // Hangul syllables decompose by arithmetic (The Unicode Standard, 3.12).
    const char32_t index = code - kHangulFirst;
    append_utf8(0x1100 + index / 588, out);
    append_utf8(0x1161 + index % 588 / 28, out);
    if (index % 28 == 0) {
      return 2;
    }
    append_utf8(0x11A7 + index % 28, out);
    return 3;
  }
  const auto* fold = std::lower_bound(std::begin(kCodeFolds), std::end(kCodeFolds), code,
                                      [](const CodeFold& f, char32_t value) { return f.code < value; });
  if (fold == std::end(kCodeFolds) || fold->code != code) {
    append_utf8(code, out);
    return 1;
  }
  for (std::size_t i = 0; i < fold->length; ++i) {
    append_utf8(kFoldedCodes[fold->start + i], out);
  }
  return fold->length;
}

[[nodiscard]] bool is_inside_code(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

}  // namespace

WordPieces::WordPieces(const std::vector<std::string_view>& pieces)
    : slots_(std::bit_ceil(2 * pieces.size() + 1)) {
  starts_.reserve(pieces.size() + 1);
  starts_.push_back(0);
  const std::size_t mask = slots_.size() - 1;
  for (std::string_view piece : pieces) {
    const bool is_continuation = piece.size() > 2 && piece.starts_with("##");
    if (is_continuation) {
      piece.remove_prefix(2);
    }
    if (piece.empty()) {
      throw std::invalid_argument("vocabulary holds an empty piece");
    }
    std::uint32_t hash = is_continuation ? kHashContinuation : kHashWord;
    for (const char byte : piece) {
      hash = hash_byte(hash, byte);
    }
    if (find(hash, piece, is_continuation) != kEmpty) {
      throw std::invalid_argument("vocabulary holds a piece twice");
    }
    std::size_t slot = hash & mask;
    while (slots_[slot].id != kEmpty) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = {hash, static_cast<std::uint32_t>(is_continuation_.size())};
    bytes_ += piece;
    starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    is_continuation_.push_back(is_continuation);
    longest_ = std::max(longest_, piece.size());
  }
}

std::uint32_t WordPieces::find(std::uint32_t hash, std::string_view piece, bool is_continuation) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot].id != kEmpty; slot = (slot + 1) & mask) {
    const std::uint32_t id = slots_[slot].id;
    if (slots_[slot].hash == hash && is_continuation_[id] == is_continuation &&
        std::string_view(bytes_).substr(starts_[id], starts_[id + 1] - starts_[id]) == piece) {
      return id;
    }
  }
  return kEmpty;
}

void WordPieces::append_word(std::string_view word, std::vector<std::uint32_t>& ids) const {
  const std::size_t kept = ids.size();
  // Hashes of all prefixes in one pass, then the longest known one.
  std::array<std::uint32_t, 4 * kWordCodesMax + 1> hashes;
  for (std::size_t at = 0; at < word.size();) {
    const bool is_continuation = at != 0;
    const std::size_t longest = std::min(longest_, word.size() - at);
    hashes[0] = is_continuation ? kHashContinuation : kHashWord;
    for (std::size_t i = 0; i < longest; ++i) {
      hashes[i + 1] = hash_byte(hashes[i], word[at + i]);
    }
    std::size_t length = longest;
    std::uint32_t id = kEmpty;
    for (; length > 0; --length) {
      if (at + length < word.size() && is_inside_code(word[at + length])) {
        continue;
      }
      id = find(hashes[length], word.substr(at, length), is_continuation);
      if (id != kEmpty) {
        break;
      }
    }
    if (id == kEmpty) {
      ids.resize(kept);
      return;
    }
    ids.push_back(id);
    at += length;
  }
}

void WordPieces::append_ids(std::string_view utf8, std::vector<std::uint32_t>& ids) const {
  std::string word;
  std::size_t codes = 0;
  const auto end_word = [&] {
    if (codes != 0 && codes <= kWordCodesMax) {
      append_word(word, ids);
    }
    word.clear();
    codes = 0;
  };
  for (std::size_t at = 0; at < utf8.size();) {
    const auto byte = static_cast<unsigned char>(utf8[at]);
    const char32_t code = byte < 0x80 ? static_cast<char32_t>(utf8[at++]) : next_code(utf8, at);
    const CodeClass code_class = byte < 0x80 ? kAsciiClasses[byte] : class_of(code);
    if (code_class == CodeClass::Drop) {
      continue;
    }
    if (code_class != CodeClass::Keep) {
      end_word();
    }
    if (code_class == CodeClass::Space || codes > kWordCodesMax) {
      continue;
    }
    if (byte < 0x80) {
      word.push_back(static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte));
      ++codes;
    } else {
      codes += append_folded(code, word);
    }
    if (code_class == CodeClass::Alone) {
      end_word();
    }
  }
  end_word();
}

}  // namespace ripple
