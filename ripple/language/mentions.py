"""Every name in a text, whatever its script."""

from __future__ import annotations

import re
from collections.abc import Collection

from ripple.language.capitals import find_capitalised
from ripple.language.names import KnownNames, NameLookup, NameMention
from ripple.language.names_zh import find_chinese

__all__ = ["find_names"]

_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def find_names(text: str, known: NameLookup | Collection[str]) -> list[NameMention]:
    """Return the persons and places that a text names, in order and without overlaps.

    Parameters
    ----------
    text : str
        Any text. Names are found in Latin, Greek and Cyrillic letters by their capitals, and in Chinese.
    known : collection of str, or callable
        Known participants, or a look-up that gives the known name a wording means (`KnownNames.resolve`).

    Returns
    -------
    list of NameMention

    Notes
    -----
    An organisation counts as a place only where something is put there ("at Acme"). Pets count as persons.

    Examples
    --------
    >>> [(m.text, m.kind) for m in find_names("Melanie met Tom Baker in Rome.", ["Melanie"])]
    [('Melanie', 'person'), ('Tom Baker', 'person'), ('Rome', 'place')]
    """
    lookup = known if callable(known) else KnownNames.of(known).resolve
    found = find_capitalised(text, lookup)
    if not text.isascii() and _CHINESE.search(text) is not None:
        found = sorted([*found, *find_chinese(text, lookup)], key=lambda mention: mention.start_char)
    return found
