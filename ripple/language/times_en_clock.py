"""English clock times and parts of a day."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ripple.language import calendar
from ripple.language.calendar import Span
from ripple.language.numerals import number
from ripple.language.time_pieces import Clock, Context, Found, Rule
from ripple.language.word_lists import words

__all__ = ["CLOCK_RULES", "PARTS", "part_span"]

PARTS = {
    "morning": Clock(6 * 3600, 12 * 3600 - 1),
    "afternoon": Clock(12 * 3600, 18 * 3600 - 1),
    "evening": Clock(18 * 3600, 24 * 3600 - 1),
    "night": Clock(20 * 3600, 24 * 3600 - 1),
}
"""Parts of a day; "night" is the evening side of it."""

_HALF_DAY = 12 * 3600
_HOUR_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_MERIDIEM = r"(?P<half>[ap])(?:\.m\.|\.?m\b)"


def part_span(at: date, part: str) -> Span:
    """Return a part of a day."""
    return calendar.part_of_day(at, PARTS[part].first, PARTS[part].last)


def _seconds(hour: str, minute: str | None, half: str | None) -> int:
    """Return seconds from midnight; ``ValueError`` for "24:00" and "9:60"."""
    hours = int(hour) if hour[0].isdecimal() else int(number(hour))
    minutes = int(minute or 0)
    if hours > 23 or minutes > 59 or (half is not None and not 1 <= hours <= 12):
        raise ValueError("no such time of day")
    if half is not None:
        hours = hours % 12 + (12 if half == "p" else 0)
    return hours * 3600 + minutes * 60


def _relative_part(match: re.Match[str], context: Context) -> Found:
    there = context.today() - timedelta(days=1 if match["relative"] == "last" else 0)
    return Found(part_span(there, match["part"]), "part", clock=PARTS[match["part"]])


def _bare_part(match: re.Match[str], context: Context) -> Found:
    return Found(None, "part", clock=PARTS[match["part"]], is_weak=True)


def _meridiem(match: re.Match[str], context: Context) -> Found:
    at = _seconds(match["hour"], match["minute"], match["half"])
    return Found(None, "clock", clock=Clock(at, at))


def _digital(match: re.Match[str], context: Context) -> Found:
    """Return "3:30", whose half of the day is told only from 13 on, at 0, or by a leading zero."""
    at = _seconds(match["hour"], match["minute"], None)
    is_told = at >= 13 * 3600 or match["hour"].startswith("0")
    return Found(None, "clock", clock=Clock(at, at, is_half_told=is_told))


def _o_clock(match: re.Match[str], context: Context) -> Found:
    at = _seconds(match["hour"], None, None)
    return Found(None, "clock", clock=Clock(at, at, is_half_told=at >= 13 * 3600))


def _named(match: re.Match[str], context: Context) -> Found:
    at = 0 if match["name"] == "midnight" else _HALF_DAY
    return Found(None, "clock", clock=Clock(at, at))


def _clock_range(match: re.Match[str], context: Context) -> Found:
    first = _seconds(match["hour"], match["minute"], match["half1"] or match["half"])
    last = _seconds(match["hour2"], match["minute2"], match["half"])
    if first > last and match["half1"] is None:  # "11 to 2pm" begins in the morning
        first = (first + _HALF_DAY) % (2 * _HALF_DAY)
    return Found(None, "clock", clock=Clock(first, last))


_LEAD = r"\b(?:(?:at|around|about|by|from|till|until) )?"

CLOCK_RULES = (
    Rule(
        words("morning afternoon evening night"),
        r"\b(?P<relative>this|last) (?P<part>morning|afternoon|evening|night)\b",
        _relative_part,
        "part",
    ),
    Rule(
        words("morning afternoon evening night"),
        r"\b(?:in the |at |early |late )?(?P<part>morning|afternoon|evening|night)\b",
        _bare_part,
        "part",
    ),
    Rule(
        words("#"),
        rf"(?:\b(?:from|between) )?"
        rf"(?<![\d./:-])\b(?P<hour>\d{{1,2}})(?::(?P<minute>\d\d))?\s?(?:(?P<half1>[ap])\.?m\.?)?"
        rf"\s?(?:-|–|to|and|till|until)\s?(?P<hour2>\d{{1,2}})(?::(?P<minute2>\d\d))?\s?{_MERIDIEM}",
        _clock_range,
        "clock",
    ),
    Rule(
        words("#"),
        rf"{_LEAD}(?<![\d./:-])(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d)(?::\d\d)?)?\s?{_MERIDIEM}",
        _meridiem,
        "clock",
    ),
    Rule(
        words("#"),
        rf"{_LEAD}(?<![\d./:-])(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::\d\d)?(?![\d:]|\s?[ap]\.?m\b)",
        _digital,
        "clock",
    ),
    Rule(
        words("clock oclock"),
        rf"{_LEAD}(?<![\d./:-])(?P<hour>\d{{1,2}}|{_HOUR_WORDS}) ?o'? ?clock\b",
        _o_clock,
        "clock",
    ),
    Rule(words("noon midday midnight"), rf"{_LEAD}(?P<name>noon|midday|midnight)\b", _named, "clock"),
)
