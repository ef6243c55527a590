"""The border to the core: dataclasses and unit ids on this side, arrays and rows on the other.

The only importer of ``ripple._core``, with ``ripple._engine_options``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ripple import _core
from ripple._columns import (
    EARLIEST,
    HAS_TIME_WORD,
    IS_QUESTION,
    IS_TURN,
    LATEST,
    NO_TIME,
    EdgeArrays,
    Expanded,
    RecallArrays,
    RecallSettings,
    UnitColumns,
    bounds_of,
    months_of,
    to_seconds,
)
from ripple._engine_options import OpenRecall, recall_options, way_names
from ripple._row_ids import RowIds
from ripple.types import Cues, EdgeKind, Filter, SupportTarget, Thresholds, UnitDraft

__all__ = [
    "FEATURES",
    "FITTED_FEATURES",
    "UNICODE_VERSION",
    "NamespaceEngine",
    "load_static_embedder",
]

NativeStaticEmbedder = _core.StaticEmbedder
FloatArray = npt.NDArray[np.float32]
IdArray = npt.NDArray[np.int64]
RowArray = npt.NDArray[np.uint32]

FEATURES: tuple[str, ...] = tuple(_core.FEATURES)
FITTED_FEATURES: int = len(_core.RecallOptions(is_static=True).weights)
UNICODE_VERSION: str = _core.UNICODE_VERSION
NO_ID = 2**32 - 1
_NO_VECTOR = np.empty(0, np.float32)
_NO_ROWS = np.empty(0, np.uint32)
_GRAINS = {
    "day": _core.TimeGrain.DAY,
    "week": _core.TimeGrain.WEEK,
    "month": _core.TimeGrain.MONTH,
    "year": _core.TimeGrain.YEAR,
}


class Embed(Protocol):
    """Embeds one text to unit length; None when it has no vector."""

    def __call__(self, text: str) -> FloatArray | None: ...


def load_static_embedder(path: str | Path) -> NativeStaticEmbedder:
    """Return the static embedder of a model file; ``CorruptStoreError`` when the file is damaged."""
    return _core.StaticEmbedder(str(path))


class NamespaceEngine:
    """One namespace's engine in unit ids.

    Reads may run beside one writer. ``stage`` .. ``remove`` are the writer's.
    """

    def __init__(
        self,
        dimension: int,
        thresholds: Thresholds,
        words: NativeStaticEmbedder | None,
        *,
        is_static: bool,
        is_english: bool,
    ) -> None:
        """Make an empty engine.

        ``is_static`` tells that ``words`` is the store's own embedder, ``is_english`` that the embedder knows
        Latin script only.
        """
        options = _core.EngineOptions()
        options.dimension = dimension
        options.is_english = is_english
        options.semantic_threshold = thresholds.semantic
        self._thresholds = thresholds
        self._core = _core.Engine(options, words) if words is not None else _core.Engine(options)
        self._is_static = is_static
        self._row_ids = RowIds()
        self._dimension = dimension
        self._sessions: dict[str, int] = {}

    # --- identity ---

    def _ids(self, rows: RowArray) -> IdArray:
        return self._row_ids.ids(rows)

    def _rows_of(self, unit_ids: Iterable[int]) -> RowArray:
        return self._row_ids.rows(unit_ids)

    def _session(self, name: str) -> int:
        return self._sessions.setdefault(name, len(self._sessions))

    # --- names ---

    def find_participant(self, name: str) -> str | None:
        """Return the display form of a known participant, or None."""
        return self._find(_core.CueKind.PARTICIPANT, name)

    def find_location(self, name: str) -> str | None:
        """Return the display form of a known location, or None."""
        return self._find(_core.CueKind.LOCATION, name)

    def _find(self, kind: _core.CueKind, name: str) -> str | None:
        found = int(self._core.find(kind, [name])[0])
        return None if found == NO_ID else self._core.cue_name(kind, found)

    def _cue_ids(self, kind: _core.CueKind, names: Sequence[str]) -> RowArray:
        ids = self._core.find(kind, list(names))
        known: RowArray = np.unique(ids[ids != NO_ID])
        return known

    # --- writing ---

    def _batch(self, units: UnitColumns, vectors: FloatArray, kind: int = 0) -> _core.UnitBatch:
        indptr, terms, counts = self._core.index_texts(list(units.contents))
        participants = self._lists(_core.CueKind.PARTICIPANT, units.participants)
        locations = self._lists(_core.CueKind.LOCATION, units.locations)
        return _core.UnitBatch(
            vectors=np.ascontiguousarray(vectors, np.float32),
            term_indptr=indptr,
            terms=terms,
            term_counts=counts,
            speakers=self._core.intern(_core.CueKind.PARTICIPANT, [speaker or "" for speaker in units.speakers]),
            participant_indptr=participants[0],
            participants=participants[1],
            location_indptr=locations[0],
            locations=locations[1],
            times=units.times,
            said_at=units.said_at,
            sessions=np.array([self._session(name) for name in units.sessions], np.uint32),
            flags=units.flags & np.uint8(IS_QUESTION | HAS_TIME_WORD) | np.uint8(kind),
        )

    def _lists(self, kind: _core.CueKind, names: Sequence[tuple[str, ...]]) -> tuple[npt.NDArray[np.int64], RowArray]:
        ids = self._core.intern(kind, [name for unit in names for name in unit])
        owners = np.repeat(np.arange(len(names)), np.fromiter(map(len, names), np.int64, len(names)))
        is_name = ids != NO_ID
        # Both in one number, so that one sort leaves the ids of each unit ascending and once.
        pairs = np.unique(owners[is_name].astype(np.uint64) << np.uint64(32) | ids[is_name])
        indptr = np.zeros(len(names) + 1, np.int64)
        np.cumsum(np.bincount((pairs >> np.uint64(32)).astype(np.int64), minlength=len(names)), out=indptr[1:])
        return indptr, pairs.astype(np.uint32)

    def _edges(self, arrays: tuple[RowArray, RowArray, npt.NDArray[np.uint8], FloatArray]) -> EdgeArrays:
        src, dst, kind, weight = arrays
        return EdgeArrays(self._ids(src), self._ids(dst), kind, weight)

    def stage(
        self, unit_ids: IdArray, drafts: Sequence[UnitDraft], vectors: FloatArray
    ) -> tuple[EdgeArrays, EdgeArrays]:
        """Add units hidden from readers; return the edges added and evicted.

        ``unit_ids`` rise and are larger than all before; ``vectors`` is (n, dimension), a row of NaN where a
        unit has none.
        """
        _, added, evicted = self._core.stage(self._batch(UnitColumns.of(drafts), vectors))
        self._row_ids.add_units(unit_ids)
        return self._edges(added), self._edges(evicted)

    def stage_link(self, old: int, new: int) -> tuple[EdgeArrays, EdgeArrays]:
        """Stage a state edge from the old unit to the new, which may be staged itself.

        Returns the edges added and evicted by all that is staged.
        """
        old_row, new_row = (int(self._rows_of([unit])[0]) for unit in (old, new))
        added, evicted = self._core.stage_link(old_row, new_row)
        return self._edges(added), self._edges(evicted)

    def show_turns(self, turn_ids: Sequence[int], drafts: Sequence[UnitDraft]) -> None:
        """Let readers find raw turns by words and cues until they have become units; they take no edges.

        In what is found, a turn's id stands with a minus.
        """
        if not turn_ids:
            return
        vectors = np.full((len(turn_ids), self._dimension), np.nan, np.float32)
        self._core.stage(self._batch(UnitColumns.of(drafts), vectors, IS_TURN))
        self._row_ids.add_turns(turn_ids)
        self._core.reveal()

    def hide_turns(self, turn_ids: Iterable[int]) -> None:
        """Take raw turns out again; those that are not shown are passed over."""
        self._core.remove(self._row_ids.take_turns(turn_ids))

    def reveal(self) -> None:
        """Show the staged batch to readers."""
        self._core.reveal()

    def discard(self) -> None:
        """Forget the staged batch."""
        self._core.discard()

    def load(self, unit_ids: IdArray, units: UnitColumns, vectors: FloatArray, edges: EdgeArrays) -> None:
        """Fill an empty engine from the record; ``unit_ids`` rise, edges are taken as they are."""
        batch = self._batch(units, vectors)
        src, dst = (np.searchsorted(unit_ids, ids).astype(np.uint32) for ids in (edges.src, edges.dst))
        self._core.load(batch, src, dst, edges.kind, edges.weight)
        self._row_ids.add_units(unit_ids)

    def remove(self, unit_ids: Iterable[int]) -> EdgeArrays:
        """Remove units from every index; return the edges that went."""
        return self._edges(self._core.remove(self._rows_of(unit_ids)))

    def build_vector_graph(self, is_cancelled: Callable[[], bool]) -> bool:
        """Build the approximate vector graph beside readers where it pays; return whether one was built."""
        if not self._core.wants_graph:
            return False
        while not self._core.build_graph_step(256):
            if is_cancelled():
                return False
        self._core.adopt_graph()
        return True

    # --- reading ---

    def _selection(
        self,
        where: Filter | None,
        as_of: datetime | None,
        include_superseded: bool,
        unit_ids: Iterable[int] | None,
    ) -> _core.Selection:
        where = where or Filter()
        sessions = (where.session,) if isinstance(where.session, str) else (where.session or ())
        said = bounds_of(where.said)
        if as_of is not None:
            said = (
                max(said[0], EARLIEST),
                min(said[1] if said[0] != NO_TIME else LATEST, to_seconds(as_of)),
            )
        return _core.Selection(
            participants=self._wanted(_core.CueKind.PARTICIPANT, where.participants),
            locations=self._wanted(_core.CueKind.LOCATION, where.locations),
            sessions=np.array([self._sessions.get(name, NO_ID) for name in sessions], np.uint32),
            rows=None if unit_ids is None else self._rows_of(unit_ids),
            time=bounds_of(where.time),
            said=said,
            with_superseded=include_superseded,
        )

    def _wanted(self, kind: _core.CueKind, names: tuple[str, ...] | None) -> RowArray:
        """Return ids of the names; NO_ID stands for unknown ones, so that they match nothing."""
        ids: RowArray = np.unique(self._core.find(kind, list(names or ())))
        return ids

    def _query(self, cues: Cues, vector: FloatArray | None) -> _core.Query:
        time = cues.time
        return _core.Query(
            vector=_NO_VECTOR if vector is None else vector,
            terms=self._core.find_terms(cues.name_free),
            participants=self._cue_ids(_core.CueKind.PARTICIPANT, cues.participants),
            locations=self._cue_ids(_core.CueKind.LOCATION, cues.locations),
            start=to_seconds(time.interval.start) if time else NO_TIME,
            end=to_seconds(time.interval.end) if time else NO_TIME,
            grain=_GRAINS.get(time.grain, _core.TimeGrain.NONE) if time else _core.TimeGrain.NONE,
            months=months_of(time),
            asks_when=cues.asks_when,
        )

    def select(self, where: Filter, unit_ids: Iterable[int] | None = None) -> IdArray:
        """Return the units that a filter lets through; ``unit_ids`` bounds them further when given."""
        return self._ids(self._core.select(self._selection(where, None, True, unit_ids)))

    def recall(
        self,
        cues: Cues,
        vector: FloatArray | None,
        settings: RecallSettings,
        *,
        where: Filter | None = None,
        as_of: datetime | None = None,
        include_superseded: bool = True,
        unit_ids: Iterable[int] | None = None,
        embed_target: Embed | None = None,
    ) -> RecallArrays:
        """First recall, plan, expansion and ranking, in one native call where the core embeds the target.

        Parameters
        ----------
        vector : float32 (dimension,) or None
            Of ``cues.name_free``, unit length.
        unit_ids
            When given, only these may be returned (what the record found by metadata).
        embed_target
            Embeds the target's restatement where the core cannot.
        """
        bounds = (where, as_of, include_superseded, unit_ids)
        if not self._is_static and embed_target is not None:
            return self.expand_by_rules(self._open(cues, vector, settings, *bounds), embed_target)
        options = recall_options(settings, is_static=self._is_static)
        found = self._core.recall(self._query(cues, vector), self._selection(*bounds), options)
        return self._unpack(found, found.target, settings.top_k)

    def open_recall(
        self,
        cues: Cues,
        vector: FloatArray | None,
        settings: RecallSettings,
        *,
        where: Filter | None = None,
        as_of: datetime | None = None,
        include_superseded: bool = True,
        unit_ids: Iterable[int] | None = None,
    ) -> OpenRecall:
        """Return a first recall from which rounds may go on; arguments as for ``recall``."""
        return self._open(cues, vector, settings, where, as_of, include_superseded, unit_ids)

    def _open(
        self,
        cues: Cues,
        vector: FloatArray | None,
        settings: RecallSettings,
        where: Filter | None,
        as_of: datetime | None,
        include_superseded: bool,
        unit_ids: Iterable[int] | None,
    ) -> OpenRecall:
        query = self._query(cues, vector)
        selection = self._selection(where, as_of, include_superseded, unit_ids)
        options = recall_options(settings, is_static=self._is_static)
        first = self._core.first_recall(query, selection, options)
        words = self._core.find_terms(cues.name_free)
        return OpenRecall(query, words, selection, settings, first, self._core.plan(query, first, options))

    def first_alone(self, opened: OpenRecall) -> RecallArrays:
        """Return what first recall found, expanded by nothing."""
        plan = _core.Plan(
            reason=_core.StopReason.COVERED,
            anchors=_NO_ROWS,
            participants=_NO_ROWS,
            locations=_NO_ROWS,
            terms=_NO_ROWS,
        )
        return self._unpack(self._expand(opened, plan, None), "", opened.settings.top_k)

    def expand_by_rules(self, opened: OpenRecall, embed_target: Embed) -> RecallArrays:
        """Return what the rule planner's plan comes to."""
        plan = opened.plan
        target = self._core.restatement(plan) if plan.reason == _core.StopReason.NONE else ""
        vector = embed_target(target) if target else None
        return self._unpack(self._expand(opened, plan, vector), target, opened.settings.top_k)

    def expand_towards(
        self,
        opened: OpenRecall,
        anchors: Sequence[int],
        target: SupportTarget,
        words: str,
        vector: FloatArray | None,
        *,
        places: int,
        before: _core.Recalled | None = None,
    ) -> tuple[_core.Recalled, RecallArrays]:
        """Return the evidence with one round of expansion towards a target that was given in words.

        Parameters
        ----------
        anchors
            Units to set out from; those that are gone lead nowhere.
        words
            The target's restatement without names. Its words count that the question has not, all of them
            when the question has them all.
        vector : float32 (dimension,) or None
            Of ``words``.
        places : int
            Of the list, that may go to what all rounds together found.
        before
            What the round before gave first, None in the first round; the first of this round's pair is for
            the next.
        """
        terms = self._core.find_terms(words).ids
        new = np.setdiff1d(terms, opened.words.ids)
        time = target.time
        plan = _core.Plan(
            reason=_core.StopReason.NONE,
            anchors=self._rows_of(anchors),
            participants=self._cue_ids(_core.CueKind.PARTICIPANT, target.participants),
            locations=self._cue_ids(_core.CueKind.LOCATION, target.locations),
            start=to_seconds(time.start) if time else NO_TIME,
            end=to_seconds(time.end) if time else NO_TIME,
            terms=new if len(new) else terms,
        )
        found = self._expand(opened, plan, vector, places=places, before=before)
        return found, self._unpack(found, target.restatement, opened.settings.top_k)

    def _expand(
        self,
        opened: OpenRecall,
        plan: _core.Plan,
        vector: FloatArray | None,
        *,
        places: int | None = None,
        before: _core.Recalled | None = None,
    ) -> _core.Recalled:
        options = recall_options(opened.settings, is_static=self._is_static)
        if places is not None and not options.first:
            options.first = options.top_k - places
        target = _NO_VECTOR if vector is None else vector
        if before is None:
            return self._core.expand(opened.query, opened.first, plan, target, opened.selection, options)
        return self._core.expand_more(opened.query, before, plan, target, opened.selection, options)

    def _unpack(self, found: _core.Recalled, target: str, top_k: int) -> RecallArrays:
        plan, expanded = found.plan, found.expanded
        columns = (
            self._ids(expanded.rows).tolist(),
            expanded.scores.tolist(),
            expanded.hops.tolist(),
            self._ids(expanded.parents).tolist(),
            self._ids(expanded.anchors).tolist(),
            expanded.kinds.tolist(),
            expanded.strengths.tolist(),
        )
        first = found.first
        names = self._core.cue_name
        return RecallArrays(
            unit_ids=self._ids(found.rows).tolist(),
            scores=found.scores.tolist(),
            found_by=[way_names(bits) for bits in found.found_by.tolist()],
            hops=found.hops.tolist(),
            parts=found.parts.tolist(),
            first=list(
                zip(
                    self._ids(first.rows[:top_k]).tolist(),
                    first.scores[:top_k].tolist(),
                    [way_names(bits) for bits in first.found_by[:top_k].tolist()],
                    strict=True,
                )
            ),
            pool=len(first.rows),
            stop_reason=plan.reason.name.lower(),
            anchors=tuple(self._ids(plan.anchors).tolist()),
            target=target,
            target_participants=tuple(names(_core.CueKind.PARTICIPANT, cue) for cue in plan.participants.tolist()),
            target_locations=tuple(names(_core.CueKind.LOCATION, cue) for cue in plan.locations.tolist()),
            expanded=[Expanded(*row) for row in zip(*columns, strict=True)],
            support=float(found.support),
            support_signals=tuple(found.support_signals),
        )

    def state_edges(self, unit_id: int) -> list[tuple[int, int]]:
        """Return the state edges of a unit as (old, new)."""
        rows = self._rows_of([unit_id])
        if not len(rows):
            return []
        edges = self._edges(self._core.neighbors(int(rows[0])))
        is_state = edges.kind == EdgeKind.STATE
        return list(zip(edges.src[is_state].tolist(), edges.dst[is_state].tolist(), strict=True))

    def edge_count(self, kind: int) -> int:
        """Return the number of edges of a kind."""
        return int(self._core.edge_count(kind))

    @property
    def size(self) -> int:
        """Number of units that readers see."""
        return int(self._core.size)

    @property
    def has_vector_graph(self) -> bool:
        """Whether searches by vector use the approximate graph."""
        return bool(self._core.has_graph)

    def self_recall(self, sample: int) -> float:
        """Return the share of sampled vectors that find themselves."""
        return float(self._core.self_recall(sample))
