#include "ripple/word_match.hpp"

#include <algorithm>
#include <utility>

#include "ripple/distance.hpp"

namespace ripple {

WordMatcher::WordMatcher(const QueryTerms& terms, const LexicalIndex& lexical, const WordVectors& vectors,
                         const StaticEmbedder* words)
    : vectors_(vectors) {
  for (const TermId term : terms.ids) {
    const auto vector = vectors.vector(term);
    words_.push_back({term, lexical.idf(term), {vector.begin(), vector.end()}, {}});
  }
  for (const std::string& unknown : terms.unknown) {
    std::vector<float> vector(words == nullptr ? 0 : words->dimension());
    if (words != nullptr && is_ascii(unknown) && words->word_vector(unknown, vector)) {
      words_.push_back({kNoId, lexical.idf_unknown(), std::move(vector), {}});
    }
  }
}

float WordMatcher::cosine(Word& word, TermId other) const {
  const auto [place, is_new] = word.cosines.try_emplace(other, 0.0F);
  if (is_new && !word.vector.empty()) {
    if (const auto vector = vectors_.vector(other); !vector.empty()) {
      place->second = std::max(0.0F, dot(word.vector, vector));
    }
  }
  return place->second;
}

double WordMatcher::match(std::span<const TermId> held) {
  double sum = 0.0;
  for (Word& word : words_) {
    if (word.term != kNoId && std::binary_search(held.begin(), held.end(), word.term)) {
      sum += word.idf;
      continue;
    }
    float best = 0.0F;
    for (const TermId term : held) {
      best = std::max(best, cosine(word, term));
    }
    sum += word.idf * static_cast<double>(best);
  }
  return sum;
}

}  // namespace ripple
