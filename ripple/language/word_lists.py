"""Lists of words, and the packaged lists of names, read when first used; all their keys are case-folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

__all__ = [
    "chinese_family_names",
    "chinese_given_characters",
    "chinese_places",
    "first_names",
    "places",
    "short_forms",
    "words",
]


def words(text: str) -> frozenset[str]:
    """Return the words of a list written as one string."""
    return frozenset(text.split())


def _rows(name: str) -> Iterator[str]:
    text = files("ripple").joinpath("data", name).read_text("utf-8")
    return (row for row in text.splitlines() if row and not row.startswith("#"))


@cache
def first_names() -> Mapping[str, bool]:
    """Return first names; True for those that are also a common word, place or family name."""
    listed = (word for row in _rows("first_names.txt") for word in row.split())
    return {word.rstrip("?").casefold(): word.endswith("?") for word in listed}


@cache
def short_forms() -> Mapping[str, tuple[str, ...]]:
    """Return the full first names of short forms ("bob": "robert")."""
    forms: dict[str, tuple[str, ...]] = {}
    for row in _rows("nicknames.txt"):
        short, *full = row.casefold().split()
        forms[short] = (*forms.get(short, ()), *full)
    return forms


@cache
def places() -> Mapping[str, bool]:
    """Return places in English; True for those that are also a common word or first name."""
    listed = (name.strip() for row in _rows("places.txt") for name in row.split(";"))
    return {name.rstrip("?").casefold(): name.endswith("?") for name in listed if name}


@cache
def chinese_places() -> frozenset[str]:
    """Return places in Chinese."""
    return frozenset(name for row in _rows("chinese_places.txt") for name in row.split())


@cache
def chinese_family_names() -> frozenset[str]:
    """Return Chinese family names of one or two characters."""
    names: set[str] = set()
    for row in _rows("chinese_names.txt"):
        kind, _, listed = row.partition(": ")
        if kind == "family2":
            names.update(listed.split())
        elif kind == "family1":
            names.update(listed)
    return frozenset(names)


@cache
def chinese_given_characters() -> frozenset[str]:
    """Return characters that are common in Chinese given names."""
    return frozenset(char for row in _rows("chinese_names.txt") if row.startswith("given: ") for char in row[7:])
