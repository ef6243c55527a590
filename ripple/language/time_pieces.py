"""The words of the temporal resolver: what a language's grammar is made of, and the arithmetic its rules share.

A language gives rules that find pieces ("friday", "last week", "at 3pm", "june", "2022") and joints, the short
words that stand between and around them. Rules read a folded copy of the text, lower-case and of the same
length, so positions hold in the original.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache

from ripple.language import calendar
from ripple.language.calendar import Span

__all__ = [
    "FUTURE",
    "PAST",
    "UNTOLD",
    "Clock",
    "Context",
    "Extension",
    "Found",
    "Joints",
    "Language",
    "Piece",
    "Rule",
    "UngroundedError",
    "compiled",
    "of_years",
    "running",
    "shift",
    "since",
    "until",
    "yearless",
]

PAST, UNTOLD, FUTURE = -1, 0, 1
"""Tense of a sentence, as the direction from the time of speaking."""

_SENTENCE_ENDS = ".!?\n。！？"
_CLAUSE = 160
"""Characters before and after an expression in which a tense cue is looked for, inside its sentence."""
_MONTHS_OF = {"decade": 120, "year": 12, "half": 6, "season": 3, "quarter": 3, "month": 1}
_SECONDS_OF = {"hour": 3600, "minute": 60, "second": 1}
_DATES = frozenset(
    {
        "minute",
        "hour",
        "part",
        "day",
        "weekend",
        "week",
        "month",
        "season",
        "quarter",
        "half",
        "year",
        "decade",
    }
)


class UngroundedError(ValueError):
    """A relative expression without a time of speaking."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule knows besides its match: the folded text, the local time of speaking, the tense cues."""

    text: str
    said: datetime | None
    tense_cues: str
    default_tense: int = UNTOLD

    def now(self) -> datetime:
        """Return the naive local time of speaking."""
        if self.said is None:
            raise UngroundedError("no time of speaking")
        return self.said

    def today(self) -> date:
        """Return the local day of speaking."""
        return self.now().date()

    def tense(self, start: int, end: int) -> int:
        """Return the direction that the nearest tense cue of the sentence tells, cues before first."""
        low, high = max(0, start - _CLAUSE), min(len(self.text), end + _CLAUSE)
        first = max(low, *(self.text.rfind(mark, low, start) + 1 for mark in _SENTENCE_ENDS))
        last = min((at for mark in _SENTENCE_ENDS if (at := self.text.find(mark, end, high)) >= 0), default=high)
        found = None
        for found in compiled(self.tense_cues).finditer(self.text, first, start):  # noqa: B007 - the last one is wanted
            pass
        found = found or compiled(self.tense_cues).search(self.text, end, last)
        if found is None:
            return self.default_tense
        return FUTURE if found.lastgroup == "future" else PAST


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock time or part of a day, in seconds from midnight; "3:30" leaves its half untold."""

    first: int
    last: int
    is_half_told: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule makes of its match.

    Attributes
    ----------
    span : Span or None
        None where the expression is not grounded.
    grain : str
        ``minute`` ... ``decade`` for dates; ``clock``, ``range``, ``running`` (up to the time of speaking),
        ``duration``, ``set``, ``open`` and ``vague`` for the rest.
    in_year : callable or None
        For an expression without a year ("june 3", "summer"): its span in a given year.
    weekday : int or None
        For a weekday without a date, Monday 0.
    clock : Clock or None
        For a clock time or part of a day.
    is_weak : bool
        Counts only when it joins with another piece (a bare "2019", a bare "morning").
    """

    span: Span | None
    grain: str
    in_year: Callable[[int], Span] | None = None
    weekday: int | None = None
    clock: Clock | None = None
    is_weak: bool = False

    @property
    def is_date(self) -> bool:
        """Whether it names a date rather than a duration, a repetition or a bare clock time."""
        return self.grain in _DATES


@dataclass(frozen=True, slots=True)
class Piece:
    """A found expression with its place in the text."""

    start: int
    end: int
    found: Found


Extension = Callable[[re.Match[str], Found, Context], Found | None]
"""What the words right before or after a piece make of it; None where they mean something else."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, the words without which it cannot match, and what to make of a match.

    One of ``triggers`` must be there, and one of ``also`` where this is not empty; ``#`` stands for any
    digit. ``build`` gives None for "no time at all"; a ``ValueError`` or ``OverflowError`` from it makes an
    expression of the rule's grain that is not grounded.
    """

    triggers: frozenset[str]
    pattern: str
    build: Callable[[re.Match[str], Context], Found | None]
    grain: str = "day"
    also: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Joints:
    """The short words of a language between, before and after pieces.

    Patterns of gaps match a whole gap, those of prefixes at the end of what stands before a piece, those
    of suffixes at the start of what follows.
    """

    clock_gap: str
    date_gap: str
    range_gap: str
    and_gap: str
    and_prefix: str
    range_prefix: str
    range_suffix: str
    prefixes: tuple[tuple[str, Extension], ...] = ()
    suffixes: tuple[tuple[str, Extension], ...] = ()


@dataclass(frozen=True, slots=True)
class Language:
    """The temporal grammar of one language."""

    rules: tuple[Rule, ...]
    joints: Joints
    tense_cues: str


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled when first used: the grammars together take 0.2 s, too much for an import."""
    return re.compile(pattern)


def of_years(in_year: Callable[[int], Span], context: Context, direction: int, *, strictly: bool = False) -> Span:
    """Return the occurrence of a yearless expression that lies in the told direction.

    Past: the latest that has begun; future: the earliest that has not ended; untold: the nearest.
    ``strictly`` leaves out the one that holds the day of speaking. Years in which it does not exist (29
    February) are passed.
    """
    now = context.now()
    candidates = []
    for number in range(now.year - 8, now.year + 9):
        try:
            candidates.append(in_year(number))
        except (ValueError, OverflowError):
            continue
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if direction == PAST:
        fitting = [s for s in candidates if (s.end < midnight if strictly else s.start <= now)][-1:]
    elif direction == FUTURE:
        fitting = [s for s in candidates if (s.start > now if strictly else s.end >= midnight)][:1]
    else:
        fitting = sorted(candidates, key=lambda s: _distance(s, now))[:1]
    if not fitting:
        raise ValueError("no such date near the time of speaking")
    return fitting[0]


def yearless(
    in_year: Callable[[int], Span],
    match: re.Match[str],
    context: Context,
    grain: str,
    *,
    is_weak: bool = False,
) -> Found:
    """Return a date without a year as the occurrence that the tense tells; not grounded where there is none."""
    try:
        span = of_years(in_year, context, context.tense(match.start(), match.end()))
    except (ValueError, OverflowError):
        span = None
    return Found(span, grain, in_year=in_year, is_weak=is_weak)


def _distance(span: Span, now: datetime) -> timedelta:
    if span.start <= now <= span.end:
        return timedelta()
    return min(abs(span.start - now), abs(span.end - now))


def shift(at: datetime, unit: str, count: float, *, is_rough: bool = False) -> Found:
    """Return the time ``count`` units away at the grain that such a phrase supports.

    Years give the month, or the year when said roughly; months the month; weeks the day, or the week when
    said roughly; days the day; shorter units the second.
    """
    if unit in _MONTHS_OF:
        there = calendar.shift_months(at.date(), round(count * _MONTHS_OF[unit]))
        if unit == "decade" or (unit == "year" and is_rough):
            return Found(calendar.year(there.year), "year")
        return Found(calendar.month(there.year, there.month), "month")
    if unit == "weekend":
        return Found(calendar.weekend(at.date() + timedelta(weeks=round(count))), "weekend")
    if unit in ("week", "day"):
        there = at.date() + timedelta(days=round(count * (7 if unit == "week" else 1)))
        if is_rough and unit == "week":
            return Found(calendar.week(there), "week")
        return Found(calendar.day(there), "day")
    return Found(calendar.moment(at + timedelta(seconds=round(count * _SECONDS_OF[unit]))), "minute")


def running(now: datetime, unit: str, count: float) -> Found:
    """Return the stretch of ``count`` units up to now ("for three years now"), or after it where negative.

    A start counted in years is put at the first of its month, one counted in months or shorter at its
    day, one counted in hours or shorter at its second.
    """
    if unit in _MONTHS_OF:
        there = calendar.shift_months(now.date(), -round(count * _MONTHS_OF[unit]))
        if unit in ("year", "decade") and count > 0:
            there = there.replace(day=1)
    elif unit in ("week", "day", "weekend"):
        there = now.date() - timedelta(days=round(count * (1 if unit == "day" else 7)))
    else:
        other = now - timedelta(seconds=round(count * _SECONDS_OF[unit]))
        return Found(calendar.until(min(now, other), max(now, other)), "running")
    if count < 0:
        return Found(calendar.until(now, calendar.day(there).end), "range")
    return Found(calendar.until(calendar.day(there).start, now), "running")


def since(found: Found, context: Context) -> Found:
    """Return the stretch from a date up to now; a date without a year, or a weekday, is the latest that has begun."""
    now = context.now()
    span = found.span
    if found.in_year is not None:
        span = of_years(found.in_year, context, PAST)
    elif found.weekday is not None:
        span = calendar.day(calendar.weekday_near(now.date(), found.weekday, PAST))
    if span is None or span.start > now:
        return Found(None, "open")
    return Found(calendar.until(span.start, now), "running")


def until(found: Found, context: Context) -> Found:
    """Return the stretch from now to the end of a date; open where the date is over or not grounded."""
    if found.span is None or context.said is None or found.span.end < context.said:
        return Found(None, "open")
    return Found(calendar.until(context.said, found.span.end), "range")
