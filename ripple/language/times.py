"""When things happened, read from text: temporal expressions resolved to closed intervals.

Relative expressions ("last Friday", "two weeks ago", "for three years now") count from the time of
speaking that the caller gives, in its zone; without one they are found and stay unresolved. The system
clock is never read. What is vague ("recently", "a few years ago"), moves ("Easter") or lies on one side
only ("before June") stays unresolved.

Intervals follow the words: a day, week (Monday to Sunday), month, season (northern) or year is the whole
of it, a moment is one second with ``start == end``. A phrase counted in units is resolved at the grain
that it supports: years to a month, or to the year when said roughly, months to a month, weeks and days to
a day. A duration that still lasts runs from its start to the time of speaking. Wall times are taken as
they are: at a change of clocks the first of two readings (``fold=0``) holds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from ripple.language.calendar import Span
from ripple.language.time_joins import resolve, without_overlaps
from ripple.language.time_pieces import PAST, UNTOLD, Context, Piece
from ripple.language.times_en_joints import ENGLISH
from ripple.language.times_european import FRENCH, GERMAN, SPANISH
from ripple.language.times_zh_joints import CHINESE
from ripple.types import QueryTime, TimeInterval

__all__ = ["TimeMention", "asks_when", "query_time", "resolve_times", "unit_time"]

_ASCII_WORD = re.compile(r"[a-z]+")
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_LENGTHS = (timedelta(days=1), timedelta(days=14), timedelta(days=200))
_GRAINS = ("day", "week", "month", "year")
_YEARLY = frozenset({"day", "month", "season", "quarter", "half", "range"})
_RELATIVE = re.compile(
    r"\b(?:last|next|this|past|previous|coming|upcoming|ago|yesterday|today|tomorrow|now|\w+day|mon|tues?|wed|thu|fri|sat|sun)\b|"
    r"[昨今明前后後上下这這本去]",
    re.IGNORECASE,
)
_QUESTION_REST = re.compile(r"[^.!?。！？\n]*[?？]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


_LANGUAGES = (CHINESE, ENGLISH, SPANISH, FRENCH, GERMAN)
_ASKS_WHEN = re.compile(
    r"(?:^|[.?!,;:]\s*|\b(?:and|since|until|by|from|know|remember|recall|tell me|say|sure) )when\b|"
    r"\bwhen (?:did|do|does|was|were|is|are|will|has|have|had|would|should|can|could|'s)\b|\bwhen's\b|"
    r"\bhow (?:long|often|recently|soon)\b|"
    r"\bhow many (?:days|nights|weeks|weekends|months|years|hours|minutes)\b|"
    r"\b(?:what|which) (?:date|day|time|month|year|week|weekend|season|hour)s?\b|"
    r"什么时[候间]|什麼時[候間]|何时|何時|啥时候|哪[一]?[天年月日周]|哪个(?:月|星期|季节)|几[月号点日]|幾[月號點]|星期几|周几|多久|多长时间|多長時間|"
    r"几[天年周]|几个(?:月|星期|小时)|(?:日期|时间|日子|生日)(?:是|在|又)?(?:什么|多少|哪|几|啥)|"
    r"\bcuándo\b|\bcuánto tiempo\b|\bqué (?:día|fecha|mes|año|hora)\b|\bquand\b|\bcombien de temps\b|"
    r"\bquel(?:le)? (?:jour|date|mois|année|heure)\b|\bwann\b|\bwie lange\b|"
    r"\ban welchem (?:tag|datum)\b|\bwelche[srnm]? (?:tag|datum|jahr|monat)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A temporal expression in a text.

    Attributes
    ----------
    start_char, end_char : int
        Its place in the text, half-open.
    text : str
        The expression as written.
    interval : TimeInterval or None
        What it stands for; None where it is not grounded.
    grain : str
        ``minute``, ``part`` (of a day), ``day``, ``weekend``, ``week``, ``month``, ``season``,
        ``quarter``, ``half``, ``year``, ``decade``; ``range`` (from one date to another), ``running`` (up
        to the time of speaking); ``clock``, ``duration``, ``set`` (every Friday), ``open`` (before June)
        and ``vague`` are never grounded.
    """

    start_char: int
    end_char: int
    text: str
    interval: TimeInterval | None
    grain: str


def resolve_times(text: str, said_at: datetime | None) -> list[TimeMention]:
    """Return the temporal expressions of a text, in order and without overlaps.

    Parameters
    ----------
    text : str
        Any text; English and Chinese are read well, Spanish, French and German in their common forms.
    said_at : datetime or None
        Aware time of speaking. Without it only absolute dates are grounded, in UTC.

    Returns
    -------
    list of TimeMention

    Examples
    --------
    >>> [(m.text, str(m.interval.start.date())) for m in resolve_times("We met on 9 June 2023.", None)]
    [('9 June 2023', '2023-06-09')]
    >>> resolve_times("We met yesterday.", None)[0].interval is None
    True
    """
    return _resolved(text, said_at, UNTOLD)


def unit_time(text: str, said_at: datetime | None) -> tuple[TimeInterval | None, bool]:
    """Return the one interval of a memory unit, and whether a time is named at all, grounded or not.

    Of several grounded expressions the first of this order counts: those outside questions; dates before
    durations up to now; the finer (a day, up to two weeks, up to half a year, longer); the nearer to the
    time of speaking; the first in the text.
    """
    mentions = _resolved(text, said_at, UNTOLD)
    if not mentions:
        return None, False
    asked = [m for m in mentions if m.interval is not None and _QUESTION_REST.match(text, m.end_char) is not None]
    best = _finest([m for m in mentions if m not in asked], said_at) or _finest(asked, said_at)
    return (None if best is None else best.interval), True


def query_time(text: str, now: datetime | None = None, *, newest: datetime | None = None) -> QueryTime | None:
    """Return the date that a question names, at the grain ``day``, ``week``, ``month`` or ``year``.

    Parameters
    ----------
    text : str
        The question; where its tense does not tell otherwise, dates without a year are past ones.
    now : datetime or None
        When it is asked; "last week" counts from here and stays unresolved without it.
    newest : datetime or None
        Without ``now``: when the newest memory was said. Dates that lack only the year ("in June") are then
        the last ones before it.
    """
    mentions = _resolved(text, now, PAST)
    best = _finest(mentions, now)
    if best is None and now is None and newest is not None and mentions:
        yearless = [m for m in _resolved(text, newest, PAST) if m.grain in _YEARLY and _RELATIVE.search(m.text) is None]
        best = _finest(yearless, newest)
    if best is None or best.interval is None:
        return None
    return QueryTime(best.interval, _query_grain(best.interval))


def asks_when(text: str) -> bool:
    """Whether a question asks for a time: when, how long, on what date, 什么时候, cuándo, quand, wann."""
    return _ASKS_WHEN.search(text) is not None


def _finest(mentions: Sequence[TimeMention], said_at: datetime | None) -> TimeMention | None:
    best, best_key = None, None
    for mention in mentions:
        if mention.interval is None:
            continue
        length = mention.interval.end - mention.interval.start
        distance = timedelta() if said_at is None else abs(mention.interval.start - said_at)
        key = (mention.grain == "running", bisect_left(_LENGTHS, length), distance)
        if best_key is None or key < best_key:
            best, best_key = mention, key
    return best


def _query_grain(interval: TimeInterval) -> str:
    return _GRAINS[bisect_left(_LENGTHS, interval.end - interval.start)]


def _resolved(text: str, said_at: datetime | None, default_tense: int) -> list[TimeMention]:
    folded = _folded(text)
    words = set((_ASCII_WORD if folded.isascii() else _WORD).findall(folded))
    if _DIGIT.search(folded) is not None:
        words.add("#")
    is_chinese = not folded.isascii() and _CHINESE.search(folded) is not None
    if is_chinese:
        words.update(folded)
    triggered = _triggered()
    met = triggered.keys() & words
    if not met:
        return []
    said = None if said_at is None else said_at.replace(tzinfo=None, microsecond=0, fold=0)
    numbered = sorted({n for word in met for n in triggered[word]})
    pieces: list[Piece] = []
    for language_number, language in enumerate(_LANGUAGES):
        if language is CHINESE and not is_chinese:
            continue
        rules = [language.rules[rule] for number, rule in numbered if number == language_number]
        rules = [rule for rule in rules if not rule.also or not rule.also.isdisjoint(words)]
        if rules:
            context = Context(folded, said, language.tense_cues, default_tense)
            pieces += resolve(context, rules, language.joints)
    return [_mention(piece, text, said_at) for piece in without_overlaps(pieces)]


def _mention(piece: Piece, text: str, said_at: datetime | None) -> TimeMention:
    interval = _interval(piece.found.span, said_at)
    return TimeMention(piece.start, piece.end, text[piece.start : piece.end], interval, piece.found.grain)


@cache
def _triggered() -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the rules that each word may start, by the numbers of their language and place in it."""
    numbers: dict[str, list[tuple[int, int]]] = {}
    for language_number, language in enumerate(_LANGUAGES):
        for rule_number, rule in enumerate(language.rules):
            for word in rule.triggers:
                numbers.setdefault(word, []).append((language_number, rule_number))
    return {word: tuple(listed) for word, listed in numbers.items()}


def _folded(text: str) -> str:
    """Return the text in lower case with plain apostrophes, each character in its place."""
    folded = text.lower()
    if len(folded) != len(text):
        folded = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return folded.replace("’", "'")


def _interval(span: Span | None, said_at: datetime | None) -> TimeInterval | None:
    """Return the aware interval; None where UTC or a change of clocks does not allow it."""
    if span is None:
        return None
    zone = UTC if said_at is None else said_at.tzinfo
    start, end = span.start.replace(tzinfo=zone), span.end.replace(tzinfo=zone)
    try:
        if start.astimezone(UTC) > end.astimezone(UTC):
            return None
    except (OverflowError, ValueError):
        return None
    return TimeInterval(start, end)
