#include "ripple/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "ripple/english_stem.hpp"
#include "ripple/unicode.hpp"

namespace ripple {

namespace {

// English function words, and contractions written without their apostrophe, in order. Without "may" and
// "one": months and numbers are asked for.
constexpr std::array kStopWords = std::to_array<std::string_view>({
    "a",          "about",   "after",   "again",  "against", "all",        "also",      "am",    "an",
    "and",        "any",     "are",     "as",     "at",      "be",         "because",   "been",  "before",
    "being",      "between", "both",    "but",    "by",      "can",        "cannot",    "cant",  "could",
    "did",        "do",      "does",    "doing",  "dont",    "down",       "during",    "each",  "either",
    "else",       "ever",    "every",   "few",    "for",     "from",       "further",   "had",   "has",
    "have",       "having",  "he",      "her",    "here",    "hers",       "herself",   "him",   "himself",
    "his",        "how",     "i",       "if",     "im",      "in",         "into",      "is",    "it",
    "its",        "itself",  "just",    "let",    "me",      "might",      "more",      "most",  "must",
    "my",         "myself",  "neither", "no",     "nor",     "not",        "of",        "off",   "on",
    "once",       "only",    "or",      "other",  "our",     "ours",       "ourselves", "out",   "over",
    "own",        "same",    "shall",   "she",    "should",  "so",         "some",      "such",  "than",
    "that",       "the",     "their",   "theirs", "them",    "themselves", "then",      "there", "these",
    "they",       "this",    "those",   "though", "through", "to",         "too",       "under", "until",
    "up",         "upon",    "us",      "very",   "was",     "we",         "were",      "what",  "when",
    "where",      "whether", "which",   "while",  "who",     "whom",       "whose",     "why",   "will",
    "with",       "within",  "without", "would",  "yet",     "you",        "your",      "yours", "yourself",
    "yourselves",
});
static_assert(std::is_sorted(kStopWords.begin(), kStopWords.end()));

// Where the stop words of each first letter begin: entry i for 'a' + i, and the end.
constexpr std::array<std::size_t, 27> kStopWordStarts = [] {
  std::array<std::size_t, 27> starts{};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const char first = static_cast<char>('a' + static_cast<char>(i));
    while (starts[i] < kStopWords.size() && kStopWords[starts[i]][0] < first) {
      ++starts[i];
    }
  }
  return starts;
}();

// A folded character and where it ends.
struct Character {
  CharClass kind = CharClass::Other;
  bool is_apostrophe = false;
  std::size_t end = 0;
};

[[nodiscard]] bool is_apostrophe(char32_t c) {
  return c == U'\'' || c == 0x2019 || c == 0x2018 || c == 0x201B || c == 0x02BC;
}

[[nodiscard]] Character character_at(std::string_view folded, std::size_t at) {
  const char c = folded[at];
  if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
    return {CharClass::Word, false, at + 1};
  }
  if (static_cast<unsigned char>(c) < 0x80) {
    return {CharClass::Other, c == '\'', at + 1};
  }
  const auto [value, bytes] = decode(folded, at);
  return {char_class(value), is_apostrophe(value), at + bytes};
}

// FNV-1a, 64 bits, as 16 hexadecimal digits: part of stored terms, so fixed for ever.
[[nodiscard]] std::string hash_digits(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4U) {
    *digit = "0123456789abcdef"[hash & 0xFU];
  }
  return digits;
}

// The first bytes of text, at most limit, cut between characters.
[[nodiscard]] std::string_view clip(std::string_view text, std::size_t limit) {
  std::size_t end = std::min(limit, text.size());
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
    --end;
  }
  return text.substr(0, end);
}

// The word without 's and other clitics; empty when it is a negated auxiliary, "don't". Apostrophes are
// ASCII.
[[nodiscard]] std::string_view without_clitics(std::string_view word) {
  constexpr std::array<std::string_view, 6> kClitics{"'s", "'ll", "'ve", "'re", "'d", "'m"};
  for (bool is_cut = true; is_cut;) {
    is_cut = false;
    if (word.ends_with("n't")) {
      return {};
    }
    for (const std::string_view clitic : kClitics) {
      if (word.ends_with(clitic)) {
        word.remove_suffix(clitic.size());
        is_cut = true;
      }
    }
  }
  return word;
}

// Cuts one folded text into tokens.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view folded) : text_(folded) {}

  [[nodiscard]] std::vector<Token> run() && {
    tokens_.reserve(text_.size() / 8 + 1);  // English has a token in 9 to 10 bytes
    std::size_t at = 0;
    while (at < text_.size()) {
      const Character first = character_at(text_, at);
      if (first.kind == CharClass::Word) {
        at = take_word(at);
      } else if (first.kind == CharClass::Unspaced) {
        at = take_unspaced(at);
      } else {
        if (first.kind == CharClass::Symbol) {
          emit_plain(text_.substr(at, first.end - at));
        }
        at = first.end;
      }
    }
    return std::move(tokens_);
  }

 private:
  // From the start of a word to its end. O(length).
  std::size_t take_word(std::size_t start) {
    std::size_t end = start;
    bool has_apostrophe = false;
    for (std::size_t at = start; at < text_.size();) {
      const Character c = character_at(text_, at);
      if (c.kind == CharClass::Word || c.kind == CharClass::Mark) {
        end = c.end;
      } else if (c.is_apostrophe && at == end && c.end < text_.size() &&
                 character_at(text_, c.end).kind == CharClass::Word) {
        has_apostrophe = true;
      } else {
        break;
      }
      at = c.end;
    }
    const std::string_view word = text_.substr(start, end - start);
    if (has_apostrophe) {
      const std::string plain = with_ascii_apostrophes(word);
      emit_word(without_clitics(plain));
    } else {
      emit_word(word);
    }
    return end;
  }

  // From the start of a run of a script without spaces to its end: pairs of neighbours, marks kept with their
  // letters. O(length).
  std::size_t take_unspaced(std::size_t start) {
    std::size_t before = start;  // where the letter before the current one starts
    std::size_t current = start;
    std::size_t letters = 0;
    std::size_t at = start;
    while (at < text_.size()) {
      const Character c = character_at(text_, at);
      if (c.kind == CharClass::Unspaced) {
        if (letters >= 2) {
          emit_plain(text_.substr(before, at - before));
        }
        before = current;
        current = at;
        ++letters;
      } else if (c.kind != CharClass::Mark) {
        break;
      }
      at = c.end;
    }
    emit_plain(text_.substr(before, at - before));
    return at;
  }

  [[nodiscard]] static std::string with_ascii_apostrophes(std::string_view word) {
    std::string plain;
    for (std::size_t at = 0; at < word.size();) {
      const Character c = character_at(word, at);
      if (c.is_apostrophe) {
        plain += '\'';
      } else {
        plain += word.substr(at, c.end - at);
      }
      at = c.end;
    }
    return plain;
  }

  void emit_word(std::string_view word) {
    if (word.empty() || is_stop_word(word)) {
      return;
    }
    if (word.size() > kTokenBytesMax) {
      emit_plain(word);
    } else {
      emit({english_stem(word), std::string(word)});
    }
  }

  // A term that is its own surface; a long one keeps its beginning and a hash of the whole.
  void emit_plain(std::string_view term) {
    std::string kept(clip(term, kTokenBytesMax));
    if (kept.size() < term.size()) {
      kept += '#';
      kept += hash_digits(term);
    }
    emit({kept, kept});
  }

  // Distinct terms are counted only once there may be too many: nearly all texts are shorter.
  void emit(Token token) {
    if (tokens_.size() >= kDistinctTermsMax) {
      if (distinct_.empty()) {
        for (const Token& known : tokens_) {
          distinct_.insert(known.term);
        }
      }
      if (!distinct_.contains(token.term)) {
        if (distinct_.size() >= kDistinctTermsMax) {
          return;
        }
        distinct_.insert(token.term);
      }
    }
    tokens_.push_back(std::move(token));
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::unordered_set<std::string> distinct_;
};

}  // namespace

std::string normalize_key(std::string_view utf8) {
  const std::string folded = fold(utf8);
  std::string key;
  for (const char c : folded) {
    if (c != ' ' || (!key.empty() && key.back() != ' ')) {
      key += c;
    }
    if (key.size() > kKeyBytesMax) {
      break;
    }
  }
  key.resize(clip(key, kKeyBytesMax).size());
  if (!key.empty() && key.back() == ' ') {
    key.pop_back();
  }
  return key;
}

std::vector<Token> tokenize(std::string_view utf8) {
  const std::string folded = fold(utf8);
  return Tokenizer(folded).run();
}

bool is_stop_word(std::string_view folded) {
  if (folded.empty() || folded[0] < 'a' || folded[0] > 'z') {
    return false;
  }
  const auto letter = static_cast<std::size_t>(folded[0] - 'a');
  for (std::size_t i = kStopWordStarts[letter]; i < kStopWordStarts[letter + 1]; ++i) {
    if (kStopWords[i] == folded) {
      return true;
    }
  }
  return false;
}

}  // namespace ripple
