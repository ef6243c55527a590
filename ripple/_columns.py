"""What crosses the border to the core, on the Python side of it: columns of units and edges, settings, findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from ripple.types import QueryTime, UnitDraft

__all__ = [
    "EARLIEST",
    "HAS_TIME_WORD",
    "IS_QUESTION",
    "IS_TURN",
    "LATEST",
    "NO_TIME",
    "EdgeArrays",
    "Expanded",
    "RecallArrays",
    "RecallSettings",
    "UnitColumns",
    "bounds_of",
    "months_of",
    "to_seconds",
]

FloatArray = npt.NDArray[np.float32]
IdArray = npt.NDArray[np.int64]

NO_TIME = int(np.iinfo(np.int64).min)
"""A time that is not grounded: the bits of NumPy's NaT."""
EARLIEST, LATEST = NO_TIME + 1, int(np.iinfo(np.int64).max)
"""What an open end of an interval stands for."""
IS_QUESTION = 1
HAS_TIME_WORD = 2
IS_TURN = 4


def to_seconds(moment: datetime | None) -> int:
    """Return whole seconds UTC; NO_TIME for None."""
    return NO_TIME if moment is None else int(moment.timestamp() // 1)


def bounds_of(interval: tuple[datetime | None, datetime | None] | None) -> tuple[int, int]:
    """Return a filter's interval in seconds, an open end being the extreme; NO_TIME twice for none."""
    if interval is None:
        return NO_TIME, NO_TIME
    start, end = interval
    return (
        EARLIEST if start is None else to_seconds(start),
        LATEST if end is None else to_seconds(end),
    )


def months_of(time: QueryTime | None) -> tuple[int, int]:
    """Return the calendar months that a question's date lies in, in seconds; NO_TIME twice for none."""
    if time is None:
        return NO_TIME, NO_TIME
    start, end = time.interval.start, time.interval.end
    first = start.replace(day=1, hour=0, minute=0, second=0)
    try:
        last = (end.replace(day=28, hour=0, minute=0, second=0) + timedelta(days=4)).replace(day=1)
    except OverflowError:
        return NO_TIME, NO_TIME
    return to_seconds(first), to_seconds(last) - 1


@dataclass(frozen=True, slots=True)
class EdgeArrays:
    """Links between units: ``src`` and ``dst`` are unit ids, all arrays have one length."""

    src: IdArray
    dst: IdArray
    kind: npt.NDArray[np.uint8]
    weight: FloatArray

    def __len__(self) -> int:
        return len(self.src)


@dataclass(frozen=True, slots=True, eq=False)
class UnitColumns:
    """Units as columns of one length: what an engine is told of each, besides its vector."""

    contents: Sequence[str]
    speakers: Sequence[str | None]
    participants: Sequence[tuple[str, ...]]
    locations: Sequence[tuple[str, ...]]
    times: npt.NDArray[np.int64]
    said_at: npt.NDArray[np.int64]
    sessions: Sequence[str]
    flags: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, drafts: Sequence[UnitDraft]) -> UnitColumns:
        """Return the columns of drafts."""
        times = [
            (NO_TIME, NO_TIME) if draft.time is None else (to_seconds(draft.time.start), to_seconds(draft.time.end))
            for draft in drafts
        ]
        flags = [draft.is_question * IS_QUESTION + draft.has_time_word * HAS_TIME_WORD for draft in drafts]
        return cls(
            contents=[draft.content for draft in drafts],
            speakers=[draft.speaker for draft in drafts],
            participants=[draft.participants for draft in drafts],
            locations=[draft.locations for draft in drafts],
            times=np.array(times, np.int64).reshape(len(drafts), 2),
            said_at=np.array([to_seconds(draft.said_at) for draft in drafts], np.int64),
            sessions=[draft.session for draft in drafts],
            flags=np.array(flags, np.uint8),
        )


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """Settings of one recall, as the public verbs take them."""

    top_k: int = 30
    first: int = 0
    expansion: str = "targeted"
    ranking: str = "default"
    without: frozenset[str] = frozenset()
    weights: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Expanded:
    """A unit that expansion reached: towards the target ``score``, over ``kind`` from ``parent``."""

    unit_id: int
    score: float
    hop: int
    parent: int
    anchor: int
    kind: int
    strength: float


@dataclass(frozen=True, slots=True)
class RecallArrays:
    """What the core found, in unit ids: the evidence, score down, and how it came about.

    ``first`` is the head of first recall, ``pool`` how many units it ranked.
    """

    unit_ids: list[int]
    scores: list[float]
    found_by: list[tuple[str, ...]]
    hops: list[int]
    parts: list[list[float]]
    first: list[tuple[int, float, tuple[str, ...]]]
    pool: int
    stop_reason: str
    anchors: tuple[int, ...]
    target: str
    target_participants: tuple[str, ...]
    target_locations: tuple[str, ...]
    expanded: list[Expanded]
    support: float
    support_signals: tuple[float, ...]
