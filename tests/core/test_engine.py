"""One namespace's engine: a staged batch leaves no trace when discarded, a removed unit none at all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doubles import HashEmbedder
from ripple._columns import EdgeArrays, RecallArrays, RecallSettings, UnitColumns
from ripple._engine import FITTED_FEATURES, NamespaceEngine
from ripple.models.embedders import StaticEmbedder
from ripple.types import Cues, EdgeKind, Filter, Thresholds, TimeInterval, UnitDraft

NOON = datetime(2026, 4, 23, 12, 0, tzinfo=UTC)
THRESHOLDS = Thresholds(semantic=0.35, merge=0.9, gate=0.95)
EMBEDDER = HashEmbedder()
NAMES = ["Ana", "Bo", "Cy"]
PLACES = ["Rome", "Oslo"]
WORDS = ["figs", "regatta", "bridge", "violin", "garden", "soup", "lantern", "orchard", "ticket", "winter"]
KINDS = list(EdgeKind)


def draft(number: int, words: str, speaker: str = "Ana", place: str | None = None, **fields: Any) -> UnitDraft:
    return UnitDraft(
        **{
            "text": f"{speaker}: {words}",
            "content": words,
            "speaker": speaker,
            "participants": (speaker,),
            "locations": (place,) if place else (),
            "said_at": NOON + timedelta(minutes=number),
            "session": f"s{number // 5}",
            "turn_ids": (number,),
            **fields,
        }
    )


def unit(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.full_like(vectors, np.nan), where=norms > 0)


def vectors_of(drafts: Iterable[UnitDraft], embedder: Any = EMBEDDER) -> np.ndarray:
    return unit(np.asarray(embedder.embed([draft.content for draft in drafts]), np.float32))


def new_engine() -> NamespaceEngine:
    return NamespaceEngine(EMBEDDER.dimension, THRESHOLDS, None, is_static=False, is_english=False)


def stage(engine: NamespaceEngine, first: int, drafts: list[UnitDraft]) -> tuple[EdgeArrays, EdgeArrays]:
    ids = np.arange(first, first + len(drafts), dtype=np.int64)
    return engine.stage(ids, drafts, vectors_of(drafts))


def write(engine: NamespaceEngine, first: int, drafts: list[UnitDraft]) -> None:
    stage(engine, first, drafts)
    engine.reveal()


def ask(engine: NamespaceEngine, query: str, where: Filter | None = None, **options: Any) -> RecallArrays:
    people = tuple(name for name in NAMES if name in query)
    cues = Cues(query, query, participants=people, locations=tuple(name for name in PLACES if name in query))
    vector = unit(np.asarray(EMBEDDER.embed([query]), np.float32))[0]
    wanted = RecallSettings(**{"top_k": 50, **options})
    return engine.recall(cues, vector, wanted, where=where, embed_target=lambda text: vectors_of([draft(0, text)])[0])


def edges_of(arrays: EdgeArrays) -> set[tuple[int, int, int, float]]:
    columns = (arrays.src.tolist(), arrays.dst.tolist(), arrays.kind.tolist(), arrays.weight.tolist())
    return {
        (src, dst, kind, weight) if kind == EdgeKind.STATE else (min(src, dst), max(src, dst), kind, weight)
        for src, dst, kind, weight in zip(*columns, strict=True)
    }


def all_edges(engine: NamespaceEngine) -> set[tuple[int, int, int, float]]:
    rows = [] if not engine.size else engine._rows_of(range(1, 1000)).tolist()
    return set().union(*(edges_of(engine._edges(engine._core.neighbors(row))) for row in rows))


def state(engine: NamespaceEngine) -> dict[str, Any]:
    """Everything that can be seen of an engine from outside."""
    queries = [*WORDS, "Ana", "Bo in Rome", "the garden in Oslo", "Cy likes soup and winter"]
    known = {word: engine._core.find_terms(word).unknown_count for word in WORDS}
    return {
        "size": engine.size,
        "edges": set(all_edges(engine)),
        "edge counts": [engine.edge_count(kind) for kind in KINDS],
        "words": known,
        "people": [engine.find_participant(name) for name in NAMES],
        "places": [engine.find_location(name) for name in PLACES],
        "answers": [rounded(ask(engine, query)) for query in queries],
        "selected": sorted(engine.select(Filter(participants=("Bo",))).tolist()),
        "sessions": [engine.select(Filter(session=f"s{n}")).tolist() for n in range(4)],
    }


def rounded(found: RecallArrays) -> list[tuple[Any, ...]]:
    """Ids, scores and ways of the evidence; scores to 5 digits, for sums of floats that came and went."""
    rows = zip(found.unit_ids, found.scores, found.found_by, found.hops, strict=True)
    return sorted((unit_id, round(score, 5) + 0.0, ways, hops) for unit_id, score, ways, hops in rows)


def story(seed: int, count: int, first: int = 1) -> list[UnitDraft]:
    rng = np.random.default_rng(seed)
    made = []
    for number in range(first, first + count):
        words = " ".join(rng.choice(WORDS, 3))
        place = PLACES[rng.integers(2)] if rng.random() < 0.5 else None
        time = TimeInterval(NOON, NOON + timedelta(hours=5)) if rng.random() < 0.3 else None
        made.append(draft(number, words, NAMES[rng.integers(3)], place, time=time))
    return made


@pytest.mark.parametrize("seed", range(4))
def test_staged_units_are_hidden_until_revealed(seed: int) -> None:
    engine = new_engine()
    write(engine, 1, story(seed, 12))
    before = [rounded(ask(engine, word)) for word in WORDS]
    added, _ = stage(engine, 13, story(seed + 50, 6, 13))
    assert engine.size == 12
    assert [rounded(ask(engine, word)) for word in WORDS] == before
    assert not [edge for edge in all_edges(engine) if max(edge[:2]) > 12]
    assert len(added)
    engine.reveal()
    assert engine.size == 18
    assert edges_of(added) <= all_edges(engine)
    assert {unit_id for word in WORDS for unit_id in ask(engine, word).unit_ids} > set(range(13, 19))


@pytest.mark.parametrize("seed", range(4))
def test_discard_restores_everything(seed: int) -> None:
    engine = new_engine()
    write(engine, 1, story(seed, 12))
    before = state(engine)
    newcomers = [*story(seed + 50, 12, 13), draft(25, "unheard zeppelin figs", "Zoe", "Quito")]
    stage(engine, 13, newcomers)
    engine.discard()
    assert state(engine) == before
    assert engine.find_participant("Zoe") is None
    assert engine.find_location("Quito") is None
    assert engine._core.find_terms("zeppelin").unknown_count == 1
    write(engine, 40, newcomers)
    assert 52 in ask(engine, "zeppelin").unit_ids, "ids and rows still belong together"


def test_discard_restores_evicted_edges() -> None:
    engine = new_engine()
    write(engine, 1, [draft(n, "figs garden soup", session=f"s{n}") for n in range(1, 15)])
    before = all_edges(engine)
    _, evicted = stage(engine, 15, [draft(n, "figs garden soup", session=f"s{n}") for n in range(15, 25)])
    assert len(evicted)
    engine.discard()
    assert all_edges(engine) == before


def test_discarded_link_leaves_the_old_state() -> None:
    engine = new_engine()
    write(engine, 1, [draft(1, "figs at two"), draft(2, "figs at three")])
    before = state(engine)
    added, _ = engine.stage_link(1, 2)
    assert edges_of(added) == {(1, 2, EdgeKind.STATE, added.weight[0])}
    assert engine.state_edges(1) == []
    engine.discard()
    assert state(engine) == before
    engine.stage_link(1, 2)
    engine.reveal()
    assert engine.state_edges(1) == engine.state_edges(2) == [(1, 2)]
    vector = vectors_of([draft(0, "figs")])[0]
    current = engine.recall(Cues("figs", "figs"), vector, RecallSettings(), include_superseded=False)
    assert current.unit_ids == [2]


@pytest.mark.parametrize("seed", range(4))
def test_loaded_engine_equals_the_staged_one(seed: int) -> None:
    staged = new_engine()
    drafts = story(seed, 30)
    edges: set[tuple[int, int, int, float]] = set()
    for start in range(0, 30, 7):
        added, evicted = stage(staged, start + 1, drafts[start : start + 7])
        staged.reveal()
        gone = {edge[:3] for edge in edges_of(evicted)}
        edges = {edge for edge in edges | edges_of(added) if edge[:3] not in gone}
    assert edges == all_edges(staged), "what staging tells is what there is"

    loaded = new_engine()
    src, dst, kind, weight = zip(*sorted(edges), strict=True)
    arrays = EdgeArrays(
        np.array(src, np.int64), np.array(dst, np.int64), np.array(kind, np.uint8), np.array(weight, np.float32)
    )
    loaded.load(np.arange(1, 31, dtype=np.int64), UnitColumns.of(drafts), vectors_of(drafts), arrays)
    assert state(loaded) == state(staged)
    exact = [(a.unit_ids, a.scores, a.parts) for a in (ask(loaded, "Ana figs garden"), ask(staged, "Ana figs garden"))]
    assert exact[0] == exact[1]
    for engine in (loaded, staged):
        write(engine, 31, story(seed + 50, 5, 31))
    assert all_edges(loaded) == all_edges(staged), "and both go on alike"


@pytest.mark.parametrize("seed", range(4))
def test_removed_units_leave_nothing(seed: int) -> None:
    engine = new_engine()
    write(engine, 1, [*story(seed, 10), draft(11, "unheard zeppelin figs", "Zoe", "Quito", session="z")])
    gone = engine.remove([11, 3, 7])
    assert all({src, dst} & {3, 7, 11} for src, dst, _, _ in edges_of(gone))
    assert not [edge for edge in all_edges(engine) if {3, 7, 11} & set(edge[:2])]
    assert engine.size == 8
    assert engine.find_participant("Zoe") is None
    assert engine.find_location("Quito") is None
    assert engine._core.find_terms("zeppelin").unknown_count == 1
    assert not {3, 7, 11} & {unit_id for word in WORDS for unit_id in ask(engine, word).unit_ids}
    assert not len(engine.select(Filter(session="z")))
    assert len(engine.remove([3, 7, 11])) == 0


def test_emptied_engine_is_as_new() -> None:
    engine = new_engine()
    write(engine, 1, story(1, 15))
    engine.remove(range(1, 16))
    assert state(engine) == state(new_engine())
    write(engine, 16, story(2, 5, 16))
    assert engine.size == 5


def test_removed_units_count_for_nobody_any_more() -> None:
    """Scores after a removal are those of an engine that never held the unit, where no edge came of it."""
    drafts = [draft(n, words, session="s") for n, words in enumerate(["figs soup", "regatta bridge", "violin"], 1)]
    engine, never = new_engine(), new_engine()
    write(engine, 1, [*drafts, draft(4, "figs regatta lantern", session="s")])
    engine.remove([4])
    write(never, 1, drafts)
    for word in WORDS:
        assert rounded(ask(engine, word, expansion="none")) == rounded(ask(never, word, expansion="none")), word


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(["write", "discard", "remove"]), max_size=10), st.integers(0, 99))
def test_any_order_of_writes_keeps_ids_edges_and_words_together(steps: list[str], seed: int) -> None:
    engine = new_engine()
    rng = np.random.default_rng(seed)
    live: dict[int, UnitDraft] = {}
    following = 1
    for step in steps:
        if step == "remove" and live:
            gone = rng.choice(list(live), min(3, len(live)), replace=False).tolist()
            engine.remove(gone)
            for unit_id in gone:
                del live[unit_id]
            continue
        batch = story(int(rng.integers(1000)), int(rng.integers(1, 5)), following)
        stage(engine, following, batch)
        if step == "discard":
            engine.discard()
        else:
            engine.reveal()
            live |= {following + n: one for n, one in enumerate(batch)}
        following += len(batch)
    assert engine.size == len(live)
    assert sorted(engine.select(Filter()).tolist()) == sorted(live)
    for src, dst, _, _ in all_edges(engine):
        assert {src, dst} <= set(live)
    for word in WORDS:
        holders = {unit_id for unit_id, one in live.items() if word in re.findall(r"\w+", one.content)}
        assert (engine._core.find_terms(word).unknown_count == 0) == bool(holders)
        found = ask(engine, word, without=frozenset({"dense", "cues"}), expansion="none")
        assert holders <= set(found.unit_ids), "beside them stand neighbours of theirs"
        assert bool(found.unit_ids) == bool(holders)
    for name in NAMES:
        holders = {unit_id for unit_id, one in live.items() if one.speaker == name}
        assert set(engine.select(Filter(participants=(name,))).tolist()) == holders


def test_target_embedded_here_or_there_gives_the_same(static_embedder: StaticEmbedder) -> None:
    """With the static embedder the core embeds the target itself; told not to, Python does, to the same end."""
    size, words = static_embedder.dimension, static_embedder.native
    native = NamespaceEngine(size, THRESHOLDS, words, is_static=True, is_english=True)
    told = NamespaceEngine(size, THRESHOLDS, words, is_static=False, is_english=True)
    drafts = [
        draft(1, "You two should try Harbor Grill for dinner.", "Sam", "Harbor Grill"),
        draft(2, "Harbor Grill is the seafood place by the pier.", "Lea", "Harbor Grill"),
        draft(3, "I am allergic to seafood and shellfish.", "Maya", session="x"),
        *(draft(n, f"The {word} was nice on that day.", "Tom", session="y") for n, word in enumerate(WORDS, 4)),
    ]
    ids = np.arange(1, len(drafts) + 1, dtype=np.int64)
    for engine in (native, told):
        engine.stage(ids, drafts, vectors_of(drafts, static_embedder))
        engine.reveal()
    query = "Should we follow the tip and take Maya to Harbor Grill?"
    cues = Cues(query, query, participants=("Maya", "Sam"), locations=("Harbor Grill",))
    vector = unit(static_embedder.embed([query]))[0]
    asked: list[str] = []

    def embed(text: str) -> np.ndarray | None:
        asked.append(text)
        found = unit(static_embedder.embed([text]))[0]
        return None if np.isnan(found[0]) else found

    for expansion in ("targeted", "undirected", "none"):
        settings_ = RecallSettings(top_k=6, first=2, expansion=expansion, weights=(1.0,) * FITTED_FEATURES)
        results = [e.recall(cues, vector, settings_, embed_target=embed) for e in (native, told)]
        assert results[0].unit_ids == results[1].unit_ids
        assert results[0].scores == pytest.approx(results[1].scores, abs=1e-6)
        assert results[0].expanded == results[1].expanded
        assert results[0].stop_reason == results[1].stop_reason
        assert results[0].target == results[1].target
    assert asked, "the case has a target"


@pytest.mark.parametrize("shape", [(3, 5), (2, 24), (3, 24, 1), (72,)])
def test_vectors_of_another_shape_are_refused_before_anything_changes(shape: tuple[int, ...]) -> None:
    engine = new_engine()
    write(engine, 1, story(1, 6))
    before = engine.size, all_edges(engine), [rounded(ask(engine, word)) for word in WORDS]
    with pytest.raises(ValueError, match="vectors"):
        engine.stage(
            np.arange(7, 10, dtype=np.int64), [draft(n, "figs") for n in range(7, 10)], np.ones(shape, np.float32)
        )
    assert (engine.size, all_edges(engine), [rounded(ask(engine, word)) for word in WORDS]) == before
    write(engine, 7, story(2, 3, 7))
    assert sorted(engine.select(Filter()).tolist()) == list(range(1, 10))
