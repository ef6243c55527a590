"""The store that a command works on, and the options that say which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ripple.config import store_directory
from ripple.errors import InvalidInputError

if TYPE_CHECKING:
    from ripple.memory import Memory
    from ripple.models.base import LanguageModel
    from ripple.types import Windows

__all__ = [
    "AsOf",
    "Namespace",
    "Store",
    "changing_store",
    "existing_store",
    "moment_of",
    "reading_store",
    "writing_store",
]

Store = Annotated[
    Path | None,
    typer.Option("--store", help="The store's directory; else RIPPLE_STORE, else ./agent.ripple.", show_default=False),
]
Namespace = Annotated[str, typer.Option("--namespace", help="Which memory of the store.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Only what was said by then; ISO 8601 with a zone.")]


def existing_store(store: Path | None) -> Path:
    """Return the directory of a store that must be there."""
    path = store or store_directory()
    if not path.is_dir():
        raise InvalidInputError(f"{path} is not a store; make one with 'ripple add' or 'ripple import'")
    return path


@contextmanager
def reading_store(
    store: Path | None, namespace: str | None = None, *, llm: LanguageModel | None = None
) -> Iterator[Memory]:
    """Give an existing store, opened beside whoever writes to it; the namespace must exist."""
    from ripple.memory import Memory

    with Memory.open(existing_store(store), llm=llm, read_only=True) as memory:
        if namespace is not None and namespace not in memory.namespaces():
            raise InvalidInputError(f"no namespace {namespace!r}; 'ripple namespaces' lists those that exist")
        yield memory


def writing_store(store: Path | None, *, llm: LanguageModel | None = None, windows: Windows | None = None) -> Memory:
    """Return a store opened for writing, made where there is none."""
    from ripple.memory import Memory

    return Memory.open(store or store_directory(), llm=llm, windows=windows)


def changing_store(store: Path | None, *, llm: LanguageModel | None = None) -> Memory:
    """Return an existing store opened for writing."""
    return writing_store(existing_store(store), llm=llm)


def moment_of(text: str | None, option: str) -> datetime | None:
    """Return the moment that an option gives, or None."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidInputError(f"{option} is {text!r}; want ISO 8601 with a zone: 2026-04-23T19:05:00+02:00")
    return moment
