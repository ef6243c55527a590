"""The tables of the record, and connections to them that keep its promises."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from ripple._record.checksum import META
from ripple._record.lock import DATABASE_NAME, sync_directory
from ripple.errors import CorruptStoreError, InvalidInputError, ReadOnlyError, StoreError, StoreVersionError

__all__ = [
    "FORMAT_VERSION",
    "connect_reader",
    "connect_writer",
    "create_database",
    "open_memory",
    "require_known_format",
    "translated",
]

FORMAT_VERSION: Final = 1
_APPLICATION_ID: Final = 0x7269706C  # "ripl"
_OLDEST_SQLITE: Final = (3, 37, 0)  # STRICT tables
_BUSY_SECONDS: Final = 5.0
_PAGE_BYTES_MIN: Final = 512

_TABLES: Final = """
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE namespaces (
  number INTEGER NOT NULL PRIMARY KEY, created_at INTEGER NOT NULL,
  next_turn_id INTEGER NOT NULL, next_unit_id INTEGER NOT NULL, next_window_id INTEGER NOT NULL,
  turns INTEGER NOT NULL, windows INTEGER NOT NULL, units INTEGER NOT NULL, sources INTEGER NOT NULL,
  edges INTEGER NOT NULL, sequence INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, crc INTEGER NOT NULL
) STRICT;

CREATE TABLE turns (
  id INTEGER NOT NULL PRIMARY KEY, namespace INTEGER NOT NULL, said_at INTEGER, said_offset INTEGER,
  sequence INTEGER NOT NULL,
  message_id TEXT, session TEXT NOT NULL, speaker TEXT, text TEXT NOT NULL, metadata TEXT,
  flags TEXT NOT NULL,
  crc INTEGER NOT NULL, CHECK (id >> 40 = namespace)
) STRICT;
CREATE UNIQUE INDEX turns_by_message ON turns (namespace, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX turns_by_session ON turns (namespace, session);

CREATE TABLE windows (
  id INTEGER NOT NULL PRIMARY KEY, namespace INTEGER NOT NULL, attempts INTEGER NOT NULL,
  first_turn INTEGER NOT NULL, last_turn INTEGER NOT NULL, sequence INTEGER NOT NULL,
  state TEXT NOT NULL, reason TEXT NOT NULL, prompt_version TEXT NOT NULL, turn_ids TEXT NOT NULL,
  digest BLOB NOT NULL, crc INTEGER NOT NULL, CHECK (id >> 40 = namespace)
) STRICT;
CREATE UNIQUE INDEX windows_by_digest ON windows (namespace, digest);
CREATE INDEX windows_open ON windows (namespace, state) WHERE state <> 'done';

CREATE TABLE units (
  id INTEGER NOT NULL PRIMARY KEY, namespace INTEGER NOT NULL,
  time_start INTEGER, time_end INTEGER, start_offset INTEGER, end_offset INTEGER,
  said_at INTEGER, said_offset INTEGER, flags INTEGER NOT NULL, sequence INTEGER NOT NULL,
  session TEXT NOT NULL, text TEXT NOT NULL, content TEXT NOT NULL, speaker TEXT,
  participants TEXT NOT NULL, locations TEXT NOT NULL,
  participant_keys TEXT NOT NULL, location_keys TEXT NOT NULL,
  digest BLOB, crc INTEGER NOT NULL, CHECK (id >> 40 = namespace)
) STRICT;
CREATE INDEX units_by_session ON units (namespace, session);
CREATE INDEX units_by_digest ON units (namespace, digest) WHERE digest IS NOT NULL;

CREATE TABLE vectors (
  id INTEGER NOT NULL PRIMARY KEY REFERENCES units (id), sequence INTEGER NOT NULL, vector BLOB NOT NULL,
  crc INTEGER NOT NULL
) STRICT;

CREATE TABLE provenance (
  unit_id INTEGER NOT NULL REFERENCES units (id), turn_id INTEGER NOT NULL REFERENCES turns (id),
  position INTEGER NOT NULL, sequence INTEGER NOT NULL, crc INTEGER NOT NULL,
  PRIMARY KEY (unit_id, turn_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX provenance_by_turn ON provenance (turn_id);

CREATE TABLE edges (
  dst INTEGER NOT NULL REFERENCES units (id), src INTEGER NOT NULL REFERENCES units (id),
  kind INTEGER NOT NULL, sequence INTEGER NOT NULL, weight REAL NOT NULL, crc INTEGER NOT NULL,
  PRIMARY KEY (dst, src, kind)
) WITHOUT ROWID, STRICT;
CREATE INDEX edges_by_src ON edges (src, kind);

CREATE TABLE usage (
  namespace INTEGER NOT NULL, calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, sequence INTEGER NOT NULL, seconds REAL NOT NULL, usd REAL,
  stage TEXT NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY (namespace, stage)
) WITHOUT ROWID, STRICT;

CREATE TABLE replies (
  namespace INTEGER NOT NULL, sequence INTEGER NOT NULL, reply TEXT NOT NULL, key BLOB NOT NULL,
  crc INTEGER NOT NULL, PRIMARY KEY (namespace, key)
) WITHOUT ROWID, STRICT;

CREATE TABLE dead_messages (
  namespace INTEGER NOT NULL, sequence INTEGER NOT NULL, hash BLOB NOT NULL, crc INTEGER NOT NULL,
  PRIMARY KEY (namespace, hash)
) WITHOUT ROWID, STRICT;
"""

_PRAGMAS: Final = (
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA cell_size_check = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA mmap_size = 0",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",  # no text in temporary files
    "PRAGMA wal_autocheckpoint = 0",
)


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn errors of SQLite and the system into the package's own."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise InvalidInputError(f"what was given does not fit {what}: {error}") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "decode to UTF-8" in str(error):
            raise CorruptStoreError(f"{what} is damaged: {error}; restore it from a copy") from error
        if code == sqlite3.SQLITE_READONLY:
            raise ReadOnlyError(f"{what} cannot be written: {error}") from error
        if code == sqlite3.SQLITE_FULL:
            raise StoreError(f"{what} has no room: {error}; nothing was written, free some and try again") from error
        raise StoreError(f"{what} cannot be read or written: {error}") from error
    except UnicodeDecodeError as error:  # SQLite quotes broken bytes in its message
        raise CorruptStoreError(f"{what} is damaged; restore it from a copy") from error
    except OSError as error:
        raise StoreError(f"{what} cannot be read or written: {error.strerror}") from error


def _address(path: Path, query: str) -> str:
    return f"{path.absolute().as_uri()}?{query}"


def _connection(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)


def connect_writer(path: Path) -> sqlite3.Connection:
    """Return the connection that alone writes and checkpoints.

    With two that do, SQLite before 3.51.3 can lose a write.
    """
    connection = _configured(_address(path, "mode=rw"), cache_kib=65_536)
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreError(f"{path} cannot have a log here ({mode}); keep it on a local file system")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write; on read-only media, where there is no log, one without a log."""
    log = path.with_name(path.name + "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    try:
        return _configured(_address(path, "mode=ro"), cache_kib=32_768)
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & 0xFF
        if has_log or code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        return _configured(_address(path, "mode=ro&immutable=1"), cache_kib=32_768)


def _configured(address: str, *, cache_kib: int) -> sqlite3.Connection:
    connection = _connection(address)
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        connection.execute(f"PRAGMA cache_size = -{cache_kib:d}")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # fails if it cannot be read
    except BaseException:
        connection.close()
        raise
    return connection


def open_memory() -> sqlite3.Connection:
    """Return a new record in memory."""
    connection = _configured("file::memory:", cache_kib=65_536)
    _create_tables(connection)
    return connection


def create_database(directory: Path) -> None:
    """Make the database of a new store whole or not at all.

    It is made under another name, so that a database that is there is never half a one.
    """
    path = directory / DATABASE_NAME
    draft = path.with_name(path.name + ".new")
    for end in ("", "-journal", "-wal", "-shm"):
        draft.with_name(draft.name + end).unlink(missing_ok=True)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = _configured(_address(draft, "mode=rw"), cache_kib=2_048)
    try:
        _create_tables(connection)
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    draft.rename(path)
    sync_directory(directory)


def _create_tables(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID:d}")
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION:d}")
    connection.executescript(f"BEGIN;{_TABLES}")
    created: dict[str, Any] = {
        "created_at": int(time.time()),
        "dead_message_key": os.urandom(32).hex(),
        "erasure": "done",
        "format_version": FORMAT_VERSION,
        "namespaces": 0,
        "next_namespace": 1,
        "sequence": 0,
        "store_id": uuid.uuid4().hex,
    }
    rows = [META.sealed((key, str(value))) for key, value in created.items()]
    connection.executemany("INSERT INTO meta VALUES (?, ?, ?)", rows)
    connection.execute("COMMIT")


def require_known_format(path: Path) -> None:
    """Raise unless the file is a record that this version reads; the file and its log are left untouched."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StoreError(f"SQLite is {sqlite3.sqlite_version}; a store needs 3.37 or later")
    if path.stat().st_size < _PAGE_BYTES_MIN:
        raise CorruptStoreError(f"{path} is empty or cut short; restore it from a copy")
    with translated(str(path)):
        connection = _connection(_address(path, "mode=ro&immutable=1"))
        try:
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if application_id != _APPLICATION_ID:
                raise StoreError(f"{path} is another program's database; give another directory")
            if version != FORMAT_VERSION:
                raise StoreVersionError(
                    f"{path} has format version {version}, this version of ripple reads {FORMAT_VERSION}; "
                    "open it with the version that wrote it"
                )
            _require_own_tables(connection, path)
        finally:
            connection.close()


def _schema(connection: sqlite3.Connection) -> list[tuple[str, str | None]]:
    return sorted(connection.execute("SELECT name, sql FROM sqlite_schema"), key=lambda row: str(row[0]))


@cache
def _own_schema() -> list[tuple[str, str | None]]:
    connection = open_memory()
    try:
        return _schema(connection)
    finally:
        connection.close()


def _require_own_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless the tables are exactly ours: no trigger or view of another hand runs here."""
    if _schema(connection) != _own_schema():
        raise CorruptStoreError(f"{path} does not have the tables of format version {FORMAT_VERSION}")
