"""The words of the package as data: frozen dataclasses that the steps take and return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

__all__ = [
    "AddResult",
    "Cues",
    "Decision",
    "EdgeKind",
    "Evidence",
    "Filter",
    "ForgetResult",
    "MemoryUnit",
    "Message",
    "QueryTime",
    "RecallPlan",
    "Source",
    "StoreStats",
    "SupportTarget",
    "Thresholds",
    "TimeInterval",
    "Turn",
    "UnitDraft",
    "Usage",
    "WindowStatus",
    "Windows",
]


@dataclass(frozen=True, slots=True)
class TimeInterval:
    """When something happened: a closed interval of aware datetimes with whole seconds.

    A point event has ``start == end``; a day, week, month or year is the whole interval.
    """

    start: datetime
    end: datetime


class EdgeKind(IntEnum):
    """Kind of a link between two units; the numbers are those of the core."""

    SEMANTIC = 0
    STRUCTURAL = 1
    STATE = 2
    SEQUENCE = 3
    TERM = 4


class Decision(StrEnum):
    """What became of a unit when it was written."""

    ADD = "add"
    MERGE = "merge"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Message:
    """A validated message, before it has an identity in the record."""

    text: str
    speaker: str | None = None
    said_at: datetime | None = None
    message_id: str | None = None
    session: str = ""
    metadata: Mapping[str, Any] | None = None
    flags: tuple[str, ...] = ()
    """What validation changed or assumed: ``naive_time``, ``invalid_time``, ``replaced_surrogates``."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as said, as the record keeps it."""

    turn_id: int
    text: str
    speaker: str | None = None
    said_at: datetime | None = None
    message_id: str | None = None
    session: str = ""
    metadata: Mapping[str, Any] | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A turn that a unit was made from."""

    turn_id: int
    text: str
    speaker: str | None = None
    said_at: datetime | None = None
    message_id: str | None = None
    session: str = ""


@dataclass(frozen=True, slots=True)
class UnitDraft:
    """A unit as an extractor gives it, before it has an identity.

    Attributes
    ----------
    text : str
        The restatement: one sentence or turn that can be read alone, the speaker named.
    content : str
        The restatement without the leading speaker: what is embedded and matched without names.
    speaker : str or None
        Who said it; always among the participants when not None.
    participants, locations : tuple of str
        Individuals and places that are grounded in the source; display forms.
    time : TimeInterval or None
        When it happened, where the wording and the turn's timestamp ground it.
    said_at : datetime or None
        When it was said: the timestamp of the first source turn.
    session : str
    turn_ids : tuple of int
        Source turns, in order.
    is_question, has_time_word : bool
        The content is a question; the content names a time, grounded or not.
    """

    text: str
    content: str
    speaker: str | None = None
    participants: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()
    time: TimeInterval | None = None
    said_at: datetime | None = None
    session: str = ""
    turn_ids: tuple[int, ...] = ()
    is_question: bool = False
    has_time_word: bool = False


@dataclass(frozen=True, slots=True)
class MemoryUnit:
    """A stored memory unit.

    ``unit_id`` counts from 1 in each namespace and is never reused. ``status`` is ``"current"`` or
    ``"superseded"``; ``superseded_by`` is the unit that replaced it.
    """

    unit_id: int
    text: str
    content: str
    speaker: str | None
    participants: tuple[str, ...]
    locations: tuple[str, ...]
    time: TimeInterval | None
    said_at: datetime | None
    session: str
    sources: tuple[Source, ...]
    is_question: bool = False
    has_time_word: bool = False
    status: str = "current"
    superseded_by: int | None = None


@dataclass(frozen=True, slots=True)
class QueryTime:
    """A date named in a query: a closed interval and its grain (``day``, ``week``, ``month``, ``year``)."""

    interval: TimeInterval
    grain: str


@dataclass(frozen=True, slots=True)
class Cues:
    """What a query asks by: the text with and without the names of participants, and its cues."""

    text: str
    name_free: str
    keywords: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()
    time: QueryTime | None = None
    asks_when: bool = False


@dataclass(frozen=True, slots=True)
class SupportTarget:
    """What is still missing, written like a stored memory, with its cues."""

    restatement: str
    goal: str = ""
    participants: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()
    time: TimeInterval | None = None


@dataclass(frozen=True, slots=True)
class RecallPlan:
    """The planner's decision: go on or stop, from which recalled units, towards what."""

    proceed: bool
    stop_reason: str
    anchors: tuple[int, ...] = ()
    target: SupportTarget | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One recalled memory with the way it was found and the turns it came from.

    ``kind`` is ``unit``, or ``turn`` for a raw turn that no unit has been made of yet: its ``unit_id`` is the
    turn's with a minus. ``score`` is the sum of ``parts``. ``hop`` is the distance from an anchor in edges (0:
    not by expansion), ``via`` the unit ids and edge kinds walked from the anchor.
    """

    kind: str
    unit_id: int
    text: str
    score: float
    parts: Mapping[str, float]
    found_by: tuple[str, ...]
    sources: tuple[Source, ...]
    participants: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()
    time: TimeInterval | None = None
    said_at: datetime | None = None
    status: str = "current"
    superseded_by: int | None = None
    hop: int = 0
    via: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a call may touch; taken by ``search``, ``recall`` and ``forget`` alike.

    Every given field must match; a field with several values matches any of them. ``time`` and ``said``
    match intervals that intersect the given one, an open end being None. ``metadata`` matches keys with equal
    values of the source message. ``ids`` are unit ids.
    """

    session: str | tuple[str, ...] | None = None
    participants: tuple[str, ...] | None = None
    locations: tuple[str, ...] | None = None
    time: tuple[datetime | None, datetime | None] | None = None
    said: tuple[datetime | None, datetime | None] | None = None
    metadata: Mapping[str, Any] | None = None
    ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls took.

    Attributes
    ----------
    calls : int
        Requests that were answered, well or badly; a client's own retries of one request count once, and a
        reply from a cache not at all.
    input_tokens, output_tokens : int
        As the endpoint counts them, by ``count_tokens`` where it does not.
    seconds : float
        Time spent in calls, summed; calls side by side count each.
    usd : float or None
        None when a part has no known price.

    Examples
    --------
    >>> Usage(calls=1, input_tokens=900, usd=0.25) + Usage(calls=1, input_tokens=100, usd=0.5)
    Usage(calls=2, input_tokens=1000, output_tokens=0, seconds=0.0, usd=0.75)
    >>> (Usage(calls=1, usd=0.25) + Usage(calls=1)).usd is None
    True
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    usd: float | None = None

    def __add__(self, other: Usage) -> Usage:
        """Return the sum; what has no price makes the sum have none."""
        if not isinstance(other, Usage):
            return NotImplemented
        if self.usd is not None and other.usd is not None:
            usd: float | None = self.usd + other.usd
        elif not self.calls:
            usd = other.usd
        else:
            usd = None if other.calls else self.usd
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.seconds + other.seconds,
            usd,
        )


@dataclass(frozen=True, slots=True)
class Windows:
    """How a language model is given a namespace's stream of turns.

    Attributes
    ----------
    turns : int
        Turns of a window, those shown from the window before among them.
    overlap : int
        Turns of the window before that are shown again, to understand the others by.
    across_sessions : bool
        Whether a window goes on across the end of a session or a gap.
    gap_seconds : int
        A longer silence ends a window.
    attempts : int
        Failures after which a window is given up: it stays listed as failed.
    fallback : bool
        Whether a window that was given up gets the units that rules find.
    """

    turns: int = 20
    overlap: int = 2
    across_sessions: bool = False
    gap_seconds: int = 3_600
    attempts: int = 3
    fallback: bool = True

    @classmethod
    def locomo(cls) -> Windows:
        """Return RippleMem's setting for LoCoMo: 40 turns, 2 of them shown again, across sessions."""
        return cls(turns=40, overlap=2, across_sessions=True)

    @classmethod
    def longmemeval(cls) -> Windows:
        """Return RippleMem's setting for LongMemEval: 10 turns, none shown again."""
        return cls(turns=10, overlap=0)


@dataclass(frozen=True, slots=True)
class WindowStatus:
    """A window that has not become units by a language model: ``state`` is ``pending`` or ``failed``.

    ``reason`` is that of the last failure in one word, empty before the first.
    """

    window_id: int
    state: str
    turn_ids: tuple[int, ...]
    attempts: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AddResult:
    """What became of each message of a call.

    Attributes
    ----------
    turn_ids : tuple of int
        The turns of the messages, in order, those of rejected ones left out.
    outcomes : tuple of str
        Beside the messages: ``written`` (units cite it), ``empty`` (nothing in it to remember), ``open`` (in
        no window yet), ``pending`` or ``failed`` (its window waits or was given up), ``repeated``,
        ``rejected``. Whatever is not rejected is in the record.
    unit_ids : tuple of int
        The units that now cite the messages, in order.
    decisions, dropped : mapping of str to int
        Adds, merges and links; what was left out or left empty, by reason.
    windows : mapping of str to int
        Windows of a language model by state: those that the call finished, and those of its messages that it
        left ``pending`` or ``failed``.
    refused : mapping of str to int
        Model calls that the budget had no room for, by limit.
    usage : mapping of str to Usage
        What model calls took, by stage.
    """

    turn_ids: tuple[int, ...] = ()
    outcomes: tuple[str, ...] = ()
    unit_ids: tuple[int, ...] = ()
    decisions: Mapping[str, int] = field(default_factory=dict)
    repeated: int = 0
    rejected: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    edges_added: int = 0
    edges_evicted: int = 0
    windows: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    usage: Mapping[str, Usage] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """What a deletion removed; ``pending`` tells that old bytes wait for a blocking reader to end."""

    turns: int
    units: int
    edges: int
    turns_kept: tuple[int, ...] = ()
    pending: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines that belong to an embedder: calibrated when a store is created and kept with it.

    ``semantic`` gives about three semantic edges a unit, ``merge`` and ``gate`` bound what may be the same
    memory, ``support_scale`` turns the best cosine of a query into 0..1.
    """

    semantic: float
    merge: float
    gate: float
    support_low: float = 0.2
    support_high: float = 0.6


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts of a namespace or store; bytes are always those of the whole store."""

    units: int
    turns: int
    vectors: int
    edges: Mapping[str, int]
    windows: Mapping[str, int]
    file_bytes: int
    embedder: str
    thresholds: Thresholds
