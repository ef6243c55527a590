// The second graph of a namespace: entities, facts and units, each in a row space of its own, for relation
// propagation (SEEM: personalised PageRank from the facts that match a query to the units they came from).
// Plain snapshots that are built as a whole, checked once and then only read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ripple/types.hpp"

namespace ripple {

// Rows of two spaces side by side with their own meaning: an entity and a fact of the same number are
// unrelated.
using EntityRow = std::uint32_t;
using FactRow = std::uint32_t;

// The links from one row space into another, as CSR: the targets of source i are indices[indptr[i] ..
// indptr[i + 1]), ascending without repeats.
struct Relation {
  std::vector<std::int64_t> indptr{0};  // sources + 1
  std::vector<std::uint32_t> indices;
  std::vector<float> weights;  // parallel to indices, finite and positive

  [[nodiscard]] std::size_t sources() const { return indptr.empty() ? 0 : indptr.size() - 1; }

  // Throws CorruptStoreError when the arrays are not the CSR of `sources` x `targets` described above; after
  // it every offset and index may be followed unchecked. O(links).
  void validate(std::size_t sources, std::size_t targets) const;

  // The same links seen from the other space. The relation must be valid. O(links + targets).
  [[nodiscard]] Relation transposed(std::size_t targets) const;

  friend bool operator==(const Relation&, const Relation&) = default;
};

// A fact names its subject and object (facts of the same entity meet there) and the units that state it;
// synonyms join entities that may be one. Units are the rows of MemoryGraph.
struct FactGraph {
  std::size_t entities = 0;
  std::size_t facts = 0;
  std::size_t units = 0;
  Relation fact_entities;  // facts x entities
  Relation fact_units;     // facts x units
  Relation synonyms;       // entities x entities, symmetric, no entity with itself

  // Throws CorruptStoreError when a relation is not valid in its two spaces, or synonyms are not symmetric.
  void validate() const;
};

}  // namespace ripple
