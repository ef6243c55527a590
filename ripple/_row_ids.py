"""Rows of the core and the ids that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["RowIds"]

IdArray = npt.NDArray[np.int64]
RowArray = npt.NDArray[np.uint32]


class RowIds:
    """Ids by row. Units rise with their rows; a raw turn, whose id stands with a minus, may come in between.

    One writer; readers beside it know each row that they can have met.
    """

    def __init__(self) -> None:
        self._unit_ids = np.empty(0, np.int64)  # a raw turn repeats the unit before it
        self._turn_ids = np.empty(0, np.int64)  # 0 for a unit
        self._turn_rows: dict[int, int] = {}  # of the turns that are shown
        self._rows = 0

    def add_units(self, unit_ids: IdArray) -> None:
        """Enter the next rows as units."""
        wanted = self._rows + len(unit_ids)
        if wanted > len(self._unit_ids):
            self._unit_ids, self._turn_ids = (
                np.concatenate([ids[: self._rows], np.zeros(max(wanted, 1024), np.int64)])
                for ids in (self._unit_ids, self._turn_ids)
            )
        self._unit_ids[self._rows : wanted] = unit_ids
        self._rows = wanted

    def add_turns(self, turn_ids: Sequence[int]) -> None:
        """Enter the next rows as raw turns."""
        first = self._rows
        self.add_units(np.full(len(turn_ids), self._unit_ids[first - 1] if first else 0, np.int64))
        self._turn_ids[first : self._rows] = turn_ids
        self._turn_rows.update(zip(turn_ids, range(first, self._rows), strict=True))

    def take_turns(self, turn_ids: Iterable[int]) -> RowArray:
        """Return the rows of those turns that are shown, and count them as hidden."""
        rows = sorted(self._turn_rows.pop(turn_id) for turn_id in set(turn_ids) if turn_id in self._turn_rows)
        return np.array(rows, np.uint32)

    def ids(self, rows: RowArray) -> IdArray:
        """Return the ids of rows."""
        places = rows.astype(np.int64)
        turns = self._turn_ids[places]
        ids: IdArray = np.where(turns > 0, -turns, self._unit_ids[places])
        return ids

    def rows(self, unit_ids: Iterable[int]) -> RowArray:
        """Return the rows of those units that are here, in ascending order of unit."""
        wanted = np.unique(np.fromiter(unit_ids, np.int64))
        known = self._unit_ids[: self._rows]
        at = np.searchsorted(known, wanted)
        at = at[(at < self._rows) & (known[np.minimum(at, self._rows - 1)] == wanted)] if self._rows else at[:0]
        return at.astype(np.uint32)
