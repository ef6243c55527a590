"""The temporal resolver: what each kind of expression stands for, and that no input breaks it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.language.times import asks_when, query_time, resolve_times, unit_time
from ripple.types import TimeInterval

WEDNESDAY = datetime(2024, 5, 15, 14, 30, tzinfo=timezone(timedelta(hours=2)))


def span(text: str, said_at: datetime | None = WEDNESDAY) -> str | None:
    """The one grounded interval of a text as "start .. end", seconds left out where they are a day's."""
    grounded = [m.interval for m in resolve_times(text, said_at) if m.interval is not None]
    assert len(grounded) <= 1, grounded
    return shown(grounded[0]) if grounded else None


def shown(interval: TimeInterval) -> str:
    if interval.start.time() == datetime.min.time() and f"{interval.end:%H:%M:%S}" == "23:59:59":
        days = sorted({f"{interval.start:%Y-%m-%d}", f"{interval.end:%Y-%m-%d}"})
        return " .. ".join(days)
    return f"{interval.start:%Y-%m-%d %H:%M:%S} .. {interval.end:%Y-%m-%d %H:%M:%S}"


RESOLVED = {
    # days that count from the time of speaking, a Wednesday
    "We ran yesterday.": "2024-05-14",
    "the day before yesterday": "2024-05-13",
    "See you tomorrow!": "2024-05-16",
    "He called four days ago.": "2024-05-11",
    "I moved two weeks ago": "2024-05-01",
    "Last Friday we sang.": "2024-05-10",
    "We meet on Friday.": "2024-05-17",
    "We met on Friday.": "2024-05-10",
    "Next Monday I fly.": "2024-05-20",
    "next week on Tuesday": "2024-05-21",
    "Thursday of last week": "2024-05-09",
    "On the 20th we drove home.": "2024-04-20",
    "We will drive home on the 20th.": "2024-05-20",
    "On the 31st I was ill.": "2024-03-31",
    "Friday the 10th": "2024-05-10",
    "two Fridays ago": "2024-05-03",
    "three years ago today": "2021-05-15",
    "in four days' time": "2024-05-19",
    # weeks, weekends, months, years
    "last week": "2024-05-06 .. 2024-05-12",
    "this week": "2024-05-13 .. 2024-05-19",
    "the week after next": "2024-05-27 .. 2024-06-02",
    "I painted over the weekend.": "2024-05-11 .. 2024-05-12",
    "We will paint over the weekend.": "2024-05-18 .. 2024-05-19",
    "last weekend": "2024-05-11 .. 2024-05-12",
    "three weekends ago": "2024-04-27 .. 2024-04-28",
    "next month": "2024-06-01 .. 2024-06-30",
    "the month before last": "2024-03-01 .. 2024-03-31",
    "last year": "2023-01-01 .. 2023-12-31",
    "a year ago": "2023-05-01 .. 2023-05-31",
    "six months ago": "2023-11-01 .. 2023-11-30",
    "about ten years ago": "2014-01-01 .. 2014-12-31",
    "In March I was in Oslo.": "2024-03-01 .. 2024-03-31",
    "In July I was in Oslo.": "2023-07-01 .. 2023-07-31",
    "In March I will be in Oslo.": "2025-03-01 .. 2025-03-31",
    "last summer": "2023-06-01 .. 2023-08-31",
    "this winter": "2024-12-01 .. 2025-02-28",
    "the spring of 2020": "2020-03-01 .. 2020-05-31",
    "earlier this month": "2024-05-01 .. 2024-05-15",
    "the end of the month": "2024-05-16 .. 2024-05-31",
    "two summers ago": "2022-06-01 .. 2022-08-31",
    "the end of April": "2024-04-16 .. 2024-04-30",
    "late 2021": "2021-09-01 .. 2021-12-31",
    "in the 80s": "1980-01-01 .. 1989-12-31",
    # parts of days and clock times
    "last night": "2024-05-14 20:00:00 .. 2024-05-14 23:59:59",
    "this morning": "2024-05-15 06:00:00 .. 2024-05-15 11:59:59",
    "tomorrow at 7pm": "2024-05-16 19:00:00 .. 2024-05-16 19:00:00",
    "at noon on Sunday": "2024-05-19 12:00:00 .. 2024-05-19 12:00:00",
    "yesterday evening at 8": "2024-05-14 18:00:00 .. 2024-05-14 23:59:59",
    "yesterday from 3 to 5pm": "2024-05-14 15:00:00 .. 2024-05-14 17:00:00",
    "an hour and a half ago": "2024-05-15 13:00:00 .. 2024-05-15 13:00:00",
    "an hour ago": "2024-05-15 13:30:00 .. 2024-05-15 13:30:00",
    # dates
    "4 July 2021": "2021-07-04",
    "July 4th, 2021": "2021-07-04",
    "the 4th of July 2021": "2021-07-04",
    "2021-07-04": "2021-07-04",
    "7/4/2021": "2021-07-04",
    "4.7.2021": "2021-07-04",
    "2021-07-04 18:05": "2021-07-04 18:05:00 .. 2021-07-04 18:05:00",
    "from June 28 to July 2 2021": "2021-06-28 .. 2021-07-02",
    "from Dec 30 to Jan 2": "2023-12-30 .. 2024-01-02",
    "3-5 March 2022": "2022-03-03 .. 2022-03-05",
    "between 2014 and 2016": "2014-01-01 .. 2016-12-31",
    "Christmas 2020": "2020-12-25",
    "the first weekend of August": "2024-08-03 .. 2024-08-04",
    "the last Friday in May": "2024-05-31",
    "the week before 9 May 2022": "2022-05-02 .. 2022-05-08",
    "the Saturday after 9 May 2022": "2022-05-14",
    "two days before Christmas 2020": "2020-12-23",
    # durations run up to the time of speaking
    "I have lived here for 3 years now": "2021-05-01 00:00:00 .. 2024-05-15 14:30:00",
    "We've had this boat for two months": "2024-03-15 00:00:00 .. 2024-05-15 14:30:00",
    "I've been here since March": "2024-03-01 00:00:00 .. 2024-05-15 14:30:00",
    "over the past two weeks": "2024-05-01 00:00:00 .. 2024-05-15 14:30:00",
    "We're away until Sunday": "2024-05-15 14:30:00 .. 2024-05-19 23:59:59",
    "in the next three days": "2024-05-15 14:30:00 .. 2024-05-18 23:59:59",
    # Chinese
    "我昨天去了公园": "2024-05-14",
    "大前天下雨了": "2024-05-12",
    "上周五我们见面了": "2024-05-10",
    "下下周二开会": "2024-05-28",
    "下个月3号出发": "2024-06-03",
    "去年夏天": "2023-06-01 .. 2023-08-31",
    "两年前我搬家了": "2022-05-01 .. 2022-05-31",
    "二零二一年七月四日": "2021-07-04",
    "2021年底": "2021-09-01 .. 2021-12-31",
    "昨晚八点半": "2024-05-14 20:30:00 .. 2024-05-14 20:30:00",
    "明天下午三点": "2024-05-16 15:00:00 .. 2024-05-16 15:00:00",
    "我在这里住了三年了": "2021-05-01 00:00:00 .. 2024-05-15 14:30:00",
    "从3月5日到3月8日我在出差": "2024-03-05 .. 2024-03-08",
    "这个周末": "2024-05-18 .. 2024-05-19",
    "四月的最后一个星期一": "2024-04-29",
    # Spanish, French, German
    "anteayer": "2024-05-13",
    "Estoy aquí desde el lunes.": "2024-05-13 00:00:00 .. 2024-05-15 14:30:00",
    "Je suis là depuis lundi.": "2024-05-13 00:00:00 .. 2024-05-15 14:30:00",
    "el lunes pasado": "2024-05-13",
    "la semana que viene": "2024-05-20 .. 2024-05-26",
    "hace dos años": "2022-05-01 .. 2022-05-31",
    "el 5 de junio de 2021": "2021-06-05",
    "avant-hier": "2024-05-13",
    "samedi dernier": "2024-05-11",
    "dans trois jours": "2024-05-18",
    "le mois dernier": "2024-04-01 .. 2024-04-30",
    "gestern Abend": "2024-05-14 18:00:00 .. 2024-05-14 23:59:59",
    "nächsten Freitag": "2024-05-17",
    "letztes Jahr": "2023-01-01 .. 2023-12-31",
    "am 5. Juni 2021": "2021-06-05",
}


@pytest.mark.parametrize("text", RESOLVED)
def test_expression_resolves_to_its_interval(text: str) -> None:
    assert span(text) == RESOLVED[text]


@pytest.mark.parametrize(
    "text",
    [
        "We talked recently.",
        "a few years ago",
        "the other day",
        "for ages",
        "We met at Easter.",
        "before June",
        "every Friday",
        "It took three hours.",
        "I had not seen her in two years.",
        "at 3pm",
        "30 February 2020",
        "24:00",
        "year 0000-01-01",
        "from June 5 to June 3",
        "最近很忙",
        "几年前",
        "2019年2月29日",
        "春节以前",
        "récemment",
    ],
)
def test_vague_open_or_impossible_time_is_named_but_not_grounded(text: str) -> None:
    mentions = resolve_times(text, WEDNESDAY)
    assert mentions
    assert all(mention.interval is None for mention in mentions)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I may march on, the sun sat down for the second time.",
        "20 people paid $2023 for room 1204, version 2.0.1, flight 555-2021.",
        "Ich wohne hier.",
        "我住在3号楼，坐2号线。",
        "They fell in love at the fall of the wall.",
        "1/2 cup of sugar, 24/7",
    ],
)
def test_text_without_time_gives_none(text: str) -> None:
    assert resolve_times(text, WEDNESDAY) == []


def test_mention_keeps_its_place_and_wording() -> None:
    text = "İstanbul'da: we met Last Friday, honest."
    (mention,) = resolve_times(text, WEDNESDAY)
    assert mention.text == "Last Friday"
    assert text[mention.start_char : mention.end_char] == "Last Friday"
    assert mention.grain == "day"


def test_relative_date_without_time_of_speaking_stays_unresolved() -> None:
    assert [m.interval for m in resolve_times("We met yesterday, last May and two years ago.", None)] == [None] * 3


def test_absolute_date_without_time_of_speaking_is_utc() -> None:
    (mention,) = resolve_times("We met on 9 June 2023.", None)
    assert mention.interval is not None
    assert mention.interval.start == datetime(2023, 6, 9, tzinfo=UTC)
    assert mention.interval.end == datetime(2023, 6, 9, 23, 59, 59, tzinfo=UTC)


def test_interval_is_in_the_zone_of_the_speaker() -> None:
    late = datetime(2024, 5, 15, 23, 30, tzinfo=timezone(timedelta(hours=-7)))
    (mention,) = resolve_times("yesterday", late)
    assert mention.interval is not None
    assert mention.interval.start.utcoffset() == timedelta(hours=-7)
    assert mention.interval.start == datetime(2024, 5, 14, 7, tzinfo=UTC)


def test_gap_and_fold_of_the_clock_take_the_first_reading() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    (in_fold,) = resolve_times("on 27 October 2024 at 2:30 am", datetime(2024, 10, 28, tzinfo=berlin))
    assert in_fold.interval is not None
    assert in_fold.interval.start.fold == 0
    assert in_fold.interval.start.astimezone(UTC) == datetime(2024, 10, 27, 0, 30, tzinfo=UTC)
    (in_gap,) = resolve_times("31 March 2024 at 2:30 am", datetime(2024, 4, 2, tzinfo=berlin))
    assert in_gap.interval is not None
    assert in_gap.interval.start.astimezone(UTC) == datetime(2024, 3, 31, 1, 30, tzinfo=UTC)


def test_ends_of_the_calendar_stay_unresolved() -> None:
    last = datetime(9999, 12, 31, 12, tzinfo=timezone(timedelta(hours=-12)))
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    for text in ("today", "tomorrow", "in three weeks", "next year", "for 3 years now"):
        for said_at in (last, first):
            for mention in resolve_times(text, said_at):
                if mention.interval is not None:
                    assert mention.interval.start.astimezone(UTC) <= mention.interval.end.astimezone(UTC)
    assert span("today", last) is None


def test_unit_time_prefers_statement_over_question() -> None:
    interval, named = unit_time("We camped two weekends ago. Did you rest over the weekend?", WEDNESDAY)
    assert named
    assert interval is not None
    assert shown(interval) == "2024-05-04 .. 2024-05-05"


def test_unit_time_prefers_date_over_duration_and_finer_over_coarser() -> None:
    interval, _ = unit_time("I've been ill for two weeks now, last month too, but on Monday I swam.", WEDNESDAY)
    assert interval is not None
    assert shown(interval) == "2024-05-13"


def test_unit_time_tells_whether_a_time_is_named() -> None:
    assert unit_time("It rained a few years ago.", WEDNESDAY) == (None, True)
    assert unit_time("It rained.", WEDNESDAY) == (None, False)


@pytest.mark.parametrize(
    ("question", "interval", "grain"),
    [
        ("What did Ada do on 9 June 2023?", "2023-06-09", "day"),
        ("What did Ada do in the week of 9 June 2023?", "2023-06-05 .. 2023-06-11", "week"),
        ("What did Ada do in June 2023?", "2023-06-01 .. 2023-06-30", "month"),
        ("What did Ada do in 2023?", "2023-01-01 .. 2023-12-31", "year"),
        ("2023年6月艾达做了什么？", "2023-06-01 .. 2023-06-30", "month"),
    ],
)
def test_date_in_a_question(question: str, interval: str, grain: str) -> None:
    named = query_time(question)
    assert named is not None
    assert (shown(named.interval), named.grain) == (interval, grain)


def test_question_counts_from_now_or_takes_only_the_year_from_the_newest_memory() -> None:
    newest = datetime(2024, 3, 3, tzinfo=UTC)
    assert query_time("What happened last week?") is None
    assert query_time("What happened last week?", newest=newest) is None
    assert query_time("What did Ada do in June?") is None
    named = query_time("What did Ada do in June?", newest=newest)
    assert named is not None
    assert shown(named.interval) == "2023-06-01 .. 2023-06-30"
    asked = query_time("What happened last week?", WEDNESDAY)
    assert asked is not None
    assert shown(asked.interval) == "2024-05-06 .. 2024-05-12"


@pytest.mark.parametrize(
    "question",
    [
        "When did Ada leave?",
        "How long has Ada lived here?",
        "On what date did she leave?",
        "Which month was it?",
        "艾达什么时候走的？",
        "他住了多久？",
        "¿Cuándo se fue?",
        "Quand est-elle partie ?",
        "Wann ging sie?",
    ],
)
def test_question_for_a_time(question: str) -> None:
    assert asks_when(question)


@pytest.mark.parametrize("question", ["Who left?", "What did Ada wear to the party she left early?", "谁走了？"])
def test_question_for_something_else(question: str) -> None:
    assert not asks_when(question)


TOKENS = """
last next this past the first of in on at for since until before after from to and between ago now May June
march Friday week weekend month year years 3 31 2023 02/30/2020 0000-00-00 99:99 3pm half a few two days every
30th 24:00 上 下 周 三 个 月 前 后 年 日 2023年 点 半 hace dos años il y a vor zwei Wochen gestern . ? ,
"""
WORDS = st.sampled_from(TOKENS.split())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    text=st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=12).map(" ".join)),
    said_at=st.one_of(
        st.none(),
        st.datetimes(timezones=st.timezones()),
        st.datetimes(timezones=st.just(timezone(timedelta(hours=-12)))),
    ),
)
def test_any_text_and_time_gives_ordered_mentions_and_sound_intervals(text: str, said_at: datetime | None) -> None:
    mentions = resolve_times(text, said_at)
    end = 0
    for mention in mentions:
        assert end <= mention.start_char < mention.end_char <= len(text)
        end = mention.end_char
        if mention.interval is not None:
            start, last = mention.interval.start, mention.interval.end
            assert start.tzinfo is not None
            assert start.microsecond == last.microsecond == 0
            assert start.astimezone(UTC) <= last.astimezone(UTC)
    unit_time(text, said_at)
    query_time(text, said_at)
    asks_when(text)
