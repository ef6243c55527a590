"""Names in text: each rule by example, a hand-written set for precision and recall, and any text at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.language.mentions import find_names
from ripple.language.names import KnownNames

KNOWN = ["Ines", "Bartholomew"]

# (turn, persons, places): written for this test before the rules were run on them.
TURNS: list[tuple[str, list[str], list[str]]] = [
    ("Hey Ines, how was Lisbon?", ["Ines"], ["Lisbon"]),
    ("My cousin Teodoro just opened a bakery in Porto.", ["Teodoro"], ["Porto"]),
    ("We had dinner at Blue Lantern Bistro with Priya and Tom.", ["Priya", "Tom"], ["Blue Lantern Bistro"]),
    ("Dr. Okafor says I should rest for two weeks.", ["Dr. Okafor"], []),
    ("I finally finished reading Middlemarch last night!", [], []),
    ("Bart and I drove to Lake Constance on Sunday.", ["Bart"], ["Lake Constance"]),
    ("Have you ever been to Japan? I want to see Kyoto in spring.", [], ["Japan", "Kyoto"]),
    ("Grace's recital is on Friday at the Opera House.", ["Grace"], ["Opera House"]),
    ("Thanks for the tip, I'll ask Mr. Lindqvist tomorrow.", ["Mr. Lindqvist"], []),
    ("Sofia moved from Bucharest to Cluj with her brother Radu.", ["Sofia", "Radu"], ["Bucharest", "Cluj"]),
    ("Will you pick up the cake in May or June?", [], []),
    ("I met Will at the gym and he introduced me to Dana.", ["Will", "Dana"], []),
    ("Our dog Biscuit hates the vet.", ["Biscuit"], []),
    ("She works at Northwind and lives near Battersea Park.", [], ["Northwind", "Battersea Park"]),
    ("Marie Curie was my hero when I was in school.", ["Marie Curie"], []),
    ("The concert in Madison Square Garden was sold out.", [], ["Madison Square Garden"]),
    ("Honestly, Python is easier than Java.", [], []),
    ("He flew back from Nairobi with Wanjiku yesterday.", ["Wanjiku"], ["Nairobi"]),
    ("Happy birthday, Aunt Rosa! See you in Seville.", ["Aunt Rosa"], ["Seville"]),
    ("I learned English from watching Friends on Netflix.", [], []),
    ("Ludwig van Beethoven was born in Bonn.", ["Ludwig van Beethoven"], ["Bonn"]),
    (
        "Let's visit Saint Mary Cathedral and then Riverside Market.",
        [],
        ["Saint Mary Cathedral", "Riverside Market"],
    ),
    ("Jordan is meeting us in Jordan, isn't that funny?", ["Jordan"], ["Jordan"]),
    ("My boss, Hiroshi Tanaka, signed the papers.", ["Hiroshi Tanaka"], []),
    ("I signed up for a course at Stanford University.", [], ["Stanford University"]),
    ("Austin is hot in August.", [], ["Austin"]),
    ("Chloe, can you bring the tent to Yosemite?", ["Chloe"], ["Yosemite"]),
    ("No idea what to cook tonight.", [], []),
    ("We went hiking around Mount Rainier with the kids.", [], ["Mount Rainier"]),
    ("Paolo's sister Ginevra studies in New York City.", ["Paolo", "Ginevra"], ["New York City"]),
    ("The Smiths are coming over on Christmas Eve.", [], []),
    ("I called Mom and Dad from the airport.", [], []),
    ("He left Texas for Oregon in 2019.", [], ["Texas", "Oregon"]),
    ("Fatima and Ahmed got married in Casablanca.", ["Fatima", "Ahmed"], ["Casablanca"]),
    ("You should try Golden Phoenix Restaurant, Mei loves it.", ["Mei"], ["Golden Phoenix Restaurant"]),
    ("Ask Alexa to play some jazz.", ["Alexa"], []),
    ("Next week I start at Helsinki Central Library.", [], ["Helsinki Central Library"]),
    ("It rained all day, so we stayed home.", [], []),
    ("昨天我和李晓明在人民公园散步。", ["李晓明"], ["人民公园"]),
    ("我的同事王芳下个月要去广州出差。", ["王芳"], ["广州"]),
    ("周末想去苏州玩,你有空吗?", [], ["苏州"]),
    ("张老师说他在复旦大学教书。", ["张老师"], ["复旦大学"]),
    ("陈建国是我的邻居,他老家在四川成都。", ["陈建国"], ["四川", "成都"]),
    ("最近工作很忙,没有时间休息。", [], []),
]


def f1(kind: str) -> tuple[float, list[str]]:
    hits = wanted_count = found_count = 0
    misses = []
    for text, persons, locations in TURNS:
        wanted = set(persons if kind == "person" else locations)
        found = {mention.text for mention in find_names(text, KNOWN) if mention.kind == kind}
        hits += len(wanted & found)
        wanted_count += len(wanted)
        found_count += len(found)
        if wanted != found:
            misses.append(f"{text} wanted {sorted(wanted)} found {sorted(found)}")
    return 2 * hits / (wanted_count + found_count), misses


# Measured: persons .90 and places .91 at first; .97 and .98 once the rules it showed wrong were mended.
@pytest.mark.parametrize(("kind", "floor"), [("person", 0.9), ("place", 0.9)])
def test_precision_and_recall_on_written_turns(kind: str, floor: float) -> None:
    reached, misses = f1(kind)
    assert len(TURNS) >= 40
    assert reached >= floor, misses


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # known participants, their short forms and possessives
        ("hello Ines's friend", [("Ines", "person")]),
        ("Bart was late.", [("Bart", "person")]),
        ("Is Oscar Ines's cat?", [("Oscar", "person"), ("Ines", "person")]),
        # a capital at the start of a sentence proves nothing
        ("Thanks! Exploring Rivers is fun. Oh Well.", []),
        ("Will you come? May I? Hope so.", []),
        ("I met Will and Hope in May.", [("Will", "person"), ("Hope", "person")]),
        # family names, particles, titles, relations
        ("I called Ursula von der Leyen.", [("Ursula von der Leyen", "person")]),
        ("my neighbor Xylo and a dog named Qix", [("Xylo", "person"), ("Qix", "person")]),
        ("Uncle Vanya wept", [("Uncle Vanya", "person")]),
        # places need a list, a kind, or a word that puts something there
        ("You two should try Harbor Grill.", [("Harbor Grill", "place")]),
        ("The Harbor Grill is closed.", [("Harbor Grill", "place")]),
        ("She said Woodhaven is nice, and she lives in Woodhaven.", [("Woodhaven", "place")]),
        ("I emailed Acme and then drove to Acme.", [("Acme", "place")]),
        ("We talked to Google about Chrome in English.", []),
        ("from Oslo to Rome", [("Oslo", "place"), ("Rome", "place")]),
        ("the University of Oslo in Norway", [("Oslo", "place"), ("Norway", "place")]),
        # titles of works
        ('I read "Charlotte\'s Garden" again.', []),
        # Chinese
        ("姓名是刘梓涵的人", [("刘梓涵", "person")]),
        ("高兴的时候很安静", []),
        ("我在上海市遇见了小王", [("上海市", "place"), ("小王", "person")]),
        ("王总是迟到", []),
    ],
)
def test_rule(text: str, names: list[tuple[str, str]]) -> None:
    assert [(mention.text, mention.kind) for mention in find_names(text, KNOWN)] == names


def test_known_chinese_name_is_found_without_spaces_around() -> None:
    assert [m.text for m in find_names("今天请阿依古丽吃饭", ["阿依古丽"])] == ["阿依古丽"]


ANY = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                "Ines",
                "Will",
                "The",
                "Rome",
                "of",
                "Park",
                "Dr.",
                "'s",
                "’",
                "I",
                "王",
                "在",
                "公园",
                ".",
                "Bart",
            ]
        ),
        max_size=12,
    ).map(" ".join),
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(ANY)
def test_any_text_gives_ordered_mentions_that_do_not_overlap(text: str) -> None:
    end = 0
    for mention in find_names(text, KnownNames(KNOWN)):
        assert end <= mention.start_char < mention.end_char <= len(text)
        assert text[mention.start_char : mention.end_char] == mention.text
        assert mention.kind in ("person", "place")
        end = mention.end_char
