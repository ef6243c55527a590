from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.types import Turn, Windows
from ripple.write.windows import WindowCutter, context_of

START = datetime(2026, 4, 1, 9, tzinfo=UTC)


def turn(number: int, *, session: str = "s", minutes: int | None = None, text: str = "We met.") -> Turn:
    said_at = START + timedelta(minutes=number if minutes is None else minutes)
    return Turn(number, text, speaker="Ana", said_at=said_at, session=session)


def ids(windows: list[list[Turn]]) -> list[list[int]]:
    return [[each.turn_id for each in window] for window in windows]


def test_a_window_takes_the_overlap_from_the_one_before() -> None:
    cutter = WindowCutter(Windows(turns=5, overlap=2))
    turns = [turn(number) for number in range(1, 13)]
    windows = cutter.add(turns)
    # The first has five turns of its own; the next three each, with two shown from before.
    assert ids(windows) == [[1, 2, 3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert [each.turn_id for each in cutter.open_turns] == [12]
    assert [each.turn_id for each in context_of(turns[:5], turns[5], Windows(turns=5, overlap=2))] == [4, 5]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Windows(turns=4, overlap=1), [[1, 2], [3, 4, 5]]),
        (Windows(turns=4, overlap=1, across_sessions=True), [[1, 2, 3, 4]]),
    ],
)
def test_a_window_ends_with_its_session_or_after_a_gap(rule: Windows, expected: list[list[int]]) -> None:
    cutter = WindowCutter(rule)
    windows = cutter.add([turn(1), turn(2), turn(3, session="t"), turn(4, session="t"), turn(5, session="t")])
    windows += cutter.add([turn(6, session="t", minutes=5 + 61)])
    assert ids(windows) == expected


def test_nothing_of_another_session_is_shown_before_a_window() -> None:
    rule = Windows(turns=5, overlap=2)
    assert context_of([turn(1, session="t"), turn(2)], turn(3), rule) == [turn(2)]
    assert context_of([turn(1), turn(2)], turn(3, session="t"), rule) == []
    assert context_of([turn(1), turn(2)], turn(3, minutes=200), rule) == []


def test_a_long_text_ends_a_window() -> None:
    cutter = WindowCutter(Windows(turns=10))
    assert ids(cutter.add([turn(1), turn(2, text="x" * 23_000), turn(3, text="y" * 30_000), turn(4)])) == [[1, 2], [3]]


def test_deleted_turns_leave_the_open_window() -> None:
    cutter = WindowCutter(Windows(turns=3, overlap=0))
    cutter.add([turn(1), turn(2)])
    cutter.forget([1])
    assert ids(cutter.add([turn(3)])) == []
    assert [each.turn_id for each in cutter.close()] == [2, 3]
    assert cutter.close() == []


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 90)), max_size=40),
    st.integers(1, 7),
    st.integers(0, 3),
    st.booleans(),
    st.integers(1, 5),
)
def test_every_turn_is_in_one_window_whatever_the_calls(
    steps: list[tuple[int, int]], turns: int, overlap: int, across: bool, calls: int
) -> None:
    rule = Windows(turns=turns, overlap=min(overlap, turns - 1), across_sessions=across)
    minutes = 0
    stream = []
    for number, (session, gap) in enumerate(steps, 1):
        minutes += gap
        stream.append(turn(number, session=str(session), minutes=minutes))
    whole = WindowCutter(rule)
    expected = [*ids(whole.add(stream)), *ids([whole.close()])]
    pieces = WindowCutter(rule)
    cut: list[list[int]] = []
    for start in range(0, len(stream), calls):
        cut += ids(pieces.add(stream[start : start + calls]))
        pieces = pieces.copy()
    cut += ids([pieces.close()])
    assert cut == expected
    assert [number for window in cut for number in window] == [each.turn_id for each in stream]
    assert all(len(window) <= turns for window in cut)
