"""The public verbs: open a store, add to it, recall from it, and take things out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ripple._arguments import (
    check_count,
    check_filter,
    check_id,
    check_settings,
    check_windows,
)
from ripple._asking import ask_answer, ask_recall, recall_request
from ripple._opened import OpenStore
from ripple._progress import watching
from ripple._window_queue import CONCURRENCY, Extracting
from ripple.errors import ConfigError, InvalidInputError
from ripple.models.base import Embedder, LanguageModel
from ripple.models.budget import Budget, Ledger
from ripple.read.answer import Answer
from ripple.read.context import Recall
from ripple.types import (
    AddResult,
    Evidence,
    Filter,
    ForgetResult,
    MemoryUnit,
    StoreStats,
    Usage,
    Windows,
    WindowStatus,
)
from ripple.write.messages import check_messages, check_text

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

    def __init__(self, store: OpenStore) -> None:
        self.opened = store
        """What the verbs work on; for the package's own use."""

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        llm: LanguageModel | None = None,
        embedder: Embedder | None = None,
        windows: Windows | None = None,
        keep_replies: bool = False,
        read_only: bool = False,
    ) -> Memory:
        """Return the store at a directory, created when it does not exist.

        Parameters
        ----------
        path : str or Path
            A directory, or ``":memory:"`` for a store that is gone when closed.
        llm : LanguageModel, optional
            Makes units of windows of turns, plans recalls and answers questions; without it rules make units
            and plan.
        embedder : Embedder, optional
            The embedded static model when not given. A store keeps to the embedder that it was created with.
        windows : Windows, optional
            How the model is given the turns.
        keep_replies : bool
            Keep the model's replies in the store, and take them when the same is asked again. Every deletion
            in a namespace empties its replies.
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
        extracting = Extracting(llm, check_windows(windows), keep_replies)
        return cls(OpenStore.open(path, extracting, embedder, read_only=read_only))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.opened.close(finish=kind is None)

    def __reduce__(self) -> str:
        raise TypeError("a Memory cannot be pickled; open the store again by its path")

    def __repr__(self) -> str:
        return f"Memory(embedder={self.opened.embedder.name!r}, is_read_only={self.opened.record.is_read_only})"

    def close(self) -> None:
        """Wait for running writes and close the store; further calls raise StoreClosedError.

        Where there is a model, the open turns are made a window and extracted first, for a minute at most; what
        was pending before stays so.
        """
        self.opened.close(finish=True)

    # --- namespaces ---

    def namespaces(self) -> list[str]:
        """Return the names of all namespaces, sorted."""
        return sorted(info.name for info in self.opened.record.namespaces())

    def delete_namespace(self, namespace: str) -> ForgetResult:
        """Delete a namespace with all that it holds."""
        return self.opened.delete_namespace(namespace)

    # --- writing ---

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
        *,
        namespace: str = "default",
        wait: bool | None = None,
        budget: Budget | None = None,
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
        wait : bool, optional
            With a model. None: windows that are full become units before the call returns, the other turns
            wait for more and are found as they are. True: the turns are made a window whatever their number.
            False: return when the turns are durable; the model works in the background.
        budget : Budget, optional
            What the model may take; a strict one raises BudgetExceededError when it is spent.

        Raises
        ------
        InvalidInputError
            A message cannot be taken; nothing of the call was written.

        Notes
        -----
        Durable when it returns: the raw turns are committed before anything is derived from them, and no
        failure of a model loses one.
        """
        checked = check_messages(messages)
        return self.opened.writable(namespace, create=True).add(checked, Ledger(budget), wait=wait)

    def add_many(
        self,
        sessions: Iterable[Sequence[str | Mapping[str, Any]]],
        *,
        namespace: str = "default",
        concurrency: int = CONCURRENCY,
        progress: bool | Callable[[int], None] = False,
        budget: Budget | None = None,
    ) -> AddResult:
        """Record many lists of messages, read as there is room, and return what became of all together.

        Parameters
        ----------
        concurrency : int, 1 to 64
            Windows that the model reads side by side; they are applied in the order of their turns.
        progress : bool or callable
            True draws a bar on stderr; a callable is told how many more messages are recorded.

        Notes
        -----
        Other parameters as in ``add``; a list that cannot be taken raises, and those before it stay.
        """
        check_count(concurrency, "concurrency", 64)
        found = self.opened.writable(namespace, create=True)
        with watching(progress) as told:
            batches = (check_messages(session) for session in sessions)
            return found.add_many(batches, Ledger(budget), concurrency=concurrency, progress=told)

    def pending(self, *, namespace: str = "default") -> list[WindowStatus]:
        """Return the windows that wait for the model, and those that it failed."""
        return self.opened.existing(namespace).windows()

    def retry(
        self, *, namespace: str = "default", budget: Budget | None = None, concurrency: int = CONCURRENCY
    ) -> AddResult:
        """Extract again all that is pending or was given up; the model's units replace those of rules."""
        if self.opened.extracting.llm is None:
            raise ConfigError("windows are extracted by a language model; open the memory with llm=")
        check_count(concurrency, "concurrency", 64)
        return self.opened.writable(namespace).flush(Ledger(budget), concurrency=concurrency, with_failed=True)

    def usage(self, *, namespace: str | None = None) -> dict[str, Usage]:
        """Return what model calls took so far, by stage, in one namespace or the whole store."""
        return self.opened.record.accounts.usage(None if namespace is None else self.opened.existing(namespace).number)

    def update(self, unit_id: int, text: str, *, namespace: str = "default") -> int:
        """Write new words for a unit and return the id of the unit that now stands for it.

        The old unit stays, superseded by the new one; both cite the same turns.
        """
        text = check_text(text, "text")
        return self.opened.writable(namespace).update(check_id(unit_id), text)

    def link(self, old: int, new: int, *, namespace: str = "default") -> None:
        """Record that unit ``new`` supersedes unit ``old``."""
        self.opened.writable(namespace).link(check_id(old), check_id(new))

    def delete(self, unit_id: int, *, namespace: str = "default") -> ForgetResult:
        """Delete a unit with its edges; a turn goes with its last citing unit, else the result names it."""
        return self.opened.writable(namespace).delete([check_id(unit_id)])

    def forget(self, filter: Filter, *, namespace: str = "default", dry_run: bool = False) -> ForgetResult:
        """Delete the turns that match a filter and everything derived from them alone.

        An empty filter is refused: ``delete_namespace`` deletes everything.
        """
        if check_filter(filter) in (None, Filter()):
            raise InvalidInputError("the filter is empty; use delete_namespace to delete everything")
        return self.opened.writable(namespace).forget(filter, dry_run=dry_run)

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
        found = self.opened.namespace(namespace, create=False)
        return ask_recall(found, request, self.opened.extracting.llm, timeout=timeout, budget=budget)

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
        found = self.opened.namespace(namespace, create=False)
        return ask_answer(
            found, request, self.opened.extracting.llm, max_tokens=max_tokens, timeout=timeout, budget=budget
        )

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
        return self.opened.existing(namespace).unit(check_id(unit_id))

    def get_all(self, *, namespace: str = "default") -> Iterator[MemoryUnit]:
        """Yield all units of a namespace, oldest id first."""
        found = self.opened.namespace(namespace, create=False)
        return iter(()) if found is None else self.opened.record.all_units(found.number)

    def history(self, unit_id: int, *, namespace: str = "default") -> list[MemoryUnit]:
        """Return the chain of state that a unit stands in, oldest first."""
        return self.opened.existing(namespace).history(check_id(unit_id))

    # --- care ---

    def stats(self, *, namespace: str | None = None) -> StoreStats:
        """Return counts of one namespace, or of the whole store."""
        return self.opened.stats(namespace)

    def verify(self, *, deep: bool = False) -> list[str]:
        """Return what is wrong with the store, in words without any stored text; empty when all is well."""
        return self.opened.record.verify(deep=deep)

    def export(self, *, namespace: str = "default") -> Iterator[dict[str, Any]]:
        """Yield a namespace as JSON-ready rows that ``restore`` takes back.

        First the namespace with the embedder's name and dimension, then turns, units with their vectors, and
        edges, last a row of type ``"end"`` with how many there were.
        """
        return self.opened.export(namespace)

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
        return self.opened.restore(rows, namespace)

    def flush(self, *, namespace: str | None = None, budget: Budget | None = None) -> dict[str, AddResult]:
        """Make units of all turns that wait for the model, in one namespace or all, and write the log back.

        Returns what became of them by namespace; nothing without a model. What was acknowledged is durable
        without it.
        """
        results = {}
        if self.opened.extracting.llm is not None:
            ledger = Ledger(budget)
            for name in self.namespaces() if namespace is None else [namespace]:
                results[name] = self.opened.writable(name).flush(ledger)
        self.opened.record.checkpoint()
        return results
