"""Names in text written with capital letters: persons and places by rules.

A run is a stretch of capitalised words ("Harbor Grill", "Ludwig van Beethoven", "University of " "Oslo").
Each run is read from the left: known participants, listed places, listed first names with the family
names behind them, then the rest by what stands before it ("my friend ...", "in ...", "at ...") and by its
last word ("... Park").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ripple.language.common_words import (
    NOT_PLACES,
    PLACE_NOUNS,
    RELATIONS,
    SITE_NOUNS,
    STARTERS,
    TITLES,
)
from ripple.language.names import NameLookup, NameMention, lookup_alias
from ripple.language.word_lists import first_names, places, words

__all__ = ["find_capitalised"]

_CAPITAL = "A-ZÀ-ÖØ-ÞĀ-ŐŒ-ŽȀ-ȲΆ-ΏΑ-ΫЀ-ЯḀ-Ỹ"
_WORD = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof|St|Mt|Rev|Capt|Sgt)\.(?= )|[{_CAPITAL}](?:[\w'’-]*\w)?)"
_PARTICLES = r"(?:of(?: the)?|de(?: la| los)?|del|della|di|da|dos|du|van(?: der?| den)?|von(?: der)?|bin|ibn|al|el|&)"
_RUN = re.compile(rf"(?<![\w@#/]){_WORD}(?:(?: {_PARTICLES})? {_WORD})*")
_TOKEN = re.compile(r"\S+")
_POSSESSIVE = re.compile(r"(?:'s|’s|(?<=s)['’])$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\n\"“”()*>–—-]|[^\w\s,'’&])[\s\"“'‘(*]*$")
_BEFORE = re.compile(
    r"(?:([\w'’]+)[ ,]+)?(?:([\w'’]+)[ ,]+)?([\w'’]+)(,?) +(?:(?:the|a|an|our|my|this|that) +)?$",
    re.IGNORECASE,
)

_PLACE_WORDS = frozenset(["in", "at", "near", "around", "outside", "inside", "across", "throughout", "via"])
_VISITS = words("visit visited visiting visits explore explored exploring leave left leaving tour toured")
_MOTION = words(
    "go goes going gone went drive drove driving fly flies flew flying travel traveled travelled traveling "
    "travelling trip trips move moved moving relocate relocated head headed heading come came coming back walk "
    "walked bike biked ride rode get got getting return returned returning run ran visit hike hiked journey moves "
    "here over up down out way tickets flight flights train invited welcome transferred hitchhiked sailed cruise"
)
_TO_PLACE = frozenset(["to", "into", "toward", "towards", "from", "through"])
_MONTH_NAMES = frozenset(["april", "may", "june", "august", "january", "summer", "autumn", "dawn", "christian"])
_TIME_WORDS = words("in since until by of last next this from during early late mid every before after through and or")
_OPENING, _CLOSING = {'"', "“", "«"}, {'"', "”", "»"}
_NATURE = frozenset(["lake", "mount", "mt.", "cape", "fort", "port", "isle"])
_MAX_PLACE_WORDS = 4


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    text: str
    is_possessive: bool
    is_particle: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """A stretch of capitalised words, with what stands before it in lower case, nearest first."""

    tokens: tuple[_Token, ...]
    is_start: bool
    before: tuple[str, ...]
    has_comma: bool
    after: str


def find_capitalised(text: str, known: NameLookup) -> list[NameMention]:
    """Return persons and places of a text in Latin, Greek or Cyrillic letters, in order."""
    mentions: list[NameMention] = []
    listed = first_names()
    for match in _RUN.finditer(text):
        folded = match.group().casefold()
        if (folded in STARTERS and folded not in listed) or _is_title(text, match):
            continue  # two runs of three are "I", "It's", "Thanks": not worth a closer look
        mentions += _read(_run(text, match), text, known)
    return mentions


def _is_title(text: str, match: re.Match[str]) -> bool:
    """Whether a run stands alone between quotation marks, as the title of a book or song does."""
    return (
        text[match.start() - 1 : match.start()] in _OPENING
        and text[match.end() : match.end() + 2].strip(",.!?")[:1] in _CLOSING
    )


def _run(text: str, match: re.Match[str]) -> _Run:
    tokens = []
    for part in _TOKEN.finditer(text, match.start(), match.end()):
        word = part.group()
        possessive = _POSSESSIVE.search(word)
        bare = word if possessive is None else word[: possessive.start()]
        start = part.start()
        tokens.append(_Token(start, start + len(bare), bare, possessive is not None, word[0].islower() or word == "&"))
    if len(tokens) > 1 and tokens[0].text == "The":
        del tokens[0]
    head = text[max(0, match.start() - 48) : match.start()]
    is_start = _SENTENCE_START.search(head) is not None
    found = None if is_start else _BEFORE.search(head)
    before: tuple[str, ...] = ()
    if found is not None:
        before = tuple(word.lower() for word in (found[3], found[2], found[1]) if word)
    has_comma = found is not None and found[4] == ","
    return _Run(tuple(tokens), is_start, before, has_comma, text[match.end() : match.end() + 16])


def _read(run: _Run, text: str, known: NameLookup) -> Iterator[NameMention]:
    tokens = run.tokens
    at = 0
    while at < len(tokens):
        if tokens[at].is_particle:
            at += 1
            continue
        length, kind = _name_at(run, at, text, known)
        if length:
            first, last = tokens[at], tokens[at + length - 1]
            yield NameMention(first.start, last.end, text[first.start : last.end], kind)
        at += max(length, 1)


def _name_at(run: _Run, at: int, text: str, known: NameLookup) -> tuple[int, str]:
    """Return how many words from ``at`` on are one name, and its kind; 0 for none."""
    tokens = run.tokens
    word = tokens[at].text
    folded = word.casefold()
    is_first = at == 0 and run.is_start
    if folded in TITLES and at + 1 < len(tokens) and not tokens[at].is_possessive:
        return _title_length(tokens, at, known), "person"
    length = _known_length(run, at, is_first, text, known)
    site = _site_length(tokens, at, is_first)
    if length and length >= site:
        return length, "person"
    if site:
        return site, "place"
    if at == 0 and _is_named_place(run):
        return len(tokens), "place"
    listed = _listed_length(tokens, at)
    if listed > 1:
        return listed, "place"
    if folded in STARTERS and (is_first or folded not in first_names()):
        return 0, ""
    if listed and _is_place(run, at):
        return listed, "place"
    if _is_first_name(run, at, is_first):
        return _family_length(tokens, at, known), "person"
    if is_first or word == "I" or (len(word) > 1 and word.isupper() and "at" not in run.before[:1]):
        return 0, ""
    return _by_context(run, at, known)


def _title_length(tokens: tuple[_Token, ...], at: int, known: NameLookup) -> int:
    return 1 + (_family_length(tokens, at + 1, known) if not tokens[at + 1].is_particle else 1)


def _known_length(run: _Run, at: int, is_first: bool, text: str, known: NameLookup) -> int:
    """Return the length of the longest wording from ``at`` on that means a known participant."""
    tokens = run.tokens
    for length in range(min(_MAX_PLACE_WORDS, len(tokens) - at), 0, -1):
        if any(token.is_possessive for token in tokens[at : at + length - 1]):
            continue
        phrase = text[tokens[at].start : tokens[at + length - 1].end]
        if length == 1 and phrase.casefold() in STARTERS and (is_first or phrase.casefold() not in first_names()):
            exact = known(phrase)
            is_name = exact is not None and exact.casefold() == phrase.casefold() and _is_used_as_name(run, at)
            return 1 if is_name else 0
        if lookup_alias(phrase, known) is not None:
            return length
    return 0


def _is_used_as_name(run: _Run, at: int) -> bool:
    """Whether a capitalised common word ("Will", "Hope") stands where a name stands."""
    token = run.tokens[at]
    if token.is_possessive or at > 0 or not run.is_start:
        return True
    after = run.after.lstrip()
    return at + 1 == len(run.tokens) and after.startswith((",", "!", ".", "and ", "is ", "was ", "has "))


def _site_length(tokens: tuple[_Token, ...], at: int, is_first: bool) -> int:
    """Return the length of a name of two words or more that tells its kind: "Harbor Grill", "Lake Como"."""
    folded = tokens[at].text.casefold()
    if folded in STARTERS or (is_first and folded.endswith("ing")):
        return 0
    end = at + 1
    while end < len(tokens) and tokens[end].text.casefold() not in STARTERS:
        end += 1
    for last in range(end - 1, at, -1):
        if tokens[last].text.casefold() in SITE_NOUNS:
            return last - at + 1
    return 2 if folded in _NATURE and end > at + 1 and not tokens[at + 1].is_particle else 0


def _listed_length(tokens: tuple[_Token, ...], at: int) -> int:
    """Return the length of the longest listed place from ``at`` on."""
    listed = places()
    for length in range(min(_MAX_PLACE_WORDS, len(tokens) - at), 0, -1):
        if " ".join(token.text for token in tokens[at : at + length]).casefold() in listed:
            return length
    return 0


def _is_place(run: _Run, at: int) -> bool:
    """Whether a listed place is one here: not a person of that name, nor the common word."""
    phrase = run.tokens[at].text.casefold()
    if not places()[phrase]:
        return phrase not in first_names() or not _is_person_like(run, at)
    return at == 0 and _leads_to_place(run)


def _is_named_place(run: _Run) -> bool:
    """Whether a run that something is put at ends with a kind of place: "at Mercy Hospital"."""
    tokens = run.tokens
    is_whole = not any(token.is_possessive for token in tokens)
    return len(tokens) > 1 and is_whole and tokens[-1].text.casefold() in PLACE_NOUNS and _leads_to_place(run)


def _is_person_like(run: _Run, at: int) -> bool:
    """Whether a word that is a place and a first name is followed by a family name or owns something."""
    tokens = run.tokens
    behind = tokens[at + 1 : at + 2]
    is_named = bool(behind) and not behind[0].is_particle and behind[0].text.casefold() not in places()
    return (is_named or tokens[at].is_possessive) and not _leads_to_place(run)


def _leads_to_place(run: _Run) -> bool:
    """Whether what stands before a run leads to a place: "in", "at", "visited", "drove to", "back from"."""
    if not run.before or run.has_comma:
        return False
    nearest = run.before[0]
    if nearest in _PLACE_WORDS or nearest in _VISITS:
        return True
    further = run.before[1:]
    return nearest in _TO_PLACE and ("from" in further or any(word in _MOTION for word in further))


def _is_first_name(run: _Run, at: int, is_first: bool) -> bool:
    token = run.tokens[at]
    folded = token.text.casefold()
    is_ambiguous = first_names().get(folded)
    if is_ambiguous is None or (token.text.isupper() and len(token.text) > 1):
        return False
    if at == 0 and run.before[:1] in (("a",), ("an",)):
        return False
    if not is_ambiguous:
        return True
    if at > 0 and run.tokens[at - 1].text.casefold() in NOT_PLACES:
        return False  # "Christmas Eve"
    if folded in _MONTH_NAMES and (is_first or (at == 0 and run.before[:1] and run.before[0] in _TIME_WORDS)):
        return False
    if at + 1 < len(run.tokens) and not run.tokens[at + 1].is_particle:
        return run.tokens[at + 1].text.casefold() not in STARTERS
    if at == 0 and _leads_to_place(run):
        return False
    if re.match(r" ?\d", run.after) is not None and at + 1 == len(run.tokens):
        return False
    return not is_first or (not token.is_possessive and _is_used_as_name(run, at))


def _family_length(tokens: tuple[_Token, ...], at: int, known: NameLookup) -> int:
    """Return the length of a person's name: up to a possessive, a known person or no name."""
    end = at + 1
    while end < len(tokens) and end - at < _MAX_PLACE_WORDS and not tokens[end - 1].is_possessive:
        token = tokens[end]
        if token.is_particle:
            if token.text in ("of", "&") or end + 1 >= len(tokens):
                break
        elif token.text.casefold() in STARTERS or token.text == "I" or token.text.casefold() in NOT_PLACES:
            break
        elif known(token.text) is not None:
            break  # "Is Oscar Melanie's pet?"
        end += 1
    while tokens[end - 1].is_particle:
        end -= 1
    return end - at


def _by_context(run: _Run, at: int, known: NameLookup) -> tuple[int, str]:
    """Return an unlisted name by the words before it."""
    if at > 0 or not run.before:
        return 0, ""
    tokens = run.tokens
    length = len(tokens)
    for number, token in enumerate(tokens):
        if token.is_possessive:
            length = number + 1
            break
    folded = tokens[0].text.casefold()
    if folded in NOT_PLACES:
        return 0, ""
    nearest, *further = run.before
    if nearest in RELATIONS or (nearest in ("named", "called") and further and further[0] in RELATIONS):
        return _family_length(tokens, 0, known), "person"
    if run.has_comma or tokens[0].is_possessive:
        return 0, ""
    last = tokens[length - 1].text.casefold()
    if _leads_to_place(run):
        is_title = length > 1 and last not in PLACE_NOUNS
        is_product = length == 1 and not tokens[0].text[1:].islower()
        return (0, "") if nearest == "in" and (is_title or is_product) else (length, "place")
    return 0, ""
