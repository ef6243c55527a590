"""People and places of a unit, as far as the turns of its window name them.

A name is grounded when it is that of a speaker, when its words stand in a turn of the window (after key
folding, in a row), or when it is the known name that another wording in the window means ("Robert" for
"Bob"). It is then written as the namespace knows it. What is grounded by none of these is no name, however
well known: it may come from elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

from ripple.language.common_words import QUERY_STOP_WORDS, STARTERS
from ripple.language.mentions import find_names
from ripple.language.names import KnownNames, NameLookup, name_key
from ripple.language.sentences import clean_text
from ripple.language.word_lists import first_names, words
from ripple.types import Turn

__all__ = ["PRONOUNS", "WindowNames", "leading_name", "stands_in"]

PRONOUNS = words(
    """
    i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our
    ours ourselves they them their theirs themselves this that these those who someone somebody anyone anybody
    everyone everybody everything something nobody nothing one ones here there none null unknown other others
    我 你 您 他 她 它 我们 你们 他们 她们 它们 我們 你們 他們 她們 咱们 自己 大家 别人 有人 谁 这 那 这里 那里
    yo tú él ella nosotros ellos ellas ich du er sie wir ihr je tu il elle nous vous ils elles
    """
)
"""Words that stand for somebody or something and name nobody; also what a model writes for nothing."""

_NAME_LONGEST = 128
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7ff\U00020000-\U0003ffff]"
)
_EDGES = " \t\"'“”‘’«»「」『』()[]{}<>.,;:!?，。、；：！？"
_AFTER_NAME = re.compile(r"(?:['’]s\b|\s*[:：,，])?\s*")
_JOINT = re.compile(r"\s*(?:(?:and|or|y|et|und)\b|&|和|与|跟|、)", re.IGNORECASE)


def stands_in(name: str, text: str) -> bool:
    """Whether the words of a name stand in a text, in a row; folded, whole words where a script has spaces."""
    return _is_in(name, _spaced(text), name_key(text))


def _is_in(name: str, words_of_text: str, folded: str) -> bool:
    phrase = _spaced(name)
    if not phrase.strip():
        return False
    return phrase in words_of_text or (_UNSPACED.search(name) is not None and name_key(name) in folded)


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(name_key(text)))} "


class WindowNames:
    """The names that stand in the turns of one window, and what they mean among those known."""

    def __init__(
        self,
        turns: Sequence[Turn],
        known_participants: NameLookup | Collection[str] = (),
        known_locations: NameLookup | Collection[str] = (),
    ) -> None:
        self._texts = [clean_text(turn.text) for turn in turns]
        displays = [clean_text(turn.speaker or "") for turn in turns]
        self._speakers = {name_key(name): name for name in reversed(displays) if name}
        present = KnownNames(self._speakers.values()).resolve
        known = known_participants if callable(known_participants) else KnownNames.of(known_participants).resolve
        self._person: NameLookup = lambda name, /: present(name) or known(name)
        self._place = known_locations if callable(known_locations) else KnownNames.of(known_locations).resolve
        everything = [*self._texts, *self._speakers.values()]
        self._spaced = "".join(_spaced(text) for text in everything)  # two spaces part the turns: no name spans them
        self._folded = "\n".join(name_key(text) for text in everything)
        self._meant: dict[str, frozenset[str]] = {}

    def participant(self, name: str) -> str | None:
        """Return the display form of a person that the window names, else None."""
        name = _bare(name)
        key = name_key(name)
        if key in self._speakers:
            return self._speakers[key]
        if not key or key in PRONOUNS or (key in QUERY_STOP_WORDS and key not in first_names()):
            return None
        known = self._person(name)
        if _is_in(name, self._spaced, self._folded):
            return known or (name if _is_written_as_name(name) else None)
        return known if known is not None and known in self._meanings("person", self._person) else None

    def location(self, name: str) -> str | None:
        """Return the display form of a place that the window names, else None."""
        name = _bare(name)
        key = name_key(name)
        if not key or key in PRONOUNS:
            return None
        known = self._place(name)
        if _is_in(name, self._spaced, self._folded):
            return known if known is not None and name_key(known) == key else name
        return known if known is not None and known in self._meanings("place", self._place) else None

    def _meanings(self, kind: str, known: NameLookup) -> frozenset[str]:
        """Return the known names that the names in the window mean."""
        if kind not in self._meant:
            mentions = {m.text for text in self._texts for m in find_names(text, self._person) if m.kind == kind}
            self._meant[kind] = frozenset(name for mention in mentions if (name := known(mention)) is not None)
        return self._meant[kind]


def leading_name(text: str, name: str) -> int:
    """Return where a text goes on behind the name that it begins with, 0 where it begins with none.

    The name stands in full or as its first word or a short form of it ("Mel" for "Melanie"), perhaps behind
    "The"; a possessive, colon or comma goes with it. A name that is joined to another ("Ada and Tom") stays.
    """
    start = 4 if text[:4].casefold() == "the " else 0
    written = _written_as(name).match(text, start)
    if written is None:
        written = _WORD.match(text, start)
        if written is None or not written.group()[:1].isupper() or name_key(written.group()) in STARTERS:
            return 0
        if KnownNames([name]).resolve(written.group()) is None:
            return 0
    if _JOINT.match(text, written.end()) is not None:
        return 0
    after = _AFTER_NAME.match(text, written.end())
    return written.end() if after is None else after.end()


def _written_as(name: str) -> re.Pattern[str]:
    words_of_name = r"\s+".join(re.escape(word) for word in name.split())
    return re.compile(words_of_name if _UNSPACED.search(name) else rf"{words_of_name}(?!\w)", re.IGNORECASE)


def _bare(name: str) -> str:
    """Return a name without what a model put around it; nothing where it is too long for one."""
    name = unicodedata.normalize("NFC", clean_text(name)).strip(_EDGES)
    return name if len(name) <= _NAME_LONGEST and any(char.isalpha() for char in name) else ""


def _is_written_as_name(name: str) -> bool:
    """Whether a name has a capital letter, or is of a script that has none."""
    return any(char.isupper() or char.istitle() for char in name) or name.lower() == name.upper()
