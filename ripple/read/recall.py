"""The loop of a recall: first recall, and what a planner finds missing in it. And its one-shot form."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from ripple._columns import RecallArrays, RecallSettings
from ripple._engine import FEATURES, NamespaceEngine
from ripple.config import SUPPORT_SURE
from ripple.errors import ModelError
from ripple.language.known import NamesInUse
from ripple.models.base import ModelSteps
from ripple.read.context import Reached, Recall, RecallTrace
from ripple.read.cues import query_cues
from ripple.read.planner import UNITS_SHOWN, plan_steps
from ripple.types import Cues, EdgeKind, Evidence, Filter, MemoryUnit, RecallPlan, SupportTarget

__all__ = ["RecallParts", "RecallRequest", "Recollection", "recall", "recall_steps"]

_log = logging.getLogger(__name__)

FloatArray = npt.NDArray[np.float32]
EmbedQuery = Callable[[str], "FloatArray | None"]
FetchUnits = Callable[[Iterable[int]], Mapping[int, MemoryUnit]]

_PLACES = 5
"""A model's rounds may fill the last of so many parts of the list: expansion may replace at most a fifth of it."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question with what bounds and steers its recall.

    ``planner`` is ``"auto"``, ``"always"`` or ``"rules"``; ``rounds`` bounds the calls of a model's planner.
    """

    query: str
    settings: RecallSettings
    where: Filter | None = None
    as_of: datetime | None = None
    include_superseded: bool = True
    now: datetime | None = None
    unit_ids: Iterable[int] | None = None
    planner: str = "auto"
    rounds: int = 1


@dataclass(frozen=True, slots=True)
class RecallParts:
    """What a namespace gives to its recalls.

    Attributes
    ----------
    embed : callable
        Gives the unit-length vector of a text, or None when it has none. When it raises ModelError the other
        views stand in and the recall is marked ``degraded``.
    fetch : callable
        Gives stored units with their sources by id.
    support_threshold : float
        Least support at which a recall counts as supported.
    """

    engine: NamespaceEngine
    names: NamesInUse
    embed: EmbedQuery
    fetch: FetchUnits
    support_threshold: float


def recall(request: RecallRequest, parts: RecallParts) -> Recall:
    """Return the evidence for a question, planned by rules: in one native call where the core embeds the target."""
    asked = _Asked(request, parts)
    found = parts.engine.recall(
        asked.cues,
        asked.vector,
        request.settings,
        **_bounds(request),
        embed_target=asked.embed,
    )
    asked.lap("core")
    return asked.result(found)


def recall_steps(request: RecallRequest, parts: RecallParts) -> ModelSteps[Recall]:
    """Return the evidence for a question, planned by the model where it must be.

    Raises
    ------
    BudgetExceededError
        A strict budget is spent. No other failure of a model raises: what was found before it stands.
    """
    recollection = Recollection(request, parts)
    yield from recollection.complete()
    return recollection.result()


class Recollection:
    """A recall that a model takes part in: first recall is done when it is made, rounds go on from there.

    Embedding and native calls are made inside the steps; no lock is held between them, so units may be deleted
    while the model thinks: those lead nowhere and are in no result.
    """

    def __init__(self, request: RecallRequest, parts: RecallParts) -> None:
        self._request = request
        self._parts = parts
        self._asked = _Asked(request, parts)
        self._opened = parts.engine.open_recall(
            self._asked.cues, self._asked.vector, request.settings, **_bounds(request)
        )
        settings = request.settings
        self._places = settings.top_k - settings.first if settings.first else settings.top_k // _PLACES
        self._found: RecallArrays | None = None
        self._before: Any = None  # the core's own, of the last round that was carried out
        self._plans: list[RecallPlan] = []
        self._failure: ModelError | None = None
        self._asked.lap("core")

    @property
    def may_look_further(self) -> bool:
        """Whether a call of the planner can change anything."""
        settings = self._request.settings
        is_open = settings.expansion != "none" and "graph" not in settings.without and self._places > 0
        is_asked = self._request.planner != "rules" and self._failure is None
        return is_open and is_asked and not self._opened.is_empty

    @property
    def is_certain(self) -> bool:
        """Whether the rules are certain that the evidence is complete, so that no model need be asked.

        They are when everybody whom the question names speaks in an anchor and support is SUPPORT_SURE or more.
        That the evidence has all words of the question tells nothing beyond that (LoCoMo dev: asked for too, at
        the same support, it is right less often, .959 for .967, and saves .296 of the calls for .361).
        """
        return self._opened.is_covered and self._opened.support >= SUPPORT_SURE

    def complete(self) -> ModelSteps[None]:
        """Make the rounds that were asked for, none when the rules are certain."""
        if not self.may_look_further or (self._request.planner == "auto" and self.is_certain):
            return
        for _ in range(self._request.rounds):
            if not (yield from self.look_further()):
                return

    def look_further(self) -> ModelSteps[bool]:
        """Ask the model for a plan and carry it out; return whether that brought a unit that was not there."""
        request, asked = self._request, self._asked
        found = self._found if self._found is not None else self._parts.engine.first_alone(self._opened)
        evidence = tuple(_evidence(found, self._parts.fetch(found.unit_ids)))
        asked.lap("texts")
        try:
            plan = yield from plan_steps(request.query, _shown(evidence), self._parts.names, now=request.now)
        except ModelError as error:
            _log.info("the planner failed: %s", error.reason or type(error).__name__)
            self._failure = error
            return False
        finally:
            asked.lap("planner")
        plan = self._without_deleted(plan)
        self._found = found
        if plan.target is None:
            self._plans.append(plan)
            return False
        expanded = self._expand(plan, plan.target)
        asked.lap("core")
        is_new = not set(found.unit_ids).issuperset(expanded[1].unit_ids)
        if is_new:
            self._before, self._found = expanded
        self._plans.append(replace(plan, stop_reason="rounds used" if is_new else "no support"))
        return is_new

    def _expand(self, plan: RecallPlan, target: SupportTarget) -> tuple[Any, RecallArrays]:
        asked, names = self._asked, self._parts.names
        # Stored contents are embedded and indexed without their speakers, so the target is too.
        said = query_cues(
            target.restatement,
            names.participants.resolve,
            names.locations.resolve,
            known_speakers=names.speakers.resolve,
        )
        named = replace(
            target,
            participants=target.participants or said.participants,
            locations=target.locations or said.locations,
        )
        vector = None if "dense" in self._request.settings.without else asked.embed(said.name_free)
        return self._parts.engine.expand_towards(
            self._opened, plan.anchors, named, said.name_free, vector, places=self._places, before=self._before
        )

    def _without_deleted(self, plan: RecallPlan) -> RecallPlan:
        """Return the plan without anchors that were deleted while the model thought."""
        alive = set(self._parts.engine.select(Filter(), plan.anchors).tolist())
        anchors = tuple(unit for unit in plan.anchors if unit in alive)
        if plan.anchors and not anchors:
            return RecallPlan(proceed=False, stop_reason="no valid anchor")
        return replace(plan, anchors=anchors)

    def result(self) -> Recall:
        """Return the evidence as it stands; the rule planner's where no plan of the model was read."""
        found = self._found
        if found is None:
            found = self._parts.engine.expand_by_rules(self._opened, self._asked.embed)
            self._asked.lap("core")
        self._found = found
        recalled = self._asked.result(found)
        plan = self._plans[-1] if self._plans else recalled.trace.plan
        if self._failure is not None:
            reason = self._failure.reason or type(self._failure).__name__
            plan = replace(plan, stop_reason=f"planner failed: {reason}")
        trace = replace(recalled.trace, plan=plan, model_plans=tuple(self._plans))
        return replace(recalled, trace=trace, degraded=recalled.degraded or self._failure is not None)


class _Asked:
    """A question as it is looked for: its cues and vector, and what it took and failed so far."""

    def __init__(self, request: RecallRequest, parts: RecallParts) -> None:
        self._parts = parts
        self._query = request.query
        self._is_degraded = False
        self._timings: dict[str, float] = {}
        self._clock = time.perf_counter()
        names = parts.names
        self.cues = query_cues(
            request.query,
            names.participants.resolve,
            names.locations.resolve,
            request.now,
            known_speakers=names.speakers.resolve,
            newest=names.newest,
        )
        self.vector = None if "dense" in request.settings.without else self.embed(self.cues.name_free)
        self.lap("cues")

    def embed(self, text: str) -> FloatArray | None:
        """Return the vector of a text, None when it has none or the embedder failed."""
        try:
            return self._parts.embed(text)
        except ModelError as error:
            _log.warning("recalled without a vector: %s", type(error).__name__)
            self._is_degraded = True
            return None

    def lap(self, stage: str) -> None:
        """Book the time since the last lap to a stage."""
        now = time.perf_counter()
        self._timings[stage] = self._timings.get(stage, 0.0) + (now - self._clock) * 1e3
        self._clock = now

    def result(self, found: RecallArrays) -> Recall:
        """Return what was found with its texts."""
        evidence = tuple(_evidence(found, self._parts.fetch(found.unit_ids)))
        self.lap("texts")
        return Recall(
            query=self._query,
            evidence=evidence,
            trace=_trace(self.cues, found),
            support=found.support,
            is_supported=found.support >= self._parts.support_threshold,
            timings=self._timings,
            degraded=self._is_degraded,
        )


def _bounds(request: RecallRequest) -> dict[str, Any]:
    return {
        "where": request.where,
        "as_of": request.as_of,
        "include_superseded": request.include_superseded,
        "unit_ids": request.unit_ids,
    }


def _shown(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Return what the planner sees: the best, with what earlier rounds found among them at the end."""
    reached = [piece for piece in evidence[UNITS_SHOWN:] if piece.hop > 0]
    return (*evidence[: UNITS_SHOWN - len(reached)], *reached)[:UNITS_SHOWN]


def _evidence(found: RecallArrays, units: Mapping[int, MemoryUnit]) -> Iterable[Evidence]:
    edges = {reached.unit_id: reached for reached in found.expanded}
    for unit_id, score, ways, hop, parts in zip(
        found.unit_ids, found.scores, found.found_by, found.hops, found.parts, strict=True
    ):
        unit = units.get(unit_id)
        if unit is None:
            continue  # deleted between the search and the record's answer
        via: tuple[tuple[int, str], ...] = ()
        if hop > 0:
            reached = edges[unit_id]
            via = ((reached.parent, EdgeKind(reached.kind).name.lower()),)
        yield Evidence(
            kind="unit" if unit_id > 0 else "turn",
            unit_id=unit_id,
            text=unit.text,
            score=score,
            parts={name: value for name, value in zip(FEATURES, parts, strict=True) if value != 0.0},
            found_by=ways,
            sources=unit.sources,
            participants=unit.participants,
            locations=unit.locations,
            time=unit.time,
            said_at=unit.said_at,
            status=unit.status,
            superseded_by=unit.superseded_by,
            hop=hop,
            via=via,
        )


def _trace(cues: Cues, found: RecallArrays) -> RecallTrace:
    used = {unit for unit, ways in zip(found.unit_ids, found.found_by, strict=True) if "expansion" in ways}
    target = None
    if found.target:
        target = SupportTarget(
            restatement=found.target,
            participants=found.target_participants,
            locations=found.target_locations,
        )
    is_open = found.stop_reason == "none"
    plan = RecallPlan(
        proceed=target is not None,
        stop_reason="rounds used" if is_open else found.stop_reason.replace("_", " "),
        anchors=found.anchors,
        target=target,
    )
    reached = tuple(
        Reached(
            unit_id=unit.unit_id,
            score=unit.score,
            hop=unit.hop,
            parent=unit.parent,
            anchor=unit.anchor,
            kind=EdgeKind(unit.kind).name.lower(),
            strength=unit.strength,
            is_used=unit.unit_id in used,
        )
        for unit in found.expanded
    )
    return RecallTrace(
        cues=cues,
        first_recall=tuple(found.first),
        pool=found.pool,
        plan=plan,
        reached=reached,
        support_signals=found.support_signals,
    )
