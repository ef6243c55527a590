"""The public verbs: open a store, add to it, recall from it, and take things out of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ripple._arguments import check_filter, check_id, check_settings
from ripple._asking import ask_answer, ask_recall, recall_request
from ripple._embedding import guarded, settle_embedder
from ripple._engine import NamespaceEngine
from ripple._namespace import Namespace
from ripple.errors import ConfigError, InvalidInputError, ReadOnlyError
from ripple.models.base import Embedder, LanguageModel
from ripple.models.budget import Budget
from ripple.models.embedders import MiniLMEmbedder, StaticEmbedder
from ripple.read.answer import Answer
from ripple.read.context import Recall
from ripple.store import Record
from ripple.types import AddResult, Evidence, Filter, ForgetResult, MemoryUnit, StoreStats, Thresholds
from ripple.write.messages import check_messages, check_namespace, check_text
from ripple.write.restore import read_export, write_export

__all__ = ["Memory"]


class Memory:
    """A store of long-term memory for agents; safe to share between threads.

    Any number of threads may read while one writes. One process writes to a store at a time; others may open
    it with ``read_only=True``.

    Examples
    --------
    >>> from ripple import Memory
    >>> with Memory.open(":memory:") as memory:
    ...     added = memory.add([{"speaker": "Ana", "content": "I am allergic to peanuts."}])
    ...     memory.search("Which allergy does Ana have?")[0].text
    'Ana: I am allergic to peanuts.'
    """

    def __init__(
        self, record: Record, embedder: Embedder, thresholds: Thresholds, llm: LanguageModel | None = None
    ) -> None:
        self._record = record
        self._embedder = embedder
        self._llm = llm
        self._thresholds = thresholds
        self._words = StaticEmbedder() if not isinstance(embedder, StaticEmbedder) else embedder
        self._namespaces: dict[str, Namespace] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        llm: LanguageModel | None = None,
        embedder: Embedder | None = None,
        read_only: bool = False,
    ) -> Memory:
        """Return the store at a directory, created when it does not exist.

        Parameters
        ----------
        path : str or Path
            A directory, or ``":memory:"`` for a store that is gone when closed.
        llm : LanguageModel, optional
            Plans recalls and answers questions; without it rules plan.
        embedder : Embedder, optional
            The embedded static model when not given. A store keeps to the embedder that it was created with.
        read_only : bool
            Open beside another process that writes.

        Raises
        ------
        StoreLockedError
            Another process writes to the store.
        ConfigError
            The store was made with another embedder.
        StoreError
            The path is not a store, or is damaged, or of a newer version.
        """
        embedder = embedder if embedder is not None else StaticEmbedder()
        record = Record.open(path, read_only=read_only)
        try:
            return cls(record, embedder, settle_embedder(record, embedder), llm)
        except BaseException:
            record.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> str:
        raise TypeError("a Memory cannot be pickled; open the store again by its path")

    def __repr__(self) -> str:
        return f"Memory(embedder={self._embedder.name!r}, is_read_only={self._record.is_read_only})"

    def close(self) -> None:
        """Wait for running writes and close the store; further calls raise StoreClosedError."""
        with self._lock:
            for namespace in self._namespaces.values():
                namespace.close()
            self._namespaces.clear()
            self._record.close()

    # --- namespaces ---

    def _namespace(self, name: str, *, create: bool) -> Namespace | None:
        check_namespace(name)
        with self._lock:
            number = self._record.namespace(name, create=create)
            if number is None:
                return None
            namespace = self._namespaces.get(name)
            if namespace is None:
                engine = NamespaceEngine(
                    self._embedder.dimension,
                    self._thresholds,
                    self._words.native,
                    is_static=isinstance(self._embedder, StaticEmbedder),
                    is_english=isinstance(self._embedder, (StaticEmbedder, MiniLMEmbedder)),
                )
                namespace = Namespace(
                    self._record,
                    number,
                    engine,
                    guarded(self._embedder),
                    is_read_only=self._record.is_read_only,
                )
                self._namespaces[name] = namespace
            return namespace

    def _existing(self, name: str) -> Namespace:
        namespace = self._namespace(name, create=False)
        if namespace is None:
            raise InvalidInputError(f"no namespace {name!r}; namespaces() lists those that exist")
        return namespace

    def namespaces(self) -> list[str]:
        """Return the names of all namespaces, sorted."""
        return sorted(info.name for info in self._record.namespaces())

    def delete_namespace(self, namespace: str) -> ForgetResult:
        """Delete a namespace with all that it holds."""
        self._existing(namespace)
        with self._lock:
            self._namespaces.pop(namespace).close()
            deleted = self._record.delete_namespace(namespace)
        return ForgetResult(turns=deleted.turns, units=deleted.units, edges=deleted.edges, pending=deleted.pending)

    # --- writing ---

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
        *,
        namespace: str = "default",
    ) -> AddResult:
        """Record messages and return what became of each.

        Parameters
        ----------
        messages
            Mappings with ``content`` and, where known, ``speaker`` (or ``role``), ``timestamp`` (aware
            datetime or ISO 8601), ``id`` (the caller's, unique in the namespace), ``session`` and
            ``metadata``; or plain strings. The same id with the same text is taken once. Messages with a time
            and without a session make sessions of their own, a new one after an hour of silence; they never
            join a session that was named.
        namespace : str
            Memories of different namespaces never meet.

        Raises
        ------
        InvalidInputError
            A message cannot be taken; nothing of the call was written.

        Notes
        -----
        Durable when it returns: the raw turns are committed before anything is derived from them.
        """
        checked = check_messages(messages)
        found = self._writable(namespace, create=True)
        return found.add(checked)

    def _writable(self, name: str, *, create: bool = False) -> Namespace:
        if self._record.is_read_only:
            raise ReadOnlyError("the store was opened with read_only=True; open it without to write")
        found = self._namespace(name, create=create)
        return found if found is not None else self._existing(name)

    def update(self, unit_id: int, text: str, *, namespace: str = "default") -> int:
        """Write new words for a unit and return the id of the unit that now stands for it.

        The old unit stays, superseded by the new one; both cite the same turns.
        """
        text = check_text(text, "text")
        return self._writable(namespace).update(check_id(unit_id), text)

    def link(self, old: int, new: int, *, namespace: str = "default") -> None:
        """Record that unit ``new`` supersedes unit ``old``."""
        self._writable(namespace).link(check_id(old), check_id(new))

    def delete(self, unit_id: int, *, namespace: str = "default") -> ForgetResult:
        """Delete a unit with its edges; a turn goes with its last citing unit, else the result names it."""
        return self._writable(namespace).delete([check_id(unit_id)])

    def forget(self, filter: Filter, *, namespace: str = "default", dry_run: bool = False) -> ForgetResult:
        """Delete the turns that match a filter and everything derived from them alone.

        An empty filter is refused: ``delete_namespace`` deletes everything.
        """
        if check_filter(filter) in (None, Filter()):
            raise InvalidInputError("the filter is empty; use delete_namespace to delete everything")
        return self._writable(namespace).forget(filter, dry_run=dry_run)

    # --- reading ---

    def recall(
        self,
        query: str,
        *,
        namespace: str = "default",
        top_k: int = 30,
        filter: Filter | None = None,
        as_of: datetime | None = None,
        include_superseded: bool = True,
        now: datetime | None = None,
        planner: str = "auto",
        rounds: int = 1,
        timeout: float | None = None,
        budget: Budget | None = None,
        expansion: str = "targeted",
        first: int | None = None,
        ranking: str = "default",
        without: frozenset[str] = frozenset(),
        weights: Sequence[float] | None = None,
    ) -> Recall:
        """Return the evidence for a question, found in two steps: first recall, then what is missing.

        Parameters
        ----------
        query : str
        top_k : int, 1 to 10,000
            Units of evidence at most.
        filter : Filter, optional
            Bounds what may be returned.
        as_of : aware datetime, optional
            Only what was said by then; units without a time of saying are left out.
        include_superseded : bool
            Whether units that a newer one replaced may be returned.
        now : aware datetime, optional
            What "yesterday" in the question refers to; never taken from the clock.
        planner : {"auto", "always", "rules"}
            Whether the model, where there is one, is asked what is missing: where rules are not certain that
            nothing is, always, or never.
        rounds : int, 1 to 10
            Calls of the model's planner at most.
        timeout : float, optional
            Seconds for all calls together; when they are over, what was found stands.
        budget : Budget, optional
            What the calls may take; likewise, but a strict one raises BudgetExceededError.
        expansion : {"targeted", "undirected", "none"}
            How the neighbourhood of the anchors is searched; the last two are for comparisons.
        first : int, optional
            How many of ``top_k`` stay with first recall whatever expansion finds; by default all but the last
            fifth, two at most where rules plan.
        ranking : {"default", "paper"}
            The fitted sum, or RippleMem's formula and view sizes.
        without : set of {"graph", "structural", "lexical", "dense", "cues", "sequence"}
            Parts to switch off, for ablations.
        weights : sequence of float, optional
            Of the fitted sum, in place of the packaged ones.

        Returns
        -------
        Recall
            Evidence with score down, then older unit first. Empty for a namespace that does not exist. When
            the model fails, the rules' plan stands: ``degraded``, with the reason in ``stop_reason``.

        Notes
        -----
        Without a model one native call does all but the fetch of texts. No lock is held while a model thinks.
        """
        settings = check_settings(
            top_k=top_k,
            first=first,
            expansion=expansion,
            ranking=ranking,
            without=without,
            weights=weights,
        )
        request = recall_request(
            query,
            settings,
            filter=filter,
            as_of=as_of,
            include_superseded=include_superseded,
            now=now,
            planner=planner,
            rounds=rounds,
        )
        found = self._namespace(namespace, create=False)
        return ask_recall(found, request, self._llm, timeout=timeout, budget=budget)

    def answer(
        self,
        query: str,
        *,
        namespace: str = "default",
        top_k: int = 30,
        max_tokens: int = 1500,
        filter: Filter | None = None,
        as_of: datetime | None = None,
        include_superseded: bool = True,
        now: datetime | None = None,
        planner: str = "auto",
        rounds: int = 1,
        timeout: float | None = None,
        budget: Budget | None = None,
    ) -> Answer:
        """Return an answer from memory with its citations, or an honest "not in memory".

        Parameters
        ----------
        max_tokens : int
            Of the evidence that the model is shown, by ``ripple.models.tokens.count_tokens``.

        Raises
        ------
        ConfigError
            The store was opened without a model.
        AnswerError
            The model gave no answer; the error's ``recall`` holds the evidence that was found.

        Notes
        -----
        Other parameters as in ``recall``. With one round at most two calls of the planner and two of the answer:
        what is not found is looked for once more. A reply that cannot be read is asked for once again.
        """
        settings = check_settings(
            top_k=top_k, first=None, expansion="targeted", ranking="default", without=frozenset(), weights=None
        )
        request = recall_request(
            query,
            settings,
            filter=filter,
            as_of=as_of,
            include_superseded=include_superseded,
            now=now,
            planner=planner,
            rounds=rounds,
        )
        found = self._namespace(namespace, create=False)
        return ask_answer(found, request, self._llm, max_tokens=max_tokens, timeout=timeout, budget=budget)

    def search(
        self,
        query: str,
        *,
        namespace: str = "default",
        top_k: int = 20,
        filter: Filter | None = None,
        as_of: datetime | None = None,
        include_superseded: bool = True,
        now: datetime | None = None,
    ) -> list[Evidence]:
        """Return what first recall alone finds: one shot, no planner, no model."""
        found = self.recall(
            query,
            namespace=namespace,
            top_k=top_k,
            filter=filter,
            as_of=as_of,
            include_superseded=include_superseded,
            now=now,
            planner="rules",
            expansion="none",
        )
        return list(found.evidence)

    def get(self, unit_id: int, *, namespace: str = "default") -> MemoryUnit:
        """Return a unit with its sources; raises UnitNotFoundError."""
        return self._existing(namespace).unit(check_id(unit_id))

    def get_all(self, *, namespace: str = "default") -> Iterator[MemoryUnit]:
        """Yield all units of a namespace, oldest id first."""
        found = self._namespace(namespace, create=False)
        return iter(()) if found is None else self._record.all_units(found.number)

    def history(self, unit_id: int, *, namespace: str = "default") -> list[MemoryUnit]:
        """Return the chain of state that a unit stands in, oldest first."""
        return self._existing(namespace).history(check_id(unit_id))

    # --- care ---

    def stats(self, *, namespace: str | None = None) -> StoreStats:
        """Return counts of one namespace, or of the whole store."""
        number = None if namespace is None else self._existing(namespace).number
        counts = self._record.stats(number)
        return StoreStats(
            units=counts.units,
            turns=counts.turns,
            vectors=counts.vectors,
            edges=dict(counts.edges),
            windows=dict(counts.windows),
            file_bytes=counts.file_bytes,
            embedder=self._embedder.name,
            thresholds=self._thresholds,
        )

    def verify(self, *, deep: bool = False) -> list[str]:
        """Return what is wrong with the store, in words without any stored text; empty when all is well."""
        return self._record.verify(deep=deep)

    def export(self, *, namespace: str = "default") -> Iterator[dict[str, Any]]:
        """Yield a namespace as JSON-ready rows that ``restore`` takes back.

        First the namespace with the embedder's name and dimension, then turns, units with their vectors, and
        edges, last a row of type ``"end"`` with how many there were.
        """
        rows = self._record.export(self._existing(namespace).number)
        counts = {"turn": 0, "unit": 0, "edge": 0}
        for row in rows:
            if row["type"] == "namespace":
                yield {**row, "embedder": self._embedder.name, "dimension": self._embedder.dimension}
                continue
            counts[row["type"]] += 1
            yield row
        yield {"type": "end", **{f"{kind}s": count for kind, count in counts.items()}}

    def restore(self, rows: Iterable[Mapping[str, Any]], *, namespace: str | None = None) -> AddResult:
        """Write what ``export`` gave into a new namespace, and return the ids.

        Units keep their ids, words, people, places, times, vectors and edges; turns are counted anew.

        Parameters
        ----------
        rows : iterable of mapping
            As ``export`` yields them.
        namespace : str, optional
            The exported one's name when not given.

        Raises
        ------
        InvalidInputError
            A row is not as ``export`` writes it, or there is such a namespace; nothing was written.
        ConfigError
            The vectors are of another embedder than the store's.
        """
        started = time.perf_counter()
        if self._record.is_read_only:
            raise ReadOnlyError("the store was opened with read_only=True; open it without to write")
        found = read_export(rows)
        if (found.embedder, found.dimension) != (self._embedder.name, self._embedder.dimension):
            raise ConfigError(
                f"the export has vectors of the embedder {found.embedder!r} with dimension {found.dimension},"
                f" the store {self._embedder.name!r} with {self._embedder.dimension}; restore it with the former"
            )
        name = check_namespace(found.name if namespace is None else namespace)
        # To the record alone; the engine is filled from it when the namespace is first used.
        turn_ids = write_export(found, self._record, name)
        return AddResult(
            turn_ids=turn_ids,
            unit_ids=tuple(found.drafts),
            decisions={"add": len(found.drafts)},
            edges_added=len(found.edges),
            seconds=time.perf_counter() - started,
        )

    def flush(self) -> None:
        """Write the log back into the store's file; what was acknowledged is durable without it."""
        self._record.checkpoint()
