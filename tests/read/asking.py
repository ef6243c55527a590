"""A memory whose question needs a unit that first recall does not give, and models that plan and answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from models.scripted import ScriptedModel
from ripple.models.base import ModelReply, ModelRequest

QUESTION = "What about the dinner tip for the Harbor Grill?"
TARGET = "Maya is allergic to seafood and shellfish."
ANSWER_UNIT = "Maya: I am allergic to seafood and shellfish."

_DAYS = "2026-05-{:02d}T18:00:00Z"
_SAID = [
    ("Sam", "My dinner tip is the Harbor Grill.", "tip"),
    ("Lea", "The Harbor Grill is the seafood place by the pier.", "place"),
    ("Maya", "I am allergic to seafood and shellfish.", "allergy"),
    ("Maya", "I sew curtains.", "curtains"),
    ("Nils", "My boat brings in the shellfish.", "boat"),
]
_FILLERS = ["lasagne", "curry", "noodles", "pancakes", "soup", "tacos", "pie", "salad", "stew", "risotto"]


def messages() -> list[dict[str, Any]]:
    """The story in sessions of their own, among dinners that have nothing to do with it."""
    said = [*_SAID, *(("Tom", f"The dinner tip for {food} was fine.", food) for food in _FILLERS)]
    return [
        {"speaker": who, "content": text, "id": name, "session": name, "timestamp": _DAYS.format(day)}
        for day, (who, text, name) in enumerate(said, 1)
    ]


def memories(request: ModelRequest) -> list[list[Any]]:
    """The memories that a request shows, each with its number first and its text third."""
    shown: list[list[Any]] = json.loads(request.user)["memories"]
    return shown


def number_of(request: ModelRequest, words: str) -> int:
    """The number of the memory that holds the words."""
    return int(next(memory[0] for memory in memories(request) if words in memory[2]))


def plan(anchors: Sequence[int] = (1,), restatement: str = TARGET, **changes: Any) -> dict[str, Any]:
    target = {"goal": "what speaks against it", "restatement": restatement, "participants": [], "locations": []}
    target |= {"start": None, "end": None, **changes.pop("target", {})}
    return {"continue": True, "stop_reason": "", "anchors": list(anchors), "target": target, **changes}


def stop(reason: str = "all is there") -> dict[str, Any]:
    return plan((), "", stop_reason=reason, **{"continue": False})


def said(value: object, **how: Any) -> ModelReply:
    """The reply that holds a value as JSON."""
    return ModelReply(json.dumps(value), **{"input_tokens": 900, "output_tokens": 60, **how})


def looks_from(words: str, **changes: Any) -> Callable[[ModelRequest, float], ModelReply]:
    """A planner that goes on from the memory with the words."""
    return lambda request, timeout: said(plan([number_of(request, words)], **changes))


def answers(text: str, *citing: str, in_memory: bool = True) -> Callable[[ModelRequest, float], ModelReply]:
    """An answer that cites the memories with the words."""

    def reply(request: ModelRequest, timeout: float) -> ModelReply:
        numbers = [number_of(request, words) for words in citing]
        return said({"citations": numbers, "in_memory": in_memory, "answer": text})

    return reply


def as_said(request: ModelRequest) -> ModelReply:
    """Extraction that makes a unit of each line as it is."""
    lines = [line.split(" ", 1) for group in json.loads(request.user)["turns"] for line in group[1:]]
    fields = {"participants": [], "locations": [], "start": None, "end": None}
    return said(
        {"units": [{"restatement": text, "turns": [int(number.rstrip(":"))], **fields} for number, text in lines]}
    )


class StagedModel(ScriptedModel):
    """Gives the answers of each stage in turn, the last one for ever; tells what was said where it extracts."""

    def __init__(self, **stages: Any) -> None:
        super().__init__()
        self.script(**stages)

    def script(self, **stages: Any) -> None:
        self._stages = {stage: list(told) if isinstance(told, list) else [told] for stage, told in stages.items()}

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        if request.stage == "extraction" and "extraction" not in self._stages:
            return as_said(request)
        told = self._stages[request.stage]
        done = sum(earlier.stage == request.stage for earlier in self.requests)
        self.requests.append(request)
        self.timeouts.append(timeout)
        answer = told[min(done, len(told) - 1)]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ModelReply) else answer(request, timeout)  # type: ignore[no-any-return]

    @property
    def stages(self) -> list[str]:
        return [request.stage for request in self.requests]
