#include <doctest/doctest.h>

#include <limits>

#include "ripple/bipartite.hpp"
#include "ripple/error.hpp"

using ripple::CorruptStoreError;
using ripple::FactGraph;
using ripple::Relation;

namespace {

// Two facts over three entities and two units: fact 0 joins entities 0 and 2, fact 1 stands at entity 2
// alone.
FactGraph small_graph() {
  return {.entities = 3,
          .facts = 2,
          .units = 2,
          .fact_entities = {{0, 2, 3}, {0, 2, 2}, {1.0F, 1.0F, 0.5F}},
          .fact_units = {{0, 1, 3}, {1, 0, 1}, {1.0F, 1.0F, 1.0F}},
          .synonyms = {{0, 1, 2, 2}, {1, 0}, {0.75F, 0.75F}}};
}

}  // namespace

TEST_CASE("A fact graph that is well formed passes") {
  CHECK_NOTHROW(small_graph().validate());
  const FactGraph none{};
  CHECK_NOTHROW(none.validate());
}

TEST_CASE("Transposing turns a relation round and back") {
  const FactGraph graph = small_graph();
  const Relation entity_facts = graph.fact_entities.transposed(graph.entities);
  CHECK(entity_facts == Relation{{0, 1, 1, 3}, {0, 0, 1}, {1.0F, 1.0F, 0.5F}});
  CHECK_NOTHROW(entity_facts.validate(graph.entities, graph.facts));
  CHECK(entity_facts.transposed(graph.facts) == graph.fact_entities);
}

TEST_CASE("A malformed relation is refused") {
  const Relation good{{0, 2, 3}, {0, 2, 2}, {1.0F, 1.0F, 0.5F}};
  CHECK_NOTHROW(good.validate(2, 3));
  CHECK_THROWS_AS(good.validate(3, 3), CorruptStoreError);
  CHECK_THROWS_AS(good.validate(2, 2), CorruptStoreError);
  const auto refuse = [&](auto change) {
    Relation bad = good;
    change(bad);
    CHECK_THROWS_AS(bad.validate(2, 3), CorruptStoreError);
  };
  refuse([](Relation& r) { r.indptr.clear(); });
  refuse([](Relation& r) { r.indptr[0] = 1; });
  refuse([](Relation& r) { r.indptr[0] = -1; });
  refuse([](Relation& r) { r.indptr[1] = 4; });
  refuse([](Relation& r) { r.indptr[1] = -2; });
  refuse([](Relation& r) { r.indptr[2] = 2; });
  refuse([](Relation& r) { r.indices[0] = 2; });
  refuse([](Relation& r) { r.weights.pop_back(); });
  refuse([](Relation& r) { r.weights[1] = 0.0F; });
  refuse([](Relation& r) { r.weights[1] = std::numeric_limits<float>::quiet_NaN(); });
  refuse([](Relation& r) { r.weights[1] = std::numeric_limits<float>::infinity(); });
}

TEST_CASE("Synonyms must be symmetric and between two entities") {
  FactGraph one_way = small_graph();
  one_way.synonyms = {{0, 1, 1, 1}, {1}, {0.75F}};
  CHECK_THROWS_AS(one_way.validate(), CorruptStoreError);
  FactGraph unequal = small_graph();
  unequal.synonyms.weights[0] = 0.5F;
  CHECK_THROWS_AS(unequal.validate(), CorruptStoreError);
  FactGraph itself = small_graph();
  itself.synonyms = {{0, 1, 1, 1}, {0}, {0.75F}};
  CHECK_THROWS_AS(itself.validate(), CorruptStoreError);
}
