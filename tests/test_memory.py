"""The public verbs: what is written is found, what is deleted is gone, and a failure leaves nothing half done."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubles import FaultyEmbedder, HashEmbedder
from ripple import Memory, _namespace
from ripple._engine import NamespaceEngine
from ripple.errors import (
    ConfigError,
    EmbeddingError,
    InvalidInputError,
    ReadOnlyError,
    StoreClosedError,
    StoreError,
    StoreLockedError,
    UnitNotFoundError,
)
from ripple.read.context import Recall
from ripple.store import Record
from ripple.types import Evidence, Filter

OpenStore = Callable[..., Memory]
NOON = datetime(2026, 4, 23, 12, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)

HARBOR_GRILL = [
    {
        "speaker": "Sam",
        "content": "You two should try Harbor Grill for dinner.",
        "timestamp": "2026-04-23T19:05:00+02:00",
    },
    {
        "speaker": "Lea",
        "content": "Harbor Grill is the seafood place by the pier.",
        "timestamp": "2026-04-24T10:00:00+02:00",
    },
    {"speaker": "Maya", "content": "I am allergic to seafood.", "timestamp": "2026-03-01T10:00:00+01:00"},
    {"speaker": "Tom", "content": "My bicycle has a flat tyre again.", "timestamp": "2026-03-02T10:00:00+01:00"},
]


def said(text: str, at: datetime | None = None, speaker: str | None = "Ana", **fields: Any) -> dict[str, Any]:
    return {"content": text, "speaker": speaker, "timestamp": at, **fields}


def shown(evidence: Recall | list[Evidence]) -> list[tuple[Any, ...]]:
    """Everything of the evidence that a caller can see."""
    found = evidence.evidence if isinstance(evidence, Recall) else evidence
    return [
        (e.unit_id, e.text, e.score, sorted(e.parts.items()), e.found_by, e.sources, e.said_at, e.time, e.hop, e.via)
        for e in found
    ]


def ids(evidence: Recall | list[Evidence]) -> set[int]:
    return {row[0] for row in shown(evidence)}


def texts(memory: Memory, **where: Any) -> list[str]:
    return [unit.text for unit in memory.get_all(**where)]


# --- add and recall ---


def test_example_of_the_readme(memory: Memory) -> None:
    added = memory.add(HARBOR_GRILL, namespace="maya-trip")
    assert added.turn_ids == added.unit_ids == (1, 2, 3, 4)
    assert added.decisions["add"] == 4
    recall = memory.recall("Should we follow Sam's tip and take Maya to Harbor Grill?", namespace="maya-trip")
    assert {1, 2, 3} <= ids(recall)
    first = next(evidence for evidence in recall.evidence if evidence.unit_id == 1)
    assert first.text == "Sam: You two should try Harbor Grill for dinner."
    assert first.sources[0].text == HARBOR_GRILL[0]["content"]
    assert first.said_at == datetime(2026, 4, 23, 17, 5, tzinfo=UTC)
    assert first.said_at.utcoffset() == timedelta(hours=2)
    assert "Harbor Grill" in recall.explain()
    assert '"Maya: I am allergic to seafood."' in recall.context(max_tokens=1500)


def test_evidence_is_ordered_and_its_score_is_the_sum_of_its_parts(memory: Memory) -> None:
    memory.add(HARBOR_GRILL)
    recall = memory.recall("Is Harbor Grill a seafood place for Maya?")
    order = [(-evidence.score, evidence.unit_id) for evidence in recall.evidence]
    assert order == sorted(order)
    for evidence in recall.evidence:
        assert evidence.found_by
        assert sum(evidence.parts.values()) == pytest.approx(evidence.score, abs=1e-4)  # float32 terms


def test_search_is_recall_without_expansion(memory: Memory) -> None:
    memory.add(HARBOR_GRILL)
    query = "Who is allergic to seafood?"
    assert shown(memory.search(query, top_k=3)) == shown(memory.recall(query, top_k=3, expansion="none"))
    assert memory.search(query)[0].unit_id == 3


def test_top_k_bounds_the_evidence_and_more_than_there_is_gives_all(memory: Memory) -> None:
    memory.add([said(f"The garden grew {n} tomatoes.", NOON + n * DAY) for n in range(150)])
    assert len(memory.search("tomatoes of the garden", top_k=7)) == 7
    assert len(memory.search("tomatoes of the garden", top_k=150)) == 150
    assert len(memory.recall("tomatoes of the garden", top_k=10_000).evidence) == 150


def test_same_id_and_text_is_taken_once(memory: Memory) -> None:
    first = memory.add([said("I like figs.", NOON, id="m1")])
    again = memory.add([said("I like figs.", NOON, id="m1"), said("I like plums.", NOON, id="m2")])
    assert again.turn_ids == (*first.turn_ids, 2)
    assert again.repeated == 1
    assert memory.stats().turns == memory.stats().units == 2
    assert len(memory.get(1).sources) == 1


def test_same_id_with_another_text_is_refused_with_nothing_written(memory: Memory) -> None:
    memory.add([said("I like figs.", NOON, id="m1")])
    with pytest.raises(InvalidInputError, match="m1"):
        memory.add([said("I like pears.", NOON, id="m2"), said("I like dates.", NOON, id="m1")])
    with pytest.raises(InvalidInputError, match="m3"):
        memory.add([said("One.", NOON, id="m3"), said("Two.", NOON, id="m3")])
    assert texts(memory) == ["Ana: I like figs."]
    assert memory.stats().turns == 1


@pytest.mark.parametrize("is_stored", [False, True])
def test_conflict_in_a_later_batch_is_refused_with_nothing_written(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, is_stored: bool
) -> None:
    monkeypatch.setattr(_namespace, "WRITE_BATCH", 2)
    memory.add([said("I like figs.", id="stored")])
    earlier = "stored" if is_stored else "m0"
    messages = [said(f"I like tea number {n}.", id=f"m{n}") for n in range(4)]
    with pytest.raises(InvalidInputError, match=f"{earlier}.*another text"):
        memory.add([*messages, said("I like plums.", id=earlier)])
    assert memory.stats().turns == 1
    assert memory.add([*messages, said("I like figs.", id="stored")]).repeated == 1
    assert memory.stats().turns == 5


def test_wrong_message_refuses_the_whole_call(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match=r"messages\[1\]"):
        memory.add([said("I like figs."), said("x", content=None)], namespace="fresh")
    assert memory.namespaces() == []


def test_message_of_a_deleted_id_is_rejected_and_counted(memory: Memory) -> None:
    memory.add([said("I like figs.", NOON, id="m1"), said("I like plums.", NOON, id="m2")])
    memory.delete(1)
    again = memory.add([said("I like figs.", NOON, id="m1")])
    assert (again.rejected, again.turn_ids, again.unit_ids) == (1, (), ())
    assert memory.add([said("I like quinces.", NOON)]).unit_ids == (3,), "unit ids are never used again"


def test_repeat_within_a_day_is_one_unit_with_two_sources(memory: Memory) -> None:
    first = memory.add([said("The code is 4711.", NOON), said("The code is 4711.", NOON + HOUR)])
    later = memory.add([said("the code  is 4711.", NOON + 24 * HOUR)])
    assert first.unit_ids == later.unit_ids == (1,)
    assert later.decisions["merge"] == 1
    assert [source.turn_id for source in memory.get(1).sources] == [1, 2, 3]


def test_repeat_beyond_a_day_is_a_recurrence(memory: Memory) -> None:
    memory.add([said("I went for a run.", NOON)])
    memory.add([said("I went for a run.", NOON + DAY + timedelta(seconds=1))])
    memory.add([said("I went for a run.", NOON + 5 * DAY), said("I went for a run.", NOON + 9 * DAY)])
    assert len(texts(memory)) == 4


def test_repeat_with_the_same_grounded_time_is_one_unit_however_late(memory: Memory) -> None:
    memory.add([said("The wedding is on 3 June 2026.", NOON), said("The wedding is on 3 June 2026.", NOON + 9 * DAY)])
    assert len(texts(memory)) == 1
    assert len(memory.get(1).sources) == 2
    memory.add([said("The wedding is tomorrow.", NOON), said("The wedding is tomorrow.", NOON + 2 * DAY)])
    assert len(texts(memory)) == 3, "the same words mean two days"


def test_repeat_without_times_is_one_unit_and_with_one_time_alone_two(memory: Memory) -> None:
    assert memory.add([said("I like figs."), said("I like figs.")]).unit_ids == (1,)
    assert memory.add([said("I like figs.", NOON)]).unit_ids == (2,)


def test_same_words_of_another_speaker_are_another_unit(memory: Memory) -> None:
    memory.add([said("I am allergic to nuts.", NOON), said("I am allergic to nuts.", NOON, "Bo")])
    assert texts(memory) == ["Ana: I am allergic to nuts.", "Bo: I am allergic to nuts."]


def test_name_of_a_lookalike_alphabet_is_another_name(memory: Memory) -> None:
    memory.add([said("I am allergic to nuts.", NOON, "Maya"), said("I am allergic to nuts.", NOON, "\u041caya")])
    assert len(texts(memory)) == 2
    assert ids(memory.search("nuts", filter=Filter(participants=("MAYA",)))) == {1}


def test_forms_of_one_name_are_one_participant(memory: Memory) -> None:
    memory.add([said("Nuts are bad.", NOON, "Ren\u00e9e"), said("Nuts are fine.", NOON, "RENE\u0301E")])
    assert ids(memory.search("nuts", filter=Filter(participants=("ｒｅｎée",)))) == {1, 2}


def test_messages_out_of_time_order_are_taken(memory: Memory) -> None:
    memory.add([said("Third topic: bread.", NOON + 2 * DAY), said("First topic: salt.", NOON)])
    memory.add([said("Second topic: milk.", NOON + DAY)])
    recall = memory.recall("Which topic?")
    lines = recall.context().splitlines()
    assert [next(word for word in ("salt", "milk", "bread") if word in line) for line in lines[-3:]] == [
        "salt",
        "milk",
        "bread",
    ]
    assert all(np.isfinite(evidence.score) for evidence in recall.evidence)
    assert ids(memory.search("topic", as_of=NOON + DAY)) == {2, 3}


@pytest.mark.parametrize("year", [1, 1400, 2076, 9999])
def test_far_times_are_taken(memory: Memory, year: int) -> None:
    at = datetime(year, 12, 31, 12, tzinfo=UTC)
    memory.add([said("The comet came yesterday, for the first time in 500 years.", NOON)])
    memory.add([said("The comet comes tomorrow, or next year.", at), said("Last week was the comet's.", at)])
    recall = memory.recall("When does the comet come?", now=at)
    assert ids(recall) == {1, 2, 3}
    assert all(np.isfinite(evidence.score) for evidence in recall.evidence)
    assert recall.explain()


def test_session_ends_after_an_hour_and_goes_on_after_reopening(open_store: OpenStore) -> None:
    memory = open_store()
    memory.add([said("Hello there.", NOON), said("How is the garden?", NOON + HOUR)])
    memory.close()
    memory = open_store()
    memory.add([said("The roses are out.", NOON + 2 * HOUR), said("Good night to you.", NOON + 4 * HOUR)])
    names = [unit.session for unit in memory.get_all()]
    assert names == [NOON.isoformat()] * 3 + [(NOON + 4 * HOUR).isoformat()]


@pytest.mark.parametrize("is_reopened", [False, True])
def test_message_without_a_session_joins_none_that_was_named(open_store: OpenStore, is_reopened: bool) -> None:
    memory = open_store()
    minutes = [NOON + timedelta(minutes=n) for n in range(6)]
    calls = [
        [said("The ferry is late.", minutes[0], session="chat-1")],
        [said("Milk is on the list.", minutes[1])],
        [said("The ferry has come.", minutes[2], session="chat-1"), said("Bread is too.", minutes[3])],
        [said("Good night.", minutes[4], session="1-chat"), said("Until then.", None)],
        [said("And eggs.", minutes[5])],
    ]
    for messages in calls:
        memory.add(messages)
        if is_reopened:
            memory.close()
            memory = open_store()
    ours = minutes[1].isoformat()
    assert [unit.session for unit in memory.get_all()] == ["chat-1", ours, "chat-1", ours, "1-chat", "", ours]


def test_conversation_that_is_sent_again_goes_on_in_its_session(open_store: OpenStore) -> None:
    memory = open_store()
    minutes = [said(f"It is {n} minutes past.", NOON + timedelta(minutes=n), id=f"m{n}") for n in (0, 50, 100, 150)]
    memory.add(minutes[:3])
    memory.add([said("A new day.", NOON + DAY)])
    memory.add(minutes[1:])
    first, second = NOON.isoformat(), (NOON + DAY).isoformat()
    assert [unit.session for unit in memory.get_all()] == [first, first, first, second, first]


def test_session_goes_on_after_a_call_that_failed(open_store: OpenStore) -> None:
    embedder = FaultyEmbedder()
    memory = open_store(embedder=embedder)
    embedder.fault = broken
    with pytest.raises(EmbeddingError):
        memory.add([said("The roses are out.", NOON)])
    embedder.fault = None
    memory.add([said("The lilies are not.", NOON + HOUR)])
    assert [unit.session for unit in memory.get_all()] == [NOON.isoformat()] * 2


def test_turn_without_words_is_kept_and_counted(memory: Memory) -> None:
    added = memory.add([said("  ", NOON), said("\x00\u200b", NOON), said("I like figs.", NOON)])
    assert (added.dropped["empty"], len(added.turn_ids), len(added.unit_ids)) == (2, 3, 1)
    assert memory.stats().turns == 3
    assert memory.add("").dropped["empty"] == 1


def test_what_validation_changed_is_counted(memory: Memory) -> None:
    added = memory.add([said("a\ud800 pear", datetime(2026, 1, 1)), {"content": "A fig.", "timestamp": "2026-02-30"}])
    assert added.dropped == {"replaced_surrogates": 1, "naive_time": 1, "invalid_time": 1}


@pytest.mark.parametrize(
    "text",
    [
        "Nul \x00 and bell \x07 inside.",
        "Right \u202e to left, zero\u200bwidth, tag\U000e0041.",
        "שלום עולם, مرحبا بالعالم",
        "我对花生过敏。",
        "Family 👩‍👩‍👧 time",
        "ﷺ" * 1000,
    ],
)
def test_text_comes_back_character_for_character(open_store: OpenStore, text: str) -> None:
    memory = open_store()
    memory.add([said(text, NOON)])
    memory.close()
    (unit,) = open_store().get_all()
    assert unit.sources[0].text == text


def test_text_without_spaces_is_found_by_its_words(memory: Memory) -> None:
    memory.add([said("我对花生过敏。", NOON), said("明天去北京开会。", NOON + DAY)])
    assert memory.search("谁对花生过敏？")[0].unit_id == 1


@pytest.mark.parametrize(
    "text",
    ["x" * 10**6, " ".join(f"w{n}" for n in range(20_000))],
    ids=["one word", "many words"],
)
def test_huge_text_is_written_in_bounded_time(memory: Memory, text: str) -> None:
    started = time.process_time()
    added = memory.add([said(text, NOON)])
    assert time.process_time() - started < 5, "0.3 to 1 s of CPU, on a busy machine"
    assert added.unit_ids
    assert memory.get(1).sources[0].text == text


def test_turn_that_says_the_same_in_many_pieces_is_cited_once(memory: Memory) -> None:
    verse = "Row, row, row your boat, gently down the stream. " * 100
    memory.add([said(verse, NOON)])
    memory.add([said(verse + "Life is but a dream.", NOON + HOUR)])
    for unit in memory.get_all():
        turn_ids = [source.turn_id for source in unit.sources]
        assert turn_ids == sorted(set(turn_ids))


# --- reading ---


@pytest.mark.parametrize(
    "query",
    ["", " ", "\x00", "the of and", "?", "*", '"', "a' OR 1=1 --", "(NEAR", "\ud800", "zzzz qqqq", "[a-z]+"],
)
def test_odd_queries_give_evidence_or_none(memory: Memory, query: str) -> None:
    memory.add(HARBOR_GRILL)
    recall = memory.recall(query)
    assert len(recall.evidence) <= 4
    assert recall.explain()


def test_empty_query_finds_nothing(memory: Memory) -> None:
    memory.add(HARBOR_GRILL)
    recall = memory.recall("")
    assert recall.evidence == ()
    assert not recall.is_supported
    assert recall.context() == ""


def test_huge_query_takes_bounded_time(memory: Memory) -> None:
    memory.add(HARBOR_GRILL)
    started = time.process_time()
    recall = memory.recall("Harbor Grill? " + "seafood allergy of Maya, " * 40_000)
    assert time.process_time() - started < 2
    assert 3 in ids(recall)


def test_unknown_namespace_is_empty_to_readers_and_refused_to_others(memory: Memory) -> None:
    assert memory.recall("figs", namespace="none").evidence == ()
    assert memory.search("figs", namespace="none") == []
    assert list(memory.get_all(namespace="none")) == []
    for call in (memory.get, memory.history, memory.delete):
        with pytest.raises(InvalidInputError, match="no namespace 'none'"):
            call(1, namespace="none")
    assert memory.namespaces() == []


@pytest.mark.parametrize("unit_id", [2, 10**12])
def test_unknown_unit_is_not_found(memory: Memory, unit_id: int) -> None:
    memory.add("I like figs.")
    for call in (memory.get, memory.history, memory.delete):
        with pytest.raises(UnitNotFoundError):
            call(unit_id)
    with pytest.raises(UnitNotFoundError):
        memory.update(unit_id, "I like plums.")
    with pytest.raises(UnitNotFoundError):
        memory.link(1, unit_id)
    assert texts(memory) == ["I like figs."]


def test_neighbours_words_count_while_they_are_there(memory: Memory) -> None:
    def window(query: str = "When is the regatta on the river?") -> float:
        return next(e.parts.get("window", 0.0) for e in memory.search(query) if e.unit_id == 1)

    memory.add([said("It starts at nine on Sunday, bring oars and a hat.", NOON, session="s")])
    memory.add([said("The regatta cake needs flour.", NOON + 9 * DAY, "Bo", session="other")])
    alone = window()
    later = memory.add([said("The river regatta is near the old bridge.", NOON + HOUR, "Bo", session="s")])
    beside = window()
    assert beside > alone + 0.05
    memory.delete(later.unit_ids[0])
    assert window() == pytest.approx(alone, abs=1e-5)  # floats added and subtracted again


# --- filters ---


@pytest.fixture
def filtered(memory: Memory) -> Memory:
    memory.add(
        [
            said("The dinner in Rome was on 3 April 2026.", NOON, "Ana", session="a", metadata={"channel": "mail"}),
            said("The dinner in Oslo was on 9 April 2026.", NOON + DAY, "Bo", session="b", metadata={"channel": 1}),
            said("The dinner was fine.", NOON + 2 * DAY, "Cy", session="c", metadata={"channel": True}),
            said("The dinner was cold.", None, "Ana", session="a"),
        ]
    )
    return memory


APRIL_3 = datetime(2026, 4, 3, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (Filter(), {1, 2, 3, 4}),
        (Filter(session="a"), {1, 4}),
        (Filter(session=("b", "c")), {2, 3}),
        (Filter(session="unknown"), set()),
        (Filter(participants=("ana",)), {1, 4}),
        (Filter(participants=("Bo", "Cy")), {2, 3}),
        (Filter(participants=("Nobody",)), set()),
        (Filter(locations=("ROME",)), {1}),
        (Filter(time=(APRIL_3, APRIL_3)), {1}),
        (Filter(time=(APRIL_3 + DAY, None)), {2}),
        (Filter(time=(None, None)), {1, 2}),
        (Filter(said=(None, NOON)), {1}),
        (Filter(said=(NOON + DAY, NOON + DAY)), {2}),
        (Filter(said=(NOON + timedelta(seconds=1), None)), {2, 3}),
        (Filter(metadata={"channel": "mail"}), {1}),
        (Filter(metadata={"channel": 1}), {2}),
        (Filter(metadata={"channel": "mail", "more": 1}), set()),
        (Filter(ids=(2, 3, 99)), {2, 3}),
        (Filter(participants=("Ana",), said=(NOON, None)), {1}),
        (Filter(ids=(1, 2), session="b"), {2}),
        (Filter(participants=()), set()),
        (Filter(locations=()), set()),
        (Filter(session=()), set()),
        (Filter(ids=()), set()),
    ],
    ids=str,
)
def test_filter_bounds_search_recall_and_forget_alike(filtered: Memory, where: Filter, wanted: set[int]) -> None:
    assert ids(filtered.search("How was the dinner?", filter=where)) == wanted
    assert ids(filtered.recall("How was the dinner?", filter=where)) == wanted
    if where != Filter():
        assert filtered.forget(where, dry_run=True).units == len(wanted)


def test_as_of_leaves_out_what_was_said_later_or_at_no_known_time(filtered: Memory) -> None:
    assert ids(filtered.recall("dinner", as_of=NOON + DAY)) == {1, 2}
    assert ids(filtered.recall("dinner", as_of=NOON - DAY)) == set()
    assert ids(filtered.search("dinner", as_of=NOON + DAY, filter=Filter(said=(NOON + DAY, None)))) == {2}


@pytest.mark.parametrize(
    "wrong",
    [
        {"top_k": 0},
        {"first": 31},
        {"filter": {"session": "a"}},
        {"filter": Filter(participants="Ana")},  # type: ignore[arg-type]
        {"filter": Filter(said=(datetime(2026, 1, 1), None))},
        {"as_of": datetime(2026, 1, 1)},
        {"now": "today"},
        {"expansion": "all"},
        {"namespace": ""},
    ],
    ids=str,
)
def test_wrong_argument_is_refused_by_recall(filtered: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        filtered.recall("dinner", **wrong)


# --- update, link, history ---


def test_update_supersedes_and_both_stay_findable(memory: Memory) -> None:
    memory.add([said("The meeting is at two o'clock.", NOON)])
    assert memory.update(1, "The meeting is at three o'clock.") == 2
    old, new = memory.history(1)
    assert memory.history(2) == [old, new]
    assert (old.status, old.superseded_by, new.status) == ("superseded", 2, "current")
    assert new.text == "Ana: The meeting is at three o'clock."
    assert new.sources == old.sources
    assert ids(memory.search("When is the meeting?")) == {1, 2}
    assert ids(memory.search("When is the meeting?", include_superseded=False)) == {2}


def test_update_is_one_change(open_store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = open_store()
    memory.add([said("The meeting is at two o'clock.", NOON)])
    before = memory.opened.record.sequence

    def lose(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(NamespaceEngine, "stage_link", lose)
        with pytest.raises(KeyboardInterrupt):
            memory.update(1, "The meeting is at three o'clock.")
    assert (memory.get(1).status, texts(memory)) == ("current", ["Ana: The meeting is at two o'clock."])
    assert ids(memory.search("When is the meeting?")) == {1}
    new = memory.update(1, "The meeting is at four o'clock.")
    assert memory.opened.record.sequence == before + 1
    assert memory.get(1).superseded_by == new
    assert ids(memory.search("When is the meeting?", include_superseded=False)) == {new}
    edges = memory.stats().edges
    memory.close()
    memory = open_store()
    assert memory.history(1) == [memory.get(1), memory.get(new)]
    assert memory.stats().edges == edges
    assert memory.verify(deep=True) == []


def test_states_survive_reopening_and_deleting_the_newer_one(open_store: OpenStore) -> None:
    memory = open_store()
    memory.add([said("The meeting is at two.", NOON), said("The meeting is at three.", NOON + HOUR)])
    memory.link(1, 2)
    memory.close()
    memory = open_store()
    assert ids(memory.search("meeting", include_superseded=False)) == {2}
    memory.delete(2)
    assert memory.get(1).status == "current"
    assert ids(memory.search("meeting", include_superseded=False)) == {1}
    memory.close()
    assert ids(open_store().search("meeting", include_superseded=False)) == {1}


def test_link_that_turns_in_a_circle_is_refused(memory: Memory) -> None:
    memory.add([said(f"Plan {n}.", NOON + n * HOUR) for n in range(3)])
    memory.link(1, 2)
    memory.link(2, 3)
    for old, new in ((1, 1), (2, 1), (3, 1)):
        with pytest.raises(InvalidInputError):
            memory.link(old, new)
    assert [unit.unit_id for unit in memory.history(2)] == [1, 2, 3]


@pytest.mark.parametrize("text", ["", "  ", "\x00", "x" * ((1 << 20) + 1), None, 5, b"x"], ids=lambda t: repr(t)[:9])
def test_update_with_no_text_or_too_much_is_refused(memory: Memory, text: Any) -> None:
    memory.add("I like figs.")
    with pytest.raises(InvalidInputError, match="text"):
        memory.update(1, text)
    assert texts(memory) == ["I like figs."]


def test_update_replaces_lone_surrogates(memory: Memory) -> None:
    memory.add("I like figs.")
    memory.update(1, "I like \ud800 plums.")
    assert texts(memory)[1] == "I like \ufffd plums."


# --- delete, forget ---


def test_delete_takes_the_unit_its_edges_and_its_turn(memory: Memory) -> None:
    memory.add(HARBOR_GRILL)
    gone = memory.delete(3)
    assert (gone.units, gone.turns, gone.turns_kept) == (1, 1, ())
    with pytest.raises(UnitNotFoundError):
        memory.get(3)
    assert 3 not in ids(memory.recall("Who is allergic to seafood?"))
    assert "Maya" not in memory.recall("Is Maya allergic?").trace.cues.participants
    assert memory.stats().turns == 3
    assert memory.verify(deep=True) == []


def test_deleted_name_explains_no_short_form_any_more(memory: Memory) -> None:
    memory.add([said("Hello there.", NOON, "Melanie"), said("I met Mel.", NOON, "Bo")])
    assert memory.get(2).participants == ("Bo", "Melanie")
    memory.delete(1)
    memory.delete(2)
    memory.add([said("I met Mel again.", NOON, "Bo")])
    assert memory.get(3).participants == ("Bo", "Mel")


def test_turn_that_another_unit_cites_stays_and_is_named(memory: Memory) -> None:
    memory.add([said("The meeting is at two.", NOON)])
    memory.update(1, "The meeting is at three.")
    kept = memory.delete(1)
    assert (kept.units, kept.turns, kept.turns_kept) == (1, 0, (1,))
    assert memory.delete(2).turns == 1
    assert memory.stats().turns == 0


def test_dry_run_of_forget_tells_what_the_run_does(memory: Memory) -> None:
    memory.add(HARBOR_GRILL)
    before = [shown(memory.recall("seafood at Harbor Grill")), memory.stats().edges]
    planned = memory.forget(Filter(participants=("Maya",)), dry_run=True)
    assert planned.dry_run
    assert [shown(memory.recall("seafood at Harbor Grill")), memory.stats().edges] == before
    done = memory.forget(Filter(participants=("Maya",)))
    assert (done.units, done.turns, done.edges) == (planned.units, planned.turns, planned.edges) == (1, 1, done.edges)
    assert 3 not in ids(memory.recall("seafood at Harbor Grill"))


def test_forget_keeps_a_unit_that_another_turn_supports(memory: Memory) -> None:
    memory.add([said("The code is 4711.", NOON, session="a"), said("The code is 4711.", NOON + HOUR, session="b")])
    gone = memory.forget(Filter(session="a"))
    assert (gone.turns, gone.units) == (1, 0)
    assert [source.session for source in memory.get(1).sources] == ["b"]


def test_forget_everything_by_an_empty_filter_is_refused(memory: Memory) -> None:
    memory.add("I like figs.")
    with pytest.raises(InvalidInputError, match="delete_namespace"):
        memory.forget(Filter())
    with pytest.raises(InvalidInputError, match="filter"):
        memory.forget({"session": "a"})  # type: ignore[arg-type]
    assert len(texts(memory)) == 1


def test_forgotten_words_are_in_no_file(open_store: OpenStore, tmp_path: Path) -> None:
    memory = open_store()
    memory.add([*HARBOR_GRILL, said("The password is xylofonkonsert.", NOON, "Zebulon")])
    memory.forget(Filter(participants=("Zebulon",)))
    files = [path.read_bytes().lower() for path in (tmp_path / "agent.ripple").rglob("*") if path.is_file()]
    assert any(b"harbor" in content for content in files)
    assert not any(b"xylofonkonsert" in content or b"zebulon" in content for content in files)


# --- namespaces ---


def test_results_are_the_same_beside_a_noisy_namespace(open_store: OpenStore) -> None:
    alone, beside = open_store("alone"), open_store("beside")
    noise = [said(f"Harbor Grill seafood allergy number {n} of Sam.", NOON + n * HOUR, "Maya") for n in range(60)]
    beside.add(noise[:30], namespace="b")
    for memory in (alone, beside):
        memory.add(HARBOR_GRILL, namespace="a")
    beside.add(noise[30:], namespace="b")
    query = "Should we follow Sam's tip and take Maya to Harbor Grill?"
    assert shown(alone.recall(query, namespace="a")) == shown(beside.recall(query, namespace="a"))
    assert alone.recall(query, namespace="a").explain() == beside.recall(query, namespace="a").explain()


def test_deleted_namespace_is_empty_and_may_be_made_again(memory: Memory) -> None:
    memory.add(HARBOR_GRILL, namespace="a")
    memory.add("I like figs.", namespace="b")
    gone = memory.delete_namespace("a")
    assert (gone.turns, gone.units) == (4, 4)
    assert memory.namespaces() == ["b"]
    assert memory.recall("Harbor Grill", namespace="a").evidence == ()
    with pytest.raises(InvalidInputError):
        memory.delete_namespace("a")
    memory.add("I like plums.", namespace="a")
    assert texts(memory, namespace="a") == ["I like plums."]
    assert texts(memory, namespace="b") == ["I like figs."]
    assert memory.verify(deep=True) == []


def test_namespaces_that_differ_by_case_or_form_are_two(memory: Memory) -> None:
    names = ["ana", "Ana", "\u00e9", "e\u0301", "..", "a/b"]
    for name in names:
        memory.add(f"I am {name}.", namespace=name)
    assert memory.namespaces() == sorted(names)
    assert all(texts(memory, namespace=name) == [f"I am {name}."] for name in names)


# --- embedders ---


def ragged(rows: np.ndarray) -> Any:
    return [row[: 5 + n] for n, row in enumerate(rows)]


def broken(rows: np.ndarray) -> Any:
    raise ConnectionError("the model is away")


FAULTS: dict[str, Callable[[np.ndarray], Any]] = {
    "too narrow": lambda rows: rows[:, :10],
    "too few rows": lambda rows: rows[:-1],
    "no rows": lambda rows: rows[:0],
    "one dimension": lambda rows: rows[0],
    "a number": lambda rows: 1.0,
    "three dimensions": lambda rows: rows[None],
    "ragged": ragged,
    "words": lambda rows: np.full(rows.shape, "x"),
    "objects": lambda rows: np.full(rows.shape, None),
    "complex": lambda rows: rows.astype(np.complex64),
    "nothing": lambda rows: None,
    "raises": broken,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_failed_embedding_loses_no_turn_and_shows_no_unit(open_store: OpenStore, fault: str) -> None:
    embedder = FaultyEmbedder()
    memory = open_store(embedder=embedder)
    memory.add([said("I like figs.", NOON)])
    embedder.fault = FAULTS[fault]
    with pytest.raises(EmbeddingError, match="hash-24"):
        memory.add([said("I like plums.", NOON), said("I like pears.", NOON)])
    embedder.fault = None
    assert texts(memory) == ["Ana: I like figs."]
    assert ids(memory.search("plums and pears")) <= {1}
    assert (memory.stats().turns, memory.stats().units, memory.stats().windows["pending"]) == (3, 1, 1)
    memory.close()

    memory = open_store(embedder=embedder)
    assert ids(memory.search("plums and pears")) >= {2, 3}
    assert texts(memory) == ["Ana: I like figs.", "Ana: I like plums.", "Ana: I like pears."]
    assert memory.stats().windows.get("pending", 0) == 0
    assert memory.verify(deep=True) == []


def test_batch_that_cannot_be_committed_is_shown_to_nobody(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_store()
    memory.add([said("I like figs.", NOON)])
    before = shown(memory.search("figs, plums and pears"))

    def full_disk(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Record, "apply", full_disk)
        with pytest.raises(StoreError, match="full"):
            memory.add([said("I like plums.", NOON)])
        with pytest.raises(StoreError, match="full"):
            memory.update(1, "I like pears.")
    assert shown(memory.search("figs, plums and pears")) == before
    memory.add([said("I like quinces.", NOON)])
    assert texts(memory) == ["Ana: I like figs.", "Ana: I like plums.", "Ana: I like quinces."]
    found = memory.search("plums and quinces")
    assert {e.unit_id: e.text for e in found} == {unit.unit_id: unit.text for unit in memory.get_all()}


@pytest.mark.parametrize("is_reopened", [False, True])
def test_units_of_an_interrupted_call_are_those_it_would_have_made(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch, is_reopened: bool
) -> None:
    calls = [
        [said("The ferry leaves at nine.", NOON, session="a"), said("Bring oars.", NOON, "Melanie", session="c")],
        [
            said("Bring a hat.", NOON, session="a"),
            said("Mel and I saw the regatta.", NOON + HOUR, "Bo", session="b"),
            said("The river is high.", NOON + HOUR, session="a"),
            said("The river is high.", NOON + 20 * HOUR, session="b"),
            said("Bring a hat.", NOON + 25 * HOUR, session="b"),
            said("Bring a hat.", NOON + 2 * HOUR, session="d"),
            said("The ferry leaves at nine.", NOON + 3 * HOUR, session="d"),
            said("Kimmie is here.", NOON + 4 * HOUR, "Melissa", session="b"),
            said("Kim told Kimmie of it.", NOON + 5 * HOUR, "Kimberly", session="d"),
        ],
        [said("The ferry leaves at nine.", NOON + HOUR, session="a")],
    ]
    whole = open_store("whole")
    for messages in calls:
        whole.add(messages)
    broken_off = open_store("broken-off")
    broken_off.add(calls[0])

    def die(*_: object) -> None:
        raise StoreError("the process is gone")

    with monkeypatch.context() as patch:
        patch.setattr(Record, "apply", die)
        with pytest.raises(StoreError, match="gone"):
            broken_off.add(calls[1])
    if is_reopened:
        broken_off.close()
        broken_off = open_store("broken-off")
    broken_off.add(calls[2])
    assert broken_off.verify(deep=True) == []
    assert broken_off.stats().windows == whole.stats().windows

    def content(memory: Memory) -> list[Any]:
        order = {unit.unit_id: n for n, unit in enumerate(memory.get_all())}  # ids may have gaps
        rows = []
        for row in memory.export():
            renamed = {key: order[row[key]] for key in ("unit_id", "src", "dst") if key in row}
            rows.append({**row, **renamed})
        return rows

    assert content(broken_off) == content(whole)


def test_next_add_writes_the_units_that_a_failure_left_pending(open_store: OpenStore) -> None:
    embedder = FaultyEmbedder()
    memory = open_store(embedder=embedder)
    embedder.fault = broken
    message = said("I like plums.", NOON, id="m1")
    with pytest.raises(EmbeddingError):
        memory.add([message])
    embedder.fault = None
    assert memory.add([message]).repeated == 1
    assert texts(memory) == ["Ana: I like plums."]


def test_store_with_pending_turns_can_be_read_while_the_embedder_is_away(open_store: OpenStore) -> None:
    embedder = FaultyEmbedder()
    memory = open_store(embedder=embedder)
    memory.add([said("I like figs.", NOON)])
    embedder.fault = broken
    with pytest.raises(EmbeddingError):
        memory.add([said("I like plums.", NOON)])
    memory.close()
    memory = open_store(embedder=embedder)
    assert memory.get(1).text == "Ana: I like figs."
    recall = memory.recall("Who likes figs?")
    assert ids(recall) == {1}
    assert recall.degraded
    assert memory.stats().windows["pending"] == 1


def test_update_that_cannot_be_embedded_writes_nothing(open_store: OpenStore) -> None:
    embedder = FaultyEmbedder()
    memory = open_store(embedder=embedder)
    memory.add([said("I like figs.", NOON)])
    embedder.fault = broken
    with pytest.raises(EmbeddingError):
        memory.update(1, "I like plums.")
    embedder.fault = None
    assert memory.history(1) == [memory.get(1)]
    assert memory.update(1, "I like pears.") in (2, 3)
    assert texts(memory) == ["Ana: I like figs.", "Ana: I like pears."]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, 1e-14, 1e30, 1e200])
def test_vector_without_direction_is_dropped_and_the_unit_found_by_words(open_store: OpenStore, value: float) -> None:
    embedder = FaultyEmbedder()
    memory = open_store(embedder=embedder)

    def spoil_first(rows: np.ndarray) -> Any:
        spoiled = rows.astype(np.float64)
        spoiled[0] = value
        return spoiled

    embedder.fault = spoil_first
    added = memory.add([said("I like figs.", NOON), said("I like plums.", NOON)])
    assert added.dropped == {"vector": 1}
    assert memory.stats().vectors == 1
    assert 1 in ids(memory.search("Who likes figs?"))
    embedder.fault = None
    assert 1 in ids(memory.search("Who likes figs?"))


@pytest.mark.parametrize(
    "convert",
    [
        lambda rows: rows.astype(np.float64),
        lambda rows: np.asfortranarray(rows),
        lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
        lambda rows: rows.astype(">f4"),
        lambda rows: rows.tolist(),
        lambda rows: rows * 40.0,
    ],
    ids=["float64", "by columns", "strided", "big-endian", "lists", "long"],
)
def test_vectors_of_any_layout_and_length_are_the_same(open_store: OpenStore, convert: Callable[..., Any]) -> None:
    embedder = FaultyEmbedder()
    plain, converted = open_store("plain", embedder=HashEmbedder()), open_store("converted", embedder=embedder)
    embedder.fault = convert
    for memory in (plain, converted):
        memory.add(HARBOR_GRILL)
    wanted, found = (memory.recall("seafood at Harbor Grill") for memory in (plain, converted))
    assert [e.unit_id for e in found.evidence] == [e.unit_id for e in wanted.evidence]
    assert [e.score for e in found.evidence] == pytest.approx([e.score for e in wanted.evidence], rel=1e-5)


def test_vectors_changed_after_the_call_change_nothing(open_store: OpenStore) -> None:
    embedder = FaultyEmbedder()
    given: list[np.ndarray] = []
    embedder.fault = lambda rows: given.append(rows) or rows
    memory = open_store(embedder=embedder)
    memory.add(HARBOR_GRILL)
    before = shown(memory.search("seafood"))
    for rows in given:
        rows[:] = 7.0
    assert shown(memory.search("seafood")) == before


def test_another_embedder_is_refused(open_store: OpenStore, tmp_path: Path) -> None:
    open_store(embedder=HashEmbedder()).close()

    class Renamed(HashEmbedder):
        name = "hash-25"

    class Wider(HashEmbedder):
        dimension = 25

    for other in (Renamed(), Wider()):
        with pytest.raises(ConfigError, match="hash-24"):
            Memory.open(tmp_path / "agent.ripple", embedder=other)
    open_store(embedder=HashEmbedder())


# --- opening, closing ---


def test_reopened_store_recalls_the_same(open_store: OpenStore) -> None:
    memory = open_store()
    memory.add([*HARBOR_GRILL, *(said(f"Day {n} was quiet at the pier.", NOON + n * DAY) for n in range(30))])
    memory.update(2, "Harbor Grill is now a steak house.")
    memory.delete(9)
    queries = ["Should we take Maya to Harbor Grill?", "quiet days at the pier", "Sam", "When was day 7?"]
    before = [shown(memory.recall(query)) for query in queries]
    memory.close()
    memory = open_store()
    assert [shown(memory.recall(query)) for query in queries] == before


def test_reopened_store_chooses_the_same_edges(open_store: OpenStore) -> None:
    stayed, reopened = open_store("stayed"), open_store("reopened")
    for memory in (stayed, reopened):
        memory.add(HARBOR_GRILL[:2])
    reopened.close()
    reopened = open_store("reopened")
    for memory in (stayed, reopened):
        memory.add(HARBOR_GRILL[2:])
    assert stayed.stats().edges == reopened.stats().edges
    assert shown(stayed.recall("Maya at Harbor Grill")) == shown(reopened.recall("Maya at Harbor Grill"))


def test_second_writer_is_refused_and_a_reader_is_not(open_store: OpenStore) -> None:
    writer = open_store()
    writer.add(HARBOR_GRILL)
    with pytest.raises(StoreLockedError):
        open_store()
    reader = open_store(read_only=True)
    assert shown(reader.recall("Maya at Harbor Grill")) == shown(writer.recall("Maya at Harbor Grill"))


def test_reader_writes_nothing(open_store: OpenStore) -> None:
    open_store().add(HARBOR_GRILL)
    reader = open_store(read_only=True)
    calls: list[Callable[[], object]] = [
        lambda: reader.add("I like figs."),
        lambda: reader.add("I like figs.", namespace="new"),
        lambda: reader.update(1, "No."),
        lambda: reader.link(1, 2),
        lambda: reader.delete(1),
        lambda: reader.forget(Filter(session="s")),
        lambda: reader.delete_namespace("default"),
    ]
    for call in calls:
        with pytest.raises(ReadOnlyError):
            call()
    assert len(texts(reader)) == 4


def test_reader_leaves_pending_turns_to_the_writer(open_store: OpenStore) -> None:
    embedder = FaultyEmbedder()
    memory = open_store(embedder=embedder)
    embedder.fault = broken
    with pytest.raises(EmbeddingError):
        memory.add([said("I like plums.", NOON)])
    embedder.fault = None
    reader = open_store(embedder=embedder, read_only=True)
    assert texts(reader) == []
    assert reader.search("plums") == []
    assert reader.stats().windows["pending"] == 1


def test_closed_store_says_so(open_store: OpenStore) -> None:
    memory = open_store()
    memory.add(HARBOR_GRILL)
    memory.close()
    memory.close()
    calls: list[Callable[[], object]] = [
        lambda: memory.add("I like figs."),
        lambda: memory.recall("figs"),
        lambda: memory.search("figs"),
        lambda: memory.get(1),
        lambda: list(memory.get_all()),
        lambda: memory.history(1),
        lambda: memory.update(1, "No."),
        lambda: memory.link(1, 2),
        lambda: memory.delete(1),
        lambda: memory.forget(Filter(session="s")),
        lambda: memory.delete_namespace("default"),
        lambda: list(memory.export()),
        memory.namespaces,
        memory.stats,
        memory.verify,
        memory.flush,
    ]
    for call in calls:
        with pytest.raises(StoreClosedError):
            call()


def test_memory_cannot_be_pickled(memory: Memory) -> None:
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(memory)


def test_store_in_memory_works_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory.open(":memory:", embedder=HashEmbedder()) as memory:
        memory.add(HARBOR_GRILL)
        assert memory.search("allergic to seafood")[0].unit_id == 3
    assert list(tmp_path.iterdir()) == []


def test_a_question_is_read_with_the_names_and_times_of_the_namespace(tmp_path: Path) -> None:
    told = [
        {"speaker": "Melanie", "content": "My dog Max is the best.", "timestamp": "2021-07-09T10:00:00+02:00"},
        {"speaker": "Joanna", "content": "Max looks happy, Melanie.", "timestamp": "2023-05-09T10:00:00+02:00"},
    ]
    asked = "When did Mel get Max in June?"
    with Memory.open(tmp_path / "store") as memory:
        memory.add(told)
        written = memory.recall(asked).trace.cues
    with Memory.open(tmp_path / "store") as memory:
        opened = memory.recall(asked).trace.cues
        memory.delete(2)
        after = memory.recall(asked).trace.cues
    assert written == opened
    assert "Melanie" in written.participants and "Max" in written.name_free and "Mel" not in written.name_free
    assert written.time is not None and written.time.interval.start.year == 2022
    assert after.time is not None and after.time.interval.start.year == 2021
