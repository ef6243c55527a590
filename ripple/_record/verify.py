"""The audit of a record: everything that can be known to be wrong, in words."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from collections.abc import Iterator
from typing import Any, Final

from ripple._record.checksum import (
    DEAD_MESSAGE,
    EDGE,
    META,
    NAMESPACE,
    REPLY,
    SOURCE,
    TURN,
    UNIT,
    USAGE,
    VECTOR,
    WINDOW,
    RowFormat,
)
from ripple._record.namespaces import NamespaceRow
from ripple._record.rows import ID_BITS, ID_MASK, id_range, turn_of, unit_of, window_of
from ripple.errors import CorruptStoreError
from ripple.types import EdgeKind

__all__ = ["problems_of"]

_PROBLEMS_OF_A_KIND_MAX: Final = 20
_TABLES: Final = (
    (META, "SELECT * FROM meta"),
    (NAMESPACE, "SELECT * FROM namespaces"),
    (TURN, "SELECT * FROM turns"),
    (WINDOW, "SELECT * FROM windows"),
    (UNIT, "SELECT * FROM units"),
    (VECTOR, "SELECT * FROM vectors"),
    (SOURCE, "SELECT * FROM provenance"),
    (EDGE, "SELECT * FROM edges"),
    (DEAD_MESSAGE, "SELECT * FROM dead_messages"),
    (USAGE, "SELECT * FROM usage"),
    (REPLY, "SELECT * FROM replies"),
)
# Each counts rows that must not be there.
_CONTRADICTIONS: Final = (
    (
        "edges have an end that is no unit of their namespace",
        "SELECT count(*) FROM edges WHERE dst >> 40 <> src >> 40 OR dst = src"
        " OR dst NOT IN (SELECT id FROM units) OR src NOT IN (SELECT id FROM units)",
    ),
    (
        "undirected edges stand the wrong way round",
        "SELECT count(*) FROM edges WHERE kind <> 2 AND src >= dst",
    ),
    (
        "sources name a unit or turn that is not there",
        "SELECT count(*) FROM provenance WHERE unit_id >> 40 <> turn_id >> 40"
        " OR unit_id NOT IN (SELECT id FROM units) OR turn_id NOT IN (SELECT id FROM turns)",
    ),
    (
        "units have no source",
        "SELECT count(*) FROM units WHERE id NOT IN (SELECT unit_id FROM provenance)",
    ),
    (
        "vectors belong to no unit, or to one that should have none",
        "SELECT count(*) FROM vectors LEFT JOIN units USING (id) WHERE units.id IS NULL OR NOT flags & 4",
    ),
    (
        "units have lost their vector",
        "SELECT count(*) FROM units WHERE flags & 4 AND id NOT IN (SELECT id FROM vectors)",
    ),
    (
        "rows belong to no namespace",
        "SELECT count(*) FROM (SELECT namespace FROM units UNION ALL SELECT namespace FROM turns"
        " UNION ALL SELECT namespace FROM windows UNION ALL SELECT namespace FROM dead_messages"
        " UNION ALL SELECT namespace FROM usage UNION ALL SELECT namespace FROM replies)"
        " WHERE namespace NOT IN (SELECT number FROM namespaces)",
    ),
)
_COUNTS: Final = (
    ("turns", "SELECT count(*), max(id) FROM turns WHERE id BETWEEN ? AND ?"),
    ("windows", "SELECT count(*), max(id) FROM windows WHERE id BETWEEN ? AND ?"),
    ("units", "SELECT count(*), max(id) FROM units WHERE id BETWEEN ? AND ?"),
    ("sources", "SELECT count(*), 0 FROM provenance WHERE unit_id BETWEEN ? AND ?"),
    ("edges", "SELECT count(*), 0 FROM edges WHERE dst BETWEEN ? AND ?"),
)


def problems_of(
    connection: sqlite3.Connection, *, acknowledged: int | None, dimension: int | None, deep: bool
) -> list[str]:
    """Return what is wrong with the record, nothing of its texts; empty when all is well.

    ``acknowledged`` is what the file SEQ says, None when it is damaged. ``deep`` also reads every row back
    into the package's words.
    """
    problems: list[str] = []
    checks = [
        _integrity(connection),
        _checksums(connection),
        _contradictions(connection),
        _counts(connection),
    ]
    checks.append(_sequence(connection, acknowledged))
    if deep:
        checks.append(_contents(connection, dimension))
    for check in checks:
        try:
            problems.extend(check)
        except (sqlite3.Error, CorruptStoreError) as error:
            problems.append(f"the record cannot be read to the end: {error}")
    return problems


def _integrity(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({_PROBLEMS_OF_A_KIND_MAX:d})"):
        if line != "ok":
            yield f"SQLite: {line}"


def _checksums(connection: sqlite3.Connection) -> Iterator[str]:
    for row_format, statement in _TABLES:
        bad = 0
        for row in connection.execute(statement):
            if row_format.is_sound(row):
                continue
            bad += 1
            if bad <= _PROBLEMS_OF_A_KIND_MAX:
                yield f"table {row_format.name}: the row {_place(row_format, row)} has another checksum"
        if bad > _PROBLEMS_OF_A_KIND_MAX:
            yield f"table {row_format.name}: {bad} rows in all have another checksum"


def _place(row_format: RowFormat, row: tuple[Any, ...]) -> str:
    """Return the key of a row without any text of a memory."""
    if row_format is META:
        return "of the store's own data"
    if row_format in (NAMESPACE, DEAD_MESSAGE):
        return f"of namespace {row[0]}"
    keys = row[:2] if row_format in (EDGE, SOURCE) else row[:1]
    if not all(isinstance(key, int) for key in keys):
        return "with a key that is no number"
    ids = " and ".join(str(key & ID_MASK) for key in keys)
    return f"{ids} of namespace {keys[0] >> ID_BITS}"


def _contradictions(connection: sqlite3.Connection) -> Iterator[str]:
    for what, statement in _CONTRADICTIONS:
        (count,) = connection.execute(statement).fetchone()
        if count:
            yield f"{count} {what}"


def _counts(connection: sqlite3.Connection) -> Iterator[str]:
    for number in NamespaceRow.numbers(connection).values():
        row = NamespaceRow.read(connection, number)
        nexts = {"turns": row.next_turn_id, "windows": row.next_window_id, "units": row.next_unit_id}
        for what, statement in _COUNTS:
            count, greatest = connection.execute(statement, id_range(number)).fetchone()
            if count != getattr(row, what):
                yield f"namespace {number} should have {getattr(row, what)} {what} and has {count}"
            if what in nexts and greatest is not None and greatest & ID_MASK >= nexts[what]:
                yield f"namespace {number} would give an id of its {what} again"


def _sequence(connection: sqlite3.Connection, acknowledged: int | None) -> Iterator[str]:
    (value,) = connection.execute("SELECT value FROM meta WHERE key = 'sequence'").fetchone()
    if acknowledged is None:
        yield "the file SEQ is damaged; it is written anew with the next change"
    elif acknowledged > int(value):
        yield f"the record is at sequence {value}, but {acknowledged} was acknowledged: writes have been lost"
    (newest,) = connection.execute(
        "SELECT max(newest) FROM (SELECT max(sequence) AS newest FROM namespaces"
        " UNION ALL SELECT max(sequence) FROM units UNION ALL SELECT max(sequence) FROM turns"
        " UNION ALL SELECT max(sequence) FROM edges)"
    ).fetchone()
    if newest is not None and newest > int(value):
        yield f"the record is at sequence {value} and holds rows of sequence {newest}"


def _contents(connection: sqlite3.Connection, dimension: int | None) -> Iterator[str]:
    """Read every row as it would be given back."""
    for what, statement, read in (
        ("turn", "SELECT * FROM turns", turn_of),
        ("unit", "SELECT * FROM units", lambda row: unit_of(row, (), None)),
        ("window", "SELECT * FROM windows", window_of),
    ):
        for row in connection.execute(statement):
            try:
                read(row)
            except (CorruptStoreError, ValueError, TypeError, OverflowError, json.JSONDecodeError):
                yield f"{what} {row[0] & ID_MASK} of namespace {row[0] >> ID_BITS} cannot be read back"
    for key, vector in connection.execute("SELECT id, vector FROM vectors"):
        if len(vector) != 4 * (dimension or 0):
            yield f"the vector of unit {key & ID_MASK} of namespace {key >> ID_BITS} has another dimension"
        elif not all(map(math.isfinite, struct.unpack(f"<{dimension}f", vector))):
            yield f"the vector of unit {key & ID_MASK} of namespace {key >> ID_BITS} is not finite"
    for dst, kind, weight in connection.execute("SELECT dst, kind, weight FROM edges"):
        if not 0 <= kind < len(EdgeKind) or not math.isfinite(weight):
            yield f"an edge of unit {dst & ID_MASK} of namespace {dst >> ID_BITS} has no known kind or weight"
