"""From the units of a model's reply to drafts that say no more than the window they were made from.

A reply is schema-checked before; here each unit is held against the turns. What does not hold is emptied or
dropped, and counted by reason:

=====================  =================================================================================
``unknown_turn``       a cited number that no turn of the window has
``uncited``            a unit that cites no turn and shares too few words with any
``unsupported``        a unit that shares not a word with the turns it cites, nor enough with others
``restatement``        under 3 characters, over 4 KiB, without a letter, or nothing but pronouns
``participant``        a person whom the window does not name, see `ripple.write.grounded_names`
``location``           a place that it does not name
``names_over_64``      people or places beyond 64 in one unit
``time_form``          a time that is no ISO 8601 date or date-time, or has no start
``time_reversed``      a start after the end
``time_ungrounded``    a time that no cited turn names, see `ripple.write.grounded_times`
``duplicate_unit``     the same sentence twice in a reply: one unit with the turns of both
``units_over_64``      units beyond 64 in one window
=====================  =================================================================================

A unit that cites nothing known is given the turns that hold most of its content words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ripple.language.common_words import QUERY_STOP_WORDS
from ripple.language.names import NameLookup, name_key
from ripple.language.sentences import clean_text
from ripple.language.times import unit_time
from ripple.types import Turn, UnitDraft
from ripple.write.grounded_names import PRONOUNS, WindowNames, leading_name, stands_in
from ripple.write.grounded_times import NamedTime, ground_time, named_times

__all__ = ["ground_units"]

_UNITS_MAX = 64
_NAMES_MAX = 64
_BYTES_MAX = 4_096
_CHARACTERS_MIN = 3
_CITED_MAX = 3
"""Turns that a unit without a citation of its own is given at most."""
_SHARED_MIN = 2
"""Content words that it must share with them, or half of its own."""
_STEM = 5
"""Words that begin with the same letters, as many as this, count as one ("adopted", "adopts")."""

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_SENTENCE_END = " .!。！"


@dataclass(frozen=True, slots=True)
class _Window:
    """The turns of a window by their numbers, with all that units are held against."""

    turns: Sequence[Turn]
    words: Sequence[frozenset[str]]
    speakers: Sequence[str]
    named: Sequence[list[NamedTime]]
    names: WindowNames


def ground_units(
    units: Sequence[Mapping[str, Any]],
    turns: Sequence[Turn],
    *,
    before: Sequence[Turn] = (),
    known_participants: NameLookup | Collection[str] = (),
    known_locations: NameLookup | Collection[str] = (),
) -> tuple[list[UnitDraft], Counter[str]]:
    """Return the drafts of a window's reply, in its order, and what was emptied or dropped by reason.

    Parameters
    ----------
    units : sequence of mappings
        The reply's units, of the schema of `ripple.prompts.extraction`.
    turns : sequence of Turn
        The window, as it was given to the prompt: number 1 is its first.
    before : sequence of Turn
        The earlier turns that were shown: their names ground, but they cannot be cited.
    known_participants, known_locations : collection of str, or callable
        Names known from before, or look-ups that give the known name a wording means
        (`ripple.language.names.KnownNames.resolve`).

    Returns
    -------
    list of UnitDraft, Counter of str

    Notes
    -----
    Deterministic; O(characters of the window + units).

    Examples
    --------
    >>> unit = {"restatement": "Ada met Tom in Oslo.", "participants": ["Tom", "Eve"], "locations": ["Oslo"],
    ...         "start": None, "end": None, "turns": [1, 7]}
    >>> (draft,), dropped = ground_units([unit], [Turn(31, "I met Tom in Oslo!", "Ada")])
    >>> draft.participants, draft.locations, draft.turn_ids, dict(dropped)
    (('Ada', 'Tom'), ('Oslo',), (31,), {'unknown_turn': 1, 'participant': 1})
    """
    dropped: Counter[str] = Counter()
    texts = [clean_text(turn.text) for turn in turns]
    window = _Window(
        turns=turns,
        words=[_content_words(text) for text in texts],
        speakers=[clean_text(turn.speaker or "") for turn in turns],
        named=[named_times(turn, turns[at - 1] if at else None) for at, turn in enumerate(turns)],
        names=WindowNames([*before, *turns], known_participants, known_locations),
    )
    drafts = [draft for unit in _united(units, dropped) if (draft := _ground(unit, window, dropped)) is not None]
    dropped["units_over_64"] += max(0, len(drafts) - _UNITS_MAX)
    return drafts[:_UNITS_MAX], +dropped


def _united(units: Iterable[Mapping[str, Any]], dropped: Counter[str]) -> list[dict[str, Any]]:
    """Return the units with a sound restatement, those of one sentence as one unit."""
    united: dict[str, dict[str, Any]] = {}
    for unit in units:
        text = clean_text(unit["restatement"])
        if not _is_sound(text):
            dropped["restatement"] += 1
            continue
        key = name_key(text).rstrip(_SENTENCE_END)
        if key not in united:
            united[key] = {**unit, "restatement": text}
            continue
        earlier = united[key]
        dropped["duplicate_unit"] += 1
        for field in ("participants", "locations", "turns"):
            earlier[field] = [*earlier[field], *unit[field]]
        if earlier["start"] is None and earlier["end"] is None:
            earlier["start"], earlier["end"] = unit["start"], unit["end"]
    return list(united.values())


def _is_sound(text: str) -> bool:
    if len(text) < _CHARACTERS_MIN or len(text.encode("utf-8", "replace")) > _BYTES_MAX:
        return False
    said = _WORD.findall(name_key(text))
    return any(char.isalpha() for char in text) and not all(word in PRONOUNS for word in said)


def _ground(unit: Mapping[str, Any], window: _Window, dropped: Counter[str]) -> UnitDraft | None:
    text: str = unit["restatement"]
    cited = _cited(unit["turns"], text, window, dropped)
    if not cited:
        return None
    first = window.turns[cited[0]]
    named = [known for at in cited for known in window.named[at]]
    time, reason = ground_time(unit["start"], unit["end"], text, first.said_at, named)
    if reason is not None:
        dropped[reason] += 1
    speaker, content = _speaker(text, [window.speakers[at] for at in cited])
    participants = _grounded(unit["participants"], window.names.participant, "participant", dropped)
    if speaker is not None:
        participants = {name_key(speaker): speaker, **participants}
    locations = _grounded(unit["locations"], window.names.location, "location", dropped)
    dropped["names_over_64"] += sum(max(0, len(names) - _NAMES_MAX) for names in (participants, locations))
    return UnitDraft(
        text=text,
        content=content,
        speaker=speaker,
        participants=tuple(participants.values())[:_NAMES_MAX],
        locations=tuple(locations.values())[:_NAMES_MAX],
        time=time,
        said_at=first.said_at,
        session=first.session,
        turn_ids=tuple(dict.fromkeys(window.turns[at].turn_id for at in cited)),
        is_question=text.endswith(("?", "？")),
        has_time_word=unit_time(content, first.said_at)[1],
    )


def _grounded(names: Sequence[str], ground: NameLookup, reason: str, dropped: Counter[str]) -> dict[str, str]:
    """Return the names that hold, each once, by their keys."""
    found: dict[str, str] = {}
    for name in names:
        display = ground(name)
        if display is None:
            dropped[reason] += 1
        else:
            found.setdefault(name_key(display), display)
    return found


def _cited(numbers: Sequence[int], text: str, window: _Window, dropped: Counter[str]) -> list[int]:
    """Return the places of the turns that a unit is from, in order; none where no turn carries it."""
    cited = sorted({number - 1 for number in numbers if 1 <= number <= len(window.turns)})
    dropped["unknown_turn"] += len({number for number in numbers if not 1 <= number <= len(window.turns)})
    said = _content_words(text)
    if cited and any(_carries(at, text, said, window) for at in cited):
        return cited
    shared = [len(said & words) for words in window.words]
    most = max(shared, default=0)
    if most > 0 and (most >= _SHARED_MIN or most * 2 >= len(said)):
        return [at for at, count in enumerate(shared) if count == most][:_CITED_MAX]
    dropped["unsupported" if cited else "uncited"] += 1
    return []


def _carries(at: int, text: str, said: frozenset[str], window: _Window) -> bool:
    """Whether a turn shares a content word or its speaker with a unit; one in another script always may."""
    turn = window.turns[at]
    if not said.isdisjoint(window.words[at]) or not said.isdisjoint(_content_words(window.speakers[at])):
        return True
    return (_HAN.search(text) is None) != (_HAN.search(turn.text) is None)


def _content_words(text: str) -> frozenset[str]:
    """Return what a text is about: word beginnings without stop words, pairs of Chinese characters."""
    found: set[str] = set()
    for word in _WORD.findall(name_key(text)):
        if _HAN.search(word) is not None:
            runs = _HAN.findall(word)
            found.update(run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1)))
        elif word not in QUERY_STOP_WORDS and word not in PRONOUNS and (len(word) > 1 or word.isdigit()):
            found.add(word[:_STEM])
    return frozenset(found)


def _speaker(text: str, speakers: Sequence[str]) -> tuple[str | None, str]:
    """Return who said a unit, and the unit without that name at its beginning.

    One person must have said all cited turns, and the restatement must name this person.
    """
    speaker = speakers[0]
    if not speaker or len({name_key(name) for name in speakers}) != 1:
        return None, text
    behind = leading_name(text, speaker)
    content = text[behind:]
    if behind and len(content) >= _CHARACTERS_MIN and any(char.isalnum() for char in content):
        return speaker, content
    return (speaker if behind or stands_in(speaker, text) else None), text
