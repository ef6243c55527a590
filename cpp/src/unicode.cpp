#include "ripple/unicode.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <vector>

namespace ripple {

namespace {

#include "unicode_tables.inc"

// As in the generator.
constexpr std::size_t kBlock = 64;
constexpr char32_t kTableLimit = kFoldIndex.size() * kBlock;
constexpr std::uint16_t kClassMask = 0b111;
constexpr unsigned kCombiningShift = 3;
constexpr std::uint16_t kCombiningMask = 0xFF;
constexpr std::uint16_t kComposesBack = 1U << 11U;

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kNone = 0xFFFFFFFF;
constexpr char32_t kTagsFirst = 0xE0000;
constexpr char32_t kTagsLast = 0xE0FFF;

// Hangul syllables are composed by arithmetic (Unicode, 3.12).
constexpr char32_t kSyllables = 0xAC00;
constexpr char32_t kLeads = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTails = 0x11A7;
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTailCount = 28;

constexpr std::array<char, 128> kAsciiFold = [] {
  std::array<char, 128> fold{};
  for (std::size_t i = 0; i < fold.size(); ++i) {
    const char c = static_cast<char>(i);
    const bool is_control = i < 0x20 || i == 0x7F;
    fold[i] = is_control ? ' ' : (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return fold;
}();

[[nodiscard]] std::uint16_t property(char32_t c) {
  return c < kTableLimit ? kPropertyBlocks[kPropertyIndex[c / kBlock] * kBlock + c % kBlock]
                         : std::uint16_t{0};
}

[[nodiscard]] unsigned combining_class(char32_t c) {
  return (unsigned{property(c)} >> kCombiningShift) & kCombiningMask;
}

// The folded form, decomposed, or nothing to replace: then has_form is false and the character stands for
// itself.
struct FoldedForm {
  bool has_form = false;
  std::span<const char32_t> form;
};

[[nodiscard]] FoldedForm folded_form(char32_t c) {
  if (c >= kTableLimit) {
    return {c >= kTagsFirst && c <= kTagsLast, {}};
  }
  const std::size_t offset = kFoldBlocks[kFoldIndex[c / kBlock] * kBlock + c % kBlock];
  if (offset == 0) {
    return {};
  }
  return {true, std::span(kFoldPool).subspan(offset + 1, kFoldPool[offset])};
}

// The primary composite of two characters, or kNone.
[[nodiscard]] char32_t compose(char32_t first, char32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + second - kVowels) * kTailCount;
  }
  if (first - kSyllables < kLeadCount * kVowelCount * kTailCount && (first - kSyllables) % kTailCount == 0 &&
      second > kTails && second - kTails < kTailCount) {
    return first + second - kTails;
  }
  const std::uint64_t pair = std::uint64_t{first} << 32U | second;
  const auto found = std::lower_bound(kPairs.begin(), kPairs.end(), pair);
  return found != kPairs.end() && *found == pair
             ? kComposites[static_cast<std::size_t>(found - kPairs.begin())]
             : kNone;
}

// Takes folded, decomposed characters one by one and writes them in canonical order, composed.
class Composer {
 public:
  explicit Composer(std::size_t expected) { out_.reserve(expected); }

  void push(char32_t c) {
    if (const unsigned combining = combining_class(c); combining != 0) {
      marks_.push_back({c, combining});
      return;
    }
    close_marks();
    if (starter_ != kNone && (property(c) & kComposesBack) != 0) {
      if (const char32_t composite = compose(starter_, c); composite != kNone) {
        starter_ = composite;
        return;
      }
    }
    flush_starter();
    starter_ = c;
  }

  // ASCII composes with nothing before it, and only its last character with what follows. Not empty.
  void push_ascii(std::string_view run) {
    close_marks();
    flush_starter();
    const std::size_t start = out_.size();
    out_.resize(start + run.size() - 1);
    const auto folded = [](char c) { return kAsciiFold[static_cast<unsigned char>(c)]; };
    std::transform(run.begin(), run.end() - 1, out_.begin() + static_cast<std::ptrdiff_t>(start), folded);
    starter_ = static_cast<char32_t>(folded(run.back()));
  }

  [[nodiscard]] std::string take() && {
    close_marks();
    flush_starter();
    return std::move(out_);
  }

 private:
  struct Mark {
    char32_t value;
    unsigned combining;
  };

  // Composes the starter with the marks after it; a starter with marks left over is written with them.
  void close_marks() {
    if (marks_.empty()) {
      return;
    }
    std::stable_sort(marks_.begin(), marks_.end(),
                     [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
    std::size_t kept = 0;
    for (const Mark mark : marks_) {
      const bool is_blocked = kept != 0 && marks_[kept - 1].combining == mark.combining;
      const char32_t composite = starter_ == kNone || is_blocked ? kNone : compose(starter_, mark.value);
      if (composite == kNone) {
        marks_[kept++] = mark;
      } else {
        starter_ = composite;
      }
    }
    if (kept != 0) {
      flush_starter();
      for (std::size_t i = 0; i < kept; ++i) {
        append_utf8(out_, marks_[i].value);
      }
    }
    marks_.clear();
  }

  void flush_starter() {
    if (starter_ != kNone) {
      append_utf8(out_, starter_);
      starter_ = kNone;
    }
  }

  std::string out_;
  char32_t starter_ = kNone;  // the last character without a combining class, while something may join it
  std::vector<Mark> marks_;   // those after it
};

[[nodiscard]] bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// What a lead byte asks for: continuation bytes, and the range of the first one.
struct Lead {
  std::uint32_t tail = 0;  // 0: no lead byte
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

[[nodiscard]] Lead read_lead(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) {
    return {1};
  }
  if (byte >= 0xE0 && byte <= 0xEF) {  // no overlong forms, no surrogates
    return {2, static_cast<unsigned char>(byte == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(byte == 0xED ? 0x9F : 0xBF)};
  }
  if (byte >= 0xF0 && byte <= 0xF4) {  // no overlong forms, nothing above U+10FFFF
    return {3, static_cast<unsigned char>(byte == 0xF0 ? 0x90 : 0x80),
            static_cast<unsigned char>(byte == 0xF4 ? 0x8F : 0xBF)};
  }
  return {};
}

}  // namespace

CodePoint decode(std::string_view utf8, std::size_t at) {
  const auto byte = static_cast<unsigned char>(utf8[at]);
  if (byte < 0x80) {
    return {byte, 1};
  }
  Lead lead = read_lead(byte);
  if (lead.tail == 0) {
    return {kReplacement, 1};
  }
  char32_t value = byte & (0x3FU >> lead.tail);
  for (std::uint32_t i = 1; i <= lead.tail; ++i) {
    const auto next = at + i < utf8.size() ? static_cast<unsigned char>(utf8[at + i]) : std::uint8_t{0};
    if (next < lead.low || next > lead.high) {
      return {kReplacement, i};
    }
    value = value << 6U | (next & 0x3FU);
    lead.low = 0x80;
    lead.high = 0xBF;
  }
  return {value, lead.tail + 1};
}

void append_utf8(std::string& out, char32_t code_point) {
  assert(code_point < 0x110000 && (code_point < 0xD800 || code_point > 0xDFFF));
  const auto continuation = [&](unsigned shift) {
    return static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += {static_cast<char>(0xC0U | code_point >> 6U), continuation(0)};
  } else if (code_point < 0x10000) {
    out += {static_cast<char>(0xE0U | code_point >> 12U), continuation(6), continuation(0)};
  } else {
    out += {static_cast<char>(0xF0U | code_point >> 18U), continuation(12), continuation(6), continuation(0)};
  }
}

std::string fold(std::string_view utf8) {
  Composer composer(utf8.size() + utf8.size() / 8);
  std::size_t at = 0;
  while (at < utf8.size()) {
    if (is_ascii(utf8[at])) {
      const std::size_t start = at;
      while (at < utf8.size() && is_ascii(utf8[at])) {
        ++at;
      }
      composer.push_ascii(utf8.substr(start, at - start));
      continue;
    }
    const auto [c, bytes] = decode(utf8, at);
    at += bytes;
    if (const auto [has_form, form] = folded_form(c); has_form) {
      for (const char32_t part : form) {
        composer.push(part);
      }
    } else {
      composer.push(c);
    }
  }
  return std::move(composer).take();
}

CharClass char_class(char32_t code_point) {
  return static_cast<CharClass>(property(code_point) & kClassMask);
}

}  // namespace ripple
