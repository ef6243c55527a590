#include "ripple/bitmap.hpp"

#include <roaring.h>

#include <new>
#include <string>
#include <utility>

#include "ripple/error.hpp"

namespace ripple {

using roaring::api::roaring_bitmap_s;

void RoaringBitmap::Free::operator()(roaring_bitmap_s* bitmap) const { roaring_bitmap_free(bitmap); }

RoaringBitmap::RoaringBitmap(roaring_bitmap_s* owned) : bitmap_(owned) {
  if (bitmap_ == nullptr) {
    throw std::bad_alloc();
  }
}

RoaringBitmap::RoaringBitmap() : RoaringBitmap(roaring_bitmap_create()) {}
RoaringBitmap::RoaringBitmap(const RoaringBitmap& other)
    : RoaringBitmap(roaring_bitmap_copy(other.bitmap_.get())) {}
RoaringBitmap::RoaringBitmap(RoaringBitmap&& other) noexcept = default;
RoaringBitmap& RoaringBitmap::operator=(RoaringBitmap&& other) noexcept = default;
RoaringBitmap::~RoaringBitmap() = default;

RoaringBitmap& RoaringBitmap::operator=(const RoaringBitmap& other) {
  if (this != &other) {
    *this = RoaringBitmap(other);
  }
  return *this;
}

bool RoaringBitmap::add(Row row) { return roaring_bitmap_add_checked(bitmap_.get(), row); }
bool RoaringBitmap::remove(Row row) { return roaring_bitmap_remove_checked(bitmap_.get(), row); }
bool RoaringBitmap::contains(Row row) const { return roaring_bitmap_contains(bitmap_.get(), row); }

std::size_t RoaringBitmap::cardinality() const { return roaring_bitmap_get_cardinality(bitmap_.get()); }

std::vector<Row> RoaringBitmap::rows() const {
  std::vector<Row> rows(cardinality());
  roaring_bitmap_to_uint32_array(bitmap_.get(), rows.data());
  return rows;
}

RoaringBitmap RoaringBitmap::intersected(const RoaringBitmap& other) const {
  return RoaringBitmap(roaring_bitmap_and(bitmap_.get(), other.bitmap_.get()));
}

RoaringBitmap RoaringBitmap::united(const RoaringBitmap& other) const {
  return RoaringBitmap(roaring_bitmap_or(bitmap_.get(), other.bitmap_.get()));
}

bool RoaringBitmap::intersects(const RoaringBitmap& other) const {
  return roaring_bitmap_intersect(bitmap_.get(), other.bitmap_.get());
}

std::vector<std::byte> RoaringBitmap::serialise() const {
  std::vector<std::byte> bytes(roaring_bitmap_portable_size_in_bytes(bitmap_.get()));
  roaring_bitmap_portable_serialize(bitmap_.get(), reinterpret_cast<char*>(bytes.data()));
  return bytes;
}

RoaringBitmap RoaringBitmap::deserialise(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  std::unique_ptr<roaring_bitmap_s, Free> read(roaring_bitmap_portable_deserialize_safe(text, bytes.size()));
  const char* reason = "not a Roaring bitmap";
  if (read == nullptr || !roaring_bitmap_internal_validate(read.get(), &reason)) {
    throw CorruptStoreError("bitmap of " + std::to_string(bytes.size()) + " bytes is damaged: " + reason);
  }
  if (const std::size_t used = roaring_bitmap_portable_deserialize_size(text, bytes.size());
      used != bytes.size()) {
    throw CorruptStoreError("bitmap ends at byte " + std::to_string(used) + " of " +
                            std::to_string(bytes.size()));
  }
  return RoaringBitmap(read.release());
}

bool operator==(const RoaringBitmap& a, const RoaringBitmap& b) {
  return roaring_bitmap_equals(a.bitmap_.get(), b.bitmap_.get());
}

}  // namespace ripple
