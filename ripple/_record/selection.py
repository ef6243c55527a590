"""Which units and turns a filter means.

Times and ids are compared by SQLite, under bound parameters; names and metadata in Python, where a NUL or a
large integer is what it says it is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ripple._record.checksum import TURN
from ripple._record.rows import id_range, json_text, keys_text, names_of, seconds_and_offset
from ripple.types import Filter

__all__ = ["matching_turns", "matching_units"]

_UNIT_COLUMNS: Final = "SELECT id, session, participant_keys, location_keys FROM units"
# A time that is not known is NULL, and so is every comparison with it: it matches no interval.
_UNIT_TIMES: Final = """
  AND (NOT :has_time
       OR (time_end >= ifnull(:time_from, time_end) AND time_start <= ifnull(:time_until, time_start)))
  AND (NOT :has_said
       OR (said_at >= ifnull(:said_from, said_at) AND said_at <= ifnull(:said_until, said_at)))
  ORDER BY id
"""
_UNITS_OF_NAMESPACE: Final = f"{_UNIT_COLUMNS} WHERE id BETWEEN :first AND :last {_UNIT_TIMES}"
_UNITS_OF_SESSION: Final = f"{_UNIT_COLUMNS} WHERE namespace = :namespace AND session = :session {_UNIT_TIMES}"
_UNITS_BY_ID: Final = f"{_UNIT_COLUMNS} WHERE id IN (SELECT value FROM json_each(:ids)) {_UNIT_TIMES}"

_TURN_COLUMNS: Final = "SELECT * FROM turns"
_TURN_TIMES: Final = """
  AND (NOT :has_said
       OR (said_at >= ifnull(:said_from, said_at) AND said_at <= ifnull(:said_until, said_at)))
  ORDER BY id
"""
_TURNS_OF_NAMESPACE: Final = f"{_TURN_COLUMNS} WHERE id BETWEEN :first AND :last {_TURN_TIMES}"
_TURNS_OF_SESSION: Final = f"{_TURN_COLUMNS} WHERE namespace = :namespace AND session = :session {_TURN_TIMES}"
_TURNS_OF_UNITS: Final = """
SELECT DISTINCT turn_id FROM provenance WHERE unit_id IN (SELECT value FROM json_each(?))
"""
_METADATA_OF_UNITS: Final = """
SELECT unit_id, metadata FROM provenance JOIN turns ON turns.id = turn_id
WHERE unit_id IN (SELECT value FROM json_each(?)) AND metadata IS NOT NULL
"""


def matching_units(connection: sqlite3.Connection, namespace: int, wanted: Filter) -> list[int]:
    """Return the keys of the units that match, ascending; participants and locations are compared by key."""
    parameters = _parameters(namespace, wanted)
    if wanted.ids is not None:
        statements = [(_UNITS_BY_ID, "")]
        parameters["ids"] = keys_text(namespace, wanted.ids)
    else:
        statements = _per_session(wanted, _UNITS_OF_NAMESPACE, _UNITS_OF_SESSION)
    sessions = _sessions(wanted)
    participants = None if wanted.participants is None else frozenset(wanted.participants)
    locations = None if wanted.locations is None else frozenset(wanted.locations)
    keys = [
        key
        for key, session, unit_participants, unit_locations in _rows(connection, statements, parameters)
        if (sessions is None or session in sessions)
        and (participants is None or not participants.isdisjoint(names_of(unit_participants)))
        and (locations is None or not locations.isdisjoint(names_of(unit_locations)))
    ]
    if wanted.metadata is not None:
        keys = _with_metadata(connection, keys, wanted.metadata)
    return sorted(keys)


def matching_turns(
    connection: sqlite3.Connection,
    namespace: int,
    wanted: Filter,
    name_key: Callable[[str], str] | None,
) -> list[int]:
    """Return the keys of the turns that match, ascending.

    Session, said and metadata are the turn's own. Participants, locations, time and ids are those of the
    units made from it; when only participants are named, a turn spoken by one of them matches too.
    """
    of_units = Filter(participants=wanted.participants, locations=wanted.locations, time=wanted.time, ids=wanted.ids)
    cited: frozenset[int] | None = None
    speakers: frozenset[str] = frozenset()
    if of_units != Filter():
        units = matching_units(connection, namespace, of_units)
        cited = frozenset(key for (key,) in connection.execute(_TURNS_OF_UNITS, (json_text(units),)))
        if name_key is not None and replace(of_units, participants=None) == Filter():
            speakers = frozenset(wanted.participants or ())
    statements = _per_session(wanted, _TURNS_OF_NAMESPACE, _TURNS_OF_SESSION)
    metadata = None if wanted.metadata is None else _canonical(wanted.metadata)
    keys = []
    for row in _rows(connection, statements, _parameters(namespace, wanted)):
        TURN.check(row)
        speaker, stored = row[7], row[9]
        is_named = cited is None or row[0] in cited
        if not is_named and speakers and speaker is not None and name_key is not None:
            is_named = name_key(speaker) in speakers
        if is_named and (metadata is None or _holds(stored, metadata)):
            keys.append(row[0])
    return sorted(keys)


def _sessions(wanted: Filter) -> frozenset[str] | None:
    if wanted.session is None:
        return None
    return frozenset([wanted.session] if isinstance(wanted.session, str) else wanted.session)


def _per_session(wanted: Filter, whole: str, one_session: str) -> list[tuple[str, str]]:
    """Return the statements to run, each with the session that it asks for."""
    sessions = _sessions(wanted)
    return [(whole, "")] if sessions is None else [(one_session, session) for session in sorted(sessions)]


def _rows(
    connection: sqlite3.Connection, statements: list[tuple[str, str]], parameters: dict[str, Any]
) -> Iterator[tuple[Any, ...]]:
    for statement, session in statements:
        yield from connection.execute(statement, {**parameters, "session": session})


def _parameters(namespace: int, wanted: Filter) -> dict[str, Any]:
    time_from, time_until = wanted.time or (None, None)
    said_from, said_until = wanted.said or (None, None)
    first, last = id_range(namespace)
    return {
        "namespace": namespace,
        "first": first,
        "last": last,
        "has_time": wanted.time is not None,
        "time_from": seconds_and_offset(time_from)[0],
        "time_until": seconds_and_offset(time_until)[0],
        "has_said": wanted.said is not None,
        "said_from": seconds_and_offset(said_from)[0],
        "said_until": seconds_and_offset(said_until)[0],
    }


def _with_metadata(connection: sqlite3.Connection, keys: list[int], wanted: Mapping[str, Any]) -> list[int]:
    """Return those of the units that have a source turn whose metadata hold what is wanted."""
    metadata = _canonical(wanted)
    rows = connection.execute(_METADATA_OF_UNITS, (json_text(keys),))
    return list({key for key, stored in rows if _holds(stored, metadata)})


def _canonical(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata as they would come back from the record."""
    value: dict[str, Any] = json.loads(json_text(dict(metadata)))
    return value


def _holds(stored: str | None, wanted: Mapping[str, Any]) -> bool:
    if stored is None:
        return False
    metadata = json.loads(stored)
    return all(
        key in metadata and isinstance(metadata[key], bool) == isinstance(value, bool) and metadata[key] == value
        for key, value in wanted.items()
    )
