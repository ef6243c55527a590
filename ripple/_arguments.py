"""Check the arguments of the public verbs; what is wrong raises before anything happens."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ripple._columns import RecallSettings
from ripple._engine import FITTED_FEATURES
from ripple.config import METADATA_BYTES_MAX, METADATA_DEPTH_MAX, QUERY_CHARACTERS_MAX, TOP_K_MAX
from ripple.errors import InvalidInputError
from ripple.types import Filter, Windows

__all__ = [
    "check_choice",
    "check_count",
    "check_filter",
    "check_id",
    "check_metadata",
    "check_moment",
    "check_query",
    "check_seconds",
    "check_settings",
    "check_windows",
    "replace_surrogates",
]

_PARTS = frozenset({"graph", "structural", "lexical", "dense", "cues", "sequence"})
_EXPANSIONS = ("targeted", "undirected", "none")
_RANKINGS = ("default", "paper")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def check_id(unit_id: object) -> int:
    """Return a unit id: a positive int that is not a bool."""
    if isinstance(unit_id, bool) or not isinstance(unit_id, int) or not 1 <= unit_id < 2**63:
        raise InvalidInputError(f"unit id {unit_id!r} is not a positive int; ids come from add and recall")
    return unit_id


def check_count(value: object, name: str, highest: int, *, lowest: int = 1) -> int:
    """Return an int between ``lowest`` and ``highest``."""
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise InvalidInputError(f"{name} is {value!r}; it must be an int from {lowest} to {highest}")
    return value


def check_windows(windows: object) -> Windows:
    """Return how windows are cut, the default for None."""
    if windows is None:
        return Windows()
    if not isinstance(windows, Windows):
        raise InvalidInputError(f"windows is {type(windows).__name__}; it must be a ripple.Windows")
    check_count(windows.turns, "windows.turns", 1_000)
    check_count(windows.overlap, "windows.overlap", max(windows.turns - 1, 0), lowest=0)
    check_count(windows.gap_seconds, "windows.gap_seconds", 10**9, lowest=0)
    check_count(windows.attempts, "windows.attempts", 100)
    return windows


def check_query(query: object) -> str:
    """Return a query, cut to QUERY_CHARACTERS_MAX, lone surrogates replaced."""
    if not isinstance(query, str):
        raise InvalidInputError(f"query is {type(query).__name__}; it must be a string")
    return replace_surrogates(query[:QUERY_CHARACTERS_MAX])


def check_moment(moment: object, name: str) -> datetime | None:
    """Return an aware datetime or None."""
    if moment is None:
        return None
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise InvalidInputError(f"{name} must be an aware datetime, such as datetime.now(timezone.utc)")
    try:
        moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInputError(f"{name} is outside the years 1 to 9999 in UTC") from error
    return moment


def replace_surrogates(text: str) -> str:
    """Return the text that UTF-8 can hold: halves of a pair joined, lone ones replaced."""
    if _SURROGATE.search(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def check_metadata(value: object, where: str) -> dict[str, Any] | None:
    """Return a copy of what is plain JSON in a mapping, or None; ``where`` names it in errors."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{where} is {type(value).__name__}; it must be a mapping with string keys")
    # What holds itself, or one thing many times over, ends here: no container takes less than two bytes.
    copied = _plain(value, where, [METADATA_BYTES_MAX], 1)
    try:
        encoded = json.dumps(copied, allow_nan=False)
    except ValueError as error:
        raise InvalidInputError(f"{where} is not plain JSON without NaN: {error}") from error
    if len(encoded) > METADATA_BYTES_MAX:
        raise InvalidInputError(f"{where} has {len(encoded)} bytes; at most {METADATA_BYTES_MAX} are taken")
    decoded: dict[str, Any] = json.loads(encoded)
    return decoded


def _plain(value: object, where: str, left: list[int], depth: int) -> Any:
    """Return a copy in JSON's own types; ``left`` counts down the values that may still come."""
    left[0] -= 1
    if left[0] < 0:
        raise InvalidInputError(f"{where} has more than {METADATA_BYTES_MAX} bytes as JSON")
    if isinstance(value, str):
        return replace_surrogates(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if not isinstance(value, (Mapping, list, tuple)):
        raise InvalidInputError(f"{where} holds a {type(value).__name__}, which is not a JSON type")
    if depth > METADATA_DEPTH_MAX:
        raise InvalidInputError(f"{where} is nested deeper than {METADATA_DEPTH_MAX}, or in itself")
    if not isinstance(value, Mapping):
        return [_plain(child, where, left, depth + 1) for child in value]
    unfit = [key for key in value if not isinstance(key, str)]
    if unfit:
        raise InvalidInputError(f"{where} has the key {unfit[0]!r}; keys must be strings")
    return {replace_surrogates(key): _plain(child, where, left, depth + 1) for key, child in value.items()}


def check_filter(where: object) -> Filter | None:
    """Return a filter whose fields are of the right kind, or None; names the field that is not."""
    if where is None:
        return None
    if not isinstance(where, Filter):
        raise InvalidInputError(f"filter is {type(where).__name__}; give ripple.Filter(...)")
    if not isinstance(where.session, str):
        _check_strings(where.session, "session")
    _check_strings(where.participants, "participants")
    _check_strings(where.locations, "locations")
    _check_interval(where.time, "time")
    _check_interval(where.said, "said")
    check_metadata(where.metadata, "filter.metadata")
    if where.ids is not None:
        if not isinstance(where.ids, (tuple, list)):
            raise InvalidInputError(f"filter.ids is {type(where.ids).__name__}; it must be a tuple of unit ids")
        for unit_id in where.ids:
            if isinstance(unit_id, bool) or not isinstance(unit_id, int) or not 1 <= unit_id < 2**63:
                raise InvalidInputError(f"filter.ids holds {unit_id!r}, which is no unit id")
    return where


def _check_strings(values: object, field: str) -> None:
    if values is None:
        return
    if not isinstance(values, (tuple, list)) or not all(isinstance(value, str) for value in values):
        raise InvalidInputError(f"filter.{field} is {values!r}; it must be a tuple of strings")


def _check_interval(interval: object, field: str) -> None:
    if interval is None:
        return
    if not isinstance(interval, (tuple, list)) or len(interval) != 2:
        raise InvalidInputError(f"filter.{field} must be a pair (start, end) of aware datetimes or None")
    start, end = (check_moment(moment, f"filter.{field}") for moment in interval)
    if start is not None and end is not None and start > end:
        raise InvalidInputError(f"filter.{field} starts after it ends; give (start, end)")


def check_seconds(value: object, name: str) -> float | None:
    """Return a time in seconds that is more than nothing, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise InvalidInputError(f"{name} is {value!r}; it must be a number of seconds above 0, or None")
    return float(value)


def check_choice(value: str, name: str, allowed: Sequence[str]) -> str:
    """Return a word that is one of those allowed."""
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
    if (
        isinstance(without, str)
        or not isinstance(without, Collection)
        or not all(isinstance(part, str) and part in _PARTS for part in without)
    ):
        raise InvalidInputError(f"without is {without!r}; it must be a set of {', '.join(sorted(_PARTS))}")
    top_k = check_count(top_k, "top_k", TOP_K_MAX)
    if weights is not None and not _are_weights(weights):
        raise InvalidInputError(f"weights must be {FITTED_FEATURES} finite numbers")
    return RecallSettings(
        top_k=top_k,
        first=0 if first is None else check_count(first, "first", top_k),
        expansion=check_choice(expansion, "expansion", _EXPANSIONS),
        ranking=check_choice(ranking, "ranking", _RANKINGS),
        without=frozenset(without),
        weights=None if weights is None else tuple(float(weight) for weight in weights),
    )


def _are_weights(weights: object) -> bool:
    if not isinstance(weights, Sequence) or len(weights) != FITTED_FEATURES:
        return False
    return all(isinstance(weight, (int, float)) and math.isfinite(weight) for weight in weights)
