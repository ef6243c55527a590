import json
import re
from datetime import datetime, timedelta
from importlib.resources import files
from itertools import combinations, product

import pytest

from ripple.errors import InvalidInputError
from ripple.evaluation.stories import generate_stories, sample_sentences

TEXTS = json.loads(files("ripple").joinpath("data/stories.json").read_text("utf-8"))
TEMPLATES = TEXTS["templates"]
_FUNCTION_WORDS = """
a about after again all alone already also always am an and another any anymore anyone anything are
around as at away be because been before being both but by can cannot could did do does down either
else even ever every everyone for from had has have having he her here his how i if in into is it
its just last least less like me more most much my never no nobody not nothing now of off on once
one only or other our out over own per right same shall she should since so some somebody something
such than that the their them then there these they this those through till to too under until up us
very was we were what whatever when where whether which while who whom whose why will with without
would you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


def stems(text, *, without=()):
    """Content words cut short; crude on purpose, so that it finds more kinship than a real stemmer."""
    for name in without:
        text = text.replace(name, " ")
    words = set(re.findall(r"[^\W\d_]+", text.lower().replace("'s", " "))) - FUNCTION_WORDS
    return {re.sub(r"(ing|ed|ies|es|s|ly|er|e|y)$", "", word) for word in words if len(word) > 1}


def wordings(template, key):
    fills = {"tipper": "Qqtipper", "person": "Qqperson"}
    return [(line.format(x=x, **fills), x) for line, x in product(template[key], template["x"])]


@pytest.fixture(scope="module")
def stories():
    return generate_stories(len(TEMPLATES) + 20)


def by_id(story):
    return {message["id"]: message for message in story.messages}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template["name"])
def test_the_limit_shares_no_content_word_with_the_question(template):
    for key in ("limit_self", "limit_other"):
        for (limit, _), (question, _) in product(wordings(template, key), wordings(template, "question")):
            names = ("Qqtipper", "Qqperson")
            assert not stems(limit, without=names) & stems(question, without=names), (limit, question)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template["name"])
def test_kind_and_limit_are_bridged_as_the_template_says(template):
    for key in ("limit_self", "limit_other"):
        for (kind, x), (limit, _) in product(wordings(template, "kind"), wordings(template, key)):
            shared = stems(kind, without=("Qqperson", x)) & stems(limit, without=("Qqperson", x))
            if template["bridge"] == "word":
                assert stems(template["shared"]) <= shared, (kind, limit)
            else:
                assert not shared, (kind, limit)


def test_at_least_forty_templates_two_thirds_bridged_by_a_word():
    words = sum(template["bridge"] == "word" for template in TEMPLATES)
    assert len(TEMPLATES) >= 40
    assert 0.6 <= words / len(TEMPLATES) <= 0.72
    assert 0.6 <= sum(story.bridge == "word" for story in generate_stories()) / 40 <= 0.72


def test_first_story_is_the_demo_whatever_the_seed():
    for seed in (1, 2, 7):
        (story,) = generate_stories(1, seed=seed)
        assert story.question == "Should we follow Sam's tip and take Maya to Harbor Grill?"
        first, second, third = (by_id(story)[name] for name in story.evidence)
        assert (first["speaker"], first["content"]) == ("Sam", "You two should try Harbor Grill for dinner.")
        assert "seafood place" in second["content"]
        assert third["content"].startswith("Maya is allergic to seafood")
        assert first["timestamp"] < second["timestamp"] < third["timestamp"]


def test_evidence_lies_in_three_sessions_two_weeks_apart(stories):
    for story in stories:
        pieces = [by_id(story)[name] for name in story.evidence]
        assert len({piece["session"] for piece in pieces}) == 3
        for one, other in combinations(pieces, 2):
            gap = datetime.fromisoformat(one["timestamp"]) - datetime.fromisoformat(other["timestamp"])
            assert abs(gap) >= timedelta(days=13), story.name  # 14 days from day to day, less by the hour


def test_a_story_is_a_chat_of_about_eighty_turns_in_order(stories):
    for story in stories:
        assert 70 <= len(story.messages) <= 92
        assert 3 <= len({message["speaker"] for message in story.messages}) <= 5
        assert len({message["session"] for message in story.messages}) >= 7
        assert len(by_id(story)) == len(story.messages)
        times = [datetime.fromisoformat(message["timestamp"]) for message in story.messages]
        assert times == sorted(times)
        assert times[0].tzinfo is not None
        assert not any(re.search(r"[{}]", message["content"]) for message in story.messages)


def test_the_person_of_the_limit_is_busy_everywhere(stories):
    for story in stories:
        spoken = [f"{message['speaker']}: {message['content']}" for message in story.messages]
        person = next(name for name in TEXTS["names"] if _is_person(story, name))
        assert sum(person in line for line in spoken) >= 15, story.name


def _is_person(story, name):
    limit = by_id(story)[story.evidence[2]]
    tipper = by_id(story)[story.evidence[0]]["speaker"]
    return name != tipper and name in story.question and name in f"{limit['speaker']}: {limit['content']}"


def test_the_shared_word_stays_rare(stories):
    for story, template in zip(stories, TEMPLATES * 2, strict=False):
        if template["bridge"] == "word":
            stem = stems(template["shared"])
            holders = [message["id"] for message in story.messages if stem <= stems(message["content"])]
            assert set(story.evidence[1:]) <= set(holders)
            assert len(holders) <= 6, story.name


def test_stories_differ_in_name_cast_and_place_of_the_evidence(stories):
    assert len({story.name for story in stories}) == len(stories)
    casts = [frozenset(message["speaker"] for message in story.messages) for story in stories]
    assert len(set(casts)) == len(stories)
    assert len({story.evidence[2] for story in stories}) > 10
    orders = {
        tuple(sorted(story.evidence, key=list(by_id(story)).index).index(name) for name in story.evidence)
        for story in stories
    }
    assert len(orders) == 6


def test_both_the_person_and_others_tell_the_limit(stories):
    by_person = [_is_person(story, by_id(story)[story.evidence[2]]["speaker"]) for story in stories]
    assert 0.25 < sum(by_person) / len(by_person) < 0.75


def test_seed_decides_and_count_only_cuts():
    assert generate_stories(6, seed=3) == generate_stories(9, seed=3)[:6]
    assert generate_stories(6, seed=3) != generate_stories(6, seed=4)
    with pytest.raises(InvalidInputError, match="count"):
        generate_stories(0)


def test_sample_sentences_are_many_and_single():
    sentences = sample_sentences(3)
    assert 600 <= len(sentences) <= 1000
    assert len(set(sentences)) == len(sentences)
    assert sentences == sample_sentences(3)
    assert not any(re.search(r"[{}\n]", sentence) for sentence in sentences)


def test_the_packaged_sample_is_that_of_the_texts():
    sample = files("ripple").joinpath("data/calibration_sample.txt").read_text("utf-8").splitlines()
    assert len(set(sample)) == len(sample) == len(sample_sentences(3))
    assert "I'm allergic to seafood, so the office buffet was mostly bread for me." in sample
