// The window (w2) half of the lexical index: units scored together with their neighbours in the session.
#include <cassert>
#include <utility>
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
        existing_(visible),
        formula_(index.options_, index.average_length()),
        windows_(index.lengths_.size()) {
    existing_.intersect(index.live_rows_);
  }

  // One term after the other, ids ascending.
  void accumulate(TermId term) {
    holders_.clear();
    for (const Posting& posting : index_.postings(term)) {
      if (existing_.test(posting.row)) {
        count(posting.row, posting.count);
        for_each_neighbour(posting.row, [&](Row row) { count(row, posting.count); });
      }
    }
    const double idf = index_.idf_of(holders_.size());
    for (const Row row : holders_) {
      Window& window = windows_[row];
      if (window.length == 0.0) {
        touched_.push_back(row);
        window.length = length(row);
      }
      window.score += formula_.part(idf, std::exchange(window.count, 0), formula_.norm(window.length));
    }
  }

  [[nodiscard]] float score(Row row) const {
    return row < windows_.size() ? static_cast<float>(windows_[row].score) : 0.0F;
  }
  [[nodiscard]] const std::vector<Row>& touched() const { return touched_; }

 private:
  struct Window {
    double score = 0.0;
    double length = 0.0;      // of a member on average; 0 until a term was found in it
    std::uint32_t count = 0;  // of the current term
  };

  void count(Row row, std::uint32_t times) {
    Window& window = windows_[row];
    if (window.count == 0) {
      holders_.push_back(row);
    }
    window.count += times;
  }

  [[nodiscard]] double length(Row row) const {
    std::uint32_t total = index_.lengths_[row];
    std::uint32_t members = 1;
    for_each_neighbour(row, [&](Row near) {
      total += index_.lengths_[near];
      ++members;
    });
    return static_cast<double>(total) / members;
  }

  // Up to radius existing rows on each side.
  template <class Visit>
  void for_each_neighbour(Row row, Visit&& visit) const {
    visit_along(links_.previous, row, visit);
    visit_along(links_.next, row, visit);
  }

  template <class Visit>
  void visit_along(std::span<const Row> link, Row row, Visit&& visit) const {
    for (std::uint32_t found = 0; found < radius_ && row < link.size();) {
      row = link[row];
      if (existing_.test(row)) {
        ++found;
        visit(row);
      }
    }
  }

  const LexicalIndex& index_;
  SessionLinks links_;
  std::uint32_t radius_;
  RowMask existing_;
  Bm25Formula formula_;
  std::vector<Window> windows_;  // by row
  std::vector<Row> holders_;     // of the current term
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
