"""One event loop in a thread of its own, where the package's network calls run, whoever waits for them.

A call of a blocking client ends when its socket says so: a server that sends a byte a second holds it for ever. In
a loop any call can be cancelled, so a deadline is one; and the connections outlive the loops of the callers.
"""

from __future__ import annotations

import asyncio
import atexit
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["THREAD_NAME", "LoopThread", "shared_loop"]

THREAD_NAME = "ripple-models"
"""Of the loop's thread, as log records and profilers show it."""

Result = TypeVar("Result")
_STOP_SECONDS = 1.0


class LoopThread:
    """An event loop that runs in a daemon thread until the interpreter ends."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._closers: dict[int, Callable[[], Coroutine[Any, Any, None]]] = {}
        self._keys = itertools.count()
        self._thread = threading.Thread(target=self._loop.run_forever, name=THREAD_NAME, daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Return the future of a coroutine that runs in the loop; cancelling the future cancels it."""
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("the loop of the models has ended with the interpreter")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def adopt(self, owner: object, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Close what lives in the loop when its owner is dropped, or when the loop ends before that."""
        key = next(self._keys)
        self._closers[key] = close
        weakref.finalize(owner, self._close, key).atexit = False

    def stop(self) -> None:
        """Cancel what runs, close what is open, and end the thread."""
        if self.process != os.getpid() or not self._thread.is_alive():
            return
        self.submit(self._end())
        self._thread.join(_STOP_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    def _close(self, key: int) -> None:
        """Begin to close and do not wait for it: this may run in any thread, also that of the loop."""
        close = self._closers.pop(key, None)
        if close is not None and self._thread.is_alive():
            self.submit(close())

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        closing = [self._closers.pop(key)() for key in list(self._closers)]
        await asyncio.gather(*tasks, *closing, return_exceptions=True)
        self._loop.stop()


_lock = threading.Lock()
_shared: list[LoopThread] = []


def shared_loop() -> LoopThread:
    """Return the loop of this process, begun when first asked for; a forked child gets its own."""
    with _lock:
        if not _shared or _shared[0].process != os.getpid():
            _shared[:] = [LoopThread()]
        return _shared[0]
