"""Rule extraction: one unit a turn, grounded people, places and time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.language.names import KnownNames
from ripple.types import Turn, UnitDraft
from ripple.write.extraction import extract_rules

SAID = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)


def unit(text: str, speaker: str | None = "Ines", known: tuple[str, ...] = (), **fields: object) -> UnitDraft:
    (draft,) = extract_rules([Turn(7, text, speaker, SAID, **fields)], known)  # type: ignore[arg-type]
    return draft


def dialogue(*lines: tuple[str, str]) -> list[UnitDraft]:
    return extract_rules([Turn(n, text, speaker, SAID, session="s1") for n, (speaker, text) in enumerate(lines, 1)])


def test_unit_names_speaker_and_cites_turn() -> None:
    draft = unit("  We met Tom Baker\n in Rome yesterday. ")
    assert draft.text == "Ines: We met Tom Baker in Rome yesterday."
    assert draft.content == "We met Tom Baker in Rome yesterday."
    assert draft.speaker == "Ines"
    assert draft.participants == ("Ines", "Tom Baker")
    assert draft.locations == ("Rome",)
    assert draft.time is not None
    assert draft.time.start == datetime(2024, 5, 14, tzinfo=UTC)
    assert draft.said_at == SAID
    assert draft.turn_ids == (7,)
    assert draft.has_time_word
    assert not draft.is_question


@pytest.mark.parametrize("text", ["", "  \n\t", "\x00\x01", "\u200b\u202e"])
def test_turn_that_says_nothing_gives_no_unit(text: str) -> None:
    assert extract_rules([Turn(1, text, "Ines", SAID)]) == []


def test_turn_without_speaker_has_no_participant_of_its_own() -> None:
    draft = unit("It rained.", speaker=None)
    assert (draft.text, draft.speaker, draft.participants) == ("It rained.", None, ())


def test_role_is_a_label() -> None:
    draft = unit("I like figs.", speaker="user")
    assert (draft.text, draft.participants) == ("user: I like figs.", ("user",))


def test_alias_becomes_the_known_participant() -> None:
    draft = unit("I saw Mel and Moreau.", known=("Melanie", "Ada Moreau"))
    assert draft.participants == ("Ines", "Melanie", "Ada Moreau")


def test_look_up_of_known_names_may_be_a_callable() -> None:
    turns = [Turn(1, "I saw Mel.", "Ines", SAID)]
    assert extract_rules(turns, KnownNames(["Melanie"]).resolve) == extract_rules(turns, ["Melanie"])


def test_person_who_is_only_called_is_no_participant() -> None:
    first, second, third = dialogue(
        ("Ines", "Hey Melanie! It rained."),
        ("Melanie", "Thanks, Ines. Wow."),
        ("Ines", "Melanie's garden needs it, Mel loves rain."),
    )
    assert first.participants == ("Ines",)
    assert second.participants == ("Melanie",)
    assert third.participants == ("Ines", "Melanie")


def test_you_is_the_other_of_two_speakers_where_a_fact_is_stated() -> None:
    stated, asked, flattered, _ = dialogue(
        ("Ines", "You told me about the fire."),
        ("Ines", "Is your sister well?"),
        ("Ines", "You are amazing, thank you."),
        ("Melanie", "Sure."),
    )
    assert stated.participants == ("Ines", "Melanie")
    assert asked.participants == ("Ines",)
    assert flattered.participants == ("Ines",)


def test_you_among_three_is_nobody() -> None:
    drafts = dialogue(("Ines", "You told me about the fire."), ("Melanie", "Yes."), ("Tom", "No."))
    assert drafts[0].participants == ("Ines",)


def test_name_and_family_name_of_one_unit_are_one_person() -> None:
    assert unit("Tom Baker called. Tom is fine.").participants == ("Ines", "Tom Baker")


def test_place_of_the_metadata_is_a_location() -> None:
    assert unit("It rained.", metadata={"place": "Oslo", "mood": "low"}).locations == ("Oslo",)
    assert unit("下雨了。", metadata={"place": "江苏南京"}).locations == ("江苏", "南京")
    assert unit("It rained.", metadata={"place": 7}).locations == ()


def test_chinese_turn() -> None:
    draft = unit("我的同事王芳上周五在人民公园跑步。", speaker="李明")
    assert draft.participants == ("李明", "王芳")
    assert draft.locations == ("人民公园",)
    assert draft.time is not None
    assert draft.time.start == datetime(2024, 5, 10, tzinfo=UTC)


def test_relative_date_without_timestamp_stays_open() -> None:
    (draft,) = extract_rules([Turn(1, "We met yesterday.", "Ines")])
    assert draft.time is None
    assert draft.has_time_word
    assert draft.said_at is None


def test_long_turn_makes_several_units_that_cite_it() -> None:
    text = " ".join(f"Sentence number {n} says a little." for n in range(600))
    drafts = extract_rules([Turn(3, text, "assistant", SAID)])
    assert len(drafts) > 1
    assert all(draft.turn_ids == (3,) and len(draft.content) <= 8_000 for draft in drafts)
    assert " ".join(draft.content for draft in drafts) == text


def test_ten_thousand_names_are_cut_to_a_bounded_number() -> None:
    draft = unit(" and ".join(f"Mr. Q{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(120)))
    assert len(draft.participants) == 64


TOKENS = "Ines Mel you your told me Rome in . ? ! yesterday 我 在 上海 昨天 \x00 \u200b"
TEXTS = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(TOKENS.split(" ")), max_size=15).map(" ".join))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(TEXTS, st.sampled_from([None, "Ines", "Melanie", "user", "\x00", "李明"])), max_size=4))
def test_any_turns_give_sound_units(lines: list[tuple[str, str | None]]) -> None:
    turns = [Turn(n, text, speaker, SAID) for n, (text, speaker) in enumerate(lines)]
    for draft in extract_rules(turns, ["Melanie"]):
        assert draft.content
        assert draft.content == " ".join(draft.content.split())
        assert draft.text.endswith(draft.content)
        assert len(set(draft.participants)) == len(draft.participants)
        if draft.speaker is not None:
            assert draft.participants[0] == draft.speaker
