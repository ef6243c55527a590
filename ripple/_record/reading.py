"""What the record gives back: units with their sources, the image of a namespace, and rows for an export."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ripple._record.checksum import EDGE, SOURCE, UNIT, VECTOR
from ripple._record.namespaces import NamespaceRow
from ripple._record.rows import (
    ID_MASK,
    id_range,
    json_text,
    keys_text,
    names_of,
    offset_datetime,
    source_of,
    turn_of,
    unit_of,
    window_of,
)
from ripple._record.values import HAS_VECTOR, NO_TIME, Links, NamespaceImage, RecordStats, Window, WindowState
from ripple.errors import CorruptStoreError
from ripple.types import EdgeKind, MemoryUnit, Source, Turn

__all__ = [
    "export_rows",
    "load_image",
    "next_unit_ids",
    "read_digests",
    "read_edges",
    "read_last_turn",
    "read_newest_said_at",
    "read_sessions",
    "read_stats",
    "read_turns",
    "read_units",
    "read_windows",
]

_UNITS: Final = "SELECT * FROM units WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
_TURNS: Final = "SELECT * FROM turns WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
_SOURCES: Final = """
SELECT provenance.*, turns.* FROM provenance LEFT JOIN turns ON turns.id = provenance.turn_id
WHERE unit_id IN (SELECT value FROM json_each(?)) ORDER BY unit_id, position, turn_id
"""
_SUCCESSORS: Final = """
SELECT * FROM edges WHERE src IN (SELECT value FROM json_each(?)) AND kind = ? ORDER BY src, dst
"""
# The index alone tells which turn it is; from the table it could be the last of a hundred thousand to be read.
_LAST_TURN: Final = """
SELECT * FROM turns WHERE id = (
  SELECT max(id) FROM turns INDEXED BY turns_by_session
  WHERE namespace = ? AND session >= '0' AND session < ':' AND session GLOB ?)
"""
_SESSIONS_OF: Final = """
SELECT message_id, session FROM turns
WHERE namespace = ? AND message_id IN (SELECT value FROM json_each(?))
"""
_NEWEST_SAID_AT: Final = "SELECT max(said_at) FROM units WHERE id BETWEEN ? AND ?"
_WINDOWS: Final = "SELECT * FROM windows WHERE id BETWEEN ? AND ? ORDER BY id"
_OPEN_WINDOWS: Final = """
SELECT * FROM windows WHERE namespace = ? AND state = ? AND state <> 'done' ORDER BY id
"""
_BY_DIGEST: Final = "SELECT id, said_at FROM units WHERE namespace = ? AND digest = ? ORDER BY id"
_UNIT_KEYS_AFTER: Final = "SELECT id FROM units WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"
# Integers as the checksum takes them, so that the columns go into arrays as they are.
_IMAGE_UNITS: Final = """
SELECT id, namespace, ifnull(time_start, :none), ifnull(time_end, :none), ifnull(start_offset, :none),
  ifnull(end_offset, :none), ifnull(said_at, :none), ifnull(said_offset, :none), flags, sequence,
  session, text, content, speaker, participants, locations, participant_keys, location_keys, digest, crc
FROM units WHERE id BETWEEN :first AND :last ORDER BY id
"""
_IMAGE_VECTORS: Final = "SELECT id, sequence, vector, crc FROM vectors WHERE id BETWEEN ? AND ? ORDER BY id"
_IMAGE_EDGES: Final = "SELECT * FROM edges WHERE dst BETWEEN ? AND ? ORDER BY dst, src, kind"
_EDGE_ROW: Final = np.dtype(
    [("dst", "i8"), ("src", "i8"), ("kind", "i8"), ("sequence", "i8"), ("weight", "f8"), ("crc", "i8")]
)
_PAGE_UNITS: Final = 500
_PAGE_ROWS: Final = 4_096
# Columns of a unit: numbers, then texts, of which the last four are lists of names, digest and checksum.
_UNIT_NUMBERS: Final = 10
_UNIT_TEXTS: Final = 8
_NAME_LISTS_FROM: Final = 4
_COUNT_UNITS: Final = "SELECT count(*) FROM units WHERE id BETWEEN ? AND ?"
_COUNT_TURNS: Final = "SELECT count(*) FROM turns WHERE id BETWEEN ? AND ?"
_COUNT_SOURCES: Final = "SELECT count(*) FROM provenance WHERE unit_id BETWEEN ? AND ?"
_COUNT_VECTORS: Final = "SELECT count(*) FROM vectors WHERE id BETWEEN ? AND ?"
_COUNT_EDGES: Final = "SELECT kind, count(*) FROM edges WHERE dst BETWEEN ? AND ? GROUP BY kind"
_COUNT_WINDOWS: Final = "SELECT state, count(*) FROM windows WHERE id BETWEEN ? AND ? GROUP BY state"
_EXPORT_TURNS: Final = "SELECT * FROM turns WHERE id BETWEEN ? AND ? ORDER BY id"
_EXPORT_UNITS: Final = "SELECT * FROM units WHERE id BETWEEN ? AND ? ORDER BY id"


def read_turns(connection: sqlite3.Connection, namespace: int, turn_ids: Iterable[int]) -> dict[int, Turn]:
    """Return those of the turns that are there, by id up."""
    turns = (turn_of(row) for row in connection.execute(_TURNS, (keys_text(namespace, turn_ids),)))
    return {turn.turn_id: turn for turn in turns}


def read_last_turn(connection: sqlite3.Connection, namespace: int, sessions: str) -> Turn | None:
    """Return the turn recorded last in a session that a GLOB pattern matches, which begins with a digit."""
    row = connection.execute(_LAST_TURN, (namespace, sessions)).fetchone()
    return None if row is None else turn_of(row)


def read_sessions(connection: sqlite3.Connection, namespace: int, message_ids: Iterable[str]) -> dict[str, str]:
    """Return for each message id that is stored the session of its turn."""
    return dict(connection.execute(_SESSIONS_OF, (namespace, json_text(list(message_ids)))).fetchall())


def read_newest_said_at(connection: sqlite3.Connection, namespace: int) -> datetime | None:
    """Return when the unit said last was said, in UTC; None where no unit has a time of saying."""
    (seconds,) = connection.execute(_NEWEST_SAID_AT, id_range(namespace)).fetchone()
    return offset_datetime(seconds, 0)


def read_units(connection: sqlite3.Connection, namespace: int, unit_ids: Iterable[int]) -> dict[int, MemoryUnit]:
    """Return those of the units that are there, by id up, in three queries whatever their number."""
    keys = keys_text(namespace, unit_ids)
    sources: dict[int, list[Source]] = {}
    for row in connection.execute(_SOURCES, (keys,)):
        SOURCE.check(row[:5])
        if row[5] is None:
            raise CorruptStoreError(f"unit {row[0] & ID_MASK} cites a turn that is gone; run verify")
        sources.setdefault(row[0], []).append(source_of(row[5:]))
    successors: dict[int, int] = {}
    for row in connection.execute(_SUCCESSORS, (keys, EdgeKind.STATE.value)):
        EDGE.check(row)
        successors[row[1]] = row[0] & ID_MASK
    units = {}
    for row in connection.execute(_UNITS, (keys,)):
        if row[0] not in sources:
            raise CorruptStoreError(f"unit {row[0] & ID_MASK} has lost its sources; run verify")
        units[row[0] & ID_MASK] = unit_of(row, tuple(sources[row[0]]), successors.get(row[0]))
    return units


def read_windows(connection: sqlite3.Connection, namespace: int, state: WindowState | None) -> list[Window]:
    """Return the windows in one state, or in any, by id up."""
    if state in (WindowState.PENDING, WindowState.FAILED):
        return list(map(window_of, connection.execute(_OPEN_WINDOWS, (namespace, state.value))))
    windows = list(map(window_of, connection.execute(_WINDOWS, id_range(namespace))))
    _require_count("windows", NamespaceRow.read(connection, namespace).windows, len(windows))
    return [window for window in windows if state in (None, window.state)]


def read_digests(
    connection: sqlite3.Connection, namespace: int, digests: Iterable[bytes]
) -> dict[bytes, list[tuple[int, int | None]]]:
    """Return for each digest that units have their ids and the second UTC at which each was said."""
    found: dict[bytes, list[tuple[int, int | None]]] = {}
    for digest in dict.fromkeys(digests):
        rows = connection.execute(_BY_DIGEST, (namespace, digest)).fetchall()
        if rows:
            found[digest] = [(key & ID_MASK, said_at) for key, said_at in rows]
    return found


def next_unit_ids(connection: sqlite3.Connection, namespace: int, after: int) -> list[int]:
    """Return the next unit ids behind one, at most a page."""
    first, last = id_range(namespace)
    rows = connection.execute(_UNIT_KEYS_AFTER, (first | after, last, _PAGE_UNITS))
    return [key & ID_MASK for (key,) in rows]


def load_image(connection: sqlite3.Connection, namespace: int, dimension: int) -> NamespaceImage:
    """Return all units and edges of a namespace; every row is checked, and that none is missing."""
    row = NamespaceRow.read(connection, namespace)
    numbers = np.empty((_UNIT_NUMBERS, row.units), dtype=np.int64)
    texts: list[list[Any]] = [[] for _ in range(_UNIT_TEXTS)]
    known: dict[str, tuple[str, ...]] = {}
    count = 0
    first, last = id_range(namespace)
    cursor = connection.execute(_IMAGE_UNITS, {"none": NO_TIME, "first": first, "last": last})
    while page := cursor.fetchmany(_PAGE_ROWS):
        UNIT.check(*page)
        columns = list(zip(*page, strict=True))
        if count + len(page) > row.units:
            _require_count("units", row.units, count + len(page))
        numbers[:, count : count + len(page)] = columns[:_UNIT_NUMBERS]
        for place, column in enumerate(columns[_UNIT_NUMBERS:-2]):
            texts[place].extend(column if place < _NAME_LISTS_FROM else _name_lists(column, known))
        count += len(page)
    _require_count("units", row.units, count)
    _require_count("sources", row.sources, connection.execute(_COUNT_SOURCES, (first, last)).fetchone()[0])
    _require_count("turns", row.turns, connection.execute(_COUNT_TURNS, (first, last)).fetchone()[0])
    sessions, _, contents, speakers, participants, locations, participant_keys, location_keys = texts
    unit_ids, flags = numbers[0] & ID_MASK, numbers[8].astype(np.uint8)
    return NamespaceImage(
        sequence=row.sequence,
        unit_ids=unit_ids,
        vectors=_load_vectors(connection, namespace, unit_ids, flags, dimension),
        contents=contents,
        speakers=speakers,
        sessions=sessions,
        participants=participants,
        locations=locations,
        participant_keys=participant_keys,
        location_keys=location_keys,
        times=np.ascontiguousarray(numbers[2:4].T),
        said_at=numbers[6].copy(),
        flags=flags,
        edges=read_edges(connection, row),
    )


def _require_count(what: str, wanted: int, met: int) -> None:
    if wanted != met:
        raise CorruptStoreError(
            f"the namespace should have {wanted} {what} and has {met}; run verify and restore it from a copy"
        )


def _name_lists(texts: Iterable[str], known: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the lists of names; equal ones, which are most, are parsed once."""
    lists = []
    for text in texts:
        names = known.get(text)
        if names is None:
            names = known[text] = names_of(text)
        lists.append(names)
    return lists


def _load_vectors(
    connection: sqlite3.Connection,
    namespace: int,
    unit_ids: npt.NDArray[np.int64],
    flags: npt.NDArray[np.uint8],
    dimension: int,
) -> npt.NDArray[np.float32]:
    vectors = np.full((len(unit_ids), dimension), np.nan, dtype=np.float32)
    wanted = np.flatnonzero(flags & HAS_VECTOR)
    place = 0
    cursor = connection.execute(_IMAGE_VECTORS, id_range(namespace))
    while rows := cursor.fetchmany(_PAGE_ROWS):
        columns = list(zip(*rows, strict=True))
        VECTOR.check_columns(columns)
        keys, _, blobs, _ = columns
        at = wanted[place : place + len(rows)]
        if not np.array_equal(unit_ids[at], np.array(keys, dtype=np.int64) & ID_MASK):
            raise CorruptStoreError("the vectors of the namespace do not belong to its units; run verify")
        if any(len(blob) != dimension * 4 for blob in blobs):
            raise CorruptStoreError(f"a vector of the namespace does not have dimension {dimension}")
        vectors[at] = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(rows), dimension)
        place += len(rows)
    _require_count("vectors", len(wanted), place)
    return vectors


def read_edges(connection: sqlite3.Connection, row: NamespaceRow) -> Links:
    """Return all edges of a namespace by dst, src, kind."""
    cursor = connection.execute(_IMAGE_EDGES, id_range(row.number))
    try:
        table = np.fromiter(cursor, dtype=_EDGE_ROW)
    except (OverflowError, TypeError, ValueError) as error:
        raise CorruptStoreError("an edge of the namespace holds what is no number; run verify") from error
    _require_count("edges", row.edges, len(table))
    EDGE.check_columns([table[name] for name in _EDGE_ROW.fields or ()])
    return Links(
        src=table["src"] & ID_MASK,
        dst=table["dst"] & ID_MASK,
        kind=table["kind"].astype(np.uint8),
        weight=table["weight"].astype(np.float32),
    )


def read_stats(connection: sqlite3.Connection, namespace: int | None) -> RecordStats:
    """Return the counts of a namespace or of the whole store, without the sizes of its files."""
    bounds = (0, 2**63 - 1) if namespace is None else id_range(namespace)
    units, turns, sources, vectors = (
        connection.execute(statement, bounds).fetchone()[0]
        for statement in (_COUNT_UNITS, _COUNT_TURNS, _COUNT_SOURCES, _COUNT_VECTORS)
    )
    edges = dict(connection.execute(_COUNT_EDGES, bounds))
    windows = dict(connection.execute(_COUNT_WINDOWS, bounds))
    return RecordStats(
        units=units,
        turns=turns,
        sources=sources,
        vectors=vectors,
        edges={kind.name.lower(): edges.get(kind.value, 0) for kind in EdgeKind},
        windows={state.value: windows.get(state.value, 0) for state in WindowState},
    )


def export_rows(connection: sqlite3.Connection, row: NamespaceRow) -> Iterator[dict[str, Any]]:
    """Give a namespace as JSON-ready rows: its name, then turns, units with vectors, and edges."""
    yield {"type": "namespace", "name": row.name}
    bounds = id_range(row.number)
    for turn in map(turn_of, connection.execute(_EXPORT_TURNS, bounds)):
        yield {
            "type": "turn",
            "turn_id": turn.turn_id,
            "message_id": turn.message_id,
            "session": turn.session,
            "speaker": turn.speaker,
            "text": turn.text,
            "said_at": _iso(turn.said_at),
            "metadata": turn.metadata,
            "flags": list(turn.flags),
        }
    for stored in connection.execute(_EXPORT_UNITS, bounds):
        yield _unit_export(connection, row.number, stored)
    edges = read_edges(connection, row)
    for src, dst, kind, weight in zip(
        edges.src.tolist(), edges.dst.tolist(), edges.kind.tolist(), edges.weight.tolist(), strict=True
    ):
        yield {"type": "edge", "src": src, "dst": dst, "kind": EdgeKind(kind).name.lower(), "weight": weight}


def _unit_export(connection: sqlite3.Connection, namespace: int, stored: tuple[Any, ...]) -> dict[str, Any]:
    unit = read_units(connection, namespace, [stored[0] & ID_MASK])[stored[0] & ID_MASK]
    vector = connection.execute("SELECT * FROM vectors WHERE id = ?", (stored[0],)).fetchone()
    if vector is not None:
        VECTOR.check(vector)
    return {
        "type": "unit",
        "unit_id": unit.unit_id,
        "text": unit.text,
        "content": unit.content,
        "speaker": unit.speaker,
        "participants": list(unit.participants),
        "locations": list(unit.locations),
        "participant_keys": json.loads(stored[16]),
        "location_keys": json.loads(stored[17]),
        "time": None if unit.time is None else [_iso(unit.time.start), _iso(unit.time.end)],
        "said_at": _iso(unit.said_at),
        "session": unit.session,
        "turn_ids": [source.turn_id for source in unit.sources],
        "is_question": unit.is_question,
        "has_time_word": unit.has_time_word,
        "digest": None if stored[18] is None else stored[18].hex(),
        "vector": None if vector is None else base64.b64encode(vector[2]).decode("ascii"),
    }


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat()
