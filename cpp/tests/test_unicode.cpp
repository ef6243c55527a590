#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "ripple/english_stem.hpp"
#include "ripple/text.hpp"
#include "ripple/unicode.hpp"

using namespace std::string_view_literals;
using ripple::decode;
using ripple::fold;

namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Case {
  std::string_view bytes;
  char32_t value;
  std::uint32_t length;
};

// A copy of exactly the bytes on the heap: the sanitizer sees a read past the end.
struct Exact {
  explicit Exact(std::string_view text) : data(new char[text.size()]), size(text.size()) {
    text.copy(data.get(), text.size());
  }
  [[nodiscard]] std::string_view view() const { return {data.get(), size}; }

  std::unique_ptr<char[]> data;
  std::size_t size;
};

}  // namespace

TEST_CASE("decode reads the first and last character of each length") {
  for (const Case& c : {Case{"\0"sv, 0, 1},
                        {"\x7F", 0x7F, 1},
                        {"\xC2\x80", 0x80, 2},
                        {"\xDF\xBF", 0x7FF, 2},
                        {"\xE0\xA0\x80", 0x800, 3},
                        {"\xED\x9F\xBF", 0xD7FF, 3},
                        {"\xEE\x80\x80", 0xE000, 3},
                        {"\xEF\xBF\xBF", 0xFFFF, 3},
                        {"\xF0\x90\x80\x80", 0x10000, 4},
                        {"\xF4\x8F\xBF\xBF", 0x10FFFF, 4}}) {
    const Exact bytes(c.bytes);
    CHECK(decode(bytes.view(), 0).value == c.value);
    CHECK(decode(bytes.view(), 0).bytes == c.length);
    std::string written;
    ripple::append_utf8(written, c.value);
    CHECK(written == c.bytes);
  }
}

TEST_CASE("decode replaces each maximal ill-formed part by one U+FFFD") {
  for (const Case& c : {Case{"\x80", kReplacement, 1},  // no lead
                        {"\xBF\x80", kReplacement, 1},
                        {"\xC0\xAF", kReplacement, 1},  // overlong
                        {"\xC1\xBF", kReplacement, 1},
                        {"\xE0\x9F\xBF", kReplacement, 1},
                        {"\xF0\x8F\xBF\xBF", kReplacement, 1},
                        {"\xED\xA0\x80", kReplacement, 1},      // surrogate
                        {"\xF4\x90\x80\x80", kReplacement, 1},  // beyond U+10FFFF
                        {"\xF5\x80\x80\x80", kReplacement, 1},
                        {"\xFF", kReplacement, 1},
                        {"\xC3", kReplacement, 1},  // cut
                        {"\xE2\x82", kReplacement, 2},
                        {"\xF0\x9F\x98", kReplacement, 3},
                        {"\xE2\x82\x41", kReplacement, 2},  // the third byte is no continuation
                        {"\xF0\x9F\x98\xC3", kReplacement, 3}}) {
    const Exact bytes(c.bytes);
    CHECK(decode(bytes.view(), 0).value == c.value);
    CHECK(decode(bytes.view(), 0).bytes == c.length);
  }
}

TEST_CASE("fold composes across pieces: marks in any order, Hangul, starters that join") {
  CHECK(fold("e\u0301") == "\u00E9");
  CHECK(fold("a\u0301\u0323") == fold("a\u0323\u0301"));
  CHECK(fold("a\u0310\u0301") == "a\u0310\u0301");  // blocked by a mark of the same class
  CHECK(fold("a\u0301\u0301") == "\u00E1\u0301");   // nothing takes two
  CHECK(fold("\u0301e") == "\u0301e");              // a mark without a letter
  CHECK(fold("\u1112\u1161\u11AB") == "\uD55C");    // lead, vowel, tail
  CHECK(fold("\uD558\u11AB") == "\uD55C");          // syllable, tail
  CHECK(fold("\u09C7\u09BE") == "\u09CB");          // two starters
  CHECK(fold("\uFF76\uFF9E") == "\u30AC");          // half-width ka with its voicing mark
  CHECK(fold("A\u030A") == "\u00E5");
  CHECK(fold("\u212B") == "\u00E5");
  CHECK(fold("\U000E0041\U000E007F").empty());
}

TEST_CASE("Any bytes fold to valid UTF-8 that folds to itself, and give valid tokens and keys") {
  std::mt19937 random(20260423);
  constexpr std::string_view kLikely =
      "\xE0\xED\xF0\xF4\xC2\xCC\x80\xBF\x81\x9F\xEF\xB7\xBA' aSs\xE1\x84\x85\xA1"sv;
  const auto is_valid = [](std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const auto [value, bytes] = decode(text, at);
      if (value == kReplacement && bytes != 3) {
        return false;
      }
      at += bytes;
    }
    return true;
  };
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    const auto length = random() % 24;
    for (std::uint32_t i = 0; i < length; ++i) {
      bytes += random() % 4 == 0 ? static_cast<char>(random() % 256) : kLikely[random() % kLikely.size()];
    }
    const Exact exact(bytes);
    const std::string folded = fold(exact.view());
    REQUIRE(is_valid(folded));
    REQUIRE(fold(folded) == folded);
    const std::string key = ripple::normalize_key(exact.view());
    REQUIRE(ripple::normalize_key(key) == key);
    for (const ripple::Token& token : ripple::tokenize(exact.view())) {
      REQUIRE_FALSE(token.term.empty());
      REQUIRE(is_valid(token.term));
      REQUIRE(is_valid(token.surface));
    }
  }
}

TEST_CASE("Any bytes without controls can be stemmed") {
  std::mt19937 random(7);
  constexpr std::string_view kLetters = "aeioybdlnrstuggi'\xC3\xA9\x80\xE4\xB8\xAD"sv;
  for (int round = 0; round < 20'000; ++round) {
    std::string word;
    const auto length = random() % 10;
    for (std::uint32_t i = 0; i < length; ++i) {
      word += kLetters[random() % kLetters.size()];
    }
    const Exact exact(word);
    CHECK(ripple::english_stem(exact.view()).size() <= word.size() + 1);
  }
}
