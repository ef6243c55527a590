"""The structural score of two units in exact fractions; only the decay of a time gap is a float."""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass, field
from fractions import Fraction

DAY = 86_400
NO_TIME = -(2**63)


@dataclass(frozen=True)
class Cues:
    participants: Set[int] = field(default_factory=frozenset)
    locations: Set[int] = field(default_factory=frozenset)
    time: tuple[int, int] | None = None


def _jaccard(a: Set[int], b: Set[int]) -> Fraction | None:
    return Fraction(len(a & b), len(a | b)) if a and b else None


def _closeness(a: tuple[int, int] | None, b: tuple[int, int] | None, tau: int, longest: int) -> Fraction | None:
    for time in (a, b):
        if time is None or time[1] < time[0] or time[1] - time[0] > longest:
            return None
    assert a is not None
    assert b is not None
    gap = max(a[0], b[0]) - min(a[1], b[1])
    return Fraction(1) if gap <= 0 else Fraction(math.exp(-gap / tau))


def structural_score(a: Cues, b: Cues, *, tau: int = 7 * DAY, longest: int = 100 * 366 * DAY) -> Fraction | None:
    parts = [
        (Fraction(5, 10), _jaccard(a.participants, b.participants)),
        (Fraction(2, 10), _jaccard(a.locations, b.locations)),
        (Fraction(3, 10), _closeness(a.time, b.time, tau, longest)),
    ]
    present = [(weight, part) for weight, part in parts if part is not None]
    if not present:
        return None
    return sum((w * part for w, part in present), Fraction(0)) / sum(w for w, _ in present)


def is_structural_edge(a: Cues, b: Cues) -> bool:
    score = structural_score(a, b)
    return score is not None and score >= Fraction(6, 10)
