"""Namespaces: their names, numbers and counters."""

from __future__ import annotations

import sqlite3
import time
import unicodedata
from dataclasses import astuple, dataclass
from typing import Final

from ripple._record.checksum import META, NAMESPACE
from ripple.errors import CorruptStoreError, InvalidInputError

__all__ = ["NamespaceRow", "checked_name", "read_meta", "write_meta"]

_NAME_LENGTH_MAX: Final = 128
# Numbers stand above the 40 bits of an id in a signed 64-bit key.
_NUMBER_MAX: Final = 2**23 - 1
_INSERT: Final = "INSERT INTO namespaces VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_UPDATE: Final = """
UPDATE namespaces SET (number, created_at, next_turn_id, next_unit_id, next_window_id, turns, windows, units,
  sources, edges, sequence, name, crc) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE number = ?
"""


def checked_name(name: str) -> str:
    """Return the name, or raise ``InvalidInputError`` for one that no namespace can have."""
    if not isinstance(name, str):
        raise InvalidInputError(f"a namespace is named by a str, not by {type(name).__name__}")
    if not name:
        raise InvalidInputError("a namespace's name is empty; give at least one character")
    if len(name) > _NAME_LENGTH_MAX:
        raise InvalidInputError(f"a namespace's name has {len(name)} characters; at most {_NAME_LENGTH_MAX}")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise InvalidInputError(f"the namespace's name {name!r} holds a control character or lone surrogate")
    if name != name.strip():
        raise InvalidInputError(f"the namespace's name {name!r} begins or ends with a space")
    return name


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return what the store says of itself, checked."""
    meta = {}
    for row in connection.execute("SELECT key, value, crc FROM meta"):
        META.check(row)
        meta[row[0]] = row[1]
    return meta


def write_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Set one entry of the store's own table."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", META.sealed((key, value)))


@dataclass(slots=True)
class NamespaceRow:
    """The row of a namespace, in the order of its columns."""

    number: int
    created_at: int
    next_turn_id: int
    next_unit_id: int
    next_window_id: int
    turns: int
    windows: int
    units: int
    sources: int
    edges: int
    sequence: int
    name: str

    @classmethod
    def read(cls, connection: sqlite3.Connection, number: int) -> NamespaceRow:
        """Return the row of a namespace that must be there."""
        row = connection.execute("SELECT * FROM namespaces WHERE number = ?", (number,)).fetchone()
        if row is None:
            raise InvalidInputError(f"the store has no namespace with number {number}")
        NAMESPACE.check(row)
        return cls(*row[:-1])

    @classmethod
    def find(cls, connection: sqlite3.Connection, name: str) -> NamespaceRow | None:
        """Return the row of the namespace with exactly this name."""
        row = connection.execute("SELECT * FROM namespaces WHERE name = ?", (name,)).fetchone()
        if row is None:
            if name in cls.numbers(connection):
                raise CorruptStoreError("the index of namespaces lacks one; run verify")
            return None
        NAMESPACE.check(row)
        return cls(*row[:-1])

    @classmethod
    def create(cls, connection: sqlite3.Connection, name: str, sequence: int) -> NamespaceRow:
        """Add a namespace under a number that none had before."""
        meta = read_meta(connection)
        number = int(meta["next_namespace"])
        if number > _NUMBER_MAX:
            raise InvalidInputError(f"the store has had {_NUMBER_MAX} namespaces and can have no more")
        write_meta(connection, "next_namespace", str(number + 1))
        write_meta(connection, "namespaces", str(int(meta["namespaces"]) + 1))
        row = cls(number, int(time.time()), 1, 1, 1, 0, 0, 0, 0, 0, sequence, name)
        connection.execute(_INSERT, NAMESPACE.sealed(astuple(row)))
        return row

    @staticmethod
    def numbers(connection: sqlite3.Connection) -> dict[str, int]:
        """Return the number of each namespace by its name, by number up; none is missing."""
        rows = connection.execute("SELECT name, number FROM namespaces NOT INDEXED ORDER BY number")
        numbers = dict(rows.fetchall())
        wanted = int(read_meta(connection)["namespaces"])
        if len(numbers) != wanted:
            raise CorruptStoreError(f"the store should have {wanted} namespaces and has {len(numbers)}; run verify")
        return numbers

    def delete(self, connection: sqlite3.Connection) -> None:
        """Delete the row; the number is never used again."""
        connection.execute("DELETE FROM namespaces WHERE number = ?", (self.number,))
        write_meta(connection, "namespaces", str(int(read_meta(connection)["namespaces"]) - 1))

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the row over the stored one."""
        written = connection.execute(_UPDATE, (*NAMESPACE.sealed(astuple(self)), self.number))
        if written.rowcount != 1:
            raise CorruptStoreError(f"the row of namespace {self.number} is gone; run verify")
