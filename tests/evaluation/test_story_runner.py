import json

import pytest
from fake_memory import FakeMemory

from ripple.errors import InvalidInputError
from ripple.evaluation.stories import Story
from ripple.evaluation.story_runner import BUDGET, FIRST, ask_story, run_stories


def story(name, bridge, limit):
    """A chat in which the question's words find E1 and E2, and only E2's word ``seafood`` leads to E3."""
    noise = [f"harbor walk number{n}" for n in range(9)]
    lines = ["try harbor grill", "harbor grill is seafood", limit, *noise]
    messages = tuple({"id": f"m{n}", "speaker": "Ana", "content": line} for n, line in enumerate(lines))
    return Story(name, bridge, messages, "harbor grill dinner", ("m0", "m1", "m2"))


def test_ways_differ_in_what_they_find():
    outcome = ask_story(FakeMemory(), story("one", "word", "cannot have seafood"))
    assert outcome.found == {
        "one_shot": (True, True, False),
        "undirected": (True, True, False),
        "ripple": (True, True, True),
    }


def test_every_way_has_the_budget_of_ten_units():
    memory = FakeMemory()
    ask_story(memory, story("one", "word", "cannot have seafood"))
    assert [(call["expansion"], call["top_k"], call["first"]) for call in memory.calls] == [
        ("none", BUDGET, None),
        ("undirected", BUDGET, FIRST),
        ("targeted", BUDGET, FIRST),
    ]
    assert memory.namespaces == {}


def test_rates_are_given_over_all_and_by_bridge():
    stories = [story(f"word-{n}", "word", "cannot have seafood") for n in range(3)]
    stories.append(story("meaning-1", "meaning", "my throat closes"))
    figures = run_stories(stories, FakeMemory())
    assert figures["stories"] == 4
    assert figures["missing_piece"] == {"one_shot": 0.0, "undirected": 0.0, "ripple": 0.75}
    assert figures["whole_set"]["ripple"] == 0.75
    assert figures["ripple_minus_one_shot"]["difference"] == 0.75
    assert figures["by_bridge"]["word"]["missing_piece"]["ripple"] == 1.0
    assert figures["by_bridge"]["meaning"]["ripple_minus_undirected"]["difference"] == 0.0
    assert figures["missed"] == ["meaning-1"]
    json.dumps(figures)


def test_no_story_is_an_error():
    with pytest.raises(InvalidInputError):
        run_stories([], FakeMemory())
