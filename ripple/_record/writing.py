"""What one transaction adds: turns with their windows, and batches of units with their edges."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ripple._record.checksum import EDGE, SOURCE, VECTOR
from ripple._record.database import Change, Database
from ripple._record.namespaces import NamespaceRow
from ripple._record.rows import (
    ID_BITS,
    ID_MASK,
    digest_of_turns,
    key_of,
    turn_of,
    turn_row,
    unit_row,
    window_of,
    window_row,
)
from ripple._record.values import Batch, Links, StoredUnit, TurnsAdded, Window, WindowState
from ripple.errors import ConfigError, DimensionMismatchError, InvalidInputError, StoreError
from ripple.types import EdgeKind, Message, Turn

__all__ = [
    "Sorted",
    "changing",
    "dead_message_hash",
    "delete_edges",
    "insert_batch",
    "insert_edges",
    "insert_turns",
    "insert_windows",
    "read_window",
    "sort_messages",
    "turns_added",
    "write_window",
]

_INSERT_TURN: Final = "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_WINDOW: Final = "INSERT INTO windows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_UNIT: Final = "INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_VECTOR: Final = "INSERT INTO vectors VALUES (?, ?, ?, ?)"
_INSERT_SOURCE: Final = "INSERT INTO provenance VALUES (?, ?, ?, ?, ?)"
_INSERT_EDGE: Final = "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?)"
_POSITIONS: Final = "SELECT turn_id, position FROM provenance WHERE unit_id = ?"
_DELETE_EDGE: Final = "DELETE FROM edges WHERE dst = ? AND src = ? AND kind = ?"
_DIGEST_BYTES: Final = 16


@dataclass(slots=True)
class Sorted:
    """The messages of a call by what is to become of them.

    ``turns`` stands beside the messages: the turn that is stored already, the position in ``new`` of the
    message that will be, or None for a rejected one.
    """

    turns: list[Turn | int | None] = field(default_factory=list)
    new: list[Message] = field(default_factory=list)
    repeated: list[int] = field(default_factory=list)
    rejected: list[int] = field(default_factory=list)


@contextmanager
def changing(database: Database, namespace: int, *, erases: bool = False) -> Iterator[tuple[Change, NamespaceRow]]:
    """Give a transaction and the namespace's row, which is written back with it."""
    with database.changing(erases=erases) as change:
        row = NamespaceRow.read(change.connection, namespace)
        yield change, row
        row.sequence = change.sequence
        row.write(change.connection)


def dead_message_hash(key: bytes, namespace: int, message_id: str) -> bytes:
    """Return what is kept of the id of a deleted message: a hash that is worth nothing without the key."""
    data = namespace.to_bytes(8, "little") + message_id.encode()
    return hashlib.blake2b(data, key=key, digest_size=16).digest()


def sort_messages(
    connection: sqlite3.Connection, namespace: int, messages: Sequence[Message], dead_message_key: bytes
) -> Sorted:
    """Return what is to become of each message; raises for an id met again with another text."""
    result = Sorted()
    met: dict[str, tuple[str, Turn | int | None]] = {}
    for position, message in enumerate(messages):
        known = None
        if message.message_id is not None:
            known = met.get(message.message_id) or _known_message(
                connection, namespace, message.message_id, dead_message_key
            )
        if known is None:
            known = (message.text, len(result.new))
            result.new.append(message)
        elif known[1] is None:
            result.rejected.append(position)
        elif known[0] != message.text:
            raise InvalidInputError(
                f"message {position} has the id {message.message_id!r} of an earlier message with another "
                "text; give it an id of its own"
            )
        else:
            result.repeated.append(position)
        if message.message_id is not None:
            met[message.message_id] = known
        result.turns.append(known[1])
    return result


def _known_message(
    connection: sqlite3.Connection, namespace: int, message_id: str, dead_message_key: bytes
) -> tuple[str, Turn | None] | None:
    """Return the stored text and turn of a message id, a None turn for a deleted one, None for a new one."""
    row = connection.execute(
        "SELECT * FROM turns WHERE namespace = ? AND message_id = ?", (namespace, message_id)
    ).fetchone()
    if row is not None:
        turn = turn_of(row)
        return turn.text, turn
    dead = connection.execute(
        "SELECT 1 FROM dead_messages WHERE namespace = ? AND hash = ?",
        (namespace, dead_message_hash(dead_message_key, namespace, message_id)),
    ).fetchone()
    return None if dead is None else ("", None)


def insert_turns(
    connection: sqlite3.Connection, row: NamespaceRow, found: Sorted, sequence: int, *, with_windows: bool = True
) -> TurnsAdded:
    """Store the new ones of the messages as turns, and one pending window for each of their sessions."""
    messages, first = found.new, row.next_turn_id
    base = row.number << ID_BITS
    rows = [turn_row(base | first + n, message, sequence) for n, message in enumerate(messages)]
    connection.executemany(_INSERT_TURN, rows)
    by_session: dict[str, list[int]] = {}
    for n, message in enumerate(messages):
        by_session.setdefault(message.session, []).append(first + n)
    cut = by_session.values() if with_windows else ()
    windows = insert_windows(connection, row, cut, "", sequence)
    row.next_turn_id += len(rows)
    row.turns += len(rows)
    return turns_added(found, [turn_of(stored) for stored in rows], windows, sequence)


def insert_windows(
    connection: sqlite3.Connection, row: NamespaceRow, cut: Iterable[Sequence[int]], prompt_version: str, sequence: int
) -> list[Window]:
    """Write pending windows over turns and return them."""
    windows = []
    for turn_ids in cut:
        window = Window(
            row.next_window_id,
            WindowState.PENDING,
            tuple(turn_ids),
            prompt_version=prompt_version,
            sequence=sequence,
        )
        stored = window_row(row.number, window, digest_of_turns(turn_ids), sequence)
        connection.execute(_INSERT_WINDOW, stored)
        windows.append(window)
        row.next_window_id += 1
    row.windows += len(windows)
    return windows


def turns_added(found: Sorted, stored: Sequence[Turn], windows: Sequence[Window], sequence: int) -> TurnsAdded:
    """Return what became of the messages; ``stored`` are the turns of the new ones."""
    return TurnsAdded(
        turns=tuple(stored[turn] if isinstance(turn, int) else turn for turn in found.turns),
        repeated=tuple(found.repeated),
        rejected=tuple(found.rejected),
        windows=tuple(windows),
        sequence=sequence,
    )


def write_window(connection: sqlite3.Connection, namespace: int, window: Window, sequence: int) -> None:
    """Write a window over the stored one, which keeps the digest that it was cut with."""
    key = key_of(namespace, window.window_id)
    (digest,) = connection.execute("SELECT digest FROM windows WHERE id = ?", (key,)).fetchone()
    connection.execute("DELETE FROM windows WHERE id = ?", (key,))
    connection.execute(_INSERT_WINDOW, window_row(namespace, window, digest, sequence))


def read_window(connection: sqlite3.Connection, namespace: int, window_id: int) -> Window:
    """Return a window that must be there."""
    key = key_of(namespace, window_id)
    row = connection.execute("SELECT * FROM windows WHERE id = ?", (key,)).fetchone()
    if row is None:
        raise InvalidInputError(f"the namespace has no window {window_id}")
    return window_of(row)


def insert_batch(
    connection: sqlite3.Connection, row: NamespaceRow, batch: Batch, dimension: int | None, sequence: int
) -> None:
    """Write a batch into a namespace."""
    _insert_units(connection, row, batch.units, batch.vectors, dimension, sequence)
    _insert_sources(connection, row, batch, sequence)
    delete_edges(connection, row, batch.edges_evicted)
    new_keys = [key_of(row.number, unit.unit_id) for unit in batch.units]
    insert_edges(connection, row, batch.edges_added, sequence, new_keys=new_keys)
    for window_id in batch.windows_done:
        window = read_window(connection, row.number, window_id)
        if window.state is WindowState.DONE:
            raise StoreError(f"window {window_id} has become units already; it is applied once")
        ended = replace(
            window,
            state=WindowState.FAILED if batch.failure else WindowState.DONE,
            reason=batch.failure,
            attempts=window.attempts + bool(batch.failure),
            prompt_version=batch.prompt_version,
            sequence=sequence,
        )
        write_window(connection, row.number, ended, sequence)


def _insert_units(
    connection: sqlite3.Connection,
    row: NamespaceRow,
    units: Sequence[StoredUnit],
    vectors: npt.NDArray[np.float32] | None,
    dimension: int | None,
    sequence: int,
) -> None:
    payloads = _vector_payloads(len(units), vectors, dimension)
    unit_rows = []
    vectors_of: dict[int, bytes] = {}
    for unit, payload in zip(units, payloads, strict=True):
        if not unit.draft.turn_ids:
            raise InvalidInputError(f"unit {unit.unit_id} names no turn; a unit has at least one source")
        if unit.digest is not None and len(unit.digest) != _DIGEST_BYTES:
            raise InvalidInputError(f"unit {unit.unit_id} has a digest of {len(unit.digest)} bytes, not 16")
        unit_rows.append(unit_row(row.number, unit, has_vector=payload is not None, sequence=sequence))
        if payload is not None:
            vectors_of[unit_rows[-1][0]] = payload
    connection.executemany(_INSERT_UNIT, unit_rows)
    columns: list[list[Any]] = [list(vectors_of), [sequence] * len(vectors_of), list(vectors_of.values())]
    connection.executemany(_INSERT_VECTOR, VECTOR.sealed_rows(columns))
    row.units += len(units)
    row.next_unit_id = max([row.next_unit_id, *(unit.unit_id + 1 for unit in units)])


def _vector_payloads(count: int, vectors: npt.NDArray[np.float32] | None, dimension: int | None) -> list[bytes | None]:
    """Return the bytes of each row, None for one that is not finite."""
    if vectors is None:
        return [None] * count
    if dimension is None:
        raise ConfigError("the store knows no embedder yet; configure it before vectors are stored")
    if vectors.ndim != 2 or len(vectors) != count:
        raise InvalidInputError(f"vectors have shape {vectors.shape}, the batch has {count} units")
    if vectors.shape[1] != dimension:
        raise DimensionMismatchError(
            f"vectors have dimension {vectors.shape[1]}, the store has {dimension}; "
            "use the embedder that the store was made with"
        )
    with np.errstate(over="ignore"):  # too large for float32 is not finite
        rows = np.ascontiguousarray(vectors, dtype="<f4")
    data, width = rows.tobytes(), rows.shape[1] * 4
    is_finite = np.isfinite(rows).all(axis=1).tolist()
    return [data[n * width : (n + 1) * width] if is_finite[n] else None for n in range(count)]


def _insert_sources(connection: sqlite3.Connection, row: NamespaceRow, batch: Batch, sequence: int) -> None:
    pairs: list[tuple[int, int, int]] = []
    positions: dict[int, dict[int, int]] = {}  # of the turns that a unit cites
    for unit in batch.units:
        key = key_of(row.number, unit.unit_id)
        turns = [key_of(row.number, turn_id) for turn_id in unit.draft.turn_ids]
        positions[key] = {turn: position for position, turn in enumerate(turns)}
        pairs.extend((key, turn, position) for position, turn in enumerate(turns))
    for unit_id, turn_id in batch.new_sources:
        key, turn = key_of(row.number, unit_id), key_of(row.number, turn_id)
        if key not in positions:
            positions[key] = dict(connection.execute(_POSITIONS, (key,)).fetchall())
        if turn not in positions[key]:
            behind = 1 + max(positions[key].values(), default=-1)
            positions[key][turn] = behind
            pairs.append((key, turn, behind))
    columns = [[pair[place] for pair in pairs] for place in range(3)]
    columns.append([sequence] * len(pairs))
    connection.executemany(_INSERT_SOURCE, SOURCE.sealed_rows(columns))
    row.sources += len(pairs)


def _edge_keys(row: NamespaceRow, links: Links) -> npt.NDArray[np.int64]:
    """Return the columns dst, src, kind of edges, those without direction with the smaller id as src."""
    src, dst, kind = links.src.astype(np.int64), links.dst.astype(np.int64), links.kind.astype(np.int64)
    if not (len(src) == len(dst) == len(kind) == len(links.weight)):
        raise InvalidInputError("the columns of the edges differ in length")
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    if np.any(low == high) or np.any(low < 1) or np.any(high > ID_MASK):
        raise InvalidInputError("an edge leads from a unit to itself or to an id that no unit can have")
    if np.any(kind >= len(EdgeKind)) or not np.isfinite(links.weight).all():
        raise InvalidInputError("an edge has an unknown kind or a weight that is not finite")
    is_state, base = kind == EdgeKind.STATE, row.number << ID_BITS
    return np.stack([base | np.where(is_state, dst, high), base | np.where(is_state, src, low), kind])


def insert_edges(
    connection: sqlite3.Connection,
    row: NamespaceRow,
    links: Links,
    sequence: int,
    *,
    new_keys: Sequence[int] = (),
) -> None:
    """Write edges; one that is there gets the new weight. None can be there of the units with new keys."""
    if not len(links):
        return
    keys = _edge_keys(row, links)
    order = np.lexsort(keys[::-1])
    keys, weight = keys[:, order], links.weight[order].astype(np.float64)
    known = keys[:, ~np.isin(keys[0], np.array(new_keys, dtype=np.int64))]
    if known.size:
        row.edges -= connection.executemany(_DELETE_EDGE, known.T.tolist()).rowcount
    columns = [*keys.tolist(), [sequence] * len(order), weight.tolist()]
    connection.executemany(_INSERT_EDGE, EDGE.sealed_rows(columns))
    row.edges += len(order)


def delete_edges(connection: sqlite3.Connection, row: NamespaceRow, links: Links) -> None:
    """Take edges away; one that is not there is no matter."""
    if len(links):
        keys = _edge_keys(row, links).T.tolist()
        row.edges -= connection.executemany(_DELETE_EDGE, keys).rowcount
