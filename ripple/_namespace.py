"""One open namespace: its engine beside its part of the record, and the lock of its writer."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ripple._columns import EdgeArrays, UnitColumns
from ripple._engine import NamespaceEngine
from ripple._window_queue import CONCURRENCY, Extracting, WindowQueue
from ripple.config import WRITE_BATCH
from ripple.errors import InvalidInputError, ModelError, UnitNotFoundError
from ripple.language.known import NamesInUse
from ripple.language.names import KnownNames, name_key
from ripple.language.sentences import clean_text
from ripple.models.budget import Ledger
from ripple.read.context import Recall
from ripple.read.recall import RecallParts, RecallRequest, recall
from ripple.read.units import as_unit, by_keys, oldest_first, record_alone_selects
from ripple.store import Batch, Record, Window, WindowState
from ripple.types import (
    AddResult,
    Filter,
    ForgetResult,
    MemoryUnit,
    Message,
    Turn,
    UnitDraft,
    WindowStatus,
)
from ripple.write.ingest import (
    EmbedTexts,
    IngestReport,
    Scope,
    commit_drafts,
    embed_texts,
    ingest,
    links_of,
    to_unit_rows,
    write_turns,
)
from ripple.write.messages import MOMENT_SESSIONS, assign_sessions, is_moment_session

if TYPE_CHECKING:
    from ripple._extractor import Extractor

__all__ = ["Namespace"]

_log = logging.getLogger(__name__)


class Namespace:
    """Reads may run beside one write; writes wait for each other."""

    def __init__(
        self,
        record: Record,
        number: int,
        engine: NamespaceEngine,
        embed: EmbedTexts,
        extracting: Extracting,
        *,
        is_read_only: bool,
    ) -> None:
        self.number = number
        self._record = record
        self._engine = engine
        self._embed = embed
        self._writer = threading.RLock()
        self._builder: threading.Thread | None = None
        self._is_closed = False
        self._has_pending = False
        image = record.load(number)
        engine.load(
            image.unit_ids,
            UnitColumns(
                contents=image.contents,
                speakers=image.speakers,
                participants=image.participants,
                locations=image.locations,
                times=image.times,
                said_at=image.said_at,
                sessions=image.sessions,
                flags=image.flags,
            ),
            image.vectors,
            EdgeArrays(image.edges.src, image.edges.dst, image.edges.kind, image.edges.weight),
        )
        self._names = NamesInUse(
            participants=KnownNames(dict.fromkeys(chain.from_iterable(image.participants))),
            locations=KnownNames(dict.fromkeys(chain.from_iterable(image.locations))),
            speakers=KnownNames(name for name in dict.fromkeys(image.speakers) if name is not None),
            newest=record.newest_said_at(number),
        )
        self._last_session = ""  # of those that we name
        self._last_said_at: datetime | None = None
        self._scope = Scope(record, number, engine, embed, self._names)
        self._windows = WindowQueue(self._scope, extracting.windows, self._writer)
        self._extractor: Extractor | None = None
        if extracting.llm is not None:
            from ripple._extractor import Extractor  # what it needs takes long to load

            cache = record.accounts.replies(number) if extracting.keeps_replies else None
            self._extractor = Extractor(self._windows, extracting.llm, cache)
        if not is_read_only:
            self._resume()
            if self._extractor is None:
                self._windows.close_open()  # what rules write next would stand behind them
        self._build_in_background()

    @property
    def engine(self) -> NamespaceEngine:
        """The engine, for what only it knows."""
        return self._engine

    def _resume(self) -> None:
        """Write the units of turns that were recorded and never finished; none is lost when that fails.

        The turns of one call are taken together, as they were then: the same are repeats, the same names known.
        """
        with self._writer:
            self._has_pending = False
            last = self._record.last_turn(self.number, MOMENT_SESSIONS)
            self._follow([] if last is None else [last])
            pending = [
                window
                for window in self._record.windows.all(self.number, state=WindowState.PENDING)
                if not window.prompt_version  # the others are a model's
            ]
            calls: dict[int, list[Window]] = {}
            for window in sorted(pending, key=lambda window: (window.attempts, window.window_id)):
                calls.setdefault(window.sequence, []).append(window)
            for windows in calls.values():
                window_ids = [window.window_id for window in windows]
                turn_ids = [turn_id for window in windows for turn_id in window.turn_ids]
                turns = list(self._record.turns(self.number, turn_ids).values())
                try:
                    write_turns(turns, IngestReport(), self._scope, windows=window_ids)
                except (ModelError, InvalidInputError) as error:
                    # The model may be away: the others would wait for it as long. A call that fails alone
                    # comes last at the next attempt.
                    reason = type(error).__name__
                    _log.warning("%d windows stay pending: %s", len(windows), reason)
                    self._record.windows.mark(self.number, window_ids, state=WindowState.PENDING, reason=reason)
                    self._has_pending = True
                    return

    def _build_in_background(self) -> None:
        if self._builder is not None and self._builder.is_alive():
            return

        def build() -> None:
            self._engine.build_vector_graph(lambda: self._is_closed)

        self._builder = threading.Thread(target=build, name="ripple-vector-graph", daemon=True)
        self._builder.start()

    def close(self, *, abandon: bool = False) -> None:
        """Stop what runs in the background and wait for it and for a running write.

        ``abandon`` does not wait for a model: what it still gives finds no namespace.
        """
        self._is_closed = True
        if self._extractor is not None:
            self._extractor.stop(wait=not abandon)
        if self._builder is not None:
            self._builder.join()
        with self._writer:
            pass

    # --- writing ---

    def add(
        self,
        messages: Sequence[Message],
        ledger: Ledger,
        *,
        wait: bool | None = None,
        concurrency: int = CONCURRENCY,
    ) -> AddResult:
        """Record messages and write their units: by rules, or of the windows that the messages fill by the model.

        ``wait`` True makes a window of what is left, False leaves the model's work to the background.
        """
        started = time.perf_counter()
        report = IngestReport()
        self.record_messages(messages, report, close=wait is True)
        if self._extractor is not None:
            if wait is False:
                self._extractor.start(self.book)
            else:
                self._extract(lambda extractor: extractor.extract(report, ledger, concurrency=concurrency), ledger)
        return self.result(report, ledger, started)

    def add_many(
        self,
        batches: Iterable[Sequence[Message]],
        ledger: Ledger,
        *,
        concurrency: int,
        progress: Callable[[int], None],
    ) -> AddResult:
        """Record batch after batch and write their units, windows side by side; the last window is closed."""
        started = time.perf_counter()
        report = IngestReport()

        def take(batch: Sequence[Message], report: IngestReport) -> None:
            self.record_messages(batch, report)
            progress(len(batch))

        if self._extractor is None:
            for batch in batches:
                take(batch, report)
        else:
            self._extract(
                lambda extractor: extractor.extract_stream(batches, take, report, ledger, concurrency=concurrency),
                ledger,
            )
        return self.result(report, ledger, started)

    def flush(self, ledger: Ledger, *, concurrency: int = CONCURRENCY, with_failed: bool = False) -> AddResult:
        """Make a window of the open turns and extract all that waits, on demand also what was given up."""
        started = time.perf_counter()
        report = IngestReport()
        if self._extractor is not None:
            self._windows.close_open()
            self._extract(
                lambda extractor: extractor.extract(
                    report, ledger, concurrency=concurrency, at_once=True, with_failed=with_failed
                ),
                ledger,
            )
        return self.result(report, ledger, started)

    def finish(self, ledger: Ledger) -> None:
        """Make a window of the open turns and extract it; what is pending since before stays so."""
        if self._extractor is not None:
            last = self._windows.last_window
            self._windows.close_open()
            report = IngestReport()
            self._extract(lambda extractor: extractor.extract(report, ledger, after=last), ledger)

    def _extract(self, run: Callable[[Extractor], None], ledger: Ledger) -> None:
        assert self._extractor is not None
        try:
            run(self._extractor)
        finally:
            self.book(ledger)

    def book(self, ledger: Ledger) -> None:
        """Enter in the record what an operation took."""
        if not self._record.is_read_only:
            self._record.accounts.add(self.number, ledger.by_stage())

    def record_messages(self, messages: Sequence[Message], report: IngestReport, *, close: bool = False) -> None:
        """Record messages, a batch at a time; without a model write their units too."""
        with self._writer:
            if len(messages) > WRITE_BATCH:  # the record checks one batch itself
                self._record.check_messages(self.number, messages)
            if self._has_pending:
                self._resume()
            for start in range(0, len(messages), WRITE_BATCH):
                batch = self._with_sessions(messages[start : start + WRITE_BATCH])
                if self._extractor is not None:
                    is_last = start + WRITE_BATCH >= len(messages)
                    self._follow(self._windows.take(batch, report, close=close and is_last))
                    continue
                try:
                    self._follow(ingest(batch, report, self._scope))
                except BaseException:
                    self._has_pending = True
                    raise

    def result(self, report: IngestReport, ledger: Ledger, started: float) -> AddResult:
        """Return what became of a call."""
        self._build_in_background()
        outcomes, windows = report.outcomes, Counter(done=report.done)
        if self._extractor is not None:
            outcomes = self._outcomes(report)
            told = set(report.turn_ids)
            windows.update(
                window.state
                for window in self._windows.status()
                if window.window_id in report.waiting or not told.isdisjoint(window.turn_ids)
            )
        return AddResult(
            turn_ids=tuple(report.turn_ids),
            outcomes=tuple(outcomes),
            unit_ids=tuple(dict.fromkeys(report.unit_ids)),
            decisions=dict(report.decisions),
            repeated=report.repeated,
            rejected=report.rejected,
            dropped={reason: count for reason, count in report.dropped.items() if count},
            edges_added=report.edges_added,
            edges_evicted=report.edges_evicted,
            windows=dict(+windows),
            refused=dict(ledger.refused()),
            usage=dict(ledger.by_stage()),
            seconds=time.perf_counter() - started,
        )

    def _outcomes(self, report: IngestReport) -> list[str]:
        """Return how far each message of a call is on the model's way."""
        waiting = {turn.turn_id: "open" for turn in self._windows.open_turns}
        waiting |= {turn_id: job.state for job in self._windows.status() for turn_id in job.turn_ids}
        turn_ids = iter(report.turn_ids)
        at = [None if outcome == "rejected" else next(turn_ids) for outcome in report.outcomes]
        uncited = {turn.turn_id for turn in self._record.windows.uncited(self.number, report.turn_ids)}
        return [
            outcome
            if turn_id is None or outcome != "written"
            else waiting.get(turn_id, "empty" if turn_id in uncited else "written")
            for outcome, turn_id in zip(report.outcomes, at, strict=True)
        ]

    def windows(self) -> list[WindowStatus]:
        """Return the windows that wait for the model, and those that it failed."""
        return self._windows.status()

    def _with_sessions(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages each with a session; one that was stored before keeps the one it has."""
        ids = [message.message_id for message in messages if message.session == "" and message.message_id is not None]
        stored = self._record.sessions_of(self.number, ids) if ids else {}
        known = [
            replace(message, session=stored[message.message_id]) if message.message_id in stored else message
            for message in messages
        ]
        return assign_sessions(known, self._last_session, self._last_said_at)

    def _follow(self, turns: Sequence[Turn]) -> None:
        """Note where messages without a session go on."""
        for turn in turns:
            if is_moment_session(turn.session):
                self._last_session, self._last_said_at = turn.session, turn.said_at

    def update(self, unit_id: int, text: str) -> int:
        """Write a unit with new words that supersedes another; return its id."""
        with self._writer:
            old = self.unit(unit_id)
            content = clean_text(text)
            if not content:
                raise InvalidInputError("text is empty; delete takes a unit away")
            draft = UnitDraft(
                text=f"{old.speaker}: {content}" if old.speaker else content,
                content=content,
                speaker=old.speaker,
                participants=old.participants,
                locations=old.locations,
                time=old.time,
                said_at=old.said_at,
                session=old.session,
                turn_ids=tuple(source.turn_id for source in old.sources),
                is_question=old.is_question,
                has_time_word=old.has_time_word,
            )
            report = IngestReport()
            vectors = embed_texts([content], self._embed)
            commit_drafts([draft], vectors, report, self._scope, Batch(), supersedes=unit_id)
            return report.unit_ids[0]

    def link(self, old: int, new: int) -> None:
        """Record that a unit supersedes another."""
        with self._writer:
            self._check_link(old, new)
            added, evicted = self._engine.stage_link(old, new)
            try:
                self._record.apply(self.number, Batch(edges_added=links_of(added), edges_evicted=links_of(evicted)))
            except BaseException:
                self._engine.discard()
                raise
            self._engine.reveal()

    def _check_link(self, old: int, new: int) -> None:
        if old == new:
            raise InvalidInputError(f"unit {old} cannot supersede itself")
        known = self._record.units(self.number, [old, new])
        for unit_id in (old, new):
            if unit_id not in known:
                raise _not_found(unit_id)
        later: int | None = new
        while later is not None:
            unit = self._record.units(self.number, [later]).get(later)
            later = unit.superseded_by if unit else None
            if later == old:
                raise InvalidInputError(f"unit {new} is already superseded by unit {old}")

    def delete(self, unit_ids: Sequence[int]) -> ForgetResult:
        """Delete units with their edges; a turn goes with its last citing unit."""
        with self._writer:
            deleted = self._record.delete_units(self.number, list(unit_ids))
            self._remove(deleted.units, deleted.turns)
        return ForgetResult(
            turns=len(deleted.turns),
            units=len(deleted.units),
            edges=deleted.edges,
            turns_kept=deleted.turns_kept,
            pending=deleted.pending,
        )

    def forget(self, where: Filter, *, dry_run: bool) -> ForgetResult:
        """Delete the turns that match and everything that is derived from them alone."""
        with self._writer:
            turn_ids = self._record.select_turns(self.number, by_keys(where), name_key=name_key).tolist()
            if not record_alone_selects(where):  # raw turns, of which the record knows no cues
                turn_ids += [-unit for unit in self._engine.select(where).tolist() if unit < 0]
            forgotten = self._record.forget_turns(self.number, turn_ids, dry_run=dry_run)
            if not dry_run:
                self._remove(forgotten.units, forgotten.turns)
        return ForgetResult(
            turns=len(forgotten.turns),
            units=len(forgotten.units),
            edges=forgotten.edges,
            pending=forgotten.pending,
            dry_run=dry_run,
        )

    def _remove(self, unit_ids: Sequence[int], turn_ids: Sequence[int]) -> None:
        self._engine.remove(unit_ids)
        self._windows.forget(turn_ids)
        self._names.keep(self._engine.find_participant, self._engine.find_location)
        self._names.newest = self._record.newest_said_at(self.number)

    # --- reading ---

    def unit(self, unit_id: int) -> MemoryUnit:
        """Return a stored unit, or raise UnitNotFoundError."""
        unit = self._record.units(self.number, [unit_id]).get(unit_id)
        if unit is None:
            raise _not_found(unit_id)
        return unit

    def history(self, unit_id: int) -> list[MemoryUnit]:
        """Return the chain of state that a unit stands in, oldest first."""
        chain = {unit_id}
        open_ends = [unit_id]
        while open_ends:
            for edge in self._engine.state_edges(open_ends.pop()):
                open_ends.extend(unit for unit in edge if unit not in chain)
                chain.update(edge)
        units = self._record.units(self.number, sorted(chain))
        if unit_id not in units:
            raise _not_found(unit_id)
        return oldest_first(units)

    def recall(self, request: RecallRequest, support_threshold: float) -> Recall:
        """Return the evidence for a question."""
        return recall(self.selected(request), self.recall_parts(support_threshold))

    def selected(self, request: RecallRequest) -> RecallRequest:
        """Return the request with what only the record selects by as unit ids."""
        where = request.where
        if where is None or not record_alone_selects(where):
            return request
        return replace(request, unit_ids=self._record.select(self.number, by_keys(where)).tolist())

    def recall_parts(self, support_threshold: float) -> RecallParts:
        """Return what recalls need of the namespace."""
        return RecallParts(
            engine=self._engine,
            names=self._names,
            embed=self._embed_query,
            fetch=self._fetch,
            support_threshold=support_threshold,
        )

    def _fetch(self, unit_ids: Iterable[int]) -> Mapping[int, MemoryUnit]:
        """Return units by id, and raw turns, whose ids stand with a minus, in the form of units."""
        wanted = list(unit_ids)
        units = self._record.units(self.number, wanted)
        turn_ids = [-unit_id for unit_id in wanted if unit_id < 0]
        if turn_ids:
            turns = self._record.turns(self.number, turn_ids)
            units |= {-turn_id: as_unit(turn) for turn_id, turn in turns.items()}
        return units

    def _embed_query(self, text: str) -> npt.NDArray[np.float32] | None:
        vector = to_unit_rows(self._embed([text]))[0]
        return None if np.isnan(vector[0]) else vector


def _not_found(unit_id: int) -> UnitNotFoundError:
    return UnitNotFoundError(f"no unit {unit_id} in this namespace; ids come from add, search and recall")
