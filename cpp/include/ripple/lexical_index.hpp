// Words to units: an inverted index with BM25 (Robertson) that grows as units arrive and forgets what is
// removed. Used by first recall, by ranking (bm, w2), for rare-term edges and for word idf.
//
// A unit is added *staged*: hidden from df, N and the average length until reveal() counts it; searches
// return only rows of the mask they are given, so a staged row must not be in it.
//
//   idf(t)  = ln(1 + (N - df + 0.5) / (df + 0.5))
//   bm25(d) = sum over query terms, ids ascending, of idf(t) (k1 + 1) tf / (tf + k1 (1 - b + b |d| /
//   average))
//
// Windows (w2): a unit with `radius` neighbours on each side in its session as one document: tf and |d| are
// sums over the window, df is the number of visible units whose window holds the term, N stays the number of
// live units and the average is that of the units times the members of this window (a unit that stands alone
// scores as in bm25 but for df; on passages that is worth .014 of recall@5 beside a constant 2 radius + 1).
//
// Sums are made in double and handed out as float. Not internally locked: one writer or many readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ripple/interner.hpp"
#include "ripple/params.hpp"
#include "ripple/row_mask.hpp"
#include "ripple/types.hpp"

namespace ripple {

struct Posting {
  Row row = kNoRow;
  std::uint32_t count = 0;

  friend bool operator==(const Posting&, const Posting&) = default;
};

class LexicalIndex {
 public:
  // Terms of a text: ids ascending, no repeats.
  struct Terms {
    std::vector<TermId> ids;
    std::vector<std::uint32_t> counts;
    std::uint32_t unknown = 0;  // tokens whose term is not in the vocabulary

    [[nodiscard]] TermView view() const { return {ids, counts}; }
  };

  // Throws std::invalid_argument unless k1 >= 0 and 0 <= b <= 1.
  explicit LexicalIndex(Bm25Options options);

  // Terms of a text, new ones entering the vocabulary. The ids hold until the next remove() or prune(): an id
  // without a posting may be given to another term after those.
  Terms intern(std::string_view text);

  // As intern() with the vocabulary left as it is; unknown terms are only counted.
  [[nodiscard]] Terms lookup(std::string_view text) const;

  // The id of a term, kNoId when it is not in the vocabulary.
  [[nodiscard]] TermId find(std::string_view term) const { return vocabulary_.find(term); }

  // Adds a row, staged. Rows may come in any order; ascending is fast. Throws std::invalid_argument when the
  // row is held already, or ids are not ascending or not in the vocabulary, or a count is 0.
  void add(Row row, TermView terms);

  // Counts a staged row into df, N and the average length. Throws std::invalid_argument when row is not
  // staged.
  void reveal(Row row);

  // Forgets a row, live or staged; terms that are left without a posting leave the vocabulary. O(sum of the
  // postings of its terms). Throws std::invalid_argument when row is not held.
  void remove(Row row);

  // Drops terms that were interned and never added (a batch that was discarded). O(terms interned since).
  void prune();

  // Live units, terms, and df among live units (0 for an id not in the vocabulary).
  [[nodiscard]] std::size_t size() const { return live_; }
  [[nodiscard]] const RowMask& live_rows() const { return live_rows_; }
  [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_.size(); }
  [[nodiscard]] std::uint32_t df(TermId term) const;

  [[nodiscard]] double idf(TermId term) const;
  [[nodiscard]] double idf_unknown() const;

  // Of a row, staged or live; empty and 0 for a row not held. Valid until the next add() or remove().
  [[nodiscard]] TermView terms_of(Row row) const;
  [[nodiscard]] std::uint32_t length(Row row) const;

  // The folded word as first written, until the unit it came from is removed (then the term stands for it).
  [[nodiscard]] std::string_view surface(TermId term) const { return vocabulary_.display(term); }
  [[nodiscard]] std::string_view term(TermId term) const { return vocabulary_.name(term); }

  // In row order, staged rows included. Valid until the next add() or remove().
  [[nodiscard]] std::span<const Posting> postings(TermId term) const;

  // The k best allowed rows that hold a query term, score down, then row up. Order and repeats in the query
  // do not matter. O(postings of the query's terms).
  [[nodiscard]] std::vector<ScoredRow> search(std::span<const TermId> query, std::size_t k,
                                              const RowMask& allowed) const;

  // BM25 of given rows, same numbers as search(); 0 for rows that hold none of the terms or are not held.
  // out has the length of rows. O(rows x terms x log length).
  void score(std::span<const TermId> query, std::span<const Row> rows, std::span<float> out) const;

  // As search(), of windows. Rows outside `visible` do not exist: they are stepped over, and add nothing.
  // Only rows that are also in `allowed` are returned. O(postings x (2 radius + 1)).
  [[nodiscard]] std::vector<ScoredRow> search_windows(std::span<const TermId> query, std::size_t k,
                                                      const SessionLinks& links, std::uint32_t radius,
                                                      const RowMask& visible, const RowMask& allowed) const;

  // Window scores of given rows, same numbers as search_windows(); 0 for rows outside `visible`.
  void score_windows(std::span<const TermId> query, std::span<const Row> rows, const SessionLinks& links,
                     std::uint32_t radius, const RowMask& visible, std::span<float> out) const;

 private:
  enum class State : std::uint8_t { Absent, Staged, Live };

  struct Document {
    std::size_t begin = 0;  // of its slice in ids_ and counts_
    std::uint32_t terms = 0;
    State state = State::Absent;
  };

  struct TermState {
    std::vector<Posting> postings;
    std::uint32_t df = 0;
    Row surface_row = kNoRow;  // whose text gave the surface: it goes with that row
  };

  class Windows;

  [[nodiscard]] State state(Row row) const {
    return row < documents_.size() ? documents_[row].state : State::Absent;
  }
  [[nodiscard]] double idf_of(std::size_t df) const;
  [[nodiscard]] double average_length() const;
  void check_terms(TermView terms) const;
  void compact_slices();

  Bm25Options options_;
  Interner vocabulary_;
  std::vector<TermState> terms_;
  std::vector<TermId> unposted_;  // interned since the last prune(), perhaps in no posting
  std::vector<Document> documents_;
  std::vector<std::uint32_t>
      lengths_;  // by row, apart from the documents: searches read nothing else of them
  RowMask live_rows_;
  std::vector<TermId> ids_;  // slices of the documents, with holes where rows were removed
  std::vector<std::uint32_t> counts_;
  std::size_t dead_ = 0;  // entries in holes
  std::size_t live_ = 0;
  std::uint64_t total_length_ = 0;
};

}  // namespace ripple
