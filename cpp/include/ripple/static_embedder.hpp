// The embedder inside the package: one vector a word piece; a text's vector is the unit-length sum of its
// pieces' vectors. Knows no word order. Used for every text and query of a store that was made with the
// default embedder.
//
// File, little-endian: "RPLSTEMB", uint32 version (1), dimension, pieces, bytes of the vocabulary, bytes of
// the name | name | vocabulary (per piece one byte of length, then UTF-8) | float32 scale a piece | int8
// values, row after row | uint32 CRC-32 (zlib's) of all before. A row is its scale times its values; its norm
// is the piece's weight.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ripple/wordpiece.hpp"

namespace ripple {

// Immutable after load: all methods may be called from many threads.
class StaticEmbedder {
 public:
  static constexpr std::size_t kDimensionMax = 1'024;

  // Reads a file. Everything in it is checked before it is used; throws CorruptStoreError when a check fails
  // or the file cannot be read.
  [[nodiscard]] static std::shared_ptr<const StaticEmbedder> load(const std::string& path);
  // As load, from bytes; origin names them in messages.
  [[nodiscard]] static std::shared_ptr<const StaticEmbedder> parse(std::string_view bytes,
                                                                   std::string_view origin);

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // Writes the unit-length vector of a text. False, and out untouched, when the text holds no known piece.
  // Throws std::invalid_argument unless out has dimension() elements.
  [[nodiscard]] bool embed(std::string_view utf8, std::span<float> out) const;

  // The length of a text's vector before it is scaled. For a word it tells how much the word says (0.2 "the",
  // 0.4 "time", 1.3 "seafood"). 0 when the text holds no known piece.
  [[nodiscard]] float weight(std::string_view utf8) const;

  // The same as embed for one word.
  [[nodiscard]] bool word_vector(std::string_view word, std::span<float> out) const {
    return embed(word, out);
  }

 private:
  // Adds up the pieces' vectors in sums; the length of the sum.
  [[nodiscard]] double sum_pieces(std::string_view utf8, std::array<float, kDimensionMax>& sums) const;

  StaticEmbedder(std::string name, std::size_t dimension, WordPieces pieces, std::vector<float> scales,
                 std::vector<std::int8_t> values);

  std::string name_;
  std::size_t dimension_;
  WordPieces pieces_;
  std::vector<float> scales_;
  std::vector<std::int8_t> values_;
};

}  // namespace ripple
