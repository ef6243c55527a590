// A compressed set of rows (CRoaring). Holds a cue's postings; its portable bytes are what pyroaring and
// every other Roaring library read. Readers may run side by side; a writer runs alone.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ripple/types.hpp"

namespace roaring::api {
struct roaring_bitmap_s;  // NOLINT(readability-identifier-naming): the name that CRoaring gave it
}

namespace ripple {

class RoaringBitmap {
 public:
  RoaringBitmap();
  RoaringBitmap(const RoaringBitmap& other);
  RoaringBitmap(RoaringBitmap&& other) noexcept;  // leaves the other fit only to be assigned to or destroyed
  RoaringBitmap& operator=(const RoaringBitmap& other);
  RoaringBitmap& operator=(RoaringBitmap&& other) noexcept;
  ~RoaringBitmap();

  // Each tells whether the set changed. O(log containers + size of one container).
  bool add(Row row);
  bool remove(Row row);

  [[nodiscard]] bool contains(Row row) const;
  [[nodiscard]] std::size_t cardinality() const;
  [[nodiscard]] std::vector<Row> rows() const;  // ascending

  [[nodiscard]] RoaringBitmap intersected(const RoaringBitmap& other) const;
  [[nodiscard]] RoaringBitmap united(const RoaringBitmap& other) const;
  [[nodiscard]] bool intersects(const RoaringBitmap& other) const;

  // Calls visit(row) for each row in ascending order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Row row : rows()) {
      visit(row);
    }
  }

  // The portable format of the Roaring specification.
  [[nodiscard]] std::vector<std::byte> serialise() const;

  // CorruptStoreError unless the bytes are exactly one valid bitmap.
  [[nodiscard]] static RoaringBitmap deserialise(std::span<const std::byte> bytes);

  friend bool operator==(const RoaringBitmap& a, const RoaringBitmap& b);

 private:
  struct Free {
    void operator()(roaring::api::roaring_bitmap_s* bitmap) const;
  };
  explicit RoaringBitmap(roaring::api::roaring_bitmap_s* owned);  // std::bad_alloc on nullptr

  std::unique_ptr<roaring::api::roaring_bitmap_s, Free> bitmap_;
};

}  // namespace ripple
