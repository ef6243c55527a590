"""What a query asks by: its words without the names, its key phrases, people, places and time.

Known names are asked for, never walked through: a look-up takes a wording and gives the display form of
the known name that it means, or None. `ripple.language.names.KnownNames.resolve` is one, and knows parts
and short forms of names; a look-up of full names alone works too, short forms are then tried through the
packaged lists of first names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from ripple.language.common_words import QUERY_STOP_WORDS, STARTERS
from ripple.language.mentions import find_names
from ripple.language.names import NameLookup, lookup_alias, name_key
from ripple.language.sentences import clean_text
from ripple.language.times import asks_when, query_time
from ripple.language.word_lists import first_names, places, short_forms
from ripple.types import Cues

__all__ = ["query_cues"]

_MAX_CHARS = 4_096
"""A longer query is cut here, so that any query takes bounded time."""
_MAX_KEYWORDS = 6
_MAX_PHRASE = 3
_MAX_NAME = 4
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_WORD = re.compile(r"[^\W_](?:[\w'’.&-]*[^\W_])?")
_POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?!\w)")
_BETWEEN_NAMES = re.compile(r"(?:\s*(?:,|&|\band\b|\bor\b|和|与|跟|、|，)\s*)+")
_SPACE_BEFORE = re.compile(r"\s+(?=[,.;:?!，。？！])")
_LEADING = re.compile(r"^(?:(?:and|or)\b|[\s,.;:!，、。-])+", re.IGNORECASE)
_CHINESE_BREAK = re.compile(
    r"什么时候|什么样|什么|为什么|怎么样|怎么|哪一个|哪个|哪里|哪儿|哪些|哪|谁的|谁|多少|几|是不是|有没有|能不能|请问|告诉|名字|叫做|另外|来着|[这那哪]?[家座条所间]|"
    r"[的了吗呢吧啊呀是在有和与跟及我你您他她它这那个些都也还就把被让给对从到又来着过去会要想请说叫]"
)


def query_cues(
    query: str,
    known_participants: NameLookup,
    known_locations: NameLookup,
    now: datetime | None = None,
    *,
    known_speakers: NameLookup | None = None,
    newest: datetime | None = None,
) -> Cues:
    """Return the cues of a query.

    Parameters
    ----------
    query : str
        Any text; only the first 4,096 characters count.
    known_participants, known_locations : callable
        Give the known name that a wording means, else None.
    now : datetime or None
        When the query is asked; without it, "last week" is not resolved.
    known_speakers : callable or None
        The participants that speak. Only their names are cut from the query, for those of others stand in
        the memories' own words; without it the names of all participants are cut.
    newest : datetime or None
        When the newest memory was said: the year of dates without one ("in June") where ``now`` is None.

    Returns
    -------
    Cues
        ``name_free`` is the query without the names of known speakers and their possessives, or the query
        itself where nothing else is left; ``participants`` and ``locations`` are display forms in the
        order of the query.

    Examples
    --------
    >>> from ripple.language.names import KnownNames
    >>> people, places = KnownNames(["Melanie", "Caroline"]), KnownNames(["Rome"])
    >>> query = "When did Mel and Caroline's brother go to Rome?"
    >>> cues = query_cues(query, people.resolve, places.resolve)
    >>> cues.name_free
    'When did brother go to Rome?'
    >>> cues.participants, cues.locations, cues.asks_when
    (('Melanie', 'Caroline'), ('Rome',), True)
    """
    text = clean_text(query[:_MAX_CHARS])
    people = _participants(text, known_participants)
    cut = [(start, end) for start, end, name in people if known_speakers is None or known_speakers(name) is not None]
    name_free = _without(text, cut)
    return Cues(
        text=text,
        name_free=name_free,
        keywords=_keywords(name_free),
        participants=tuple(dict.fromkeys(name for _, _, name in people)),
        locations=_locations(text, known_locations, [(start, end) for start, end, _ in people]),
        time=query_time(text, now, newest=newest),
        asks_when=asks_when(text),
    )


def _participants(text: str, known: NameLookup) -> list[tuple[int, int, str]]:
    """Return known participants with their places in the text, the lower-case ones too."""
    found = []
    for mention in find_names(text, known):
        name = lookup_alias(mention.text, known)
        if name is not None and (mention.kind == "person" or name_key(name) == name_key(mention.text)):
            found.append((mention.start_char, mention.end_char, name))
    for match in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", match.group())
        if not word[:1].islower() or any(start < match.end() and match.start() < end for start, end, _ in found):
            continue
        name = _lower_case_name(word, known)
        if name is not None:
            found.append((match.start(), match.start() + len(word), name))
    return sorted(found)


def _lower_case_name(word: str, known: NameLookup) -> str | None:
    """Return the participant that a word in lower case means."""
    if word in STARTERS or word in QUERY_STOP_WORDS or first_names().get(word):
        return None
    name = known(word)
    if name is not None and word in name_key(name).split(" "):
        return name
    return lookup_alias(word, known) if word in short_forms() or word in first_names() else None


def _without(text: str, cut: list[tuple[int, int]]) -> str:
    """Return a text without some stretches, their possessives, and what only joined them."""
    if not cut:
        return text
    pieces: list[str] = []
    at = 0
    for start, end in cut:
        between = text[at:start]
        is_joint = at > 0 and _BETWEEN_NAMES.fullmatch(between) is not None
        pieces.append(" " if is_joint else between)
        possessive = _POSSESSIVE.match(text, end)
        at = end if possessive is None else possessive.end()
    pieces.append(text[at:])
    joined = "".join(pieces)
    left = _LEADING.sub("", _SPACE_BEFORE.sub("", re.sub(r"\s+", " ", joined))).strip()
    return left if _WORD.search(left) is not None else text


def _locations(text: str, known: NameLookup, taken: list[tuple[int, int]]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    end = 0
    for start, stop in _candidates(text):
        if start < end or any(start < last and first < stop for first, last in taken):
            continue
        name = known(text[start:stop])
        if name is not None:
            found.setdefault(name_key(name), name)
            end = stop
    return tuple(found.values())


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of wordings that may be a known location, at each word the longest first.

    A single word in lower case counts only when it is a listed place: "target" is not Target.
    """
    matches = list(_WORD.finditer(text))
    listed = places()
    for number, first in enumerate(matches):
        if _HAN.match(first.group()) is not None:
            continue
        for length in range(min(_MAX_NAME, len(matches) - number), 0, -1):
            last = matches[number + length - 1]
            end = last.end() if not last.group().endswith(("'s", "’s")) else last.end() - 2
            wording = text[first.start() : end]
            folded = wording.casefold()
            if folded in QUERY_STOP_WORDS or (
                length == 1 and wording[:1].islower() and listed.get(folded) is not False
            ):
                continue
            yield first.start(), end
    for run in _HAN.finditer(text):
        for start in range(run.start(), run.end() - 1):
            for end in range(min(start + 8, run.end()), start + 1, -1):
                yield start, end


def _keywords(text: str) -> tuple[str, ...]:
    """Return up to six phrases; the single words too where there is one phrase only."""
    phrases: list[list[str]] = []
    end = -1
    for match in _WORD.finditer(_HAN.sub(" ", text)):
        word = match.group()
        if name_key(word) in QUERY_STOP_WORDS:
            continue
        if phrases and match.start() == end + 1 and text[end] == " " and len(phrases[-1]) < _MAX_PHRASE:
            phrases[-1].append(word)
        else:
            phrases.append([word])
        end = match.end()
    found = [" ".join(phrase) for phrase in phrases]
    if len(phrases) == 1 and len(phrases[0]) > 1:
        found += phrases[0]
    for run in _HAN.finditer(text):
        found += [part for part in _CHINESE_BREAK.split(run.group()) if len(part) > 1]
    return tuple(dict.fromkeys(found))[:_MAX_KEYWORDS]
