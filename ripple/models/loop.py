"""One event loop in a thread of its own, where the package's network calls run, whoever waits for them.

A call of a blocking client ends when its socket says so: a server that sends a byte a second holds it for ever. In
a loop any call can be cancelled, so a deadline is one; and the connections outlive the loops of the callers.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["LoopThread", "shared_loop"]

Result = TypeVar("Result")
_STOP_SECONDS = 1.0


class LoopThread:
    """An event loop that runs in a daemon thread until the interpreter ends."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ripple-models", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    @property
    def thread_id(self) -> int | None:
        """Identity of the thread, as log records name it."""
        return self._thread.ident

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Return the future of a coroutine that runs in the loop; cancelling the future cancels it."""
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("the loop of the models has ended with the interpreter")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """Cancel what runs, close what is open, and end the thread."""
        if self.process != os.getpid() or not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._cancel_all)
        self._thread.join(_STOP_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    def _cancel_all(self) -> None:
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        ended = asyncio.gather(*tasks, return_exceptions=True)
        ended.add_done_callback(lambda _: self._loop.stop())


_lock = threading.Lock()
_shared: list[LoopThread] = []


def shared_loop() -> LoopThread:
    """Return the loop of this process, begun when first asked for; a forked child gets its own."""
    with _lock:
        if not _shared or _shared[0].process != os.getpid():
            _shared[:] = [LoopThread()]
        return _shared[0]
