"""The public verbs for asyncio: each runs in a thread, those that wait for a model apart from the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from ripple._window_queue import CONCURRENCY
from ripple.memory import Memory
from ripple.models.base import Embedder, LanguageModel
from ripple.models.budget import Budget
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

__all__ = ["AsyncMemory"]

Result = TypeVar("Result")

_QUICK_THREADS, _SLOW_THREADS = 4, 32


class AsyncMemory:
    """A store for agents in an event loop: the verbs of ``Memory``, which says what they do.

    No lock is held while a model works, and verbs that may wait for one have threads of their own, 32 at a
    time: a slow call in one task holds up no search in another.

    Examples
    --------
    >>> import asyncio
    >>> async def tell() -> str:
    ...     async with await AsyncMemory.open(":memory:") as memory:
    ...         await memory.add([{"speaker": "Ana", "content": "I am allergic to peanuts."}])
    ...         return (await memory.search("Which allergy does Ana have?"))[0].text
    >>> asyncio.run(tell())
    'Ana: I am allergic to peanuts.'
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._quick = ThreadPoolExecutor(_QUICK_THREADS, thread_name_prefix="ripple-quick")
        self._slow = ThreadPoolExecutor(_SLOW_THREADS, thread_name_prefix="ripple-slow")

    async def _run(self, verb: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
        """Run a verb that waits for a disk or the core."""
        return await asyncio.get_running_loop().run_in_executor(self._quick, partial(verb, *arguments, **options))

    async def _wait(self, verb: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
        """Run a verb that may wait for a model."""
        return await asyncio.get_running_loop().run_in_executor(self._slow, partial(verb, *arguments, **options))

    @classmethod
    async def open(
        cls,
        path: str | Path,
        *,
        llm: LanguageModel | None = None,
        embedder: Embedder | None = None,
        windows: Windows | None = None,
        keep_replies: bool = False,
        read_only: bool = False,
    ) -> AsyncMemory:
        """Return the store at a directory, created when it does not exist."""
        memory = await asyncio.to_thread(
            Memory.open,
            path,
            llm=llm,
            embedder=embedder,
            windows=windows,
            keep_replies=keep_replies,
            read_only=read_only,
        )
        return cls(memory)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._wait(self._memory.__exit__, kind, error, trace)
        finally:
            self._end()

    async def close(self) -> None:
        """Wait for running writes, let the model finish what waits, and close the store."""
        try:
            await self._wait(self._memory.close)
        finally:
            self._end()

    def _end(self) -> None:
        for pool in (self._quick, self._slow):
            pool.shutdown(wait=False)

    # --- writing ---

    async def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
        *,
        namespace: str = "default",
        wait: bool | None = None,
        budget: Budget | None = None,
    ) -> AddResult:
        """Record messages and return what became of each."""
        return await self._wait(self._memory.add, messages, namespace=namespace, wait=wait, budget=budget)

    async def add_many(
        self,
        sessions: Iterable[Sequence[str | Mapping[str, Any]]],
        *,
        namespace: str = "default",
        concurrency: int = CONCURRENCY,
        progress: bool | Callable[[int], None] = False,
        budget: Budget | None = None,
    ) -> AddResult:
        """Record many lists of messages and return what became of all together."""
        return await self._wait(
            self._memory.add_many,
            sessions,
            namespace=namespace,
            concurrency=concurrency,
            progress=progress,
            budget=budget,
        )

    async def pending(self, *, namespace: str = "default") -> list[WindowStatus]:
        """Return the windows that wait for the model, and those that it failed."""
        return await self._run(self._memory.pending, namespace=namespace)

    async def retry(self, *, namespace: str = "default", budget: Budget | None = None) -> AddResult:
        """Extract again all that is pending or was given up."""
        return await self._wait(self._memory.retry, namespace=namespace, budget=budget)

    async def flush(self, *, namespace: str | None = None, budget: Budget | None = None) -> dict[str, AddResult]:
        """Make units of all turns that wait for the model."""
        return await self._wait(self._memory.flush, namespace=namespace, budget=budget)

    async def update(self, unit_id: int, text: str, *, namespace: str = "default") -> int:
        """Write new words for a unit and return the id of the unit that now stands for it."""
        return await self._run(self._memory.update, unit_id, text, namespace=namespace)

    async def link(self, old: int, new: int, *, namespace: str = "default") -> None:
        """Record that unit ``new`` supersedes unit ``old``."""
        await self._run(self._memory.link, old, new, namespace=namespace)

    async def delete(self, unit_id: int, *, namespace: str = "default") -> ForgetResult:
        """Delete a unit with its edges, and the turns that no other unit cites."""
        return await self._run(self._memory.delete, unit_id, namespace=namespace)

    async def forget(self, filter: Filter, *, namespace: str = "default", dry_run: bool = False) -> ForgetResult:
        """Delete the turns that match a filter and everything derived from them alone."""
        return await self._run(self._memory.forget, filter, namespace=namespace, dry_run=dry_run)

    async def delete_namespace(self, namespace: str) -> ForgetResult:
        """Delete a namespace with all that it holds."""
        return await self._run(self._memory.delete_namespace, namespace)

    # --- reading ---

    async def recall(self, query: str, **settings: Any) -> Recall:
        """Return the evidence for a question; the settings are those of ``Memory.recall``."""
        return await self._wait(self._memory.recall, query, **settings)

    async def answer(self, query: str, **settings: Any) -> Answer:
        """Return an answer with its citations; the settings are those of ``Memory.answer``."""
        return await self._wait(self._memory.answer, query, **settings)

    async def search(self, query: str, **settings: Any) -> list[Evidence]:
        """Return what first recall alone finds; the settings are those of ``Memory.search``."""
        return await self._run(self._memory.search, query, **settings)

    async def get(self, unit_id: int, *, namespace: str = "default") -> MemoryUnit:
        """Return a unit with its sources; raises UnitNotFoundError."""
        return await self._run(self._memory.get, unit_id, namespace=namespace)

    async def get_all(self, *, namespace: str = "default") -> AsyncIterator[MemoryUnit]:
        """Yield all units of a namespace, oldest id first."""
        units = self._memory.get_all(namespace=namespace)
        while (unit := await self._run(next, units, None)) is not None:
            yield unit

    async def history(self, unit_id: int, *, namespace: str = "default") -> list[MemoryUnit]:
        """Return the chain of state that a unit stands in, oldest first."""
        return await self._run(self._memory.history, unit_id, namespace=namespace)

    async def namespaces(self) -> list[str]:
        """Return the names of all namespaces, sorted."""
        return await self._run(self._memory.namespaces)

    async def stats(self, *, namespace: str | None = None) -> StoreStats:
        """Return counts of one namespace, or of the whole store."""
        return await self._run(self._memory.stats, namespace=namespace)

    async def usage(self, *, namespace: str | None = None) -> dict[str, Usage]:
        """Return what model calls took so far, by stage."""
        return await self._run(self._memory.usage, namespace=namespace)

    async def verify(self, *, deep: bool = False) -> list[str]:
        """Return what is wrong with the store; empty when all is well."""
        return await self._run(self._memory.verify, deep=deep)
