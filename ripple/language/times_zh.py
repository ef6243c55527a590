"""Chinese temporal expressions, in simplified and traditional characters.

Lunar dates and holidays that move (春节, 中秋) stay unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

from ripple.language import calendar
from ripple.language.calendar import Span
from ripple.language.numerals import chinese_number
from ripple.language.time_pieces import FUTURE, PAST, Clock, Context, Found, Rule, running, shift, yearless

__all__ = ["CHINESE_RULES", "NUMBER", "STEP", "UNIT", "step_of", "unit_of"]

NUMBER = r"[\d零〇一二三四五六七八九十百两兩廿卅]{1,4}"
STEP = r"(?P<step>上上|上|这|這|本|下下|下|今)(?:一)?[个個]?"
UNIT = (
    r"(?P<unit>天|日|周|週|星期|礼拜|禮拜|个星期|個星期|个礼拜|个月|個月|月|年|季度|小时|小時|个小时|"
    r"個小時|钟头|个钟头|分钟|分鐘|秒)"
)

_WEEK = "(?:周|週|星期|礼拜|禮拜)"
_STEPS = {"上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "今": 0, "下": 1, "下下": 2}
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "後": 2, "大后": 3, "大後": 3}
_YEARS = {"大前": -3, "前": -2, "去": -1, "上一": -1, "今": 0, "本": 0, "明": 1, "下一": 1, "后": 2, "後": 2}
_SEASONS = {"春": 0, "夏": 1, "秋": 2, "冬": 3}
_HOLIDAYS = {
    "元旦": (1, 1),
    "情人节": (2, 14),
    "妇女节": (3, 8),
    "愚人节": (4, 1),
    "劳动节": (5, 1),
    "五一": (5, 1),
    "青年节": (5, 4),
    "儿童节": (6, 1),
    "六一": (6, 1),
    "建党节": (7, 1),
    "建军节": (8, 1),
    "教师节": (9, 10),
    "国庆": (10, 1),
    "万圣节": (10, 31),
    "光棍节": (11, 11),
    "双十一": (11, 11),
    "双十二": (12, 12),
    "平安夜": (12, 24),
    "圣诞": (12, 25),
    "跨年夜": (12, 31),
}
_HOUR = 3600
_PARTS = (
    ("凌晨", 0, 6),
    ("清晨|清早|早上|早晨|早间|早間|上午|早|晨", 6, 12),
    ("中午|正午", 11, 13),
    ("下午|午后|午後", 12, 18),
    ("傍晚", 17, 20),
    ("晚上|晚间|晚間|夜晚|夜里|夜裡|深夜|半夜|晚|夜", 18, 24),
)
_PART = (
    r"(?P<part>凌晨|清晨|清早|早上|早晨|早间|早間|上午|中午|正午|下午|午后|午後|傍晚|晚上|晚间|晚間|"
    r"夜晚|夜里|夜裡|深夜|半夜)"
)


def step_of(match: re.Match[str]) -> int:
    """Return -2 to 2 for 上上 to 下下."""
    return _STEPS[match["step"]]


def unit_of(match: re.Match[str]) -> str:
    """Return the unit that a match names, in the words of the arithmetic."""
    unit = match["unit"].lstrip("个個")
    names = {
        "天": "day",
        "日": "day",
        "月": "month",
        "年": "year",
        "季": "quarter",
        "小": "hour",
        "钟": "hour",
    }
    return names.get(unit[0], {"分": "minute", "秒": "second"}.get(unit[0], "week"))


def _clock_of(part: str) -> Clock:
    for names, first, last in _PARTS:
        if part in names.split("|"):
            return Clock(first * _HOUR, last * _HOUR - 1)
    raise ValueError("no such part of a day")


def _year_number(written: str) -> int:
    number = chinese_number(written)
    if len(written) == 2:
        number += 1900 if number >= 70 else 2000
    return number


def _day(match: re.Match[str], context: Context) -> Found:
    there = context.today() + timedelta(days=_DAYS[match["day"]])
    return Found(calendar.day(there), "day")


def _day_part(match: re.Match[str], context: Context) -> Found:
    """Return 今晚, 昨夜, 明早."""
    there = context.today() + timedelta(days=_DAYS[match["day"]])
    clock = _clock_of(match["part"])
    return Found(calendar.part_of_day(there, clock.first, clock.last), "part", clock=clock)


def _bare_part(match: re.Match[str], context: Context) -> Found:
    return Found(None, "part", clock=_clock_of(match["part"]), is_weak=True)


def _year(match: re.Match[str], context: Context) -> Found:
    return Found(calendar.year(_year_number(match["year"])), "year")


def _decade(match: re.Match[str], context: Context) -> Found:
    return Found(calendar.decade(1900 + chinese_number(match["decade"]) // 10 * 10), "decade")


def _relative_year(match: re.Match[str], context: Context) -> Found:
    return Found(calendar.year(context.now().year + _YEARS[match["year"]]), "year")


def _whole_month(month: int, year: int) -> Span:
    return calendar.month(year, month)


def _month_day(month: int, first: int, last: int, year: int) -> Span:
    if first > last:
        raise ValueError("the range runs backwards")
    return calendar.days(date(year, month, first), date(year, month, last))


def _month(match: re.Match[str], context: Context) -> Found | None:
    month = chinese_number(match["month"])
    if not 1 <= month <= 12:
        return None
    return yearless(partial(_whole_month, month), match, context, "month")


def _date(match: re.Match[str], context: Context) -> Found:
    first = chinese_number(match["day"])
    last = chinese_number(match["last"]) if match["last"] is not None else first
    in_year = partial(_month_day, chinese_number(match["month"]), first, last)
    return yearless(in_year, match, context, "day")


def _relative_month(match: re.Match[str], context: Context) -> Found:
    there = calendar.shift_months(context.today(), step_of(match))
    if match["day"] is not None:
        return Found(calendar.day(date(there.year, there.month, chinese_number(match["day"]))), "day")
    return Found(calendar.month(there.year, there.month), "month")


def _day_of_month(match: re.Match[str], context: Context) -> Found | None:
    number = chinese_number(match["day"])
    if not 1 <= number <= 31:
        return None
    direction = PAST if context.tense(match.start(), match.end()) == PAST else FUTURE
    today = context.today()
    for step in range(12):
        there = calendar.shift_months(today.replace(day=1), direction * step)
        if number > calendar.month(there.year, there.month).end.day:
            continue
        there = there.replace(day=number)
        if (there <= today) if direction == PAST else (there >= today):
            return Found(calendar.day(there), "day")
    return None


def _weekday(match: re.Match[str], context: Context) -> Found:
    number = min("一二三四五六日天".index(match["weekday"]), 6)
    today = context.today()
    if match["step"] is None:
        direction = PAST if context.tense(match.start(), match.end()) == PAST else FUTURE
        return Found(calendar.day(calendar.weekday_near(today, number, direction)), "day", weekday=number)
    monday = today - timedelta(days=today.weekday())
    return Found(calendar.day(monday + timedelta(days=number, weeks=step_of(match))), "day")


def _weekend(match: re.Match[str], context: Context) -> Found:
    today = context.today()
    if match["step"] is not None:
        step = step_of(match)
    elif context.tense(match.start(), match.end()) == PAST and today.weekday() != 6:
        step = -1
    else:
        step = 0
    return Found(calendar.weekend(today + timedelta(weeks=step)), "weekend")


def _week(match: re.Match[str], context: Context) -> Found:
    return Found(calendar.week(context.today() + timedelta(weeks=step_of(match))), "week")


def _quarter(match: re.Match[str], context: Context) -> Found:
    number = chinese_number(match["number"])
    if not 1 <= number <= 4:
        raise ValueError("a year has four quarters")
    return yearless(lambda year: calendar.quarter(year, number), match, context, "quarter")


def _half_year(match: re.Match[str], context: Context) -> Found:
    number = 1 if match["half"] in "上前" else 2
    in_year = partial(_half_of, number)
    span = None if context.said is None else in_year(context.said.year)
    return Found(span, "half", in_year=in_year)


def _half_of(number: int, year: int) -> Span:
    return calendar.half(year, number)


def _half_month(match: re.Match[str], context: Context) -> Found:
    today = context.today()
    whole = calendar.month(today.year, today.month)
    middle = today.replace(day=15)
    if match["half"] in "上前":
        return Found(calendar.days(whole.start.date(), middle), "week")
    return Found(calendar.days(middle + timedelta(days=1), whole.end.date()), "week")


def _season(match: re.Match[str], context: Context) -> Found:
    number = _SEASONS[match["season"]]
    return yearless(lambda year: calendar.season(year, number), match, context, "season", is_weak=match["lead"] is None)


def _holiday(match: re.Match[str], context: Context) -> Found:
    month, day = _HOLIDAYS[match["holiday"]]
    return yearless(partial(_month_day, month, day, day), match, context, "day")


def _count(written: str, half: str | None) -> float:
    return (0.5 if written == "半" else chinese_number(written)) + (0.5 if half is not None else 0)


def _ago(match: re.Match[str], context: Context) -> Found:
    count = _count(match["number"], match["half"])
    is_rough = match["rough"] is not None
    if match["way"] in "前":
        return shift(context.now(), unit_of(match), -count, is_rough=is_rough)
    if context.tense(match.start(), match.end()) == PAST:  # "三天后他走了" counts from what was told before
        return Found(None, "vague")
    return shift(context.now(), unit_of(match), count, is_rough=is_rough)


def _counted(match: re.Match[str], context: Context) -> Found:
    """Return 过去三年, 未来两周, 前1周."""
    count = _count(match["number"], None)
    return running(context.now(), unit_of(match), -count if match["way"][0] in "未接今后後将之" else count)


def _duration(match: re.Match[str], context: Context) -> Found | None:
    """Return a duration, up to now where 了 closes it ("已经三年了")."""
    if match["still"] is None:
        return Found(None, "duration")
    return running(context.now(), unit_of(match), _count(match["number"], match["half"]))


def _clock(match: re.Match[str], context: Context) -> Found:
    hours = chinese_number(match["hour"])
    written = match["minute"]
    if written is None:
        minutes = {"半": 30, "一刻": 15, "三刻": 45}.get(match["part_of_hour"] or "", 0)
    else:
        minutes = chinese_number(written)
    if hours > 23 or minutes > 59:
        raise ValueError("no such time of day")
    at = hours * _HOUR + minutes * 60
    is_told = at >= 13 * _HOUR or match["hour"].startswith("0")
    return Found(None, "clock", clock=Clock(at, at, is_half_told=is_told))


def _nothing(grain: str, match: re.Match[str], context: Context) -> Found:
    return Found(None, grain)


def _turn_of_now(match: re.Match[str], context: Context) -> Found:
    """Return 月底, 年初 of the current month or year."""
    today = context.today()
    part = {"初": "early", "中": "mid"}.get(match["third"], "late")
    if match["of"] == "月":
        return Found(calendar.third_of_month(today.year, today.month, part), "month")
    return Found(calendar.third_of_year(today.year, part), "year")


def _rule(triggers: str, pattern: str, build: Callable[[re.Match[str], Context], Found | None], grain: str) -> Rule:
    return Rule(frozenset(triggers), pattern, build, grain)


_NUMBERED = "#零〇一二三四五六七八九十两兩半"
_HALF = "(?P<half>半)?"

CHINESE_RULES = (
    _rule(
        "天日儿兒",
        r"(?P<day>大前|大后|大後|前|昨|今|明|后|後)(?:天|日(?![本语報报])|儿|兒)(?!真|气|氣)",
        _day,
        "day",
    ),
    _rule(
        "晚早夜晨",
        r"(?P<day>昨|今|明)(?:天)?(?P<part>晚上|早上|晚|早|夜|晨)(?!报|報|安|点名)",
        _day_part,
        "part",
    ),
    _rule("早晚上下夜晨午", _PART, _bare_part, "part"),
    _rule(
        "年",
        r"(?<![\d零〇一二三四五六七八九十])(?P<year>[12]\d{3}|[一二][零〇一二三四五六七八九]{3}|0\d|9\d|[零〇九][零〇一二三四五六七八九])"
        r"\s?年(?!级|級|龄|代)",
        _year,
        "year",
    ),
    _rule(
        "年",
        r"(?<!马)(?P<year>大前|前|去|上一|今|本|明|下一|后|後)年(?!级|級|轻|輕|前半)",
        _relative_year,
        "year",
    ),
    _rule("年", r"(?:上世纪|二十世纪|20世纪)?(?P<decade>[2-9]0|[二三四五六七八九]十)年代", _decade, "decade"),
    _rule(
        "月",
        rf"(?P<month>{NUMBER})月(?:的)?(?P<day>{NUMBER})[日号號]?(?:(?:到|至|-|—|~)(?P<last>{NUMBER})[日号號])?(?!月|[个個])",
        _date,
        "day",
    ),
    _rule("月", rf"{STEP}月(?:的)?(?:(?P<day>{NUMBER})[日号號])?(?!亮|饼|球)", _relative_month, "month"),
    _rule("月", rf"(?<![\d零〇一二三四五六七八九十两第])(?P<month>{NUMBER})月(?:份)?(?!亮|饼)", _month, "month"),
    _rule(
        "日号號",
        rf"(?<![\d月零〇一二三四五六七八九十第./-])(?P<day>{NUMBER})[日号號](?![楼樓线線门門房机機馆館厅廳店院桌选球文码元])",
        _day_of_month,
        "day",
    ),
    _rule("周週期拜", rf"(?:{STEP})?{_WEEK}(?P<weekday>[一二三四五六日天])(?!年|遍|圈|次|个)", _weekday, "day"),
    _rule("周週末", rf"(?:{STEP})?(?:周|週)末", _weekend, "weekend"),
    _rule("周週期拜", rf"{STEP}{_WEEK}(?![一二三四五六日天末年围圍])", _week, "week"),
    _rule("季", r"第?(?P<number>[一二三四1234])季度", _quarter, "quarter"),
    _rule("年", r"(?P<half>上|下|前|后|後)(?:[个個])?半年", _half_year, "half"),
    _rule("月", r"(?P<half>上|下|前|后|後)(?:[个個])?半[个個]?月", _half_month, "week"),
    _rule("春夏秋冬", r"(?P<lead>这个|這個|在|整个)?(?P<season>[春夏秋冬])(?:天|季)", _season, "season"),
    _rule(
        "节旦一庆夜诞二",
        rf"(?<![第十])(?P<holiday>{'|'.join(_HOLIDAYS)})(?:节|假期|长假|当天|那天)?(?![\d点百千万个下次些起直样种定切])",
        _holiday,
        "day",
    ),
    _rule(
        "节秋午明夕年历月",
        rf"{NUMBER}月初[一二三四五六七八九十]|正月|腊月|(?:农历|農曆|阴历)[^，。,.\s]{{0,12}}?[初十廿][一二三四五六七八九十]|春节|中秋节?|端午节?|清明节?|元宵节?|七夕|重阳节?|除夕|感恩节|复活节|"
        r"母亲节|父亲节|过年|大年初.",
        partial(_nothing, "vague"),
        "vague",
    ),
    _rule(
        "前后後内內",
        rf"(?P<rough>大约|大概|约|差不多|将近)?(?P<number>{NUMBER}|半)\s?{UNIT}{_HALF}(?:多)?(?:之|以)?(?P<way>前|后|後)(?!的那|来|來)",
        _ago,
        "day",
    ),
    _rule(
        _NUMBERED,
        rf"(?P<way>过去的?|最近的?|近|这|這|前|未来的?|未來的?|接下来的?|今后|之后|后|将来)(?P<number>{NUMBER}|半)\s?{UNIT}(?!前|后|後|之|以)",
        _counted,
        "running",
    ),
    _rule(
        _NUMBERED,
        rf"(?<![第\d零〇一二三四五六七八九十])(?P<number>{NUMBER}|半)\s?(?!月|周岁|"
        rf"年代){UNIT.replace('|日', '')}{_HALF}(?P<still>了(?!一|几|解)|多了)?(?![级級龄])",
        _duration,
        "duration",
    ),
    _rule(
        "最近前些久几幾时時阵陣段候天",
        r"最近|近来|近來|近日|近期|前些[天日年]|前几[天日周年]|前幾[天日年]|前阵子|前陣子|前段时间|前段時間|不久前|不久之前|很久以前|小时候|小時候|改天|"
        r"过几天|過幾天|[几幾数數好多][十个個]?[天周月年]个?[之以]?前|[几幾数數][个個](?:月|星期|小时)[之以]?前|那时候|那時候|这几[天年]|這幾[天年]|好几年|多年",
        partial(_nothing, "vague"),
        "vague",
    ),
    _rule(
        "每天",
        rf"每[隔]?(?:[一二两三四五六]|[个個])*(?:天|日|晚|早|周末|{_WEEK}[一二三四五六日天]?|月|年|季度|小时)|天天",
        partial(_nothing, "set"),
        "set",
    ),
    _rule(
        "月年",
        r"(?<![一二三四五六七八九十\d个這这上下本])(?P<of>[月年])(?P<third>初|底|末)",
        _turn_of_now,
        "month",
    ),
    _rule(
        "点點时時",
        rf"(?P<hour>{NUMBER})[点點时時](?:(?P<minute>{NUMBER})(?:分)?|(?P<part_of_hour>半|一刻|三刻)|钟|鐘|整)?(?!候|间|間|来|來|了|儿|心|头|评|击|赞)",
        _clock,
        "clock",
    ),
    _rule(
        "#",
        r"(?<![\d:：./-])(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?P<part_of_hour>(?!))?(?![\d:：])",
        _clock,
        "clock",
    ),
)
