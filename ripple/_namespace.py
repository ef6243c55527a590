"""One open namespace: its engine beside its part of the record, and the lock of its writer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt

from ripple._engine import EdgeArrays, NamespaceEngine
from ripple.config import WRITE_BATCH
from ripple.errors import InvalidInputError, UnitNotFoundError
from ripple.read.context import Recall
from ripple.read.recall import RecallRequest, recall
from ripple.store import Record
from ripple.types import AddResult, Filter, ForgetResult, MemoryUnit, Message, UnitDraft
from ripple.write.ingest import EmbedTexts, IngestReport, ingest, write_drafts, write_turns
from ripple.write.messages import assign_sessions

__all__ = ["Namespace"]

_log = logging.getLogger(__name__)


class Namespace:
    """Reads may run beside one write; writes wait for each other."""

    def __init__(
        self, record: Record, number: int, engine: NamespaceEngine, embed: EmbedTexts, *, is_read_only: bool
    ) -> None:
        self.number = number
        self._record = record
        self._engine = engine
        self._embed = embed
        self._writer = threading.RLock()
        self._builder: threading.Thread | None = None
        self._is_closed = False
        engine.load(record.load(number))
        last = record.last_turn(number)
        self._last_session = last.session if last else ""
        self._last_said_at = last.said_at if last else None
        if not is_read_only:
            self._resume()
        self._build_in_background()

    @property
    def engine(self) -> NamespaceEngine:
        """The engine, for what only it knows."""
        return self._engine

    def _resume(self) -> None:
        """Write the units of turns that were recorded and never finished."""
        with self._writer:
            for window in self._record.windows(self.number, state="pending"):
                turns = list(self._record.turns(self.number, window.turn_ids).values())
                write_turns(turns, IngestReport(), windows=[window.window_id], **self._parts())

    def _parts(self) -> dict[str, object]:
        return {
            "record": self._record,
            "namespace": self.number,
            "engine": self._engine,
            "embed": self._embed,
        }

    def _build_in_background(self) -> None:
        if self._builder is not None and self._builder.is_alive():
            return

        def build() -> None:
            self._engine.build_vector_graph(lambda: self._is_closed)

        self._builder = threading.Thread(target=build, name="ripple-vector-graph", daemon=True)
        self._builder.start()

    def close(self) -> None:
        """Stop the background build and wait for it and for a running write."""
        self._is_closed = True
        if self._builder is not None:
            self._builder.join()
        with self._writer:
            pass

    # --- writing ---

    def add(self, messages: Sequence[Message]) -> AddResult:
        """Record messages and write their units, a batch at a time."""
        started = time.perf_counter()
        report = IngestReport()
        with self._writer:
            for start in range(0, len(messages), WRITE_BATCH):
                batch = assign_sessions(
                    messages[start : start + WRITE_BATCH], self._last_session, self._last_said_at
                )
                ingest(batch, report, **self._parts())
                self._last_session, self._last_said_at = batch[-1].session, batch[-1].said_at
        self._build_in_background()
        return AddResult(
            turn_ids=tuple(report.turn_ids),
            unit_ids=tuple(dict.fromkeys(report.unit_ids)),
            decisions=dict(report.decisions),
            repeated=report.repeated,
            rejected=report.rejected,
            dropped={reason: count for reason, count in report.dropped.items() if count},
            edges_added=report.edges_added,
            edges_evicted=report.edges_evicted,
            seconds=time.perf_counter() - started,
        )
