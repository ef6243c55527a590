from collections.abc import Iterable

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.graph import SEMANTIC, SEQUENCE, STATE, STRUCTURAL, TERM, UNKNOWN_GAP, Edge, ShadowGraph
from ripple import _core

NO_TIME = -(2**63)


def rows(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


def new_graph(count: int, **options: int) -> _core.MemoryGraph:
    settings_ = _core.EdgeOptions()
    for name, value in options.items():
        setattr(settings_, name, value)
    graph = _core.MemoryGraph(settings_)
    graph.grow(count)
    return graph


def stage(
    graph: _core.MemoryGraph,
    row: int,
    candidates: Iterable[tuple[int, int, float]],
    *,
    sharing_units: np.ndarray | None = None,
    said_at: np.ndarray | None = None,
) -> None:
    others, kinds, weights = zip(*candidates, strict=True) if candidates else ((), (), ())
    graph.stage(
        row,
        rows(*others),
        np.array(kinds, np.uint8),
        np.array(weights, np.float32),
        sharing_units=sharing_units,
        said_at=said_at,
    )


def as_edges(arrays: tuple[np.ndarray, ...]) -> list[Edge]:
    return [Edge(*edge) for edge in zip(*(array.tolist() for array in arrays), strict=True)]


def pairs(graph: _core.MemoryGraph) -> set[tuple[int, int]]:
    return {(edge.src, edge.dst) for edge in as_edges(graph.edges())}


def test_staged_edges_are_hidden_until_revealed() -> None:
    graph = new_graph(3)
    stage(graph, 2, [(0, SEMANTIC, 0.875), (1, SEQUENCE, 0.5)])
    assert pairs(graph) == set()
    assert graph.degree(2) == 0
    assert as_edges(graph.staged()[0]) == [Edge(0, 2, SEMANTIC, 0.875), Edge(1, 2, SEQUENCE, 0.5)]
    graph.reveal()
    assert pairs(graph) == {(0, 2), (1, 2)}
    assert [array.tolist() for array in graph.neighbors(2)] == [[0, 1], [0, 3], [0.875, 0.5], [1, 1]]
    assert not graph.has_staged
    assert as_edges(graph.staged()[0]) == []


def test_discard_restores_what_was_there() -> None:
    graph = new_graph(4, semantic_degree=1)
    stage(graph, 1, [(0, SEMANTIC, 0.5)])
    graph.reveal()
    before = [array.tolist() for array in graph.compact()]
    stage(graph, 2, [(0, SEMANTIC, 0.75)])
    stage(graph, 3, [(0, SEMANTIC, 1.0)])
    assert pairs(graph) == {(0, 1)}
    assert as_edges(graph.staged()[1]) == [Edge(0, 1, SEMANTIC, 0.5)]
    assert as_edges(graph.staged()[0]) == [Edge(0, 3, SEMANTIC, 1.0)]
    graph.discard()
    assert [array.tolist() for array in graph.compact()] == before


@pytest.mark.parametrize("weight", [0.5, 0.25], ids=["unchanged", "weaker"])
def test_an_edge_that_a_batch_evicts_and_takes_back_was_never_gone_unless_changed(weight: float) -> None:
    graph = new_graph(4, semantic_degree=1)
    stage(graph, 1, [(0, SEMANTIC, 0.5)])
    graph.reveal()
    stage(graph, 2, [(0, SEMANTIC, 0.75)])  # evicts 0 - 1
    stage(graph, 3, [(2, SEMANTIC, 1.0)])  # evicts 0 - 2 before it was ever seen
    stage(graph, 1, [(0, SEMANTIC, weight)])
    change = ([], []) if weight == 0.5 else ([Edge(0, 1, SEMANTIC, weight)], [Edge(0, 1, SEMANTIC, 0.5)])
    added, evicted = graph.staged()
    assert as_edges(added) == [*change[0], Edge(2, 3, SEMANTIC, 1.0)]
    assert as_edges(evicted) == change[1]
    assert as_edges(graph.edges()) == [Edge(0, 1, SEMANTIC, 0.5)]
    graph.reveal()
    assert as_edges(graph.edges()) == [Edge(0, 1, SEMANTIC, weight), Edge(2, 3, SEMANTIC, 1.0)]
    assert graph.edge_count(SEMANTIC) == 2


def test_full_unit_drops_its_weakest_edge_for_a_stronger_one_only() -> None:
    graph = new_graph(9)
    for row in range(1, 7):
        stage(graph, row, [(0, STRUCTURAL, row / 8)])
    stage(graph, 7, [(0, STRUCTURAL, 1 / 16)])
    graph.reveal()
    assert graph.degree(0) == 6
    stage(graph, 8, [(0, STRUCTURAL, 0.5)])
    graph.reveal()
    assert pairs(graph) == {(0, row) for row in (2, 3, 4, 5, 6, 8)}


def test_new_unit_keeps_its_best_candidates_and_both_ends_must_have_room() -> None:
    graph = new_graph(5, semantic_degree=2)
    stage(graph, 1, [(0, SEMANTIC, 1.0)])
    stage(graph, 2, [(0, SEMANTIC, 1.0), (1, SEMANTIC, 1.0)])
    # 0 - 2 are full of edges of weight 1: nothing enters, and the new unit's room is not the point.
    stage(graph, 3, [(0, SEMANTIC, 0.75), (1, SEMANTIC, 0.75), (2, SEMANTIC, 0.75)])
    stage(graph, 4, [(3, SEMANTIC, 0.25)])
    graph.reveal()
    assert pairs(graph) == {(0, 1), (0, 2), (1, 2), (3, 4)}


def test_caps_hold_for_each_kind_alone_and_not_for_sequence_and_state() -> None:
    graph = new_graph(12)
    for row in range(1, 12):
        stage(graph, row, [(0, kind, 0.5) for kind in (SEMANTIC, STRUCTURAL, TERM, SEQUENCE, STATE)])
    graph.reveal()
    assert [graph.edge_count(kind) for kind in range(5)] == [6, 6, 11, 11, 6]
    assert graph.degree(0) == 40


def test_a_degree_of_zero_switches_a_kind_off() -> None:
    graph = new_graph(2, structural_degree=0)
    stage(graph, 1, [(0, STRUCTURAL, 1.0), (0, SEMANTIC, 1.0)])
    assert as_edges(graph.staged()[0]) == [Edge(0, 1, SEMANTIC, 1.0)]


def test_a_pair_keeps_its_one_edge_of_a_kind() -> None:
    graph = new_graph(2)
    stage(graph, 1, [(0, SEMANTIC, 0.5), (0, SEMANTIC, 0.75)])
    stage(graph, 0, [(1, SEMANTIC, 1.0)])
    graph.reveal()
    assert as_edges(graph.edges()) == [Edge(0, 1, SEMANTIC, 0.75)]


def test_equal_weights_go_by_rarer_cue_then_gap_then_nearer_then_newer() -> None:
    def survivors(cap: int, sharing: list[int] | None, said: list[int] | None) -> set[int]:
        graph = new_graph(5, structural_degree=cap)
        ties = {
            "sharing_units": None if sharing is None else np.array(sharing, np.uint32),
            "said_at": None if said is None else np.array(said, np.int64),
        }
        for row in (0, 1, 3, 4):
            stage(graph, row, [(2, STRUCTURAL, 1.0)], **ties)
        graph.reveal()
        return set(graph.neighbors(2)[0].tolist())

    assert survivors(1, [9, 9, 1, 9, 3], [0, 99, 100, 101, 500]) == {4}
    assert survivors(2, [9, 9, 1, 9, 9], [90, 50, 100, 150, 101]) == {0, 4}
    assert survivors(1, None, [NO_TIME, NO_TIME, 100, NO_TIME, 9_999]) == {4}
    assert survivors(2, None, None) == {1, 3}
    assert survivors(1, None, None) == {3}


def test_state_edges_lead_from_old_to_new() -> None:
    graph = new_graph(3)
    assert graph.add_state(2, 0, 0.875)
    assert not graph.add_state(0, 2, 0.875)
    graph.reveal()
    assert not graph.add_state(2, 0, 0.875)
    assert as_edges(graph.edges()) == [Edge(2, 0, STATE, 0.875)]
    assert [array.tolist() for array in graph.neighbors(2)] == [[0], [STATE], [0.875], [1]]
    assert [array.tolist() for array in graph.neighbors(0)] == [[2], [STATE], [0.875], [0]]
    # A candidate names the old unit.
    stage(graph, 1, [(2, STATE, 0.5)])
    assert as_edges(graph.staged()[0]) == [Edge(2, 1, STATE, 0.5)]


def test_remove_returns_the_edges_of_a_row() -> None:
    graph = new_graph(4)
    stage(graph, 1, [(0, SEMANTIC, 0.5), (0, SEQUENCE, 0.5)])
    stage(graph, 2, [(1, SEMANTIC, 0.25), (0, SEMANTIC, 1.0)])
    graph.add_state(1, 2, 0.75)
    graph.reveal()
    assert as_edges(graph.remove(1)) == [
        Edge(0, 1, SEMANTIC, 0.5),
        Edge(0, 1, SEQUENCE, 0.5),
        Edge(1, 2, SEMANTIC, 0.25),
        Edge(1, 2, STATE, 0.75),
    ]
    assert as_edges(graph.edges()) == [Edge(0, 2, SEMANTIC, 1.0)]
    assert [graph.edge_count(kind) for kind in range(5)] == [1, 0, 0, 0, 0]
    assert as_edges(graph.remove(99)) == []


def test_compact_holds_both_directions_sorted() -> None:
    graph = new_graph(4)
    stage(graph, 2, [(0, SEQUENCE, 0.5), (0, SEMANTIC, 1.0)])
    graph.add_state(3, 0, 0.875)
    graph.reveal()
    indptr, indices, kinds, weights, outgoing = graph.compact()
    assert indptr.dtype == np.int64
    assert indptr.tolist() == [0, 3, 3, 5, 6]
    assert indices.tolist() == [2, 2, 3, 0, 0, 0]
    assert kinds.tolist() == [SEMANTIC, SEQUENCE, STATE, SEMANTIC, SEQUENCE, STATE]
    assert weights.tolist() == [1.0, 0.5, 0.875, 1.0, 0.5, 0.875]
    assert outgoing.tolist() == [1, 1, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("candidates", "error"),
    [
        ([(1, SEMANTIC, 0.5)], ValueError),
        ([(7, SEMANTIC, 0.5)], IndexError),
        ([(0, 5, 0.5)], ValueError),
        ([(0, SEMANTIC, 0.0)], ValueError),
        ([(0, SEMANTIC, 1.01)], ValueError),
        ([(0, SEMANTIC, float("nan"))], ValueError),
    ],
    ids=["itself", "unknown row", "unknown kind", "zero", "above one", "nan"],
)
def test_a_bad_candidate_is_refused_before_anything_changes(
    candidates: list[tuple[int, int, float]], error: type[Exception]
) -> None:
    graph = new_graph(3)
    with pytest.raises(error):
        stage(graph, 1, [(2, SEMANTIC, 0.5), *candidates])
    assert not graph.has_staged
    others, kinds, weights = zip(*candidates, strict=True)
    with pytest.raises(error):
        graph.load(
            rows(2, *others),
            rows(1, 1),
            np.array([0, *kinds], np.uint8),
            np.array([0.5, *weights], np.float32),
        )
    assert pairs(graph) == set()


def test_load_refuses_a_repeated_edge_and_an_open_batch() -> None:
    graph = new_graph(3)
    kinds, weights = np.array([STATE, STATE], np.uint8), np.array([0.5, 0.5], np.float32)
    with pytest.raises(ValueError, match="given twice"):
        graph.load(rows(0, 1), rows(1, 0), kinds, weights)
    graph.load(rows(0, 1), rows(1, 2), kinds, weights)
    with pytest.raises(ValueError, match="in the graph already"):
        graph.load(rows(1), rows(0), kinds[:1], weights[:1])
    stage(graph, 2, [(0, SEMANTIC, 0.5)])
    for refused in (lambda: graph.load(rows(), rows(), kinds[:0], weights[:0]), lambda: graph.remove(1)):
        with pytest.raises(RuntimeError, match="while a batch is staged"):
            refused()
    graph.discard()
    assert pairs(graph) == {(0, 1), (1, 2)}


def test_load_takes_more_edges_than_the_caps() -> None:
    graph = new_graph(10)
    graph.load(
        np.zeros(9, np.uint32),
        np.arange(1, 10, dtype=np.uint32),
        np.zeros(9, np.uint8),
        np.ones(9, np.float32),
    )
    assert graph.degree(0) == 9


def components(graph: _core.MemoryGraph, count: int) -> int:
    network = nx.Graph()
    network.add_nodes_from(range(count))
    network.add_edges_from(pairs(graph))
    return nx.number_connected_components(network)


@pytest.mark.parametrize("clock", ["a minute apart", "irregular", "backwards", "shuffled", "one date", "unknown"])
def test_alternating_turns_of_two_people_are_one_component(clock: str) -> None:
    # Every pair shares both people and scores 1.0, so only the cap order keeps 600 turns together.
    count = 600
    rng = np.random.default_rng(3)
    irregular = np.cumsum(rng.integers(20, 90, count))
    said_at = {
        "a minute apart": np.arange(count) * 60,
        "irregular": irregular,
        "backwards": irregular[::-1],
        "shuffled": rng.permutation(irregular),
        "one date": np.zeros(count),
        "unknown": np.full(count, NO_TIME),
    }[clock].astype(np.int64)
    graph = new_graph(count)
    for row in range(1, count):
        # The candidate walk: the twenty units nearest in said_at, newer ones first where that says nothing.
        gaps = np.abs(said_at[:row] - said_at[row])
        near = np.lexsort((-np.arange(row), gaps))[:20]
        sharing = np.full(count, row + 1, np.uint32)  # both people stand in all units so far
        stage(
            graph,
            row,
            [(int(other), STRUCTURAL, 1.0) for other in near],
            sharing_units=sharing,
            said_at=said_at,
        )
        graph.reveal()
    assert components(graph, count) == 1
    assert max(graph.degree(row) for row in range(count)) == 6


WEIGHTS = st.sampled_from([0.25, 0.5, 1.0])
ROW_COUNT = 8
candidate_lists = st.lists(
    st.tuples(st.integers(0, ROW_COUNT - 1), st.integers(0, 4), WEIGHTS), min_size=1, max_size=10
)
operations = st.one_of(
    st.tuples(st.just("stage"), st.integers(0, ROW_COUNT - 1), candidate_lists),
    st.tuples(st.just("stage"), st.integers(0, ROW_COUNT - 1), candidate_lists),
    st.tuples(st.just("state"), st.integers(0, ROW_COUNT - 1), st.integers(1, ROW_COUNT - 1)),
    st.tuples(st.just("reveal")),
    st.tuples(st.just("discard")),
    st.tuples(st.just("remove"), st.integers(0, ROW_COUNT - 1)),
    st.tuples(st.just("reload")),
)
small_arrays = st.lists(st.integers(0, 2), min_size=ROW_COUNT, max_size=ROW_COUNT)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(operations, max_size=30), small_arrays, small_arrays)
def test_random_operations_agree_with_the_shadow_model(
    steps: list[tuple[object, ...]], sharing: list[int], said: list[int]
) -> None:
    caps = {"semantic_degree": 2, "structural_degree": 2, "term_degree": 1}
    graph = new_graph(ROW_COUNT, **caps)
    shadow = ShadowGraph({SEMANTIC: 2, STRUCTURAL: 2, TERM: 1})
    said_at = [NO_TIME if value == 2 else value for value in said]

    def tie(a: int, b: int) -> tuple[int, int]:
        known = NO_TIME not in (said_at[a], said_at[b])
        return max(sharing[a], sharing[b]), abs(said_at[a] - said_at[b]) if known else UNKNOWN_GAP

    ties = {"sharing_units": np.array(sharing, np.uint32), "said_at": np.array(said_at, np.int64)}
    for step in steps:
        match step:
            case ("stage", row, candidates):
                usable = [candidate for candidate in candidates if candidate[0] != row]
                stage(graph, row, usable, **ties)
                shadow.stage(row, usable, tie)
            case ("state", row, distance):
                new_row = (row + distance) % ROW_COUNT
                key = (min(row, new_row), max(row, new_row), STATE)
                assert graph.add_state(row, new_row, 0.5) == (key not in shadow.working)
                shadow.working.setdefault(key, Edge(row, new_row, STATE, 0.5))
            case ("reveal",):
                graph.reveal()
                shadow.reveal()
            case ("discard",):
                graph.discard()
                shadow.discard()
            case ("remove", row):
                graph.reveal()
                shadow.reveal()
                assert as_edges(graph.remove(row)) == shadow.remove(row)
            case ("reload",):
                graph.discard()
                shadow.discard()
                edges = graph.edges()
                graph = new_graph(ROW_COUNT, **caps)
                graph.load(*edges)
        added, evicted = graph.staged()
        assert (as_edges(added), as_edges(evicted)) == shadow.staged()
        assert as_edges(graph.edges()) == sorted(shadow.revealed.values())
        assert_readers_agree(graph, shadow)


def assert_readers_agree(graph: _core.MemoryGraph, shadow: ShadowGraph) -> None:
    indptr, *columns = graph.compact()
    for row in range(ROW_COUNT):
        expected = shadow.neighbors(row)
        assert list(zip(*(array.tolist() for array in graph.neighbors(row)), strict=True)) == expected
        part = slice(indptr[row], indptr[row + 1])
        assert list(zip(*(array[part].tolist() for array in columns), strict=True)) == expected
        assert graph.degree(row) == len(expected)
    for kind in range(5):
        assert graph.edge_count(kind) == sum(edge.kind == kind for edge in shadow.revealed.values())
