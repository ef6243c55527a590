"""The windows of one namespace on their way to units, and the raw turns that are found meanwhile.

Turns are recorded and shown to readers at once. Windows are cut from them as they fill, extracted by whoever
claims them, several side by side, and applied in the order of their turns. No lock is held while a model
works: a window whose turns have changed meanwhile is extracted again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ripple.errors import ModelError, RippleError
from ripple.language.sentences import clean_text
from ripple.models.base import LanguageModel, ModelSteps
from ripple.models.driver import Outcome
from ripple.store import Window, WindowState
from ripple.types import Message, Turn, UnitDraft, Windows, WindowStatus
from ripple.write.extraction import extract_rules
from ripple.write.ingest import (
    FloatArray,
    IngestReport,
    Scope,
    embed_texts,
    new_turns,
    record_turns,
    write_drafts,
    write_turns,
)
from ripple.write.windows import WindowCutter, context_of

if TYPE_CHECKING:
    from ripple.write.model_extraction import Extraction

__all__ = ["CONCURRENCY", "Extracting", "Job", "WindowQueue"]

_log = logging.getLogger(__name__)

_BACKOFF_SECONDS = 30.0
"""Silence after a window's first failure; doubled with each further one."""


CONCURRENCY = 4
"""Windows read side by side where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Extracting:
    """How units are made: by a language model from windows, or by rules where there is none."""

    llm: LanguageModel | None = None
    windows: Windows = field(default_factory=Windows)
    keeps_replies: bool = False


@dataclass(eq=False, slots=True)
class Job:
    """A window that waits for its units."""

    window_id: int
    turn_ids: tuple[int, ...]
    state: WindowState = WindowState.PENDING
    attempts: int = 0
    reason: str = ""
    is_claimed: bool = False
    outcome: Outcome[Extraction] | None = None
    turns: tuple[Turn, ...] = ()  # as they were when the window was claimed
    before: tuple[Turn, ...] = ()
    vectors: FloatArray | None = None  # of the outcome's units
    not_before: float = 0.0

    @classmethod
    def of(cls, window: Window) -> Job:
        """Return the job of a stored window."""
        return cls(window.window_id, window.turn_ids, window.state, window.attempts, window.reason)


class WindowQueue:
    """All of it is safe for several threads; what writes takes the namespace's writer lock itself."""

    def __init__(self, scope: Scope, rule: Windows, writer: AbstractContextManager[bool]) -> None:
        self._scope = scope
        self._rule = rule
        self._writer = writer
        self._changed = threading.Condition()
        self._jobs: dict[int, Job] = {}  # by window, in the order of turns; failed ones among them
        record, namespace = scope.record, scope.namespace
        for state in (WindowState.PENDING, WindowState.FAILED):
            for window in record.windows.all(namespace, state=state):
                if window.prompt_version:
                    self._jobs[window.window_id] = Job.of(window)
        self._jobs = dict(sorted(self._jobs.items()))
        open_turns = record.windows.open_turns(namespace)
        waiting = record.windows.uncited(namespace, [turn for job in self._jobs.values() for turn in job.turn_ids])
        self._show([*waiting, *open_turns])
        first = open_turns[0].turn_id if open_turns else None
        self._cutter = WindowCutter(rule, record.windows.turns_before(namespace, first, rule.turns))
        self._late = open_turns  # given to the cutter when something may be written

    # --- turns in ---

    def take(self, messages: Sequence[Message], report: IngestReport, *, close: bool = False) -> list[Turn]:
        """Record messages, show their turns and cut the windows that they fill; return the new turns.

        ``close`` makes a window of what is left.
        """
        with self._writer:
            added = record_turns(messages, report, self._scope, with_windows=False)
            turns = new_turns(added)
            self._late += turns  # until the windows that they fill are in the record
            self._show(turns)
            self._cut(close=close)
        return turns

    def close_open(self) -> None:
        """Make a window of the open turns."""
        with self._writer:
            self._cut(close=True)

    def _cut(self, *, close: bool) -> None:
        cutter = self._cutter.copy()  # what was cut counts once it is in the record
        windows = cutter.add(self._late)
        if close and (rest := cutter.close()):
            windows.append(rest)
        stored: list[Window] = []
        if windows:
            ids = [[turn.turn_id for turn in window] for window in windows]
            stored = self._scope.record.windows.add(self._scope.namespace, ids, _prompt_version())
        self._cutter, self._late = cutter, []
        with self._changed:
            self._jobs.update((window.window_id, Job.of(window)) for window in stored)
            self._changed.notify_all()

    def _show(self, turns: Sequence[Turn]) -> None:
        """Let readers find raw turns, in the order in which they came."""
        told = {turn.turn_id: clean_text(turn.text) for turn in turns}
        named: dict[int, UnitDraft] = {}
        for draft in extract_rules(turns, self._scope.names.participants.resolve):
            turn_id = draft.turn_ids[0]
            known = named.get(turn_id, draft)
            named[turn_id] = replace(
                known,
                content=told[turn_id],
                participants=tuple(dict.fromkeys((*known.participants, *draft.participants))),
                locations=tuple(dict.fromkeys((*known.locations, *draft.locations))),
            )
        self._scope.engine.show_turns(list(named), list(named.values()))
        self._scope.names.learn(named.values())

    def forget(self, turn_ids: Iterable[int]) -> None:
        """Take deleted turns out; the caller holds the writer lock and has deleted them in the record."""
        gone = list(turn_ids)
        self._scope.engine.hide_turns(gone)
        self._cutter.forget(gone)
        self._late = [turn for turn in self._late if turn.turn_id not in gone]
        with self._changed:
            for job in list(self._jobs.values()):
                job.turn_ids = tuple(turn_id for turn_id in job.turn_ids if turn_id not in gone)
                if not job.turn_ids:
                    del self._jobs[job.window_id]
            self._changed.notify_all()

    # --- windows out ---

    @property
    def last_window(self) -> int:
        """The greatest window that is listed, 0 when there is none."""
        with self._changed:
            return max(self._jobs, default=0)

    @property
    def open_turns(self) -> tuple[Turn, ...]:
        """The turns that no window holds yet."""
        return (*self._cutter.open_turns, *self._late)

    def status(self) -> list[WindowStatus]:
        """Return the windows that have not become units by the model, in the order of their turns."""
        with self._changed:
            return [
                WindowStatus(job.window_id, job.state.value, job.turn_ids, job.attempts, job.reason)
                for job in self._jobs.values()
            ]

    def claim(self, *, at_once: bool = False, with_failed: bool = False, after: int = 0) -> list[Job]:
        """Return the windows that are to be extracted now and that nobody else extracts, in order.

        ``at_once`` takes those too that failed a short time ago, ``with_failed`` those that were given up;
        ``after`` leaves out the windows up to that one.
        """
        now = time.monotonic()
        with self._changed:
            jobs = [
                job
                for job in self._jobs.values()
                if not job.is_claimed
                and job.outcome is None
                and (at_once or job.not_before <= now)
                and (with_failed or job.state is WindowState.PENDING)
                and job.window_id > after
            ]
            for job in jobs:
                job.is_claimed = True
        return jobs

    def release(self, jobs: Iterable[Job]) -> None:
        """Give back claimed windows that were not extracted."""
        with self._changed:
            for job in jobs:
                if job.outcome is None:
                    job.is_claimed = False
            self._changed.notify_all()

    def steps(self, job: Job) -> ModelSteps[Extraction]:
        """Return the steps that extract a claimed window."""
        from ripple.write.model_extraction import extract_window

        record, namespace = self._scope.record, self._scope.namespace
        turns = tuple(record.turns(namespace, job.turn_ids).values())
        job.turns, job.before = turns, ()
        if turns:  # else all of them were deleted since the window was claimed
            before = record.windows.turns_before(namespace, turns[0].turn_id, self._rule.overlap)
            job.before = tuple(context_of(before, turns[0], self._rule))
        names = self._scope.names
        return extract_window(
            turns,
            before=job.before,
            known_participants=names.participants.resolve,
            known_locations=names.locations.resolve,
        )

    def settle(self, job: Job, outcome: Outcome[Extraction], report: IngestReport) -> None:
        """Take what came of a claimed window, and apply all windows whose turn it is."""
        found = outcome.value
        if found is not None:
            try:
                job.vectors = embed_texts([draft.content for draft in found.drafts], self._scope.embed)
            except ModelError as error:
                outcome = Outcome(error=error)
        with self._changed:
            job.outcome = outcome
        with self._writer:
            while (ready := self._next_ready()) is not None:
                self._apply(ready, report)

    def _next_ready(self) -> Job | None:
        """Return the first window with an outcome, unless one before it is still being extracted."""
        with self._changed:
            for job in self._jobs.values():
                if job.outcome is not None:
                    return job
                if job.is_claimed:
                    return None
        return None

    def wait(self, last_window: int) -> None:
        """Wait until nobody extracts a window up to this one any more."""
        with self._changed:
            self._changed.wait_for(
                lambda: not any(job.is_claimed for job in self._jobs.values() if job.window_id <= last_window)
            )

    def _apply(self, job: Job, report: IngestReport) -> None:
        """Make units of a window, or note why there are none."""
        outcome = job.outcome
        assert outcome is not None
        try:
            if self._is_stale(job):
                return
            if outcome.value is not None:
                self._write(job, outcome.value, report)
            elif outcome.error is not None:
                self._note_failure(job, outcome.error, report)
        finally:
            with self._changed:
                job.outcome, job.vectors, job.is_claimed = None, None, False
                self._changed.notify_all()

    def _is_stale(self, job: Job) -> bool:
        """Return whether a turn that the model was shown has been deleted since."""
        shown = [turn.turn_id for turn in (*job.before, *job.turns)]
        return len(self._scope.record.turns(self._scope.namespace, shown)) < len(shown)

    def _write(self, job: Job, found: Extraction, report: IngestReport) -> None:
        if job.state is WindowState.FAILED:
            self._remove_fallback(job)
        write_drafts(
            found.drafts,
            report,
            self._scope,
            vectors=job.vectors,
            windows=[job.window_id],
            prompt_version=_prompt_version(),
        )
        report.dropped.update(found.dropped)
        report.problems.update(found.problems)
        self._scope.engine.hide_turns(job.turn_ids)
        report.done += 1
        with self._changed:
            self._jobs.pop(job.window_id, None)

    def _remove_fallback(self, job: Job) -> None:
        """Delete what rules made of a window, before the model's units take its place.

        What somebody has updated or linked since stays as it is.
        """
        record, namespace = self._scope.record, self._scope.namespace
        made = record.windows.units_of(namespace, job.turn_ids)
        unit_ids = [unit_id for unit_id in made if not self._scope.engine.state_edges(unit_id)]
        record.delete_units(namespace, unit_ids, delete_orphan_turns=False)
        self._scope.engine.remove(unit_ids)

    def _note_failure(self, job: Job, error: RippleError, report: IngestReport) -> None:
        reason = getattr(error, "reason", "") or type(error).__name__
        report.waiting.add(job.window_id)
        if reason == "budget":
            return
        _log.warning("window %d was not extracted: %s", job.window_id, reason)
        record, namespace = self._scope.record, self._scope.namespace
        job.reason, job.attempts = reason, job.attempts + 1
        job.not_before = time.monotonic() + _BACKOFF_SECONDS * 2 ** (job.attempts - 1)
        was_failed = job.state is WindowState.FAILED
        if job.attempts < self._rule.attempts or was_failed:
            record.windows.mark(namespace, [job.window_id], state=job.state, reason=reason)
            return
        if self._rule.fallback:
            write_turns(
                job.turns,
                report,
                self._scope,
                windows=[job.window_id],
                prompt_version=_prompt_version(),
                failure=reason,
            )
            self._scope.engine.hide_turns(job.turn_ids)
        else:
            record.windows.mark(namespace, [job.window_id], state=WindowState.FAILED, reason=reason)
        job.state = WindowState.FAILED


def _prompt_version() -> str:
    from ripple.prompts.extraction import VERSION  # no store without a model needs it

    return VERSION
