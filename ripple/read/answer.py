"""An answer from evidence, with citations, or an honest "not in memory"; the number of calls is bounded."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ripple.errors import AnswerError, ModelError
from ripple.models.base import ModelSteps
from ripple.models.parsing import parse_reply
from ripple.prompts import answer as prompt
from ripple.prompts.encoding import INTEGER, clean, list_of
from ripple.read.context import Recall
from ripple.read.recall import RecallParts, RecallRequest, Recollection
from ripple.types import Evidence, Usage

__all__ = ["Answer", "answer_steps", "within_budget"]

_log = logging.getLogger(__name__)

_CITATIONS_READ = 64
_READ_SCHEMA: dict[str, Any] = {
    **prompt.SCHEMA,
    "properties": {**prompt.SCHEMA["properties"], "citations": list_of(INTEGER, _CITATIONS_READ)},
}
"""Unknown numbers are dropped before the most that is asked for counts."""

_FOUND_SHARE = 5
"""What expansion found stands last in the list, and is what the planner looked for: it gets its part of the budget
first, one of so many, as it gets of the list."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the memory says to a question.

    Attributes
    ----------
    text : str
        The answer, ``"not in memory"`` where the memory does not tell.
    citations : tuple of Evidence
        What it rests on, most important first: each with its ``unit_id`` and the turns that are its
        ``sources``. Empty for what is not in memory, and where a model names nothing that it was shown.
    in_memory : bool
    recall : Recall
        All evidence, and how it was found.
    usage : mapping
        Usage of model calls by stage, those of the recall included.
    degraded : bool
        A model or view failed on the way: the planner, or the call that would have verified.
    """

    query: str
    text: str
    citations: tuple[Evidence, ...]
    in_memory: bool
    recall: Recall
    usage: Mapping[str, Usage] = field(default_factory=dict)
    degraded: bool = False

    @classmethod
    def none(cls, recall: Recall) -> Answer:
        """Return the answer that the memory does not tell."""
        return cls(recall.query, prompt.NOT_IN_MEMORY, (), False, recall, degraded=recall.degraded)


def answer_steps(request: RecallRequest, parts: RecallParts, *, max_tokens: int) -> ModelSteps[Answer]:
    """Recall, and answer from what was found.

    Where the model finds no answer, or support is low, the planner is asked once more what is missing, and the
    question once more where that brought something new: at most ``rounds`` + 1 calls of the planner and two
    of the answer, one of which is made again, with more room, when its reply cannot be read.

    Parameters
    ----------
    max_tokens : int
        Of the evidence that the model is shown, by ``count_tokens``.

    Raises
    ------
    AnswerError
        The model gave no answer; ``recall`` of the error holds the evidence.
    BudgetExceededError
        A strict budget is spent.
    """
    recollection = Recollection(request, parts)
    yield from recollection.complete()
    recall = recollection.result()
    if not recall.evidence:
        return Answer.none(recall)
    asking = _Asking(request, max_tokens)
    try:
        answer = yield from asking.ask(recall)
    except ModelError as error:
        raise AnswerError(
            f"no answer could be had: {error}", retryable=error.retryable, reason=error.reason, recall=recall
        ) from error
    if (answer.in_memory and recall.is_supported) or not recollection.may_look_further:
        return answer
    found_more = yield from recollection.look_further()
    recall = recollection.result()
    if not found_more:
        return replace(answer, recall=recall, degraded=recall.degraded)
    try:
        return (yield from asking.ask(recall))
    except ModelError as error:
        _log.info("an answer was not verified: %s", error.reason or type(error).__name__)
        return replace(answer, degraded=True)


class _Asking:
    """The calls of one question; only one of them is made a second time."""

    def __init__(self, request: RecallRequest, max_tokens: int) -> None:
        self._request = request
        self._max_tokens = max_tokens
        self._may_repeat = True

    def ask(self, recall: Recall) -> ModelSteps[Answer]:
        """Return the model's answer from a recall."""
        shown = within_budget(recall.evidence, self._max_tokens)
        if not shown:
            return Answer.none(recall)
        request = prompt.build(self._request.query, shown, now=self._request.now)
        parsed = parse_reply((yield request), _READ_SCHEMA)
        if parsed.value is None and not parsed.is_refused and self._may_repeat:
            self._may_repeat = False
            request = replace(request, max_output_tokens=2 * request.max_output_tokens)
            parsed = parse_reply((yield request), _READ_SCHEMA)
        if parsed.value is None:
            problems = ", ".join(sorted(parsed.problems))
            raise ModelError(
                f"the reply cannot be used: {problems}",
                retryable=not parsed.is_refused,
                reason="refused" if parsed.is_refused else "unreadable",
            )
        return _read(parsed.value, shown, recall)


def _read(value: Mapping[str, Any], shown: Sequence[Evidence], recall: Recall) -> Answer:
    text = clean(value["answer"])
    if not value["in_memory"] or not text or text.casefold().strip(" .") == prompt.NOT_IN_MEMORY:
        return Answer.none(recall)
    cited = dict.fromkeys(number for number in value["citations"] if 1 <= number <= len(shown))
    citations = tuple(shown[number - 1] for number in cited)[: prompt.CITATIONS_MAX]
    return Answer(recall.query, text, citations, True, recall, degraded=recall.degraded)


def within_budget(evidence: Sequence[Evidence], max_tokens: int) -> list[Evidence]:
    """Return the evidence that fits, in its order: what expansion found first, a fifth at most, then the best."""
    costs = [prompt.tokens_of(piece) for piece in evidence]
    reached = [at for at, piece in enumerate(evidence) if piece.hop > 0]
    chosen: set[int] = set()
    left = max_tokens
    for order, least in ((reached, max_tokens - max_tokens // _FOUND_SHARE), (range(len(evidence)), 0)):
        for at in order:
            if at not in chosen and left - costs[at] >= least:
                chosen.add(at)
                left -= costs[at]
    return [evidence[at] for at in sorted(chosen)]
