// The window (w2) half of the lexical index: units scored together with their neighbours in the session.
#include <cassert>
#include <vector>

#include "ripple/lexical_index.hpp"
#include "ripple/topk.hpp"
#include "term_query.hpp"

namespace ripple {

// Scores of every visible window that holds a query term, by row.
class LexicalIndex::WindowScores {
 public:
  WindowScores(const LexicalIndex& index, const SessionLinks& links, std::uint32_t radius,
               const RowMask& visible)
      : index_(index),
        links_(links),
        radius_(radius),
        visible_(visible),
        formula_(index.options_, index.average_length() * (2.0 * radius + 1.0)),
        counts_(index.documents_.size()),
        norms_(index.documents_.size()),
        scores_(index.documents_.size()) {}

  // One term after the other, ids ascending.
  void accumulate(TermId term) {
    holders_.clear();
    for (const Posting& posting : index_.postings(term)) {
      if (exists(posting.row)) {
        count(posting.row, posting.count);
        for_each_neighbour(posting.row, [&](Row row) { count(row, posting.count); });
      }
    }
    const double weight = index_.idf_of(holders_.size());
    for (const Row row : holders_) {
      if (scores_[row] == 0.0) {
        touched_.push_back(row);
        norms_[row] = formula_.norm(length(row));
      }
      scores_[row] += formula_.part(weight, counts_[row], norms_[row]);
      counts_[row] = 0;
    }
  }

  [[nodiscard]] float score(Row row) const {
    return row < scores_.size() ? static_cast<float>(scores_[row]) : 0.0F;
  }
  [[nodiscard]] const std::vector<Row>& touched() const { return touched_; }

 private:
  [[nodiscard]] bool exists(Row row) const { return visible_.test(row) && index_.state(row) == State::Live; }

  void count(Row row, std::uint32_t times) {
    if (counts_[row] == 0) {
      holders_.push_back(row);
    }
    counts_[row] += times;
  }

  [[nodiscard]] std::uint32_t length(Row row) const {
    std::uint32_t total = index_.documents_[row].length;
    for_each_neighbour(row, [&](Row near) { total += index_.documents_[near].length; });
    return total;
  }

  // Up to radius existing rows on each side.
  template <class Visit>
  void for_each_neighbour(Row row, Visit&& visit) const {
    for (const std::span<const Row> link : {links_.previous, links_.next}) {
      Row near = row;
      for (std::uint32_t found = 0; found < radius_;) {
        near = near < link.size() ? link[near] : kNoRow;
        if (near == kNoRow) {
          break;
        }
        if (exists(near)) {
          ++found;
          visit(near);
        }
      }
    }
  }

  const LexicalIndex& index_;
  SessionLinks links_;
  std::uint32_t radius_;
  const RowMask& visible_;
  Bm25Formula formula_;
  std::vector<std::uint32_t> counts_;
  std::vector<double> norms_;
  std::vector<double> scores_;
  std::vector<Row> holders_;
  std::vector<Row> touched_;
};

std::vector<ScoredRow> LexicalIndex::search_windows(std::span<const TermId> query, std::size_t k,
                                                    const SessionLinks& links, std::uint32_t radius,
                                                    const RowMask& visible, const RowMask& allowed) const {
  WindowScores windows(*this, links, radius, visible);
  for (const TermId term : distinct_terms(query)) {
    windows.accumulate(term);
  }
  TopK best(k);
  for (const Row row : windows.touched()) {
    if (allowed.test(row)) {
      best.push({row, windows.score(row)});
    }
  }
  return best.take();
}

void LexicalIndex::score_windows(std::span<const TermId> query, std::span<const Row> rows,
                                 const SessionLinks& links, std::uint32_t radius, const RowMask& visible,
                                 std::span<float> out) const {
  assert(rows.size() == out.size());
  WindowScores windows(*this, links, radius, visible);
  for (const TermId term : distinct_terms(query)) {
    windows.accumulate(term);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out[i] = windows.score(rows[i]);
  }
}

}  // namespace ripple
