"""Questions to a namespace, with the model where there is one: what is asked is checked, driven and accounted for."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ripple._arguments import (
    check_choice,
    check_count,
    check_filter,
    check_moment,
    check_query,
    check_seconds,
)
from ripple._columns import RecallSettings
from ripple._namespace import Namespace
from ripple.config import ROUNDS_MAX, SUPPORT_MIN, TOKENS_MAX
from ripple.errors import AnswerError, ConfigError
from ripple.models.base import LanguageModel
from ripple.models.budget import Budget, Ledger
from ripple.models.driver import run
from ripple.read.answer import Answer, answer_steps
from ripple.read.context import Recall
from ripple.read.recall import RecallRequest, recall_steps
from ripple.types import Filter

__all__ = ["ask_answer", "ask_recall", "recall_request"]

PLANNERS = ("auto", "always", "rules")


def recall_request(
    query: str,
    settings: RecallSettings,
    *,
    filter: Filter | None = None,
    as_of: datetime | None = None,
    include_superseded: bool = True,
    now: datetime | None = None,
    planner: str = "auto",
    rounds: int = 1,
) -> RecallRequest:
    """Return the request of a recall, its arguments checked."""
    return RecallRequest(
        query=check_query(query),
        settings=settings,
        where=check_filter(filter),
        as_of=check_moment(as_of, "as_of"),
        include_superseded=include_superseded,
        now=check_moment(now, "now"),
        planner=check_choice(planner, "planner", PLANNERS),
        rounds=check_count(rounds, "rounds", ROUNDS_MAX),
    )


def ask_recall(
    namespace: Namespace | None,
    request: RecallRequest,
    llm: LanguageModel | None,
    *,
    timeout: float | None = None,
    budget: Budget | None = None,
) -> Recall:
    """Return the evidence for a question; see ``Memory.recall``."""
    timeout = check_seconds(timeout, "timeout")
    if llm is None and request.planner == "always":
        raise ConfigError("planner='always' needs a language model; open the memory with llm=, or leave 'auto'")
    if namespace is None:
        return Recall.empty(request.query)
    if llm is None or request.planner == "rules":
        return namespace.recall(request, SUPPORT_MIN)
    ledger = Ledger(budget)
    steps = recall_steps(namespace.selected(request), namespace.recall_parts(SUPPORT_MIN))
    try:
        return _accounted(run(steps, llm, ledger=ledger, timeout=timeout), ledger)
    finally:
        namespace.book(ledger)


def ask_answer(
    namespace: Namespace | None,
    request: RecallRequest,
    llm: LanguageModel | None,
    *,
    max_tokens: int,
    timeout: float | None = None,
    budget: Budget | None = None,
) -> Answer:
    """Return the answer to a question; see ``Memory.answer``."""
    timeout = check_seconds(timeout, "timeout")
    max_tokens = check_count(max_tokens, "max_tokens", TOKENS_MAX)
    if llm is None:
        raise ConfigError("an answer needs a language model; open the memory with llm=, or use recall().context()")
    if namespace is None:
        return Answer.none(Recall.empty(request.query))
    ledger = Ledger(budget)
    steps = answer_steps(namespace.selected(request), namespace.recall_parts(SUPPORT_MIN), max_tokens=max_tokens)
    try:
        answer = run(steps, llm, ledger=ledger, timeout=timeout)
    except AnswerError as error:
        error.recall = _accounted(error.recall, ledger)
        raise
    finally:
        namespace.book(ledger)
    return replace(answer, recall=_accounted(answer.recall, ledger), usage=ledger.by_stage())


def _accounted(recall: Recall, ledger: Ledger) -> Recall:
    return replace(recall, usage={stage: usage for stage, usage in ledger.by_stage().items() if stage != "answer"})
