"""What one transaction takes away: units and turns with everything that hangs on them, whole namespaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ripple._record.checksum import DEAD_MESSAGE
from ripple._record.namespaces import NamespaceRow
from ripple._record.rows import ID_MASK, id_range, json_text, key_of, keys_text, window_of
from ripple._record.values import Deleted
from ripple._record.writing import dead_message_hash, write_window
from ripple.errors import UnitNotFoundError

__all__ = [
    "DeletionPlan",
    "count_edges",
    "delete_namespace_rows",
    "delete_planned",
    "deleted_of",
    "plan_turns",
    "plan_units",
]

_UNITS_PRESENT: Final = "SELECT id FROM units WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
_TURNS_PRESENT: Final = "SELECT id FROM turns WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
_TURNS_CITED: Final = """
SELECT DISTINCT turn_id FROM provenance WHERE unit_id IN (SELECT value FROM json_each(?))
"""
_SOURCES_OF_TURNS: Final = """
SELECT unit_id, turn_id FROM provenance
WHERE unit_id IN (SELECT unit_id FROM provenance WHERE turn_id IN (SELECT value FROM json_each(?)))
"""
_CITATIONS_OF_TURNS: Final = """
SELECT unit_id, turn_id FROM provenance WHERE turn_id IN (SELECT value FROM json_each(?))
"""
_COUNT_EDGES: Final = """
SELECT count(*) FROM edges
WHERE dst IN (SELECT value FROM json_each(:keys)) OR src IN (SELECT value FROM json_each(:keys))
"""
_DELETE_OF_UNITS: Final = (
    "DELETE FROM edges WHERE dst IN (SELECT value FROM json_each(?))",
    "DELETE FROM edges WHERE src IN (SELECT value FROM json_each(?))",
    "DELETE FROM vectors WHERE id IN (SELECT value FROM json_each(?))",
)
_DELETE_SOURCES_OF_UNITS: Final = "DELETE FROM provenance WHERE unit_id IN (SELECT value FROM json_each(?))"
_DELETE_SOURCES_OF_TURNS: Final = "DELETE FROM provenance WHERE turn_id IN (SELECT value FROM json_each(?))"
_DELETE_UNITS: Final = "DELETE FROM units WHERE id IN (SELECT value FROM json_each(?))"
_DELETE_TURNS: Final = "DELETE FROM turns WHERE id IN (SELECT value FROM json_each(?))"
_MESSAGE_IDS: Final = """
SELECT message_id FROM turns WHERE id IN (SELECT value FROM json_each(?)) AND message_id IS NOT NULL
"""
_WINDOWS_OVER: Final = """
SELECT * FROM windows WHERE id BETWEEN ? AND ? AND first_turn <= ? AND last_turn >= ?
"""
_DELETE_NAMESPACE: Final = (
    "DELETE FROM edges WHERE dst BETWEEN ? AND ?",
    "DELETE FROM vectors WHERE id BETWEEN ? AND ?",
    "DELETE FROM provenance WHERE unit_id BETWEEN ? AND ?",
    "DELETE FROM units WHERE id BETWEEN ? AND ?",
    "DELETE FROM turns WHERE id BETWEEN ? AND ?",
    "DELETE FROM windows WHERE id BETWEEN ? AND ?",
)

_DELETE_BY_NUMBER: Final = (
    "DELETE FROM dead_messages WHERE namespace = ?",
    "DELETE FROM usage WHERE namespace = ?",
    "DELETE FROM replies WHERE namespace = ?",
)
_DELETE_REPLIES: Final = _DELETE_BY_NUMBER[2]


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """Keys of what a deletion takes, and of what it touches and leaves."""

    units: list[int]
    turns: list[int]
    turns_kept: list[int]
    units_shortened: list[int]


def plan_units(
    connection: sqlite3.Connection, namespace: int, unit_ids: Iterable[int], *, with_orphans: bool
) -> DeletionPlan:
    """Return what goes with units: the turns that no other unit cites, if they are to go."""
    asked = {int(unit_id) for unit_id in unit_ids}
    keys = [key for (key,) in connection.execute(_UNITS_PRESENT, (keys_text(namespace, asked),))]
    present = set(keys)
    if missing := sorted(asked - {key & ID_MASK for key in keys}):
        raise UnitNotFoundError(f"the namespace has no unit {', '.join(map(str, missing[:10]))}")
    cited = [key for (key,) in connection.execute(_TURNS_CITED, (json_text(keys),))]
    kept = set(cited)
    if with_orphans:
        citations = connection.execute(_CITATIONS_OF_TURNS, (json_text(cited),))
        kept = {turn for unit, turn in citations if unit not in present}
    return DeletionPlan(keys, sorted(set(cited) - kept), sorted(kept), [])


def plan_turns(connection: sqlite3.Connection, namespace: int, turn_ids: Iterable[int]) -> DeletionPlan:
    """Return what goes with turns: the units of which they are all sources. Missing turns are passed over."""
    turns = [key for (key,) in connection.execute(_TURNS_PRESENT, (keys_text(namespace, turn_ids),))]
    gone = set(turns)
    survives: dict[int, bool] = {}
    for unit, turn in connection.execute(_SOURCES_OF_TURNS, (json_text(turns),)):
        survives[unit] = survives.get(unit, False) or turn not in gone
    units = sorted(unit for unit, stays in survives.items() if not stays)
    return DeletionPlan(units, turns, [], sorted(unit for unit, stays in survives.items() if stays))


def count_edges(connection: sqlite3.Connection, plan: DeletionPlan) -> int:
    """Return how many edges go with the units of a plan."""
    (count,) = connection.execute(_COUNT_EDGES, {"keys": json_text(plan.units)}).fetchone()
    return int(count)


def delete_planned(
    connection: sqlite3.Connection, row: NamespaceRow, plan: DeletionPlan, key: bytes, sequence: int
) -> int:
    """Delete what a plan names and return how many edges went; message ids stay as keyed hashes."""
    units, turns = json_text(plan.units), json_text(plan.turns)
    edges = sum(connection.execute(statement, (units,)).rowcount for statement in _DELETE_OF_UNITS[:2])
    connection.execute(_DELETE_OF_UNITS[2], (units,))
    row.edges -= edges
    row.sources -= connection.execute(_DELETE_SOURCES_OF_UNITS, (units,)).rowcount
    row.sources -= connection.execute(_DELETE_SOURCES_OF_TURNS, (turns,)).rowcount
    row.units -= connection.execute(_DELETE_UNITS, (units,)).rowcount
    dead = [
        DEAD_MESSAGE.sealed((row.number, sequence, dead_message_hash(key, row.number, message_id)))
        for (message_id,) in connection.execute(_MESSAGE_IDS, (turns,))
    ]
    connection.executemany("INSERT INTO dead_messages VALUES (?, ?, ?, ?)", dead)
    row.turns -= connection.execute(_DELETE_TURNS, (turns,)).rowcount
    connection.execute(_DELETE_REPLIES, (row.number,))  # any of them may quote what goes
    _shrink_windows(connection, row, [turn & ID_MASK for turn in plan.turns], sequence)
    return edges


def _shrink_windows(connection: sqlite3.Connection, row: NamespaceRow, turn_ids: Sequence[int], sequence: int) -> None:
    """Take turns out of the windows that hold them; a window without turns goes."""
    if not turn_ids:
        return
    gone = set(turn_ids)
    span = (*id_range(row.number), max(turn_ids), min(turn_ids))
    for window in [window_of(stored) for stored in connection.execute(_WINDOWS_OVER, span)]:
        left = tuple(turn_id for turn_id in window.turn_ids if turn_id not in gone)
        if not left:
            connection.execute("DELETE FROM windows WHERE id = ?", (key_of(row.number, window.window_id),))
            row.windows -= 1
        elif left != window.turn_ids:
            write_window(connection, row.number, replace(window, turn_ids=left), sequence)


def delete_namespace_rows(connection: sqlite3.Connection, row: NamespaceRow) -> None:
    """Delete every row of a namespace, its own included; its number is never used again."""
    for statement in _DELETE_NAMESPACE:
        connection.execute(statement, id_range(row.number))
    for statement in _DELETE_BY_NUMBER:
        connection.execute(statement, (row.number,))
    row.delete(connection)


def deleted_of(plan: DeletionPlan, edges: int) -> Deleted:
    """Return the report of a plan."""
    return Deleted(
        units=tuple(key & ID_MASK for key in plan.units),
        turns=tuple(key & ID_MASK for key in plan.turns),
        edges=edges,
        turns_kept=tuple(key & ID_MASK for key in plan.turns_kept),
        units_shortened=tuple(key & ID_MASK for key in plan.units_shortened),
    )
