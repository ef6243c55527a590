// Vectors of the vocabulary's words, by term: what the WordMatch feature compares. Filled as words arrive, so
// that a recall makes none but those of words it meets for the first time.
//
// One writer or many readers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ripple/static_embedder.hpp"
#include "ripple/types.hpp"

namespace ripple {

// The packaged model is English: a word with another letter is matched by its characters alone.
[[nodiscard]] bool is_ascii(std::string_view word);

class WordVectors {
 public:
  // words may be null: then no word has a vector.
  explicit WordVectors(std::shared_ptr<const StaticEmbedder> words);

  // Sets the vector of a term from its word, unless it has one. O(dimension).
  void add(TermId term, std::string_view word);

  // Forgets a term's vector; its id may be given to another word.
  void remove(TermId term);

  // Unit length; empty where the word has none.
  [[nodiscard]] std::span<const float> vector(TermId term) const;

  // How much the word says, whatever the store: the square of the length that the embedder learnt for it.
  // About 0.2 for words that say little ("time"), 1.7 for those that say much ("seafood"); 1 for a word not
  // known.
  [[nodiscard]] float salience(TermId term) const;

 private:
  std::shared_ptr<const StaticEmbedder> words_;
  std::vector<std::unique_ptr<float[]>> vectors_;
  std::vector<float> saliences_;  // along vectors_
};

}  // namespace ripple
