"""Times of a reply: accepted where a cited turn names them, else empty. One row is one decision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.types import TimeInterval, Turn
from ripple.write.grounded_times import ground_time, named_times

SAID = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)  # a Wednesday
EMPTY = None


def ground(
    text: str, start: str | None, end: str | None, restatement: str = "Ines did it.", said_at: datetime | None = SAID
) -> tuple[TimeInterval | None, str | None]:
    return ground_time(start, end, restatement, said_at, named_times(Turn(1, text, "Ines", said_at)))


def shown(interval: TimeInterval | None) -> str | None:
    """Return an interval as days where it is whole days, else in full."""
    if interval is None:
        return None
    if (interval.start.hour, interval.end.hour, interval.end.second) == (0, 23, 59):
        return f"{interval.start:%m-%d}..{interval.end:%m-%d}"
    return f"{interval.start:%m-%dT%H:%M}..{interval.end:%m-%dT%H:%M}"


@pytest.mark.parametrize(
    ("text", "start", "end", "expected"),
    [
        # as the words say
        ("I moved to Oslo yesterday.", "2024-05-14", "2024-05-14", "05-14..05-14"),
        ("We leave next Friday.", "2024-05-24", "2024-05-24", "05-24..05-24"),
        ("She came on 3 May 2024.", "2024-05-03", "2024-05-03", "05-03..05-03"),
        ("We were there last week.", "2024-05-06", "2024-05-12", "05-06..05-12"),
        ("We met yesterday at 3pm.", "2024-05-14T15:00", "2024-05-14T15:00", "05-14T15:00..05-14T15:00"),
        ("我昨天去了上海。", "2024-05-14", "2024-05-14", "05-14..05-14"),
        # the day is off: empty
        ("I moved to Oslo yesterday.", "2024-05-13", "2024-05-13", EMPTY),
        ("I moved to Oslo yesterday.", "2023-05-14", "2023-05-14", EMPTY),
        ("We were there last week.", "2024-04-29", "2024-05-05", EMPTY),
        # nothing named: the day of speaking is no ground by itself
        ("I love figs.", "2024-05-15", "2024-05-15", EMPTY),
        ("A few years ago we met.", "2020-01-01", "2020-12-31", EMPTY),
        ("Every Friday I swim.", "2024-05-17", "2024-05-17", EMPTY),
        # now
        ("I just adopted a dog.", "2024-05-15", "2024-05-15", "05-15..05-15"),
        ("We are in Rome now.", "2024-05-15", None, "05-15..05-15"),
        ("我刚到北京。", "2024-05-15", "2024-05-15", "05-15..05-15"),
        ("I just adopted a dog.", "2024-05-14", "2024-05-14", EMPTY),
        ("I go home today.", "2024-05-15", "2024-05-15", "05-15..05-15"),
        # finer than the words: widened to them
        ("We met last month.", "2024-04-12", "2024-04-12", "04-01..04-30"),
        ("We were there last week.", "2024-05-08", "2024-05-09", "05-06..05-12"),
        ("I moved to Oslo yesterday.", "2024-05-14T10:00", "2024-05-14T10:00", "05-14..05-14"),
        # coarser than the words: made finer, or a calendar unit as replied
        ("We met yesterday at 3pm.", "2024-05-14", "2024-05-14", "05-14T15:00..05-14T15:00"),
        ("She came on 3 May 2024.", "2024-05-01", "2024-05-31", "05-01..05-31"),
        ("She came on 3 May 2024.", "2024-01-01", "2024-12-31", "01-01..12-31"),
        ("She came on 3 May 2024.", "2024-04-29", "2024-05-05", "04-29..05-05"),
        ("She came on 3 May 2024.", "2024-04-20", "2024-05-20", EMPTY),
        ("She came on 3 May 2024.", "2000-01-01", "2030-12-31", EMPTY),
        # a week that begins on Sunday, a weekend with its Friday
        ("We were there last week.", "2024-05-05", "2024-05-11", "05-06..05-12"),
        ("Last weekend we camped.", "2024-05-10", "2024-05-12", "05-11..05-12"),
        # from one named day to another
        ("I arrive on Friday and leave on Sunday.", "2024-05-17", "2024-05-19", "05-17..05-19"),
        # an open range is its start's day; where it still runs, up to the time of speaking
        ("I moved to Oslo yesterday.", "2024-05-14", None, "05-14..05-14"),
        ("I have lived here since March.", "2024-03-01", None, "03-01T00:00..05-15T14:30"),
        ("I have lived here since March.", "2024-03-01", "2024-05-15", "03-01T00:00..05-15T14:30"),
        ("I have lived here since March.", "2024-04-20", "2024-04-20", EMPTY),
        # two days in one turn: the one that is meant
        ("I came yesterday, Tom leaves tomorrow.", "2024-05-16", "2024-05-16", "05-16..05-16"),
        ("I came yesterday, Tom leaves tomorrow.", "2024-05-14", "2024-05-14", "05-14..05-14"),
        # nothing replied, and nothing in the restatement
        ("I moved to Oslo yesterday.", None, None, EMPTY),
    ],
)
def test_time_follows_from_the_words(text: str, start: str | None, end: str | None, expected: str | None) -> None:
    interval, reason = ground(text, start, end)
    assert shown(interval) == expected
    assert reason == ("time_ungrounded" if expected is None and start is not None else None)


@pytest.mark.parametrize(
    "start",
    [
        *("2024", "2024-05", "20240514", "2024-W20-2", "14 May 2024", "yesterday", "2024-5-14", ""),
        *("2024-02-30", "2024-05-14T24:00", "2024-05-14T10:60", "0000-01-01", "10000-01-01", "٢٠٢٤-٠٥-١٤"),
        *("2024-05-14T10:00+25:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00+14:00", "2024-05-14\nx"),
    ],
)
def test_what_is_no_iso_date_gives_no_time(start: str) -> None:
    assert ground("I moved to Oslo yesterday.", start, start) == (None, "time_form")


def test_end_without_start_gives_no_time() -> None:
    assert ground("I moved to Oslo yesterday.", None, "2024-05-14") == (None, "time_form")


def test_reversed_range_is_never_swapped() -> None:
    assert ground("I moved yesterday.", "2024-05-15", "2024-05-14") == (None, "time_reversed")
    assert ground("I moved yesterday.", "2024-05-14T10:00", "2024-05-14T09:00") == (None, "time_reversed")


def test_days_count_in_the_zone_of_the_turn() -> None:
    zone = timezone(timedelta(hours=9))
    interval, _ = ground(
        "I moved yesterday.", "2024-05-14", "2024-05-14", said_at=datetime(2024, 5, 15, 1, tzinfo=zone)
    )
    assert interval is not None
    assert interval.start == datetime(2024, 5, 14, tzinfo=zone)


def test_offset_of_a_moment_counts() -> None:
    text = "We met yesterday at 3pm."
    assert shown(ground(text, "2024-05-14T17:00+02:00", None)[0]) == "05-14T15:00..05-14T15:00"
    assert ground(text, "2024-05-14T15:00+02:00", None)[0] is None


def test_absolute_date_needs_no_timestamp() -> None:
    interval, _ = ground("She came on 3 May 2024.", "2024-05-03", "2024-05-03", said_at=None)
    assert shown(interval) == "05-03..05-03"
    assert ground("She came yesterday.", "2024-05-14", "2024-05-14", said_at=None) == (None, "time_ungrounded")


def test_question_before_a_turn_dates_its_answer() -> None:
    asks = Turn(1, "What did you do last Saturday?", "Tom", SAID)
    answers = Turn(2, "We went to a play.", "Ines", SAID)
    assert shown(ground_time("2024-05-11", None, "x", SAID, named_times(answers, asks))[0]) == "05-11..05-11"
    tells = Turn(1, "I was home last Saturday.", "Tom", SAID)
    assert named_times(answers, tells) == []
    assert named_times(answers, Turn(1, asks.text, "Tom", SAID, session="other")) == []


@pytest.mark.parametrize(
    ("restatement", "expected"),
    [
        ("Ines moved to Oslo on 14 May 2024.", "05-14..05-14"),
        ("Ines moved to Oslo yesterday.", "05-14..05-14"),
        ("Ines moved to Oslo in May 2024.", "05-01..05-31"),
        ("Ines moved to Oslo on 2 May 2024.", EMPTY),
        ("Ines moved to Oslo.", EMPTY),
    ],
)
def test_restatement_points_where_the_reply_gives_no_time(restatement: str, expected: str | None) -> None:
    interval, reason = ground("I moved to Oslo yesterday.", None, None, restatement)
    assert (shown(interval), reason) == (expected, None)


DATES = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.dates().map(str),
    st.datetimes().map(lambda at: at.isoformat(timespec="minutes")),
    st.sampled_from(["2024-05-14", "2024-05-01", "9999-12-31", "0001-01-01", "2024-05-14T15:00Z"]),
)
ZONES = st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(["We met yesterday.", "Since 2019", "on 31 December 9999", "now", ""]), DATES, DATES, ZONES)
def test_any_reply_gives_a_sound_time(text: str, start: str | None, end: str | None, zone: timezone) -> None:
    interval, reason = ground(text, start, end, said_at=SAID.astimezone(zone))
    assert interval is None or reason is None
    if interval is not None:
        assert interval.start <= interval.end
