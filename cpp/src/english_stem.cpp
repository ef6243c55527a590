#include "ripple/english_stem.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace ripple {

namespace {

using Rule = std::pair<std::string_view, std::string_view>;  // suffix, what replaces it

constexpr std::array<Rule, 15> kExceptions{{{"andes", "andes"},
                                            {"atlas", "atlas"},
                                            {"bias", "bias"},
                                            {"cosmos", "cosmos"},
                                            {"early", "earli"},
                                            {"gently", "gentl"},
                                            {"howe", "howe"},
                                            {"idly", "idl"},
                                            {"news", "news"},
                                            {"only", "onli"},
                                            {"singly", "singl"},
                                            {"skies", "sky"},
                                            {"skis", "ski"},
                                            {"sky", "sky"},
                                            {"ugly", "ugli"}}};

// Beginnings after which the first region starts, whatever their vowels.
constexpr std::array<std::string_view, 9> kRegionPrefixes{"arsen", "commun", "emerg", "gener",  "inter",
                                                          "later", "organ",  "past",  "univers"};

// Longer suffixes stand before those that end them: the longest match decides.
constexpr std::array<Rule, 24> kStep2{
    {{"ational", "ate"}, {"tional", "tion"}, {"ization", "ize"}, {"fulness", "ful"}, {"ousness", "ous"},
     {"iveness", "ive"}, {"biliti", "ble"},  {"lessli", "less"}, {"entli", "ent"},   {"ation", "ate"},
     {"alism", "al"},    {"aliti", "al"},    {"ousli", "ous"},   {"iviti", "ive"},   {"fulli", "ful"},
     {"ogist", "og"},    {"enci", "ence"},   {"anci", "ance"},   {"abli", "able"},   {"izer", "ize"},
     {"ator", "ate"},    {"alli", "al"},     {"bli", "ble"},     {"ogi", "og"}}};
constexpr std::array<Rule, 8> kStep3{{{"ational", "ate"},
                                      {"tional", "tion"},
                                      {"alize", "al"},
                                      {"icate", "ic"},
                                      {"iciti", "ic"},
                                      {"ical", "ic"},
                                      {"ful", ""},
                                      {"ness", ""}}};
constexpr std::array<std::string_view, 17> kStep4{"ement", "ance", "ence", "able", "ible", "ment",
                                                  "ant",   "ent",  "ism",  "ate",  "iti",  "ous",
                                                  "ive",   "ize",  "al",   "er",   "ic"};

[[nodiscard]] bool is_vowel(char c) {
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y';
}

// One word being cut; a y that acts as a consonant is held as Y, a character outside ASCII as one byte.
class Word {
 public:
  explicit Word(std::string letters) : w_(std::move(letters)) {
    if (w_.front() == '\'') {
      w_.erase(0, 1);
    }
    for (std::size_t i = 0; i < w_.size(); ++i) {
      if (w_[i] == 'y' && (i == 0 || is_vowel(w_[i - 1]))) {
        w_[i] = 'Y';
      }
    }
    mark_regions();
  }

  [[nodiscard]] std::string stem() && {
    step_1a();
    step_1b();
    step_1c();
    step_2();
    step_3();
    step_4();
    step_5();
    std::replace(w_.begin(), w_.end(), 'Y', 'y');
    return std::move(w_);
  }

 private:
  // The position after the first vowel that is followed by another letter than a vowel, from `from` on.
  [[nodiscard]] std::size_t region_from(std::size_t from) const {
    std::size_t at = from;
    while (at < w_.size() && !is_vowel(w_[at])) {
      ++at;
    }
    while (at < w_.size() && is_vowel(w_[at])) {
      ++at;
    }
    return std::min(at + 1, w_.size());
  }

  void mark_regions() {
    const auto prefix =
        std::find_if(kRegionPrefixes.begin(), kRegionPrefixes.end(),
                     [&](std::string_view start) { return w_[0] == start[0] && w_.starts_with(start); });
    r1_ = prefix != kRegionPrefixes.end() ? prefix->size() : region_from(0);
    r2_ = region_from(r1_);
  }

  // The last letter rules out most suffixes; comparing them all whole took a third of tokenize().
  [[nodiscard]] bool ends(std::string_view suffix) const {
    return !w_.empty() && w_.back() == suffix.back() && w_.ends_with(suffix);
  }
  [[nodiscard]] bool in_r1(std::size_t suffix) const { return w_.size() - suffix >= r1_; }
  [[nodiscard]] bool in_r2(std::size_t suffix) const { return w_.size() - suffix >= r2_; }

  void replace(std::size_t suffix, std::string_view with) {
    w_.resize(w_.size() - suffix);
    w_ += with;
  }

  // A vowel stands before position end.
  [[nodiscard]] bool has_vowel(std::size_t end) const {
    return std::any_of(w_.begin(), w_.begin() + static_cast<std::ptrdiff_t>(end), is_vowel);
  }

  // The first n letters end in a short syllable.
  [[nodiscard]] bool is_short(std::size_t n) const {
    if (n >= 3 && !is_vowel(w_[n - 3]) && is_vowel(w_[n - 2]) && !is_vowel(w_[n - 1]) && w_[n - 1] != 'w' &&
        w_[n - 1] != 'x' && w_[n - 1] != 'Y') {
      return true;
    }
    return (n == 2 && is_vowel(w_[0]) && !is_vowel(w_[1])) ||
           std::string_view(w_).substr(0, n).ends_with("past");
  }

  // Possessives and plurals.
  void step_1a() {
    for (const std::string_view suffix : {"'s'", "'s", "'"}) {
      if (ends(suffix)) {
        replace(suffix.size(), "");
        break;
      }
    }
    if (ends("sses")) {
      replace(4, "ss");
    } else if (ends("ied") || ends("ies")) {
      replace(3, w_.size() > 4 ? "i" : "ie");
    } else if (ends("s") && !ends("us") && !ends("ss") && w_.size() > 2 && has_vowel(w_.size() - 2)) {
      replace(1, "");
    }
  }

  // Past and progressive forms.
  void step_1b() {
    for (const std::string_view suffix : {"eedly", "eed"}) {
      if (ends(suffix)) {
        const std::string_view rest = std::string_view(w_).substr(0, w_.size() - suffix.size());
        if (in_r1(suffix.size()) && rest != "succ" && rest != "proc" && rest != "exc") {
          replace(suffix.size(), "ee");
        }
        return;
      }
    }
    for (const std::string_view suffix : {"ingly", "edly", "ing", "ed"}) {
      if (ends(suffix)) {
        if (suffix != "ing" || !is_exceptional_ing()) {
          cut_verb_ending(suffix.size());
        }
        return;
      }
    }
  }

  // "dying" -> "die"; "evening", "outing" and the like are no verbs.
  [[nodiscard]] bool is_exceptional_ing() {
    const std::string_view rest = std::string_view(w_).substr(0, w_.size() - 3);
    if (rest.size() == 2 && rest[1] == 'y' && !is_vowel(rest[0])) {
      replace(4, "ie");
      return true;
    }
    constexpr std::array<std::string_view, 6> kNouns{"even", "cann", "inn", "earr", "herr", "out"};
    return std::find(kNouns.begin(), kNouns.end(), rest) != kNouns.end();
  }

  void cut_verb_ending(std::size_t suffix) {
    if (!has_vowel(w_.size() - suffix)) {
      return;
    }
    replace(suffix, "");
    if (ends_double()) {
      if (!(w_.size() == 3 && (w_[0] == 'a' || w_[0] == 'e' || w_[0] == 'o'))) {
        w_.pop_back();
      }
    } else if (ends("at") || ends("bl") || ends("iz") || (w_.size() == r1_ && is_short(w_.size()))) {
      w_ += 'e';
    }
  }

  [[nodiscard]] bool ends_double() const {
    const std::size_t n = w_.size();
    return n >= 2 && w_[n - 1] == w_[n - 2] &&
           std::string_view("bdfgmnprt").find(w_[n - 1]) != std::string_view::npos;
  }

  void step_1c() {
    const std::size_t n = w_.size();
    if (n > 2 && (w_[n - 1] == 'y' || w_[n - 1] == 'Y') && !is_vowel(w_[n - 2])) {
      w_.back() = 'i';
    }
  }

  void step_2() {
    for (const auto& [suffix, with] : kStep2) {
      if (ends(suffix)) {
        const std::size_t before = w_.size() - suffix.size();
        if (in_r1(suffix.size()) && (suffix != "ogi" || (before > 0 && w_[before - 1] == 'l'))) {
          replace(suffix.size(), with);
        }
        return;
      }
    }
    if (ends("li") && in_r1(2) && w_.size() > 2 &&
        std::string_view("cdeghkmnrt").find(w_[w_.size() - 3]) != std::string_view::npos) {
      replace(2, "");
    }
  }

  void step_3() {
    for (const auto& [suffix, with] : kStep3) {
      if (ends(suffix)) {
        if (in_r1(suffix.size())) {
          replace(suffix.size(), with);
        }
        return;
      }
    }
    if (ends("ative") && in_r1(5) && in_r2(5)) {
      replace(5, "");
    }
  }

  void step_4() {
    for (const std::string_view suffix : kStep4) {
      if (ends(suffix)) {
        if (in_r2(suffix.size())) {
          replace(suffix.size(), "");
        }
        return;
      }
    }
    if ((ends("sion") || ends("tion")) && in_r2(3)) {
      replace(3, "");
    }
  }

  void step_5() {
    if (ends("e")) {
      if (in_r2(1) || (in_r1(1) && !is_short(w_.size() - 1))) {
        w_.pop_back();
      }
    } else if (ends("ll") && in_r2(1)) {
      w_.pop_back();
    }
  }

  std::string w_;
  std::size_t r1_ = 0;
  std::size_t r2_ = 0;
};

constexpr char kForeign = '\x7f';  // stands for a character outside ASCII; folded words hold no control

[[nodiscard]] bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
[[nodiscard]] bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

// The stem with each stand-in replaced by the word's own characters. Only ASCII endings are cut or changed,
// so the stand-ins that are left are the word's first ones, in order.
[[nodiscard]] std::string restore(std::string_view stem, std::string_view word) {
  std::string restored;
  std::size_t at = 0;
  for (const char c : stem) {
    if (c != kForeign) {
      restored += c;
      continue;
    }
    while (is_ascii(word[at])) {
      ++at;
    }
    do {
      restored += word[at++];
    } while (at < word.size() && is_continuation(word[at]));
  }
  return restored;
}

}  // namespace

std::string english_stem(std::string_view word) {
  std::string letters;
  letters.reserve(word.size() + 1);  // no step makes a word longer by more than one letter
  for (const char c : word) {
    if (!is_continuation(c)) {
      letters += is_ascii(c) ? c : kForeign;
    }
  }
  if (letters.size() < 3) {
    return std::string(word);
  }
  for (const auto& [exception, stem] : kExceptions) {
    if (exception == letters) {
      return std::string(stem);
    }
  }
  const bool is_foreign = letters.size() != word.size();
  std::string stem = Word(std::move(letters)).stem();
  return is_foreign ? restore(stem, word) : stem;
}

}  // namespace ripple
