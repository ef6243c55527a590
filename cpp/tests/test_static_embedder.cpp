// What Python cannot reach: damaged files under the sanitizers, and readers side by side.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ripple/error.hpp"
#include "ripple/static_embedder.hpp"

namespace {

std::uint32_t slow_crc32(const std::string& bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
  }
  return ~crc;
}

template <class T>
void put(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

void seal(std::string& bytes) { put(bytes, slow_crc32(bytes)); }

// Two pieces in two dimensions: cat (3, 0), ##s (0, 4).
std::string unsealed_file() {
  std::string bytes = "RPLSTEMB";
  for (const std::uint32_t value : {1U, 2U, 2U, 8U, 1U}) {
    put(bytes, value);
  }
  bytes +=
      "t\x03"
      "cat\x03##s";
  put(bytes, 1.0F);
  put(bytes, 2.0F);
  bytes += std::string("\x03\x00\x00\x02", 4);
  return bytes;
}

}  // namespace

TEST_CASE("static embedder sums the rows of the pieces") {
  std::string bytes = unsealed_file();
  seal(bytes);
  const auto embedder = ripple::StaticEmbedder::parse(bytes, "test");
  std::array<float, 2> vector{};
  CHECK(embedder->embed("Cats", vector));
  CHECK(vector[0] == doctest::Approx(0.6));
  CHECK(vector[1] == doctest::Approx(0.8));
  CHECK(embedder->word_vector("cat", vector));
  CHECK(vector[0] == doctest::Approx(1.0));
}

TEST_CASE("static embedder leaves the output alone when there is no known piece or no UTF-8") {
  std::string bytes = unsealed_file();
  seal(bytes);
  const auto embedder = ripple::StaticEmbedder::parse(bytes, "test");
  std::array<float, 2> vector = {7.0F, 8.0F};
  for (const std::string_view text :
       {"", "dog", "\xFF\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC0\xAF", "\xE4"}) {
    CHECK_FALSE(embedder->embed(text, vector));
  }
  CHECK(vector == std::array<float, 2>{7.0F, 8.0F});
  CHECK(embedder->embed("ca\xFFts\xE4\xB8", vector));  // the broken bytes are left out of the word
  CHECK(vector[0] == doctest::Approx(0.6));
  std::array<float, 3> wide{};
  CHECK_THROWS_AS(static_cast<void>(embedder->embed("cat", wide)), std::invalid_argument);
}

TEST_CASE("static embedder refuses any damage, also under a right checksum, without reading outside") {
  const std::string good = unsealed_file();
  for (std::size_t size = 0; size < good.size(); ++size) {
    std::string cut = good.substr(0, size);
    CHECK_THROWS_AS(static_cast<void>(ripple::StaticEmbedder::parse(cut, "cut")), ripple::CorruptStoreError);
    seal(cut);
    CHECK_THROWS_AS(static_cast<void>(ripple::StaticEmbedder::parse(cut, "cut")), ripple::CorruptStoreError);
  }
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    seal(flipped);
    try {
      // Other letters, scales and values are a model too; what is accepted must be usable.
      const auto embedder = ripple::StaticEmbedder::parse(flipped, "flipped");
      std::vector<float> vector(embedder->dimension());
      static_cast<void>(embedder->embed("cats", vector));
      ++accepted;
    } catch (const ripple::CorruptStoreError&) {
    }
  }
  CHECK(accepted > 0);
  CHECK(accepted < good.size() * 8);
}

TEST_CASE("static embedder serves many threads") {
  std::string bytes = unsealed_file();
  seal(bytes);
  const auto embedder = ripple::StaticEmbedder::parse(bytes, "test");
  std::array<std::array<float, 2>, 4> vectors{};
  std::vector<std::thread> readers;
  for (auto& vector : vectors) {
    readers.emplace_back([&embedder, &vector] {
      for (int i = 0; i < 500; ++i) {
        static_cast<void>(embedder->embed("cats cat", vector));
      }
    });
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
  CHECK(std::all_of(vectors.begin(), vectors.end(), [&](const auto& v) { return v == vectors.front(); }));
}
