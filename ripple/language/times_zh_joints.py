"""The Chinese grammar as one: all rules, and the words that stand between, before and after expressions."""

from __future__ import annotations

import re
from datetime import timedelta

from ripple.language import calendar
from ripple.language.calendar import Span
from ripple.language.numerals import chinese_number
from ripple.language.time_pieces import Context, Found, Joints, Language, shift, since, until
from ripple.language.times_en import NUMERIC_RULES
from ripple.language.times_zh import CHINESE_RULES, NUMBER, UNIT, unit_of

__all__ = ["CHINESE"]

_NEVER = ("clock", "duration", "set", "vague", "running", "open")


def _part_of(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return 六月初, 去年年底, 上个月中旬."""
    word = match["third"]
    part = "early" if word in ("初", "上旬") else "mid" if word in ("中", "中旬") else "late"
    if found.grain not in ("month", "year"):
        return None
    of_month = found.grain == "month"

    def cut(span: Span) -> Span:
        if of_month:
            return calendar.third_of_month(span.start.year, span.start.month, part)
        return calendar.third_of_year(span.start.year, part)

    in_year = found.in_year
    cut_in_year = None if in_year is None else lambda year: cut(in_year(year))
    return Found(None if found.span is None else cut(found.span), found.grain, in_year=cut_in_year)


def _inner(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return 2021年的第二周, 明年第九个月, 去年的前10天, 今年的最后三周."""
    if found.span is None or found.grain not in ("year", "month"):
        return None
    count, unit, way = chinese_number(match["number"]), unit_of(match), match["way"]
    first, last = found.span.start.date(), found.span.end.date()
    if way == "第":
        if unit == "month" and found.grain == "year":
            return Found(calendar.month(first.year, count), "month")
        if unit == "week":
            thursday = first + timedelta(days=(3 - first.weekday()) % 7)
            return Found(calendar.week(thursday + timedelta(weeks=count - 1)), "week")
        return Found(calendar.day(first + timedelta(days=count - 1)), "day") if unit == "day" else None
    if unit not in ("day", "week"):
        return None
    length = timedelta(days=count * (7 if unit == "week" else 1) - 1)
    if way == "前":
        return Found(calendar.days(first, first + length), "range")
    return Found(calendar.days(last - length, last), "range")


def _nth_weekday(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return 四月的最后一个星期一, 下个月第二个周五."""
    if found.span is None or found.grain != "month":
        return None
    count = -1 if match["number"] is None else chinese_number(match["number"])
    weekday = min("一二三四五六日天".index(match["weekday"]), 6)
    first = found.span.start
    return Found(calendar.day(calendar.nth_weekday(first.year, first.month, weekday, count)), "day")


def _offset(match: re.Match[str], found: Found, context: Context) -> Found | None:
    """Return 6月5日前一天, 生日后两周."""
    if found.span is None or not found.is_date:
        return None
    sign = -1 if match["way"] == "前" else 1
    edge = found.span.start if sign < 0 else found.span.end
    return shift(edge, unit_of(match), sign * chinese_number(match["number"]))


def _since(match: re.Match[str], found: Found, context: Context) -> Found | None:
    return None if found.grain in _NEVER else since(found, context)


def _until(match: re.Match[str], found: Found, context: Context) -> Found | None:
    return None if found.grain in _NEVER else until(found, context)


def _beyond(match: re.Match[str], found: Found, context: Context) -> Found | None:
    return None if found.grain in _NEVER else Found(None, "open")


CHINESE = Language(
    rules=(*NUMERIC_RULES, *CHINESE_RULES),
    joints=Joints(
        clock_gap=r"[ ,，的]*(?:在)?[ ]*",
        date_gap=r"[ ,，的(（]*",
        range_gap=r" ?(?:到|至|-|—|–|~|～|直到) ?",
        and_prefix=r"(?!)",
        and_gap=r" ?(?:和|与|與|跟|及) ?",
        range_prefix=r"(?:从|從|自|在)$",
        range_suffix=r" ?(?:之间|之間|间|間)",
        prefixes=((r"(?:直到|截至|截止到?|到目前)$", _until),),
        suffixes=(
            (
                r"(?:的)?(?:第(?P<number>[一二三四五1-5])|最后一|最後一)[个個](?:周|週|星期|礼拜|禮拜)"
                r"(?P<weekday>[一二三四五六日天])",
                _nth_weekday,
            ),
            (rf"(?:的)?(?P<way>第|前|最后|最後) ?(?P<number>{NUMBER}) ?{UNIT}", _inner),
            (rf"(?:的)?(?:之)?(?P<way>前|后|後)(?P<number>{NUMBER}){UNIT}", _offset),
            (r"年?(?P<third>初|底|末|上旬|中旬|下旬)", _part_of),
            (r"(?:以来|以來|至今|到现在|到現在|开始|開始|起)(?![来床码飞身])", _since),
            (r"(?:或|及|及其)?(?:之|以)?(?:前|后|後)(?!半|来|天|年)", _beyond),
        ),
    ),
    tense_cues=(
        r"(?P<future>将|將|要|会(?!议|場|场)|會(?!議)|打算|准备|準備|计划|計劃|即将|想|预计|安排|预约|预订|提醒|期待|应该|明天|下周|下个)|"
        r"(?P<past>了|过(?!来|去|年|程|几)|曾|已经|已經|刚|剛|昨|上周|上个|去年|那时|当时)"
    ),
)
