#include "ripple/word_vectors.hpp"

#include <algorithm>
#include <utility>

namespace ripple {

bool is_ascii(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

WordVectors::WordVectors(std::shared_ptr<const StaticEmbedder> words) : words_(std::move(words)) {}

void WordVectors::add(TermId term, std::string_view word) {
  if (words_ == nullptr || !is_ascii(word)) {
    return;
  }
  if (term >= vectors_.size()) {
    vectors_.resize(static_cast<std::size_t>(term) + 1);
    saliences_.resize(vectors_.size(), 1.0F);
  }
  if (vectors_[term] == nullptr) {
    auto vector = std::make_unique<float[]>(words_->dimension());
    if (words_->word_vector(word, {vector.get(), words_->dimension()})) {
      const float weight = words_->weight(word);
      vectors_[term] = std::move(vector);
      saliences_[term] = weight * weight;
    }
  }
}

void WordVectors::remove(TermId term) {
  if (term < vectors_.size()) {
    vectors_[term].reset();
    saliences_[term] = 1.0F;
  }
}

float WordVectors::salience(TermId term) const { return term < saliences_.size() ? saliences_[term] : 1.0F; }

std::span<const float> WordVectors::vector(TermId term) const {
  if (term >= vectors_.size() || vectors_[term] == nullptr) {
    return {};
  }
  return {vectors_[term].get(), words_->dimension()};
}

}  // namespace ripple
