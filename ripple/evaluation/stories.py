"""Evidence stories: generated chats in which an answer needs three pieces said weeks apart.

Somebody recommends a thing (E1), somebody says what kind of thing it is (E2), and somebody tells what a
person cannot do or have (E3). The question names the thing and the person; E3 shares no content word with it,
names apart. E2 and E3 are bridged by a rarer word that they share, or by meaning only. Around them is small
talk, much of it by or about the same person. The texts are in ``data/stories.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from importlib.resources import files
from itertools import combinations
from random import Random
from typing import Any

from ripple.errors import InvalidInputError

__all__ = ["Story", "generate_stories", "sample_sentences"]

_WEEKS_APART = timedelta(days=14)
_ROLE_LINE = re.compile(r"([a-z]): (.*)", re.DOTALL)
_SENTENCE_START = re.compile(r"(?:^|[.!?] )[a-z]")
_DEMO_NAMES = ("Sam", "Maya")


@dataclass(frozen=True, slots=True)
class Story:
    """A chat, a question about it, and the three messages that answer it.

    Attributes
    ----------
    name : str
        Unique among the stories of one call.
    bridge : str
        ``"word"`` when E2 and E3 share a rarer word, ``"meaning"`` when they share none.
    messages : tuple of dict
        As ``Memory.add`` takes them: speaker, content, timestamp (ISO with zone), session, id.
    evidence : tuple of str
        Message ids of E1, E2 and E3.
    """

    name: str
    bridge: str
    messages: tuple[dict[str, Any], ...]
    question: str
    evidence: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Cast:
    tipper: str
    person: str
    others: tuple[str, ...]

    @property
    def everyone(self) -> tuple[str, ...]:
        return (self.tipper, self.person, *self.others)


_Line = tuple[str, str]  # who says it, and what


def generate_stories(count: int = 40, seed: int = 12) -> list[Story]:
    """Return ``count`` stories; the first is always that of Sam, Maya and Harbor Grill.

    Parameters
    ----------
    count : int
        Past the number of templates they are used again with other names, wordings and dates.
    seed : int
        Equal seeds give equal stories; story ``i`` does not depend on ``count``.

    Raises
    ------
    InvalidInputError
        When ``count`` is below 1.
    """
    if count < 1:
        raise InvalidInputError(f"count is {count}, want 1 or more")
    templates = _texts()["templates"]
    stories = []
    for number in range(count):
        template = templates[number % len(templates)]
        repeat = number // len(templates)
        name = template["name"] if repeat == 0 else f"{template['name']}-{repeat + 1}"
        stories.append(_tell(template, name, Random(f"{seed}/{number}"), is_demo=number == 0))
    return stories


def sample_sentences(seed: int) -> list[str]:
    """Return every line of the texts but the questions, as a sample of everyday chat; names by ``seed``.

    Thresholds of an embedder are calibrated on it. A line appears once, not once a story: the same line
    with other fillers would be a near duplicate and push the thresholds up.
    """
    texts = _texts()
    rng = Random(f"{seed}/sentences")
    sentences = []
    for template in texts["templates"]:
        cast = _cast(rng, is_demo=False)
        slots = {"tipper": cast.tipper, "person": cast.person, "x": rng.choice(template["x"])}
        keys = ("recommend", "kind", "limit_self", "limit_other")
        lines = [line for key in keys for line in template[key]] + [template["echo"]]
        sentences += [_render(line, slots) for line in lines]
    for exchange in (exchange for group in texts["exchanges"].values() for exchange in group):
        cast = _cast(rng, is_demo=False)
        sentences += [content for _, content in _play(exchange, cast, rng) or ()]
    loose = (*texts["openings"], *texts["closings"], *texts["replies"])
    sentences += [_render(line, _fillers(rng)) for line in loose]
    return list(dict.fromkeys(sentences))


@cache
def _texts() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads(files("ripple").joinpath("data/stories.json").read_text("utf-8"))
    return loaded


def _render(line: str, slots: Mapping[str, str]) -> str:
    filled = line.format_map(slots)
    return _SENTENCE_START.sub(lambda found: found[0].upper(), filled)


def _fillers(rng: Random) -> dict[str, str]:
    return {slot: rng.choice(values) for slot, values in _texts()["fillers"].items()}


def _cast(rng: Random, *, is_demo: bool) -> _Cast:
    """Return three to five people, at random or with the names of the demo."""
    size = rng.choice((3, 4, 4, 5))
    names = rng.sample([name for name in _texts()["names"] if name not in _DEMO_NAMES], size)
    if is_demo:
        return _Cast(*_DEMO_NAMES, tuple(names[2:]))
    return _Cast(names[0], names[1], tuple(names[2:]))


def _tell(template: Mapping[str, Any], name: str, rng: Random, *, is_demo: bool) -> Story:
    cast = _cast(rng, is_demo=is_demo)
    starts = _session_starts(rng)
    placed = _evidence_sessions(starts, rng)
    if is_demo:
        placed = sorted(placed)  # told in the order in which it is explained
    evidence, question = _evidence_lines(template, cast, rng, is_demo=is_demo)
    talk = _small_talk(template, cast, rng)
    messages: list[dict[str, Any]] = []
    ids = [""] * len(evidence)
    turns_wanted = rng.randint(74, 84)
    for index, start in enumerate(starts):
        wanted = turns_wanted * (index + 1) // len(starts) - len(messages)
        piece = evidence[placed.index(index)] if index in placed else None
        lines, turn = _session_lines(talk, cast, rng, wanted, piece)
        if turn is not None:
            ids[placed.index(index)] = f"S{index + 1}:{turn}"
        messages += _stamp(lines, index, start, rng)
    return Story(name, template["bridge"], tuple(messages), question, (ids[0], ids[1], ids[2]))


def _session_lines(
    talk: Iterator[list[_Line]], cast: _Cast, rng: Random, wanted: int, piece: _Line | None
) -> tuple[list[_Line], int | None]:
    """Return about ``wanted`` lines and, counted from 1, which of them is the piece of evidence."""
    lines = [_loose_line("openings", cast.everyone, rng)]
    turn = None
    if piece is not None:
        for _ in range(rng.randint(0, 2)):
            lines += next(talk)
        lines.append(piece)
        turn = len(lines)
        if rng.random() < 0.5:
            lines.append(_loose_line("replies", [who for who in cast.everyone if who != piece[0]], rng))
    while len(lines) < wanted:
        lines += next(talk)
    if rng.random() < 0.7:
        lines.append(_loose_line("closings", cast.everyone, rng))
    return lines, turn


def _loose_line(kind: str, speakers: Sequence[str], rng: Random) -> _Line:
    return rng.choice(speakers), _render(rng.choice(_texts()[kind]), _fillers(rng))


def _session_starts(rng: Random) -> list[datetime]:
    zone = timezone(timedelta(hours=rng.choice((-7, -5, 0, 1, 2, 8))))
    start = datetime(2026, 1, 5, tzinfo=zone) + timedelta(days=rng.randint(0, 180))
    starts = []
    for _ in range(rng.randint(7, 9)):
        starts.append(start + timedelta(hours=rng.randint(7, 20), minutes=rng.randint(0, 59)))
        start += timedelta(days=rng.randint(6, 13))
    return starts


def _evidence_sessions(starts: Sequence[datetime], rng: Random) -> list[int]:
    """Return the sessions of E1, E2, E3: any order, each two at least two weeks apart."""
    apart = [
        chosen
        for chosen in combinations(range(len(starts)), 3)
        if all(starts[b] - starts[a] >= _WEEKS_APART for a, b in combinations(chosen, 2))
    ]
    return rng.sample(rng.choice(apart), 3)


def _evidence_lines(template: Mapping[str, Any], cast: _Cast, rng: Random, *, is_demo: bool) -> tuple[list[_Line], str]:
    """Return who says E1, E2, E3 and what, and the question. The demo takes the first wording of each."""
    is_told_by_other = is_demo or rng.random() < 0.5
    limit_key = "limit_other" if is_told_by_other else "limit_self"
    slots = {
        "tipper": cast.tipper,
        "person": cast.person,
        "x": template["x"][0] if is_demo else rng.choice(template["x"]),
    }
    recommend, kind, limit, question = (
        _render(template[key][0] if is_demo else rng.choice(template[key]), slots)
        for key in ("recommend", "kind", limit_key, "question")
    )
    lines = [
        (cast.tipper, recommend),
        (rng.choice((cast.tipper, *cast.others)), kind),
        (rng.choice(cast.others) if is_told_by_other else cast.person, limit),
    ]
    return lines, question


def _small_talk(template: Mapping[str, Any], cast: _Cast, rng: Random) -> Iterator[list[_Line]]:
    """Yield exchanges, a part of them near the story's theme, none that would contradict the evidence."""
    groups: Mapping[str, list[list[str]]] = _texts()["exchanges"]
    theme = template["domain"]
    near = rng.sample(groups[theme], min(8, len(groups[theme])))
    far = [exchange for domain, group in groups.items() if domain != theme for exchange in group]
    rng.shuffle(far)
    first = near + far[:22]  # about what a story uses up
    rng.shuffle(first)
    barred = template["avoid"]
    # Somebody else may use the shared word, or name a thing of the kind, in passing.
    echo_at = rng.randint(0, 20) if rng.random() < 0.7 else None
    for number, exchange in enumerate(first + far[22:]):
        if number == echo_at:
            yield [(rng.choice((cast.tipper, *cast.others)), template["echo"])]
        lines = _play(exchange, cast, rng)
        if lines and not any(word in said.lower() for _, said in lines for word in barred):
            yield lines


def _play(exchange: Sequence[str], cast: _Cast, rng: Random) -> list[_Line] | None:
    """Return an exchange with its roles given out; None when it needs more people than there are.

    ``t`` is the one who recommends, ``p`` in half of the cases the person of the story, who is therefore busy
    everywhere; ``a`` and ``b`` are whoever is left.
    """
    text = "\n".join(exchange)
    roles = [role for role in "tpab" if re.search(rf"(?m)^{role}: |\{{{role}\}}", text)]
    if len(roles) > len(cast.everyone):
        return None
    slots = _fillers(rng)
    free = rng.sample(cast.everyone, len(cast.everyone))
    for role in roles:
        if role == "t":
            slots[role] = cast.tipper
        elif role == "p" and cast.person in free and rng.random() < 0.5:
            slots[role] = cast.person
        else:
            slots[role] = free[0]
        free.remove(slots[role])
    lines = []
    for line in exchange:
        found = _ROLE_LINE.fullmatch(line)
        assert found is not None, line
        lines.append((slots[found[1]], _render(found[2], slots)))
    return lines


def _stamp(lines: Sequence[_Line], index: int, start: datetime, rng: Random) -> Iterator[dict[str, Any]]:
    moment = start
    for turn, (speaker, content) in enumerate(lines, start=1):
        yield {
            "speaker": speaker,
            "content": content,
            "timestamp": moment.isoformat(),
            "session": f"session_{index + 1}",
            "id": f"S{index + 1}:{turn}",
        }
        moment += timedelta(seconds=rng.randint(15, 400))
