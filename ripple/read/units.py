"""Units as they are asked for and handed out: filters by keys, raw turns in the form of units, chains in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ripple.language.names import name_key
from ripple.language.sentences import clean_text
from ripple.types import Filter, MemoryUnit, Source, Turn

__all__ = ["as_unit", "by_keys", "oldest_first", "record_alone_selects"]


def as_unit(turn: Turn) -> MemoryUnit:
    """Return a raw turn in the form of a unit, under its id with a minus."""
    text = clean_text(turn.text)
    return MemoryUnit(
        unit_id=-turn.turn_id,
        text=f"{turn.speaker}: {text}" if turn.speaker else text,
        content=text,
        speaker=turn.speaker,
        participants=() if turn.speaker is None else (turn.speaker,),
        locations=(),
        time=None,
        said_at=turn.said_at,
        session=turn.session,
        sources=(Source(turn.turn_id, turn.text, turn.speaker, turn.said_at, turn.message_id, turn.session),),
    )


def oldest_first(units: Mapping[int, MemoryUnit]) -> list[MemoryUnit]:
    """Order a chain so that no unit stands after one that supersedes it; equals by id."""
    left = dict(sorted(units.items()))
    ordered: list[MemoryUnit] = []
    while left:
        replaced = {unit.superseded_by for unit in left.values()}
        first = next((unit_id for unit_id in left if unit_id not in replaced), next(iter(left)))
        ordered.append(left.pop(first))
    return ordered


def record_alone_selects(where: Filter) -> bool:
    """Whether the engine, to which no name is no condition, cannot select by the filter."""
    is_empty = () in (where.session, where.participants, where.locations)
    return is_empty or where.metadata is not None or where.ids is not None


def by_keys(where: Filter) -> Filter:
    """Return the filter with its names as keys, as the record compares them."""
    return replace(
        where,
        participants=where.participants and tuple(name_key(name) for name in where.participants),
        locations=where.locations and tuple(name_key(name) for name in where.locations),
    )
