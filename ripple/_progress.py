"""A bar on stderr for calls that take long, where one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["watching"]


@contextmanager
def watching(progress: bool | Callable[[int], None]) -> Iterator[Callable[[int], None]]:
    """Give what is told how many more messages are recorded: the caller's own, a bar, or nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda count: None
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.completed:,.0f} messages"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("messages", total=None)
            yield lambda count: bar.advance(task, count)
