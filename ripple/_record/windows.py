"""The table of windows, and the turns that no window or no unit holds yet."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ripple._record import reading, writing
from ripple._record.database import Database
from ripple._record.rows import ID_MASK, id_range, keys_text, turn_of
from ripple._record.values import Window, WindowState
from ripple._record.writing import changing
from ripple.types import Turn

__all__ = ["WindowTable"]

_TURNS_BEHIND_WINDOWS: Final = """
SELECT * FROM turns WHERE id BETWEEN ? AND ?
AND id & :mask > (SELECT coalesce(max(last_turn), 0) FROM windows WHERE id BETWEEN ? AND ?) ORDER BY id
""".replace(":mask", str(ID_MASK))
_TURNS_BEFORE: Final = "SELECT * FROM turns WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?"
_CITED: Final = "SELECT DISTINCT turn_id FROM provenance WHERE turn_id IN (SELECT value FROM json_each(?))"
_SOURCES_OF_UNITS_OF: Final = """
SELECT unit_id, turn_id FROM provenance
WHERE unit_id IN (SELECT unit_id FROM provenance WHERE turn_id IN (SELECT value FROM json_each(?)))
"""


class WindowTable:
    """Windows of all namespaces; reads see the last committed change, changes wait for each other."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, namespace: int, *, state: WindowState | None = None) -> list[Window]:
        """Return the windows in one state, or in any, by id up."""
        with self._database.reading() as connection:
            return reading.read_windows(connection, namespace, state)

    def add(self, namespace: int, cut: Sequence[Sequence[int]], prompt_version: str) -> list[Window]:
        """Write pending windows over recorded turns and return them; the prompt's version tells who extracts."""
        with changing(self._database, namespace) as (change, row):
            windows = writing.insert_windows(change.connection, row, cut, prompt_version, change.sequence)
        return windows

    def mark(self, namespace: int, window_ids: Iterable[int], *, state: WindowState, reason: str = "") -> list[Window]:
        """Note how an attempt at windows ended (without units: those come with ``apply``) and return them."""
        marked = []
        with changing(self._database, namespace) as (change, row):
            for window_id in window_ids:
                window = writing.read_window(change.connection, row.number, window_id)
                attempts, sequence = window.attempts + 1, change.sequence
                window = replace(window, state=state, reason=reason, attempts=attempts, sequence=sequence)
                writing.write_window(change.connection, row.number, window, sequence)
                marked.append(window)
        return marked

    def open_turns(self, namespace: int) -> list[Turn]:
        """Return the turns behind the last window, by id up: those that no window holds yet."""
        bounds = id_range(namespace)
        return self._turns(_TURNS_BEHIND_WINDOWS, (*bounds, *bounds))

    def turns_before(self, namespace: int, turn_id: int | None, count: int) -> list[Turn]:
        """Return the last ``count`` turns with a smaller id, of all when none is given, by id up."""
        first, last = id_range(namespace)
        end = last if turn_id is None else (first | turn_id) - 1
        return self._turns(_TURNS_BEFORE, (first, end, count))[::-1]

    def uncited(self, namespace: int, turn_ids: Iterable[int]) -> list[Turn]:
        """Return those of the turns that no unit cites, by id up."""
        keys = keys_text(namespace, turn_ids)
        with self._database.reading() as connection:
            cited = {key & ID_MASK for (key,) in connection.execute(_CITED, (keys,))}
            turns = reading.read_turns(connection, namespace, turn_ids)
        return [turn for turn_id, turn in turns.items() if turn_id not in cited]

    def units_of(self, namespace: int, turn_ids: Iterable[int]) -> list[int]:
        """Return the units whose sources all lie among the turns, by id up."""
        among = set(turn_ids)
        survives: dict[int, bool] = {}
        with self._database.reading() as connection:
            for unit, turn in connection.execute(_SOURCES_OF_UNITS_OF, (keys_text(namespace, among),)):
                survives[unit] = survives.get(unit, False) or turn & ID_MASK not in among
        return sorted(key & ID_MASK for key, cites_others in survives.items() if not cites_others)

    def _turns(self, statement: str, bound: Sequence[int]) -> list[Turn]:
        with self._database.reading() as connection:
            rows: list[sqlite3.Row] = connection.execute(statement, bound).fetchall()
        return [turn_of(tuple(row)) for row in rows]
