"""Embedders for tests: one that hashes words, and one that fails as it is told to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

WORD = re.compile(r"\w+")


class HashEmbedder:
    """Words hashed into 24 dimensions: texts that share words are near. No native embedding of targets."""

    name = "hash-24"
    dimension = 24

    def embed(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in WORD.findall(text.lower()):
                digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
                row[digest[0] % self.dimension] += 1.0 if digest[1] & 1 else -1.0
                row[digest[2] % self.dimension] += 0.5
        return rows


class FaultyEmbedder(HashEmbedder):
    """A HashEmbedder whose answer goes through ``fault`` while there is one."""

    fault: Callable[[np.ndarray], Any] | None = None

    def embed(self, texts: Sequence[str]) -> Any:
        rows = super().embed(texts)
        return rows if self.fault is None else self.fault(rows)
