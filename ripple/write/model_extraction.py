"""Extraction of a window by a language model, with what is done when its reply is of no use.

In this order: a reply that was cut is asked for again with room for more, then the window is read in halves;
one that cannot be read, or not wholly, is asked for once more; a refusal is final. A window has a bounded
number of calls. What cannot be got raises, so that nothing empty ever stands for a failure; where a part of a
reply could not be used, the turns that no unit cites get those of rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ripple.errors import ExtractionError
from ripple.language.names import NameLookup
from ripple.language.sentences import split_long
from ripple.models.base import ModelSteps
from ripple.models.parsing import parse_reply
from ripple.prompts import extraction
from ripple.types import Turn, UnitDraft
from ripple.write.extraction import extract_rules
from ripple.write.gate import reason_to_skip
from ripple.write.grounding import ground_units

__all__ = ["CALLS_MAX", "Extraction", "extract_window"]

CALLS_MAX = 8
"""Requests for one window in one attempt."""
_ROOM_FACTOR = 3
_ROOM_MAX = 16_384
_TURN_CHARACTERS = 6_000
"""A longer turn is shown as several lines."""
_DAMAGE = ("rejected_items", "malformed", "salvaged", "too_many", "clipped_items", "too_deep")
"""Problems of a reply by which units of it may be lost."""
_UNITS_LOST = ("uncited", "unsupported", "restatement", "units_over_64")
"""Reasons why a whole unit is dropped that was read."""
_REASONS = ("empty", "too_large", "too_deep", "no_json", "schema_echo", "reasoning", "rejected_items")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The units of a window, what of them was emptied or dropped, and what its replies had wrong."""

    drafts: tuple[UnitDraft, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Attempt:
    before: Sequence[Turn]
    known_participants: NameLookup
    known_locations: NameLookup
    drafts: list[UnitDraft] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    calls_left: int = CALLS_MAX


def extract_window(
    turns: Sequence[Turn],
    *,
    before: Sequence[Turn] = (),
    known_participants: NameLookup,
    known_locations: NameLookup,
) -> ModelSteps[Extraction]:
    """Return the steps that give the units of a window.

    Parameters
    ----------
    turns : sequence of Turn
        Those that may be cited. Turns that tell nothing are not shown; a window of nothing else makes no call.
    before : sequence of Turn
        What was said before them, to understand them by.
    known_participants, known_locations
        Give the known name that a wording means.

    Raises
    ------
    ExtractionError
        With the reason in one word: ``refused``, ``cut``, ``unreadable``.
    ModelError
        What the model's call raised.
    """
    attempt = _Attempt(before, known_participants, known_locations)
    told = [turn for at, turn in enumerate(turns) if reason_to_skip(turn, [*before, *turns[:at]]) is None]
    attempt.dropped["gated"] += len(turns) - len(told)
    lines = [line for turn in told for line in _lines_of(turn)]
    if lines:
        yield from _read(lines, before, attempt)
    return Extraction(tuple(attempt.drafts), +attempt.dropped, +attempt.problems)


def _lines_of(turn: Turn) -> list[Turn]:
    if len(turn.text) <= _TURN_CHARACTERS:
        return [turn]
    return [replace(turn, text=piece) for piece in split_long(turn.text, _TURN_CHARACTERS)]


def _read(lines: Sequence[Turn], before: Sequence[Turn], attempt: _Attempt) -> ModelSteps[None]:
    """Extract some lines, in halves where the reply to all of them does not fit."""
    room: int | None = None
    for is_last in (False, True):
        if attempt.calls_left == 0:
            break
        attempt.calls_left -= 1
        request = extraction.build(lines, before=before, max_output_tokens=room)
        parsed = parse_reply((yield request), request.schema)
        attempt.problems.update(parsed.problems)
        if parsed.is_refused:
            raise ExtractionError("the model refused to extract a window", reason="refused")
        is_damaged = any(parsed.problems[name] for name in _DAMAGE)
        if (
            parsed.value is not None
            and not parsed.is_cut
            and (is_last or not is_damaged)
            and not (is_damaged and not parsed.value["units"])
        ):
            _keep(parsed.value["units"], lines, before, attempt, is_damaged=is_damaged)
            return
        if parsed.is_cut:
            room = min(request.max_output_tokens * _ROOM_FACTOR, _ROOM_MAX)
    if room is None or len(lines) == 1 or attempt.calls_left == 0:
        reason = "unreadable" if room is None else "cut"
        met = next((name for name in _REASONS if attempt.problems[name]), reason)
        raise ExtractionError(
            f"{CALLS_MAX - attempt.calls_left} replies for a window gave nothing to keep, the last reason: {met}",
            retryable=True,
            reason=reason,
        )
    half = len(lines) // 2
    yield from _read(lines[:half], before, attempt)
    yield from _read(lines[half:], [*before, *lines[:half]][-len(before) or len(lines) :], attempt)


def _keep(
    units: list[dict[str, Any]], lines: Sequence[Turn], before: Sequence[Turn], attempt: _Attempt, *, is_damaged: bool
) -> None:
    """Take what holds of a reply's units; where some were lost, rules speak for the turns that none cites."""
    drafts, dropped = ground_units(
        units,
        lines,
        before=before,
        known_participants=attempt.known_participants,
        known_locations=attempt.known_locations,
    )
    attempt.dropped.update(dropped)
    if is_damaged or any(dropped[reason] for reason in _UNITS_LOST):
        cited = {turn_id for draft in drafts for turn_id in draft.turn_ids}
        drafts += extract_rules([line for line in lines if line.turn_id not in cited], attempt.known_participants)
    attempt.drafts += drafts
