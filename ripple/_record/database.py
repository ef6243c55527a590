"""The files of a record held open: one writing connection under a lock, readers, log and erasure."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ripple._record.erase import log_pages, zero_free_space
from ripple._record.lock import DATABASE_NAME, SequenceFile, WriterLock, find_store, make_directory
from ripple._record.namespaces import read_meta, write_meta
from ripple._record.schema import (
    connect_reader,
    connect_writer,
    create_database,
    open_memory,
    require_known_format,
    translated,
)
from ripple.errors import CorruptStoreError, ReadOnlyError, StoreClosedError, StoreError

__all__ = ["Change", "Database"]

_logger = logging.getLogger(__name__)

# The log is written back from this size on; from the second on readers are waited for.
_LOG_BYTES: Final = 16 << 20
_LOG_BYTES_MAX: Final = 48 << 20
_LOG_WAIT_MILLISECONDS: Final = 1_000
_ERASE_WAIT_MILLISECONDS: Final = 200
_BUSY_MILLISECONDS: Final = 5_000
_IDLE_READERS_MAX: Final = 8
# So many are looked at one by one as fast as the whole file that has four times as many.
_PAGES_WRITTEN_MAX: Final = 1 << 16
# After these errors the database is as it was; after any other it is not trusted until it is opened anew.
_HARMLESS_ERRORS: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_BUSY)


@dataclass(frozen=True, slots=True)
class Change:
    """A transaction that is going on, and the sequence that it will have."""

    connection: sqlite3.Connection
    sequence: int


class Database:
    """One open of a store's database, or of one in memory (``path`` None).

    ``changing`` gives the one writing connection, under the lock, inside a transaction that is durable when
    the block ends; ``reading`` gives a connection that sees the last committed change. In memory both are the
    same connection under the same lock.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self.path = path
        self.is_read_only = read_only
        self.lock = threading.RLock()
        self.sequence = 0
        self.is_erasure_pending = False
        self._name = "the record" if path is None else str(path / DATABASE_NAME)
        self._process = os.getpid()
        self._is_closed = False
        self._failure: str | None = None
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self._store_lock: WriterLock | None = None
        self._sequence_file: SequenceFile | None = None
        # Whose free space may hold old copies; None when that may be any page.
        self._pages_written: set[int] | None = None
        self._file = -1  # for erasure; closed behind the connections, whose locks would go with it
        try:
            with translated(self._name):
                acknowledged = self._open(path) if path is not None else self._open_memory()
                with self.reading() as connection:
                    self.meta = read_meta(connection)
                self._adopt_meta(acknowledged)
        except BaseException:
            self._close_files()
            raise

    def _open_memory(self) -> int:
        if self.is_read_only:
            raise ReadOnlyError("a record in memory starts empty; open it for writing")
        self._writer = open_memory()
        return 0

    def _open(self, directory: Path) -> int | None:
        """Open the files of a store and return the acknowledged sequence."""
        database = directory / DATABASE_NAME
        if find_store(directory):
            require_known_format(database)
        elif self.is_read_only:
            raise StoreError(f"{directory} holds no store to read; open it for writing to make one")
        else:
            make_directory(directory)
        if not self.is_read_only:
            self._store_lock = WriterLock(directory)
            if not database.exists():
                create_database(directory)
        # SEQ before the record: a writer beside a reader may commit in between.
        self._sequence_file = SequenceFile(directory, read_only=self.is_read_only)
        acknowledged = self._sequence_file.read()
        if not self.is_read_only:
            self._file = os.open(database, os.O_RDWR | os.O_CLOEXEC)
            self._writer = connect_writer(database)
        return acknowledged

    def _adopt_meta(self, acknowledged: int | None) -> None:
        try:
            self.sequence = int(self.meta["sequence"])
            self.is_erasure_pending = self.meta["erasure"] != "done"
        except (KeyError, ValueError) as error:
            raise CorruptStoreError(f"{self._name} lacks data of its own: {error}") from error
        if self.is_read_only:
            return
        if acknowledged is not None and acknowledged > self.sequence:
            raise CorruptStoreError(
                f"{self._name} is at sequence {self.sequence}, but {acknowledged} was acknowledged: writes "
                "have been lost; restore it from a copy, or open it with read_only=True and export it"
            )
        if acknowledged is None:
            _logger.warning("SEQ of a store is damaged; it is written anew at sequence %d", self.sequence)
        if self._sequence_file is not None:
            self._sequence_file.write(self.sequence)
        if self.is_erasure_pending:
            self.erase()

    def close(self) -> None:
        """Write the log back and give the store free; does nothing a second time or in a forked child."""
        if os.getpid() != self._process:
            return
        with self.lock:
            if self._is_closed:
                return
            try:
                if self._writer is not None and self.path is not None and self._failure is None:
                    with suppress(StoreError, OSError):  # all is committed; the next open finishes this
                        self.erase() if self.is_erasure_pending else self.write_back(0)
            finally:
                self._is_closed = True
                self._close_files()

    def _close_files(self) -> None:
        while self._readers:
            self._readers.pop().close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._sequence_file is not None:
            self._sequence_file.close()
        if self._store_lock is not None:
            self._store_lock.release()

    def require_open(self) -> None:
        """Raise unless this open may be used here."""
        if os.getpid() != self._process:
            raise StoreError(
                f"{self._name} was opened by process {self._process}; a forked process opens the store anew"
            )
        if self._is_closed:
            raise StoreClosedError(f"{self._name} has been closed; open the store again")

    def require_writable(self) -> sqlite3.Connection:
        """Return the writing connection, or raise where nothing can be written. Call under the lock."""
        self.require_open()
        if self._writer is None:
            raise ReadOnlyError(f"{self._name} was opened with read_only=True; open it for writing to change it")
        if self._failure is not None:
            raise StoreError(f"{self._name} failed before ({self._failure}) and only reads until it is opened anew")
        return self._writer

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one committed state throughout."""
        self.require_open()
        if self.path is None:
            with self.lock, translated(self._name):
                yield self.require_writable()
            return
        with translated(self._name):
            try:
                connection = self._readers.pop()
            except IndexError:
                connection = connect_reader(self.path / DATABASE_NAME)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            connection.rollback()
        finally:
            if self._is_closed or len(self._readers) >= _IDLE_READERS_MAX:
                connection.close()
            else:
                self._readers.append(connection)

    @contextmanager
    def changing(self, *, erases: bool = False) -> Iterator[Change]:
        """Give the writing connection inside a transaction, committed when the block ends well.

        With ``erases`` the store knows, from the same transaction on, that old bytes are to go: the caller
        calls ``erase`` next, and if the process dies in between the next open does.
        """
        with self.lock:
            connection = self.require_writable()
            self._require_in_place()
            try:
                with translated(self._name):
                    connection.execute("BEGIN IMMEDIATE")
                    # Read again: an interrupt may have come between a commit and what follows it here.
                    sequence = int(read_meta(connection)["sequence"]) + 1
                    yield Change(connection, sequence)
                    write_meta(connection, "sequence", str(sequence))
                    if erases:
                        write_meta(connection, "erasure", "pending")
                    connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back(connection, error)
                raise
            self.sequence = sequence
            self._note_commit(erases=erases)

    def _roll_back(self, connection: sqlite3.Connection, error: BaseException) -> None:
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error):
            code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code not in _HARMLESS_ERRORS:
                self._failure = str(cause)
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error as failure:
            self._failure = str(failure)

    def _note_commit(self, *, erases: bool) -> None:
        """Acknowledge a commit in SEQ and keep the log small."""
        if self.path is None or self._sequence_file is None:
            return
        try:
            self._sequence_file.write(self.sequence)
        except OSError as error:
            self._failure = str(error)
            raise StoreError(f"{self.path} cannot be written: {error.strerror}") from error
        if erases:
            self.is_erasure_pending = True
            return
        try:
            if self.is_erasure_pending:
                self.erase(0)
            elif (size := self.log_bytes()) > _LOG_BYTES:
                self.write_back(_LOG_WAIT_MILLISECONDS if size > _LOG_BYTES_MAX else 0)
        except (StoreError, OSError) as error:  # the change is safe; what comes after it is not
            cause = error.__cause__
            if getattr(cause, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_FULL:
                self._failure = str(error)
            _logger.warning("the log of a store could not be written back after change %d", self.sequence)

    def _require_in_place(self) -> None:
        """Raise when the database was taken away: SQLite would go on writing to a file without a name."""
        if self.path is None:
            return
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(self.path / DATABASE_NAME), os.fstat(self._file)):  # noqa: PTH116
                return
        self._failure = "the file is gone"
        raise StoreError(f"{self._name} has been moved or deleted while it was open; nothing was written")

    def log_bytes(self) -> int:
        """Return the size of the log."""
        return self._log.stat().st_size if self.path is not None and self._log.exists() else 0

    @property
    def _log(self) -> Path:
        assert self.path is not None
        return self.path / f"{DATABASE_NAME}-wal"

    def file_bytes(self) -> int:
        """Return the size of the database without its log."""
        return 0 if self.path is None else (self.path / DATABASE_NAME).stat().st_size

    def write_back(self, wait_milliseconds: int) -> bool:
        """Write the log into the database and empty it; False when a reader holds some of it."""
        with self.lock, translated(self._name):
            connection = self.require_writable()
            if self.path is None or self._sequence_file is None:
                return True
            self._sequence_file.sync()
            self._note_pages(connection)
            connection.execute(f"PRAGMA busy_timeout = {wait_milliseconds:d}")
            try:
                is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS:d}")
            return not is_busy

    def _note_pages(self, connection: sqlite3.Connection) -> None:
        """Note which pages the log holds, before it is given up."""
        if self._pages_written is not None and self.log_bytes():
            self._pages_written |= log_pages(self._log, _page_bytes(connection))
            if len(self._pages_written) > _PAGES_WRITTEN_MAX:
                self._pages_written = None

    def erase(self, wait_milliseconds: int = _ERASE_WAIT_MILLISECONDS) -> None:
        """Leave no byte of what was deleted in any file; stays pending when a reader holds the log."""
        with self.lock:
            if not self.write_back(wait_milliseconds):
                return
            with translated(self._name):
                connection = self.require_writable()
                if self.path is not None:
                    zero_free_space(self._file, _page_bytes(connection), self._pages_written)
                    self._pages_written = set()
                    # Its cache holds the old bytes and would write them back.
                    connection.close()
                    self._writer = connection = connect_writer(self.path / DATABASE_NAME)
                write_meta(connection, "erasure", "done")
            self.is_erasure_pending = False

    def acknowledged(self) -> int | None:
        """Return what SEQ says, None when it is damaged."""
        return self.sequence if self._sequence_file is None else self._sequence_file.read()


def _page_bytes(connection: sqlite3.Connection) -> int:
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return int(page_bytes)
