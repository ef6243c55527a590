"""Asking the evidence stories in three ways at an equal budget of ten units.

One-shot search gives its best ten. The other two give the best eight of first recall and two found by
expansion: undirected (what else is near) or targeted (towards the stated gap).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ripple.errors import InvalidInputError
from ripple.evaluation.metrics import cited_turns, mean, paired_bootstrap
from ripple.evaluation.runner import EvaluatedMemory
from ripple.evaluation.stories import Story
from ripple.types import Evidence

__all__ = ["BUDGET", "FIRST", "WAYS", "SearchedMemory", "StoryOutcome", "ask_story", "run_stories"]

BUDGET = 10
FIRST = 8
WAYS = ("one_shot", "undirected", "ripple")


class SearchedMemory(EvaluatedMemory, Protocol):
    """A memory that also has the one-shot form."""

    def search(self, query: str, *, namespace: str = ..., top_k: int = ...) -> Sequence[Evidence]: ...


@dataclass(frozen=True, slots=True)
class StoryOutcome:
    """Which of the three pieces each way found in one story: for each way E1, E2 and E3."""

    name: str
    bridge: str
    found: Mapping[str, tuple[bool, bool, bool]]


def ask_story(memory: SearchedMemory, story: Story) -> StoryOutcome:
    """Add a story in a namespace of its own, ask it in the three ways, and delete the namespace again."""
    namespace = f"story-{story.name}"
    memory.add(list(story.messages), namespace=namespace)
    found: dict[str, tuple[bool, bool, bool]] = {}
    for way in WAYS:
        if way == "one_shot":
            evidence = memory.search(story.question, namespace=namespace, top_k=BUDGET)
        else:
            evidence = memory.recall(
                story.question,
                namespace=namespace,
                top_k=BUDGET,
                first=FIRST,
                expansion="undirected" if way == "undirected" else "targeted",
            ).evidence
        turns = cited_turns(evidence[:BUDGET])
        first, second, third = (piece in turns for piece in story.evidence)
        found[way] = (first, second, third)
    memory.delete_namespace(namespace)
    return StoryOutcome(story.name, story.bridge, found)


def run_stories(
    stories: Sequence[Story],
    memory: SearchedMemory,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return at which rate each way finds E3 and the whole set, over all stories and by kind of bridge.

    Raises
    ------
    InvalidInputError
        When there is no story.
    """
    if not stories:
        raise InvalidInputError("there is no story to ask")
    outcomes = []
    for number, story in enumerate(stories, start=1):
        outcomes.append(ask_story(memory, story))
        if progress is not None:
            progress(number, len(stories))
    kinds = sorted({outcome.bridge for outcome in outcomes})
    return {
        "stories": len(outcomes),
        "budget": BUDGET,
        "first": FIRST,
        **_rates(outcomes),
        "by_bridge": {kind: _rates([outcome for outcome in outcomes if outcome.bridge == kind]) for kind in kinds},
        "missed": sorted(outcome.name for outcome in outcomes if not outcome.found["ripple"][2]),
    }


def _rates(outcomes: Sequence[StoryOutcome]) -> dict[str, Any]:
    missing = {way: {outcome.name: float(outcome.found[way][2]) for outcome in outcomes} for way in WAYS}
    whole = {way: {outcome.name: float(all(outcome.found[way])) for outcome in outcomes} for way in WAYS}
    return {
        "n": len(outcomes),
        "missing_piece": {way: mean(list(scores.values())) for way, scores in missing.items()},
        "whole_set": {way: mean(list(scores.values())) for way, scores in whole.items()},
        "ripple_minus_one_shot": asdict(paired_bootstrap(missing["one_shot"], missing["ripple"])),
        "ripple_minus_undirected": asdict(paired_bootstrap(missing["undirected"], missing["ripple"])),
    }
