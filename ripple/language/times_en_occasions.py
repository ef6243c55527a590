"""English seasons and holidays; those that move (Easter, Thanksgiving) are named and stay unresolved."""

from __future__ import annotations

import re
from functools import partial

from ripple.language import calendar
from ripple.language.calendar import Span
from ripple.language.numerals import ENGLISH_NUMBER, number
from ripple.language.time_pieces import PAST, Context, Found, Rule, of_years
from ripple.language.times_en import DIRECTIONS, YEAR, dated, directed, month_day
from ripple.language.word_lists import words

__all__ = ["OCCASION_RULES"]

_SEASONS = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
_FIXED_HOLIDAYS = {
    r"christmas eve": (12, 24),
    r"boxing day": (12, 26),
    r"christmas(?: day)?|xmas": (12, 25),
    r"new year's eve|nye": (12, 31),
    r"new year's(?: day)?": (1, 1),
    r"valentine's(?: day)?": (2, 14),
    r"st\.? patrick's day": (3, 17),
    r"april fools?'?(?: day)?": (4, 1),
    r"earth day": (4, 22),
    r"(?:international )?women's day": (3, 8),
    r"(?:international )?workers' day": (5, 1),
    r"cinco de mayo": (5, 5),
    r"juneteenth": (6, 19),
    r"independence day": (7, 4),
    r"bastille day": (7, 14),
    r"hall?oween": (10, 31),
    r"guy fawkes(?: night)?|bonfire night": (11, 5),
    r"veterans'? day|remembrance day": (11, 11),
}
_MOVING_HOLIDAYS = (
    r"thanksgiving(?: day)?|easter(?: sunday)?|(?:mother|father)'s day|labor day|memorial day|black friday"
)


def _season_of(number: int, year: int) -> Span:
    return calendar.season(year, number)


def _season(match: re.Match[str], context: Context) -> Found | None:
    in_year = partial(_season_of, _SEASONS[match["season"]])
    if match["relative"] is not None:
        return directed(in_year, match["relative"], context, "season")
    before = context.text[max(0, match.start() - 24) : match.start()]
    leads = re.search(r"\b(?:in|over|during|since|until|by|for|of|all|this) (?:the |early |late |mid-?)?$", before)
    is_weak = leads is None or (match["season"] in ("fall", "spring") and not leads.group().endswith("the "))
    return dated(in_year, match, context, "season", is_weak=is_weak)


def _seasons_ago(match: re.Match[str], context: Context) -> Found:
    """Return "two summers ago" and "the summer before last"."""
    in_year = partial(_season_of, _SEASONS[match["season"] or match["season2"]])
    last = of_years(in_year, context, PAST, strictly=True)
    count = 2 if match["number"] is None else round(number(match["number"]))
    return Found(in_year(last.start.year - count + 1), "season")


def _holiday(match: re.Match[str], context: Context) -> Found | None:
    month, day = next(dates for name, dates in _FIXED_HOLIDAYS.items() if re.fullmatch(name, match["holiday"]))
    in_year = partial(month_day, month, day)
    if match["relative"] is not None:
        return directed(in_year, match["relative"].strip(), context, "day")
    before = context.text[max(0, match.start() - 16) : match.start()]
    leads = re.search(r"\b(?:on|for|at|since|by|before|after|until|over|around|celebrat\w+|this|my|our) $", before)
    after = context.text[match.end() : match.end() + 8]
    ends = re.match(r"$|[.,!?;)]| (?:was|were|is|at|with|we|i|and|in|this|last|next)\b", after)
    return dated(in_year, match, context, "day", is_weak=leads is None and ends is None)


def _moving_holiday(match: re.Match[str], context: Context) -> Found:
    return Found(None, "vague")


_HOLIDAY_WORDS = words(
    "christmas xmas boxing nye valentine patrick fool fools earth women workers cinco juneteenth independence "
    "bastille halloween haloween fawkes bonfire veterans remembrance eve year"
)

OCCASION_RULES = (
    Rule(
        words("springs summers autumns falls winters spring summer autumn fall winter"),
        rf"\b(?:(?P<number>{ENGLISH_NUMBER})(?P<season>spring|summer|autumn|fall|winter)s ago|"
        r"(?:the )?(?P<season2>spring|summer|autumn|fall|winter) before last)\b",
        _seasons_ago,
        "season",
        words("ago before"),
    ),
    Rule(
        frozenset(_SEASONS),
        rf"\b(?:{DIRECTIONS} )?(?P<season>spring|summer|autumn|fall|winter)(?:time)?\b"
        rf"(?! break)(?:{YEAR})?",
        _season,
        "season",
    ),
    Rule(
        _HOLIDAY_WORDS,
        rf"\b(?:(?P<relative>last|this|next) )?(?P<holiday>{'|'.join(_FIXED_HOLIDAYS)})\b(?:{YEAR})?",
        _holiday,
        "day",
    ),
    Rule(
        words("thanksgiving easter mother father labor memorial black"),
        rf"\b(?:{DIRECTIONS} )?(?:{_MOVING_HOLIDAYS})\b(?: \d{{4}}\b)?",
        _moving_holiday,
        "vague",
    ),
)
