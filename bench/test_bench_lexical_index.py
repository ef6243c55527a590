"""Word search: BM25 of the 50 best rows for queries of six words, of single units and of windows (radius 2).

Data: units of 1 + Poisson(9) words from a vocabulary of 30,000 with frequencies 1 / (rank + 15), in sessions
of 20, seed 20260423; query words are drawn as the units' words are (`postings` in extra_info is what a query
reads). Each timed call runs 64 queries.
Rivals: NumPy over ready CSR postings, bm25s (both static: they pay a rebuild for every unit added), SQLite's
FTS5 (grows, as ours does). Ours and NumPy give the same rows; bm25s and FTS5 have other formulas, so only the
words of their rows are checked.
Not measured: cutting texts into words (test_bench_text), memory, and searches beside a writer.

    python -P -m pytest bench/test_bench_lexical_index.py
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from ripple import _core

SEED = 20260423
SIZES = [10_000, 100_000, 1_000_000]
VOCABULARY, QUERY_WORDS, QUERIES, TOP_K = 30_000, 6, 64, 50
SESSION, RADIUS = 20, 2
K1, B = float(np.float32(0.9)), float(np.float32(0.4))
NO_ROW = 2**32 - 1
CONSONANTS = "bcdfghjklmnpqrtv"  # 16 digits; words without a vowel are their own stems


def word(number: int) -> str:
    return "k" + "".join(CONSONANTS[number >> shift & 15] for shift in (12, 8, 4, 0))


@dataclass(frozen=True)
class Corpus:
    numbers: list[np.ndarray]
    queries: list[np.ndarray]

    def texts(self) -> Iterator[str]:
        words = [word(number) for number in range(VOCABULARY)]
        return (" ".join(words[number] for number in unit) for unit in self.numbers)


@cache
def corpus(size: int) -> Corpus:
    rng = np.random.default_rng(SEED)
    frequency = 1 / (np.arange(VOCABULARY) + 15)
    cumulative = np.cumsum(frequency / frequency.sum())

    def draw(count: int) -> np.ndarray:
        return np.minimum(np.searchsorted(cumulative, rng.random(count)), VOCABULARY - 1)

    ends = np.cumsum(1 + rng.poisson(9, size))
    words = draw(ends[-1])
    occurrences = np.bincount(words, minlength=VOCABULARY)
    queries: list[np.ndarray] = []
    while len(queries) < QUERIES:
        query = np.unique(draw(QUERY_WORDS))
        if len(query) == QUERY_WORDS and occurrences[query].sum() >= 4 * TOP_K:
            queries.append(query)
    return Corpus(np.split(words, ends[:-1]), queries)


@cache
def index_of(size: int) -> _core.LexicalIndex:
    index = _core.LexicalIndex()
    for row, text in enumerate(corpus(size).texts()):
        index.add(row, *index.intern(text))
        index.reveal(row)
    return index


@dataclass(frozen=True)
class Postings:
    """CSR by word: rows and counts; lengths by row."""

    indptr: np.ndarray
    rows: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray

    def of(self, number: int) -> slice:
        return slice(self.indptr[number], self.indptr[number + 1])

    def top(self, scores: np.ndarray) -> np.ndarray:
        scores = scores.astype(np.float32)
        best = np.argpartition(-scores, TOP_K)[:TOP_K]
        floor = scores[best].min()
        best = np.flatnonzero((scores >= floor) & (scores > 0))  # all ties at the end
        return best[np.lexsort((best, -scores[best]))][:TOP_K]

    def idf(self, df: int) -> float:
        return float(np.log(1 + (len(self.lengths) - df + 0.5) / (df + 0.5)))

    def search(self, query: np.ndarray) -> np.ndarray:
        norms = K1 * (1 - B + B * self.lengths / self.lengths.mean())
        scores = np.zeros(len(self.lengths))
        for number in query:
            part = self.of(number)
            rows, tf = self.rows[part], self.counts[part]
            scores[rows] += self.idf(len(rows)) * (K1 + 1) * tf / (tf + norms[rows])
        return self.top(scores)

    def search_windows(self, query: np.ndarray) -> np.ndarray:
        lengths = window_sums(self.lengths) / window_sums(np.ones(len(self.lengths)))  # of a member on average
        norms = K1 * (1 - B + B * lengths / self.lengths.mean())
        scores = np.zeros(len(self.lengths))
        for number in query:
            part = self.of(number)
            counts = np.zeros(len(self.lengths))
            counts[self.rows[part]] = self.counts[part]
            tf = window_sums(counts)
            scores += self.idf(int(np.count_nonzero(tf))) * (K1 + 1) * tf / (tf + norms)
        return self.top(scores)


def window_sums(values: np.ndarray) -> np.ndarray:
    sessions = np.pad(values.reshape(-1, SESSION), ((0, 0), (RADIUS, RADIUS)))
    return sum(sessions[:, shift : shift + SESSION] for shift in range(2 * RADIUS + 1)).ravel()


@cache
def postings_of(size: int) -> Postings:
    units = corpus(size).numbers
    lengths = np.array([len(unit) for unit in units])
    keys = np.concatenate(units).astype(np.int64) * size + np.repeat(np.arange(size), lengths)
    keys, counts = np.unique(keys, return_counts=True)
    indptr = np.searchsorted(keys // size, np.arange(VOCABULARY + 1))
    return Postings(indptr, keys % size, counts, lengths)


def term_ids(size: int) -> list[np.ndarray]:
    index = index_of(size)
    return [index.lookup(" ".join(map(word, query)))[0] for query in corpus(size).queries]


def run(benchmark: BenchmarkFixture, size: int, search: Callable[[int], np.ndarray]) -> list[np.ndarray]:
    """All queries in one timed call; results by query."""
    postings = postings_of(size)
    read = [sum(int(np.diff(postings.indptr)[n]) for n in query) for query in corpus(size).queries]
    benchmark.extra_info |= {
        "n": size,
        "queries": QUERIES,
        "words": QUERY_WORDS,
        "top_k": TOP_K,
        "seed": SEED,
    }
    benchmark.extra_info["postings"] = int(np.median(read))
    return benchmark(lambda: [search(number) for number in range(QUERIES)])


def links(size: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(size)
    previous = np.where(rows % SESSION == 0, NO_ROW, rows - 1).astype(np.uint32)
    following = np.where(rows % SESSION == SESSION - 1, NO_ROW, rows + 1).astype(np.uint32)
    return previous, following


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.benchmark(group="words")
def test_ripple(benchmark: BenchmarkFixture, size: int) -> None:
    index, queries = index_of(size), term_ids(size)
    found = run(benchmark, size, lambda i: index.search(queries[i], TOP_K)[0])
    for query, rows in zip(corpus(size).queries, found, strict=True):
        np.testing.assert_array_equal(rows, postings_of(size).search(query))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.benchmark(group="words")
def test_ripple_score_of_fifty_rows(benchmark: BenchmarkFixture, size: int) -> None:
    index, queries = index_of(size), term_ids(size)
    hits = [index.search(query, TOP_K) for query in queries]
    found = run(benchmark, size, lambda i: index.score(queries[i], hits[i][0]))
    for (_, scores), again in zip(hits, found, strict=True):
        np.testing.assert_array_equal(again, scores)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.benchmark(group="words")
def test_numpy(benchmark: BenchmarkFixture, size: int) -> None:
    queries = corpus(size).queries
    found = run(benchmark, size, lambda i: postings_of(size).search(queries[i]))
    assert all(len(rows) == TOP_K for rows in found)


@pytest.mark.parametrize("size", SIZES[:2])
@pytest.mark.benchmark(group="words")
def test_bm25s(benchmark: BenchmarkFixture, size: int) -> None:
    bm25s = pytest.importorskip("bm25s")
    retriever = bm25s.BM25(method="lucene", k1=K1, b=B)
    retriever.index([text.split() for text in corpus(size).texts()], show_progress=False)
    queries = [[list(map(word, query))] for query in corpus(size).queries]
    found = run(benchmark, size, lambda i: retriever.retrieve(queries[i], k=TOP_K, show_progress=False).documents[0])
    check_words(size, found)


@pytest.mark.parametrize("size", SIZES[:2])
@pytest.mark.benchmark(group="words")
def test_sqlite_fts5(benchmark: BenchmarkFixture, size: int) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE units USING fts5(text)")
    database.executemany("INSERT INTO units(rowid, text) VALUES (?, ?)", enumerate(corpus(size).texts()))
    queries = [" OR ".join(map(word, query)) for query in corpus(size).queries]
    statement = "SELECT rowid FROM units WHERE units MATCH ? ORDER BY rank LIMIT ?"
    found = run(
        benchmark,
        size,
        lambda i: np.array([row for (row,) in database.execute(statement, (queries[i], TOP_K))]),
    )
    database.close()
    check_words(size, found)


def check_words(size: int, found: list[np.ndarray]) -> None:
    for query, rows in zip(corpus(size).queries, found, strict=True):
        assert len(rows) == TOP_K
        assert all(np.isin(corpus(size).numbers[row], query).any() for row in rows)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.benchmark(group="windows")
def test_ripple_windows(benchmark: BenchmarkFixture, size: int) -> None:
    index, queries = index_of(size), term_ids(size)
    previous, following = links(size)

    def search(i: int) -> np.ndarray:
        return index.search_windows(queries[i], TOP_K, previous, following, RADIUS)[0]

    found = run(benchmark, size, search)
    for query, rows in zip(corpus(size).queries[:8], found, strict=False):
        np.testing.assert_array_equal(rows, postings_of(size).search_windows(query))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.benchmark(group="windows")
def test_numpy_windows(benchmark: BenchmarkFixture, size: int) -> None:
    queries = corpus(size).queries
    found = run(benchmark, size, lambda i: postings_of(size).search_windows(queries[i]))
    assert all(len(rows) == TOP_K for rows in found)


@pytest.mark.parametrize("size", SIZES[:2])
@pytest.mark.benchmark(group="add")
def test_ripple_add(benchmark: BenchmarkFixture, size: int) -> None:
    texts = list(corpus(size).texts())

    def build() -> _core.LexicalIndex:
        index = _core.LexicalIndex()
        for row, text in enumerate(texts):
            index.add(row, *index.intern(text))
            index.reveal(row)
        return index

    benchmark.extra_info |= {"n": size, "seed": SEED}
    assert len(benchmark.pedantic(build, rounds=3)) == size
