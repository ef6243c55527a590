"""Extraction of a namespace's windows by a language model: called for, or in the background."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing

from ripple._window_queue import CONCURRENCY, Job, WindowQueue
from ripple.errors import BudgetExceededError, RippleError
from ripple.models.base import LanguageModel, ModelSteps
from ripple.models.budget import Budget, Ledger
from ripple.models.driver import Outcome, ReplyCache, run_many
from ripple.types import Message
from ripple.write.ingest import IngestReport
from ripple.write.model_extraction import Extraction

__all__ = ["Extractor"]

_log = logging.getLogger(__name__)


class Extractor:
    """Hands the windows of a queue to a model, several at a time, and what comes of them back."""

    def __init__(self, queue: WindowQueue, model: LanguageModel, cache: ReplyCache | None) -> None:
        self._queue = queue
        self._model = model
        self._cache = cache
        self._worker: threading.Thread | None = None
        self._work = threading.Event()
        self._is_stopped = False

    def extract(
        self,
        report: IngestReport,
        ledger: Ledger,
        *,
        concurrency: int = CONCURRENCY,
        at_once: bool = False,
        with_failed: bool = False,
        after: int = 0,
    ) -> None:
        """Extract the windows that wait, and wait for those that others extract.

        ``at_once`` takes those too that failed a short time ago, ``with_failed`` those that were given up;
        ``after`` leaves out the windows up to that one.

        Raises
        ------
        BudgetExceededError
            A strict budget is spent; what was extracted before is kept.
        """
        last = self._queue.last_window
        claimed = self._claimed(at_once=at_once, with_failed=with_failed, after=after)
        self._drain(claimed, report, ledger, concurrency)
        if not ledger.refused():  # windows whose turns were deleted meanwhile wait again
            self._drain(self._claimed(after=after), report, ledger, concurrency)
        self._queue.wait(last)

    def extract_stream(
        self,
        batches: Iterable[Sequence[Message]],
        take: Callable[[Sequence[Message], IngestReport], None],
        report: IngestReport,
        ledger: Ledger,
        *,
        concurrency: int,
    ) -> None:
        """Take batch after batch, extracting their windows while the next are read; the last window is closed."""

        def jobs() -> Generator[Job, None, None]:
            for batch in batches:
                take(batch, report)
                if not ledger.refused():  # else what was refused would be asked for again and again
                    yield from self._claimed()
            self._queue.close_open()
            if not ledger.refused():
                yield from self._claimed()

        self._drain(jobs(), report, ledger, concurrency)

    def _claimed(
        self, *, at_once: bool = False, with_failed: bool = False, after: int = 0
    ) -> Generator[Job, None, None]:
        """Give the windows to extract now; those not asked for are given back."""
        jobs = deque(self._queue.claim(at_once=at_once, with_failed=with_failed, after=after))
        try:
            while jobs:
                yield jobs.popleft()
        finally:
            self._queue.release(jobs)

    def _steps(self, claimed: Iterable[Job], jobs: deque[Job]) -> Iterator[ModelSteps[Extraction]]:
        for job in claimed:
            jobs.append(job)
            yield self._queue.steps(job)

    def _drain(
        self, claimed: Generator[Job, None, None], report: IngestReport, ledger: Ledger, concurrency: int
    ) -> None:
        jobs: deque[Job] = deque()
        errors: list[RippleError] = []
        many = run_many(
            self._steps(claimed, jobs), self._model, concurrency=concurrency, ledger=ledger, cache=self._cache
        )
        try:
            with closing(many):
                for outcome in many:
                    self._settle(jobs.popleft(), outcome, report, errors)
        finally:
            claimed.close()
            self._queue.release(jobs)
        _raise_first(errors)

    def _settle(self, job: Job, outcome: Outcome[Extraction], report: IngestReport, errors: list[RippleError]) -> None:
        if isinstance(outcome.error, BudgetExceededError):
            errors.append(outcome.error)
            self._queue.release([job])
        else:
            self._queue.settle(job, outcome, report)

    # --- in the background ---

    def start(self, book: Callable[[Ledger], None]) -> None:
        """Let a thread extract what waits, now and whenever this is called; ``book`` gets what it took."""
        self._work.set()
        if self._worker is None or not self._worker.is_alive():
            self._worker = threading.Thread(target=self._serve, args=(book,), name="ripple-extraction", daemon=True)
            self._worker.start()

    def _serve(self, book: Callable[[Ledger], None]) -> None:
        while True:
            self._work.wait()
            if self._is_stopped:
                return
            self._work.clear()
            ledger = Ledger(Budget())
            try:
                self.extract(IngestReport(), ledger)
                book(ledger)
            except RippleError as error:  # the windows stay pending; the next add or flush tries again
                _log.warning("extraction in the background stopped: %s", type(error).__name__)

    def stop(self, *, wait: bool) -> None:
        """Let the thread finish the windows that it has, and wait for it where told to."""
        self._is_stopped = True
        self._work.set()
        if wait and self._worker is not None:
            self._worker.join()


def _raise_first(errors: list[RippleError]) -> None:
    if errors:
        raise errors[0]
