"""The gate: small talk and repeats cost no call; whatever may answer or tell something is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.types import Turn
from ripple.write.gate import reason_to_skip

SAID = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)
TOLD = Turn(1, "We moved to Oslo.", "Roberta", SAID)
ASKED = Turn(1, "Shall we get married in June?", "Roberta", SAID)


def turn(text: str, speaker: str | None = "Ines", said_at: datetime | None = SAID) -> Turn:
    return Turn(9, text, speaker, said_at)


@pytest.mark.parametrize("text", ["", " \n", "\x00", "\u200b\u202e"])
def test_blank_turn_is_empty(text: str) -> None:
    assert reason_to_skip(turn(text), [ASKED]) == "empty"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Hey Roberta! Good to see you! How have you been?",
            "Hi Rob",
            "ok thanks",
            "Okay, got it!",
            "Wow, that's so cool!",
        ),
        *(
            "Thaaanks sooo much :)",
            "Hahaha",
            "Bye Roberta, take care!",
            "You too, have a great day!",
            "👍",
            "...",
            "Nice!",
        ),
        *("You’re welcome", "谢谢你！", "好的，收到", "哈哈哈", "Muchas gracias", "Merci beaucoup !", "Danke schön"),
    ],
)
def test_small_talk_is_skipped(text: str) -> None:
    assert reason_to_skip(turn(text), [TOLD]) == "small_talk"


@pytest.mark.parametrize(
    "text",
    [
        *("Yes!", "No, thanks.", "Sure!", "Agreed.", "I can't wait!", "好", "可以", "Oui", "Me too"),
        *(
            "Thanks, Tom told me.",
            "Great, 7 pm then.",
            "Hi, I'm vegan.",
            "Wow, a dog!",
            "Ok, Friday.",
            "Thanks for the book!",
        ),
        *("Good morning! I got the job.", "早上好，我到上海了", "Привет", "I hate it", "no", "Cool, Kyoto!"),
    ],
)
def test_whatever_may_tell_something_is_kept(text: str) -> None:
    assert reason_to_skip(turn(text), [TOLD]) is None


@pytest.mark.parametrize("text", ["Great!", "Ok", "👍", "No problem", "Morning", "Later!", "Wonderful, cool", "好的"])
def test_acknowledgement_may_answer_a_question(text: str) -> None:
    assert reason_to_skip(turn(text), [TOLD, ASKED]) is None
    assert reason_to_skip(turn(text), [ASKED, TOLD]) == "small_talk"


def test_own_question_is_not_answered_by_oneself() -> None:
    assert reason_to_skip(turn("Ok", speaker="Roberta"), [ASKED]) == "small_talk"


def test_greeting_behind_a_question_is_skipped() -> None:
    assert reason_to_skip(turn("Hey Roberta, thanks!"), [ASKED]) == "small_talk"


def test_name_of_nobody_present_is_kept() -> None:
    assert reason_to_skip(turn("Thanks, Kenji!"), [TOLD]) is None


def test_long_small_talk_is_kept() -> None:
    assert reason_to_skip(turn("Thanks! " * 40)) is None


@pytest.mark.parametrize(
    ("text", "speaker", "gap", "expected"),
    [
        ("we moved to  Oslo!!", "roberta", timedelta(hours=24), "repeat"),
        ("We moved to Oslo.", "Roberta", timedelta(hours=24, seconds=1), None),
        ("We moved to Oslo.", "Ines", timedelta(hours=1), None),
        ("We moved to Bergen.", "Roberta", timedelta(hours=1), None),
        ("We never moved to Oslo.", "Roberta", timedelta(hours=1), None),
        ("We moved to Oslo?", "Roberta", timedelta(hours=1), None),
    ],
)
def test_same_words_of_the_same_speaker_within_a_day_are_a_repeat(
    text: str, speaker: str, gap: timedelta, expected: str | None
) -> None:
    other = Turn(5, "I see a ship.", "Ines", SAID)
    assert reason_to_skip(turn(text, speaker, SAID + gap), [TOLD, other]) == expected


@pytest.mark.parametrize(("one", "other"), [("I owe Tom 1000.", "I owe Tom 10000."), ("It is -5 here", "It is 5 here")])
def test_other_number_is_no_repeat(one: str, other: str) -> None:
    assert reason_to_skip(turn(one), [turn(other)]) is None


def test_repeat_is_judged_by_dates_of_both_or_of_neither() -> None:
    undated = Turn(1, "We moved to Oslo.", "Roberta")
    assert reason_to_skip(turn("We moved to Oslo.", "Roberta", None), [undated]) == "repeat"
    assert reason_to_skip(turn("We moved to Oslo.", "Roberta"), [undated]) is None


def test_same_short_answer_to_another_question_is_kept() -> None:
    earlier = turn("Two weeks.")
    assert reason_to_skip(turn("Two weeks."), [earlier, ASKED]) is None
    assert reason_to_skip(turn("Two weeks."), [earlier, TOLD]) == "repeat"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.text(max_size=30), st.sampled_from([None, "", "Ines", "王"])), min_size=1, max_size=4))
def test_any_turns_get_a_reason_or_none(lines: list[tuple[str, str | None]]) -> None:
    turns = [turn(text, speaker) for text, speaker in lines]
    reason = reason_to_skip(turns[-1], turns[:-1])
    assert reason in (None, "empty", "small_talk", "repeat")
    assert reason_to_skip(turn("Ada has 3 cats", None), turns) is None
