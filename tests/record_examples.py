"""Small records for tests: messages, units and the files of a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from ripple.store import Batch, Links, Record, StoredUnit, StoreSettings
from ripple.types import EdgeKind, Message, Thresholds, TimeInterval, UnitDraft

DIMENSION = 4
SETTINGS = StoreSettings("test-embedder", DIMENSION, Thresholds(0.5, 0.9, 0.95), "15.0.0")
ROME = timezone(timedelta(hours=2))
DAY = datetime(2026, 4, 23, 19, 5, tzinfo=ROME)


def message(
    text: str,
    message_id: str | None = None,
    *,
    speaker: str | None = "Sam",
    session: str = "first",
    said_at: datetime | None = DAY,
    metadata: dict[str, object] | None = None,
) -> Message:
    return Message(text, speaker, said_at, message_id, session, metadata)


def stored_unit(
    unit_id: int,
    turn_ids: Sequence[int],
    *,
    content: str = "Harbor Grill is good",
    speaker: str | None = "Sam",
    participants: tuple[str, ...] = ("Sam",),
    locations: tuple[str, ...] = (),
    time: TimeInterval | None = None,
    said_at: datetime | None = DAY,
    session: str = "first",
    digest: bytes | None = None,
) -> StoredUnit:
    draft = UnitDraft(
        text=f"{speaker}: {content}",
        content=content,
        speaker=speaker,
        participants=participants,
        locations=locations,
        time=time,
        said_at=said_at,
        session=session,
        turn_ids=tuple(turn_ids),
        has_time_word=time is not None,
    )
    return StoredUnit(
        unit_id,
        draft,
        tuple(name.casefold() for name in participants),
        tuple(name.casefold() for name in locations),
        digest,
    )


def vectors_for(unit_ids: Iterable[int]) -> np.ndarray:
    """A vector for each id, none for every fifth."""
    rows = [np.full(DIMENSION, np.nan) if n % 5 == 0 else np.arange(DIMENSION) + n / 8 for n in unit_ids]
    return np.array(rows, dtype=np.float32).reshape(-1, DIMENSION)


def open_configured(path: Path | str) -> tuple[Record, int]:
    """A record with an embedder and the namespace "home"."""
    record = Record.open(path)
    record.configure(SETTINGS)
    number = record.namespace("home", create=True)
    assert number is not None
    return record, number


def fill(record: Record, namespace: int, count: int, *, start: int = 0) -> list[int]:
    """Turns with ids of their own, one unit each, and a chain of edges; returns the unit ids."""
    added = record.add_turns(
        namespace,
        [message(f"turn {n} of Zanzibar", f"message-{n}") for n in range(start, start + count)],
    )
    unit_ids = record.reserve_unit_ids(namespace, count)
    units = [
        stored_unit(unit_id, [turn.turn_id], content=turn.text)
        for unit_id, turn in zip(unit_ids, added.turns, strict=True)
        if turn is not None
    ]
    chain = [(a, a + 1, EdgeKind.SEQUENCE, 0.625) for a in unit_ids[:-1]]
    record.apply(
        namespace,
        Batch(
            units,
            vectors_for(unit_ids),
            edges_added=Links.of(chain),
            windows_done=[window.window_id for window in added.windows],
        ),
    )
    return list(unit_ids)


def file_bytes(path: Path) -> bytes:
    """All that the files of a store hold."""
    return b"".join(file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file())


def utc(year: int, month: int, day: int, hour: int = 0) -> datetime:
    return datetime(year, month, day, hour, tzinfo=UTC)
