"""Taking back what an export gave: turns, units, vectors and edges as they were, into a new namespace."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from ripple.errors import InvalidInputError
from ripple.store import Batch, Links, Record, TurnsAdded
from ripple.types import EdgeKind, Message, TimeInterval, UnitDraft
from ripple.write.ingest import stored_unit
from ripple.write.messages import check_messages

__all__ = ["ExportedNamespace", "read_export", "write_export"]

_EDGE_KINDS = {kind.name.lower(): kind.value for kind in EdgeKind}


@dataclass(slots=True)
class ExportedNamespace:
    """The rows of an export, checked; ``turn_ids`` of messages and drafts are those of the export."""

    name: str
    embedder: str
    dimension: int
    messages: dict[int, Message] = field(default_factory=dict)
    drafts: dict[int, UnitDraft] = field(default_factory=dict)
    vectors: list[npt.NDArray[np.float32]] = field(default_factory=list)
    edges: dict[tuple[int, int, int], float] = field(default_factory=dict)


def read_export(rows: Iterable[Mapping[str, Any]]) -> ExportedNamespace:
    """Return the rows that ``Memory.export`` gave, checked.

    Raises
    ------
    InvalidInputError
        Names the row by its number and says what is wrong; also when the last row is missing.
    """
    found: ExportedNamespace | None = None
    is_whole = False
    for number, row in enumerate(rows, start=1):
        try:
            if is_whole:
                raise ValueError("rows after the last one")
            if found is None:
                found = _head(row)
            elif row["type"] == "end":
                _check_counts(found, row)
                is_whole = True
            else:
                _take(found, row)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, binascii.Error) as error:
            reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise InvalidInputError(f"row {number} of the export is not as ripple writes it: {reason}") from error
    if found is None or not is_whole:
        raise InvalidInputError("the export is cut short: its last row is missing; export again")
    return found


def _head(row: Mapping[str, Any]) -> ExportedNamespace:
    if row["type"] != "namespace":
        raise ValueError("the first row must be that of the namespace")
    name, embedder, dimension = row["name"], row["embedder"], row["dimension"]
    if not isinstance(name, str) or not isinstance(embedder, str) or type(dimension) is not int:
        raise ValueError("name, embedder or dimension has another type")
    return ExportedNamespace(name, embedder, dimension)


def _check_counts(found: ExportedNamespace, row: Mapping[str, Any]) -> None:
    met = {"turns": len(found.messages), "units": len(found.drafts), "edges": len(found.edges)}
    for what, count in met.items():
        if row[what] != count:
            raise ValueError(f"the export had {row[what]!r} {what}, {count} are here")


def _take(found: ExportedNamespace, row: Mapping[str, Any]) -> None:
    if row["type"] == "turn":
        _put(found.messages, row["turn_id"], _message(row))
    elif row["type"] == "unit":
        draft = _draft(row)
        unknown = next((turn for turn in draft.turn_ids if turn not in found.messages), None)
        if unknown is not None:
            raise ValueError(f"its source, turn {unknown}, is not in the export")
        _put(found.drafts, row["unit_id"], draft)
        found.vectors.append(_vector(row["vector"], found.dimension))
    elif row["type"] == "edge":
        ends, weight = (row["src"], row["dst"]), float(np.float32(row["weight"]))
        edge = (*ends, _EDGE_KINDS[row["kind"]])
        unknown = next((end for end in ends if type(end) is not int or end not in found.drafts), None)
        if unknown is not None:
            raise ValueError(f"its end, unit {unknown!r}, is not in the export")
        if ends[0] == ends[1] or edge in found.edges or not 0.0 < weight <= 1.0:
            raise ValueError("it is a loop, comes twice, or has a weight outside 0..1")
        found.edges[edge] = weight
    else:
        raise ValueError(f"its type is {row['type']!r}")


def _put(rows: dict[int, Any], number: object, value: object) -> None:
    last = next(reversed(rows), 0)
    if type(number) is not int or number <= last:
        raise ValueError(f"its id is {number!r}; ids are ints that rise from row to row")
    rows[number] = value


def _message(row: Mapping[str, Any]) -> Message:
    (message,) = check_messages(
        {
            "content": row["text"],
            "speaker": row["speaker"],
            "timestamp": _moment(row["said_at"]),
            "id": row["message_id"],
            "session": row["session"],
            "metadata": row["metadata"],
        }
    )
    return replace(message, flags=_strings(row["flags"]))


def _draft(row: Mapping[str, Any]) -> UnitDraft:
    time = None
    if row["time"] is not None:
        start, end = map(_moment, row["time"])
        if start is None or end is None or start > end:
            raise ValueError("its time does not end after it starts")
        time = TimeInterval(start, end)
    turn_ids = tuple(row["turn_ids"])
    if not turn_ids or len(set(turn_ids)) < len(turn_ids):
        raise ValueError("it names no source, or one of them twice")
    text, content, session = _strings([row["text"], row["content"], row["session"]])
    return UnitDraft(
        text=text,
        content=content,
        speaker=None if row["speaker"] is None else _strings([row["speaker"]])[0],
        participants=_strings(row["participants"]),
        locations=_strings(row["locations"]),
        time=time,
        said_at=_moment(row["said_at"]),
        session=session,
        turn_ids=turn_ids,
        is_question=row["is_question"] is True,
        has_time_word=row["has_time_word"] is True,
    )


def _strings(values: Any) -> tuple[str, ...]:
    """Return a list of strings that can be stored; a lone surrogate raises UnicodeEncodeError, a ValueError."""
    if not isinstance(values, list):
        raise ValueError("a list of strings is something else")
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"a string is {type(value).__name__}")
        value.encode()
    return tuple(values)


def _moment(text: str | None) -> datetime | None:
    moment = None if text is None else datetime.fromisoformat(text)
    if moment is not None and moment.tzinfo is None:
        raise ValueError("a time has no zone")
    return moment


def _vector(text: str | None, dimension: int) -> npt.NDArray[np.float32]:
    if text is None:
        return np.full(dimension, np.nan, np.float32)
    vector = np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
    if vector.shape != (dimension,) or not abs(float(np.linalg.norm(vector)) - 1.0) < 1e-3:
        raise ValueError(f"its vector has not dimension {dimension} and length 1")
    return vector


def write_export(found: ExportedNamespace, record: Record, name: str) -> tuple[int, ...]:
    """Write an export as a new namespace and return the new turn ids; unit ids stay as they were."""
    added = record.create_namespace(name, list(found.messages.values()), lambda added: _batch(found, added))
    return _turn_ids(added)


def _turn_ids(added: TurnsAdded) -> tuple[int, ...]:
    return tuple(turn.turn_id for turn in added.turns if turn is not None)


def _batch(found: ExportedNamespace, added: TurnsAdded) -> Batch:
    """Return the units and edges, citing the turns under their new ids."""
    renamed = dict(zip(found.messages, _turn_ids(added), strict=True))
    units = [
        stored_unit(unit_id, replace(draft, turn_ids=tuple(renamed[turn] for turn in draft.turn_ids)))
        for unit_id, draft in found.drafts.items()
    ]
    return Batch(
        units=units,
        vectors=np.stack(found.vectors) if found.vectors else None,
        edges_added=Links.of((*edge, weight) for edge, weight in found.edges.items()),
        windows_done=[window.window_id for window in added.windows],
    )
