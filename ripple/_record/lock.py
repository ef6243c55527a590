"""The directory of a store: who may write to it, and the last sequence that was acknowledged from it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import weakref
import zlib
from pathlib import Path
from typing import Final

from ripple.errors import StoreError, StoreLockedError

__all__ = ["DATABASE_NAME", "SequenceFile", "WriterLock", "find_store", "make_directory", "sync_directory"]

DATABASE_NAME: Final = "ripple.db"
_LOCK_NAME: Final = "LOCK"
_SEQUENCE_NAME: Final = "SEQ"
_SEQUENCE_BYTES: Final = 64
_SEQUENCE_TITLE: Final = b"ripple-sequence 1"
# What a store holds, or may hold while it is being made.
_OWN_NAMES: Final = frozenset(
    [_LOCK_NAME, _SEQUENCE_NAME, "ns", "reserve"]
    + [base + end for base in (DATABASE_NAME, DATABASE_NAME + ".new") for end in ("", "-wal", "-shm", "-journal")]
)

_held: weakref.WeakSet[WriterLock] = weakref.WeakSet()


def find_store(path: Path) -> bool:
    """Tell whether the directory holds a store; False when one can be made there.

    Raises ``StoreError`` when neither is the case. Nothing is changed.
    """
    try:
        names = {entry.name for entry in path.iterdir()}
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise StoreError(f"{path.parent} is not a directory; make it before opening a store in it") from None
        return False
    except NotADirectoryError:
        raise StoreError(f"{path} is not a directory; a store is a directory, give another path") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    if DATABASE_NAME in names:
        return True
    if strangers := names - _OWN_NAMES:
        raise StoreError(f"{path} holds {len(strangers)} other files and no {DATABASE_NAME}; give an empty directory")
    return False


def make_directory(path: Path) -> None:
    """Make the directory of a new store, for its owner only; its parent must be there."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        sync_directory(path.parent)
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {error.strerror}") from error


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class WriterLock:
    """The right to write to a store: held by one open of one process, gone when that process is.

    ``flock`` on the file LOCK, which names the holder's process id. A forked child shares the lock of its
    parent; it closes its copy at once, so that it cannot keep the store locked when the parent has gone.
    """

    def __init__(self, directory: Path) -> None:
        self._descriptor = -1
        try:
            self._descriptor = os.open(directory / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, b"%d\n" % os.getpid(), 0)
        except BlockingIOError:
            holder = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            self.release()
            raise StoreLockedError(
                f"{directory} is being written by process {holder}; close it there, or open it with read_only=True"
            ) from None
        except OSError as error:
            self.release()
            raise StoreError(f"{directory} cannot be locked for writing: {error.strerror}") from error
        _held.add(self)
        _register_fork_guard()

    def release(self) -> None:
        """Let others write; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            self.release()


_fork_guard_registered = False


def _register_fork_guard() -> None:
    global _fork_guard_registered
    if not _fork_guard_registered:
        os.register_at_fork(after_in_child=_release_inherited)
        _fork_guard_registered = True


def _release_inherited() -> None:
    for lock in list(_held):
        lock.release()


class SequenceFile:
    """The last acknowledged sequence, kept beside the database in 64 bytes: it may lag, never lead.

    A record whose own sequence is smaller has lost acknowledged writes. It is written after each commit and
    reaches the disk with checkpoints.
    """

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        mode = os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT
        self._descriptor = -1
        with contextlib.suppress(FileNotFoundError):
            self._descriptor = os.open(directory / _SEQUENCE_NAME, mode | os.O_CLOEXEC, 0o600)

    def read(self) -> int | None:
        """Return the sequence, 0 when none was written, None when the bytes are damaged."""
        data = os.pread(self._descriptor, _SEQUENCE_BYTES + 1, 0) if self._descriptor >= 0 else b""
        if not data:
            return 0
        body, _, crc = data.rstrip(b" \n").rpartition(b" ")
        title, _, number = body.rpartition(b" ")
        is_sound = len(data) == _SEQUENCE_BYTES and title == _SEQUENCE_TITLE and number.isdigit()
        return int(number) if is_sound and crc == b"%08x" % zlib.crc32(body) else None

    def write(self, sequence: int) -> None:
        """Note that everything up to a sequence has been committed."""
        body = _SEQUENCE_TITLE + b" %020d" % sequence
        os.pwrite(self._descriptor, (body + b" %08x" % zlib.crc32(body)).ljust(_SEQUENCE_BYTES - 1) + b"\n", 0)

    def sync(self) -> None:
        """Wait until the sequence is on disk."""
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
