"""What model calls cost, by namespace and stage, and their replies where those are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ripple._record.checksum import REPLY, USAGE
from ripple._record.database import Database
from ripple.types import Usage

__all__ = ["Accounts", "KeptReplies"]

_READ_USAGE: Final = "SELECT * FROM usage WHERE namespace = ?"
_READ_ALL_USAGE: Final = "SELECT * FROM usage"
_WRITE_USAGE: Final = "INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_READ_REPLY: Final = "SELECT * FROM replies WHERE namespace = ? AND key = ?"
_WRITE_REPLY: Final = "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)"


class Accounts:
    """The usage of all namespaces. A change that is lost with the machine costs a count, never a memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, namespace: int, by_stage: Mapping[str, Usage]) -> None:
        """Add what an operation took to the namespace's sums."""
        if not any(usage.calls for usage in by_stage.values()):
            return
        with self._database.changing() as change:
            sums = _sums(change.connection.execute(_READ_USAGE, (namespace,)).fetchall())
            for stage, usage in by_stage.items():
                total = sums.get(stage, Usage()) + usage
                row = (
                    *(namespace, total.calls, total.input_tokens, total.output_tokens, change.sequence),
                    *(total.seconds, total.usd, stage),
                )
                change.connection.execute(_WRITE_USAGE, USAGE.sealed(row))

    def usage(self, namespace: int | None = None) -> dict[str, Usage]:
        """Return the sums of a namespace, or of the whole store, by stage in the order of their names."""
        with self._database.reading() as connection:
            rows = connection.execute(
                *((_READ_ALL_USAGE,) if namespace is None else (_READ_USAGE, (namespace,)))
            ).fetchall()
        return dict(sorted(_sums(rows).items()))

    def replies(self, namespace: int) -> KeptReplies:
        """Return the kept replies of a namespace."""
        return KeptReplies(self._database, namespace)


class KeptReplies:
    """Replies of one namespace by key, as JSON text; emptied by every deletion."""

    def __init__(self, database: Database, namespace: int) -> None:
        self._database = database
        self._namespace = namespace

    def get(self, key: bytes) -> str | None:
        """Return what was put under the key, or None."""
        with self._database.reading() as connection:
            row = connection.execute(_READ_REPLY, (self._namespace, key)).fetchone()
        if row is None:
            return None
        REPLY.check(row)
        return str(row[2])

    def put(self, key: bytes, reply: str) -> None:
        """Keep the reply, in the place of an older one."""
        with self._database.changing() as change:
            row = REPLY.sealed((self._namespace, change.sequence, reply, key))
            change.connection.execute(_WRITE_REPLY, row)


def _sums(rows: list[tuple[object, ...]]) -> dict[str, Usage]:
    USAGE.check(*rows)
    sums: dict[str, Usage] = {}
    for row in rows:
        _, calls, input_tokens, output_tokens, _, seconds, usd, stage, _ = row
        usage = Usage(calls, input_tokens, output_tokens, seconds, usd)  # type: ignore[arg-type]
        sums[str(stage)] = sums.get(str(stage), Usage()) + usage
    return sums
