"""Erasure of what SQLite leaves behind when it deletes.

``secure_delete`` zeroes a deleted cell where it lies. When SQLite splits or joins pages it moves cells and
leaves their old copies in the free space of the page they came from; a later delete zeroes only the living
copy (a random run with 3.40.1 left about 30 of 1,500 deleted rows in the file). VACUUM would rewrite the
whole store for each delete and needs room for a second one, so the free space is zeroed in the file itself:
between the cell pointers and the first cell of each B-tree page, as section 1.6 of SQLite's file format
describes it. SQLite never reads those bytes, and a write cut short leaves the page as valid as before.

Such copies can lie in any page that was written since its free space was zeroed last, whichever transaction
wrote it. Which pages those are is read from the log before it is given up; what was written before this open
is not known, so its first erasure takes the whole file.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from ripple.errors import CorruptStoreError

__all__ = ["log_pages", "zero_free_space"]

_FILE_HEADER_BYTES: Final = 100
# Type byte of a B-tree page -> bytes of its header.
_PAGE_HEADER_BYTES: Final = {2: 12, 5: 12, 10: 8, 13: 8}
_CHUNK_BYTES: Final = 16 << 20
# The first byte of any other page is zero: the high byte of the number of the next page in its chain. That
# holds below this many pages (137 GB at 4 KiB).
_PAGES_MAX: Final = 2 << 24
# Section 4.1 of the file format: a header, then frames of a header, which begins with the page's number, and
# the page.
_LOG_HEADER_BYTES: Final = 32
_FRAME_HEADER_BYTES: Final = 24


def log_pages(log: Path, page_bytes: int) -> set[int]:
    """Return the numbers of all pages that a log holds, overwritten and broken frames of it included."""
    pages = set()
    with log.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        for place in range(_LOG_HEADER_BYTES, size, _FRAME_HEADER_BYTES + page_bytes):
            pages.add(int.from_bytes(os.pread(file.fileno(), 4, place), "big"))
    return pages


def zero_free_space(descriptor: int, page_bytes: int, wanted: Iterable[int] | None = None) -> int:
    """Zero the free space of the B-tree pages of a database file and return how many pages had residue.

    Parameters
    ----------
    descriptor : int
        The file, open for reading and writing. The log must be empty and no write may be going on; the
        writing connection must be opened anew before it writes, for its cache still holds the old bytes.
    page_bytes : int
        Size of a page, at most 64 KiB.
    wanted : iterable of int, optional
        Numbers of the pages to look at, from 1; all when not given. Those that the file does not have are
        passed over.

    Raises
    ------
    CorruptStoreError
        A page's header contradicts its cells. Pages before it may have been zeroed.
    """
    zeros = bytes(65_536)
    changed = 0
    pages = os.fstat(descriptor).st_size // page_bytes
    if pages >= _PAGES_MAX:
        raise CorruptStoreError(f"the database has {pages} pages; free space is zeroed below {_PAGES_MAX}")
    for first, count in _runs(pages, max(1, _CHUNK_BYTES // page_bytes), wanted):
        chunk = os.pread(descriptor, count * page_bytes, first * page_bytes)
        for base in range(0, len(chunk), page_bytes):
            header = base + (_FILE_HEADER_BYTES if first == 0 and base == 0 else 0)
            if chunk[header] not in _PAGE_HEADER_BYTES:
                continue
            begin, end = _free_space(chunk, base, header, page_bytes, first + base // page_bytes + 1)
            if chunk[begin:end] != zeros[: end - begin]:
                os.pwrite(descriptor, zeros[: end - begin], first * page_bytes + begin)
                changed += 1
    if changed:
        os.fsync(descriptor)
    return changed


def _runs(pages: int, most: int, wanted: Iterable[int] | None) -> Iterator[tuple[int, int]]:
    """Give the pages to look at as runs: the first, from 0, and how many."""
    if wanted is None:
        for first in range(0, pages, most):
            yield first, min(most, pages - first)
    else:
        yield from ((number - 1, 1) for number in sorted(wanted) if 0 < number <= pages)


def _free_space(chunk: bytes, base: int, header: int, page_bytes: int, number: int) -> tuple[int, int]:
    """Return where the free space of a page begins and ends, in bytes of the chunk."""
    cells = int.from_bytes(chunk[header + 3 : header + 5], "big")
    pointers = header + _PAGE_HEADER_BYTES[chunk[header]]
    begin = pointers + 2 * cells
    end = base + (int.from_bytes(chunk[header + 5 : header + 7], "big") or 65_536)
    lowest = page_bytes
    if cells and begin <= base + page_bytes:
        lowest = min(struct.unpack_from(f">{cells}H", chunk, pointers))
    if not begin <= end <= base + lowest <= base + page_bytes:
        raise CorruptStoreError(f"page {number} of the database contradicts itself; run verify")
    return begin, end
