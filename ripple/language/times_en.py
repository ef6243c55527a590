"""English temporal expressions: dates with and without a year, months, weekdays, years and parts of them.

Numeric dates with slashes or hyphens are read month first where both readings exist, as in most English chat
logs that write them so; with dots, day first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import partial

from ripple.language import calendar
from ripple.language.calendar import Span
from ripple.language.numerals import ENGLISH_ORDINAL, ordinal
from ripple.language.time_pieces import FUTURE, PAST, UNTOLD, Context, Found, Rule, of_years, yearless
from ripple.language.word_lists import words

__all__ = [
    "DATE_RULES",
    "DIRECTIONS",
    "MONTH",
    "NUMERIC_RULES",
    "WEEKDAY",
    "YEAR",
    "dated",
    "directed",
    "month_day",
    "month_number",
    "weekday_number",
]

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])(?:\.(?= ?[\d,]))?"
)
WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:s|nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|"
    r"sun(?:day)?)(?![a-z])"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = rf"(?:{ENGLISH_ORDINAL}|\d{{1,2}})"
YEAR = r"(?:(?:[ ,.]+(?:(?:in|of) )?|[-/])(?P<year>\d{4})(?![\d:])|[ ,]+'(?P<short>\d\d)\b)"
_TO = r" ?(?:-|–|to|and|through|thru|till|until) ?(?:the )?"
_DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
DIRECTIONS = (
    r"(?P<relative>(?:this |the )?(?:last|past|previous)|this (?:coming|upcoming)|"
    r"(?:the )?(?:next|following|coming|upcoming)|this)"
)


def month_number(word: str) -> int:
    """Return 1 to 12."""
    return _MONTHS.index(word[:3]) + 1


def weekday_number(word: str) -> int:
    """Return 0 (Monday) to 6."""
    return _WEEKDAYS.index(word[:3])


def month_day(month: int, day: int, year: int) -> Span:
    """Return a day; the year last, so that the rest can be bound."""
    return calendar.day(date(year, month, day))


def _days_of_month(month: int, first: int, last: int, year: int) -> Span:
    if first > last:
        raise ValueError("the range runs backwards")
    return calendar.days(date(year, month, first), date(year, month, last))


def _full_year(match: re.Match[str]) -> int | None:
    """Return the year that a match names: four digits, or two of the years 1970 to 2069."""
    groups = match.groupdict()
    if groups.get("year") is not None:
        written = groups["year"]
        return int(written) if len(written) == 4 else _pivoted(int(written))
    short = groups.get("short")
    return None if short is None else _pivoted(int(short))


def _pivoted(two_digits: int) -> int:
    return two_digits + (1900 if two_digits >= 70 else 2000)


def dated(
    in_year: Callable[[int], Span],
    match: re.Match[str],
    context: Context,
    grain: str,
    *,
    is_weak: bool = False,
) -> Found:
    """Return a date with its year where it has one, else the occurrence that the tense tells."""
    year = _full_year(match)
    if year is not None:
        return Found(in_year(year), grain)
    return yearless(in_year, match, context, grain, is_weak=is_weak)


def _iso(match: re.Match[str], context: Context) -> Found:
    at = date(int(match["y"]), int(match["m"]), int(match["d"]))
    if match["hour"] is None:
        return Found(calendar.day(at), "day")
    clock = time(int(match["hour"]), int(match["minute"]), int(match["second"] or 0))
    return Found(calendar.moment(datetime.combine(at, clock)), "minute")


def _numeric(match: re.Match[str], context: Context) -> Found:
    first, second = int(match["a"]), int(match["b"])
    if match["sep"] == "." or first > 12:
        first, second = second, first
    year = _full_year(match)
    if year is not None:
        return Found(month_day(first, second, year), "day")
    before = context.text[max(0, match.start() - 12) : match.start()]
    is_weak = re.search(r"(?:on|by|since|until|till|from|before|after|for|next|this|last) $", before) is None
    return dated(partial(month_day, first, second), match, context, "day", is_weak=is_weak)


def _is_modal(match: re.Match[str], context: Context) -> bool:
    """Whether "may 2" and "march 5" may be verbs: no ordinal, no year and nothing that leads to a date."""
    if match["month"] not in ("may", "march", "mar") or _full_year(match) is not None:
        return False
    if not match["day"].isdecimal():
        return False
    before = context.text[max(0, match.start() - 16) : match.start()]
    after = context.text[match.end() : match.end() + 1]
    leads = re.search(rf"(?:on|since|until|till|by|from|before|after|of|to|{WEEKDAY},?) $", before)
    return leads is None and after not in ("", ".", ",", "!", "?", ";", ")")


def _month_with_day(match: re.Match[str], context: Context) -> Found | None:
    if _is_modal(match, context):
        return None
    return dated(partial(month_day, month_number(match["month"]), ordinal(match["day"])), match, context, "day")


def _days_in_month(match: re.Match[str], context: Context) -> Found | None:
    if _is_modal(match, context):
        return None
    if match["range"].strip() == "and" and not match.group().startswith("between"):
        return None
    in_year = partial(_days_of_month, month_number(match["month"]), ordinal(match["day"]), ordinal(match["last"]))
    return dated(in_year, match, context, "day")


_AFTER_PREPOSITION = re.compile(
    r"\b(?:in|since|until|till|during|by|around|before|after|throughout|early|mid|late|every) (?:the )?$"
)
_AFTER_MORE = re.compile(r"\b(?:from|to|through|of|for|between) $")
_PLAIN_MONTHS = {"january", "february", "july", "september", "sept", "october", "november", "december"}


def _month(match: re.Match[str], context: Context) -> Found | None:
    word = match["month"].rstrip(".")
    before = context.text[max(0, match.start() - 16) : match.start()]
    is_weak = word not in _PLAIN_MONTHS and _AFTER_PREPOSITION.search(before) is None
    if word in ("may", "aug", "sep", "oct", "nov") and _AFTER_MORE.search(before) is not None:
        is_weak = False
    if match["part"] is not None:
        part = {"early": "early", "late": "late"}.get(match["part"][:5].rstrip(" -"), "mid")
        in_year = partial(_third_of_month, month_number(word), part)
        return dated(in_year, match, context, "month")
    return dated(partial(_whole_month, month_number(word)), match, context, "month", is_weak=is_weak)


def _whole_month(month: int, year: int) -> Span:
    return calendar.month(year, month)


def _third_of_month(month: int, part: str, year: int) -> Span:
    return calendar.third_of_month(year, month, part)


def directed(in_year: Callable[[int], Span], relative: str, context: Context, grain: str) -> Found:
    """Return "last", "this" or "next" of something that comes once a year."""
    if "last" in relative or "past" in relative or "previous" in relative:
        return Found(of_years(in_year, context, PAST, strictly=True), grain)
    if relative == "this":
        span = in_year(context.now().year)
        if grain == "season" and context.now() < in_year(context.now().year - 1).end:
            span = in_year(context.now().year - 1)  # January is in the winter of the year before
        return Found(span, grain)
    return Found(of_years(in_year, context, FUTURE, strictly=True), grain)


def _relative_month(match: re.Match[str], context: Context) -> Found:
    return directed(partial(_whole_month, month_number(match["month"])), match["relative"], context, "month")


def _weekday(match: re.Match[str], context: Context) -> Found | None:
    number = weekday_number(match["weekday"])
    relative = match["relative"] or ""
    is_short = not match["weekday"].endswith("day")
    if not relative:
        before = context.text[max(0, match.start() - 16) : match.start()]
        is_weak = is_short and re.search(r"\b(?:on|by|until|till|since|every) $", before) is None
        if context.said is None:
            return Found(None, "day", weekday=number, is_weak=is_weak)
        direction = PAST if context.tense(match.start(), match.end()) == PAST else FUTURE
        there = calendar.weekday_near(context.today(), number, direction)
        return Found(calendar.day(there), "day", weekday=number, is_weak=is_weak)
    today = context.today()
    monday = today - timedelta(days=today.weekday())
    if relative == "this":
        if context.tense(match.start(), match.end()) == PAST:
            return Found(calendar.day(monday + timedelta(days=number)), "day")
        return Found(calendar.day(calendar.weekday_near(today, number, 0)), "day")
    if "previous" in relative:
        return Found(calendar.day(monday + timedelta(days=number - 7)), "day")
    if "last" in relative or "past" in relative:
        return Found(calendar.day(calendar.weekday_near(today, number, PAST)), "day")
    if "coming" in relative:
        return Found(calendar.day(calendar.weekday_near(today, number, FUTURE)), "day")
    return Found(calendar.day(monday + timedelta(days=number + 7)), "day")  # next, following: of the next week


def _year(match: re.Match[str], context: Context) -> Found | None:
    number = int(match["year"])
    before = context.text[max(0, match.start() - 24) : match.start()]
    leads = re.search(r"\b(?:in|since|of|by|during|from|until|till|year|around|before|after|the|cy) ?$", before)
    if leads is None and not 1900 <= number <= 2099:
        return None
    after = context.text[match.end() : match.end() + 2]
    closes = re.match(r"[.,!?;)]|$", after) is not None and re.search(r"[$#€£]\s?$", before) is None
    is_weak = not (leads is not None or closes) or re.match(r",\d|%|\.\d", after) is not None
    return Found(calendar.year(number), "year", is_weak=is_weak)


def _years(match: re.Match[str], context: Context) -> Found:
    first, last = int(match["first"]), int(match["last"])
    if first > last:
        raise ValueError("the range runs backwards")
    return Found(Span(calendar.year(first).start, calendar.year(last).end), "range")


def _decade(match: re.Match[str], context: Context) -> Found:
    written = match["decade"]
    if written in _DECADES:
        return Found(calendar.decade(1920 + 10 * _DECADES.index(written)), "decade")
    first = int(written)
    return Found(calendar.decade(first if first >= 1000 else 1900 + first), "decade")


def _quarter(match: re.Match[str], context: Context) -> Found:
    build = calendar.quarter if match["kind"] == "q" else calendar.half
    number = int(match["number"])
    if number > (4 if match["kind"] == "q" else 2):
        raise ValueError("no such part of a year")
    grain = "quarter" if match["kind"] == "q" else "half"
    return dated(lambda year: build(year, number), match, context, grain)


def _weekday_of_month(match: re.Match[str], context: Context) -> Found | None:
    """Return "Friday the 9th": the nearest such date in the direction that the tense tells."""
    weekday, number = weekday_number(match["weekday"]), ordinal(match["day"])
    tense = context.tense(match.start(), match.end())
    today, fitting = context.today(), []
    for step in range(-14, 15):
        month = calendar.shift_months(today.replace(day=1), step)
        if 1 <= number <= calendar.month(month.year, month.month).end.day:
            there = month.replace(day=number)
            if there.weekday() == weekday and (tense == UNTOLD or (there <= today) == (tense == PAST)):
                fitting.append(there)
    if not fitting:
        return None
    return Found(calendar.day(min(fitting, key=lambda there: abs(there - today))), "day")


def _day_of_month(match: re.Match[str], context: Context) -> Found | None:
    number = ordinal(match["day"])
    if not 1 <= number <= 31:
        return None
    before = context.text[max(0, match.start() - 8) : match.start()]
    after = context.text[match.end() : match.end() + 8]
    leads = match.group().startswith("on ") or re.search(r"(?:by|until|till|since) $", before) is not None
    is_weak = not leads or re.match(r" (?!(?:at|and|with|in|for|to|i|we|he|she|they|is|was|will)\b)", after) is not None
    today = context.today()
    direction = PAST if context.tense(match.start(), match.end()) == PAST else FUTURE
    for step in range(12):
        there = calendar.shift_months(today.replace(day=1), direction * step)
        if number > calendar.month(there.year, there.month).end.day:
            continue
        there = there.replace(day=number)
        if (there <= today) if direction == PAST else (there >= today):
            return Found(calendar.day(there), "day", is_weak=is_weak)
    return None


_MONTH_WORDS = words(
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july "
    "august september "
    "october november december"
)
_WEEKDAY_WORDS = words(
    "mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday tues weds thur thurs"
)
_DIGIT = words("#")
NUMERIC_RULES = (
    Rule(
        _DIGIT,
        r"(?<![\d./])(?<!\d-)(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})"
        r"(?:[t ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
        r"(?![\d:]| ?[ap]\.?m\b))?(?![\d/]|[.-]\d)",
        _iso,
        "day",
    ),
    Rule(
        _DIGIT,
        r"(?:(?<![\d./-])|(?<=\d-))(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)"
        r"(?P<year>\d{4}|(?<=/)\d{2})(?![\d/]|\.\d)",
        _numeric,
        "day",
    ),
    Rule(
        _DIGIT,
        r"(?:(?<![\d./-])|(?<=\d-))(?P<a>\d{1,2})(?P<sep>/)(?P<b>\d{1,2})(?![\d/%]|\.\d)",
        _numeric,
        "day",
    ),
    Rule(
        _DIGIT,
        r"(?<![\d.,:/$#€£-])(?<![a-z])(?P<first>1[89]\d\d|20\d\d) ?[-–~] ?"
        r"(?P<last>1[89]\d\d|20\d\d)(?![\d:/-])(?:年)?",
        _years,
        "range",
    ),
)

DATE_RULES = (
    *NUMERIC_RULES,
    Rule(
        _MONTH_WORDS,
        rf"\b(?:(?:from|between) )?(?P<month>{MONTH})[ /]?(?:the )?(?P<day>{_DAY})(?P<range>{_TO})(?P<last>{_DAY})"
        rf"(?![\w:/])(?! ?[ap]\.?m\b){YEAR}?",
        _days_in_month,
        "day",
    ),
    Rule(
        _MONTH_WORDS,
        rf"\b(?:(?:from|between) )?(?:the )?(?P<day>{_DAY})(?P<range>{_TO})(?P<last>{_DAY})(?: of)?[ -]?"
        rf"(?P<month>{MONTH}){YEAR}?",
        _days_in_month,
        "day",
    ),
    Rule(
        _MONTH_WORDS,
        rf"\b(?P<month>{MONTH})[ ,/-]{{0,2}}(?:the )?(?P<day>{_DAY})(?![\w:/])(?! ?[ap]\.?m\b){YEAR}?",
        _month_with_day,
        "day",
    ),
    Rule(
        _MONTH_WORDS,
        rf"(?<!\d[:/.])(?<![$€£\d])\b(?:the )?(?P<day>{_DAY})(?: day)?(?: of)?"
        rf"[ /-]?(?P<month>{MONTH})(?! ?\d{{1,2}}(?:st|nd|rd|th)){YEAR}?",
        _month_with_day,
        "day",
    ),
    Rule(_MONTH_WORDS, rf"\b{DIRECTIONS} (?P<month>{MONTH})(?! \d{{1,2}}\b)", _relative_month, "month"),
    Rule(
        _MONTH_WORDS,
        rf"\b(?:(?P<part>early|mid|late|the middle of|middle of)[ -])?(?P<month>{MONTH}){YEAR}?",
        _month,
        "month",
    ),
    Rule(_WEEKDAY_WORDS, rf"\b(?:{DIRECTIONS} )?(?P<weekday>{WEEKDAY})", _weekday, "day"),
    Rule(
        _WEEKDAY_WORDS,
        rf"\b(?P<weekday>{WEEKDAY}),? (?:the )?(?P<day>{ENGLISH_ORDINAL})\b(?! of\b| ?{MONTH})",
        _weekday_of_month,
        "day",
    ),
    Rule(_DIGIT, r"(?<![\d.,:/$#€£-])\b(?P<year>[12]\d{3})(?![\d:/]|-\d\d?\b|'?s\b)", _year, "year"),
    Rule(
        words("# twenties thirties forties fifties sixties seventies eighties nineties"),
        r"\b(?:in )?(?:the )?(?:early |late |mid-?)?'?(?P<decade>(?:1[789]|20)\d0(?= ?'?s\b)|"
        r"[2-9]0(?= ?'?s\b)|(?:twen|thir|for|fif|six|"
        r"seven|eigh|nine)ties)(?: ?'?s)?\b",
        _decade,
        "decade",
    ),
    Rule(_DIGIT, r"\b(?P<kind>[qh])(?P<number>\d)\b(?:[ ,/-]+(?P<year>\d{4}))?", _quarter, "quarter"),
    Rule(
        words("# first second third fourth fifth twentieth thirtieth"),
        rf"\b(?:on )?the (?P<day>{ENGLISH_ORDINAL})\b(?! (?:{WEEKDAY}|of ))",
        _day_of_month,
        "day",
    ),
)
