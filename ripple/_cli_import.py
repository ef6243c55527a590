"""Reading files of messages for `ripple import`, whatever their kind, in batches that may be run again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ripple.errors import InvalidInputError
from ripple.evaluation.loaders import load_locomo, load_longmemeval, read_documents, resolve_path
from ripple.types import AddResult, Turn, Usage

if TYPE_CHECKING:
    from ripple.evaluation.datasets import Dataset
    from ripple.memory import Memory
    from ripple.models.budget import Budget
    from ripple.types import Windows

__all__ = ["estimate_file", "import_file"]

_BATCH = 1_000

_Group = tuple[str, list[dict[str, Any]]]  # a namespace and its messages


def import_file(
    memory: Memory,
    path: Path,
    namespace: str | None,
    progress: Callable[[int, int], None],
    *,
    budget: Budget | None = None,
    concurrency: int = 4,
) -> dict[str, Any]:
    """Add the messages of a file, or restore an export, and return counts.

    Every message is checked before the first is added. Those without an id get one from the file's name and
    their position, so that a second run takes each message once: an interrupted import is resumed by running
    it again. An export becomes a new namespace, as a whole or not at all.
    """
    file, first, documents, is_export = _opened(path)
    if is_export:
        name = first.get("name") if namespace is None else namespace
        return _restore(memory, file, chain([first], documents), str(name))
    groups = list(_groups(file, first, documents, namespace))
    _check(file, groups)
    return _add(memory, groups, progress, budget, concurrency)


def estimate_file(path: Path, namespace: str | None, windows: Windows) -> dict[str, int]:
    """Return how many messages, windows, calls and input tokens a model's import of a file takes; nothing is asked.

    Every window is counted as one call that works at once; what the gate would spare is counted too.
    """
    from ripple.models.driver import estimate_input
    from ripple.prompts.extraction import build
    from ripple.write.messages import check_messages
    from ripple.write.windows import WindowCutter, context_of

    file, first, documents, is_export = _opened(path)
    if is_export:
        raise InvalidInputError(f"{file.name} is an export, whose units are restored; no model is called for it")
    groups = list(_groups(file, first, documents, namespace))
    _check(file, groups)
    counts = dict.fromkeys(("messages", "windows", "calls", "input_tokens"), 0)
    for _, messages in groups:
        turns = [
            Turn(number, told.text, told.speaker, told.said_at, told.message_id, told.session)
            for number, told in enumerate(check_messages(messages), start=1)
        ]
        cutter = WindowCutter(windows)
        cut = [*cutter.add(turns), cutter.close()]
        previous: list[Turn] = []
        counts["messages"] += len(turns)
        for window in filter(None, cut):
            request = build(window, before=context_of(previous, window[0], windows))
            counts["windows"] += 1
            counts["calls"] += 1
            counts["input_tokens"] += estimate_input(request)
            previous = window
    return counts


def _opened(path: Path) -> tuple[Path, Any, Iterator[Any], bool]:
    """Return the file of a path, its first document, the others, and whether it is an export."""
    file = resolve_path(path)
    documents = read_documents(file)
    first = next(documents, None)
    if first is None:
        raise InvalidInputError(f"{file.name} is empty; want messages")
    is_export = isinstance(first, Mapping) and first.get("type") == "namespace" and "content" not in first
    return file, first, documents, is_export


def _restore(memory: Memory, file: Path, rows: Iterator[Any], namespace: str) -> dict[str, Any]:
    try:
        result = memory.restore(rows, namespace=namespace)
    except InvalidInputError as error:
        raise InvalidInputError(f"{file.name}: {error}") from error
    return {
        "messages": len(result.turn_ids),
        "repeated": 0,
        "rejected": 0,
        "units": len(result.unit_ids),
        "namespaces": [namespace],
        **_spent(AddResult()),
    }


def _check(file: Path, groups: list[_Group]) -> None:
    from ripple.write.messages import check_messages, check_namespace

    for name, messages in groups:
        try:
            check_namespace(name)
            check_messages(messages)
        except InvalidInputError as error:
            raise InvalidInputError(f"{file.name}: {error}") from error


def _add(
    memory: Memory,
    groups: list[_Group],
    progress: Callable[[int, int], None],
    budget: Budget | None,
    concurrency: int,
) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    spent = AddResult()
    total, done = sum(len(messages) for _, messages in groups), 0
    units: set[tuple[str, int]] = set()

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    for name, messages in groups:
        result = memory.add_many(
            _batches(messages), namespace=name, progress=advance, budget=_left(budget, spent), concurrency=concurrency
        )
        counts.update(messages=len(messages), repeated=result.repeated, rejected=result.rejected)
        units.update((name, unit) for unit in result.unit_ids)
        spent = _sum(spent, result)
    return {
        **{name: counts[name] for name in ("messages", "repeated", "rejected")},
        "units": len(units),
        "namespaces": list(dict.fromkeys(name for name, _ in groups)),
        **_spent(spent),
    }


def _batches(messages: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    remaining = iter(messages)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _left(budget: Budget | None, spent: AddResult) -> Budget | None:
    """Return what earlier namespaces left of a budget."""
    if budget is None:
        return None
    used = sum(spent.usage.values(), Usage())
    return replace(
        budget,
        llm_calls=None if budget.llm_calls is None else max(budget.llm_calls - used.calls, 0),
        seconds=None if budget.seconds is None else max(budget.seconds - spent.seconds, 0.0),
        usd=None if budget.usd is None else max(budget.usd - (used.usd or 0.0), 0.0),
    )


def _sum(one: AddResult, other: AddResult) -> AddResult:
    """Return what a model did in two results together."""
    stages = {*one.usage, *other.usage}
    return AddResult(
        windows=dict(Counter(one.windows) + Counter(other.windows)),
        refused=dict(Counter(one.refused) + Counter(other.refused)),
        usage={stage: one.usage.get(stage, Usage()) + other.usage.get(stage, Usage()) for stage in sorted(stages)},
        seconds=one.seconds + other.seconds,
    )


def _spent(result: AddResult) -> dict[str, Any]:
    return {"windows": dict(result.windows), "refused": dict(result.refused), "usage": dict(result.usage)}


def _groups(file: Path, first: Any, documents: Iterator[Any], namespace: str | None) -> Iterator[_Group]:
    """Yield the messages of a file by namespace."""
    keys = set(first) if isinstance(first, Mapping) else set()
    if {"conversation", "qa"} <= keys:
        yield from _conversations(load_locomo(file), namespace)
    elif keys & {"haystack_sessions", "sessions"}:
        yield from _conversations(load_longmemeval(file), namespace)
    else:
        items = enumerate(chain([first], documents), start=1)
        yield namespace or "default", [_message(item, number, file) for number, item in items]


def _conversations(dataset: Dataset, namespace: str | None) -> Iterator[_Group]:
    """Yield each conversation in a namespace of its name, behind ``namespace`` where that is given."""
    for conversation in dataset.conversations:
        name = conversation.name if namespace is None else f"{namespace}/{conversation.name}"
        yield name, list(conversation.messages)


def _message(item: Any, number: int, file: Path) -> dict[str, Any]:
    if isinstance(item, str):
        item = {"content": item}
    if not isinstance(item, Mapping):
        raise InvalidInputError(f"{file.name}, message {number}, is {type(item).__name__}; want an object or text")
    if item.get("id") is None:
        item = {**item, "id": f"{file.name}:{number}"}
    return dict(item)
