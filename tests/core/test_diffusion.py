from collections import defaultdict
from collections.abc import Iterable, Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import diffusion as twin
from reference.diffusion import Way
from reference.graph import SEMANTIC, SEQUENCE, STATE, STRUCTURAL, TERM
from ripple import _core

NAN = float("nan")


def rows(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


def graph_of(count: int, edges: Iterable[tuple[int, int, int, float]]) -> _core.MemoryGraph:
    graph = _core.MemoryGraph()
    graph.grow(count)
    src, dst, kinds, weights = zip(*edges, strict=True) if edges else ((), (), (), ())
    graph.load(rows(*src), rows(*dst), np.array(kinds, np.uint8), np.array(weights, np.float32))
    return graph


def options(**values: float) -> _core.DiffusionOptions:
    result = _core.DiffusionOptions()
    for name, value in values.items():
        setattr(result, name, value)
    return result


def collect(
    graph: _core.MemoryGraph,
    anchors: Sequence[int],
    exclude: Iterable[int] = (),
    allowed: Iterable[int] | None = None,
    **values: float,
) -> _core.Zone:
    everything = range(graph.rows) if allowed is None else allowed
    return _core.collect_zone(
        graph,
        rows(*anchors),
        _core.RowMask(rows(*exclude)),
        _core.RowMask(rows(*everything)),
        options(**values),
    )


def as_ways(zone: _core.Zone) -> list[Way]:
    arrays = (zone.rows, zone.hops, zone.parents, zone.anchors, zone.strengths, zone.kinds)
    return [Way(*values) for values in zip(*(array.tolist() for array in arrays), strict=True)]


def zone_of(*entries: tuple[int, int, float]) -> _core.Zone:
    """A zone of (row, hop, path strength)."""
    columns = list(zip(*entries, strict=True))
    return _core.Zone(np.array(columns[0], np.uint32), np.array(columns[1], np.uint8), np.array(columns[2], np.float32))


def support(
    zone: _core.Zone, semantic: list[float] | None, structural: list[float] | None, **values: float
) -> list[tuple[int, float, int, int]]:
    def scores(channel: list[float] | None) -> np.ndarray | None:
        return None if channel is None else np.array(channel, np.float32)

    result = _core.select_support(zone, scores(semantic), scores(structural), options(**values))
    return list(zip(*(array.tolist() for array in result), strict=True))


def test_zone_goes_by_hop_then_path_strength_then_row() -> None:
    graph = graph_of(
        6,
        [
            (0, 1, SEMANTIC, 0.5),
            (0, 2, SEMANTIC, 0.75),
            (1, 3, SEMANTIC, 1.0),
            (2, 4, STATE, 0.5),
            (0, 5, 0, 0.5),
        ],
    )
    assert as_ways(collect(graph, [0])) == [
        Way(2, 1, 0, 0, 0.75, SEMANTIC),
        Way(1, 1, 0, 0, 0.5, SEMANTIC),
        Way(5, 1, 0, 0, 0.5, SEMANTIC),
        Way(3, 2, 1, 0, 0.5, SEMANTIC),
        Way(4, 2, 2, 0, 0.375, STATE),
    ]


def test_fewest_hops_win_over_the_stronger_path() -> None:
    graph = graph_of(3, [(0, 1, SEMANTIC, 1.0), (1, 2, SEMANTIC, 1.0), (0, 2, STRUCTURAL, 0.625)])
    assert Way(2, 1, 0, 0, 0.625, STRUCTURAL) in as_ways(collect(graph, [0]))


def test_of_several_ways_the_strongest_is_kept_and_then_the_smaller_parent() -> None:
    graph = graph_of(
        5,
        [
            (0, 1, SEMANTIC, 0.5),
            (0, 2, SEMANTIC, 1.0),
            (1, 3, SEMANTIC, 1.0),
            (2, 3, STRUCTURAL, 0.75),
            (1, 4, SEMANTIC, 1.0),
            (2, 4, SEMANTIC, 0.5),
        ],
    )
    ways = {way.row: way for way in as_ways(collect(graph, [0]))}
    assert ways[3] == Way(3, 2, 2, 0, 0.75, STRUCTURAL)
    assert ways[4] == Way(4, 2, 1, 0, 0.5, SEMANTIC)


def test_sequence_and_term_edges_are_walked_one_hop_only() -> None:
    chain = [
        (0, 1, SEQUENCE, 0.5),
        (1, 2, SEQUENCE, 0.5),
        (0, 3, TERM, 0.5),
        (3, 4, TERM, 0.5),
        (3, 5, STATE, 1.0),
    ]
    graph = graph_of(6, chain)
    assert collect(graph, [0]).rows.tolist() == [1, 3, 5]
    assert collect(graph, [0], second_hop_kinds=0b11111).rows.tolist() == [1, 3, 5, 2, 4]
    assert collect(graph, [0], first_hop_kinds=1 << TERM).rows.tolist() == [3, 5]
    assert collect(graph, [0], hops=1).rows.tolist() == [1, 3]
    assert collect(graph, [0], hops=0).rows.tolist() == []


def test_recalled_rows_are_walked_through_and_filtered_rows_are_not() -> None:
    graph = graph_of(5, [(0, 1, SEMANTIC, 1.0), (1, 2, SEMANTIC, 0.5), (0, 3, SEMANTIC, 1.0), (3, 4, SEMANTIC, 1.0)])
    zone = collect(graph, [0], exclude=[1], allowed=[0, 1, 2, 4])
    assert as_ways(zone) == [Way(2, 2, 1, 0, 0.5, SEMANTIC)]
    assert collect(graph, [0], allowed=[1, 2]).rows.tolist() == []


def test_anchors_are_not_returned_and_the_nearest_one_is_named() -> None:
    graph = graph_of(4, [(0, 1, SEMANTIC, 1.0), (1, 2, SEMANTIC, 0.5), (2, 3, SEMANTIC, 1.0)])
    assert as_ways(collect(graph, [3, 0, 3, 1])) == [Way(2, 1, 3, 3, 1.0, SEMANTIC)]
    assert collect(graph, []).rows.tolist() == []
    assert collect(graph, [77], allowed=[77, 0]).rows.tolist() == []


def test_visits_are_bounded_and_the_last_hop_gives_up_its_weakest() -> None:
    star = [(0, row, SEMANTIC, 1.0 - row / 64) for row in range(1, 9)]
    graph = graph_of(10, [*star, (1, 9, SEMANTIC, 1.0)])
    assert collect(graph, [0], visited_max=3).rows.tolist() == [1, 2, 3]
    assert collect(graph, [0], visited_max=8).rows.tolist() == list(range(1, 9))
    assert collect(graph, [0], visited_max=9).rows.tolist() == list(range(1, 10))
    # Rows that are only walked through are visits too.
    assert collect(graph, [0], exclude=[1, 2], visited_max=3).rows.tolist() == [3]
    assert collect(graph, [0], visited_max=0).rows.tolist() == []


def test_staged_edges_are_not_walked() -> None:
    graph = graph_of(3, [(0, 1, SEMANTIC, 1.0)])
    graph.stage(2, rows(0), np.zeros(1, np.uint8), np.ones(1, np.float32))
    assert collect(graph, [0]).rows.tolist() == [1]


def test_too_many_hops_are_refused() -> None:
    with pytest.raises(ValueError, match="hops is 256"):
        collect(graph_of(1, []), [0], hops=256)


def test_support_unites_the_best_of_both_channels() -> None:
    zone = zone_of((10, 1, 0.5), (11, 1, 0.5), (12, 1, 0.5), (13, 2, 0.25))
    # Ranks: semantic 11, 12; structural 13, 11. The score sums 5 / (5 + rank).
    chosen = support(zone, [0.1, 0.9, 0.5, NAN], [NAN, 0.3, 0.0, 0.6], top_k_per_channel=2)
    assert chosen == [
        (11, pytest.approx(1 + 5 / 6), 0b11, 1),
        (13, 1.0, 0b10, 3),
        (12, pytest.approx(5 / 6), 0b01, 2),
    ]


def test_a_channel_that_shares_nothing_or_is_left_out_gives_no_support() -> None:
    zone = zone_of((1, 1, 0.5), (2, 1, 0.5))
    assert support(zone, None, [0.0, NAN]) == []
    assert support(zone, None, None) == []
    assert [row for row, *_ in support(zone, [-0.5, -0.25], None)] == [2, 1]
    assert support(zone, [0.5, 0.25], None, top_k_per_channel=0) == []


def test_near_ties_go_to_the_unit_nearer_an_anchor_then_the_stronger_path() -> None:
    zone = zone_of((1, 2, 0.9), (2, 1, 0.5), (3, 1, 0.625), (4, 1, 0.5), (5, 1, 1.0))
    # 0.800 .. 0.795 is one group, ordered by hop, strength, row; 0.785 opens the next.
    scores = [0.8, 0.796, 0.795, 0.796, 0.785]
    assert [row for row, *_ in support(zone, scores, None)] == [3, 2, 4, 1, 5]
    assert [row for row, *_ in support(zone, scores, None, near_tie=0.0)] == [1, 2, 4, 3, 5]


def test_a_near_tie_decides_who_is_the_last_to_enter() -> None:
    zone = zone_of((1, 1, 0.5), (2, 2, 0.5), (3, 1, 0.5))
    assert [row for row, *_ in support(zone, [0.9, 0.505, 0.5], None, top_k_per_channel=2)] == [1, 3]


def test_a_gap_of_exactly_near_tie_is_still_a_tie() -> None:
    zone = zone_of((1, 2, 0.5), (2, 1, 0.5), (3, 1, 0.25))
    assert [row for row, *_ in support(zone, [0.75, 0.5, 0.25], None, near_tie=0.25)] == [2, 1, 3]


def test_bad_scores_are_refused() -> None:
    zone = zone_of((1, 1, 0.5), (2, 1, 0.5))
    with pytest.raises(ValueError, match="structural has 1 scores, the zone has 2 rows"):
        support(zone, [0.5, 0.5], [0.5])
    with pytest.raises(ValueError, match="infinite"):
        support(zone, [0.5, float("inf")], None)
    with pytest.raises(ValueError, match="not finite"):
        zone_of((1, 1, NAN))


def test_nearest_units_without_a_target() -> None:
    zone = zone_of((1, 2, 1.0), (2, 1, 0.25), (3, 1, 0.5), (4, 1, 0.25))
    chosen_rows, scores, channels, index = _core.select_nearest(zone, 3)
    assert chosen_rows.tolist() == [3, 2, 4]
    assert scores.tolist() == [0.5, 0.25, 0.25]
    assert channels.tolist() == [0, 0, 0]
    assert index.tolist() == [2, 1, 3]
    assert _core.select_nearest(zone, 9)[0].tolist() == [3, 2, 4, 1]


COUNT = 10
edge_maps = st.dictionaries(
    st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1), st.integers(0, 4)).filter(
        lambda key: key[0] < key[1]
    ),
    st.sampled_from([0.25, 0.5, 0.7, 1.0]),
    max_size=25,
)
row_sets = st.sets(st.integers(0, COUNT - 1), max_size=4)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    edge_maps,
    st.lists(st.integers(0, COUNT - 1), max_size=3),
    row_sets,
    row_sets,
    st.integers(0, 4),
    st.integers(0, 31),
    st.integers(0, 31),
    st.sampled_from([0, 2, 5, 4096]),
)
def test_zone_agrees_with_the_twin(
    edges: dict[tuple[int, int, int], float],
    anchors: list[int],
    exclude: set[int],
    forbidden: set[int],
    hops: int,
    first_kinds: int,
    further_kinds: int,
    visited_max: int,
) -> None:
    graph = graph_of(COUNT, [(*key, weight) for key, weight in edges.items()])
    neighbors = defaultdict(list)
    for (a, b, kind), weight in edges.items():
        neighbors[a].append((b, kind, weight))
        neighbors[b].append((a, kind, weight))
    allowed = set(range(COUNT)) - forbidden
    zone = collect(
        graph,
        anchors,
        exclude,
        allowed,
        hops=hops,
        first_hop_kinds=first_kinds,
        second_hop_kinds=further_kinds,
        visited_max=visited_max,
    )
    expected = twin.collect_zone(
        neighbors,
        anchors,
        exclude,
        allowed,
        hops=hops,
        first_kinds=first_kinds,
        further_kinds=further_kinds,
        visited_max=visited_max,
    )
    assert as_ways(zone) == expected


def random_graph(rng: np.random.Generator, count: int, edge_count: int) -> list[tuple[int, int, int, float]]:
    ends = rng.integers(0, count, (edge_count, 2))
    keys = {(min(a, b), max(a, b), k) for (a, b), k in zip(ends.tolist(), rng.integers(0, 5, edge_count), strict=True)}
    return [(a, b, int(k), float(rng.random() * 0.9 + 0.1)) for a, b, k in sorted(keys) if a != b]


def test_hops_are_shortest_path_lengths_on_a_large_graph() -> None:
    edges = random_graph(np.random.default_rng(11), 5_000, 15_000)
    graph = graph_of(5_000, edges)
    zone = collect(graph, [5, 4_000], hops=4, second_hop_kinds=0b11111, visited_max=100_000)
    network = nx.Graph((a, b) for a, b, _, _ in edges)
    expected = nx.multi_source_dijkstra_path_length(network, {5, 4_000}, cutoff=4, weight=lambda *_: 1)
    hops = dict(zip(zone.rows.tolist(), zone.hops.tolist(), strict=True))
    assert hops == {row: hop for row, hop in expected.items() if hop > 0}
    assert len(hops) > 500


def test_path_strength_is_the_product_along_the_parents() -> None:
    edges = random_graph(np.random.default_rng(12), 500, 2_000)
    zone = collect(graph_of(500, edges), [0, 1], hops=3, second_hop_kinds=0b11111)
    weight_of = {(a, b, kind): weight for a, b, kind, weight in edges}
    by_row = {way.row: way for way in as_ways(zone)}
    for way in by_row.values():
        step, product = way, 1.0
        while True:
            product *= weight_of[min(step.row, step.parent), max(step.row, step.parent), step.kind]
            if step.hop == 1:
                break
            step = by_row[step.parent]
        assert step.parent == way.anchor
        # Three roundings of float32.
        assert way.strength == pytest.approx(product, rel=3e-7)


score_lists = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.sampled_from([0.25, 0.5, 1.0]),
        st.one_of(st.just(NAN), st.integers(-20, 60).map(lambda i: i / 64), st.floats(0.375, 0.4375, width=32)),
        st.one_of(st.just(NAN), st.integers(0, 64).map(lambda i: i / 64)),
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    score_lists,
    st.integers(0, 6),
    st.sampled_from([0.0, 0.01, 0.05, 1.0]),
    st.randoms(use_true_random=False),
)
def test_support_agrees_with_the_twin_in_any_order_of_the_zone(
    entries: list[tuple[int, float, float, float]], top_k: int, near_tie: float, random: object
) -> None:
    order = list(range(len(entries)))
    random.shuffle(order)  # type: ignore[attr-defined]
    ways = [Way(row, entries[row][0], 0, 0, np.float32(entries[row][1]), 0) for row in order]
    zone = zone_of(*((way.row, way.hop, way.strength) for way in ways))
    semantic, structural = ([entries[row][column] for row in order] for column in (2, 3))
    chosen = support(zone, semantic, structural, top_k_per_channel=top_k, near_tie=near_tie)
    assert chosen == twin.select_support(ways, semantic, structural, top_k=top_k, near_tie=near_tie)
    assert _core.select_nearest(zone, top_k)[0].tolist() == twin.select_nearest(ways, top_k)
    in_order = [entries[row] for row in range(len(entries))]
    straight = support(
        zone_of(*((row, entry[0], entry[1]) for row, entry in enumerate(in_order))),
        [entry[2] for entry in in_order],
        [entry[3] for entry in in_order],
        top_k_per_channel=top_k,
        near_tie=near_tie,
    )
    assert [found[:3] for found in straight] == [found[:3] for found in chosen]
