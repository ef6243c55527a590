"""From what a model said to a value that fits its schema, or the reason why there is none.

The repair of JSON is our own and small: values are found wherever they stand, a comma too many is taken out, and
the finished objects of a broken list are kept. What a general repairer adds beyond that, quotes and keys guessed,
turns a broken reply into a plausible one; here it is counted as broken, and the caller asks again.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ripple.config import REPLY_BYTES_MAX, REPLY_DEPTH_MAX
from ripple.models.base import ModelReply
from ripple.models.schema import (
    NOT_A_NUMBER,
    DuplicateKeys,
    SchemaMisfitError,
    check_schema,
    fit,
    list_property,
)

__all__ = ["Parsed", "parse_reply"]

_VALUES_MAX = 1_000
_EFFORT = 8  # characters read for one of the reply: a whole list, its inside, a comma pass, and as much again
_INTEGER_DIGITS_MAX = 18
_BROKEN_MAX = 500  # each costs a search for line breaks in all that is before it: 0.1 ms in 1 MiB
_START = re.compile(r'\{\s*["}]|\[\s*[\[{"\]\w-]')
_LOOKS_LIKE_JSON = re.compile(r'\{\s*["}]|\[\s*[\[{"\]]')
# A string that is not closed goes to the end: so no quote is read twice.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_BRACKET = re.compile(rf"{_STRING}|([{{\[])|([}}\]])", re.DOTALL)
_REASONING_START = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_REASONING_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_NO_PROSE = re.compile(r"```\w*|[\s\ufeff]+")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What could be read from a reply.

    Attributes
    ----------
    value : object
        The object, in the schema's shape; a str where free text was asked for; None when there is nothing
        that may be used, which is never the same as an empty list.
    is_cut : bool
        The reply ended before it was done: what is in ``value`` is whole, more is missing.
    is_refused : bool
        The model or a filter refused; asking the same again is of no use.
    problems : Counter
        What was met, by name. Why there is no value: ``empty``, ``refused``, ``filtered``, ``too_large``,
        ``too_deep``, ``no_json``, ``schema_echo``, ``reasoning``. What was rejected, with its reason beside
        it: ``rejected_items`` and ``wrong_type``, ``unknown_key``, ``missing_key``, ``duplicate_key``,
        ``not_a_number``, ``not_allowed``, ``out_of_range``, ``too_long``, ``too_short``, ``too_few``. What
        was mended: ``cut``, ``malformed``, ``salvaged``, ``trailing_commas``, ``several_values``, ``prose``,
        ``coerced_list``, ``coerced_single``, ``coerced_null``, ``coerced_missing``, ``clipped_items``,
        ``clipped_text``, ``replaced_surrogates``, ``too_many``.
    """

    value: Any
    is_cut: bool = False
    is_refused: bool = False
    problems: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Found:
    """A JSON value in a text; ``is_inside`` of a greater one that could not be read."""

    start: int
    end: int
    value: Any
    is_inside: bool


def parse_reply(reply: ModelReply, schema: Mapping[str, Any] | None) -> Parsed:
    """Return what a reply holds; no reply makes it raise or take long.

    Parameters
    ----------
    reply : ModelReply
        As the model gave it.
    schema : mapping or None
        That of the request; None for free text.

    Returns
    -------
    Parsed
        Checked in this order: why the reply ended, refusal, size, JSON, schema. Where the schema is one list
        of objects, all objects of all values are taken, also those of a list that was cut; otherwise the
        first value that fits is.

    Raises
    ------
    InvalidInputError
        The schema, not the reply, is outside the subset.

    Notes
    -----
    Linear in the reply: a full one of 1 MiB takes well under a second, whatever it holds.
    """
    if schema is not None:
        check_schema(schema)
    problems: Counter[str] = Counter()
    is_cut = reply.finish_reason == "length"
    problems["cut"] += is_cut
    if reply.finish_reason == "content_filter" or reply.refusal:
        problems["filtered" if reply.finish_reason == "content_filter" else "refused"] += 1
        return Parsed(None, is_cut, True, +problems)
    text = reply.text
    if not text.strip("\ufeff \t\r\n"):
        problems["empty"] += 1
        value = None
    elif len(text) > REPLY_BYTES_MAX or len(text.encode("utf-8", "surrogatepass")) > REPLY_BYTES_MAX:
        problems["too_large"] += 1
        value = None
    elif schema is None:
        value = _free_text(text, problems)
    else:
        found, is_open = _find_values(text, problems)
        value = _take(found, schema, problems)
        is_cut = is_cut or is_open
    return Parsed(value, is_cut, False, +problems)


def _free_text(text: str, problems: Counter[str]) -> str | None:
    """Return the text without reasoning, as UTF-8 can hold it."""
    ends = [match.end() for match in _REASONING_END.finditer(text)]
    if ends:
        text = text[ends[-1] :]
    elif _REASONING_START.match(text):
        problems["reasoning"] += 1
        return None
    text = text.strip("\ufeff \t\r\n")
    problems["empty"] += not text
    return fit(text, {"type": "string"}, problems) or None


def _find_values(text: str, problems: Counter[str]) -> tuple[list[_Found], bool]:
    """Return the values after any reasoning, and whether the text ends inside one."""
    met: Counter[str] = Counter()
    text, found, is_open = _scan(text, met)
    starts = [each.start for each in found]
    ends = []
    for match in _REASONING_END.finditer(text):
        before = bisect_left(starts, match.start()) - 1
        if before < 0 or found[before].end <= match.start():  # in a value the tag is what someone wrote
            ends.append(match.end())
    if ends:
        met.clear()
        _, found, is_open = _scan(text[ends[-1] :], met)
    elif _REASONING_START.match(text):
        met.clear()
        met["reasoning"] += 1
        found, is_open = [], False
    problems.update(met)
    return found, is_open


def _scan(text: str, problems: Counter[str]) -> tuple[str, list[_Found], bool]:
    """Return the text as it was read, its JSON objects and arrays, and whether it ends inside one."""
    found: list[_Found] = []
    prose: list[str] = []
    effort, broken = _EFFORT * len(text) + _BROKEN_MAX, 0
    broken_until, position, is_mended = -1, 0, False
    while match := _START.search(text, position):
        start = match.start()
        if len(found) >= _VALUES_MAX or broken >= _BROKEN_MAX or effort <= 0:
            problems["too_many"] += 1
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
        except RecursionError:
            problems["too_deep"] += 1
            return text, [], False
        except json.JSONDecodeError as error:
            # An open string is read to the end before it is reported at its beginning.
            effort -= (len(text) if error.msg.startswith("Unterminated") else error.pos) - start + 1
            broken += 1
            if not is_mended:
                is_mended = True
                mended, count = _without_extra_commas(text, start)
                if count:
                    problems["trailing_commas"] += count
                    text = mended
                    continue
            prose.append(text[max(position, broken_until) : start])
            if start >= broken_until and _LOOKS_LIKE_JSON.match(text, start):
                broken_until = _closing(text, start)
                effort -= min(broken_until, len(text)) - start
                problems["malformed"] += broken_until <= len(text)
            position = start + 1
            continue
        prose.append(text[max(position, broken_until) : start])
        position = end
        if _is_deeper(value, REPLY_DEPTH_MAX):
            problems["too_deep"] += 1
        else:
            found.append(_Found(start, end, value, start < broken_until))
    is_open = broken_until > len(text)
    prose.append(text[max(position, broken_until) :])
    problems["prose"] += bool(_NO_PROSE.sub("", "".join(prose)))
    return text, found, is_open


def _without_extra_commas(text: str, start: int) -> tuple[str, int]:
    """Return the text without commas before a closing bracket, from ``start`` on, and how many there were."""
    count = 0

    def keep_strings(match: re.Match[str]) -> str:
        nonlocal count
        count += match.group(1) is None
        return match.group(1) or ""

    rest = _COMMA.sub(keep_strings, text[start:])
    return text[:start] + rest, count


def _closing(text: str, start: int) -> int:
    """Return where the bracket at ``start`` closes, one past the end of the text if it does not."""
    level = 0
    for match in _BRACKET.finditer(text, start):
        if match.group(1):
            level += 1
        elif match.group(2):
            level -= 1
            if level == 0:
                return match.end()
    return len(text) + 1


def _is_deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


def _take(found: list[_Found], schema: Mapping[str, Any], problems: Counter[str]) -> Any:
    """Return the value that the schema asks for, None when there is none."""
    values = [each for each in found if not _is_echo(each.value, schema)]
    problems["schema_echo"] += len(found) - len(values)
    name = list_property(schema)
    return _take_first(values, schema, problems) if name is None else _take_list(values, name, schema, problems)


def _is_echo(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether a value is a schema where an answer was asked for."""
    return isinstance(value, dict) and (
        value == schema or (value.keys() >= {"type", "properties"} and not value.keys() & schema["properties"].keys())
    )


def _take_first(values: list[_Found], schema: Mapping[str, Any], problems: Counter[str]) -> Any:
    """Return the first value that fits; the parts of a broken one are no answer."""
    candidates = []
    for each in values:
        if each.is_inside:
            continue
        if isinstance(each.value, dict):
            candidates.append(each.value)
        elif len(each.value) == 1 and isinstance(each.value[0], dict):
            candidates.append(each.value[0])
            problems["coerced_single"] += 1
    problems["several_values"] += len(candidates) > 1
    for candidate in candidates:
        try:
            return fit(candidate, schema, problems)
        except SchemaMisfitError as misfit:
            problems[str(misfit)] += 1
    problems["no_json"] += not candidates and not _has_reason(problems)
    return None


def _take_list(values: list[_Found], name: str, schema: Mapping[str, Any], problems: Counter[str]) -> Any:
    """Return the list of all objects of all values; None when no list was given or nothing of it fits."""
    items: list[Any] = []
    wholes = 0
    keys = _item_keys(schema["properties"][name])
    for each in values:
        value = each.value
        if isinstance(value, dict) and name in value:
            given, problem = value[name], ""
            if isinstance(value, DuplicateKeys):
                problems["duplicate_key"] += 1
                continue
            problems["unknown_key"] += len(value) - 1
        elif isinstance(value, dict) and value.keys() & keys:
            given, problem = [value], "" if each.is_inside else "coerced_list"
        elif isinstance(value, list) and _is_bare_list(each, keys, problems):
            given, problem = value, "" if each.is_inside else "coerced_list"
        else:
            continue
        if given is None or isinstance(given, dict):
            problem = "coerced_null" if given is None else "coerced_single"
            given = [] if given is None else [given]
        if not isinstance(given, list):
            problems["wrong_type"] += 1
            continue
        items += given
        problems[problem] += bool(problem)
        problems["salvaged"] += len(given) if each.is_inside else 0
        wholes += not each.is_inside
    problems["several_values"] += wholes > 1
    if not items and not wholes:
        problems["no_json"] += not _has_reason(problems)
        return None
    try:
        fitted = fit({name: items}, schema, problems)
    except SchemaMisfitError as misfit:
        problems[str(misfit)] += 1
        return None
    return fitted if fitted[name] or not items else None


def _is_bare_list(found: _Found, keys: set[str], problems: Counter[str]) -> bool:
    """Return whether an array is the list itself; an empty one in prose or in a broken value may be any."""
    if not all(isinstance(item, dict) for item in found.value):
        return False
    if found.is_inside:
        return any(item.keys() & keys for item in found.value)
    return bool(found.value or not problems["prose"])


def _has_reason(problems: Counter[str]) -> bool:
    return any(problems[name] for name in ("schema_echo", "reasoning", "too_deep"))


def _item_keys(schema: Mapping[str, Any]) -> set[str]:
    """Return the keys of the objects of a list."""
    while "anyOf" in schema:
        schema = next(option for option in schema["anyOf"] if option.get("type") != "null")
    items = schema["items"]
    return set(items.get("properties", ()))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else DuplicateKeys(value)


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= _INTEGER_DIGITS_MAX else NOT_A_NUMBER


def _float(digits: str) -> Any:
    value = float(digits)
    return value if isfinite(value) else NOT_A_NUMBER


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=lambda _: NOT_A_NUMBER,
    strict=False,  # a line break inside a string is what models write
)
