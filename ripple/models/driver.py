"""Drivers that answer the requests of steps: one logic, a sync and an async hand."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Generic, Protocol, TypeVar

from ripple.config import MODEL_SECONDS
from ripple.errors import ModelError, RippleError
from ripple.models.base import LanguageModel, ModelReply, ModelRequest, ModelSteps
from ripple.models.budget import Ledger
from ripple.models.tokens import count_tokens

__all__ = ["Outcome", "ReplyCache", "estimate_input", "reply_key", "run", "run_async", "run_many"]

Result = TypeVar("Result")
_log = logging.getLogger(__name__)

_FRAME_TOKENS = 12  # what an endpoint's chat template adds to two messages; common ones add 7 to 15
_AHEAD = 2  # finished steps that may wait for a slow one before them, in units of the concurrency


class ReplyCache(Protocol):
    """Keeps whole replies of one namespace by key, as JSON text."""

    def get(self, key: bytes) -> str | None:
        """Return what was put under the key, or None."""
        ...

    def put(self, key: bytes, reply: str) -> None:
        """Keep the reply, in the place of an older one."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Result]):
    """What became of one of many steps: its result, or the error that ended it."""

    value: Result | None = None
    error: RippleError | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    request: ModelRequest
    timeout: float


def estimate_input(request: ModelRequest) -> int:
    """Return about how many tokens an endpoint will count as the request's input."""
    schema = json.dumps(request.schema, ensure_ascii=False) if request.schema is not None else ""
    return count_tokens(request.system) + count_tokens(request.user) + count_tokens(schema) + _FRAME_TOKENS


def reply_key(model: LanguageModel, request: ModelRequest) -> bytes:
    """Return the key of a reply: 32 bytes over the model's name, the request and its prompt's version."""
    parts = [model.name, request.version, asdict(request)]
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=32).digest()


def run(
    steps: ModelSteps[Result],
    model: LanguageModel,
    *,
    ledger: Ledger | None = None,
    timeout: float | None = None,
    cache: ReplyCache | None = None,
) -> Result:
    """Return what the steps return, their requests answered by the model.

    Parameters
    ----------
    steps : generator
        Yields ModelRequest, gets ModelReply or has the ModelError thrown into it.
    model : LanguageModel
        Each call may take ``model.timeout`` seconds, 60 where it has no such attribute.
    ledger : Ledger, optional
        Counts the calls and refuses those that its budget has no room for; a refusal is thrown into the
        steps as ModelError.
    timeout : float, optional
        Seconds for all calls together; once they are over, each request fails with ModelError.
    cache : ReplyCache, optional
        Whole replies of earlier runs; a request that the same steps repeat goes to the model, since its
        reply was not good enough.

    Raises
    ------
    BudgetExceededError
        A strict budget is spent.
    ModelError
        The steps did not deal with a failure.
    """
    calls = _calls(steps, model, ledger or Ledger(), timeout, cache)
    try:
        call = next(calls)
        while True:
            try:
                answer: ModelReply | ModelError = model.complete(call.request, timeout=call.timeout)
            except (ModelError, OSError) as error:
                answer = _model_error(model, error)
            call = calls.send(answer)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        calls.close()


async def run_async(
    steps: ModelSteps[Result],
    model: LanguageModel,
    *,
    ledger: Ledger | None = None,
    timeout: float | None = None,
    cache: ReplyCache | None = None,
) -> Result:
    """Return what the steps return, as ``run`` does, without holding up the event loop.

    A model's coroutine method ``acomplete``, which takes what ``complete`` takes, is used when there is one;
    otherwise ``complete`` runs in a thread.
    """
    import asyncio  # takes longer to load than all of the package's own modules for models

    calls = _calls(steps, model, ledger or Ledger(), timeout, cache)
    acomplete = getattr(model, "acomplete", None)
    try:
        call = next(calls)
        while True:
            try:
                if acomplete is None:
                    answer: ModelReply | ModelError = await asyncio.to_thread(
                        model.complete, call.request, timeout=call.timeout
                    )
                else:
                    answer = await acomplete(call.request, timeout=call.timeout)
            except (ModelError, OSError) as error:
                answer = _model_error(model, error)
            call = calls.send(answer)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        calls.close()


def run_many(
    many: Iterable[ModelSteps[Result]],
    model: LanguageModel,
    *,
    concurrency: int = 8,
    ledger: Ledger | None = None,
    timeout: float | None = None,
    cache: ReplyCache | None = None,
) -> Generator[Outcome[Result], None, None]:
    """Yield the outcome of each steps in their order, several running at a time.

    ``many`` is read as there is room for it, in the caller's thread, so it may be long. An error of one
    (RippleError) is its outcome and stops no other; any other exception is a fault and is raised.
    ``timeout`` is for each steps. Steps that have not begun when the iterator is closed never begin.
    """
    ledger = ledger or Ledger()

    def one(steps: ModelSteps[Result]) -> Outcome[Result]:
        try:
            return Outcome(run(steps, model, ledger=ledger, timeout=timeout, cache=cache))
        except RippleError as error:
            return Outcome(error=error)

    with ThreadPoolExecutor(concurrency, thread_name_prefix="ripple-steps") as pool:
        waiting: deque[Any] = deque()
        try:
            for steps in many:
                waiting.append(pool.submit(one, steps))
                if len(waiting) >= _AHEAD * concurrency:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _model_error(model: LanguageModel, error: ModelError | OSError) -> ModelError:
    """Return the error as the steps get it; an own model may let those of its sockets through."""
    if isinstance(error, ModelError):
        return error
    wrapped = ModelError(f"{model.name} raised {type(error).__name__}", retryable=True, reason="connection")
    wrapped.__cause__ = error
    return wrapped


def _calls(
    steps: ModelSteps[Result], model: LanguageModel, ledger: Ledger, timeout: float | None, cache: ReplyCache | None
) -> Generator[_Call, ModelReply | ModelError, Result]:
    """Yield the calls that must be made, get their answers, and return what the steps return."""
    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    asked: set[bytes] = set()
    try:
        request = next(steps)
        while True:
            key = reply_key(model, request)
            answer: ModelReply | ModelError | None = None
            if cache is not None and key not in asked:
                answer = _cached(cache.get(key))
            asked.add(key)
            if answer is None:
                answer = yield from _one_call(request, model, ledger, deadline)
                if cache is not None and isinstance(answer, ModelReply) and _is_whole(answer):
                    cache.put(key, json.dumps(asdict(answer)))
            request = steps.throw(answer) if isinstance(answer, ModelError) else steps.send(answer)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        steps.close()


def _one_call(
    request: ModelRequest, model: LanguageModel, ledger: Ledger, deadline: float
) -> Generator[_Call, ModelReply | ModelError, ModelReply | ModelError]:
    """Yield one call if time and budget allow it, book it, and return its answer."""
    left = deadline - time.monotonic()
    if left <= 0:
        return ModelError("the time for model calls of this operation is over", retryable=True, reason="timeout")
    estimate = estimate_input(request)
    try:
        reservation = ledger.reserve(
            request.stage,
            input_tokens=estimate,
            output_tokens=request.max_output_tokens,
            price=getattr(model, "price", None),
        )
    except ModelError as error:
        return error
    answer: ModelReply | ModelError | None = None
    started = time.monotonic()
    try:
        own = getattr(model, "timeout", MODEL_SECONDS)
        answer = yield _Call(request, min(own, left, ledger.seconds_left))
    finally:  # also when the driver is cancelled: the call may have been made
        seconds = time.monotonic() - started
        if isinstance(answer, ModelReply):
            # A server that counts nothing is counted for: a budget of tokens must hold there too.
            ledger.book(
                reservation,
                input_tokens=answer.input_tokens or estimate,
                output_tokens=answer.output_tokens or count_tokens(answer.text),
                seconds=seconds,
            )
        else:
            ledger.book(reservation, seconds=seconds)
    if isinstance(answer, ModelError):
        _log.info("model call for %s failed after %.2f s: %s", request.stage, seconds, answer.reason or "error")
    return answer


def _is_whole(reply: ModelReply) -> bool:
    return reply.finish_reason == "stop" and reply.refusal is None and bool(reply.text.strip())


def _cached(stored: str | None) -> ModelReply | None:
    """Return the reply of a cache, None when there is none or it cannot be read: then the model is asked."""
    if stored is None:
        return None
    try:
        fields = json.loads(stored)
        reply = ModelReply(text=fields["text"], finish_reason="stop")
    except (ValueError, TypeError, KeyError, RecursionError):
        _log.warning("a cached reply could not be read; the model is asked again")
        return None
    return reply if isinstance(reply.text, str) else None
