"""Check the arguments of the public verbs; what is wrong raises before anything happens."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime

from ripple._engine import FITTED_FEATURES, RecallSettings
from ripple.config import QUERY_CHARACTERS_MAX, TOP_K_MAX
from ripple.errors import InvalidInputError

__all__ = ["check_count", "check_id", "check_moment", "check_query", "check_settings"]

_PARTS = frozenset({"graph", "structural", "lexical", "dense", "cues", "sequence"})
_EXPANSIONS = ("targeted", "undirected", "none")
_RANKINGS = ("default", "paper")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def check_id(unit_id: object) -> int:
    """Return a unit id: a positive int that is not a bool."""
    if isinstance(unit_id, bool) or not isinstance(unit_id, int) or not 1 <= unit_id < 2**63:
        raise InvalidInputError(f"unit id {unit_id!r} is not a positive int; ids come from add and recall")
    return unit_id


def check_count(value: object, name: str, highest: int) -> int:
    """Return an int between 1 and ``highest``."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= highest:
        raise InvalidInputError(f"{name} is {value!r}; it must be an int from 1 to {highest}")
    return value


def check_query(query: object) -> str:
    """Return a query, cut to QUERY_CHARACTERS_MAX, lone surrogates replaced."""
    if not isinstance(query, str):
        raise InvalidInputError(f"query is {type(query).__name__}; it must be a string")
    return _SURROGATE.sub("�", query[:QUERY_CHARACTERS_MAX])


def check_moment(moment: object, name: str) -> datetime | None:
    """Return an aware datetime or None."""
    if moment is None:
        return None
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidInputError(f"{name} must be an aware datetime, such as datetime.now(timezone.utc)")
    return moment


def _one_of(value: str, name: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise InvalidInputError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}")
    return value


def check_settings(
    *,
    top_k: int,
    first: int | None,
    expansion: str,
    ranking: str,
    without: frozenset[str],
    weights: Sequence[float] | None,
) -> RecallSettings:
    """Return the settings of a recall; see ``Memory.recall`` for what each may be."""
    unknown = sorted(set(without) - _PARTS)
    if unknown:
        raise InvalidInputError(f"without names {unknown[0]!r}; known are {', '.join(sorted(_PARTS))}")
    top_k = check_count(top_k, "top_k", TOP_K_MAX)
    if weights is not None and (len(weights) != FITTED_FEATURES or not all(map(math.isfinite, weights))):
        raise InvalidInputError(f"weights must be {FITTED_FEATURES} finite numbers")
    return RecallSettings(
        top_k=top_k,
        first=0 if first is None else check_count(first, "first", top_k),
        expansion=_one_of(expansion, "expansion", _EXPANSIONS),
        ranking=_one_of(ranking, "ranking", _RANKINGS),
        without=frozenset(without),
        weights=None if weights is None else tuple(float(weight) for weight in weights),
    )
