"""The loop of a recall: cues and vector, one native call, texts from the record. And its one-shot form."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from ripple._columns import RecallArrays, RecallSettings
from ripple._engine import FEATURES, NamespaceEngine
from ripple.errors import ModelError
from ripple.language.known import NamesInUse
from ripple.read.context import Reached, Recall, RecallTrace
from ripple.read.cues import query_cues
from ripple.types import Cues, EdgeKind, Evidence, Filter, MemoryUnit, RecallPlan, SupportTarget

__all__ = ["RecallRequest", "recall"]

_log = logging.getLogger(__name__)

EmbedQuery = Callable[[str], "npt.NDArray[np.float32] | None"]
FetchUnits = Callable[[Iterable[int]], Mapping[int, MemoryUnit]]


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question with what bounds and steers its recall."""

    query: str
    settings: RecallSettings
    where: Filter | None = None
    as_of: datetime | None = None
    include_superseded: bool = True
    now: datetime | None = None
    unit_ids: Iterable[int] | None = None


def recall(
    request: RecallRequest,
    *,
    engine: NamespaceEngine,
    names: NamesInUse,
    embed: EmbedQuery,
    fetch: FetchUnits,
    support_threshold: float,
) -> Recall:
    """Return the evidence for a question.

    Parameters
    ----------
    embed
        Gives the unit-length vector of a text, or None when it has none. When it raises ModelError the other
        views stand in and the recall is marked ``degraded``.
    fetch
        Gives stored units with their sources by id.
    """
    failures: list[ModelError] = []

    def embed_or_none(text: str) -> npt.NDArray[np.float32] | None:
        try:
            return embed(text)
        except ModelError as error:
            _log.warning("recalled without a vector: %s", type(error).__name__)
            failures.append(error)
            return None

    started = time.perf_counter()
    cues = query_cues(
        request.query,
        names.participants.resolve,
        names.locations.resolve,
        request.now,
        known_speakers=names.speakers.resolve,
        newest=names.newest,
    )
    vector = None if "dense" in request.settings.without else embed_or_none(cues.name_free)
    cued = time.perf_counter()
    found = engine.recall(
        cues,
        vector,
        request.settings,
        where=request.where,
        as_of=request.as_of,
        include_superseded=request.include_superseded,
        unit_ids=request.unit_ids,
        embed_target=embed_or_none,
    )
    searched = time.perf_counter()
    units = fetch(found.unit_ids)
    evidence = tuple(_evidence(found, units))
    fetched = time.perf_counter()
    return Recall(
        query=request.query,
        evidence=evidence,
        trace=_trace(cues, found),
        support=found.support,
        is_supported=found.support >= support_threshold,
        timings={
            "cues": (cued - started) * 1e3,
            "core": (searched - cued) * 1e3,
            "texts": (fetched - searched) * 1e3,
        },
        degraded=bool(failures),
    )


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
            kind="unit",
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
