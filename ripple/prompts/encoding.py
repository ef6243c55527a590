"""How prompts are put together: one JSON value for all that users wrote, and schemas that all servers take.

Strings are at most 1,000 characters and lists at most 64 items: llama.cpp, and what is built on it, refuses
a grammar with 2,000 repetitions of anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ripple._arguments import replace_surrogates
from ripple.language.sentences import clean_text
from ripple.types import TimeInterval

__all__ = [
    "BOOLEAN",
    "DATE",
    "INTEGER",
    "clean",
    "clip",
    "date_of",
    "day_of",
    "encode",
    "interval_of",
    "list_of",
    "moment_of",
    "object_of",
    "or_null",
    "string",
]

Schema = Mapping[str, Any]

BOOLEAN: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
DATE: Schema = {"type": ["string", "null"], "maxLength": 25}
"""A date or date-time of ISO 8601, such as ``2026-04-23T19:05:00+02:00``, or null."""

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # strftime would ask the locale
_CONTROL_TOKEN = re.compile(r"<(?=[^\s\d=])|\[(?=/?[A-Z_]{2,}\])")
_WIDE = re.compile(r"[\u0e00-\u0eff\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00010000-\U0010ffff]")
_WIDE_COST = 4
"""A character of a script without spaces takes about as many tokens as this many Latin letters."""


def string(longest: int) -> Schema:
    """Return the schema of a string of at most ``longest`` characters."""
    return {"type": "string", "maxLength": longest}


def list_of(items: Schema, most: int) -> Schema:
    """Return the schema of a list of at most ``most`` items."""
    return {"type": "array", "items": items, "maxItems": most}


def object_of(**properties: Schema) -> dict[str, Any]:
    """Return the schema of an object with just these properties, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def or_null(schema: Schema) -> Schema:
    """Return the schema of the same value or null."""
    return {**schema, "type": [schema["type"], "null"]}


def encode(value: object) -> str:
    """Return a value as compact JSON in which no text closes its quotes or forms a control token of a model.

    Chat servers read ``<|im_start|>``, ``</s>`` or ``[INST]`` as control tokens wherever they stand: their
    first character is written as an escape of JSON, which means the same to whoever reads the value.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _CONTROL_TOKEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def clean(text: str | None) -> str:
    """Return a text on one line, without control and invisible characters and lone surrogates."""
    return clean_text(replace_surrogates(text)) if text else ""


def clip(text: str, longest: int) -> str:
    """Return a cleaned text, cut where it costs more tokens than ``longest`` Latin characters."""
    text = clean(text)
    if len(text) * _WIDE_COST <= longest:
        return text
    left = longest
    for at, char in enumerate(text):
        left -= 1 if char.isascii() or _WIDE.match(char) is None else _WIDE_COST
        if left < 0:
            return text[:at].rstrip() + "…"
    return text


def day_of(moment: datetime | None) -> str:
    """Return the day, such as ``2026-04-23``; ``undated`` for none."""
    return "undated" if moment is None else moment.date().isoformat()


def date_of(moment: datetime | None) -> str:
    """Return the day with its weekday, such as ``Thu 2026-04-23``; ``undated`` for none."""
    return "undated" if moment is None else f"{_WEEKDAYS[moment.weekday()]} {day_of(moment)}"


def moment_of(moment: datetime | None) -> str:
    """Return weekday, day, time and zone, such as ``Thu 2026-04-23 19:05+02:00``; ``undated`` for none."""
    if moment is None:
        return "undated"
    return f"{date_of(moment)} {moment.isoformat(timespec='minutes')[11:].replace('+00:00', 'Z')}"


def interval_of(time: TimeInterval) -> str:
    """Return when something happened: a time to the minute, a day, or the first and last day."""
    if time.start == time.end:
        return time.start.isoformat(sep=" ", timespec="minutes")[:16]
    first, last = day_of(time.start), day_of(time.end)
    return first if first == last else f"{first} to {last}"
