"""VectorIndex: the exact scan, the graph built beside it, filters, duplicates and removals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.vector_index import ShadowVectors, clustered_vectors, nearest_rows, recall
from ripple import _core
from ripple.errors import DimensionMismatchError

DIMENSION = 24
ROWS = 5_000


def mask_of(rows):
    return _core.RowMask(np.asarray(rows, dtype=np.uint32))


def build(index, step=10_000):
    while not index.build_step(step):
        pass
    index.adopt_graph()


def filled_index(vectors, **options):
    index = _core.VectorIndex(vectors.shape[1], **options)
    for row, vector in enumerate(vectors):
        index.add(row, vector)
    return index


@pytest.fixture(scope="module")
def vectors():
    return clustered_vectors(ROWS, DIMENSION, centres=60, seed=1)


@pytest.fixture(scope="module")
def queries():
    return clustered_vectors(40, DIMENSION, centres=60, seed=2)


@pytest.fixture(scope="module")
def graph_index(vectors):
    """Read-only: with a graph over all rows."""
    index = filled_index(vectors, exact_below=100)
    build(index)
    return index


def test_vectors_are_scaled_to_unit_length_and_copied():
    index = _core.VectorIndex(2)
    vector = np.array([3.0, 4.0], np.float32)
    index.add(7, vector)
    vector[:] = 0
    assert index.vector(7).tolist() == pytest.approx([0.6, 0.8])
    assert index.dot(np.array([1.0, 0.0], np.float32), 7) == pytest.approx(0.6)
    assert 7 in index
    assert 6 not in index
    assert index.vector(6).shape == (0,)
    assert index.dot(np.array([1.0, 0.0], np.float32), 6) == 0.0


def test_what_was_read_out_comes_back_bit_for_bit():
    random = np.random.default_rng(4)
    index = _core.VectorIndex(384)
    for row in range(0, 100, 2):
        index.add(row, random.standard_normal(384).astype(np.float32))
        index.add(row + 1, index.vector(row))
        assert index.vector(row + 1).tobytes() == index.vector(row).tobytes()
    assert index.stats()["distinct"] == 50


def test_search_orders_by_score_down_then_row_up():
    index = _core.VectorIndex(2)
    for row, vector in [(4, (0, 1)), (1, (1, 0)), (3, (1, 0)), (2, (-1, 0)), (9, (1, 1))]:
        index.add(row, np.array(vector, np.float32))
    rows, scores = index.search(np.array([1, 0], np.float32), 10, mask_of(range(10)))
    assert rows.tolist() == [1, 3, 9, 4, 2]
    assert scores.tolist() == pytest.approx([1, 1, 0.5**0.5, 0, -1])
    assert rows.dtype == np.uint32
    assert scores.dtype == np.float32
    assert index.search(np.array([1, 0], np.float32), 2, mask_of([9, 2, 3]))[0].tolist() == [3, 9]
    assert index.search(np.array([1, 0], np.float32), 0, mask_of([9]))[0].tolist() == []
    assert index.search(np.array([1, 0], np.float32), 3, mask_of([]))[0].tolist() == []


@pytest.mark.parametrize(
    ("vector", "error"),
    [
        ([np.nan, 1, 1], ValueError),
        ([np.inf, 1, 1], ValueError),
        ([-np.inf, np.inf, 1], ValueError),
        ([0, 0, 0], ValueError),
        ([1e-13, 0, 0], ValueError),
        ([1e13, 0, 0], ValueError),
        ([1, 2], DimensionMismatchError),
        ([[1, 2, 3]], ValueError),
        (1.0, ValueError),
    ],
)
def test_bad_vectors_are_refused_before_any_change(vector, error):
    index = _core.VectorIndex(3)
    with pytest.raises(error):
        index.add(2, np.array(vector, np.float32))
    assert len(index) == 0
    assert 2 not in index
    index.add(2, np.array([0, 2, 0], np.float32))
    assert index.vector(2).tolist() == [0, 1, 0]


def test_bad_queries_rows_and_options_are_refused():
    index = _core.VectorIndex(3)
    index.add(0, np.ones(3, np.float32))
    with pytest.raises(ValueError, match="has a vector already"):
        index.add(0, np.ones(3, np.float32))
    with pytest.raises(ValueError, match="is no row"):
        index.add(2**32 - 1, np.ones(3, np.float32))
    with pytest.raises(TypeError):
        index.add(1, np.ones(3))
    for search in (index.search, index.search_exact):
        with pytest.raises(DimensionMismatchError, match="query has dimension 2, index has 3"):
            search(np.ones(2, np.float32), 1, mask_of([0]))
        with pytest.raises(ValueError, match="NaN or inf"):
            search(np.array([1, np.nan, 0], np.float32), 1, mask_of([0]))
    with pytest.raises(DimensionMismatchError):
        index.dot(np.ones(2, np.float32), 0)
    with pytest.raises(ValueError, match="dimension is 0"):
        _core.VectorIndex(0)
    with pytest.raises(ValueError, match="max_links is 1"):
        _core.VectorIndex(3, max_links=1)


POOL = np.array(
    [(1, 0, 0), (2, 0, 0), (0, 1, 0), (0, -0.0, 1), (0, 0, 3), (1, 1, 0), (1, 1, 1), (-1, 0, 0)], np.float32
)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 19), st.integers(0, len(POOL) - 1)),
        st.tuples(st.just("remove"), st.integers(0, 19), st.just(0)),
        st.tuples(st.just("step"), st.integers(1, 4), st.just(0)),
        st.tuples(st.just("adopt"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(OPERATIONS, st.integers(0, len(POOL) - 1), st.integers(1, 8), st.frozensets(st.integers(0, 19)))
def test_operations_agree_with_the_shadow(operations, query, k, allowed):
    # With so few entries the graph's search sees all of them: it has to be exact too.
    index, shadow = _core.VectorIndex(3, exact_below=2), ShadowVectors()
    for verb, number, choice in operations:
        if verb == "add" and number not in shadow.units:
            index.add(number, POOL[choice])
            shadow.add(number, POOL[choice])
        elif verb == "remove":
            index.remove(number)
            shadow.remove(number)
        elif verb == "step":
            index.build_step(number)
        elif verb == "adopt":
            index.build_step(1)
            index.adopt_graph()
            assert index.has_graph()
    assert len(index) == len(shadow.units)
    assert index.stats()["distinct"] == len({tuple(unit.tolist()) for unit in shadow.units.values()})
    for row in range(20):
        assert (row in index) == (row in shadow.units)
        if row in shadow.units:
            assert index.vector(row).tolist() == shadow.units[row].tolist()
    for rows in (range(20), allowed):
        wanted = shadow.search(POOL[query], k, rows)
        for search in (index.search, index.search_exact):
            found, scores = search(POOL[query], k, mask_of(list(rows)))
            assert scores.tolist() == pytest.approx([score for _, score in wanted], abs=1e-6)
            assert_same_up_to_rounding(found.tolist(), wanted)
    assert index.self_recall(20) == 1.0


def assert_same_up_to_rounding(found, wanted):
    """Rows whose scores differ by rounding alone may change places."""
    scores = dict(wanted)
    for row, (other, score) in zip(found, wanted, strict=True):
        assert row == other or abs(scores.get(row, score) - score) < 1e-6


def test_graph_recall_against_the_exact_scan(graph_index, vectors, queries):
    assert graph_index.has_graph()
    everything = mask_of(range(ROWS))
    found = [recall(graph_index.search(q, 20, everything)[0], nearest_rows(vectors, q, 20)) for q in queries]
    assert np.mean(found) >= 0.95
    assert graph_index.self_recall(200) >= 0.99
    rows, scores = graph_index.search(queries[0], 20, everything)
    # the graph's scores are those of the exact scan, bit for bit
    exact = dict(zip(*(a.tolist() for a in graph_index.search_exact(queries[0], ROWS, everything)), strict=True))
    assert all(exact[row] == score for row, score in zip(rows.tolist(), scores.tolist(), strict=True))


@pytest.mark.parametrize(("share", "floor"), [(0.01, 1.0), (0.1, 1.0), (0.5, 0.95), (0.8, 0.95)])
def test_filtered_search_gives_k_whenever_k_match(graph_index, vectors, queries, share, floor):
    allowed = np.sort(np.random.default_rng(3).choice(ROWS, int(share * ROWS), replace=False))
    mask = mask_of(allowed)
    found = []
    for query in queries:
        rows = graph_index.search(query, 20, mask)[0]
        assert len(rows) == 20
        assert np.isin(rows, allowed).all()
        found.append(recall(rows, allowed[nearest_rows(vectors[allowed], query, 20)]))
    assert np.mean(found) >= floor


def test_filter_against_the_query_still_gives_k(graph_index, vectors, queries):
    # Only what lies on the far side is allowed: the graph's own neighbourhood has none of it.
    query = queries[0]
    allowed = np.flatnonzero(vectors @ query < 0.0)
    assert len(allowed) > ROWS // 3
    rows = graph_index.search(query, 20, mask_of(allowed))[0]
    assert len(rows) == 20
    assert recall(rows, allowed[nearest_rows(vectors[allowed], query, 20)]) >= 0.9
    assert len(graph_index.search(query, ROWS, mask_of(allowed))[0]) == len(allowed)


def test_identical_vectors_share_an_entry_and_hide_nothing(vectors, queries):
    index = _core.VectorIndex(DIMENSION, exact_below=100)
    few = 1_500
    for row in range(few):
        index.add(row, vectors[row])
        index.add(10_000 + row, vectors[7])
    build(index)
    assert index.stats() == {"rows": 2 * few, "distinct": few, "graph_entries": few, "graph_deleted": 0}
    others = mask_of([row for row in range(few) if row != 7])
    kept = np.delete(np.arange(few), 7)
    found = [recall(index.search(q, 20, others)[0], kept[nearest_rows(vectors[kept], q, 20)]) for q in queries]
    assert np.mean(found) >= 0.99
    everything = mask_of([*range(few), *range(10_000, 10_000 + few)])
    assert index.search(vectors[7], 5, everything)[0].tolist() == [7, 10_000, 10_001, 10_002, 10_003]
    for row in (7, 10_000, 10_700, 10_000 + few - 1):  # the first, one between, the last
        index.remove(row)
    rows = index.search(vectors[7], few, everything)[0]
    assert sorted(rows[: few - 3]) == [r for r in range(10_001, 10_000 + few - 1) if r != 10_700]
    assert index.stats()["graph_deleted"] == 0


def test_removed_rows_are_not_found_and_a_new_graph_forgets_them(vectors, queries):
    few = 2_000
    index = filled_index(vectors[:few], exact_below=100)
    assert index.wants_graph()
    build(index)
    assert not index.wants_graph()
    everything = mask_of(range(few))
    for row in range(0, few, 4):
        index.remove(row)
    index.remove(0)  # absent: nothing happens
    assert index.stats() == {"rows": 1_500, "distinct": 1_500, "graph_entries": few, "graph_deleted": 500}
    assert index.wants_graph()  # a quarter is deleted
    kept = np.flatnonzero(np.arange(few) % 4 != 0)
    for _ in range(2):  # before and after the new graph
        found = []
        for query in queries:
            rows = index.search(query, 20, everything)[0]
            assert len(rows) == 20
            assert (rows % 4 != 0).all()
            found.append(recall(rows, kept[nearest_rows(vectors[kept], query, 20)]))
        assert np.mean(found) >= 0.95
        build(index)
    assert index.stats() == {"rows": 1_500, "distinct": 1_500, "graph_entries": 1_500, "graph_deleted": 0}


def test_what_changes_between_the_steps_is_in_the_new_graph(vectors):
    index = filled_index(vectors[:600], exact_below=100)
    index.build_step(300)
    index.remove(3)  # in the new graph already
    index.remove(500)  # not yet
    index.add(700, vectors[700])
    assert not index.build_step(1)
    assert index.build_step(10_000)
    index.add(701, vectors[701])  # after the last step
    index.adopt_graph()
    index.add(702, vectors[702])  # into the graph at once
    assert index.stats() == {"rows": 601, "distinct": 601, "graph_entries": 602, "graph_deleted": 1}
    everything = mask_of(range(ROWS))
    for row in (700, 701, 702, 4, 501):
        assert index.search(vectors[row], 1, everything)[0].tolist() == [row]
    for row in (3, 500):
        assert row not in index.search(vectors[row], 20, everything)[0]


def test_a_slot_that_fills_behind_the_builder_is_in_the_new_graph(vectors):
    index = filled_index(vectors[:600], exact_below=100)
    build(index)
    index.remove(20)  # its entry stays in the first graph
    index.build_step(300)
    index.add(20, vectors[20])  # takes up the old entry; the builder has passed it
    build(index)
    assert index.stats() == {"rows": 600, "distinct": 600, "graph_entries": 600, "graph_deleted": 0}
    for row in range(0, 600, 2):
        index.remove(row)
    build(index)  # frees the slots of the removed rows
    index.build_step(100)
    index.add(700, vectors[700])  # into a free slot, which the builder may have passed
    index.add(701, vectors[701])
    build(index)
    assert index.stats() == {"rows": 302, "distinct": 302, "graph_entries": 302, "graph_deleted": 0}
    for row in (700, 701):
        assert index.search(vectors[row], 1, mask_of(range(ROWS)))[0].tolist() == [row]


def test_a_vector_that_comes_back_takes_up_its_entry(vectors):
    index = filled_index(vectors[:300], exact_below=100)
    build(index)
    for _ in range(50):
        index.remove(5)
        index.add(5, vectors[5])
    assert index.stats() == {"rows": 300, "distinct": 300, "graph_entries": 300, "graph_deleted": 0}
    assert index.search(vectors[5], 1, mask_of([5]))[0].tolist() == [5]


def test_an_index_that_shrinks_gives_its_graph_back(vectors):
    index = filled_index(vectors[:300], exact_below=100)
    build(index)
    for row in range(251):
        index.remove(row)
    assert index.stats() == {"rows": 49, "distinct": 49, "graph_entries": 0, "graph_deleted": 0}
    assert not index.has_graph()
    assert not index.wants_graph()
    assert index.search(vectors[299], 3, mask_of(range(300)))[0][0] == 299
