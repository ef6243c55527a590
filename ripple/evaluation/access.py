"""Ways of finding evidence among the same units with the same budget, so that only the way makes a difference.

===============  =======================================================================================
``dense``        the units nearest to the question by cosine
``hybrid``       the best by three times the cosine plus BM25, which reads a unit with its neighbours and is
                 scaled by the question's words, without cues and expansion
``familiarity``  hybrid; where its best cosine is below `FAMILIAR`, also undirected expansion, in the manner of
                 RF-Mem's gate between recognition and recollection
``undirected``   ripple's first recall with undirected expansion
``ripple``       first recall with expansion towards what is missing
===============  =======================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ripple._engine import FITTED_FEATURES
from ripple.errors import InvalidInputError
from ripple.evaluation.runner import EvaluatedMemory, EvaluatedRecall
from ripple.types import Evidence

__all__ = ["ACCESSES", "FAMILIAR", "AccessedMemory"]

ACCESSES = ("dense", "hybrid", "familiarity", "undirected", "ripple")
FAMILIAR = 0.6
"""Cosine of a familiar memory."""

_WINDOW, _DENSE = 0, 5
"""Columns of BM25 and of the cosine in the fitted sum."""
_COSINE_SCALE = 3.0
"""What the column of the cosine holds is so many times the cosine."""


def _weights(*columns: int) -> tuple[float, ...]:
    return tuple(float(column in columns) for column in range(FITTED_FEATURES))


_OPTIONS: dict[str, dict[str, Any]] = {
    "dense": {"expansion": "none", "weights": _weights(_DENSE), "without": frozenset({"lexical", "cues"})},
    "hybrid": {"expansion": "none", "weights": _weights(_DENSE, _WINDOW), "without": frozenset({"cues"})},
    "undirected": {"expansion": "undirected"},
    "ripple": {"expansion": "targeted"},
}


class AccessedMemory:
    """A memory whose recall goes one of the ways, whatever expansion, ranking and parts are asked for.

    Attributes
    ----------
    taken : Counter
        How many recalls went which way; more than one only for ``familiarity``.
    """

    def __init__(self, memory: EvaluatedMemory, access: str) -> None:
        if access not in ACCESSES:
            raise InvalidInputError(f"access is {access!r}; want one of {', '.join(ACCESSES)}")
        self._access = access
        self.taken: Counter[str] = Counter()
        self.add = memory.add
        self.get_all = memory.get_all
        self.stats = memory.stats
        self.delete_namespace = memory.delete_namespace
        self._recall = memory.recall

    def recall(
        self, query: str, *, namespace: str = "default", top_k: int = 30, now: datetime | None = None, **_: Any
    ) -> EvaluatedRecall:
        """Return the evidence that the way finds; rules plan."""

        def find(**options: Any) -> EvaluatedRecall:
            return self._recall(query, namespace=namespace, top_k=top_k, now=now, planner="rules", **options)

        way = "hybrid" if self._access == "familiarity" else self._access
        found = find(**_OPTIONS[way])
        if self._access == "familiarity" and _best_cosine(found.evidence) < FAMILIAR:
            way = "hybrid and undirected"
            found = find(**_OPTIONS["hybrid"] | {"expansion": "undirected"})
        self.taken[way] += 1
        return found


def _best_cosine(evidence: Sequence[Evidence]) -> float:
    return max((piece.parts.get("dense", 0.0) for piece in evidence), default=0.0) / _COSINE_SCALE
