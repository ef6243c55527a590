"""A seeded graph for benchmarks: n units, on average six semantic and six structural edges each.

Structural edges lead to units at most 40 rows away (neighbours in time), half of the semantic ones anywhere,
so that a walk meets both near and far memory. Weights are uniform in 0.6 to 1.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ripple import _core

SEED = 20_260_423


class Edges(NamedTuple):
    src: NDArray[np.uint32]
    dst: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    weights: NDArray[np.float32]


@functools.cache
def make_edges(count: int) -> Edges:
    rng = np.random.default_rng(SEED)
    starts = np.tile(np.arange(count), 6)
    kinds = np.repeat([0, 1], 3 * count)
    near = starts + rng.integers(1, 41, len(starts))
    far = rng.integers(0, count, len(starts))
    ends = np.where((kinds == 0) & (rng.random(len(starts)) < 0.5), far, near % count)
    keys = np.stack([np.minimum(starts, ends), np.maximum(starts, ends), kinds], axis=1)
    keys = np.unique(keys[starts != ends], axis=0)
    weights = rng.uniform(0.6, 1.0, len(keys)).astype(np.float32)
    return Edges(keys[:, 0].astype(np.uint32), keys[:, 1].astype(np.uint32), keys[:, 2].astype(np.uint8), weights)


@functools.cache
def make_graph(count: int) -> _core.MemoryGraph:
    graph = _core.MemoryGraph()
    graph.grow(count + 1)
    graph.load(*make_edges(count))
    return graph


def make_csr(edges: Edges, count: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Both directions of each edge by row, other, kind: offsets, and places in (src -> dst, dst -> src)."""
    heads = np.concatenate([edges.src, edges.dst])
    tails = np.concatenate([edges.dst, edges.src])
    order = np.lexsort((np.tile(edges.kinds, 2), tails, heads))
    indptr = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(heads, minlength=count), out=indptr[1:])
    return indptr, order
