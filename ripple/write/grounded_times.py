"""When a unit's event was, as far as the turns it cites say so: the model points, the words decide.

A reply's start and end are taken only as ISO 8601 dates or date-times. They never become a unit's time by
themselves: they choose among the intervals that the cited turns name, resolved from their timestamps by
`ripple.language.times`, and the day of a cited turn that speaks of now ("just", "currently"). A question
right before a cited turn speaks for it too ("What did you do last Friday?"). The first that applies:

1. Start and end both touch a named interval: that interval, the shortest of several. What is finer than the
   words ("last month", reply 12 April) is thus widened to what they say, and what is coarser ("yesterday at
   3 pm", reply the day) made finer.
2. Start touches one named interval and end another: from the first to the second.
3. The reply is a whole week, some whole months (12 at most) or a year around a named interval: as replied.
4. The reply and a named interval share at least half of the longer: the named interval.
5. Otherwise the time stays empty.

An interval that still runs ("for three years now") counts only where it begins within 31 days of the reply's
start.

A date alone is a day in the zone of the first cited turn. A start without an end is the day or moment of
the start; an end without a start is nothing; a start after the end is nothing. Where a reply gives neither,
the time words of the restatement itself point in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo

from ripple.language.calendar import LAST_SECOND
from ripple.language.sentences import clean_text, is_question
from ripple.language.times import resolve_times, unit_time
from ripple.types import TimeInterval, Turn

__all__ = ["NamedTime", "ground_time", "named_times"]

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
_NOW = re.compile(
    r"\b(?:now|currently|just|ahora|acab(?:o|amos) de|maintenant|viens de|jetzt|gerade)\b|现在|現在|目前|正在|刚|剛",
    re.IGNORECASE,
)
_RUNNING = "running"
_RUNNING_START = timedelta(days=31)
_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
_MONTHS_MAX = 12
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class NamedTime:
    """An interval that a turn names; ``grain`` as in `ripple.language.times.TimeMention`."""

    interval: TimeInterval
    grain: str


def named_times(turn: Turn, before: Turn | None = None) -> list[NamedTime]:
    """Return the intervals that a turn may be about; ``before`` is the turn right before it."""
    text = clean_text(turn.text)
    found = _resolved(text, turn.said_at)
    if turn.said_at is not None and _NOW.search(text) is not None:
        day = turn.said_at.date()
        zone = turn.said_at.tzinfo
        whole = TimeInterval(datetime.combine(day, time(), zone), datetime.combine(day, LAST_SECOND, zone))
        found.append(NamedTime(whole, "day"))
    if before is not None and before.session == turn.session:
        asked = clean_text(before.text)
        if is_question(asked):
            found += _resolved(asked, before.said_at)
    return found


def ground_time(
    start: str | None, end: str | None, restatement: str, said_at: datetime | None, named: Sequence[NamedTime]
) -> tuple[TimeInterval | None, str | None]:
    """Return the time of a unit, and why it is empty although the reply gave one.

    Parameters
    ----------
    start, end : str or None
        As replied.
    restatement : str
        Its time words count where the reply gives neither.
    said_at : datetime or None
        Of the first cited turn: its zone is that of dates.
    named : sequence of NamedTime
        What the cited turns name, see `named_times`.

    Returns
    -------
    interval : TimeInterval or None
    reason : {"time_form", "time_reversed", "time_ungrounded"} or None
    """
    if start is None and end is None:
        own, _ = unit_time(restatement, said_at)
        return (None if own is None else _settle(*_ends(own), named)), None
    zone = UTC if said_at is None or said_at.tzinfo is None else said_at.tzinfo
    first = None if start is None else _read(start, zone)
    last = first if end is None else _read(end, zone)
    if first is None or last is None:
        return None, "time_form"
    if first.start > last.end:
        return None, "time_reversed"
    settled = _settle(first, last, named)
    return settled, None if settled is not None else "time_ungrounded"


def _ends(interval: TimeInterval) -> tuple[TimeInterval, TimeInterval]:
    """Return the first and the last day of an interval, both the interval where it is not longer than that."""
    if _length(interval) <= _DAY:
        return interval, interval
    return (
        TimeInterval(interval.start, interval.start + _DAY - _SECOND),
        TimeInterval(interval.end - _DAY + _SECOND, interval.end),
    )


def _resolved(text: str, said_at: datetime | None) -> list[NamedTime]:
    return [NamedTime(m.interval, m.grain) for m in resolve_times(text, said_at) if m.interval is not None]


def _read(text: str, zone: tzinfo) -> TimeInterval | None:
    """Return a date as its day and a date-time as its second; None for anything else."""
    match = _ISO.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, offset = match.groups()
    try:
        start = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        start = start.replace(tzinfo=_zone(offset) if offset else zone)
        end = start if hour else start.replace(hour=23, minute=59, second=59)
        start.astimezone(UTC), end.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return TimeInterval(start, end)


def _zone(offset: str) -> tzinfo:
    if offset == "Z":
        return UTC
    ahead = timedelta(hours=int(offset[1:3]), minutes=int(offset[4:6]))
    return timezone(-ahead if offset[0] == "-" else ahead)


def _settle(first: TimeInterval, last: TimeInterval, named: Sequence[NamedTime]) -> TimeInterval | None:
    """Return the interval that a reply from ``first`` to ``last`` points at: the rules at the top."""
    intervals = [
        known.interval
        for known in named
        if known.grain != _RUNNING or abs(first.start - known.interval.start) <= _RUNNING_START
    ]
    begins = [interval for interval in intervals if _touch(first, interval)]
    ends = [interval for interval in intervals if _touch(last, interval)]
    touched = [interval for interval in begins if interval in ends]
    if touched:
        return min(touched, key=lambda interval: _misfit(interval, first.start, last.end))
    if begins and ends and (start := min(begins, key=_length).start) <= (end := min(ends, key=_length).end):
        return TimeInterval(start, end)
    replied = TimeInterval(first.start, last.end)
    if _is_calendar_unit(replied) and any(_holds(replied, interval) for interval in intervals):
        return replied
    nearest = max(intervals, key=lambda interval: _shared(replied, interval), default=None)
    if nearest is not None and _shared(replied, nearest) * 2 >= max(_length(replied), _length(nearest)):
        return nearest
    return None


def _touch(one: TimeInterval, other: TimeInterval) -> bool:
    return one.start <= other.end and other.start <= one.end


def _holds(outer: TimeInterval, inner: TimeInterval) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _length(interval: TimeInterval) -> timedelta:
    return interval.end - interval.start + _SECOND


def _shared(one: TimeInterval, other: TimeInterval) -> timedelta:
    return max(timedelta(), min(one.end, other.end) - max(one.start, other.start) + _SECOND)


def _misfit(interval: TimeInterval, start: datetime, end: datetime) -> tuple[bool, timedelta]:
    """Order intervals that a reply touches: its own first, then the shortest."""
    return (interval.start, interval.end) != (start, end), _length(interval)


def _is_calendar_unit(interval: TimeInterval) -> bool:
    """Whether an interval is seven whole days from a Monday or Sunday, or whole months, a year of them at most."""
    start, end = interval.start, interval.end
    after = end.replace(tzinfo=None) + _SECOND if end.year < 9999 else end.replace(tzinfo=None)
    if start.time() != time() or after.time() != time():
        return False
    if start.weekday() in (0, 6) and _length(interval) == _WEEK:
        return True
    months = (after.year - start.year) * 12 + after.month - start.month
    return start.day == 1 and after.day == 1 and 1 <= months <= _MONTHS_MAX
