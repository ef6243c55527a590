// The features of the fitted sum, from the engine's indexes.
#include <algorithm>
#include <cmath>

#include "engine_detail.hpp"
#include "ripple/distance.hpp"
#include "ripple/engine.hpp"

namespace ripple {

double Engine::idf_mass(const QueryTerms& terms) const {
  double mass = kIdfMassAdded + static_cast<double>(terms.unknown.size()) * lexical_.idf_unknown();
  for (const TermId term : terms.ids) {
    mass += lexical_.idf(term);
  }
  return mass;
}

float Engine::trust(const QueryTerms* terms) const {
  if (!options_.is_english || terms == nullptr) {
    return 1.0F;
  }
  double all = 0.0;
  double latin = 0.0;
  const auto add = [&](double idf, std::string_view word) {
    all += idf;
    latin += is_ascii(word) ? idf : 0.0;
  };
  for (const TermId term : terms->ids) {
    add(lexical_.idf(term), lexical_.term(term));
  }
  for (const std::string& word : terms->unknown) {
    add(lexical_.idf_unknown(), word);
  }
  return all > 0.0 ? static_cast<float>(latin / all) : 1.0F;
}

void Engine::add_word_features(const QueryTerms& terms, std::span<const Row> rows, FeatureMatrix& raw) const {
  const double scale = 2.0 / idf_mass(terms);
  const SessionLinks links = units_.context_links();
  std::vector<float> window(rows.size());
  lexical_.score_windows(terms.ids, rows, links, kWindowRadius, units_.visible(), window);
  std::vector<Row> asking;
  for (const Row row : rows) {
    const Row before = links.previous[row];
    asking.push_back(before != kNoRow && (units_.info(before).flags & kIsQuestion) != 0 ? before : kNoRow);
  }
  std::vector<float> asked(rows.size());
  lexical_.score(terms.ids, asking, asked);
  WordMatcher matcher(terms, lexical_, word_vectors_, words_.get());
  std::unordered_map<Row, float> matches;  // neighbours are met again and again
  const auto match = [&](Row row) {
    if (row == kNoRow) {
      return 0.0F;
    }
    const auto [place, is_new] = matches.try_emplace(row, 0.0F);
    if (is_new) {
      place->second = static_cast<float>(scale * matcher.match(lexical_.terms_of(row).ids));
    }
    return place->second;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    const float own = match(row);
    at(raw[i], Feature::Window) = static_cast<float>(scale * window[i]);
    at(raw[i], Feature::PreviousQuestion) = static_cast<float>(scale * asked[i]);
    at(raw[i], Feature::WordMatch) = own;
    at(raw[i], Feature::NearWordMatch) = std::max({own, match(links.previous[row]), match(links.next[row])});
  }
}

FeatureMatrix Engine::raw_features(const Query& query, std::span<const Row> rows) const {
  FeatureMatrix raw(rows.size(), FeatureRow{});
  if (query.terms != nullptr) {
    add_word_features(*query.terms, rows, raw);
  }
  const auto& named = query.cues.participants;
  const auto named_speakers =
      std::count_if(named.begin(), named.end(), [&](CueId person) { return speakers_.contains(person); });
  const float trusted = 3.0F * trust(query.terms);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const UnitInfo& info = units_.info(rows[i]);
    FeatureRow& features = raw[i];
    const bool has_cosine = !query.vector.empty() && vectors_.contains(rows[i]);
    at(features, Feature::Context) =
        query.vector.empty() ? kNaN : trusted * context_cosine(query.vector, rows[i]);
    at(features, Feature::Dense) = has_cosine ? trusted * vectors_.dot(query.vector, rows[i]) : kNaN;
    const bool is_named = named_speakers == 1 && std::binary_search(named.begin(), named.end(), info.speaker);
    at(features, Feature::Speaker) = is_named ? 1.0F : 0.0F;
    at(features, Feature::Time) = time_match(query.cues.time, query.months, query.time_grain, info.said_at);
    at(features, Feature::When) = query.asks_when && (info.flags & kHasTimeWord) != 0 ? 1.0F : 0.0F;
    at(features, Feature::Question) = (info.flags & kIsQuestion) != 0 ? 1.0F : 0.0F;
    at(features, Feature::Length) =
        std::max(0.0F, std::log(static_cast<float>(lexical_.length(rows[i])) / kLongUnitWords));
  }
  return raw;
}

float Engine::context_cosine(std::span<const float> query, Row row) const {
  const SessionLinks links = units_.context_links();
  std::vector<float> sum(options_.dimension, 0.0F);
  const auto add = [&](Row neighbor, float weight) {
    if (neighbor != kNoRow && vectors_.contains(neighbor)) {
      const auto vector = vectors_.vector(neighbor);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += weight * vector[i];
      }
    }
  };
  const auto step = [](std::span<const Row> link, Row from) { return from == kNoRow ? kNoRow : link[from]; };
  const Row before = step(links.previous, row);
  const Row after = step(links.next, row);
  add(row, 1.0F);
  add(before, 0.5F);
  add(after, 0.5F);
  add(step(links.previous, before), 0.25F);
  add(step(links.next, after), 0.25F);
  const float norm = std::sqrt(dot(sum, sum));
  return norm > 0.0F ? dot(query, sum) / norm : kNaN;
}

}  // namespace ripple
