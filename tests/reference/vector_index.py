"""The vector index as a dict of unit vectors, compared one by one in double precision."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


def to_unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    wide = vector.astype(np.float64)
    length = np.sqrt((wide * wide).sum())
    return np.asarray(wide if abs(length - 1.0) <= 1e-6 else wide / length, np.float32)


@dataclass
class ShadowVectors:
    units: dict[int, NDArray[np.float32]] = field(default_factory=dict)

    def add(self, row: int, vector: NDArray[np.float32]) -> None:
        self.units[row] = to_unit(vector)

    def remove(self, row: int) -> None:
        self.units.pop(row, None)

    def search(self, query: NDArray[np.float32], k: int, allowed: Iterable[int]) -> list[tuple[int, float]]:
        """Row and score, score down then row up."""
        wide = query.astype(np.float64)
        scored = [(row, float(self.units[row].astype(np.float64) @ wide)) for row in allowed if row in self.units]
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k]


def nearest_rows(units: NDArray[np.float32], query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The k rows of a matrix with the highest dot product, score down then row up."""
    return np.argsort(-(units @ query), kind="stable")[:k]


def recall(found: Iterable[int], wanted: Iterable[int]) -> float:
    truth = set(wanted)
    return len(truth & set(found)) / len(truth)


def clustered_vectors(rows: int, dimension: int, centres: int, seed: int, noise: float = 0.8) -> NDArray[np.float32]:
    """Unit vectors around random centres, as embeddings of a conversation lie around its topics."""
    random = np.random.default_rng(seed)
    middle = np.random.default_rng(centres).standard_normal((centres, dimension))
    points = middle[random.integers(0, centres, rows)] + noise * random.standard_normal((rows, dimension))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True), np.float32)
