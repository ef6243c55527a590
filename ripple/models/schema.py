"""The part of JSON schema that replies are held to, and the small coercions that models need."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ripple.config import REPLY_DEPTH_MAX
from ripple.errors import InvalidInputError

__all__ = [
    "NOT_A_NUMBER",
    "DuplicateKeys",
    "SchemaMisfitError",
    "check_schema",
    "fit",
    "is_nullable",
    "list_property",
    "without_surrogates",
]

NOT_A_NUMBER = object()
"""Stands in decoded JSON for NaN, infinities and integers beyond 64 bits: it fits no schema."""

_KEYWORDS = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "minItems", "maxItems"},
    "string": {"minLength", "maxLength", "pattern", "enum", "const"},
    "integer": {"minimum", "maximum", "enum", "const"},
    "number": {"minimum", "maximum", "enum", "const"},
    "boolean": {"enum", "const"},
}
_LONE: dict[str, tuple[type, ...]] = {"string": (str,), "object": (dict,), "integer": (int,), "number": (int, float)}
_ANYWHERE = {"type", "title", "description", "anyOf"}


class DuplicateKeys(dict[str, Any]):
    """A decoded object that named a key twice: which value was meant cannot be known."""


class SchemaMisfitError(Exception):
    """A value does not fit; the text is the problem's name. Never leaves the package's parsing."""


def check_schema(schema: Mapping[str, Any], depth: int = 0) -> None:
    """Raise InvalidInputError unless the schema keeps to the subset that is checked here.

    The subset: objects with ``properties``; arrays with one kind of ``items``; strings, numbers and booleans;
    null only beside one other type. A keyword that would not be checked is refused, not passed over.
    """
    if depth > REPLY_DEPTH_MAX:
        raise InvalidInputError(f"the schema is deeper than {REPLY_DEPTH_MAX} levels")
    inner = _without_null(schema)
    kind = inner.get("type")
    if not isinstance(kind, str) or kind not in _KEYWORDS or (depth == 0 and kind != "object"):
        wanted = "object at the top" if depth == 0 else "one of " + ", ".join(sorted(_KEYWORDS))
        raise InvalidInputError(f"the schema has the type {kind!r} at depth {depth}; wanted {wanted}")
    unknown = (set(inner) | set(schema)) - _KEYWORDS[kind] - _ANYWHERE
    if unknown:
        raise InvalidInputError(f"the schema uses {sorted(unknown)} at an {kind}, which replies are not checked for")
    if kind == "object":
        for child in inner.get("properties", {}).values():
            check_schema(child, depth + 1)
    elif kind == "array":
        check_schema(inner.get("items", {}), depth + 1)


def list_property(schema: Mapping[str, Any]) -> str | None:
    """Return the one property of a schema that only holds a list of objects, None for any other schema."""
    properties = schema.get("properties", {})
    if len(properties) != 1:
        return None
    name, child = next(iter(properties.items()))
    inner = _without_null(child)
    items = inner.get("items", {})
    return name if inner.get("type") == "array" and _without_null(items).get("type") == "object" else None


def is_nullable(schema: Mapping[str, Any]) -> bool:
    """Return whether null fits the schema."""
    kind = schema.get("type")
    if isinstance(kind, (list, tuple)):
        return "null" in kind
    return any(option.get("type") == "null" for option in schema.get("anyOf", ()))


def fit(value: Any, schema: Mapping[str, Any], problems: Counter[str], *, depth: int = 0, in_item: bool = False) -> Any:
    """Return the value as the schema has it, in new objects that hold nothing unknown.

    Parameters
    ----------
    value : object
        Decoded JSON.
    schema : mapping
        Of the subset that ``check_schema`` accepts.
    problems : Counter
        Counts what was coerced, clipped and rejected, by name.

    Raises
    ------
    SchemaMisfitError
        The value cannot be had; objects in a list are dropped alone instead, and counted.

    Notes
    -----
    Coerced: null or a missing list to ``[]``, a lone value to a list of it, a missing nullable value to null,
    3.0 to 3. At the top, keys that are not in the schema are left out and long strings are cut; in an object
    of a list both reject the object. Lists are cut to ``maxItems`` everywhere.
    """
    if value is None and is_nullable(schema):
        return None
    schema = _without_null(schema)
    kind = schema["type"]
    if kind == "object":
        return _fit_object(value, schema, problems, depth, in_item)
    if kind == "array":
        return _fit_array(value, schema, problems, depth, in_item)
    if kind == "string":
        value = _fit_string(value, schema, problems, in_item)
    else:
        value = _fit_scalar(value, kind, schema)
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(type(each) is type(value) and each == value for each in allowed):
        raise SchemaMisfitError("not_allowed")
    return value


def without_surrogates(text: str) -> str:
    """Return the text itself if UTF-8 can hold it, else with halves of a pair joined and lone ones replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a nullable schema says beside null; another schema as it is."""
    kind = schema.get("type")
    if isinstance(kind, (list, tuple)):
        others = [each for each in kind if each != "null"]
        return {**schema, "type": others[0] if len(others) == 1 else kind}
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    return options[0] if len(options) == 1 else schema


def _fit_object(
    value: Any, schema: Mapping[str, Any], problems: Counter[str], depth: int, in_item: bool
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SchemaMisfitError("wrong_type")
    if isinstance(value, DuplicateKeys):
        raise SchemaMisfitError("duplicate_key")
    properties = schema.get("properties", {})
    unknown = len(value.keys() - properties.keys())
    if unknown and depth:
        raise SchemaMisfitError("unknown_key")
    problems["unknown_key"] += unknown
    fitted = {}
    for name, child in properties.items():
        if name in value:
            fitted[name] = fit(value[name], child, problems, depth=depth + 1, in_item=in_item)
        elif is_nullable(child):
            fitted[name] = None
            problems["coerced_missing"] += 1
        elif child.get("type") == "array" and depth:
            fitted[name] = []
            problems["coerced_missing"] += 1
        else:
            raise SchemaMisfitError("missing_key")
    return fitted


def _fit_array(value: Any, schema: Mapping[str, Any], problems: Counter[str], depth: int, in_item: bool) -> list[Any]:
    items = schema["items"]
    kind = _without_null(items)["type"]
    if value is None:
        problems["coerced_null"] += 1
        value = []
    elif not isinstance(value, list):
        if not isinstance(value, _LONE.get(kind, ())):
            raise SchemaMisfitError("wrong_type")
        problems["coerced_single"] += 1
        value = [] if value == "" else [value]
    most = schema.get("maxItems", len(value))
    fitted: list[Any] = []
    for index, item in enumerate(value):
        if len(fitted) == most:
            problems["clipped_items"] += len(value) - index
            break
        if kind != "object":
            fitted.append(fit(item, items, problems, depth=depth + 1, in_item=in_item))
            continue
        try:
            fitted.append(fit(item, items, problems, depth=depth + 1, in_item=True))
        except SchemaMisfitError as misfit:
            problems["rejected_items"] += 1
            problems[str(misfit)] += 1
    if len(fitted) < schema.get("minItems", 0):
        raise SchemaMisfitError("too_few")
    return fitted


def _fit_string(value: Any, schema: Mapping[str, Any], problems: Counter[str], in_item: bool) -> str:
    if not isinstance(value, str):
        raise SchemaMisfitError("wrong_type")
    clean = without_surrogates(value)
    problems["replaced_surrogates"] += clean is not value
    value = clean
    most = schema.get("maxLength")
    if most is not None and len(value) > most:
        if in_item:
            raise SchemaMisfitError("too_long")
        value = value[:most]
        problems["clipped_text"] += 1
    if len(value) < schema.get("minLength", 0):
        raise SchemaMisfitError("too_short")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise SchemaMisfitError("not_allowed")
    return str(value)


def _fit_scalar(value: Any, kind: str, schema: Mapping[str, Any]) -> Any:
    if kind == "boolean":
        if not isinstance(value, bool):
            raise SchemaMisfitError("wrong_type")
        return value
    if value is NOT_A_NUMBER or (isinstance(value, float) and abs(value) >= 2**63):
        raise SchemaMisfitError("not_a_number")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SchemaMisfitError("wrong_type")
    if kind == "integer":
        if value != int(value):
            raise SchemaMisfitError("wrong_type")
        value = int(value)
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        raise SchemaMisfitError("out_of_range")
    return value
