"""The English grammar as one: all rules, and the words that stand between, before and after expressions."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import partial

from ripple.language import calendar
from ripple.language.calendar import Span
from ripple.language.numerals import ENGLISH_ORDINAL, number, ordinal
from ripple.language.time_pieces import Context, Extension, Found, Joints, Language, shift, since, until
from ripple.language.times_en import DATE_RULES, WEEKDAY, weekday_number
from ripple.language.times_en_clock import CLOCK_RULES, part_span
from ripple.language.times_en_occasions import OCCASION_RULES
from ripple.language.times_en_relative import COUNT, RELATIVE_RULES, UNIT, unit_of

__all__ = ["ENGLISH"]

_NEVER = ("clock", "duration", "set", "vague")


def _part_of(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return "the end of June", "earlier this week", "later this year"."""
    word = match["third"]
    if word in ("earlier", "later"):
        if found.span is None or found.grain not in ("week", "month", "year"):
            return None
        now = context.now()
        if not found.span.start <= now <= found.span.end:
            return None
        if word == "earlier":
            return Found(Span(found.span.start, calendar.day(now.date()).end), found.grain)
        return Found(Span(calendar.day(now.date()).start, found.span.end), found.grain)
    part = {"beg": "early", "sta": "early", "ear": "early", "mid": "mid"}.get(word[:3], "late")
    if found.grain not in ("month", "year"):
        return None
    build = _part_of_month if found.grain == "month" else _part_of_year
    in_year = None if found.in_year is None else lambda year: build(found.in_year(year), part)  # type: ignore[misc]
    return Found(None if found.span is None else build(found.span, part), found.grain, in_year=in_year)


def _part_of_month(span: Span, part: str) -> Span:
    return calendar.third_of_month(span.start.year, span.start.month, part)


def _part_of_year(span: Span, part: str) -> Span:
    return calendar.third_of_year(span.start.year, part)


def _nth_of(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return "the first weekend of August", "the last Friday in May", "the third week of next month"."""
    inner = match["inner"].rstrip("s") if match["inner"] != "days" else "day"
    count = -1 if match["nth"] == "last" else ordinal(match["nth"])
    if found.grain not in ("month", "year") or (inner in ("month", "half", "quarter") and found.grain != "year"):
        return None
    if found.span is None and found.in_year is None:
        return Found(None, "day")
    build = partial(_nth_in, inner, count)
    in_year = None if found.in_year is None else lambda year: build(found.in_year(year))  # type: ignore[misc]
    grain = {
        "week": "week",
        "weekend": "weekend",
        "month": "month",
        "quarter": "quarter",
        "half": "half",
    }.get(inner, "day")
    return Found(None if found.span is None else build(found.span), grain, in_year=in_year)


def _nth_in(inner: str, count: int, span: Span) -> Span:
    first, last = span.start.date(), span.end.date()
    if inner == "day":
        there = last if count < 0 else first + timedelta(days=count - 1)
        if there > last:
            raise ValueError("no such day in it")
        return calendar.day(there)
    if inner == "month":
        return calendar.month(first.year, 12 if count < 0 else count)
    if inner in ("quarter", "half"):
        return (calendar.quarter if inner == "quarter" else calendar.half)(first.year, count)
    month = last.month if count < 0 else first.month
    if inner == "week":
        if last.month != first.month:
            return calendar.week_of_month(first.year, month, -1) if count < 0 else _week_of_year(first.year, count)
        return calendar.week_of_month(first.year, month, count)
    if inner == "weekend":
        return calendar.weekend(calendar.nth_weekday(first.year, month, 5, count))
    return calendar.day(calendar.nth_weekday(first.year, month, weekday_number(inner), count))


def _week_of_year(year: int, count: int) -> Span:
    return calendar.week(datetime.strptime(f"{year:04d}-W{count:02d}-1", "%G-W%V-%u").date())


def _offset(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return "two weeks before 9 June", "the Friday after Christmas", "the week before 9 June 2023"."""
    if found.span is None or not found.is_date:
        return None
    sign = -1 if match["way"] in ("before", "prior to", "preceding", "ahead of") else 1
    edge = found.span.start if sign < 0 else found.span.end
    groups = match.groupdict()
    if groups["weekday"] is not None:
        return Found(calendar.day(calendar.weekday_near(edge.date(), weekday_number(groups["weekday"]), sign)), "day")
    unit = unit_of(match)
    if groups["number"] is not None:
        return shift(edge, unit, sign * number(groups["number"]))
    if unit == "weekend":
        saturday = calendar.weekday_near(edge.date(), 5, sign)
        return Found(calendar.weekend(saturday), "weekend")
    if unit in ("hour", "minute", "second"):
        return None
    if match["unit"] == "night":
        return Found(part_span(edge.date() + timedelta(days=sign), "night"), "part")
    grain = unit
    if unit in ("day", "week"):
        length = timedelta(days=1 if unit == "day" else 7)
        first = edge.date() - length if sign < 0 else edge.date() + timedelta(days=1)
        return Found(calendar.days(first, first + length - timedelta(days=1)), grain)
    count = {"month": 1, "quarter": 3, "year": 12}.get(unit, 120)
    if sign < 0:
        return Found(calendar.days(calendar.shift_months(edge.date(), -count), edge.date() - timedelta(days=1)), grain)
    first = edge.date() + timedelta(days=1)
    return Found(calendar.days(first, calendar.shift_months(first, count) - timedelta(days=1)), grain)


def _frame_of(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return "the week of 9 June", "the weekend of the 12th", "w/c 3 May"."""
    if found.span is None or found.grain != "day":
        return None
    if match["frame"] == "weekend":
        return Found(calendar.weekend(found.span.start.date()), "weekend")
    return Found(calendar.week(found.span.start.date()), "week")


def _lasting_from(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return "for three days starting next Monday"."""
    unit, count = unit_of(match), number(match["number"])
    if found.span is None or found.grain != "day" or unit not in ("day", "week") or count % 1 != 0:
        return None
    length = timedelta(days=count * (7 if unit == "week" else 1) - 1)
    return Found(calendar.days(found.span.start.date(), found.span.start.date() + length), "range")


def _since(match: re.Match[str], found: Found, context: Context) -> Found | None:
    return None if found.grain in _NEVER else since(found, context)


def _until(match: re.Match[str], found: Found, context: Context) -> Found | None:
    return None if found.grain in _NEVER else until(found, context)


def _beyond(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return "before June" and "after 2019": known on one side only, so not grounded."""
    return None if found.grain in _NEVER else Found(None, "open")


def _prefix(pattern: str, build: Extension) -> tuple[str, Extension]:
    return rf"\b{pattern} (?:the )?$", build


_NTH = rf"(?P<nth>{ENGLISH_ORDINAL}|last) (?P<inner>weekend|week|month|day|quarter|half|{WEEKDAY})s?"
_THIRD = r"(?P<third>beginning of|start of|middle of|end of|early|earlier|late|later|mid)(?: part of| in)?"
_WAY = r"(?P<way>before|prior to|preceding|ahead of|after|following|from)"

_TENSE_CUES = (
    r"(?P<future>\b(?:will|won't|shall|going to|gonna|plan(?:ning|s)?|upcoming|can't wait|looking forward|"
    r"hop(?:e|ing)|want(?:s)? to|wanna|would (?:like|love)|let's|should|next|soon|tomorrow|schedul(?:e|ed)|"
    r"book|set up|starts|due|deadline|remind|i'll|we'll|he'll|she'll|they'll|you'll|it'll|are we|is there|"
    r"leaving|coming)\b)|"
    r"(?P<past>\b(?:was|were|wasn't|weren't|did|didn't|had|went|got|made|saw|took|came|met|ran|won|lost|felt|found|bought|brought|"
    r"thought|taught|told|said|gave|began|became|left|spent|kept|held|heard|built|sent|drove|flew|wrote|ate|drank|slept|wore|fell|broke|"
    r"chose|grew|knew|led|paid|read|rode|sang|sold|sat|spoke|stood|swam|threw|understood|woke|hung|caught|since|ago|last|yesterday|"
    r"been|just|enjoyed|(?!need|bed|red|feed|seed|speed|indeed|wed|hundred|excited|tired|interested|scared|worried|pumped|thrilled|"
    r"psyched|stoked|supposed|married|used|naked|sacred|wicked|embed|shed|sled|bleed|breed|weed|proceed|exceed|succeed|united)"
    r"[a-z]{2,}ed)\b)"
)

ENGLISH = Language(
    rules=(*DATE_RULES, *OCCASION_RULES, *RELATIVE_RULES, *CLOCK_RULES),
    joints=Joints(
        clock_gap=r"[ ,]*(?:t|at|on|in the|of|by|from|around|about|-|\(|this|starting)?[ ,]*",
        date_gap=r"-|[ ,(]*(?:of|in|on|the)?(?: the)?[ ,]*",
        range_gap=r"\)? ?(?:-|–|—|~|to|till|until|through|thru) ?(?:the )?",
        and_prefix=r"\bbetween(?: the)? $",
        and_gap=r" (?:and|&) (?:the )?",
        range_prefix=r"\b(?:from|between|in)(?: the)? $",
        range_suffix=r"(?!)",
        prefixes=(
            _prefix(rf"(?:the )?{_NTH} (?:of|in)", _nth_of),
            _prefix(rf"(?:the )?(?:very )?{_THIRD}", _part_of),
            (r"\b(?P<third>early|mid|late)-$", _part_of),
            _prefix(rf"(?:the )?(?:(?:{COUNT})?{UNIT}s?|(?P<weekday>{WEEKDAY})) {_WAY}", _offset),
            _prefix(
                r"(?:the )?(?:(?P<frame>week|weekend) (?:of|starting|beginning|commencing)(?: on)?|w/c)",
                _frame_of,
            ),
            _prefix(rf"for {COUNT}{UNIT}s?,? (?:starting|beginning|from)(?: from| on)?", _lasting_from),
            _prefix(r"(?:ever )?since(?: around| about| early| late)?", _since),
            _prefix(r"(?:up )?(?:until|till|til)", _until),
            _prefix(r"(?:before|after|prior to|later than|earlier than)", _beyond),
        ),
    ),
    tense_cues=_TENSE_CUES,
)
