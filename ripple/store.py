"""The record: everything that was said and made of it, in SQLite, the one source of truth of a store.

``ripple/store.md`` describes the files. The record knows nothing of engines and models: it takes validated
messages, units with their identities and edges as they were chosen, and gives them back as they were. Each
changing call is one transaction, durable when the call returns.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from ripple._record import deleting, reading, selection, verify, writing
from ripple._record.accounts import Accounts
from ripple._record.database import Database
from ripple._record.namespaces import NamespaceRow, checked_name, read_meta, write_meta
from ripple._record.rows import ID_MASK
from ripple._record.values import (
    Batch,
    Deleted,
    Links,
    NamespaceDeleted,
    NamespaceImage,
    NamespaceInfo,
    RecordStats,
    StoredUnit,
    StoreSettings,
    TurnsAdded,
    Window,
    WindowState,
)
from ripple._record.windows import WindowTable
from ripple._record.writing import changing
from ripple.errors import ConfigError, CorruptStoreError, InvalidInputError
from ripple.types import Filter, MemoryUnit, Message, Turn

__all__ = [
    "Batch",
    "Deleted",
    "Links",
    "NamespaceDeleted",
    "NamespaceImage",
    "NamespaceInfo",
    "Record",
    "RecordStats",
    "StoreSettings",
    "StoredUnit",
    "TurnsAdded",
    "Window",
    "WindowState",
]

_MEMORY: Final = ":memory:"


class Record:
    """One open of a store's record.

    Any method may be called from any thread. Changes wait for each other; reads see the last committed change
    and wait for nothing (in ``":memory:"`` they wait for the writer). An open serves the process that made
    it: a forked child is refused and opens its own. Namespaces are meant by number, units and turns by the
    ids that count from 1 in each of them.

    Every method raises ``StoreClosedError`` after ``close``, ``CorruptStoreError`` when a row read does not
    have its checksum, and ``StoreError`` when the files cannot be read or written; every change raises
    ``ReadOnlyError`` in an open that only reads.

    ``windows`` is the table of windows, ``accounts`` what model calls cost and replies that are kept.
    """

    def __init__(self, database: Database) -> None:
        """Take over an open database; use ``Record.open``."""
        self._database = database
        self._reserved: dict[int, int] = {}
        self.windows = WindowTable(database)
        self.accounts = Accounts(database)
        try:
            self._store_id = database.meta["store_id"]
            self._dead_message_key = bytes.fromhex(database.meta["dead_message_key"])
            settings = database.meta.get("settings")
            self._settings = None if settings is None else StoreSettings.from_json(settings)
        except (KeyError, TypeError, ValueError) as error:
            database.close()
            raise CorruptStoreError(f"the store's own data cannot be read: {error}") from error

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False) -> Record:
        """Return the record of a store, made where there is none.

        Parameters
        ----------
        path : str or path
            A directory; its parent must be there. ``":memory:"`` for a record that lives as long as its open.
        read_only : bool
            Read beside another open that may be writing.

        Raises
        ------
        StoreLockedError
            Another open, here or in another process, writes to the store.
        StoreVersionError, CorruptStoreError, StoreError
            The store has another format, is damaged or has lost acknowledged writes, or is none. Nothing has
            been changed.
        """
        is_memory = os.fspath(path) == _MEMORY
        return cls(Database(None if is_memory else Path(path).resolve(), read_only=read_only))

    def close(self) -> None:
        """Write the log back and give the store free; a second call does nothing."""
        self._database.close()

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a record cannot be pickled or copied; open its path where it is needed")

    # What the store is

    @property
    def path(self) -> Path | None:
        """The directory, None in memory."""
        return self._database.path

    @property
    def is_read_only(self) -> bool:
        """Whether this open may not change the store."""
        return self._database.is_read_only

    @property
    def store_id(self) -> str:
        """The random identity of the store, which copies of it share."""
        return self._store_id

    @property
    def sequence(self) -> int:
        """The number of the store's last committed change."""
        if not self.is_read_only:
            return self._database.sequence
        with self._database.reading() as connection:
            return int(read_meta(connection)["sequence"])

    @property
    def settings(self) -> StoreSettings | None:
        """What ``configure`` has stored, None before."""
        return self._settings

    @property
    def _dimension(self) -> int | None:
        """That of vectors, None before ``configure``."""
        return None if self._settings is None else self._settings.dimension

    def configure(self, settings: StoreSettings) -> None:
        """Store what belongs to the store for life; the thresholds alone may be replaced.

        Raises ``ConfigError`` for another embedder, dimension or Unicode version than the stored one.
        """
        known = self._settings
        if known is not None and replace(settings, thresholds=known.thresholds) != known:
            raise ConfigError(
                f"the store was made with {known.described()}, not with {settings.described()}; open it with the former"
            )
        if known != settings:
            with self._database.changing() as change:
                write_meta(change.connection, "settings", settings.to_json())
            self._settings = settings

    # Namespaces

    def namespaces(self) -> list[NamespaceInfo]:
        """Return all namespaces by number."""
        with self._database.reading() as connection:
            numbers = NamespaceRow.numbers(connection).values()
            rows = [NamespaceRow.read(connection, number) for number in numbers]
        return [NamespaceInfo(row.number, row.name, row.units, row.turns, row.sequence) for row in rows]

    def namespace(self, name: str, *, create: bool = False) -> int | None:
        """Return the number of a namespace, made if asked for; None when there is none.

        Names that differ in case or Unicode form are different names. Raises ``InvalidInputError`` for an
        empty name, one over 128 characters, with control characters, or with a space at either end.
        """
        checked_name(name)
        with self._database.reading() as connection:
            row = NamespaceRow.find(connection, name)
        if row is not None or not create:
            return None if row is None else row.number
        with self._database.changing() as change:
            row = NamespaceRow.find(change.connection, name)
            if row is None:
                row = NamespaceRow.create(change.connection, name, change.sequence)
        return row.number

    def delete_namespace(self, name: str) -> NamespaceDeleted:
        """Delete a namespace with all that it holds; its number is never used again."""
        checked_name(name)
        with self._database.lock:
            self._database.require_writable()
            with self._database.reading() as connection:
                row = NamespaceRow.find(connection, name)
            if row is None:
                return NamespaceDeleted()
            with self._database.changing(erases=True) as change:
                deleting.delete_namespace_rows(change.connection, row)
            self._reserved.pop(row.number, None)
            self._database.erase()
            return NamespaceDeleted(row.units, row.turns, row.edges, self._database.is_erasure_pending)

    def create_namespace(
        self, name: str, messages: Sequence[Message], make_batch: Callable[[TurnsAdded], Batch]
    ) -> TurnsAdded:
        """Make a namespace with all that it holds, in one transaction.

        ``make_batch`` gives the batch of the turns, which count from 1; its units may have any ids. Raises as
        ``add_turns`` and ``apply`` do, and ``InvalidInputError`` when there is such a namespace; nothing is
        written then.
        """
        checked_name(name)
        with self._database.changing() as change:
            connection, sequence = change.connection, change.sequence
            if NamespaceRow.find(connection, name) is not None:
                raise InvalidInputError(f"there is a namespace {name!r} already; give another name")
            row = NamespaceRow.create(connection, name, sequence)
            found = writing.sort_messages(connection, row.number, messages, self._dead_message_key)
            added = writing.insert_turns(connection, row, found, sequence)
            writing.insert_batch(connection, row, make_batch(added), self._dimension, sequence)
            row.write(connection)
        return added

    # Writing

    def add_turns(self, namespace: int, messages: Sequence[Message], *, with_windows: bool = True) -> TurnsAdded:
        """Store messages as turns, with one pending window for each session of the call unless told otherwise.

        A message whose id and text are stored is repeated: it gets its turn and changes nothing. One whose id
        was deleted is rejected. Raises ``InvalidInputError`` before anything is written when an id meets
        another text than its own, stored or in the same call.
        """
        with self._database.lock:
            self._database.require_writable()
            with self._database.reading() as connection:
                found = writing.sort_messages(connection, namespace, messages, self._dead_message_key)
            if not found.new:
                return writing.turns_added(found, [], [], self._database.sequence)
            with changing(self._database, namespace) as (change, row):
                return writing.insert_turns(change.connection, row, found, change.sequence, with_windows=with_windows)

    def check_messages(self, namespace: int, messages: Sequence[Message]) -> None:
        """Raise where ``add_turns`` would for the same messages, in one call or in several."""
        with self._database.reading() as connection:
            writing.sort_messages(connection, namespace, messages, self._dead_message_key)

    def reserve_unit_ids(self, namespace: int, count: int) -> range:
        """Return new unit ids; those that no batch brings are not given again while this open lasts."""
        if count < 0:
            raise InvalidInputError(f"cannot reserve {count} ids; ask for 0 or more")
        with self._database.lock:
            self._database.require_writable()
            with self._database.reading() as connection:
                row = NamespaceRow.read(connection, namespace)
            first = max(row.next_unit_id, self._reserved.get(namespace, 0))
            self._reserved[namespace] = first + count
            return range(first, first + count)

    def apply(self, namespace: int, batch: Batch) -> int:
        """Write a batch in one transaction and return its sequence.

        Unit ids come from ``reserve_unit_ids``. Raises ``InvalidInputError`` or ``DimensionMismatchError``
        when the batch contradicts itself or the record, ``StoreError`` when one of its windows is done
        already; nothing is written then.
        """
        with changing(self._database, namespace) as (change, row):
            reserved = max(row.next_unit_id, self._reserved.get(namespace, 0))
            if any(not 0 < unit.unit_id < reserved for unit in batch.units):
                raise InvalidInputError("a unit has an id that was not reserved; see reserve_unit_ids")
            writing.insert_batch(change.connection, row, batch, self._dimension, change.sequence)
        return change.sequence

    def delete_units(
        self,
        namespace: int,
        unit_ids: Iterable[int],
        *,
        edges_added: Links | None = None,
        delete_orphan_turns: bool = True,
        dry_run: bool = False,
    ) -> Deleted:
        """Delete units with their edges and sources, and the turns that no other unit cites.

        ``edges_added`` are written in the same transaction, to join the ends of a chain that a unit leaves.
        ``dry_run`` returns what would go. Raises ``UnitNotFoundError`` when one is not there. When the call
        returns and the report is not ``pending``, no byte of what was deleted is in any file of the store.
        """
        ids = list(unit_ids)

        def plan(connection: sqlite3.Connection) -> deleting.DeletionPlan:
            return deleting.plan_units(connection, namespace, ids, with_orphans=delete_orphan_turns)

        return self._delete(namespace, plan, edges_added, dry_run=dry_run)

    def forget_turns(
        self,
        namespace: int,
        turn_ids: Iterable[int],
        *,
        edges_added: Links | None = None,
        dry_run: bool = False,
    ) -> Deleted:
        """Delete turns, and the units that have no other source; other units lose those sources and stay.

        Turns that are not there are passed over. Parameters and erasure as in ``delete_units``.
        """
        ids = list(turn_ids)

        def plan(connection: sqlite3.Connection) -> deleting.DeletionPlan:
            return deleting.plan_turns(connection, namespace, ids)

        return self._delete(namespace, plan, edges_added, dry_run=dry_run)

    def _delete(
        self,
        namespace: int,
        make_plan: Callable[[sqlite3.Connection], deleting.DeletionPlan],
        edges_added: Links | None,
        *,
        dry_run: bool,
    ) -> Deleted:
        if dry_run:
            with self._database.reading() as connection:
                plan = make_plan(connection)
                return deleting.deleted_of(plan, deleting.count_edges(connection, plan))
        with self._database.lock:
            self._database.require_writable()
            with self._database.reading() as connection:
                plan = make_plan(connection)
            report = deleting.deleted_of(plan, 0)
            if not (plan.units or plan.turns or edges_added):
                return replace(report, sequence=self._database.sequence)
            with changing(self._database, namespace, erases=True) as (change, row):
                edges = deleting.delete_planned(change.connection, row, plan, self._dead_message_key, change.sequence)
                writing.insert_edges(change.connection, row, edges_added or Links.of(), change.sequence)
            self._database.erase()
            return replace(report, edges=edges, pending=self._database.is_erasure_pending, sequence=change.sequence)

    def checkpoint(self) -> bool:
        """Write the log back and finish a pending erasure; False when a reader keeps it from ending."""
        with self._database.lock:
            if self._database.is_erasure_pending:
                self._database.erase()
                return not self._database.is_erasure_pending
            return self._database.write_back(0)

    # Reading

    def load(self, namespace: int) -> NamespaceImage:
        """Return all units and edges of a namespace as columns, each row checked."""
        with self._database.reading() as connection:
            return reading.load_image(connection, namespace, self._dimension or 0)

    def units(self, namespace: int, unit_ids: Iterable[int]) -> dict[int, MemoryUnit]:
        """Return those of the units that are there, with their sources, by id up."""
        with self._database.reading() as connection:
            return reading.read_units(connection, namespace, unit_ids)

    def all_units(self, namespace: int) -> Iterator[MemoryUnit]:
        """Give all units by id up, a page at a time; what is written meanwhile may be among them or not."""
        last = 0
        while True:
            with self._database.reading() as connection:
                page = reading.next_unit_ids(connection, namespace, last)
                units = reading.read_units(connection, namespace, page)
            if not page:
                return
            yield from units.values()
            last = page[-1]

    def turns(self, namespace: int, turn_ids: Iterable[int]) -> dict[int, Turn]:
        """Return those of the turns that are there, by id up."""
        with self._database.reading() as connection:
            return reading.read_turns(connection, namespace, turn_ids)

    def last_turn(self, namespace: int, sessions: str) -> Turn | None:
        """Return the turn recorded last in a session that a GLOB pattern matches, which begins with a digit."""
        with self._database.reading() as connection:
            return reading.read_last_turn(connection, namespace, sessions)

    def sessions_of(self, namespace: int, message_ids: Iterable[str]) -> dict[str, str]:
        """Return for each message id that is stored the session of its turn."""
        with self._database.reading() as connection:
            return reading.read_sessions(connection, namespace, message_ids)

    def newest_said_at(self, namespace: int) -> datetime | None:
        """Return when the unit said last was said, in UTC; None where no unit has a time of saying.

        Cost: one pass over the namespace's units.
        """
        with self._database.reading() as connection:
            return reading.read_newest_said_at(connection, namespace)

    def units_by_digest(self, namespace: int, digests: Iterable[bytes]) -> dict[bytes, list[tuple[int, int | None]]]:
        """Return for each digest that units have their ids and the second UTC at which each was said."""
        with self._database.reading() as connection:
            return reading.read_digests(connection, namespace, digests)

    def select(self, namespace: int, wanted: Filter) -> npt.NDArray[np.int64]:
        """Return the ids of the units that match, up; participants and locations are given as name keys."""
        with self._database.reading() as connection:
            keys = selection.matching_units(connection, namespace, wanted)
        return np.array(keys, dtype=np.int64) & ID_MASK

    def select_turns(
        self, namespace: int, wanted: Filter, *, name_key: Callable[[str], str] | None = None
    ) -> npt.NDArray[np.int64]:
        """Return the ids of the turns that match, up.

        Session, said and metadata are the turn's own; participants, locations (name keys), time and ids those
        of the units made from it. With ``name_key``, and no other field of units given, a turn also matches
        by its speaker.
        """
        with self._database.reading() as connection:
            keys = selection.matching_turns(connection, namespace, wanted, name_key)
        return np.array(keys, dtype=np.int64) & ID_MASK

    def stats(self, namespace: int | None = None) -> RecordStats:
        """Return counts of a namespace, or of the whole store."""
        with self._database.reading() as connection:
            counts = reading.read_stats(connection, namespace)
            sequence = int(read_meta(connection)["sequence"])
        return replace(
            counts,
            file_bytes=self._database.file_bytes(),
            log_bytes=self._database.log_bytes(),
            sequence=sequence,
            erasure_pending=self._database.is_erasure_pending,
        )

    def verify(self, *, deep: bool = False) -> list[str]:
        """Return what is wrong with the record, in words without any text of it; empty when all is well.

        SQLite's own check, every row's checksum, ends of edges and sources, counts, ids and the acknowledged
        sequence; ``deep`` also reads every row back. Cost: one pass over the file.
        """
        acknowledged = self._database.acknowledged()
        with self._database.reading() as connection:
            return verify.problems_of(
                connection,
                acknowledged=acknowledged,
                dimension=self._dimension,
                deep=deep,
            )

    def export(self, namespace: int) -> Iterator[dict[str, Any]]:
        """Give a namespace as JSON-ready rows from one committed state: name, turns, units, edges.

        Vectors are base64 of little-endian float32, times ISO 8601 with their zone. A deletion is ``pending``
        as long as an export goes on.
        """
        with self._database.reading() as connection:
            rows = reading.export_rows(connection, NamespaceRow.read(connection, namespace))
            if self.path is not None:
                yield from rows
                return
            held = list(rows)
        yield from held
