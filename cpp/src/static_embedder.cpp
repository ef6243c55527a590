#include "ripple/static_embedder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "ripple/error.hpp"

namespace ripple {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian and read in place");

constexpr std::string_view kMagic = "RPLSTEMB";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kFileBytesMax = 1ULL << 30U;
constexpr std::size_t kRowsAhead = 4;

// Tables for CRC-32 eight bytes at a time: 8 MB in about 5 ms, a byte at a time takes 20 ms.
constexpr auto kCrcTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    tables[0][byte] = value;
  }
  for (std::size_t table = 1; table < 8; ++table) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[table - 1][byte];
      tables[table][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}();

[[nodiscard]] std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      crc ^= kCrcTables[7 - i][(word >> (8 * i)) & 0xFFU];
    }
  }
  for (; at < bytes.size(); ++at) {
    crc = (crc >> 8U) ^ kCrcTables[0][(crc ^ static_cast<unsigned char>(bytes[at])) & 0xFFU];
  }
  return ~crc;
}

// Walks the bytes of a file; a read past the end throws.
class Reader {
 public:
  Reader(std::string_view bytes, std::string_view origin) : rest_(bytes), origin_(origin) {}

  [[nodiscard]] std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      fail("ends too early");
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  template <class T>
  [[nodiscard]] T value() {
    T result{};
    const std::string_view taken = take(sizeof(T));
    std::memcpy(&result, taken.data(), taken.size());
    return result;
  }

  template <class T>
  [[nodiscard]] std::vector<T> values(std::size_t count) {
    const std::string_view taken = take(count * sizeof(T));
    std::vector<T> result(count);
    std::memcpy(result.data(), taken.data(), taken.size());
    return result;
  }

  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  [[noreturn]] void fail(const std::string& what) const {
    throw CorruptStoreError(std::string(origin_) + " is not a usable static embedder: it " + what +
                            "; install the package anew");
  }

 private:
  std::string_view rest_;
  std::string_view origin_;
};

struct Header {
  std::uint32_t version;
  std::uint32_t dimension;
  std::uint32_t pieces;
  std::uint32_t vocabulary_bytes;
  std::uint32_t name_bytes;
};

[[nodiscard]] Header read_header(Reader& reader) {
  if (reader.take(kMagic.size()) != kMagic) {
    reader.fail("begins with other bytes");
  }
  const auto header = reader.value<Header>();
  if (header.version != kVersion) {
    reader.fail("has version " + std::to_string(header.version) + ", this build reads " +
                std::to_string(kVersion));
  }
  if (header.dimension == 0 || header.dimension > StaticEmbedder::kDimensionMax) {
    reader.fail("has dimension " + std::to_string(header.dimension));
  }
  const std::uint64_t expected = std::uint64_t{header.name_bytes} + header.vocabulary_bytes +
                                 std::uint64_t{header.pieces} * (sizeof(float) + header.dimension) +
                                 sizeof(std::uint32_t);
  if (expected != reader.left()) {
    reader.fail("holds " + std::to_string(reader.left()) + " bytes after its header, which names " +
                std::to_string(expected));
  }
  return header;
}

[[nodiscard]] WordPieces read_pieces(Reader& reader, const Header& header) {
  Reader vocabulary(reader.take(header.vocabulary_bytes), "vocabulary");
  std::vector<std::string_view> pieces;
  pieces.reserve(header.pieces);
  while (vocabulary.left() != 0 && pieces.size() < header.pieces) {
    const auto length = vocabulary.value<std::uint8_t>();
    if (length > vocabulary.left()) {
      reader.fail("has a piece that ends after the vocabulary");
    }
    pieces.push_back(vocabulary.take(length));
  }
  if (pieces.size() != header.pieces || vocabulary.left() != 0) {
    reader.fail("has a vocabulary of another size than its header says");
  }
  try {
    return WordPieces(pieces);
  } catch (const std::invalid_argument& error) {
    reader.fail(error.what());
  }
}

}  // namespace

StaticEmbedder::StaticEmbedder(std::string name, std::size_t dimension, WordPieces pieces,
                               std::vector<float> scales, std::vector<std::int8_t> values)
    : name_(std::move(name)),
      dimension_(dimension),
      pieces_(std::move(pieces)),
      scales_(std::move(scales)),
      values_(std::move(values)) {}

std::shared_ptr<const StaticEmbedder> StaticEmbedder::load(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file || size > kFileBytesMax) {
    throw CorruptStoreError(path + " cannot be read as a static embedder; give the path of a .bin file");
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return parse(bytes, path);
}

std::shared_ptr<const StaticEmbedder> StaticEmbedder::parse(std::string_view bytes, std::string_view origin) {
  Reader reader(bytes, origin);
  const Header header = read_header(reader);
  const std::string_view covered = bytes.substr(0, bytes.size() - sizeof(std::uint32_t));
  std::uint32_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + covered.size(), sizeof(checksum));
  if (crc32(covered) != checksum) {
    reader.fail("has another checksum than it was written with");
  }
  std::string name(reader.take(header.name_bytes));
  WordPieces pieces = read_pieces(reader, header);
  auto scales = reader.values<float>(header.pieces);
  if (!std::all_of(scales.begin(), scales.end(), [](float s) { return std::isfinite(s) && s > 0.0F; })) {
    reader.fail("has a scale that is not a positive number");
  }
  auto values = reader.values<std::int8_t>(std::size_t{header.pieces} * header.dimension);
  return std::shared_ptr<const StaticEmbedder>(new StaticEmbedder(
      std::move(name), header.dimension, std::move(pieces), std::move(scales), std::move(values)));
}

double StaticEmbedder::sum_pieces(std::string_view utf8, std::array<float, kDimensionMax>& sums) const {
  std::vector<std::uint32_t> ids;
  pieces_.append_ids(utf8, ids);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    // Rows lie all over 8 MB: asking for them ahead doubled the sentences a second
    // (test_bench_static_embedder).
    __builtin_prefetch(values_.data() + ids[std::min(k + kRowsAhead, ids.size() - 1)] * dimension_);
    const float scale = scales_[ids[k]];
    const std::int8_t* row = values_.data() + ids[k] * dimension_;
    for (std::size_t i = 0; i < dimension_; ++i) {
      sums[i] += scale * static_cast<float>(row[i]);
    }
  }
  double squares = 0.0;
  for (std::size_t i = 0; i < dimension_; ++i) {
    squares += static_cast<double>(sums[i]) * static_cast<double>(sums[i]);
  }
  return std::sqrt(squares);
}

bool StaticEmbedder::embed(std::string_view utf8, std::span<float> out) const {
  if (out.size() != dimension_) {
    throw std::invalid_argument("output has " + std::to_string(out.size()) +
                                " elements, the embedder has dimension " + std::to_string(dimension_));
  }
  std::array<float, kDimensionMax> sums{};
  const double length = sum_pieces(utf8, sums);
  if (length < 1e-12) {
    return false;
  }
  const double inverse = 1.0 / length;
  for (std::size_t i = 0; i < dimension_; ++i) {
    out[i] = static_cast<float>(static_cast<double>(sums[i]) * inverse);
  }
  return true;
}

float StaticEmbedder::weight(std::string_view utf8) const {
  std::array<float, kDimensionMax> sums{};
  return static_cast<float>(sum_pieces(utf8, sums));
}

}  // namespace ripple
