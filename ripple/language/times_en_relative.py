"""English temporal expressions that count from the time of speaking, durations, and those that stay vague."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial

from ripple.language import calendar
from ripple.language.numerals import ENGLISH_NUMBER, number
from ripple.language.time_pieces import FUTURE, PAST, Context, Found, Rule, running, shift
from ripple.language.times_en import WEEKDAY, weekday_number
from ripple.language.times_en_clock import PARTS, part_span
from ripple.language.word_lists import words

__all__ = ["COUNT", "RELATIVE_RULES", "UNIT", "UNITS", "unit_of"]

UNIT = r"(?P<unit>second|sec|minute|min|hour|hr|day|night|weekend|week|month|quarter|year|yr|decade)"
UNITS = rf"{UNIT}s?(?![a-z])"
_UNIT_NAMES = {"sec": "second", "min": "minute", "hr": "hour", "yr": "year", "night": "day"}
_UNIT_WORDS = words(
    "second seconds sec secs minute minutes min mins hour hours hr hrs day days night nights week weeks weekend "
    "weekends month months quarter quarters year years yr yrs decade decades"
)
_ROUGH = r"(?P<rough>about|around|approximately|roughly|nearly|almost|over|more than|maybe|like|some) "
_BACKWARD = ("last", "past", "previous")
_PART = r"(?P<part>morning|afternoon|evening|night)"
_PERFECT = re.compile(
    r"(?:\b(?:have|has|been)|'ve|n't|\bhad (?:it|this|that|them|him|her|these|those|my \w+))\b[^.!?]*$"
)


def unit_of(match: re.Match[str]) -> str:
    """Return the unit that a match names, in the words of the arithmetic."""
    return _UNIT_NAMES.get(match["unit"], match["unit"])


def _adverb(match: re.Match[str], context: Context) -> Found:
    word = match.group()
    today = context.today()
    if word in ("tonight", "tonite"):
        return Found(part_span(today, "night"), "part", clock=PARTS["night"])
    if word.startswith("earlier"):
        return Found(calendar.until(calendar.day(today).start, context.now()), "day")
    if word.startswith("later"):
        return Found(calendar.until(context.now(), calendar.day(today).end), "day")
    if "before" in word:
        offset = -2
    elif "after" in word:
        offset = 2
    else:
        offset = {"y": -1, "tod": 0, "tom": 1, "tmr": 1}[word[:1] if word[0] == "y" else word[:3]]
    return Found(calendar.day(today + timedelta(days=offset)), "day")


def _moment(match: re.Match[str], context: Context) -> Found:
    return Found(calendar.moment(context.now()), "minute")


def _weak_moment(match: re.Match[str], context: Context) -> Found:
    return Found(calendar.moment(context.now()), "minute", is_weak=True)


def _relative_unit(match: re.Match[str], context: Context) -> Found | None:
    """Return "last week", "this year", "next weekend"."""
    relative = match["relative"]
    return _stepped(unit_of(match), -1 if relative in _BACKWARD else 0 if relative == "this" else 1, context)


def _twice_removed(match: re.Match[str], context: Context) -> Found | None:
    """Return "the week before last", "the year after next"."""
    return _stepped(unit_of(match), -2 if match["relative"] == "last" else 2, context)


def _rolling_unit(match: re.Match[str], context: Context) -> Found | None:
    """Return "the past month", which ends now where "last month" does not."""
    unit = unit_of(match)
    return _stepped(unit, -1, context) if unit == "weekend" else running(context.now(), unit, 1)


def _stepped(unit: str, step: int, context: Context) -> Found | None:
    """Return the whole unit ``step`` units away from the one that holds the time of speaking."""
    if unit in ("day", "hour", "minute", "second"):
        return None
    now = context.now()
    if unit == "weekend":
        return Found(calendar.weekend(now.date() + timedelta(weeks=step)), "weekend")
    if unit == "week":
        return Found(calendar.week(now.date() + timedelta(weeks=step)), "week")
    if unit == "quarter":
        there = calendar.shift_months(now.date(), 3 * step)
        return Found(calendar.quarter(there.year, (there.month + 2) // 3), "quarter")
    if unit == "month":
        there = calendar.shift_months(now.date(), step)
        return Found(calendar.month(there.year, there.month), "month")
    if unit == "year":
        return Found(calendar.year(now.year + step), "year")
    return Found(calendar.decade(now.year // 10 * 10 + 10 * step), "decade")


def _weekend(match: re.Match[str], context: Context) -> Found:
    """Return "over the weekend": the past one unless the sentence looks ahead."""
    today = context.today()
    if context.tense(match.start(), match.end()) == FUTURE:
        return Found(calendar.weekend(today), "weekend")
    return Found(calendar.weekend(today if today.weekday() == 6 else today - timedelta(weeks=1)), "weekend")


def _counted(match: re.Match[str], context: Context) -> Found:
    """Return "the last three weeks", "the next 5 years"."""
    if match["number"] is None:
        return Found(None, "vague")
    forward = match["relative"] in ("next", "coming", "upcoming", "following")
    return running(context.now(), unit_of(match), -number(match["number"]) if forward else number(match["number"]))


def _ago(match: re.Match[str], context: Context) -> Found:
    count, unit = _count(match), unit_of(match)
    is_rough = match["rough"] is not None
    forward = match["direction"] in ("from now", "from today", "hence")
    if match["today"] is not None and unit in ("month", "year") and count % 1 == 0:  # "three years ago today"
        months = int(count) * (12 if unit == "year" else 1)
        return Found(calendar.day(calendar.shift_months(context.today(), -months)), "day")
    return shift(context.now(), unit, count if forward else -count, is_rough=is_rough)


def _count(match: re.Match[str]) -> float:
    """Return the number of a match, with its "and a half"."""
    return number(match["number"]) + (0.5 if match["half"] is not None or match["half2"] is not None else 0)


def _part_of_this(match: re.Match[str], context: Context) -> Found:
    """Return "the end of the month", "the beginning of the year"."""
    part = {"beginning": "early", "start": "early", "middle": "mid"}.get(match["third"], "late")
    today = context.today()
    if match["unit"] == "month":
        return Found(calendar.third_of_month(today.year, today.month, part), "month")
    return Found(calendar.third_of_year(today.year, part), "year")


def _weekdays_ago(match: re.Match[str], context: Context) -> Found:
    """Return "two Fridays ago", of which one is the last."""
    last = calendar.weekday_near(context.today(), weekday_number(match["weekday"]), PAST)
    return Found(calendar.day(last - timedelta(weeks=round(number(match["number"])) - 1)), "day")


def _night_before_last(match: re.Match[str], context: Context) -> Found:
    return Found(part_span(context.today() - timedelta(days=2), "night"), "part", clock=PARTS["night"])


def _in_units(match: re.Match[str], context: Context) -> Found:
    """Return "in two weeks": ahead, unless the sentence tells a past ("hadn't seen her in two years")."""
    tense = context.tense(match.start(), match.end())
    is_perfect = (
        tense != FUTURE and _PERFECT.search(context.text, max(0, match.start() - 80), match.start()) is not None
    )
    if tense == PAST or is_perfect:
        return Found(None, "duration")
    return shift(context.now(), unit_of(match), number(match["number"]))


def _duration(match: re.Match[str], context: Context) -> Found | None:
    """Return a duration; grounded as "up to now" where the sentence says that it still lasts."""
    groups = match.groupdict()
    before = context.text[max(0, match.start() - 80) : match.start()]
    is_open = groups["still"] is not None or (groups["lead"] is not None and _PERFECT.search(before) is not None)
    is_open = (
        is_open
        or re.search(r"\b(?:it's|its|it has|it is) (?:already |now )?(?:been )?(?:about )?$", before) is not None
    )
    if groups["number"] is None or not is_open or unit_of(match) == "second":
        return Found(None, "duration")
    return running(context.now(), unit_of(match), _count(match))


def _nothing(grain: str, match: re.Match[str], context: Context) -> Found:
    return Found(None, grain)


COUNT = rf"(?P<number>{ENGLISH_NUMBER})"
_NEXT = words("last past previous this next coming upcoming following")
_NUMBERS = words("# half couple a an one two three four five six seven eight nine ten eleven twelve") | words(
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty "
    "seventy eighty ninety"
)
_PLURALS = r"(?:days|nights|weeks|weekends|months|years|decades|hours|minutes)"
_ONE_UNIT = UNIT.replace("?P<unit>", "?:")


def _told(grain: str, triggers: str, pattern: str, also: str = "") -> Rule:
    """Return a rule for expressions that are named and never grounded."""
    return Rule(words(triggers), rf"\b(?:{pattern})\b", partial(_nothing, grain), grain, words(also))


RELATIVE_RULES = (
    Rule(
        words("yesterday today tomorrow tomorow tmrw tonight tonite"),
        r"\b(?:(?:the )?day before yesterday|(?:the )?day after tomorrow|(?:earlier|later) today|"
        r"yesterday|today|"
        r"tomorr?ow|tmrw|tonight|tonite)\b",
        _adverb,
        "day",
    ),
    Rule(words("now moment"), r"\b(?:right now|just now|at the moment)\b", _moment, "minute"),
    Rule(words("night"), r"\bthe night before last\b", _night_before_last, "part", words("last")),
    Rule(
        words("mondays tuesdays wednesdays thursdays fridays saturdays sundays"),
        rf"\b{COUNT}(?P<weekday>[a-z]+days) ago\b",
        _weekdays_ago,
        "day",
        words("ago"),
    ),
    Rule(
        words("month year"),
        r"\b(?:the )?(?P<third>beginning|start|middle|end) of the (?P<unit>month|year)\b",
        _part_of_this,
        "month",
        words("beginning start middle end"),
    ),
    Rule(words("now"), r"\bnow\b", _weak_moment, "minute"),
    Rule(
        _UNIT_WORDS,
        rf"\b(?:the |this )?(?P<relative>{'|'.join(sorted(_NEXT))}) (?:calendar )?{UNIT}(?![a-z])",
        _relative_unit,
        "week",
        _NEXT,
    ),
    Rule(
        _UNIT_WORDS,
        rf"\b(?:(?:over |in |during |for |within )?(?:the|this) past|"
        rf"(?:over|in|during|for|within) the last) {UNIT}(?![a-z])",
        _rolling_unit,
        "running",
        words("past last"),
    ),
    Rule(
        _UNIT_WORDS,
        rf"\b(?:the )?{UNIT} (?:before (?P<relative>last)|after next)\b(?! [a-z]*(?:day|week|month|year))",
        _twice_removed,
        "week",
        words("before after"),
    ),
    Rule(
        words("weekend"),
        r"\b(?:(?:over|on|at|during|for|had a \w+|this|throughout) the (?:long |whole |entire )?weekend|"
        r"(?:how|what) was (?:the|your) weekend|your weekend)\b(?! (?:of|before|after))",
        _weekend,
        "weekend",
    ),
    Rule(
        _UNIT_WORDS,
        r"\b(?:(?:in|over|for|within|during|throughout) )?(?:(?:the|these|those|my|our) )?"
        rf"(?P<relative>last|past|previous|next|coming|upcoming|following) (?:{COUNT}|(?:few|several|"
        rf"many) ){UNITS}",
        _counted,
        "running",
        _NEXT,
    ),
    Rule(
        _UNIT_WORDS,
        rf"\b(?:in |over |within |during )?(?:the )?{COUNT}(?P<relative>past|previous|next|coming|"
        rf"upcoming) {UNITS}",
        _counted,
        "running",
        words("past previous next coming upcoming"),
    ),
    Rule(
        _UNIT_WORDS,
        rf"\b(?:{_ROUGH})?{COUNT}(?P<half>and a half )?{UNITS}(?P<half2> and a half)? "
        r"(?P<direction>ago|back|from now|from today|hence)\b(?P<today> today\b)?(?: this (?:week|"
        r"month|year)\b)?",
        _ago,
        "day",
        words("ago back now today hence"),
    ),
    Rule(
        _UNIT_WORDS,
        rf"\b(?:with)?in (?:{_ROUGH})?{COUNT}{UNITS}(?:' time\b|(?!'| (?:ago|of|old|or)))",
        _in_units,
        "day",
        words("in within"),
    ),
    Rule(
        _UNIT_WORDS,
        r"\b(?:(?P<lead>for|over|been|in|about|around|almost|nearly) "
        rf"(?:{_ROUGH})?(?:the )?)?{COUNT}(?P<half>and a half )?{UNITS}(?P<half2> and a half)?"
        r"(?! old|-old)(?P<still> now\b| already\b| straight\b| running\b| in a row\b)?",
        _duration,
        "duration",
        _NUMBERS,
    ),
    _told("vague", "recently lately nowadays someday", "recently|lately|nowadays|someday"),
    _told("vague", "days", "(?:these|those) days", "these those"),
    _told("vague", "day night week weekend", "(?:just )?the other (?:day|night|week|weekend)", "other"),
    _told("vague", "day", "(?:the )?(?:following|next|previous) day|the day before|some day|one day"),
    _told(
        "vague",
        "while",
        "(?:quite )?a (?:little |long )?while (?:ago|back)|for (?:quite )?a (?:little |long )?while",
    ),
    _told(
        "vague",
        "few several some many number bunch couple",
        rf"(?:(?:in|over|for|within|during) )?(?:the )?(?:(?:last|past|next|coming) )?"
        rf"(?:(?:quite )?(?:a )?few|several|some|many|a bunch of|a number of) {_PLURALS}(?: (?:ago|"
        rf"back|earlier|later))?",
        "days nights weeks weekends months years decades hours minutes",
    ),
    _told(
        "vague",
        "ago",
        rf"some ?time ago|(?:a )?long (?:time )?ago|ages ago|(?:many|several|a few) times ago|{_PLURALS} ago",
    ),
    _told("vague", "back", "back then", "then"),
    _told("vague", "ages years months weeks decades", r"for (?:ages|years|months|weeks|decades)", "for"),
    _told("vague", "future", "(?:in the )?near future", "near"),
    _told(
        "set",
        "every each",
        rf"(?:every|each)(?: single| other| second)? (?:{_ONE_UNIT}|{WEEKDAY}|morning|afternoon|evening)s?",
    ),
    _told("set", "daily weekly monthly yearly annually nightly", "daily|weekly|monthly|yearly|annually|nightly"),
    _told(
        "set",
        "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
        r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days",
    ),
    _told("set", "once twice times", r"(?:once|twice|\w+ times) (?:a|per) (?:day|week|month|year)"),
)
