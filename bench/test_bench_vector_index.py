"""The vector index beside NumPy's matrix product and hnswlib.

Measured: the exact scan, the search of the graph, a filter that allows 1 % of the rows, building and
inserting; one thread each. Data: seeded unit vectors of dimension 256 around 500 centres (cosine to the own
centre about .78); queries from the same centres. Not measured: recall on real embeddings, many threads, other
dimensions. hnswlib gets the same M, ef and one thread; its wheel may be built for this processor, our kernel
is chosen at run time.
"""

from __future__ import annotations

import functools

import hnswlib
import numpy as np
import pytest

from reference.vector_index import clustered_vectors, nearest_rows, recall
from ripple import _core

DIMENSION = 256
K = 20
EF = 96
SEED = 11


@functools.cache
def vectors(rows):
    return clustered_vectors(rows, DIMENSION, centres=500, seed=SEED)


@functools.cache
def queries():
    return clustered_vectors(64, DIMENSION, centres=500, seed=SEED + 1)


@functools.cache
def exact_index(rows):
    index = _core.VectorIndex(DIMENSION)
    for row, vector in enumerate(vectors(rows)):
        index.add(row, vector)
    return index


@functools.cache
def graph_index(rows):
    index = _core.VectorIndex(DIMENSION, exact_below=1_000, ef_search=EF)
    for row, vector in enumerate(vectors(rows)):
        index.add(row, vector)
    index.build_step(rows)
    index.adopt_graph()
    return index


@functools.cache
def rival_index(rows):
    index = hnswlib.Index("ip", DIMENSION)
    index.init_index(rows, M=16, ef_construction=100, random_seed=SEED)
    index.set_num_threads(1)
    index.set_ef(EF)
    index.add_items(vectors(rows), num_threads=1)
    return index


def mask_of(rows):
    return _core.RowMask(np.asarray(rows, dtype=np.uint32))


def all_queries(search):
    """One round answers every query: caches are as warm as in use, and a round is long enough to time."""
    return [search(query) for query in queries()]


def note(benchmark, rows, **more):
    benchmark.extra_info.update(
        n=rows, dimension=DIMENSION, k=K, seed=SEED, isa=_core.isa_level(), queries=len(queries()), **more
    )


def mean_recall(found, wanted):
    return float(np.mean([recall(a, b) for a, b in zip(found, wanted, strict=True)]))


@pytest.mark.parametrize("rows", [1_000, 20_000])
@pytest.mark.parametrize("engine", ["ripple", "numpy"])
def test_exact_scan(benchmark, engine, rows):
    benchmark.group = f"exact scan, {rows} rows, 64 queries"
    matrix, index, everything = vectors(rows), exact_index(rows), mask_of(range(rows))

    def by_numpy(query):
        scores = matrix @ query
        best = np.argpartition(-scores, K)[:K]
        return best[np.lexsort((best, -scores[best]))]

    search = {"ripple": lambda q: index.search_exact(q, K, everything)[0], "numpy": by_numpy}[engine]
    found = benchmark(all_queries, search)
    note(benchmark, rows)
    assert mean_recall(found, [nearest_rows(matrix, q, K) for q in queries()]) > 0.999  # rounding at the border


@pytest.mark.parametrize("rows", [50_000])
@pytest.mark.parametrize("engine", ["ripple", "ripple exact", "hnswlib"])
def test_graph_search(benchmark, engine, rows):
    benchmark.group = f"graph search, {rows} rows, 64 queries"
    everything = mask_of(range(rows))
    search = {
        "ripple": lambda q: graph_index(rows).search(q, K, everything)[0],
        "ripple exact": lambda q: graph_index(rows).search_exact(q, K, everything)[0],
        "hnswlib": lambda q: rival_index(rows).knn_query(q, K, num_threads=1)[0][0],
    }[engine]
    search(queries()[0])
    found = benchmark(all_queries, search)
    reached = mean_recall(found, [nearest_rows(vectors(rows), q, K) for q in queries()])
    note(benchmark, rows, ef=EF, recall=reached)
    assert reached >= 0.95


@pytest.mark.parametrize("rows", [50_000])
@pytest.mark.parametrize("engine", ["ripple", "numpy"])
def test_filter_of_one_percent(benchmark, engine, rows):
    benchmark.group = f"1 % of {rows} rows allowed, 64 queries"
    allowed = np.sort(np.random.default_rng(SEED).choice(rows, rows // 100, replace=False))
    mask, matrix = mask_of(allowed), vectors(rows)
    search = {
        "ripple": lambda q: graph_index(rows).search(q, K, mask)[0],
        "numpy": lambda q: allowed[np.argsort(-(matrix[allowed] @ q), kind="stable")[:K]],
    }[engine]
    search(queries()[0])
    found = benchmark(all_queries, search)
    note(benchmark, rows, ef=EF)
    assert mean_recall(found, [allowed[nearest_rows(matrix[allowed], q, K)] for q in queries()]) > 0.999


@pytest.mark.parametrize("rows", [10_000])
@pytest.mark.parametrize("engine", ["ripple", "hnswlib"])
def test_build(benchmark, engine, rows):
    benchmark.group = f"build a graph of {rows} rows"

    def by_ripple():
        index = exact_index(rows)
        index.build_step(rows)
        index.adopt_graph()
        return index.stats()["graph_entries"]

    def by_hnswlib():
        rival_index.cache_clear()
        return rival_index(rows).get_current_count()

    vectors(rows), exact_index(rows)
    built = benchmark.pedantic({"ripple": by_ripple, "hnswlib": by_hnswlib}[engine], rounds=2)
    note(benchmark, rows, ef_construction=100)
    assert built == rows


def test_insert_into_a_graph(benchmark):
    rows = 50_000
    benchmark.group = f"one insertion beyond {rows} rows"
    index = graph_index(rows)
    fresh = clustered_vectors(400, DIMENSION, centres=500, seed=SEED + 2)
    numbers = iter(range(len(fresh)))

    def insert():
        number = next(numbers)
        index.add(rows + number, fresh[number])

    benchmark.pedantic(insert, rounds=400)
    note(benchmark, rows, ef_construction=100)
    for number in range(400):
        assert index.search(fresh[number], 1, mask_of(range(rows + 400)))[0][0] == rows + number
        index.remove(rows + number)
