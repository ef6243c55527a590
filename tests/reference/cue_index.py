"""The cue index as a dict of units; candidates and the cue view by looking at every one of them."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, field

import numpy as np

PARTICIPANT, LOCATION = range(2)
NO_TIME = -(2**63)
FAR_GAP = 2**64 - 1
DECAY_SECONDS = 7 * 86_400
LONGEST_SECONDS = 100 * 366 * 86_400

Cue = tuple[int, int]


@dataclass(frozen=True)
class Cues:
    participants: tuple[int, ...] = ()
    locations: tuple[int, ...] = ()
    time: tuple[int, int] = (NO_TIME, NO_TIME)
    said_at: int = NO_TIME

    def cues(self) -> set[Cue]:
        return {(PARTICIPANT, i) for i in self.participants} | {(LOCATION, i) for i in self.locations}

    def has_time(self) -> bool:
        return self.time[0] != NO_TIME and self.time[1] - self.time[0] <= LONGEST_SECONDS


def interval_gap(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(0, a[0] - b[1], b[0] - a[1])


def gap(a: Cues, b: Cues) -> int:
    """Seconds between what happened, where both say when; else between when they were said."""
    if a.has_time() and b.has_time():
        return interval_gap(a.time, b.time)
    return FAR_GAP if NO_TIME in (a.said_at, b.said_at) else abs(a.said_at - b.said_at)


@dataclass
class ShadowCues:
    units: dict[int, Cues] = field(default_factory=dict)

    def rows(self, cue: Cue) -> list[int]:
        return sorted(row for row, unit in self.units.items() if cue in unit.cues())

    def _held_cues(self, query: Cues) -> dict[Cue, int]:
        """With their counts, rarest first, then by kind and id."""
        counts = {cue: len(self.rows(cue)) for cue in query.cues()}
        return {cue: counts[cue] for cue in sorted(counts, key=lambda c: (counts[c], c)) if counts[cue]}

    def candidates(self, query: Cues, self_row: int | None, allowed: Container[int], most: int) -> list[int]:
        cues = list(self._held_cues(query))
        ranked = []
        for row, unit in self.units.items():
            if row == self_row or row not in allowed:
                continue
            held = unit.cues()
            shared = [rank for rank, cue in enumerate(cues) if cue in held]
            if shared or (query.has_time() and unit.has_time()):
                first = shared[0] if shared else len(cues)
                ranked.append((first, gap(query, unit), -unit.said_at, -row))
        return [-place[3] for place in sorted(ranked)[:most]]

    def search(self, query: Cues, k: int, allowed: Container[int]) -> list[tuple[int, float]]:
        cues = self._held_cues(query)
        ranked = []
        for row, unit in self.units.items():
            held = unit.cues()
            both_timed = query.has_time() and unit.has_time()
            score = 0.0
            for cue, count in cues.items():
                score += math.log(1.0 + len(self.units) / count) if cue in held else 0.0
            if row in allowed and (both_timed or score > 0.0):
                if both_timed:
                    score += math.exp(-interval_gap(query.time, unit.time) / DECAY_SECONDS)
                ranked.append((-float(np.float32(score)), -unit.said_at, -row))
        return [(-row, -score) for score, _, row in sorted(ranked)[:k]]
