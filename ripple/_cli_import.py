"""Reading files of messages for `ripple import`, whatever their kind, in batches that may be run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ripple.errors import InvalidInputError
from ripple.evaluation.loaders import load_locomo, load_longmemeval, read_documents, resolve_path

if TYPE_CHECKING:
    from ripple.evaluation.datasets import Dataset
    from ripple.memory import Memory

__all__ = ["import_file"]

_BATCH = 1_000


def import_file(
    memory: Memory, path: Path, namespace: str | None, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Add the messages of a file and return counts.

    Messages without an id get one from the file's name and their position, so that a second run takes each
    message once: an interrupted import is resumed by running it again.
    """
    file = resolve_path(path)
    counts: dict[str, Any] = {"messages": 0, "repeated": 0, "rejected": 0, "units": 0}
    units: set[tuple[str, int]] = set()
    names: dict[str, None] = {}
    groups = list(_groups(file, namespace))
    total = sum(len(messages) for _, messages in groups)
    for name, messages in groups:
        names[name] = None
        remaining = iter(messages)
        while batch := list(islice(remaining, _BATCH)):
            result = memory.add(batch, namespace=name)
            counts["messages"] += len(batch)
            counts["repeated"] += result.repeated
            counts["rejected"] += result.rejected
            units.update((name, unit) for unit in result.unit_ids)
            progress(counts["messages"], total)
    return {**counts, "units": len(units), "namespaces": list(names)}


def _groups(file: Path, namespace: str | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the messages of a file by namespace."""
    documents = read_documents(file)
    first = next(documents, None)
    if first is None:
        raise InvalidInputError(f"{file.name} is empty; want messages")
    if isinstance(first, Mapping) and "conversation" in first and "qa" in first:
        documents.close()
        yield from _conversations(load_locomo(file), namespace)
    elif isinstance(first, Mapping) and ("haystack_sessions" in first or "sessions" in first):
        documents.close()
        yield from _conversations(load_longmemeval(file), namespace)
    else:
        name = namespace or "default"
        yield name, [_message(item, number, file) for number, item in enumerate(chain([first], documents), 1)]


def _conversations(dataset: Dataset, namespace: str | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each conversation in a namespace of its name, behind ``namespace`` where that is given."""
    for conversation in dataset.conversations:
        name = conversation.name if namespace is None else f"{namespace}/{conversation.name}"
        yield name, list(conversation.messages)


def _message(item: Any, number: int, file: Path) -> dict[str, Any]:
    if isinstance(item, str):
        item = {"content": item}
    if not isinstance(item, Mapping):
        raise InvalidInputError(
            f"{file.name}, message {number}, is {type(item).__name__}; want an object or text"
        )
    return {"id": f"{file.name}:{number}", **item}
