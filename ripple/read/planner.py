"""The model's recall planner (RippleMem, read): one call, its reply checked, and a plan that can be carried out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any

from ripple.errors import PlannerError
from ripple.language.known import NamesInUse
from ripple.language.names import NameLookup
from ripple.models.base import ModelSteps
from ripple.models.parsing import parse_reply
from ripple.prompts import planner as prompt
from ripple.prompts.encoding import INTEGER, clean, list_of, or_null
from ripple.types import Evidence, RecallPlan, SupportTarget, TimeInterval

__all__ = ["ANCHORS_MAX", "UNITS_SHOWN", "plan_steps"]

ANCHORS_MAX = 3
UNITS_SHOWN = prompt.UNITS_SHOWN

_ANCHORS_READ = 64
_PROPERTIES = prompt.SCHEMA["properties"]
_READ_SCHEMA: dict[str, Any] = {
    **prompt.SCHEMA,
    "properties": {
        **_PROPERTIES,
        "stop_reason": or_null(_PROPERTIES["stop_reason"]),
        "anchors": or_null(list_of(INTEGER, _ANCHORS_READ)),
        "target": or_null(_PROPERTIES["target"]),
    },
}
"""What is taken from a reply: more than is asked for. Of many anchors the first valid ones count, not the first;
a planner that stops may leave the rest out. Strings are cut as in the prompt's schema, the target's at 400
characters (under 2 KiB in any script)."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?=$|[T ])")


def plan_steps(
    question: str, shown: Sequence[Evidence], names: NamesInUse, *, now: datetime | None = None
) -> ModelSteps[RecallPlan]:
    """Ask the model once what is missing, and return its plan.

    Parameters
    ----------
    question : str
    shown : sequence of Evidence
        Best first, UNITS_SHOWN at most.
    names : NamesInUse
        Names of a target that the namespace does not know are left out.
    now : aware datetime, optional
        When the question is asked.

    Returns
    -------
    RecallPlan
        With a target and one to three anchors among ``shown`` when it proceeds; otherwise with the reason.

    Raises
    ------
    ModelError
        The call failed; PlannerError where the reply cannot be read or was refused.
    """
    reply = yield prompt.build(question, shown, now=now)
    parsed = parse_reply(reply, _READ_SCHEMA)
    if parsed.value is None:
        problems = ", ".join(sorted(parsed.problems))
        raise PlannerError(
            f"the planner's reply cannot be used: {problems}",
            retryable=not parsed.is_refused,
            reason="refused" if parsed.is_refused else "unreadable",
        )
    return _checked(parsed.value, shown, names, now)


def _checked(
    value: Mapping[str, Any], shown: Sequence[Evidence], names: NamesInUse, now: datetime | None
) -> RecallPlan:
    if not value["continue"]:
        words = clean(value["stop_reason"])
        return _stop(f"planner stopped: {words}" if words else "planner stopped")
    anchors = tuple(dict.fromkeys(_units(value["anchors"] or (), shown)))[:ANCHORS_MAX]
    if not anchors:
        return _stop("no valid anchor")
    target = value["target"] or {}
    restatement = clean(target.get("restatement"))
    if not any(char.isalnum() for char in restatement):
        return _stop("empty target")
    return RecallPlan(
        proceed=True,
        stop_reason="",
        anchors=anchors,
        target=SupportTarget(
            restatement=restatement,
            goal=clean(target["goal"]),
            participants=_known(target["participants"], names.participants.resolve),
            locations=_known(target["locations"], names.locations.resolve),
            time=_interval(target["start"], target["end"], UTC if now is None else now.tzinfo),
        ),
    )


def _stop(reason: str) -> RecallPlan:
    return RecallPlan(proceed=False, stop_reason=reason)


def _units(numbers: Sequence[int], shown: Sequence[Evidence]) -> list[int]:
    """Return the units that ordinals of the call stand for; raw turns are nobody's neighbours."""
    pieces = [shown[number - 1] for number in numbers if 1 <= number <= len(shown)]
    return [piece.unit_id for piece in pieces if piece.kind == "unit"]


def _known(wordings: Sequence[str], known: NameLookup) -> tuple[str, ...]:
    found = (known(clean(wording)) for wording in wordings)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _interval(start: str | None, end: str | None, zone: tzinfo | None) -> TimeInterval | None:
    """Return the days from the first to the last; None when either is no day or they are the wrong way round."""
    first, last = _day(start or end), _day(end or start)
    if first is None or last is None or first > last:
        return None
    return TimeInterval(datetime.combine(first, time.min, zone), datetime.combine(last, time(23, 59, 59), zone))


def _day(text: str | None) -> date | None:
    match = _DAY.match(text or "")
    try:
        return None if match is None else date.fromisoformat(match.group())
    except ValueError:
        return None
