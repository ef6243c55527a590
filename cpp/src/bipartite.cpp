#include "ripple/bipartite.hpp"

#include <cmath>
#include <string>

#include "ripple/error.hpp"

namespace ripple {

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) {
    throw CorruptStoreError("fact graph: " + what);
  }
}

}  // namespace

void Relation::validate(std::size_t source_rows, std::size_t target_rows) const {
  require(indptr.size() == source_rows + 1, "a relation has " + std::to_string(indptr.size()) +
                                                " offsets; it must have " + std::to_string(source_rows + 1));
  require(indptr.front() == 0 && indptr.back() == static_cast<std::int64_t>(indices.size()),
          "the offsets of a relation do not span its " + std::to_string(indices.size()) + " links");
  require(weights.size() == indices.size(), "a relation has " + std::to_string(weights.size()) +
                                                " weights for " + std::to_string(indices.size()) + " links");
  for (std::size_t source = 0; source < source_rows; ++source) {
    // Together with the ends checked above, rising offsets cannot leave the arrays.
    require(indptr[source] <= indptr[source + 1], "offset " + std::to_string(source + 1) + " falls");
  }
  for (std::size_t source = 0; source < source_rows; ++source) {
    const auto first = static_cast<std::size_t>(indptr[source]);
    const auto last = static_cast<std::size_t>(indptr[source + 1]);
    for (std::size_t i = first; i < last; ++i) {
      require(indices[i] < target_rows,
              "link to row " + std::to_string(indices[i]) + " of " + std::to_string(target_rows));
      require(i == first || indices[i - 1] < indices[i],
              "links of row " + std::to_string(source) + " are not ascending");
      require(std::isfinite(weights[i]) && weights[i] > 0.0F,
              "a weight of row " + std::to_string(source) + " is not finite and positive");
    }
  }
}

Relation Relation::transposed(std::size_t target_rows) const {
  Relation result;
  result.indptr.assign(target_rows + 1, 0);
  for (const std::uint32_t target : indices) {
    ++result.indptr[target + 1];
  }
  for (std::size_t target = 0; target < target_rows; ++target) {
    result.indptr[target + 1] += result.indptr[target];
  }
  result.indices.resize(indices.size());
  result.weights.resize(indices.size());
  std::vector<std::int64_t> next(result.indptr.begin(), result.indptr.end() - 1);
  for (std::size_t source = 0; source < sources(); ++source) {
    for (auto i = static_cast<std::size_t>(indptr[source]); i < static_cast<std::size_t>(indptr[source + 1]);
         ++i) {
      const auto place = static_cast<std::size_t>(next[indices[i]]++);
      result.indices[place] = static_cast<std::uint32_t>(source);
      result.weights[place] = weights[i];
    }
  }
  return result;
}

void FactGraph::validate() const {
  fact_entities.validate(facts, entities);
  fact_units.validate(facts, units);
  synonyms.validate(entities, entities);
  require(synonyms == synonyms.transposed(entities), "synonyms are not symmetric");
  for (std::size_t entity = 0; entity < entities; ++entity) {
    for (auto i = synonyms.indptr[entity]; i < synonyms.indptr[entity + 1]; ++i) {
      require(synonyms.indices[static_cast<std::size_t>(i)] != entity, "an entity is its own synonym");
    }
  }
}

}  // namespace ripple
