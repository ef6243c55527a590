"""Check messages as callers give them: everything that is wrong is said before any state changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timezone
from fnmatch import fnmatchcase

from ripple._arguments import check_metadata, replace_surrogates
from ripple.config import (
    LABEL_CHARACTERS_MAX,
    NAMESPACE_CHARACTERS_MAX,
    SESSION_GAP,
    TEXT_BYTES_MAX,
)
from ripple.errors import InvalidInputError
from ripple.types import Message

__all__ = [
    "MOMENT_SESSIONS",
    "assign_sessions",
    "check_messages",
    "check_namespace",
    "check_text",
    "is_moment_session",
]

_KEYS = frozenset({"speaker", "role", "name", "content", "timestamp", "id", "session", "metadata"})
_TIMESTAMP = re.compile(
    r"(\d{4,5})-(\d{2})-(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?\s?(Z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
MOMENT_SESSIONS = "dddd-dd-ddTdd:dd:dd[-+]dd:dd*".replace("d", "[0-9]")
"""Pattern of the names that we give to sessions, which the record selects by too."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def check_namespace(name: object) -> str:
    """Return the name of a namespace, or raise InvalidInputError for one that cannot be."""
    if not isinstance(name, str):
        raise InvalidInputError(f"namespace is {type(name).__name__}; it must be a string")
    if not 1 <= len(name) <= NAMESPACE_CHARACTERS_MAX:
        raise InvalidInputError(f"namespace has {len(name)} characters; it must have 1 to {NAMESPACE_CHARACTERS_MAX}")
    if name != name.strip() or _CONTROL.search(name) or _SURROGATE.search(name):
        raise InvalidInputError("namespace has a space at an end, a control character or a lone surrogate; remove it")
    return name


def check_messages(messages: object) -> list[Message]:
    """Return the messages of one call, checked.

    Parameters
    ----------
    messages : str, mapping, or sequence of these
        A mapping has ``content`` and may have ``speaker`` (or ``role``, ``name``), ``timestamp``, ``id``,
        ``session`` and ``metadata``. Content may be a list of parts as chat APIs give it; its text parts are
        joined. A timestamp is an aware datetime or an ISO 8601 string; without a zone it is taken as UTC and
        flagged ``naive_time``; one that names no real moment is left out and flagged ``invalid_time``.

    Raises
    ------
    InvalidInputError
        Names the message by its position and says what is wanted.
    """
    if isinstance(messages, (str, Mapping)):
        messages = [messages]
    if isinstance(messages, (bytes, bytearray)) or not isinstance(messages, Iterable):
        raise InvalidInputError(
            f"messages is {type(messages).__name__}; give a list of mappings with 'content', or strings"
        )
    checked = [_check_message(message, index) for index, message in enumerate(messages)]
    texts: dict[str, str] = {}
    for index, message in enumerate(checked):
        if message.message_id is None:
            continue
        if texts.setdefault(message.message_id, message.text) != message.text:
            raise InvalidInputError(
                f"messages[{index}] has the id {message.message_id!r} of an earlier message with another text;"
                " give it an id of its own"
            )
    return checked


def _check_message(message: object, index: int) -> Message:
    if isinstance(message, Message):
        message = {
            "content": message.text,
            "speaker": message.speaker,
            "timestamp": message.said_at,
            "id": message.message_id,
            "session": message.session or None,
            "metadata": message.metadata,
        }
    if isinstance(message, str):
        message = {"content": message}
    where = f"messages[{index}]"
    if not isinstance(message, Mapping):
        raise InvalidInputError(f"{where} is {type(message).__name__}; it must be a mapping or a string")
    unknown = [key for key in message if key not in _KEYS]
    if unknown:
        raise InvalidInputError(
            f"{where} has the unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}"
            " (put anything else into 'metadata')"
        )
    flags: list[str] = []
    text = _text(message.get("content"), where, flags)
    said_at = _timestamp(message.get("timestamp"), where, flags)
    speaker = next((message[key] for key in ("speaker", "name", "role") if message.get(key) is not None), None)
    return Message(
        text=text,
        speaker=_label(speaker, f"{where}['speaker']", flags),
        said_at=said_at,
        message_id=_label(message.get("id"), f"{where}['id']", flags),
        session=_label(message.get("session"), f"{where}['session']", flags) or "",
        metadata=check_metadata(message.get("metadata"), f"{where}['metadata']"),
        flags=tuple(dict.fromkeys(flags)),
    )


def _without_surrogates(text: str, flags: list[str]) -> str:
    replaced = replace_surrogates(text)
    if replaced != text:
        flags.append("replaced_surrogates")
    return replaced


def _text(content: object, where: str, flags: list[str]) -> str:
    if isinstance(content, Sequence) and not isinstance(content, (str, bytes, bytearray)):
        parts = []
        for part in content:
            is_text = isinstance(part, Mapping) and part.get("type") in ("text", "input_text", "output_text")
            if not is_text or not isinstance(part.get("text"), str):
                raise InvalidInputError(f"{where}['content'] has a part that is not text; ripple keeps text parts only")
            parts.append(part["text"])
        content = "\n".join(parts)
    checked = check_text(content, f"{where}['content']")
    if checked != content:
        flags.append("replaced_surrogates")
    return checked


def check_text(text: object, where: str) -> str:
    """Return a text of at most TEXT_BYTES_MAX, lone surrogates replaced; ``where`` names it in errors."""
    if not isinstance(text, str):
        raise InvalidInputError(f"{where} is {type(text).__name__}; it must be a string")
    text = replace_surrogates(text)
    size = len(text.encode())
    if size > TEXT_BYTES_MAX:
        raise InvalidInputError(f"{where} has {size} bytes; at most {TEXT_BYTES_MAX} are taken, split the message")
    return text


def _label(value: object, where: str, flags: list[str]) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInputError(f"{where} is {type(value).__name__}; it must be a string")
    value = _without_surrogates(value, flags)
    if len(value) > LABEL_CHARACTERS_MAX:
        raise InvalidInputError(f"{where} has {len(value)} characters; at most {LABEL_CHARACTERS_MAX} are taken")
    return value if value.strip() else None


def _timestamp(value: object, where: str, flags: list[str]) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = _parse_timestamp(value, where)
    elif not isinstance(value, datetime):
        raise InvalidInputError(
            f"{where}['timestamp'] is {type(value).__name__}; give an aware datetime or an ISO 8601 string"
        )
    if value is not None and value.utcoffset() is None:
        flags.append("naive_time")
        value = value.replace(tzinfo=UTC)
    if value is not None:
        value = _with_fixed_offset(value)
    if value is None:
        flags.append("invalid_time")
    return value


def _with_fixed_offset(moment: datetime) -> datetime | None:
    """Return the moment to the second, its zone's offset in place of the zone; None outside the years 1 to 9999.

    Python subtracts and compares two times of one zone by the clock on the wall, and finds none equal to a
    wall time that comes twice: the first of the two is meant, and from here on it is a plain moment.
    """
    moment = moment.replace(microsecond=0, fold=0)
    offset = moment.utcoffset()
    assert offset is not None
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return None
    return moment.replace(tzinfo=timezone(offset))


def _parse_timestamp(text: str, where: str) -> datetime | None:
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise InvalidInputError(f"{where}['timestamp'] does not read as ISO 8601 such as 2026-04-23T19:05:00+02:00")
    year, month, day, hour, minute, second, zone = match.groups()
    clock = f"{hour or '00'}:{minute or '00'}:{second or '00'}"
    zone = "+00:00" if zone == "Z" else (zone or "")
    if len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    try:
        return datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{zone}") if hour != "24" else None
    except ValueError:
        return None


def is_moment_session(session: str) -> bool:
    """Whether a session is named by a moment, as assigned ones are."""
    return fnmatchcase(session, MOMENT_SESSIONS)


def assign_sessions(messages: Sequence[Message], last_session: str, last_said_at: datetime | None) -> list[Message]:
    """Give messages without a session one: a new session begins after a gap of an hour.

    A message without a session joins none that the caller named, however near: the caller who names some
    conversations tells them apart from the rest, and messages in between do not end the rest's session.

    Parameters
    ----------
    messages : sequence of Message
    last_session, last_said_at
        Of the namespace's latest message in a session that is named by a moment; ``""`` and None when there
        is none.

    Returns
    -------
    list of Message
        In the given order. An assigned session is named by the time of its first message, to the second. By
        such a name it is known as one of ours: a caller's own of that form goes on like one.
    """
    assigned = []
    for message in messages:
        if is_moment_session(message.session):
            last_session, last_said_at = message.session, message.said_at
        elif message.session == "" and message.said_at is not None:
            is_near = last_said_at is not None and abs(message.said_at - last_said_at) <= SESSION_GAP
            if not is_near or last_session == "":
                last_session = message.said_at.isoformat()
            last_said_at = message.said_at
            message = replace(message, session=last_session)
        assigned.append(message)
    return assigned
