"""Settings of a recall as the core takes them, and a recall between its native calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ripple import _core
from ripple._columns import RecallSettings

__all__ = ["OpenRecall", "english_stem", "recall_options", "way_names"]

_VIEWS = {"dense": 1, "lexical": 2, "cues": 4}
_EDGE_BITS = {"structural": 2, "sequence": 8, "graph": 31}
_FOUND_BY = ("dense", "lexical", "cue", "expansion", "bridge", "propagation", "source")


def english_stem(word: str) -> str:
    """Return the Porter2 stem of a word in small letters."""
    return _core.english_stem(word)


@cache
def way_names(bits: int) -> tuple[str, ...]:
    """Return the ways that a mask of ``found_by`` stands for."""
    return tuple(name for i, name in enumerate(_FOUND_BY) if bits >> i & 1)


def recall_options(settings: RecallSettings, *, is_static: bool) -> _core.RecallOptions:
    """Return the settings as the core takes them."""
    options = _core.RecallOptions(is_static=is_static)
    options.top_k = settings.top_k
    options.first = settings.first
    options.pool = max(options.pool, settings.top_k)
    for name in settings.without:
        options.views &= ~_VIEWS.get(name, 0)
        options.edge_kinds &= ~_EDGE_BITS.get(name, 0)
    is_off = settings.expansion == "none" or "graph" in settings.without
    options.expansion = _core.Expansion.NONE if is_off else _core.Expansion.__members__[settings.expansion.upper()]
    options.ranking = _core.Ranking.PAPER if settings.ranking == "paper" else _core.Ranking.FITTED
    if settings.ranking == "paper":
        options.edge_kinds &= 0b00011  # the paper's union graph: semantic and structural edges
    if settings.weights is not None:
        options.weights = settings.weights
    return options


@dataclass(frozen=True, slots=True)
class OpenRecall:
    """A recall between its native calls: first recall is done, and the rule planner has read it."""

    query: _core.Query
    words: _core.QueryTerms
    selection: _core.Selection
    settings: RecallSettings
    first: _core.FirstRecall
    plan: _core.Plan

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recalled."""
        return not len(self.first.rows)

    @property
    def is_covered(self) -> bool:
        """Whether something was recalled and everybody whom the question names speaks in an anchor."""
        return self.plan.reason == _core.StopReason.COVERED

    @property
    def support(self) -> float:
        """0..1, as ``RecallArrays`` has it."""
        return float(self.first.support)
