// How well a unit's words answer a question's words, by static word vectors: the WordMatch feature.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ripple/lexical_index.hpp"
#include "ripple/static_embedder.hpp"
#include "ripple/types.hpp"
#include "ripple/word_vectors.hpp"

namespace ripple {

// The words of a question.
struct QueryTerms {
  std::vector<TermId> ids;           // sorted, no repeats
  std::vector<std::string> unknown;  // words, as written, whose term no unit holds
};

// For one question; remembers the cosines it has met. Not for several threads at once.
class WordMatcher {
 public:
  // words may be null: then a word matches itself alone.
  WordMatcher(const QueryTerms& terms, const LexicalIndex& lexical, const WordVectors& vectors,
              const StaticEmbedder* words);

  // The sum over the question's words of idf times S: 1 where the unit holds the word, else the best cosine
  // above 0 with one of its words. O(words of the question x words of the unit), the first time with a dot
  // product each.
  [[nodiscard]] double match(std::span<const TermId> held);

 private:
  struct Word {
    TermId term = kNoId;
    double idf = 0.0;
    std::vector<float> vector;  // empty: none
  };

  // How well a term answers each of the question's words.
  [[nodiscard]] std::span<const float> cosines(TermId other);

  const WordVectors& vectors_;
  std::vector<Word> words_;
  std::unordered_map<TermId, std::size_t> slots_;  // of a term met, where its row of cosines starts
  std::vector<float> cosines_;
  std::vector<float> best_;  // of one unit, kept for its memory
};

}  // namespace ripple
