"""Query cues: names cut where they are names, known people and places, key phrases, time."""

from __future__ import annotations

import gzip
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.language.names import KnownNames
from ripple.read.cues import query_cues
from ripple.types import Cues

PEOPLE = KnownNames(["Melanie", "Caroline", "Ada Moreau", "Will", "李明", "user"]).resolve
PLACES = KnownNames(["Harbor Grill", "Rome", "Target", "New York", "人民公园"]).resolve
NOBODY = KnownNames().resolve


def cues(query: str) -> Cues:
    return query_cues(query, PEOPLE, PLACES)


@pytest.mark.parametrize(
    ("query", "name_free", "participants"),
    [
        ("What did Melanie paint?", "What did paint?", ("Melanie",)),
        ("What is Melanie's favourite song?", "What is favourite song?", ("Melanie",)),
        ("What is Melanie’s song?", "What is song?", ("Melanie",)),
        ("Where did Mel and Caroline meet?", "Where did meet?", ("Melanie", "Caroline")),
        ("Did Caroline, Mel, or Ada sing?", "Did sing?", ("Caroline", "Melanie", "Ada Moreau")),
        ("Caroline, what did you eat?", "what did you eat?", ("Caroline",)),
        ("Who went with Ada Moreau?", "Who went with?", ("Ada Moreau",)),
        ("Is Oscar Melanie's pet?", "Is Oscar pet?", ("Melanie",)),
        ("what did melanie paint?", "what did paint?", ("Melanie",)),
        ("MELANIE?", "MELANIE?", ("Melanie",)),
        ("Will Melanie move?", "Will move?", ("Melanie",)),
        ("Did Will move? Will it rain?", "Did move? Will it rain?", ("Will",)),
        ("What will happen?", "What will happen?", ()),
        ("What does the user like?", "What does the like?", ("user",)),
        ("Can the car melt?", "Can the car melt?", ()),
        ("Caroline", "Caroline", ("Caroline",)),
        ("李明喜欢什么运动?", "喜欢什么运动?", ("李明",)),
        ("", "", ()),
    ],
)
def test_known_names_are_cut_from_the_query(query: str, name_free: str, participants: tuple[str, ...]) -> None:
    found = cues(query)
    assert found.text == query
    assert found.name_free == name_free
    assert found.participants == participants


def test_name_of_somebody_who_never_speaks_stays_in_the_query() -> None:
    people = KnownNames(["Melanie", "Oscar"]).resolve
    found = query_cues(
        "What did Oscar eat at Melanie's?", people, NOBODY, known_speakers=KnownNames(["Melanie"]).resolve
    )
    assert found.participants == ("Oscar", "Melanie")
    assert found.name_free == "What did Oscar eat at?"


@pytest.mark.parametrize(
    ("query", "locations"),
    [
        ("Should we go to Harbor Grill in Rome?", ("Harbor Grill", "Rome")),
        ("did we like harbor grill?", ("Harbor Grill",)),
        ("What was the target?", ()),
        ("What did we buy at Target?", ("Target",)),
        ("Who lives in New York's suburbs?", ("New York",)),
        ("Who lives in Paris?", ()),
        ("我们在人民公园做了什么?", ("人民公园",)),
    ],
)
def test_known_places_are_found(query: str, locations: tuple[str, ...]) -> None:
    assert cues(query).locations == locations


@pytest.mark.parametrize(
    ("query", "keywords"),
    [
        ("What colour is Melanie's new bicycle helmet?", ("colour", "new bicycle helmet")),
        ("How did they meet the old carpenter from Oslo?", ("meet", "old carpenter", "Oslo")),
        ("Where is the wedding ring?", ("wedding ring", "wedding", "ring")),
        ("What is it?", ()),
        ("我参观的那家医院是什么规模?", ("参观", "医院", "规模")),
    ],
)
def test_keywords_are_short_phrases(query: str, keywords: tuple[str, ...]) -> None:
    assert cues(query).keywords == keywords


def test_time_and_question_for_a_time() -> None:
    found = cues("When did Melanie sing in June 2023?")
    assert found.asks_when
    assert found.time is not None
    assert found.time.grain == "month"
    assert cues("What did she sing last week?").time is None
    now = datetime(2024, 5, 15, tzinfo=UTC)
    asked = query_cues("What did she sing last week?", PEOPLE, PLACES, now)
    assert asked.time is not None
    assert asked.time.interval.start == datetime(2024, 5, 6, tzinfo=UTC)


def test_long_query_is_cut() -> None:
    assert len(cues("where is Rome " * 100_000).text) <= 4_096


TOKENS = "Melanie Mel 's and , Caroline Will what Rome ? 李明 人民公园 in 2023"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(TOKENS.split()), max_size=10).map(" ".join)))
def test_any_query_gives_cues(query: str) -> None:
    found = cues(query)
    assert bool(found.name_free) == bool(found.text)
    assert len(found.keywords) <= 6
    assert len(set(found.participants)) == len(found.participants)


LOCOMO = Path(os.environ.get("RIPPLE_DATA", "no-such-folder")) / "locomo" / "locomo_dev.json.gz"


@pytest.mark.skipif(not LOCOMO.is_file(), reason="RIPPLE_DATA names no folder with locomo/")
@pytest.mark.parametrize("is_exact", [False, True], ids=["known names", "full names only"])
def test_every_name_and_short_form_of_the_speakers_is_cut_from_the_questions(is_exact: bool) -> None:
    short = {"Melanie": "Mel", "Joanna": "Jo"}
    missed = []
    for conversation in json.loads(gzip.decompress(LOCOMO.read_bytes())):
        speakers = [conversation["conversation"][key] for key in ("speaker_a", "speaker_b")]
        known = KnownNames(speakers)
        for question in (qa["question"] for qa in conversation["qa"]):
            found = query_cues(question, known.exact if is_exact else known.resolve, NOBODY)
            for speaker in speakers:
                name = re.compile(rf"\b(?:{speaker}|{short.get(speaker, speaker)})\b", re.IGNORECASE)
                is_named = name.search(question) is not None
                if name.search(found.name_free) is not None or is_named != (speaker in found.participants):
                    missed.append((question, found.name_free))
    assert missed == []
