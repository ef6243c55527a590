import math
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.lexical import NO_ROW, Document, ShadowIndex, links, ranked
from ripple import _core

K1, B = float(np.float32(0.9)), float(np.float32(0.4))
Hits = list[tuple[int, float]]
WORDS = ["pear", "plum", "fig", "kiwi", "date", "lime"]


def rows_of(rows: Iterable[int]) -> np.ndarray:
    return np.array(sorted(rows), np.uint32)


def index_of(*texts: str, **options: float) -> _core.LexicalIndex:
    index = _core.LexicalIndex(**options)
    for row, text in enumerate(texts):
        index.add(row, *index.intern(text))
        index.reveal(row)
    return index


def ids_of(index: _core.LexicalIndex, text: str) -> np.ndarray:
    return index.lookup(text)[0]


def search(index: _core.LexicalIndex, text: str, k: int = 10, allowed: Iterable[int] | None = None) -> Hits:
    allowed = range(len(index)) if allowed is None else allowed
    rows, scores = index.search(ids_of(index, text), k, rows_of(allowed))
    assert rows.dtype == np.uint32
    assert scores.dtype == np.float32
    return list(zip(rows.tolist(), scores.tolist(), strict=True))


def words_of(index: _core.LexicalIndex, row: int) -> Counter[str]:
    ids, counts = index.terms_of(row)
    assert (np.diff(ids.astype(np.int64)) > 0).all()
    return Counter(dict(zip(map(index.term, ids.tolist()), counts.tolist(), strict=True)))


def test_bm25_of_three_units_worked_out_by_hand() -> None:
    # Lengths 1, 2, 3; average 2; k1 = 1, b = 0.5: norms 0.75, 1, 1.25.
    index = index_of("pear", "pear plum", "plum plum fig", k1=1.0, b=0.5)
    pear = math.log(1 + 1.5 / 2.5)
    fig = math.log(1 + 2.5 / 1.5)
    assert index.idf(int(ids_of(index, "pear")[0])) == pytest.approx(pear)
    assert index.idf_unknown() == pytest.approx(math.log(1 + 3.5 / 0.5))
    assert search(index, "pear fig") == [
        (2, pytest.approx(fig * 2 / 2.25)),
        (0, pytest.approx(pear * 2 / 1.75)),
        (1, pytest.approx(pear * 2 / 2)),
    ]
    assert search(index, "plum")[0] == (2, pytest.approx(pear * 2 * 2 / (2 + 1.25)))


def test_window_scores_of_four_units_worked_out_by_hand() -> None:
    # Two sessions, radius 1: windows of 3, 6, 5 and 2 words in 2, 3, 2 and 1 members, so 1.5, 2, 2.5 and 2 a
    # member; average 2; k1 = 1, b = 0.5: norms 0.875, 1, 1.125 and 1.
    index = index_of("pear", "pear plum", "plum plum fig", "fig kiwi", k1=1.0, b=0.5)
    previous, following = links([[0, 1, 2], [3]], 4)
    rows, scores = index.search_windows(ids_of(index, "fig pear"), 9, previous, following, 1)
    three_hold = math.log(1 + 1.5 / 3.5)
    expected = {
        0: three_hold * 2 * 2 / (2 + 0.875),
        1: three_hold * 2 * 2 / (2 + 1) + three_hold * 2 / 2,
        2: three_hold * 2 / (1 + 1.125) * 2,
        3: three_hold * 2 / 2,
    }
    assert dict(zip(rows.tolist(), scores.tolist(), strict=True)) == pytest.approx(expected)
    assert rows.tolist() == sorted(expected, key=lambda row: -expected[row])


def test_staged_rows_count_nowhere_until_revealed() -> None:
    index = index_of("pear plum", "fig")
    before = search(index, "pear fig")
    index.add(2, *index.intern("pear pear pear kiwi"))
    pear = int(ids_of(index, "pear")[0])
    assert len(index) == 2
    assert index.df(pear) == 1
    assert search(index, "pear fig") == before
    assert index.postings(pear)[0].tolist() == [0, 2]
    index.reveal(2)
    assert len(index) == 3
    assert index.df(pear) == 2
    assert search(index, "pear")[0][0] == 2


@pytest.mark.parametrize("reveal", [False, True])
def test_a_removed_row_leaves_nothing_behind(reveal: bool) -> None:
    index = index_of("pear plum", "fig")
    before = search(index, "pear fig")
    index.add(7, *index.intern("secret pear"))
    secret = int(ids_of(index, "secret")[0])
    if reveal:
        index.reveal(7)
    index.remove(7)
    assert search(index, "pear fig") == before
    assert index.lookup("secret")[2] == 1
    assert (index.term(secret), index.surface(secret)) == ("", "")
    assert index.vocabulary_size == 3
    assert index.length(7) == 0
    assert index.terms_of(7)[0].tolist() == []


def test_an_id_given_out_again_starts_empty() -> None:
    index = index_of("pear", "plum")
    pear = int(ids_of(index, "pear")[0])
    index.remove(0)
    ids, _ = index.intern("lime")
    assert ids.tolist() == [pear]
    assert index.term(pear) == "lime"
    assert index.df(pear) == 0
    assert index.postings(pear)[0].tolist() == []


def test_a_surface_goes_with_the_unit_it_came_from() -> None:
    index = index_of("swimming", "swims")
    swim = int(ids_of(index, "swim")[0])
    assert index.surface(swim) == "swimming"
    index.remove(0)
    assert index.surface(swim) == "swim"
    index.intern("swims again")
    assert index.surface(swim) == "swims"


def test_prune_drops_terms_of_discarded_texts() -> None:
    index = index_of("pear")
    index.intern("plum fig pear")
    index.prune()
    assert index.vocabulary_size == 1
    assert index.lookup("plum fig pear")[2] == 2


def test_equal_scores_come_in_row_order_and_k_cuts() -> None:
    index = index_of("pear", "plum", "pear", "pear")
    assert [row for row, _ in search(index, "pear")] == [0, 2, 3]
    assert [row for row, _ in search(index, "pear", k=2)] == [0, 2]
    assert [row for row, _ in search(index, "pear", allowed=[3, 1])] == [3]
    assert search(index, "pear", k=0) == []


def test_nothing_to_find_gives_nothing() -> None:
    assert search(_core.LexicalIndex(), "pear") == []
    index = index_of("", "pear")
    assert len(index) == 2
    assert search(index, "the unknown kumquat") == []
    assert search(index, "pear", allowed=[]) == []
    unknown = np.array([99, NO_ROW], np.uint32)
    assert index.search(unknown, 5, rows_of([0, 1]))[0].tolist() == []
    assert index.score(unknown, rows_of([0, 1, 55])).tolist() == [0.0, 0.0, 0.0]


def test_order_and_repeats_in_a_query_do_not_matter() -> None:
    index = index_of("pear plum fig", "plum", "fig fig")
    ids = ids_of(index, "pear plum fig")
    everything = rows_of(range(3))
    expected = index.search(ids, 9, everything)[1].tolist()
    assert index.search(np.concatenate([ids[::-1], ids]), 9, everything)[1].tolist() == expected


def test_wrong_calls_are_refused_before_anything_changes() -> None:
    index = index_of("pear plum")
    ids, counts = index.intern("pear plum")
    for row, wrong_ids, wrong_counts, message in [
        (0, ids, counts, "already"),
        (1, ids[::-1].copy(), counts, "ascend"),
        (1, np.repeat(ids[:1], 2), counts, "ascend"),
        (1, ids + np.uint32(50), counts, "not in the vocabulary"),
        (1, ids, counts[:1], "one count an id"),
        (1, ids, counts * np.uint32(0), "count 0"),
        (NO_ROW, ids, counts, "is no row"),
    ]:
        with pytest.raises(ValueError, match=message):
            index.add(row, wrong_ids, wrong_counts)
    for call in (index.reveal, index.remove):
        with pytest.raises(ValueError, match="row 5"):
            call(5)
    with pytest.raises(ValueError, match="row 0 is not staged"):
        index.reveal(0)
    with pytest.raises(TypeError):
        index.add(1, ids.astype(np.int64), counts)
    assert len(index) == 1
    assert index.postings(int(ids[0]))[0].tolist() == [0]


@pytest.mark.parametrize("options", [{"k1": -1.0}, {"b": 1.5}, {"b": -0.1}, {"k1": math.nan}])
def test_bm25_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="k1 must be"):
        _core.LexicalIndex(**options)


def test_search_agrees_with_the_twin_past_one_block() -> None:
    rng = np.random.default_rng(20260423)
    index, shadow = _core.LexicalIndex(), ShadowIndex(K1, B)
    rows = rng.permutation(4_500)[:3_000].tolist()  # out of order, with gaps
    for row in rows:
        text = " ".join(rng.choice(WORDS, rng.integers(1, 5)))
        index.add(row, *index.intern(text))
        index.reveal(row)
        shadow.documents[row] = Document(Counter(text.split()), is_live=True)
    check_searches(index, shadow, sessions=[rows[:1_000], rows[1_000:]], visible=set(rows[::2]), radius=2)


def check_contents(index: _core.LexicalIndex, shadow: ShadowIndex) -> None:
    assert len(index) == len(shadow.live)
    assert index.vocabulary_size == len(shadow.vocabulary())
    for row, document in shadow.documents.items():
        assert words_of(index, row) == document.counts
        assert index.length(row) == document.length
    for word in WORDS:
        ids = ids_of(index, word)
        assert len(ids) == (word in shadow.vocabulary())
        for term in ids.tolist():
            df = sum(word in document.counts for document in shadow.live.values())
            assert index.df(term) == df
            assert index.idf(term) == pytest.approx(shadow.idf(df))
            rows, counts = index.postings(term)
            assert list(zip(rows.tolist(), counts.tolist(), strict=True)) == shadow.postings(word)


def check_searches(
    index: _core.LexicalIndex,
    shadow: ShadowIndex,
    *,
    sessions: list[list[int]],
    visible: set[int],
    radius: int,
) -> None:
    live = shadow.live.keys()
    limit = 1 + max(shadow.documents, default=0)
    previous, following = links(sessions, limit)
    every_row = np.arange(limit + 1, dtype=np.uint32)
    documents = shadow.windows(sessions, radius, visible)
    for text in ["pear", "plum fig", "date lime kiwi pear", "kumquat"]:
        query = ids_of(index, text)
        ordered = [index.term(term) for term in query.tolist()]
        plain = shadow.scores(ordered)
        windows = shadow.window_scores(ordered, documents)
        for k in (1, 3, limit):
            hits = index.search(query, k, rows_of(live & visible))
            assert_hits(hits, ranked(plain, k, live & visible))
            hits = index.search_windows(
                query, k, previous, following, radius, rows_of(visible), rows_of(set(list(live)[::2]))
            )
            assert_hits(hits, ranked(windows, k, set(list(live)[::2])))
        scores = index.score(query, rows_of(live))
        assert scores.tolist() == pytest.approx([plain.get(row, 0.0) for row in sorted(live)], rel=1e-6)
        scores = index.score_windows(query, every_row, previous, following, radius, rows_of(visible))
        expected = [windows.get(row, 0.0) for row in every_row.tolist()]
        assert scores.tolist() == pytest.approx(expected, rel=1e-6)


def assert_hits(hits: tuple[np.ndarray, np.ndarray], expected: list[tuple[int, float]]) -> None:
    rows, scores = hits
    assert rows.tolist() == [row for row, _ in expected]
    # Both sum in double; only the last bit of single precision may differ.
    assert scores.tolist() == pytest.approx([score for _, score in expected], rel=1e-6)


TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
ROWS = st.integers(0, 9)
OPERATIONS = st.tuples(st.sampled_from(["write", "write", "add", "reveal", "remove", "discard"]), ROWS, TEXTS)


def apply(index: _core.LexicalIndex, shadow: ShadowIndex, operation: str, row: int, text: str) -> None:
    """One operation on both; one that the state does not allow must be refused by the index."""
    held = shadow.documents.get(row)
    if operation == "discard":
        index.intern(text)
    elif operation == "remove":
        with refusal_unless(held is not None, row):
            index.remove(row)
            del shadow.documents[row]
    elif operation == "reveal":
        with refusal_unless(held is not None and not held.is_live, row):
            index.reveal(row)
            shadow.documents[row].is_live = True
    else:
        with refusal_unless(held is None, row):
            index.add(row, *index.intern(text))
            shadow.documents[row] = Document(Counter(text.split()))
            if operation == "write":
                index.reveal(row)
                shadow.documents[row].is_live = True
    index.prune()


def refusal_unless(is_allowed: bool, row: int) -> AbstractContextManager[object]:
    return nullcontext() if is_allowed else pytest.raises(ValueError, match=f"row {row}")


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    steps=st.lists(OPERATIONS, min_size=1, max_size=40),
    order=st.permutations(range(10)),
    cut=st.integers(0, 10),
    hidden=st.sets(ROWS, max_size=4),
    radius=st.integers(0, 3),
)
def test_any_sequence_of_changes_equals_the_shadow(
    steps: list[tuple[str, int, str]], order: list[int], cut: int, hidden: set[int], radius: int
) -> None:
    index, shadow = _core.LexicalIndex(), ShadowIndex(K1, B)
    for step in steps:
        apply(index, shadow, *step)
    check_contents(index, shadow)
    held = [row for row in order if row in shadow.documents]
    sessions = [part for part in (held[:cut], held[cut:]) if part]
    check_searches(index, shadow, sessions=sessions, visible=set(range(10)) - hidden, radius=radius)
