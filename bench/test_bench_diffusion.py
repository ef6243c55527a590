"""Two hops around three anchors, and choosing support from what they reach.

Data: bench/graph_data.py, about 12 edges a unit, every kind walked on both hops; the anchors' zone holds
several hundred units. Support is chosen from a zone by two channels of random scores in steps of 0.001, so
near ties are common. Rivals: level by level over a NumPy CSR, and the Python twin over dicts; all give the
same rows and strengths. Not measured: scoring the zone against the target.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from graph_data import SEED, Edges, make_csr, make_edges, make_graph
from pytest_benchmark.fixture import BenchmarkFixture

from reference import diffusion as twin
from ripple import _core

SIZES = [10_000, 100_000, 1_000_000]
HOPS = 2
TOP_K = 5


class NumpyZone:
    """The rival: a CSR, and one sort a hop to find the best way to each new row."""

    def __init__(self, edges: Edges, count: int) -> None:
        self.indptr, order = make_csr(edges, count)
        self.indices = np.concatenate([edges.dst, edges.src])[order]
        self.weights = np.tile(edges.weights, 2)[order]
        self.count = count

    def collect(self, anchors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen = np.zeros(self.count, bool)
        seen[anchors] = True
        frontier, strengths = anchors, np.ones(len(anchors), np.float32)
        rows, path_strengths = [], []
        for _ in range(HOPS):
            first, degree = self.indptr[frontier], np.diff(self.indptr)[frontier]
            source = np.repeat(np.arange(len(frontier)), degree)
            step = np.arange(degree.sum()) - np.repeat(np.cumsum(degree) - degree, degree)
            edge = first[source] + step
            other, strength = self.indices[edge], strengths[source] * self.weights[edge]
            fresh = ~seen[other]
            other, strength = other[fresh], strength[fresh]
            order = np.lexsort((-strength, other))
            best = order[np.r_[True, np.diff(other[order]) > 0]]
            best = best[np.lexsort((other[best], -strength[best]))]
            frontier, strengths = other[best], strength[best]
            seen[frontier] = True
            rows.append(frontier)
            path_strengths.append(strengths)
        return np.concatenate(rows), np.concatenate(path_strengths)


def all_kinds() -> _core.DiffusionOptions:
    options = _core.DiffusionOptions()
    options.hops = HOPS
    options.second_hop_kinds = 0b11111
    return options


def anchors_of(count: int) -> np.ndarray:
    return np.random.default_rng(SEED + 2).choice(count, 3, replace=False).astype(np.uint32)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("rival", ["ripple", "numpy", "dicts"])
def test_two_hop_zone(benchmark: BenchmarkFixture, count: int, rival: str) -> None:
    benchmark.group = f"two-hop zone of 3 anchors, {count} units of 12 edges"
    anchors, edges, graph = anchors_of(count), make_edges(count), make_graph(count)
    allowed, nothing = _core.RowMask(np.arange(count, dtype=np.uint32)), _core.RowMask(np.zeros(0, np.uint32))
    zone = _core.collect_zone(graph, anchors, nothing, allowed, all_kinds())
    benchmark.extra_info |= {"zone": len(zone.rows), "seed": SEED}
    assert len(zone.rows) > 200
    if rival == "ripple":
        rows, strengths = zone.rows, zone.strengths
        benchmark(_core.collect_zone, graph, anchors, nothing, allowed, all_kinds())
    elif rival == "numpy":
        rows, strengths = benchmark(NumpyZone(edges, count).collect, anchors)
    else:
        neighbors = defaultdict(list)
        for a, b, kind, weight in zip(*(column.tolist() for column in edges), strict=True):
            neighbors[a].append((b, kind, weight))
            neighbors[b].append((a, kind, weight))
        ways = benchmark(twin.collect_zone, neighbors, anchors.tolist(), (), range(count), further_kinds=31)
        rows, strengths = [way.row for way in ways], [way.strength for way in ways]
    np.testing.assert_array_equal(zone.rows, rows)
    np.testing.assert_array_equal(zone.strengths, strengths)


def select_in_numpy(
    hops: np.ndarray, strengths: np.ndarray, rows: np.ndarray, channels: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The rival: a mask a group of near ties, lexsort inside it; (zone_index, scores)."""
    scores = np.zeros(len(rows), np.float32)
    for channel, floor in zip(channels, (-np.inf, 0.0), strict=True):
        left, chosen = np.flatnonzero(channel > floor), np.zeros(0, np.intp)
        while len(left) and len(chosen) < TOP_K:
            is_near = channel[left].max() - channel[left] <= np.float32(0.01)
            group, left = left[is_near], left[~is_near]
            group = group[np.lexsort((rows[group], -strengths[group], hops[group]))]
            chosen = np.concatenate([chosen, group])[:TOP_K]
        scores[chosen] += np.float32(5) / np.arange(5, 5 + len(chosen), dtype=np.float32)
    index = np.flatnonzero(scores)
    index = index[np.lexsort((rows[index], -strengths[index], hops[index], -scores[index]))]
    return index, scores[index]


@pytest.mark.parametrize("size", [400, 4_000])
@pytest.mark.parametrize("rival", ["ripple", "numpy"])
def test_select_support(benchmark: BenchmarkFixture, size: int, rival: str) -> None:
    benchmark.group = f"support from a zone of {size}"
    rng = np.random.default_rng(SEED + 3)
    rows = rng.permutation(size).astype(np.uint32)
    hops = rng.integers(1, 3, size).astype(np.uint8)
    strengths = rng.uniform(0.3, 1.0, size).astype(np.float32)
    semantic, structural = (rng.integers(0, 1000, size).astype(np.float32) / 1000 for _ in range(2))
    ways = [twin.Way(*way, 0) for way in zip(rows, hops, rows, rows, strengths, strict=True)]
    expected = twin.select_support(ways, semantic.tolist(), structural.tolist(), top_k=TOP_K)
    if rival == "ripple":
        zone = _core.Zone(rows, hops, strengths)
        _, scores, _, index = benchmark(_core.select_support, zone, semantic, structural)
    else:
        index, scores = benchmark(select_in_numpy, hops, strengths, rows, (semantic, structural))
    assert [(score, i) for _, score, _, i in expected] == list(zip(scores.tolist(), index.tolist(), strict=True))
