#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "ripple/error.hpp"
#include "ripple/vector_index.hpp"

using ripple::Row;
using ripple::RowMask;
using ripple::VectorIndex;
using ripple::VectorIndexOptions;

namespace {

// Clusters as embeddings have them: one of 50 centres, plus noise.
std::vector<float> clustered(std::mt19937& random, std::size_t dimension) {
  const std::uint32_t centre = std::uniform_int_distribution<std::uint32_t>(0, 49)(random);
  std::mt19937 of_centre(centre);
  std::normal_distribution<float> normal;
  std::vector<float> vector(dimension);
  for (float& value : vector) {
    value = normal(of_centre) + 0.8F * normal(random);
  }
  return vector;
}

RowMask all_rows(std::size_t rows) {
  RowMask mask(rows);
  for (Row row = 0; row < rows; ++row) {
    mask.set(row);
  }
  return mask;
}

}  // namespace

TEST_CASE("a vector keeps its address while others come and go") {
  VectorIndex index(3);
  index.add(5, std::vector<float>{3.0F, 0.0F, 4.0F});
  const float* address = index.vector(5).data();
  for (Row row = 10; row < 500; ++row) {
    index.add(row, std::vector<float>{1.0F, static_cast<float>(row), 0.0F});
  }
  for (Row row = 10; row < 400; ++row) {
    index.remove(row);
  }
  CHECK(index.vector(5).data() == address);
  CHECK(index.vector(5)[0] == doctest::Approx(0.6F));
  CHECK(index.vector(5)[2] == doctest::Approx(0.8F));
  CHECK(index.vector(10).empty());
}

TEST_CASE("a builder, readers and a writer share the index under a shared mutex") {
  constexpr std::size_t kDimension = 16;
  constexpr Row kRows = 900;
  VectorIndex index(kDimension, {.exact_below = 100, .max_links = 8, .ef_construction = 40});
  std::shared_mutex mutex;
  std::mt19937 random(3);
  for (Row row = 0; row < kRows; ++row) {
    index.add(row, clustered(random, kDimension));
  }
  const RowMask mask = all_rows(2 * kRows);
  std::atomic<bool> is_built = false;
  std::thread builder([&] {
    for (bool is_complete = false; !is_complete;) {
      const std::shared_lock lock(mutex);
      is_complete = index.build_step(16);
    }
    const std::unique_lock lock(mutex);
    index.adopt_graph();
    is_built = true;
  });
  std::atomic<int> short_results = 0;
  std::thread reader([&] {
    std::mt19937 own(4);
    do {
      const auto query = clustered(own, kDimension);
      const std::shared_lock lock(mutex);
      short_results += index.search(query, 10, mask).size() != 10 ? 1 : 0;
    } while (!is_built);
  });
  std::mt19937 own(5);
  for (Row row = kRows; row < kRows + 200; ++row) {
    const auto vector = clustered(own, kDimension);
    const std::unique_lock lock(mutex);
    index.add(row, vector);
    index.remove(row - kRows);  // some are in the graph being built, some are not
    if (row % 3 == 0) {
      index.add(row - kRows, index.vector(row));  // a duplicate of a newer row
    }
  }
  builder.join();
  reader.join();
  CHECK(short_results == 0);
  CHECK(index.has_graph());
  CHECK(index.self_recall(200) >= 0.95);
  std::mt19937 queries(6);
  int found = 0;
  for (int i = 0; i < 50; ++i) {
    const auto query = clustered(queries, kDimension);
    const auto exact = index.search_exact(query, 10, mask);
    for (const auto& hit : index.search(query, 10, mask)) {
      found += std::find(exact.begin(), exact.end(), hit) != exact.end() ? 1 : 0;
    }
  }
  CHECK(found >= 475);  // recall@10 of .95
}

TEST_CASE("adopting a graph that was dropped meanwhile does nothing") {
  VectorIndex index(4, {.exact_below = 20});
  std::mt19937 random(9);
  for (Row row = 0; row < 30; ++row) {
    index.add(row, clustered(random, 4));
  }
  CHECK(index.build_step(30));
  index.adopt_graph();
  CHECK(index.build_step(30));
  for (Row row = 0; row < 25; ++row) {
    index.remove(row);
  }
  CHECK_FALSE(index.has_graph());
  index.adopt_graph();
  CHECK_FALSE(index.has_graph());
}
