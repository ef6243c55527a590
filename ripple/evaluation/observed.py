"""A stand-in of a perfect extractor: the facts that LoCoMo's authors noted play the model's reply.

For measurement only: what recall finds among these units does not depend on any extraction. The questions of
the set and their evidence are not read here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ripple.errors import InvalidInputError
from ripple.evaluation.datasets import Conversation
from ripple.evaluation.loaders import read_documents
from ripple.language.names import name_key
from ripple.language.sentences import clean_text
from ripple.models.base import LanguageModel, ModelReply, ModelRequest
from ripple.models.tokens import count_tokens
from ripple.prompts.encoding import clean, moment_of

__all__ = ["Observation", "ObservedModel", "load_observations"]

_SESSION_SUFFIX = "_observation"


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact about one speaker, with the ids of the messages that tell it."""

    text: str
    speaker: str
    message_ids: tuple[str, ...]


def load_observations(path: Path) -> dict[str, list[Observation]]:
    """Return the observations of a LoCoMo file by the name of their conversation.

    Raises
    ------
    InvalidInputError
        When a conversation has no observations, or they are not as published.
    """
    found: dict[str, list[Observation]] = {}
    for number, sample in enumerate(read_documents(path)):
        name = str(sample.get("sample_id", f"conversation-{number}"))
        try:
            sessions: Mapping[str, Any] = sample["observation"]
            found[name] = [
                Observation(str(text), speaker, tuple(ids) if isinstance(ids, list) else (str(ids),))
                for session, by_speaker in sessions.items()
                if session.endswith(_SESSION_SUFFIX)
                for speaker, facts in by_speaker.items()
                for text, ids in facts
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInputError(f"{path.name} holds no observations as LoCoMo publishes them: {error!r}") from error
    return found


class ObservedModel:
    """Answers requests for extraction with the observations of the lines that it is shown.

    A line is known by its date, speaker and words. Equal lines of one moment are told apart by their order.
    Other requests go to ``others``; without it they get an empty reply.
    """

    def __init__(
        self,
        conversations: Iterable[Conversation],
        observations: Mapping[str, Sequence[Observation]],
        others: LanguageModel | None = None,
    ) -> None:
        self.name = "observations" if others is None else f"observations and {others.name}"
        self._others = others
        self._ids: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        self._facts: dict[tuple[str, str], list[Observation]] = defaultdict(list)
        self._texts: set[str] = set()
        for conversation in conversations:
            for message in conversation.messages:
                self._ids[_said(message)].append((conversation.name, message["id"]))
            for fact in observations.get(conversation.name, ()):
                self._facts[conversation.name, fact.message_ids[0]].append(fact)
                self._texts.add(_key(fact.text))

    @property
    def facts(self) -> int:
        """How many observations there are."""
        return sum(len(facts) for facts in self._facts.values())

    def compare(self, texts: Iterable[str]) -> tuple[int, int]:
        """Return how many observations are among the texts of no unit, and how many texts are no observation's."""
        units = [_key(text) for text in texts]
        return len(self._texts.difference(units)), sum(unit not in self._texts for unit in units)

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Return the units of the lines shown; an observation of several lines goes with its first."""
        if request.stage != "extraction":
            return ModelReply("{}") if self._others is None else self._others.complete(request, timeout=timeout)
        numbers = self._numbers(json.loads(request.user)["turns"])
        units = [
            {
                "restatement": fact.text,
                "participants": [fact.speaker],
                "locations": [],
                "start": None,
                "end": None,
                "turns": [numbers[name, cited] for cited in fact.message_ids if (name, cited) in numbers],
            }
            for name, message_id in numbers
            for fact in self._facts.get((name, message_id), ())
        ]
        text = json.dumps({"units": units}, ensure_ascii=False)
        sent = count_tokens(request.system) + count_tokens(request.user)
        return ModelReply(text, input_tokens=sent, output_tokens=count_tokens(text))

    def _numbers(self, groups: Sequence[Sequence[str]]) -> dict[tuple[str, str], int]:
        """Return the numbers of the messages shown, by their conversation and id."""
        numbers: dict[tuple[str, str], int] = {}
        for date, *lines in groups:
            for line in lines:
                number, _, said = line.partition(" ")
                same = [known for known in self._ids.get((date, said), ()) if known not in numbers]
                if same:
                    numbers[same[0]] = int(number)
        return numbers


def _said(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return the date and the line under which a prompt shows a message."""
    stamp = message.get("timestamp")
    moment = None if stamp is None else datetime.fromisoformat(stamp)
    return moment_of(moment), f"{clean(message.get('speaker'))}: {clean(message['content'])}"


def _key(text: str) -> str:
    return name_key(clean_text(text)).rstrip(" .!。！")
