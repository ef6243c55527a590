#include "ripple/lexical_index.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "ripple/text.hpp"
#include "ripple/topk.hpp"
#include "term_query.hpp"

namespace ripple {

namespace {

constexpr std::size_t kCompactAbove = 1'024;  // entries in holes below which compaction is not worth its pass

// Sorted ids and counts of a list of ids in any order; takes the list's memory.
[[nodiscard]] LexicalIndex::Terms count_ids(std::vector<TermId> ids) {
  LexicalIndex::Terms terms;
  std::sort(ids.begin(), ids.end());
  for (const TermId id : ids) {
    if (terms.ids.empty() || terms.ids.back() != id) {
      terms.ids.push_back(id);
      terms.counts.push_back(1);
    } else {
      ++terms.counts.back();
    }
  }
  return terms;
}

[[nodiscard]] std::invalid_argument row_error(Row row, const char* fault) {
  return std::invalid_argument("row " + std::to_string(row) + " " + fault);
}

}  // namespace

LexicalIndex::LexicalIndex(Bm25Options options) : options_(options) {
  if (!(options.k1 >= 0.0F) || !(options.b >= 0.0F && options.b <= 1.0F)) {
    throw std::invalid_argument("BM25 has k1 " + std::to_string(options.k1) + " and b " +
                                std::to_string(options.b) + "; k1 must be >= 0 and b between 0 and 1");
  }
}

LexicalIndex::Terms LexicalIndex::intern(std::string_view text) {
  std::vector<TermId> ids;
  for (const Token& token : tokenize(text)) {
    const std::size_t known = vocabulary_.size();
    const TermId id = vocabulary_.intern(token.term, token.surface);
    if (vocabulary_.size() != known) {
      terms_.resize(vocabulary_.id_limit());
      unposted_.push_back(id);
    }
    ids.push_back(id);
  }
  return count_ids(std::move(ids));
}

LexicalIndex::Terms LexicalIndex::lookup(std::string_view text) const {
  std::vector<TermId> ids;
  std::uint32_t unknown = 0;
  for (const Token& token : tokenize(text)) {
    if (const TermId id = vocabulary_.find(token.term); id != kNoId) {
      ids.push_back(id);
    } else {
      ++unknown;
    }
  }
  Terms terms = count_ids(std::move(ids));
  terms.unknown = unknown;
  return terms;
}

void LexicalIndex::check_terms(TermView terms) const {
  if (terms.ids.size() != terms.counts.size()) {
    throw std::invalid_argument("terms have " + std::to_string(terms.ids.size()) + " ids and " +
                                std::to_string(terms.counts.size()) + " counts; one count an id is wanted");
  }
  for (std::size_t i = 0; i < terms.ids.size(); ++i) {
    if (!vocabulary_.contains(terms.ids[i])) {
      throw std::invalid_argument("term " + std::to_string(terms.ids[i]) + " is not in the vocabulary");
    }
    if (i > 0 && terms.ids[i - 1] >= terms.ids[i]) {
      throw std::invalid_argument("term ids must ascend without repeats");
    }
    if (terms.counts[i] == 0) {
      throw std::invalid_argument("term " + std::to_string(terms.ids[i]) + " has the count 0");
    }
  }
}

void LexicalIndex::add(Row row, TermView terms) {
  if (row == kNoRow) {
    throw row_error(row, "is no row; it stands for the end of a session");
  }
  if (state(row) != State::Absent) {
    throw row_error(row, "is in the lexical index already; remove it first");
  }
  check_terms(terms);
  if (row >= documents_.size()) {
    documents_.resize(std::size_t{row} + 1);
    lengths_.resize(documents_.size());
  }
  documents_[row] = {ids_.size(), static_cast<std::uint32_t>(terms.ids.size()), State::Staged};
  ids_.insert(ids_.end(), terms.ids.begin(), terms.ids.end());
  counts_.insert(counts_.end(), terms.counts.begin(), terms.counts.end());
  for (std::size_t i = 0; i < terms.ids.size(); ++i) {
    TermState& term = terms_[terms.ids[i]];
    const Posting posting{row, terms.counts[i]};
    if (term.postings.empty() || term.postings.back().row < row) {
      term.postings.push_back(posting);
    } else {
      term.postings.insert(find_row(term.postings, row), posting);
    }
    if (term.surface_row == kNoRow) {
      term.surface_row = row;
    }
    lengths_[row] += terms.counts[i];
  }
}

void LexicalIndex::reveal(Row row) {
  if (state(row) != State::Staged) {
    throw row_error(row, "is not staged in the lexical index");
  }
  documents_[row].state = State::Live;
  live_rows_.set(row);
  ++live_;
  total_length_ += lengths_[row];
  for (const TermId id : terms_of(row).ids) {
    ++terms_[id].df;
  }
}

void LexicalIndex::remove(Row row) {
  if (state(row) == State::Absent) {
    throw row_error(row, "is not in the lexical index");
  }
  Document& document = documents_[row];
  const bool is_live = document.state == State::Live;
  for (std::size_t i = document.begin; i < document.begin + document.terms; ++i) {
    TermState& term = terms_[ids_[i]];
    term.postings.erase(find_row(term.postings, row));
    term.df -= is_live ? 1 : 0;
    if (term.postings.empty()) {
      vocabulary_.erase(ids_[i]);
      term = TermState{};
    } else if (term.surface_row == row) {
      vocabulary_.clear_display(ids_[i]);
      term.surface_row = kNoRow;
    }
    ids_[i] = kNoId;
    counts_[i] = 0;
  }
  if (is_live) {
    live_rows_.reset(row);
    --live_;
    total_length_ -= lengths_[row];
  }
  dead_ += document.terms;
  document = Document{};
  lengths_[row] = 0;
  compact_slices();
}

void LexicalIndex::prune() {
  for (const TermId id : unposted_) {
    if (vocabulary_.contains(id) && terms_[id].postings.empty()) {
      vocabulary_.erase(id);
      terms_[id] = TermState{};
    }
  }
  unposted_.clear();
}

// Closes the holes once they are more than half; amortised O(1) an entry removed.
void LexicalIndex::compact_slices() {
  if (dead_ < kCompactAbove || dead_ * 2 < ids_.size()) {
    return;
  }
  std::vector<TermId> ids;
  std::vector<std::uint32_t> counts;
  ids.reserve(ids_.size() - dead_);
  counts.reserve(ids_.size() - dead_);
  for (Document& document : documents_) {
    const auto begin = static_cast<std::ptrdiff_t>(document.begin);
    const auto end = begin + static_cast<std::ptrdiff_t>(document.terms);
    document.begin = ids.size();
    ids.insert(ids.end(), ids_.begin() + begin, ids_.begin() + end);
    counts.insert(counts.end(), counts_.begin() + begin, counts_.begin() + end);
  }
  ids_ = std::move(ids);
  counts_ = std::move(counts);
  dead_ = 0;
}

std::uint32_t LexicalIndex::df(TermId term) const { return term < terms_.size() ? terms_[term].df : 0; }

double LexicalIndex::idf_of(std::size_t df) const {
  const auto n = static_cast<double>(live_);
  const auto holders = static_cast<double>(df);
  return std::log(1.0 + (n - holders + 0.5) / (holders + 0.5));
}

double LexicalIndex::idf(TermId term) const { return idf_of(df(term)); }

double LexicalIndex::idf_unknown() const { return idf_of(0); }

double LexicalIndex::average_length() const {
  return total_length_ == 0 ? 1.0 : static_cast<double>(total_length_) / static_cast<double>(live_);
}

TermView LexicalIndex::terms_of(Row row) const {
  if (state(row) == State::Absent) {
    return {};
  }
  const Document& document = documents_[row];
  return {std::span(ids_).subspan(document.begin, document.terms),
          std::span(counts_).subspan(document.begin, document.terms)};
}

std::uint32_t LexicalIndex::length(Row row) const { return row < lengths_.size() ? lengths_[row] : 0; }

std::span<const Posting> LexicalIndex::postings(TermId term) const {
  return term < terms_.size() ? std::span<const Posting>(terms_[term].postings) : std::span<const Posting>{};
}

std::vector<ScoredRow> LexicalIndex::search(std::span<const TermId> query, std::size_t k,
                                            const RowMask& allowed) const {
  std::vector<WeightedPostings> lists;
  for (const TermId term : distinct_terms(query)) {
    lists.push_back({postings(term), idf(term)});
  }
  BlockSearch search({options_, average_length()}, allowed, [&](Row row) { return lengths_[row]; });
  return search.best(std::move(lists), k);
}

void LexicalIndex::score(std::span<const TermId> query, std::span<const Row> rows,
                         std::span<float> out) const {
  assert(rows.size() == out.size());
  const Bm25Formula formula(options_, average_length());
  const std::vector<TermId> terms = distinct_terms(query);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TermView document = terms_of(rows[i]);
    double total = 0.0;
    for (const TermId id : terms) {
      const auto found = std::lower_bound(document.ids.begin(), document.ids.end(), id);
      if (found != document.ids.end() && *found == id) {
        const auto at = static_cast<std::size_t>(found - document.ids.begin());
        total += formula.part(idf(id), document.counts[at], formula.norm(length(rows[i])));
      }
    }
    out[i] = static_cast<float>(total);
  }
}

}  // namespace ripple
