"""A store that is open: its record, embedder and model, and the namespaces that are in use."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ripple._embedding import guarded, settle_embedder
from ripple._engine import NamespaceEngine
from ripple._namespace import Namespace
from ripple._window_queue import Extracting
from ripple.config import CLOSE_SECONDS
from ripple.errors import ConfigError, InvalidInputError, ReadOnlyError
from ripple.models.base import Embedder
from ripple.models.budget import Budget, Ledger
from ripple.models.embedders import MiniLMEmbedder, StaticEmbedder
from ripple.store import Record
from ripple.types import AddResult, ForgetResult, StoreStats, Thresholds
from ripple.write.messages import check_namespace
from ripple.write.restore import read_export, write_export

__all__ = ["OpenStore"]


class OpenStore:
    """What all verbs share; safe for several threads."""

    def __init__(self, record: Record, embedder: Embedder, thresholds: Thresholds, extracting: Extracting) -> None:
        self.record = record
        self.embedder = embedder
        self.extracting = extracting
        self._thresholds = thresholds
        self._words = StaticEmbedder() if not isinstance(embedder, StaticEmbedder) else embedder
        self._namespaces: dict[str, Namespace] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | Path, extracting: Extracting, embedder: Embedder | None, *, read_only: bool) -> OpenStore:
        """Return the store at a directory, made where there is none; see ``Memory.open``."""
        embedder = embedder if embedder is not None else StaticEmbedder()
        record = Record.open(path, read_only=read_only)
        try:
            return cls(record, embedder, settle_embedder(record, embedder), extracting)
        except BaseException:
            record.close()
            raise

    def close(self, *, finish: bool) -> None:
        """Close all; ``finish`` lets the model make units of the turns that wait first."""
        if finish and self.extracting.llm is not None and not self.record.is_read_only:
            ledger = Ledger(Budget(seconds=CLOSE_SECONDS))
            for opened in list(self._namespaces.values()):
                opened.finish(ledger)
        with self._lock:
            for namespace in self._namespaces.values():
                namespace.close()
            self._namespaces.clear()
            self.record.close()

    def namespace(self, name: str, *, create: bool) -> Namespace | None:
        """Return a namespace, opened at its first use; None when there is none and none is to be made."""
        check_namespace(name)
        with self._lock:
            number = self.record.namespace(name, create=create)
            if number is None:
                return None
            namespace = self._namespaces.get(name)
            if namespace is None:
                engine = NamespaceEngine(
                    self.embedder.dimension,
                    self._thresholds,
                    self._words.native,
                    is_static=isinstance(self.embedder, StaticEmbedder),
                    is_english=isinstance(self.embedder, (StaticEmbedder, MiniLMEmbedder)),
                )
                namespace = Namespace(
                    self.record,
                    number,
                    engine,
                    guarded(self.embedder),
                    self.extracting,
                    is_read_only=self.record.is_read_only,
                )
                self._namespaces[name] = namespace
            return namespace

    def existing(self, name: str) -> Namespace:
        """Return a namespace that must be there."""
        namespace = self.namespace(name, create=False)
        if namespace is None:
            raise InvalidInputError(f"no namespace {name!r}; namespaces() lists those that exist")
        return namespace

    def writable(self, name: str, *, create: bool = False) -> Namespace:
        """Return a namespace to write to, or raise where nothing may be written."""
        self._require_writable()
        found = self.namespace(name, create=create)
        return found if found is not None else self.existing(name)

    def _require_writable(self) -> None:
        if self.record.is_read_only:
            raise ReadOnlyError("the store was opened with read_only=True; open it without to write")

    def delete_namespace(self, name: str) -> ForgetResult:
        """Delete a namespace with all that it holds."""
        self.existing(name)
        with self._lock:
            self._namespaces.pop(name).close(abandon=True)
            deleted = self.record.delete_namespace(name)
        return ForgetResult(turns=deleted.turns, units=deleted.units, edges=deleted.edges, pending=deleted.pending)

    def stats(self, name: str | None) -> StoreStats:
        """Return counts of one namespace, or of the whole store."""
        counts = self.record.stats(None if name is None else self.existing(name).number)
        return StoreStats(
            units=counts.units,
            turns=counts.turns,
            vectors=counts.vectors,
            edges=dict(counts.edges),
            windows=dict(counts.windows),
            file_bytes=counts.file_bytes,
            embedder=self.embedder.name,
            thresholds=self._thresholds,
        )

    def export(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield a namespace as rows; see ``Memory.export``."""
        rows = self.record.export(self.existing(name).number)
        counts = {"turn": 0, "unit": 0, "edge": 0}
        for row in rows:
            if row["type"] == "namespace":
                yield {**row, "embedder": self.embedder.name, "dimension": self.embedder.dimension}
                continue
            counts[row["type"]] += 1
            yield row
        yield {"type": "end", **{f"{kind}s": count for kind, count in counts.items()}}

    def restore(self, rows: Iterable[Mapping[str, Any]], name: str | None) -> AddResult:
        """Write what ``export`` gave into a new namespace; see ``Memory.restore``."""
        started = time.perf_counter()
        self._require_writable()
        found = read_export(rows)
        if (found.embedder, found.dimension) != (self.embedder.name, self.embedder.dimension):
            raise ConfigError(
                f"the export has vectors of the embedder {found.embedder!r} with dimension {found.dimension},"
                f" the store {self.embedder.name!r} with {self.embedder.dimension}; restore it with the former"
            )
        # To the record alone; the engine is filled from it when the namespace is first used.
        turn_ids = write_export(found, self.record, check_namespace(found.name if name is None else name))
        return AddResult(
            turn_ids=turn_ids,
            unit_ids=tuple(found.drafts),
            decisions={"add": len(found.drafts)},
            edges_added=len(found.edges),
            seconds=time.perf_counter() - started,
        )
