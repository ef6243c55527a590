"""What the commands share: where output goes, how progress and errors are shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["AsJson", "console", "json_line", "one_line", "plain", "print_json", "progress_bar", "shown"]

AsJson = Annotated[bool, typer.Option("--json", help="JSON alone on stdout; everything else on stderr.")]


def console() -> Console:
    """Return the console for people; it writes to stdout as that is now, so that tests may replace it."""
    return Console(highlight=False, soft_wrap=True)


def print_json(document: Mapping[str, Any]) -> None:
    """Write one JSON document to stdout."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


def one_line(error: BaseException) -> str:
    """Return the message of an error on one line, its type when it has none."""
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function (done, in all) that draws a bar on stderr, where stderr is a terminal."""
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    error_console = Console(stderr=True)
    with Progress(
        *columns, console=error_console, transient=True, disable=not error_console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def plain(value: Any) -> Any:
    """Return a value of dataclasses, dates and enums as what JSON can hold."""
    if isinstance(value, Enum):
        return value.name.lower()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def shown(value: Any) -> str:
    """Return a value on one line for a terminal: stored text can neither move the cursor nor carry markup."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return escape(" ".join("".join(c if c.isprintable() else " " for c in text).split()))


def json_line(row: Mapping[str, Any]) -> str:
    """Return one row of a JSONL file, without its line break."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False)
