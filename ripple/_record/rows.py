"""The way of messages, units and windows to rows of the record and back."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final

from ripple._record.checksum import TURN, UNIT, WINDOW
from ripple._record.values import HAS_TIME_WORD, HAS_VECTOR, IS_QUESTION, StoredUnit, Window, WindowState
from ripple.errors import InvalidInputError
from ripple.types import MemoryUnit, Message, Source, TimeInterval, Turn

__all__ = [
    "ID_BITS",
    "ID_MASK",
    "digest_of_turns",
    "id_range",
    "json_text",
    "key_of",
    "keys_text",
    "names_of",
    "offset_datetime",
    "seconds_and_offset",
    "source_of",
    "turn_of",
    "turn_row",
    "unit_of",
    "unit_row",
    "window_of",
    "window_row",
]

# A turn, unit or window is keyed by its namespace's number and its own id in one integer, so that a namespace
# is one range of each table and new rows go to the end of it.
ID_BITS: Final = 40
ID_MASK: Final = 2**ID_BITS - 1

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)
_DAY_SECONDS: Final = 86_400
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def id_range(namespace: int) -> tuple[int, int]:
    """Return the least and the greatest key that a row of the namespace can have."""
    return namespace << ID_BITS, (namespace << ID_BITS) | ID_MASK


def key_of(namespace: int, number: int) -> int:
    """Return the key of a row by the id that it has in its namespace; raises for what cannot be an id."""
    number = int(number)
    if not 0 < number <= ID_MASK:
        raise InvalidInputError(f"{number} is not an id; ids count from 1")
    return namespace << ID_BITS | number


def keys_text(namespace: int, numbers: Iterable[int]) -> str:
    """Return the keys of ids as a JSON list to bind; what cannot be an id has no row and is left out."""
    keys = sorted({namespace << ID_BITS | int(number) for number in numbers if 0 < number <= ID_MASK})
    return json.dumps(keys)


def seconds_and_offset(when: datetime | None) -> tuple[int | None, int | None]:
    """Return the whole seconds UTC of an aware datetime, and its zone's offset in seconds east."""
    if when is None:
        return None, None
    offset = when.utcoffset()
    if offset is None:
        raise InvalidInputError(f"the datetime {when!r} has no zone; give an aware datetime")
    since = when - _EPOCH
    return since.days * _DAY_SECONDS + since.seconds, offset.days * _DAY_SECONDS + offset.seconds


@lru_cache(maxsize=256)
def _zone(offset_seconds: int) -> timezone:
    return UTC if offset_seconds == 0 else timezone(timedelta(seconds=offset_seconds))


def offset_datetime(seconds: int | None, offset_seconds: int | None) -> datetime | None:
    """Return the instant as the aware datetime that was stored, to the second."""
    if seconds is None or offset_seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, _zone(offset_seconds))
    except (OverflowError, ValueError):  # in UTC it is not in the years 1 to 9999, where it was said it is
        local = _NAIVE_EPOCH + timedelta(seconds=seconds + offset_seconds)
        return local.replace(tzinfo=_zone(offset_seconds))


def json_text(value: object) -> str:
    """Return a value as JSON text; NaN and infinities are refused."""
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"a value cannot be stored as JSON: {error}") from error


def names_of(text: str) -> tuple[str, ...]:
    """Return a stored list of strings."""
    if text == "[]":
        return ()
    if "\\" not in text:  # then no string holds a quote either; several times faster than the parser
        return tuple(text[2:-2].split('","'))
    return tuple(json.loads(text))


def _names_text(names: Sequence[str]) -> str:
    return f"[{','.join(map(encode_basestring, names))}]"


def turn_row(key: int, message: Message, sequence: int) -> tuple[Any, ...]:
    """Return the row of a new turn."""
    said_at, said_offset = seconds_and_offset(message.said_at)
    metadata = None if message.metadata is None else json_text(dict(message.metadata))
    row = (
        *(key, key >> ID_BITS, said_at, said_offset, sequence),
        *(message.message_id, message.session, message.speaker, message.text),
        *(metadata, _names_text(message.flags)),
    )
    return TURN.sealed(row)


def turn_of(row: tuple[Any, ...]) -> Turn:
    """Return the turn of a whole row, checked."""
    TURN.check(row)
    key, _, said_at, said_offset, _, message_id, session, speaker, text, metadata, flags, _ = row
    return Turn(
        turn_id=key & ID_MASK,
        text=text,
        speaker=speaker,
        said_at=offset_datetime(said_at, said_offset),
        message_id=message_id,
        session=session,
        metadata=None if metadata is None else _mapping(metadata),
        flags=names_of(flags),
    )


def _mapping(text: str) -> Mapping[str, Any]:
    value: Mapping[str, Any] = json.loads(text)
    return value


def source_of(row: tuple[Any, ...]) -> Source:
    """Return the turn of a whole row, checked, as the source of a unit."""
    TURN.check(row)
    key, _, said_at, said_offset, _, message_id, session, speaker, text, _, _, _ = row
    return Source(
        turn_id=key & ID_MASK,
        text=text,
        speaker=speaker,
        said_at=offset_datetime(said_at, said_offset),
        message_id=message_id,
        session=session,
    )


def unit_row(namespace: int, unit: StoredUnit, *, has_vector: bool, sequence: int) -> tuple[Any, ...]:
    """Return the row of a new unit."""
    draft = unit.draft
    start, start_offset = seconds_and_offset(draft.time.start if draft.time else None)
    end, end_offset = seconds_and_offset(draft.time.end if draft.time else None)
    said_at, said_offset = seconds_and_offset(draft.said_at)
    flags = IS_QUESTION * draft.is_question | HAS_TIME_WORD * draft.has_time_word | HAS_VECTOR * has_vector
    row = (
        *(namespace << ID_BITS | unit.unit_id, namespace, start, end, start_offset, end_offset),
        *(said_at, said_offset, flags, sequence),
        *(draft.session, draft.text, draft.content, draft.speaker),
        *(_names_text(draft.participants), _names_text(draft.locations)),
        *(_names_text(unit.participant_keys), _names_text(unit.location_keys)),
        unit.digest,
    )
    return UNIT.sealed(row)


def unit_of(row: tuple[Any, ...], sources: tuple[Source, ...], superseded_by: int | None) -> MemoryUnit:
    """Return the unit of a whole row, checked, with what other tables say of it."""
    UNIT.check(row)
    key, _, start, end, start_offset, end_offset, said_at, said_offset, flags, _ = row[:10]
    session, text, content, speaker, participants, locations = row[10:16]
    first, last = offset_datetime(start, start_offset), offset_datetime(end, end_offset)
    return MemoryUnit(
        unit_id=key & ID_MASK,
        text=text,
        content=content,
        speaker=speaker,
        participants=names_of(participants),
        locations=names_of(locations),
        time=None if first is None or last is None else TimeInterval(first, last),
        said_at=offset_datetime(said_at, said_offset),
        session=session,
        sources=sources,
        is_question=bool(flags & IS_QUESTION),
        has_time_word=bool(flags & HAS_TIME_WORD),
        status="current" if superseded_by is None else "superseded",
        superseded_by=superseded_by,
    )


def digest_of_turns(turn_ids: Sequence[int]) -> bytes:
    """Return the 16 bytes by which a window is known: BLAKE2b of its turn ids as little-endian int64."""
    return hashlib.blake2b(struct.pack(f"<{len(turn_ids)}q", *turn_ids), digest_size=16).digest()


def window_row(namespace: int, window: Window, digest: bytes, sequence: int) -> tuple[Any, ...]:
    """Return the row of a window under the digest that it was cut with."""
    row = (
        *(namespace << ID_BITS | window.window_id, namespace, window.attempts),
        *(min(window.turn_ids), max(window.turn_ids), sequence),
        *(window.state.value, window.reason, window.prompt_version, json_text(list(window.turn_ids))),
        digest,
    )
    return WINDOW.sealed(row)


def window_of(row: tuple[Any, ...]) -> Window:
    """Return the window of a whole row, checked."""
    WINDOW.check(row)
    key, _, attempts, _, _, sequence, state, reason, prompt_version, turn_ids, _, _ = row
    return Window(
        window_id=key & ID_MASK,
        state=WindowState(state),
        turn_ids=tuple(json.loads(turn_ids)),
        reason=reason,
        attempts=attempts,
        prompt_version=prompt_version,
        sequence=sequence,
    )
