"""MemoryGraph as two plain dicts: what readers see, and what they will see once the batch is revealed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

SEMANTIC, STRUCTURAL, STATE, SEQUENCE, TERM = range(5)
UNKNOWN_GAP = 2**64 - 1


class Edge(NamedTuple):
    src: int
    dst: int
    kind: int
    weight: float


Key = tuple[int, int, int]
Tie = Callable[[int, int], tuple[int, int]]


def key_of(edge: Edge) -> Key:
    return (min(edge.src, edge.dst), max(edge.src, edge.dst), edge.kind)


def place(edge: Edge, tie: Tie) -> tuple[float, ...]:
    """Smaller is stronger: weight, rarer cue, smaller gap, nearer rows, newer pair, kind."""
    low, high, kind = key_of(edge)
    return (-edge.weight, *tie(edge.src, edge.dst), high - low, -high, kind)


@dataclass
class ShadowGraph:
    caps: dict[int, int]
    revealed: dict[Key, Edge] = field(default_factory=dict)
    working: dict[Key, Edge] = field(default_factory=dict)

    def _leaving(self, row: int, edge: Edge, tie: Tie) -> Edge | None:
        rivals = [e for e in self.working.values() if e.kind == edge.kind and row in (e.src, e.dst)]
        if len(rivals) < self.caps.get(edge.kind, len(rivals) + 1):
            return None
        return max([*rivals, edge], key=lambda e: place(e, tie))

    def stage(self, row: int, candidates: Iterable[tuple[int, int, float]], tie: Tie) -> None:
        edges = []
        for other, kind, weight in candidates:
            src, dst = (other, row) if kind == STATE else (min(row, other), max(row, other))
            edges.append(Edge(src, dst, kind, weight))
        for edge in sorted(edges, key=lambda e: place(e, tie)):
            if key_of(edge) in self.working:
                continue
            leaving = [self._leaving(end, edge, tie) for end in (edge.src, edge.dst)]
            if edge in leaving:
                continue
            for old in leaving:
                if old is not None:
                    del self.working[key_of(old)]
            self.working[key_of(edge)] = edge

    def staged(self) -> tuple[list[Edge], list[Edge]]:
        before, after = set(self.revealed.values()), set(self.working.values())
        return sorted(after - before), sorted(before - after)

    def reveal(self) -> None:
        self.revealed = dict(self.working)

    def discard(self) -> None:
        self.working = dict(self.revealed)

    def remove(self, row: int) -> list[Edge]:
        gone = [edge for edge in self.revealed.values() if row in (edge.src, edge.dst)]
        for edge in gone:
            del self.revealed[key_of(edge)]
        self.discard()
        return sorted(gone)

    def neighbors(self, row: int) -> list[tuple[int, int, float, int]]:
        result = []
        for edge in self.revealed.values():
            if row in (edge.src, edge.dst):
                other = edge.dst if edge.src == row else edge.src
                outgoing = int(edge.kind != STATE or edge.src == row)
                result.append((other, edge.kind, edge.weight, outgoing))
        return sorted(result)
