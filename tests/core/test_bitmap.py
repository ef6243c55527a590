"""RoaringBitmap: a set of rows, and what pyroaring reads of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from ripple import _core
from ripple.errors import CorruptStoreError

ROWS = st.one_of(st.integers(0, 40), st.integers(65_500, 65_600), st.integers(0, 2**32 - 1))
SETTINGS = settings(max_examples=60, deadline=None, derandomize=True)


def bitmap_of(rows):
    bitmap = _core.RoaringBitmap()
    for row in rows:
        bitmap.add(row)
    return bitmap


@SETTINGS
@given(st.lists(st.tuples(st.booleans(), ROWS), max_size=60))
def test_bitmap_holds_what_a_set_holds(operations):
    bitmap, shadow = _core.RoaringBitmap(), set()
    for is_added, row in operations:
        if is_added:
            assert bitmap.add(row) == (row not in shadow)
            shadow.add(row)
        else:
            assert bitmap.remove(row) == (row in shadow)
            shadow.discard(row)
        assert (row in bitmap) == is_added
    assert len(bitmap) == len(shadow)
    assert bitmap.rows().dtype == np.uint32
    assert bitmap.rows().tolist() == sorted(shadow)


@SETTINGS
@given(st.frozensets(ROWS, max_size=30), st.frozensets(ROWS, max_size=30))
def test_bitmaps_intersect_and_unite(a, b):
    left, right = bitmap_of(a), bitmap_of(b)
    assert (left & right).rows().tolist() == sorted(a & b)
    assert (left | right).rows().tolist() == sorted(a | b)
    assert left.intersects(right) == bool(a & b)
    assert (left == right) == (a == b)


@SETTINGS
@given(st.frozensets(ROWS, max_size=60))
def test_pyroaring_reads_the_bytes_and_they_come_back(rows):
    data = bitmap_of(rows).serialise()
    assert set(BitMap.deserialize(data)) == rows
    assert _core.RoaringBitmap.deserialise(data) == bitmap_of(rows)
    assert _core.RoaringBitmap.deserialise(BitMap(rows).serialize()) == bitmap_of(rows)


def test_cut_and_lengthened_bytes_are_refused():
    data = bitmap_of([*range(0, 9_000, 2), 70_000, 2**31]).serialise()
    for size in [*range(0, 40), len(data) - 1]:
        with pytest.raises(CorruptStoreError):
            _core.RoaringBitmap.deserialise(data[:size])
    with pytest.raises(CorruptStoreError, match="ends at byte"):
        _core.RoaringBitmap.deserialise(data + b"\0")


def test_a_flipped_bit_is_refused_or_gives_a_sound_bitmap():
    data = bitmap_of([*range(100, 200), 70_000, 70_001, 2**31]).serialise()
    refused = 0
    for position in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[position // 8] ^= 1 << (position % 8)
        try:
            rows = _core.RoaringBitmap.deserialise(bytes(damaged)).rows()
        except CorruptStoreError:
            refused += 1
        else:
            assert (np.diff(rows.astype(np.int64)) > 0).all()
    assert refused > 100  # the header and the order of values; the store's checksum covers the rest
