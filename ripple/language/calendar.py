"""Stretches of local wall time: the arithmetic under the temporal resolver.

Every function takes and gives naive local times and raises ``ValueError`` or ``OverflowError`` where the
calendar ends (year 0, 30 February, 31 December 9999 plus a day); the resolver turns both into "not grounded".
"""

from __future__ import annotations

import calendar as month_lengths
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

__all__ = [
    "LAST_SECOND",
    "Span",
    "day",
    "days",
    "decade",
    "half",
    "moment",
    "month",
    "months",
    "nth_weekday",
    "part_of_day",
    "quarter",
    "season",
    "shift_months",
    "third_of_month",
    "third_of_year",
    "until",
    "week",
    "week_of_month",
    "weekday_near",
    "weekend",
    "year",
]

LAST_SECOND = time(23, 59, 59)
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Span:
    """A closed stretch of naive local time with whole seconds."""

    start: datetime
    end: datetime


def days(first: date, last: date) -> Span:
    """Return the whole days from ``first`` to ``last``."""
    return Span(datetime.combine(first, time()), datetime.combine(last, LAST_SECOND))


def day(at: date) -> Span:
    """Return one whole day."""
    return days(at, at)


def moment(at: datetime) -> Span:
    """Return one second."""
    at = at.replace(microsecond=0)
    return Span(at, at)


def until(start: datetime, end: datetime) -> Span:
    """Return the stretch between two times, whole seconds."""
    return Span(start.replace(microsecond=0), end.replace(microsecond=0))


def part_of_day(at: date, first_second: int, last_second: int) -> Span:
    """Return a part of a day; seconds count from midnight and may pass the next one."""
    midnight = datetime.combine(at, time())
    if last_second < first_second:
        last_second += _DAY_SECONDS
    return Span(midnight + timedelta(seconds=first_second), midnight + timedelta(seconds=last_second))


def week(at: date) -> Span:
    """Return the week, Monday to Sunday, that holds a day."""
    monday = at - timedelta(days=at.weekday())
    return days(monday, monday + timedelta(days=6))


def weekend(at: date) -> Span:
    """Return Saturday and Sunday of the week that holds a day."""
    monday = at - timedelta(days=at.weekday())
    return days(monday + timedelta(days=5), monday + timedelta(days=6))


def month(year_number: int, month_number: int) -> Span:
    """Return a whole month."""
    length = month_lengths.monthrange(year_number, month_number)[1]
    return days(date(year_number, month_number, 1), date(year_number, month_number, length))


def months(year_number: int, month_number: int, count: int) -> Span:
    """Return ``count`` whole months from the given one."""
    first = date(year_number, month_number, 1)
    last = shift_months(first, count - 1)
    return Span(month(first.year, first.month).start, month(last.year, last.month).end)


def year(number: int) -> Span:
    """Return a whole year."""
    return days(date(number, 1, 1), date(number, 12, 31))


def decade(first_year: int) -> Span:
    """Return ten whole years."""
    return days(date(first_year, 1, 1), date(first_year + 9, 12, 31))


def quarter(year_number: int, number: int) -> Span:
    """Return quarter 1 to 4 of a year."""
    return months(year_number, 3 * number - 2, 3)


def half(year_number: int, number: int) -> Span:
    """Return half 1 or 2 of a year."""
    return months(year_number, 6 * number - 5, 6)


def season(year_number: int, number: int) -> Span:
    """Return a season by the northern months: 0 spring (March to May), 1 summer, 2 autumn, 3 winter.

    The winter of a year begins in its December.
    """
    return months(year_number, 3 + 3 * number, 3)


def third_of_month(year_number: int, month_number: int, part: str) -> Span:
    """Return the ``early`` (1-15), ``mid`` (10-20) or ``late`` (from 16) part of a month."""
    whole = month(year_number, month_number)
    first, last = {"early": (1, 15), "mid": (10, 20), "late": (16, whole.end.day)}[part]
    return days(whole.start.date().replace(day=first), whole.start.date().replace(day=last))


def third_of_year(number: int, part: str) -> Span:
    """Return four months of a year: ``early``, ``mid`` or ``late``."""
    return months(number, {"early": 1, "mid": 5, "late": 9}[part], 4)


def shift_months(at: date, count: int) -> date:
    """Return the same day ``count`` months on, or the last of that month where it is shorter."""
    index = at.year * 12 + at.month - 1 + count
    year_number, month_number = divmod(index, 12)
    length = month_lengths.monthrange(year_number, month_number + 1)[1]
    return date(year_number, month_number + 1, min(at.day, length))


def nth_weekday(year_number: int, month_number: int, weekday: int, number: int) -> date:
    """Return the ``number``-th (from 1; -1 the last) given weekday (Monday 0) of a month."""
    if number > 0:
        first = date(year_number, month_number, 1)
        found = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    else:
        last = month(year_number, month_number).end.date()
        found = last - timedelta(days=(last.weekday() - weekday) % 7)
    if found.month != month_number:
        raise ValueError(f"month {month_number} has no such weekday number {number}")
    return found


def week_of_month(year_number: int, month_number: int, number: int) -> Span:
    """Return the ``number``-th week (-1 the last) of a month; a week belongs to where its Thursday is."""
    if number > 0:
        return week(date(year_number, month_number, 4) + timedelta(weeks=number - 1))
    return week(month(year_number, month_number).end.date() - timedelta(days=3))


def weekday_near(at: date, weekday: int, direction: int) -> date:
    """Return the nearest given weekday strictly before (-1) or after (1) a day, or on or after it (0)."""
    if direction < 0:
        return at - timedelta(days=(at.weekday() - weekday - 1) % 7 + 1)
    if direction > 0:
        return at + timedelta(days=(weekday - at.weekday() - 1) % 7 + 1)
    return at + timedelta(days=(weekday - at.weekday()) % 7)
