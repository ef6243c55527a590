"""Running an evaluation set through the public API: what was found, how fast, and at what size."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from ripple.errors import InvalidInputError
from ripple.evaluation.datasets import Conversation, Dataset, Question
from ripple.evaluation.loaders import read_documents
from ripple.evaluation.metrics import (
    auc,
    cited_turns,
    evidence_recall,
    mean,
    percentile,
)
from ripple.types import AddResult, Evidence, MemoryUnit

__all__ = [
    "EvalOptions",
    "EvalReport",
    "EvaluatedMemory",
    "EvaluatedRecall",
    "EvaluatedStats",
    "QuestionScore",
    "read_scores",
    "run",
    "save_scores",
    "scores_of",
]

_CUTOFFS = {"passages": (2, 5, 10, 30), "messages": (5, 10, 30)}
_CONTEXT_TOKENS = 1500
_CHARACTERS_A_TOKEN = 4  # of English prose in the usual vocabularies


class EvaluatedRecall(Protocol):
    """What the runner reads of a recall."""

    @property
    def evidence(self) -> Sequence[Evidence]: ...
    @property
    def support(self) -> float: ...
    def context(self, max_tokens: int = ...) -> str: ...


class EvaluatedStats(Protocol):
    """What the runner reads of a memory's counts."""

    @property
    def edges(self) -> Mapping[str, int]: ...


class EvaluatedMemory(Protocol):
    """What the runner calls of a memory; `ripple.Memory` is one."""

    @property
    def recall(self) -> Callable[..., EvaluatedRecall]: ...
    @property
    def stats(self) -> Callable[..., EvaluatedStats]: ...
    @property
    def add(self) -> Callable[..., AddResult]: ...
    def get_all(self, *, namespace: str = ...) -> Iterable[MemoryUnit]: ...
    def delete_namespace(self, namespace: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What to measure.

    Attributes
    ----------
    top_k : int
        Units asked for; 30 units cite at least 30 source turns.
    expansion : str
        ``"none"``, ``"undirected"`` or ``"targeted"``.
    ranking : str
        ``"default"`` or ``"paper"``.
    without : frozenset of str
        Parts switched off: graph, structural, lexical, dense, cues, sequence.
    limit : int or None
        Ask only the first so many questions of the file, of all kinds, and add only their conversations.
    units : {"rules", "observations"}
        What makes units of messages: rules, or the language model that the memory was opened with.
    """

    top_k: int = 30
    expansion: str = "targeted"
    ranking: str = "default"
    without: frozenset[str] = frozenset()
    limit: int | None = None
    units: str = "rules"


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The figures of one question, by name: ``recall@10``, ``whole@30`` ..."""

    question_id: str
    category: str
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The figures of a run; ``figures`` is what ``--json`` prints, ``scores`` what ``--scores`` saves."""

    figures: Mapping[str, Any]
    scores: tuple[QuestionScore, ...]
    unit_texts: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    """What accumulates over the conversations of a run."""

    scores: list[QuestionScore] = field(default_factory=list)
    answerable_support: list[float] = field(default_factory=list)
    unanswerable_support: list[float] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=lambda: {"unanswerable": 0, "no_usable_evidence": 0})
    units: int = 0
    citations: int = 0
    edges: dict[str, int] = field(default_factory=dict)
    unit_texts: list[str] = field(default_factory=list)
    ceilings: dict[str, list[float]] = field(default_factory=dict)
    whole_ceilings: list[float] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    windows: Counter[str] = field(default_factory=Counter)
    build: Counter[str] = field(default_factory=Counter)
    add_seconds: float = 0.0
    recall_ms: list[float] = field(default_factory=list)
    context_tokens: list[float] = field(default_factory=list)


def run(
    dataset: Dataset,
    options: EvalOptions,
    memory: EvaluatedMemory,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> EvalReport:
    """Return the figures of ``dataset``, each conversation in a namespace of its own.

    Parameters
    ----------
    dataset : Dataset
        The memory gets its messages and the text of its questions, never the gold.
    options : EvalOptions
        What to measure.
    memory : EvaluatedMemory
        An empty memory; every namespace is deleted again once its questions are asked.
    progress : callable, optional
        Called with (conversations done, conversations in all).

    Raises
    ------
    InvalidInputError
        When nothing is left to ask.
    """
    questions = dataset.questions[: options.limit]
    if not questions:
        raise InvalidInputError(f"{dataset.name} leaves no question to ask")
    asked: dict[str, list[Question]] = {}
    for question in questions:
        asked.setdefault(question.conversation, []).append(question)
    conversations = [talk for talk in dataset.conversations if talk.name in asked]
    cutoffs = _CUTOFFS.get(dataset.kind, (10, 30))
    tally = _Tally()
    for number, conversation in enumerate(conversations):
        # Not the conversation's own name: it may hold what a namespace may not.
        namespace = f"conversation-{number}"
        started = perf_counter()
        waiting = {} if options.units == "rules" else {"wait": True}
        added = memory.add(list(conversation.messages), namespace=namespace, **waiting)
        tally.add_seconds += perf_counter() - started
        _count_added(added, tally)
        _count_units(memory, namespace, asked[conversation.name], tally)
        for question in asked[conversation.name]:
            _ask(memory, namespace, question, options, cutoffs, tally)
        memory.delete_namespace(namespace)
        if progress is not None:
            progress(number + 1, len(conversations))
    return EvalReport(
        _figures(dataset, conversations, options, cutoffs, tally), tuple(tally.scores), tuple(tally.unit_texts)
    )


def _count_added(added: AddResult, tally: _Tally) -> None:
    tally.dropped.update(added.dropped)
    tally.windows.update(added.windows)
    for usage in added.usage.values():
        tally.build.update(calls=usage.calls, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)


def _count_units(memory: EvaluatedMemory, namespace: str, questions: Sequence[Question], tally: _Tally) -> None:
    cited: set[str] = set()
    for unit in memory.get_all(namespace=namespace):
        tally.units += 1
        tally.unit_texts.append(unit.text)
        tally.citations += len(unit.sources)
        cited.update(source.message_id for source in unit.sources if source.message_id is not None)
    for kind, count in memory.stats(namespace=namespace).edges.items():
        tally.edges[kind] = tally.edges.get(kind, 0) + count
    for question in questions:
        if question.answerable and question.gold:
            share = len(cited.intersection(question.gold)) / len(set(question.gold))
            tally.ceilings.setdefault(question.category, []).append(share)
            tally.whole_ceilings.append(float(share == 1.0))


def _ask(
    memory: EvaluatedMemory,
    namespace: str,
    question: Question,
    options: EvalOptions,
    cutoffs: Sequence[int],
    tally: _Tally,
) -> None:
    started = perf_counter()
    recall = memory.recall(
        question.text,
        namespace=namespace,
        top_k=options.top_k,
        now=question.asked_at,
        planner="rules",
        expansion=options.expansion,
        ranking=options.ranking,
        without=options.without,
    )
    tally.recall_ms.append(1000 * (perf_counter() - started))
    if not question.answerable:
        tally.left_out["unanswerable"] += 1
        tally.unanswerable_support.append(recall.support)
        return
    tally.answerable_support.append(recall.support)
    tally.context_tokens.append(len(recall.context(max_tokens=_CONTEXT_TOKENS)) / _CHARACTERS_A_TOKEN)
    if not question.gold:
        tally.left_out["no_usable_evidence"] += 1
        return
    turns = cited_turns(recall.evidence, limit=max(cutoffs))
    figures = {f"recall@{k}": evidence_recall(turns, question.gold, k) for k in cutoffs}
    figures["whole@30"] = float(figures["recall@30"] == 1.0)
    tally.scores.append(QuestionScore(question.question_id, question.category, figures))


def _figures(
    dataset: Dataset,
    conversations: Sequence[Conversation],
    options: EvalOptions,
    cutoffs: Sequence[int],
    tally: _Tally,
) -> dict[str, Any]:
    names = [*(f"recall@{k}" for k in cutoffs), "whole@30"]
    by_category: dict[str, list[QuestionScore]] = {}
    for score in tally.scores:
        by_category.setdefault(score.category, []).append(score)
    return {
        "set": dataset.name,
        "questions": len(tally.scores),
        "left_out": dict(tally.left_out),
        "repairs": dict(dataset.repairs),
        "conversations": len(conversations),
        "turns": sum(len(conversation.messages) for conversation in conversations),
        "units": tally.units,
        "turns_per_unit": tally.citations / tally.units if tally.units else None,
        "edges": dict(tally.edges),
        **_means(tally.scores, names),
        "by_category": {
            category: _means(scores, ["recall@10", "recall@30", "whole@30"])
            | {"n": len(scores), **_ceiling(scores, tally.ceilings[category])}
            for category, scores in sorted(by_category.items())
        },
        "support_auc": auc(tally.answerable_support, tally.unanswerable_support),
        **_ceiling(tally.scores, [share for shares in tally.ceilings.values() for share in shares]),
        "whole_ceiling": mean(tally.whole_ceilings),
        "build": {**tally.build, "dropped": dict(tally.dropped), "windows": dict(tally.windows)},
        "add_seconds": tally.add_seconds,
        "recall_ms": {"p50": percentile(tally.recall_ms, 50), "p99": percentile(tally.recall_ms, 99)},
        "context_tokens": mean(tally.context_tokens),
        "settings": {
            "top_k": options.top_k,
            "expansion": options.expansion,
            "ranking": options.ranking,
            "without": sorted(options.without),
            "limit": options.limit,
            "units": options.units,
        },
    }


def _ceiling(scores: Sequence[QuestionScore], shares: Sequence[float]) -> dict[str, float | None]:
    """Return how much of the evidence any unit cites, and which share of that is among the first 30 turns."""
    ceiling, found = mean(shares), mean([score.figures["recall@30"] for score in scores])
    return {"ceiling": ceiling, "share_of_ceiling": found / ceiling if ceiling and found is not None else None}


def _means(scores: Sequence[QuestionScore], names: Sequence[str]) -> dict[str, float | None]:
    return {name: mean([score.figures[name] for score in scores]) for name in names}


def save_scores(report: EvalReport, path: Path) -> None:
    """Write the figures of each question as JSON lines, for a paired comparison with another run."""
    lines = [
        json.dumps({"id": score.question_id, "category": score.category, **score.figures}) for score in report.scores
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def scores_of(report: EvalReport, figure: str) -> dict[str, float]:
    """Return one figure of each question by its id."""
    return {score.question_id: score.figures[figure] for score in report.scores}


def read_scores(path: Path, figure: str) -> dict[str, float]:
    """Return one figure of each question from a file that `save_scores` wrote.

    Raises
    ------
    InvalidInputError
        When the file cannot be read or does not hold the figure.
    """
    if not path.is_file():
        raise InvalidInputError(f"{path} is not a file; save it with --scores")
    scores: dict[str, float] = {}
    for document in read_documents(path):
        if not isinstance(document, Mapping) or "id" not in document or figure not in document:
            raise InvalidInputError(f"{path.name} has a line without 'id' and {figure!r}; save it with --scores")
        scores[str(document["id"])] = float(document[figure])
    return scores
