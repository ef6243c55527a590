"""Answers to the questions of a set: asked once, kept row by row, and made into a table as often as wanted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from ripple.errors import AnswerError, InvalidInputError, ModelError
from ripple.evaluation.answer_metrics import answer_f1, bleu1
from ripple.evaluation.datasets import Dataset, Question
from ripple.evaluation.loaders import read_documents
from ripple.evaluation.metrics import mean
from ripple.memory import Memory
from ripple.models.base import LanguageModel, ModelSteps
from ripple.models.driver import run
from ripple.models.parsing import parse_reply
from ripple.models.tokens import count_tokens
from ripple.prompts import judge as judge_prompt
from ripple.types import Usage

__all__ = ["AnswerOptions", "ask_answers", "figures_of", "read_rows", "write_rows"]

_CONTEXT_TOKENS = 1500
_BUILD, _QUESTION = "build", "question"


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """What to ask: ``top_k`` units, the first ``limit`` questions, ``votes`` of the judge on each answer."""

    top_k: int = 30
    limit: int | None = None
    votes: int = 3


def ask_answers(
    dataset: Dataset,
    options: AnswerOptions,
    memory: Memory,
    judge: LanguageModel | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield a JSON-ready row for each conversation that is built and each question that is asked.

    Questions of all categories are asked. The memory gets their text, never the right answer; the judge is
    asked about those that have one and were answered.
    """
    questions = dataset.questions[: options.limit]
    names = list(dict.fromkeys(question.conversation for question in questions))
    messages = {conversation.name: conversation.messages for conversation in dataset.conversations}
    done = 0
    for number, name in enumerate(names):
        namespace = f"conversation-{number}"
        started = perf_counter()
        added = memory.add(list(messages[name]), namespace=namespace, wait=True)
        yield {
            "kind": _BUILD,
            "conversation": name,
            "seconds": perf_counter() - started,
            "windows": dict(added.windows),
            "usage": _plain_usage(added.usage),
        }
        for question in (question for question in questions if question.conversation == name):
            yield _asked(memory, namespace, question, options, judge)
            done += 1
            if progress is not None:
                progress(done, len(questions))
        memory.delete_namespace(namespace)


def _asked(
    memory: Memory, namespace: str, question: Question, options: AnswerOptions, judge: LanguageModel | None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": _QUESTION,
        "id": question.question_id,
        "category": question.category,
        "question": question.text,
        "right": question.answer,
        "answerable": question.answerable,
    }
    try:
        answer = memory.answer(question.text, namespace=namespace, top_k=options.top_k, now=question.asked_at)
    except AnswerError as error:
        return row | {"reply": None, "error": type(error).__name__, "in_memory": False, "votes": [], "usage": {}}
    votes = []
    if judge is not None and question.answerable and answer.in_memory:
        votes = [_vote(judge, question, answer.text) for _ in range(options.votes)]
    return row | {
        "reply": answer.text,
        "in_memory": answer.in_memory,
        "cited": sorted({source.message_id or "" for piece in answer.citations for source in piece.sources}),
        "context_tokens": count_tokens(answer.recall.context(_CONTEXT_TOKENS)),
        "usage": _plain_usage(answer.usage),
        "votes": votes,
    }


def _vote(judge: LanguageModel, question: Question, reply: str) -> dict[str, Any]:
    """Return a judge's raw reply and what it says; ``correct`` is None where it says nothing."""

    def steps() -> ModelSteps[dict[str, Any]]:
        request = judge_prompt.build(question.text, question.answer, reply)
        try:
            said = yield request
        except ModelError as error:
            return {"raw": type(error).__name__, "correct": None}
        value = parse_reply(said, request.schema).value
        return {"raw": said.text, "correct": None if value is None else value["correct"]}

    return run(steps(), judge)


def _plain_usage(usage: Mapping[str, Usage]) -> dict[str, dict[str, float]]:
    return {
        stage: {
            "calls": used.calls,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "seconds": used.seconds,
        }
        for stage, used in usage.items()
    }


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a saved run.

    Raises
    ------
    InvalidInputError
        When the file is missing or is not one.
    """
    if not path.is_file():
        raise InvalidInputError(f"{path} is not a file; save it with --save")
    rows = list(read_documents(path))
    if not all(isinstance(row, dict) and row.get("kind") in (_BUILD, _QUESTION) for row in rows):
        raise InvalidInputError(f"{path.name} is no saved run of answers; save it with --save")
    return rows


def figures_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of a run: quality by category and what it cost; a question without a reply counts as wrong.

    F1 and BLEU-1 are over the answerable questions. ``correct`` is the majority of the judge's votes, a tie and
    a failed vote count against; where nothing is to be found it is whether the reply was "not in memory".
    """
    kept = list(rows)
    built, asked = ([row for row in kept if row["kind"] == kind] for kind in (_BUILD, _QUESTION))
    if not asked:
        raise InvalidInputError("there is no question among the rows")
    categories = sorted({row["category"] for row in asked})
    is_judged = any(row["votes"] for row in asked)
    by_category = {name: [row for row in asked if row["category"] == name] for name in categories}
    return {
        "questions": len(asked),
        "failed": sum(row["reply"] is None for row in asked),
        "answerable": _quality([row for row in asked if row["answerable"]], is_judged=is_judged),
        "unanswerable": _quality([row for row in asked if not row["answerable"]], is_judged=is_judged),
        "by_category": {name: _quality(rows, is_judged=is_judged) for name, rows in by_category.items()},
        "cost": _cost(built, asked),
    }


def _quality(rows: Sequence[Mapping[str, Any]], *, is_judged: bool) -> dict[str, Any]:
    told = [row for row in rows if row["answerable"]]
    pairs = [(row["reply"] if row["in_memory"] else "", row["right"], row["category"]) for row in told]
    correct = [float(_is_correct(row)) for row in rows if is_judged or not row["answerable"]]
    return {
        "n": len(rows),
        "f1": mean([answer_f1(*pair) for pair in pairs]),
        "bleu1": mean([bleu1(reply, right) for reply, right, _ in pairs]),
        "correct": mean(correct),
        "not_in_memory": mean([float(row["reply"] is not None and not row["in_memory"]) for row in rows]),
    }


def _is_correct(row: Mapping[str, Any]) -> bool:
    if not row["answerable"]:
        return row["reply"] is not None and not row["in_memory"]
    return 2 * sum(vote["correct"] is True for vote in row["votes"]) > len(row["votes"])


def _cost(built: Sequence[Mapping[str, Any]], asked: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return means a conversation and a question; tokens are input and output together."""
    building = [_total(row["usage"]) for row in built]
    asking = [_total(row["usage"]) for row in asked]
    planning = [_total({stage: used for stage, used in row["usage"].items() if stage == "planner"}) for row in asked]
    return {
        "build_seconds": mean([row["seconds"] for row in built]),
        "build_calls": mean([used["calls"] for used in building]),
        "build_tokens": mean([used["tokens"] for used in building]),
        "question_calls": mean([used["calls"] for used in asking]),
        "question_tokens": mean([used["tokens"] for used in asking]),
        "planner_tokens": mean([used["tokens"] for used in planning]),
        "context_tokens": mean([row["context_tokens"] for row in asked if "context_tokens" in row]),
    }


def _total(usage: Mapping[str, Mapping[str, float]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for used in usage.values():
        total["calls"] += int(used["calls"])
        total["tokens"] += int(used["input_tokens"] + used["output_tokens"])
    return total


def write_rows(rows: Iterable[Mapping[str, Any]], path: Path | None) -> list[Mapping[str, Any]]:
    """Return the rows, each written to the file as soon as it is there."""
    if path is None:
        return list(rows)
    kept = []
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
            file.flush()
            kept.append(row)
    return kept
