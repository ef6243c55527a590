// Splits text into word pieces as BERT's uncased tokeniser does: lower case, accents off, split at white
// space, punctuation, symbols and around each CJK ideograph; then the longest known piece first. Used by
// StaticEmbedder. A word with a part that no piece covers, or of more than 100 code points, gives nothing:
// there is no unknown token. Bytes that are not UTF-8 are left out. Two differences to BERT: symbols stand
// alone like punctuation (a smiley glued to a word does not hide the word), and each white space character of
// Unicode splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ripple {

class WordPieces {
 public:
  // The pieces in id order, UTF-8, a continuation with "##" in front. Throws std::invalid_argument for an
  // empty or repeated piece.
  explicit WordPieces(const std::vector<std::string_view>& pieces);

  // Appends the ids of the text's pieces, in order. O(text) with a bounded factor. May be called from many
  // threads; the caller's vector is reused by hot loops.
  void append_ids(std::string_view utf8, std::vector<std::uint32_t>& ids) const;

  [[nodiscard]] std::size_t size() const { return starts_.size() - 1; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = kEmpty;
  };
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFF;

  [[nodiscard]] std::uint32_t find(std::uint32_t hash, std::string_view piece, bool is_continuation) const;
  void append_word(std::string_view word, std::vector<std::uint32_t>& ids) const;

  std::string bytes_;                  // all pieces without "##", one after the other
  std::vector<std::uint32_t> starts_;  // size() + 1 offsets into bytes_
  std::vector<bool> is_continuation_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::size_t longest_ = 0;  // bytes of the longest piece
};

}  // namespace ripple
