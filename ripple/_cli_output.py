"""What the commands share: where output goes, how progress and errors are shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

__all__ = [
    "AsJson",
    "console",
    "json_line",
    "one_line",
    "plain",
    "print_json",
    "printable",
    "progress_bar",
    "shown",
    "table",
]

AsJson = Annotated[bool, typer.Option("--json", help="JSON alone on stdout; everything else on stderr.")]


def console() -> Console:
    """Return the console for people; it writes to stdout as that is now, so that tests may replace it."""
    return Console(highlight=False)


def print_json(document: Mapping[str, Any]) -> None:
    """Write one JSON document to stdout, in ASCII where stdout takes no more."""
    is_ascii = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    typer.echo(json.dumps(document, ensure_ascii=is_ascii, indent=2, allow_nan=False))


def one_line(error: BaseException) -> str:
    """Return the message of an error on one line, its type when it has none."""
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function (done, in all) that draws a bar on stderr, where stderr is a terminal."""
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    error_console = Console(stderr=True)
    with Progress(*columns, console=error_console, transient=True, disable=not error_console.is_terminal) as bar:
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


def printable(text: str) -> str:
    """Return a text on one line without control characters, so that stored text cannot move the cursor."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def shown(value: Any) -> str:
    """Return a plain value on one line for a table: stored text carries no markup."""
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{shown(key)} {shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "; ".join(map(shown, value)) or "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    return escape(printable(str(value)))


def table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table for people, in marks that every terminal has."""
    return Table(*columns, title=title, box=SIMPLE_HEAD, pad_edge=False)


def json_line(row: Mapping[str, Any]) -> str:
    """Return one row of a JSONL file, without its line break."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False)
