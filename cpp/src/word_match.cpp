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
    words_.push_back({term, lexical.idf(term), {vector.begin(), vector.end()}});
  }
  for (const std::string& unknown : terms.unknown) {
    std::vector<float> vector(words == nullptr ? 0 : words->dimension());
    if (words != nullptr && is_ascii(unknown) && words->word_vector(unknown, vector)) {
      words_.push_back({kNoId, lexical.idf_unknown(), std::move(vector)});
    }
  }
}

std::span<const float> WordMatcher::cosines(TermId other) {
  const auto [place, is_new] = slots_.try_emplace(other, cosines_.size());
  if (is_new) {
    const auto vector = vectors_.vector(other);
    for (const Word& word : words_) {
      const bool is_known = !vector.empty() && !word.vector.empty();
      cosines_.push_back(word.term == other ? 1.0F
                         : is_known         ? std::max(0.0F, dot(word.vector, vector))
                                            : 0.0F);
    }
  }
  return std::span(cosines_).subspan(place->second, words_.size());
}

double WordMatcher::match(std::span<const TermId> held) {
  best_.assign(words_.size(), 0.0F);
  for (const TermId term : held) {
    const auto row = cosines(term);
    for (std::size_t i = 0; i < row.size(); ++i) {
      best_[i] = std::max(best_[i], row[i]);
    }
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    sum += words_[i].idf * static_cast<double>(best_[i]);
  }
  return sum;
}

}  // namespace ripple
