"""LexicalIndex as plain dicts of words: BM25 of single rows and of windows, written from the formulas."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

NO_ROW = 2**32 - 1


@dataclass
class Document:
    counts: Counter[str]
    is_live: bool = False
    members: int = 1

    @property
    def length(self) -> int:
        return self.counts.total()


@dataclass
class ShadowIndex:
    k1: float
    b: float
    documents: dict[int, Document] = field(default_factory=dict)

    @property
    def live(self) -> dict[int, Document]:
        return {row: document for row, document in self.documents.items() if document.is_live}

    def vocabulary(self) -> set[str]:
        return {term for document in self.documents.values() for term in document.counts}

    def postings(self, term: str) -> list[tuple[int, int]]:
        held = ((row, document.counts[term]) for row, document in sorted(self.documents.items()))
        return [(row, count) for row, count in held if count]

    def average_length(self) -> float:
        lengths = [document.length for document in self.live.values()]
        return sum(lengths) / len(lengths) if any(lengths) else 1.0

    def idf(self, df: int) -> float:
        return math.log(1 + (len(self.live) - df + 0.5) / (df + 0.5))

    def scores(self, query: Iterable[str]) -> dict[int, float]:
        """BM25 of each live row that holds a term of the query."""
        return self._bm25(query, self.live, self.average_length())

    def windows(self, sessions: Sequence[Sequence[int]], radius: int, visible: Collection[int]) -> dict[int, Document]:
        """Each visible row with its neighbours as one document; others are cut out of their session."""
        windows, live = {}, self.live
        for session in sessions:
            rows = [row for row in session if row in visible and row in live]
            for at, row in enumerate(rows):
                near = rows[max(0, at - radius) : at + radius + 1]
                counts = sum((self.documents[one].counts for one in near), Counter())
                windows[row] = Document(counts, members=len(near))
        return windows

    def window_scores(self, query: Iterable[str], windows: dict[int, Document]) -> dict[int, float]:
        """As scores(), of windows; their average length is that of units times their members."""
        return self._bm25(query, windows, self.average_length())

    def _bm25(self, query: Iterable[str], documents: dict[int, Document], average_length: float) -> dict[int, float]:
        scores: dict[int, float] = {}
        for term in dict.fromkeys(query):
            idf = self.idf(sum(term in document.counts for document in documents.values()))
            for row, document in documents.items():
                if tf := document.counts[term]:
                    norm = self.k1 * (1 - self.b + self.b * document.length / document.members / average_length)
                    scores[row] = scores.get(row, 0.0) + idf * tf * (self.k1 + 1) / (tf + norm)
        return scores


def ranked(scores: dict[int, float], k: int, allowed: Collection[int]) -> list[tuple[int, float]]:
    """The k best allowed rows, score (in single precision) down, then row up."""
    rounded = [(row, float(np.float32(score))) for row, score in scores.items() if row in allowed]
    return sorted(rounded, key=lambda hit: (-hit[1], hit[0]))[:k]


def links(sessions: Sequence[Sequence[int]], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Previous and next row of each row; NO_ROW at the ends."""
    previous, following = np.full((2, rows), NO_ROW, np.uint32)
    for session in sessions:
        previous[session[1:]] = session[:-1]
        following[session[:-1]] = session[1:]
    return previous, following
