// The window (w2) half of the lexical index: units scored together with their neighbours in the session.
#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "ripple/lexical_index.hpp"
#include "term_query.hpp"

namespace ripple {

// The windows of visible rows as documents: which hold a term and how often, and how long they are.
class LexicalIndex::Windows {
 public:
  Windows(const LexicalIndex& index, const SessionLinks& links, std::uint32_t radius, const RowMask& visible)
      : index_(index), links_(links), radius_(radius), existing_(visible), counts_(index.lengths_.size()) {
    existing_.intersect(index.live_rows_);
  }

  // One posting for each window that holds the term, in row order.
  [[nodiscard]] std::vector<Posting> postings(TermId term) {
    std::vector<Posting> windows;
    for (const Posting& posting : index_.postings(term)) {
      if (existing_.test(posting.row)) {
        for_each_in_window(posting.row, [&](Row row) {
          if (counts_[row] == 0) {
            windows.push_back({row, 0});
          }
          counts_[row] += posting.count;
        });
      }
    }
    for (Posting& window : windows) {
      window.count = std::exchange(counts_[window.row], 0);
    }
    // Sessions mostly lie in one piece; then the windows were met in row order.
    const auto by_row = [](const Posting& a, const Posting& b) { return a.row < b.row; };
    if (!std::is_sorted(windows.begin(), windows.end(), by_row)) {
      std::sort(windows.begin(), windows.end(), by_row);
    }
    return windows;
  }

  // Of a member on average: a window is compared with the average unit, however many it holds.
  [[nodiscard]] double length(Row row) const {
    std::uint32_t total = 0;
    std::uint32_t members = 0;
    for_each_in_window(row, [&](Row near) {
      total += index_.lengths_[near];
      ++members;
    });
    return static_cast<double>(total) / members;
  }

 private:
  // The next existing row along a link; kNoRow at the end of the session.
  [[nodiscard]] Row step(std::span<const Row> link, Row row) const {
    do {
      row = row < link.size() ? link[row] : kNoRow;
    } while (row != kNoRow && !existing_.test(row));
    return row;
  }

  // In session order: row, which exists, and up to radius existing rows on each side.
  template <class Visit>
  void for_each_in_window(Row row, Visit&& visit) const {
    Row near = row;
    std::uint32_t steps = radius_;  // from the first row of the window to the last
    for (std::uint32_t back = 0; back < radius_; ++back, ++steps) {
      const Row before = step(links_.previous, near);
      if (before == kNoRow) {
        break;
      }
      near = before;
    }
    visit(near);
    for (; steps > 0; --steps) {
      near = step(links_.next, near);
      if (near == kNoRow) {
        break;
      }
      visit(near);
    }
  }

  const LexicalIndex& index_;
  SessionLinks links_;
  std::uint32_t radius_;
  RowMask existing_;
  std::vector<std::uint32_t> counts_;  // by row, of the term at hand; all 0 between calls
};

std::vector<ScoredRow> LexicalIndex::search_windows(std::span<const TermId> query, std::size_t k,
                                                    const SessionLinks& links, std::uint32_t radius,
                                                    const RowMask& visible, const RowMask& allowed) const {
  Windows windows(*this, links, radius, visible);
  std::vector<std::vector<Posting>> postings;
  std::vector<WeightedPostings> lists;
  for (const TermId term : distinct_terms(query)) {
    postings.push_back(windows.postings(term));
    lists.push_back({postings.back(), idf_of(postings.back().size())});
  }
  BlockSearch search({options_, average_length()}, allowed, [&](Row row) { return windows.length(row); });
  return search.best(std::move(lists), k);
}

void LexicalIndex::score_windows(std::span<const TermId> query, std::span<const Row> rows,
                                 const SessionLinks& links, std::uint32_t radius, const RowMask& visible,
                                 std::span<float> out) const {
  assert(rows.size() == out.size());
  Windows windows(*this, links, radius, visible);
  const Bm25Formula formula(options_, average_length());
  std::vector<double> totals(rows.size());
  for (const TermId term : distinct_terms(query)) {
    const std::vector<Posting> postings = windows.postings(term);
    const double idf = idf_of(postings.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (const auto found = find_row(postings, rows[i]); found != postings.end() && found->row == rows[i]) {
        totals[i] += formula.part(idf, found->count, formula.norm(windows.length(rows[i])));
      }
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out[i] = static_cast<float>(totals[i]);
  }
}

}  // namespace ripple
