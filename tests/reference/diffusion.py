"""Diffusion hop by hop over adjacency lists, in float32 like the core."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

FLOAT = np.float32


class Way(NamedTuple):
    row: int
    hop: int
    parent: int
    anchor: int
    strength: np.float32
    kind: int


def collect_zone(
    neighbors: Mapping[int, Sequence[tuple[int, int, float]]],
    anchors: Sequence[int],
    exclude: Collection[int],
    allowed: Collection[int],
    *,
    hops: int = 2,
    first_kinds: int = 0b11111,
    further_kinds: int = 0b00111,
    visited_max: int = 4096,
) -> list[Way]:
    """``neighbors[row]`` lists (other, kind, weight)."""
    frontier = [Way(a, 0, a, a, FLOAT(1), 0) for a in set(anchors) if a in allowed]
    seen = {way.row for way in frontier}
    zone: list[Way] = []
    visits = 0
    for hop in range(1, hops + 1):
        kinds = first_kinds if hop == 1 else further_kinds
        best: dict[int, Way] = {}
        for origin in frontier:
            for other, kind, weight in neighbors.get(origin.row, ()):
                if not kinds >> kind & 1 or other not in allowed or other in seen:
                    continue
                way = Way(other, hop, origin.row, origin.anchor, FLOAT(origin.strength * FLOAT(weight)), kind)
                held = best.get(other)
                if held is None or _order(way) < _order(held):
                    best[other] = way
        frontier = sorted(best.values(), key=lambda w: (-w.strength, w.row))[: visited_max - visits]
        visits += len(frontier)
        seen.update(way.row for way in frontier)
        zone.extend(way for way in frontier if way.row not in exclude)
    return zone


def _order(way: Way) -> tuple[float, int, int]:
    return (-float(way.strength), way.parent, way.kind)


def _nearness(way: Way) -> tuple[int, float, int]:
    return (way.hop, -float(way.strength), way.row)


def _ranked(zone: Sequence[Way], scores: Sequence[float], above: float, near_tie: float) -> list[int]:
    left = [i for i, score in enumerate(scores) if np.isfinite(score) and score > above]
    order: list[int] = []
    while left:
        top = FLOAT(max(scores[i] for i in left))
        group = [i for i in left if FLOAT(top - FLOAT(scores[i])) <= FLOAT(near_tie)]
        order += sorted(group, key=lambda i: _nearness(zone[i]))
        left = [i for i in left if i not in group]
    return order


def select_support(
    zone: Sequence[Way],
    semantic: Sequence[float] | None,
    structural: Sequence[float] | None,
    *,
    top_k: int = 5,
    near_tie: float = 0.01,
) -> list[tuple[int, float, int, int]]:
    """List of (row, score, channels, index in the zone)."""
    scores: dict[int, np.float32] = {}
    channels: dict[int, int] = {}
    for bit, values, above in ((1, semantic, -np.inf), (2, structural, 0.0)):
        ranked = [] if values is None else _ranked(zone, values, above, near_tie)
        for rank, i in enumerate(ranked[:top_k]):
            scores[i] = FLOAT(scores.get(i, FLOAT(0)) + FLOAT(5) / FLOAT(5 + rank))
            channels[i] = channels.get(i, 0) | bit
    order = sorted(scores, key=lambda i: (-scores[i], *_nearness(zone[i])))
    return [(zone[i].row, float(scores[i]), channels[i], i) for i in order]


def select_nearest(zone: Sequence[Way], k: int) -> list[int]:
    return [way.row for way in sorted(zone, key=_nearness)[:k]]
