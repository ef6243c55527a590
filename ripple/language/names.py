"""Names of persons and places in text, and what a name stands for among those that are known.

Rules only: known participants, packaged lists of first names and places, capital letters with care at the
start of a sentence, words before and behind. What no rule grounds is no name.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from ripple.language.word_lists import first_names, short_forms

__all__ = ["KnownNames", "NameLookup", "NameMention", "lookup_alias", "name_key", "resolve_alias"]

_SPACES = re.compile(r"\s+")
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MIN_SHORT = 3
"""A beginning of a name counts as its short form from this many characters on."""


@dataclass(frozen=True, slots=True)
class NameMention:
    """A name in a text: its place, half-open; the wording without a possessive; ``person`` or ``place``."""

    start_char: int
    end_char: int
    text: str
    kind: str


class NameLookup(Protocol):
    """Tells which known name a wording means, in its display form; None for none or for several."""

    def __call__(self, name: str, /) -> str | None:
        """Return the known name."""
        ...


def name_key(text: str) -> str:
    """Return what equal names share: NFKC, case folded, white space collapsed, invisible characters removed.

    For comparison inside Python only; the core keys names by tables of its own, which may belong to
    another Unicode version.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _IGNORED.sub("", unicodedata.normalize("NFKC", text)).casefold())
        return _SPACES.sub(" ", text).strip()
    return _SPACES.sub(" ", text.casefold()).strip()


class KnownNames(Collection[str]):
    """The known names of a namespace, found by their full form, a part of it, a short form or a beginning.

    Grows and shrinks in O(n) moves of pointers (10 us at 100,000 names); a look-up takes a few
    bisections. Writers and readers need a lock of the owner's.

    Examples
    --------
    >>> known = KnownNames(["Ada Moreau", "Melanie", "Robert"])
    >>> known.resolve("ada"), known.resolve("Mel"), known.resolve("Bob"), known.resolve("Eve")
    ('Ada Moreau', 'Melanie', 'Robert', None)
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._displays: dict[str, str] = {}
        self._keys: list[str] = []
        self._by_word: dict[str, set[str]] = {}
        self._version = 0
        for name in names:
            key = name_key(name)
            if key and key not in self._displays:
                self._register(key, name)
        self._keys = sorted(self._displays)

    @classmethod
    def of(cls, names: Collection[str]) -> KnownNames:
        """Return the names themselves where they are known names already, else a new object."""
        return names if isinstance(names, cls) else cls(names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name_key(name) in self._displays

    def __iter__(self) -> Iterator[str]:
        return iter(self._displays.values())

    def __len__(self) -> int:
        return len(self._displays)

    def _register(self, key: str, name: str) -> None:
        self._displays[key] = _SPACES.sub(" ", name).strip()
        for word in key.split(" "):
            self._by_word.setdefault(word, set()).add(key)

    def add(self, name: str) -> None:
        """Learn a name; its first spelling stays its display form."""
        key = name_key(name)
        if key and key not in self._displays:
            self._register(key, name)
            insort(self._keys, key)

    def discard(self, name: str) -> None:
        """Forget a name."""
        key = name_key(name)
        if self._displays.pop(key, None) is None:
            return
        del self._keys[bisect_left(self._keys, key)]
        for word in key.split(" "):
            keys = self._by_word.get(word, set())
            keys.discard(key)
            if not keys:
                self._by_word.pop(word, None)

    def exact(self, name: str) -> str | None:
        """Return the display form of a name that is known in full."""
        return self._displays.get(name_key(name))

    def resolve(self, name: str) -> str | None:
        """Return the one known name that a wording means, else None.

        In this order: the full name; the one name that has it as a word or as its first words; the one
        name whose first word it is a listed short form of; the one name that it is the beginning of, from
        three characters on, unless it is a first name of its own ("Maria" is not "Mariana").
        """
        key = name_key(name)
        if not key:
            return None
        if key in self._displays:
            return self._displays[key]
        holding = self._by_word.get(key, ())
        if holding:
            return self._one(holding)
        if " " in key:
            return self._one(self._beginning(key + " "))
        short = {k for full in short_forms().get(key, ()) for k in self._by_word.get(full, ()) if k.startswith(full)}
        if short:
            return self._one(short)
        if len(key) < _MIN_SHORT or (len(key) > _MIN_SHORT and key in first_names() and key not in short_forms()):
            return None
        return self._one(self._beginning(key))

    def _one(self, keys: Collection[str]) -> str | None:
        return self._displays[next(iter(keys))] if len(keys) == 1 else None

    def _beginning(self, start: str) -> list[str]:
        """Return the first two keys with a beginning: enough to tell one from several."""
        at = bisect_left(self._keys, start)
        return [key for key in self._keys[at : at + 2] if key.startswith(start)]


def resolve_alias(name: str, known: Collection[str]) -> str | None:
    """Return the one known name that a wording means: see `KnownNames.resolve`."""
    return KnownNames.of(known).resolve(name)


def lookup_alias(name: str, known: NameLookup) -> str | None:
    """Return the one known name that a wording means, by a look-up that may know full names only.

    What the look-up does not find is tried as a short form: under the listed full first names, then under
    all listed first names that begin with it.
    """
    found = known(name)
    if found is not None:
        return found
    key = name_key(name)
    if " " in key or len(key) < 2:
        return None
    full = short_forms().get(key, ())
    hits = {hit for candidate in full if (hit := known(candidate)) is not None}
    if hits or len(key) < _MIN_SHORT or (len(key) > _MIN_SHORT and key in first_names() and not full):
        return hits.pop() if len(hits) == 1 else None
    ordered = _ordered_first_names()
    for at in range(bisect_left(ordered, key), len(ordered)):
        if not ordered[at].startswith(key):
            break
        hit = known(ordered[at])
        if hit is not None:
            hits.add(hit)
    return hits.pop() if len(hits) == 1 else None


@cache
def _ordered_first_names() -> list[str]:
    return sorted(first_names())
