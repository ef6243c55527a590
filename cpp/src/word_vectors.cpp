#include "ripple/word_vectors.hpp"

#include <utility>

namespace ripple {

WordVectors::WordVectors(std::shared_ptr<const StaticEmbedder> words) : words_(std::move(words)) {}

void WordVectors::add(TermId term, std::string_view word) {
  if (words_ == nullptr) {
    return;
  }
  if (term >= vectors_.size()) {
    vectors_.resize(static_cast<std::size_t>(term) + 1);
  }
  if (vectors_[term] == nullptr) {
    auto vector = std::make_unique<float[]>(words_->dimension());
    if (words_->word_vector(word, {vector.get(), words_->dimension()})) {
      vectors_[term] = std::move(vector);
    }
  }
}

void WordVectors::remove(TermId term) {
  if (term < vectors_.size()) {
    vectors_[term].reset();
  }
}

std::span<const float> WordVectors::vector(TermId term) const {
  if (term >= vectors_.size() || vectors_[term] == nullptr) {
    return {};
  }
  return {vectors_[term].get(), words_->dimension()};
}

}  // namespace ripple
