"""Checksums of rows: SQLite does not notice bit rot, so each row carries its own.

Every table has its INTEGER columns first, then REAL, TEXT and BLOB, and the checksum at the end. The checksum
is the CRC-32 of: each INTEGER as int64 and each REAL as binary64 (NULL as -2^63), then for each TEXT its length
in code points and for each BLOB its length in bytes as int64 (NULL as -1), all little-endian, then the UTF-8
of the texts and the bytes of the blobs, in the order of the columns.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ripple._record.values import NO_TIME
from ripple.errors import CorruptStoreError

__all__ = [
    "DEAD_MESSAGE",
    "EDGE",
    "META",
    "NAMESPACE",
    "REPLY",
    "SOURCE",
    "TURN",
    "UNIT",
    "USAGE",
    "VECTOR",
    "WINDOW",
    "RowFormat",
]

# Below this many rows a call for each is faster than arrays.
_FEW_ROWS: Final = 64

_Column: TypeAlias = Sequence[Any] | npt.NDArray[Any]


class RowFormat:
    """How many columns of each type a table has, and the checksums of its rows."""

    __slots__ = ("_ints", "_numbers", "_pack", "_texts", "name")

    def __init__(self, name: str, *, ints: int = 0, reals: int = 0, texts: int = 0, blobs: int = 0) -> None:
        self.name = name
        self._ints = ints
        self._numbers = ints + reals
        self._texts = ints + reals + texts
        self._pack = struct.Struct(f"<{ints}q{reals}d{texts + blobs}q").pack

    def checksum(self, row: Sequence[Any]) -> int:
        """Return the checksum of a row given without its last column."""
        numbers = row[: self._numbers]
        texts = row[self._numbers : self._texts]
        blobs = row[self._texts :]
        if None in numbers:
            numbers = [NO_TIME if number is None else number for number in numbers]
        if None in texts:
            lengths = [-1 if text is None else len(text) for text in texts]
            texts = [text or "" for text in texts]
        else:
            lengths = list(map(len, texts))
        for blob in blobs:
            lengths.append(-1 if blob is None else len(blob))
        head = self._pack(*numbers, *lengths) + "".join(texts).encode()
        return zlib.crc32(b"".join([head, *(blob or b"" for blob in blobs)]) if blobs else head)

    def checksums(self, columns: Sequence[_Column]) -> npt.NDArray[np.uint32]:
        """Return the checksums of rows given as columns, of a table without TEXT; no INTEGER may be None.

        For many rows several times faster than a call for each. (For rows with texts it would not be.)
        """
        if len(columns[0]) < _FEW_ROWS:
            listed = [self.checksum(row) for row in zip(*columns, strict=True)]
            return np.array(listed, dtype=np.uint32)
        assert self._texts == self._numbers
        heads = np.empty((len(columns[0]), len(columns)), dtype="<i8")
        for place, column in enumerate(columns):
            if place < self._ints:
                heads[:, place] = column
            elif place < self._numbers:
                heads[:, place] = np.asarray(column, dtype="<f8").view("<i8")
            else:
                heads[:, place] = np.fromiter(map(len, column), dtype=np.int64, count=len(column))
        sums = _crc_of_rows(heads.view(np.uint8))
        for column in columns[self._numbers :]:
            sums = np.fromiter(map(zlib.crc32, column, sums.tolist()), dtype=np.uint32, count=len(sums))
        return sums

    def sealed(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the row with its checksum behind it."""
        return (*row, self.checksum(row))

    def sealed_rows(self, columns: Sequence[list[Any]]) -> Iterator[tuple[Any, ...]]:
        """Return the rows with their checksums behind them; columns as in ``checksums``."""
        return zip(*columns, self.checksums(columns).tolist(), strict=True)

    def is_sound(self, row: tuple[Any, ...]) -> bool:
        """Tell whether a row read with all its columns has the checksum that it carries."""
        try:
            return bool(self.checksum(row[:-1]) == row[-1])
        except (struct.error, TypeError, UnicodeError):  # a column has changed its type
            return False

    def check(self, *rows: tuple[Any, ...]) -> None:
        """Raise ``CorruptStoreError`` unless all rows are sound."""
        checksum = self.checksum
        row: tuple[Any, ...] = ()
        with suppress(struct.error, TypeError, UnicodeError):  # a column has changed its type
            for row in rows:
                if checksum(row[:-1]) != row[-1]:
                    break
            else:
                return
        raise CorruptStoreError(
            f"the row of table {self.name} with key {row[0]!r} does not have the checksum that it carries; "
            "run verify and restore the store from a copy"
        )

    def check_columns(self, columns: Sequence[_Column]) -> None:
        """Raise ``CorruptStoreError`` unless all rows are sound, given as columns with the last."""
        is_sound = False
        with suppress(OverflowError, TypeError, ValueError):  # a column has changed its type
            is_sound = np.array_equal(self.checksums(columns[:-1]), columns[-1])
        if not is_sound:
            raise CorruptStoreError(
                f"rows of table {self.name} do not have the checksums that they carry; "
                "run verify and restore the store from a copy"
            )


@cache
def _crc_tables(width: int) -> npt.NDArray[np.uint32]:
    """Return what each byte at each position adds to the CRC-32 of ``width`` bytes."""
    last = np.array([zlib.crc32(bytes([byte])) for byte in range(256)], dtype=np.uint32)
    last ^= last[0]
    tables = np.empty((width, 256), dtype=np.uint32)
    tables[width - 1] = last
    for position in range(width - 2, -1, -1):  # one more byte follows
        behind = tables[position + 1]
        tables[position] = (behind >> np.uint32(8)) ^ last[behind & np.uint32(255)]
    return tables


def _crc_of_rows(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return the CRC-32 of each row of bytes.

    CRC-32 is affine over GF(2): a row's is the CRC of zeros changed by one table look-up a byte.
    """
    width = rows.shape[1]
    sums = np.full(len(rows), zlib.crc32(bytes(width)), dtype=np.uint32)
    for position, table in enumerate(_crc_tables(width)):
        sums ^= table[rows[:, position]]
    return sums


META: Final = RowFormat("meta", texts=2)
NAMESPACE: Final = RowFormat("namespaces", ints=11, texts=1)
TURN: Final = RowFormat("turns", ints=5, texts=6)
WINDOW: Final = RowFormat("windows", ints=6, texts=4, blobs=1)
UNIT: Final = RowFormat("units", ints=10, texts=8, blobs=1)
VECTOR: Final = RowFormat("vectors", ints=2, blobs=1)
SOURCE: Final = RowFormat("provenance", ints=4)
EDGE: Final = RowFormat("edges", ints=4, reals=1)
DEAD_MESSAGE: Final = RowFormat("dead_messages", ints=2, blobs=1)
USAGE: Final = RowFormat("usage", ints=5, reals=2, texts=1)
REPLY: Final = RowFormat("replies", ints=2, texts=1, blobs=1)
