"""Units from turns without a language model: one unit a turn, with the people, places and time that it grounds.

The rules, where the papers leave them open ("who the memory is about, grounded"):

- The speaker is the first participant: "I" is the speaker.
- A person named in the turn is a participant, in the display form of the known participant that the name
  means ("Mel" is "Melanie") where there is just one. A known participant or speaker who is only called
  ("Hey Mel!", "Thanks, Caroline") is none.
- "You" is the other speaker where the session's turns have exactly two. That one is a participant only where
  the turn states a plain fact of "you" ("you moved", "your sister is"). On the LoCoMo dev turns every "you"
  that is no set phrase would put the other person into a sixth of the units more, for under one per cent of
  the evidence.
- Places are those named, and the one in the turn's metadata (``place`` or ``location``).
- The time is that of `ripple.language.times.unit_time`; it is never guessed from the time of speaking alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from ripple.language.mentions import find_names
from ripple.language.names import KnownNames, NameLookup, NameMention, lookup_alias, name_key
from ripple.language.names_zh import split_chinese_place
from ripple.language.sentences import clean_text, is_question, split_long
from ripple.language.times import unit_time
from ripple.types import Turn, UnitDraft

__all__ = ["extract_rules"]

_LONG = 16_000
"""Characters of a turn above which it makes several units."""
_PIECE = 8_000
"""Characters of a unit made from a part of a long turn, at most."""
_MAX_NAMES = 64
_MAX_PLACE = 128
_PLACE_KEYS = ("place", "location")

_CALLED_BEFORE = re.compile(
    r"(?:^|[.!?…:;—–-]\s*|,\s*|\b(?:hey|hi|hello|thanks|thank you|thx|yeah|yep|yes|yup|no|nope|wow|woah|whoa|sure|"
    r"congrats|congratulations|bye|ok|okay|oh|ah|aw+|definitely|absolutely|totally|exactly|agreed|right|true|cool|"
    r"awesome|great|amazing|nice|good|sorry|please|haha|morning|night|afternoon|evening|welcome|dear|well|so|"
    r"sounds good|good job|way to go)\s+)$",
    re.IGNORECASE,
)
_CALLED_AFTER = re.compile(r"\s*(?:$|[,!.?;:—–…，。！？-]|[^\w\s'’]\s*$)")
_KIN = (
    r"mom|mum|mother|dad|father|parents|sister|brother|cousin|aunt|uncle|niece|nephew|grandma|grandpa|grandmother|"
    r"grandfather|wife|husband|partner|girlfriend|boyfriend|son|daughter|kids|baby|dog|cat|puppy|boss|landlord"
)
_EVENT = (
    r"birthday|wedding|flight|appointment|meeting|exam|surgery|interview|deadline|graduation|"
    r"anniversary|address|visa|passport"
)
_ABOUT_YOU = re.compile(
    r"\byou(?:'re|’re| are| were) (?:allergic|born|married|engaged|divorced|pregnant|vegan|vegetarian|moving|"
    r"leaving|flying|from [A-Z])|"
    r"\byou (?:told (?:me|us)|promised|mentioned that|said (?:that|you)|moved|live in|lived in|grew up|studied|"
    r"graduated|adopted|won|booked|ordered|bought|sold|quit|signed up|own|work (?:at|for|as)|worked (?:at|for|as)|"
    r"have an? (?:allergy|son|daughter|sister|brother|dog|cat|meeting|appointment|exam|flight|interview|deadline))\b|"
    rf"\byour (?:\w+ )?(?:{_KIN}|{_EVENT})(?:'s|’s)?(?: \w+)? (?:is|are|was|were|will be|has|had|moved|"
    rf"lives|works|died|passed|arrives|starts)\b",
    re.IGNORECASE,
)
_SENTENCE_QUESTION = re.compile(r"[^.!?]*\?")


def extract_rules(turns: Sequence[Turn], known_participants: NameLookup | Collection[str] = ()) -> list[UnitDraft]:
    """Return one unit for each turn that says something, several for a long one, in the order of the turns.

    Parameters
    ----------
    turns : sequence of Turn
        Turns of any sessions, in order; the speakers of a session tell who "you" is.
    known_participants : collection of str, or callable
        Names known from before, or a look-up that gives the known name a wording means
        (`ripple.language.names.KnownNames.resolve`).

    Returns
    -------
    list of UnitDraft
        ``text`` is "Speaker: content" on one line without control characters, ``content`` the same without
        the speaker. Turns of nothing but white space or control characters give no unit.

    Examples
    --------
    >>> (unit,) = extract_rules([Turn(1, "Tom moved to Oslo.", speaker="Ada")])
    >>> unit.text, unit.participants, unit.locations
    ('Ada: Tom moved to Oslo.', ('Ada', 'Tom'), ('Oslo',))
    """
    speakers: dict[str, dict[str, str]] = {}
    for turn in turns:
        name = clean_text(turn.speaker or "")
        if name:
            speakers.setdefault(turn.session, {}).setdefault(name_key(name), name)
    known = _lookup(known_participants, (name for present in speakers.values() for name in present.values()))
    drafts: list[UnitDraft] = []
    for turn in turns:
        content = clean_text(turn.text)
        pieces = split_long(content, _PIECE) if len(content) > _LONG else [content] if content else []
        drafts += (_unit(turn, piece, known, speakers.get(turn.session, {})) for piece in pieces)
    return drafts


def _lookup(known: NameLookup | Collection[str], speakers: Iterable[str]) -> NameLookup:
    """Return a look-up that asks the speakers of the call first, then what is known from before."""
    present = KnownNames(speakers).resolve
    before = known if callable(known) else KnownNames.of(known).resolve

    def resolve(name: str, /) -> str | None:
        return present(name) or before(name)

    return resolve


def _unit(turn: Turn, content: str, known: NameLookup, speakers: dict[str, str]) -> UnitDraft:
    speaker = clean_text(turn.speaker or "") or None
    names = find_names(content, known)
    time, has_time_word = unit_time(content, turn.said_at)
    return UnitDraft(
        text=content if speaker is None else f"{speaker}: {content}",
        content=content,
        speaker=speaker,
        participants=_participants(content, speaker, names, known, speakers),
        locations=_locations(turn, names),
        time=time,
        said_at=turn.said_at,
        session=turn.session,
        turn_ids=(turn.turn_id,),
        is_question=is_question(content),
        has_time_word=has_time_word,
    )


def _participants(
    content: str,
    speaker: str | None,
    names: Sequence[NameMention],
    known: NameLookup,
    speakers: dict[str, str],
) -> tuple[str, ...]:
    found: dict[str, str] = {} if speaker is None else {name_key(speaker): speaker}
    if len(speakers) == 2 and speaker is not None and _states_of_you(content):
        key, other = next((key, name) for key, name in speakers.items() if key != name_key(speaker))
        found[key] = other
    for mention in names:
        if mention.kind != "person":
            continue
        display = lookup_alias(mention.text, known)
        if display is not None and _is_called(content, mention):
            continue
        name = display or mention.text
        if display is None and any(f"{longer} ".startswith(f"{name_key(name)} ") for longer in found):
            continue  # "Tom" after "Tom Baker"
        found.setdefault(name_key(name), name)
    return tuple(found.values())[:_MAX_NAMES]


def _is_called(content: str, mention: NameMention) -> bool:
    """Whether a name only calls somebody: "Hey Mel!", "Thanks, Caroline.", "Wow, Tom, ..."."""
    if _CALLED_AFTER.match(content, mention.end_char) is None:
        return False
    return _CALLED_BEFORE.search(content[max(0, mention.start_char - 24) : mention.start_char]) is not None


def _states_of_you(content: str) -> bool:
    match = _ABOUT_YOU.search(content)
    return match is not None and _SENTENCE_QUESTION.match(content, match.end()) is None


def _locations(turn: Turn, names: Sequence[NameMention]) -> tuple[str, ...]:
    found = {name_key(mention.text): mention.text for mention in names if mention.kind == "place"}
    for key in _PLACE_KEYS:
        value = (turn.metadata or {}).get(key)
        if isinstance(value, str) and 0 < len(value) <= _MAX_PLACE:
            for part in split_chinese_place(clean_text(value)):
                found.setdefault(name_key(part), part)
    found.pop("", None)
    return tuple(found.values())[:_MAX_NAMES]
