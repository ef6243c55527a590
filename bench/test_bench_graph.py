"""Writing one unit into a grown graph, and taking a CSR snapshot of it.

Data: bench/graph_data.py, about 12 edges a unit. The unit asks for 20 semantic and 20 structural edges among
the units before it; most candidates are full, so edges are evicted. Staged and discarded, so each round sees
the same graph. Rivals: the same rule over Python dicts; NumPy sorting for the snapshot. Not measured: finding
candidates, and ties (the weights differ).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from graph_data import SEED, make_csr, make_edges, make_graph
from pytest_benchmark.fixture import BenchmarkFixture

SIZES = [10_000, 100_000, 1_000_000]
CAP = 6
Adjacency = dict[int, dict[tuple[int, int], float]]


def asked_edges(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED + 1)
    others = np.concatenate([rng.choice(count, 20, replace=False), np.arange(count - 20, count)])
    weights = rng.uniform(0.6, 1.0, 40).astype(np.float32)
    return others.astype(np.uint32), np.repeat([0, 1], 20).astype(np.uint8), weights


def as_dicts(count: int) -> Adjacency:
    adjacency: Adjacency = {row: {} for row in range(count + 1)}
    for src, dst, kind, weight in zip(*(column.tolist() for column in make_edges(count)), strict=True):
        adjacency[src][dst, kind] = adjacency[dst][src, kind] = weight
    return adjacency


def stage_in_dicts(
    adjacency: Adjacency, row: int, candidates: list[tuple[int, int, float]]
) -> tuple[set[tuple[int, int, int]], set[tuple[int, int, int]]]:
    """The net (added, evicted) edges; the weights of the data are distinct, so no ties arise."""
    added: dict[tuple[int, int], float] = {}
    evicted: set[tuple[int, int, int]] = set()
    for other, kind, weight in sorted(candidates, key=lambda c: -c[2]):
        held = [(w, o) for (o, k), w in added.items() if k == kind]
        if len(held) >= CAP:
            continue
        there = [
            (w, o)
            for (o, k), w in adjacency[other].items()
            if k == kind and (min(o, other), max(o, other), kind) not in evicted
        ]
        if len(there) >= CAP:
            weakest, leaving = min(there)
            if weakest > weight:
                continue
            evicted.add((min(leaving, other), max(leaving, other), kind))
        added[other, kind] = weight
    return {(other, row, kind) for other, kind in added}, evicted


def keys(edges: tuple[np.ndarray, ...]) -> set[tuple[int, int, int]]:
    return set(zip(*(column.tolist() for column in edges[:3]), strict=True))


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("rival", ["ripple", "dicts"])
def test_stage_one_unit(benchmark: BenchmarkFixture, count: int, rival: str) -> None:
    benchmark.group = f"stage one unit of 40 candidates, {count} units"
    others, kinds, weights = asked_edges(count)
    graph = make_graph(count)
    graph.stage(count, others, kinds, weights)
    expected = tuple(keys(part) for part in graph.staged())
    graph.discard()
    assert len(expected[0]) == 2 * CAP
    run: Callable[[], object]
    if rival == "ripple":

        def run() -> object:
            graph.stage(count, others, kinds, weights)
            staged = graph.staged()
            graph.discard()
            return staged

        assert tuple(keys(part) for part in benchmark(run)) == expected
    else:
        adjacency = as_dicts(count)
        candidates = list(zip(others.tolist(), kinds.tolist(), weights.tolist(), strict=True))
        assert benchmark(stage_in_dicts, adjacency, count, candidates) == expected


@pytest.mark.parametrize("count", SIZES[:2])
@pytest.mark.parametrize("rival", ["ripple", "numpy"])
def test_compact(benchmark: BenchmarkFixture, count: int, rival: str) -> None:
    benchmark.group = f"CSR snapshot, {count} units"
    graph, edges = make_graph(count), make_edges(count)
    indptr, indices, kinds, weights, _ = graph.compact()
    if rival == "ripple":
        benchmark(graph.compact)
    else:
        offsets, order = benchmark(make_csr, edges, count + 1)
        np.testing.assert_array_equal(indptr, offsets)
        np.testing.assert_array_equal(indices, np.concatenate([edges.dst, edges.src])[order])
        np.testing.assert_array_equal(kinds, np.tile(edges.kinds, 2)[order])
        np.testing.assert_array_equal(weights, np.tile(edges.weights, 2)[order])
