"""Check messages as callers give them: everything that is wrong is said before any state changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ripple.config import (
    LABEL_CHARACTERS_MAX,
    METADATA_BYTES_MAX,
    METADATA_DEPTH_MAX,
    NAMESPACE_CHARACTERS_MAX,
    SESSION_GAP,
    TEXT_BYTES_MAX,
)
from ripple.errors import InvalidInputError
from ripple.types import Message

__all__ = ["assign_sessions", "check_messages", "check_namespace"]

_KEYS = frozenset({"speaker", "role", "name", "content", "timestamp", "id", "session", "metadata"})
_TIMESTAMP = re.compile(
    r"(\d{4,5})-(\d{2})-(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?\s?(Z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def check_namespace(name: object) -> str:
    """Return the name of a namespace, or raise InvalidInputError for one that cannot be."""
    if not isinstance(name, str):
        raise InvalidInputError(f"namespace is {type(name).__name__}; it must be a string")
    if not 1 <= len(name) <= NAMESPACE_CHARACTERS_MAX:
        raise InvalidInputError(
            f"namespace has {len(name)} characters; it must have 1 to {NAMESPACE_CHARACTERS_MAX}"
        )
    if name != name.strip() or _CONTROL.search(name) or _SURROGATE.search(name):
        raise InvalidInputError(
            "namespace has a space at an end, a control character or a lone surrogate; remove it"
        )
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
    return [_check_message(message, index) for index, message in enumerate(messages)]


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
    speaker = next(
        (message[key] for key in ("speaker", "name", "role") if message.get(key) is not None), None
    )
    return Message(
        text=text,
        speaker=_label(speaker, f"{where}['speaker']", flags),
        said_at=said_at,
        message_id=_label(message.get("id"), f"{where}['id']", flags),
        session=_label(message.get("session"), f"{where}['session']", flags) or "",
        metadata=_metadata(message.get("metadata"), where),
        flags=tuple(dict.fromkeys(flags)),
    )


def _replace_surrogates(text: str, flags: list[str]) -> str:
    if _SURROGATE.search(text):
        flags.append("replaced_surrogates")
        # A pair that stands for one character is joined first; what is left alone is replaced.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _text(content: object, where: str, flags: list[str]) -> str:
    if isinstance(content, Sequence) and not isinstance(content, (str, bytes, bytearray)):
        parts = []
        for part in content:
            is_text = isinstance(part, Mapping) and part.get("type") in ("text", "input_text", "output_text")
            if not is_text or not isinstance(part.get("text"), str):
                raise InvalidInputError(
                    f"{where}['content'] has a part that is not text; ripple keeps text parts only"
                )
            parts.append(part["text"])
        content = "\n".join(parts)
    if not isinstance(content, str):
        raise InvalidInputError(f"{where}['content'] is {type(content).__name__}; it must be a string")
    content = _replace_surrogates(content, flags)
    size = len(content.encode())
    if size > TEXT_BYTES_MAX:
        raise InvalidInputError(
            f"{where}['content'] has {size} bytes; at most {TEXT_BYTES_MAX} are taken, split the message"
        )
    return content


def _label(value: object, where: str, flags: list[str]) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInputError(f"{where} is {type(value).__name__}; it must be a string")
    value = _replace_surrogates(value, flags)
    if len(value) > LABEL_CHARACTERS_MAX:
        raise InvalidInputError(
            f"{where} has {len(value)} characters; at most {LABEL_CHARACTERS_MAX} are taken"
        )
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
    if value is not None and value.tzinfo is None:
        flags.append("naive_time")
        value = value.replace(tzinfo=UTC)
    if value is not None:
        try:
            value.astimezone(UTC)
            value = value.replace(microsecond=0, fold=0)
        except (OverflowError, ValueError):
            value = None
    if value is None:
        flags.append("invalid_time")
    return value


def _parse_timestamp(text: str, where: str) -> datetime | None:
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise InvalidInputError(
            f"{where}['timestamp'] does not read as ISO 8601 such as 2026-04-23T19:05:00+02:00"
        )
    year, month, day, hour, minute, second, zone = match.groups()
    clock = f"{hour or '00'}:{minute or '00'}:{second or '00'}"
    zone = "+00:00" if zone == "Z" else (zone or "")
    if len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    try:
        return datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{zone}") if hour != "24" else None
    except ValueError:
        return None


def _metadata(value: object, where: str) -> Mapping[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInputError(f"{where}['metadata'] must be a mapping with string keys")
    if _depth(value, METADATA_DEPTH_MAX) > METADATA_DEPTH_MAX:
        raise InvalidInputError(
            f"{where}['metadata'] is nested deeper than {METADATA_DEPTH_MAX}, or in itself"
        )
    try:
        encoded = json.dumps(dict(value), allow_nan=False, ensure_ascii=True, default=_refuse)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{where}['metadata'] is not plain JSON without NaN: {error}") from error
    if len(encoded) > METADATA_BYTES_MAX:
        raise InvalidInputError(
            f"{where}['metadata'] has {len(encoded)} bytes; at most {METADATA_BYTES_MAX} are taken"
        )
    decoded: dict[str, Any] = json.loads(encoded)
    cleaned: dict[str, Any] = _without_surrogates(decoded)
    return cleaned


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _replace_surrogates(value, [])
    if isinstance(value, dict):
        return {_replace_surrogates(key, []): _without_surrogates(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(child) for child in value]
    return value


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not a JSON type")


def _depth(value: object, limit: int) -> int:
    if limit < 0 or not isinstance(value, (Mapping, list, tuple)):
        return 0
    children = value.values() if isinstance(value, Mapping) else value
    return 1 + max((_depth(child, limit - 1) for child in children), default=0)


def assign_sessions(
    messages: Sequence[Message], last_session: str, last_said_at: datetime | None
) -> list[Message]:
    """Give messages without a session one: a new session begins after a gap of an hour.

    Parameters
    ----------
    messages : sequence of Message
    last_session, last_said_at
        Of the namespace's latest message without a session of its own; ``""`` and None when there is none.

    Returns
    -------
    list of Message
        In the given order. An assigned session is named by the time of its first message, to the second.
    """
    assigned = []
    for message in messages:
        if message.session == "" and message.said_at is not None:
            is_near = last_said_at is not None and abs(message.said_at - last_said_at) <= SESSION_GAP
            if not is_near or last_session == "":
                last_session = message.said_at.isoformat()
            last_said_at = message.said_at
            message = replace(message, session=last_session)
        assigned.append(message)
    return assigned
