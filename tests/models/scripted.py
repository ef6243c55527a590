"""A language model for tests that says what it is told to, and steps to ask it by."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from ripple.errors import ModelError
from ripple.models.base import ModelReply, ModelRequest, ModelSteps

Answer = ModelReply | Exception | Callable[[ModelRequest, float], ModelReply]


def request(user: str = '"hello"', *, stage: str = "extraction", tokens: int = 100) -> ModelRequest:
    return ModelRequest(stage, "system", user, None, "test-1", tokens)


class ScriptedModel:
    """Gives its answers in turn, the last one for ever; keeps the requests and their time-outs."""

    name = "scripted"

    def __init__(self, *answers: Answer, price: tuple[float, float] | None = None) -> None:
        self.answers = list(answers) or [ModelReply("{}", input_tokens=10, output_tokens=5)]
        self.price = price
        self.requests: list[ModelRequest] = []
        self.timeouts: list[float] = []
        self._lock = threading.Lock()

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        with self._lock:
            answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append(request)
            self.timeouts.append(timeout)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ModelReply) else answer(request, timeout)


class AsyncScriptedModel(ScriptedModel):
    """The same through a coroutine; ``complete`` is not for it."""

    async def acomplete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        return super().complete(request, timeout=timeout)

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        raise AssertionError("a model with acomplete was called from a thread")


def ask(*requests: ModelRequest) -> ModelSteps[list[str]]:
    """Steps that send each request and return what came back: the text, or the reason of the error."""
    heard = []
    for each in requests:
        try:
            reply = yield each
        except ModelError as error:
            heard.append(f"error: {error.reason}")
        else:
            heard.append(reply.text)
    return heard


def insist(each: ModelRequest, times: Iterable[int]) -> ModelSteps[str]:
    """Steps that do not deal with failures, and send one request several times."""
    text = ""
    for _ in times:
        text = (yield each).text
    return text
