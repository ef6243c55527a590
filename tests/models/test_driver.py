from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from models.scripted import AsyncScriptedModel, ScriptedModel, ask, insist, request
from ripple.errors import BudgetExceededError, ModelError
from ripple.models.base import ModelReply, ModelRequest, ModelSteps
from ripple.models.budget import Budget, Ledger
from ripple.models.driver import Outcome, estimate_input, reply_key, run, run_async, run_many
from ripple.types import Usage


def drive(way: str, steps: ModelSteps[Any], model: ScriptedModel, **options: Any) -> Any:
    return run(steps, model, **options) if way == "sync" else asyncio.run(run_async(steps, model, **options))


def model_for(way: str) -> type[ScriptedModel]:
    return AsyncScriptedModel if way == "async" else ScriptedModel


every_way = pytest.mark.parametrize("way", ["sync", "async", "threads"])


@every_way
def test_steps_get_replies_and_errors_in_turn(way: str) -> None:
    model = model_for(way)(
        ModelReply("one", input_tokens=7, output_tokens=3, seconds=9.0),
        ModelError("no", reason="server"),
        ConnectionResetError("a secret"),
        ModelReply("four four", input_tokens=0, output_tokens=0),
        price=(1.0, 2.0),
    )
    ledger = Ledger()
    heard = drive(way, ask(*[request(str(i)) for i in range(4)]), model, ledger=ledger)
    assert heard == ["one", "error: server", "error: connection", "four four"]
    estimate = estimate_input(request("3"))
    assert estimate == 1 + 1 + 12 + 1  # "syste" "m", "3", the frame
    usage = ledger.usage()
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (4, 7 + estimate, 3 + 2)
    assert usage.usd == pytest.approx((7 + estimate + 2 * 5) / 1e6)
    assert model.timeouts == [60.0] * 4
    assert [each.user for each in model.requests] == ["0", "1", "2", "3"]


@every_way
def test_an_error_that_steps_do_not_deal_with_comes_out(way: str) -> None:
    error = ModelError("no", reason="refused")
    with pytest.raises(ModelError) as caught:
        drive(way, insist(request(), range(1)), model_for(way)(error))
    assert caught.value is error


def test_a_socket_error_of_an_own_model_is_named_not_quoted() -> None:
    with pytest.raises(ModelError, match="scripted raised ConnectionResetError") as caught:
        run(insist(request(), range(1)), ScriptedModel(ConnectionResetError("the key is 123")))
    assert caught.value.retryable
    assert "123" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ConnectionResetError)


@every_way
def test_a_fault_of_the_program_is_not_taken_for_a_model_error(way: str) -> None:
    closed = []

    def steps() -> ModelSteps[None]:
        try:
            yield request()
        finally:
            closed.append(True)

    ledger = Ledger()
    with pytest.raises(ZeroDivisionError):
        drive(way, steps(), model_for(way)(ZeroDivisionError()), ledger=ledger)
    assert closed == [True]
    assert ledger.usage().calls == 1


@every_way
def test_a_spent_budget_is_thrown_into_the_steps(way: str) -> None:
    model = model_for(way)()
    ledger = Ledger(Budget(llm_calls=2))
    heard = drive(way, ask(*[request(str(i)) for i in range(4)]), model, ledger=ledger)
    assert heard == ["{}", "{}", "error: budget", "error: budget"]
    assert len(model.requests) == 2
    assert ledger.refused() == {"llm_calls": 2}


@every_way
def test_a_strict_budget_ends_the_steps(way: str) -> None:
    model = model_for(way)()
    with pytest.raises(BudgetExceededError):
        drive(way, ask(request("1"), request("2")), model, ledger=Ledger(Budget(llm_calls=1, strict=True)))
    assert len(model.requests) == 1


@every_way
def test_the_operation_has_a_deadline(way: str) -> None:
    def slow(_: ModelRequest, timeout: float) -> ModelReply:
        time.sleep(timeout)
        return ModelReply("late")

    model = model_for(way)(ModelReply("soon"), slow)
    assert drive(way, ask(request("1"), request("2"), request("3")), model, timeout=0.05) == [
        "soon",
        "late",
        "error: timeout",
    ]
    assert len(model.requests) == 2
    assert 0 < model.timeouts[1] <= model.timeouts[0] <= 0.05


def test_the_shortest_time_counts() -> None:
    model = ScriptedModel()
    model.timeout = 20.0  # type: ignore[attr-defined]
    run(ask(request()), model, timeout=30.0, ledger=Ledger(Budget(seconds=25)))
    run(ask(request()), model, timeout=30.0, ledger=Ledger(Budget(seconds=15)))
    assert model.timeouts[0] == 20.0
    assert 14 < model.timeouts[1] <= 15


class DictCache(dict[bytes, str]):
    def put(self, key: bytes, reply: str) -> None:
        self[key] = reply


@every_way
def test_cached_replies_cost_no_call(way: str) -> None:
    cache = DictCache()
    model = model_for(way)(ModelReply("first", input_tokens=5, output_tokens=1, seconds=1.0))
    assert drive(way, ask(request()), model, cache=cache) == ["first"]
    ledger = Ledger(Budget(llm_calls=0))
    assert drive(way, ask(request()), model, cache=cache, ledger=ledger) == ["first"]
    assert ledger.usage() == Usage()
    assert len(model.requests) == 1


def test_a_repeated_request_goes_to_the_model_and_replaces_the_cached_reply() -> None:
    cache = DictCache()
    run(ask(request()), ScriptedModel(ModelReply("bad")), cache=cache)
    assert run(ask(request(), request()), ScriptedModel(ModelReply("good")), cache=cache) == ["bad", "good"]
    assert run(ask(request()), ScriptedModel(ModelError("off")), cache=cache) == ["good"]


@pytest.mark.parametrize(
    "reply",
    [ModelReply("cut", "length"), ModelReply("no", refusal="I will not"), ModelReply("  "), ModelReply("x", "other")],
    ids=str,
)
def test_only_whole_replies_are_cached(reply: ModelReply) -> None:
    cache = DictCache()
    run(ask(request()), ScriptedModel(reply), cache=cache)
    assert not cache


@pytest.mark.parametrize("stored", ["", "[]", "{}", '{"text": 3}', "[" * 100_000, "null"], ids=lambda text: text[:9])
def test_a_cached_reply_that_cannot_be_read_is_asked_for_again(stored: str) -> None:
    model = ScriptedModel(ModelReply("fresh"))
    cache = DictCache({reply_key(model, request()): stored})
    assert run(ask(request()), model, cache=cache) == ["fresh"]
    assert json.loads(cache[reply_key(model, request())])["text"] == "fresh"


def test_the_key_of_a_reply_covers_model_prompt_and_request() -> None:
    model, other = ScriptedModel(), ScriptedModel()
    other.name = "other"
    base = ModelRequest("answer", "s", "u", {"type": "object"}, "answer-1", 10)
    variants = [
        ModelRequest("planner", "s", "u", {"type": "object"}, "answer-1", 10),
        ModelRequest("answer", "S", "u", {"type": "object"}, "answer-1", 10),
        ModelRequest("answer", "s", "U", {"type": "object"}, "answer-1", 10),
        ModelRequest("answer", "s", "u", {"type": "array"}, "answer-1", 10),
        ModelRequest("answer", "s", "u", {"type": "object"}, "answer-2", 10),
        ModelRequest("answer", "s", "u", {"type": "object"}, "answer-1", 11),
        ModelRequest("answer", "s", "\ud83d", {"type": "object"}, "answer-1", 10),
    ]
    keys = {reply_key(model, base), reply_key(other, base), *(reply_key(model, each) for each in variants)}
    assert len(keys) == 9
    assert {len(key) for key in keys} == {32}
    assert reply_key(model, base) == reply_key(ScriptedModel(), base)


def test_many_steps_keep_their_order_and_one_failure_stops_no_other() -> None:
    failure = ModelError("no")

    def answer(asked: ModelRequest, _: float) -> ModelReply:
        index = int(asked.user)
        time.sleep(0.002 * (5 - index % 5))
        if index % 7 == 3:
            raise failure
        return ModelReply(f"reply {index}")

    many = (insist(request(str(i)), range(1)) for i in range(30))
    outcomes = list(run_many(many, ScriptedModel(answer), concurrency=4))
    assert outcomes == [Outcome(error=failure) if i % 7 == 3 else Outcome(f"reply {i}") for i in range(30)]


def test_no_more_run_at_a_time_than_told() -> None:
    lock, inside, most = threading.Lock(), [0], [0]

    def answer(_: ModelRequest, __: float) -> ModelReply:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.01)
        with lock:
            inside[0] -= 1
        return ModelReply("x")

    list(run_many((ask(request(str(i))) for i in range(12)), ScriptedModel(answer), concurrency=3))
    assert most[0] == 3


def test_many_steps_share_one_budget() -> None:
    model = ScriptedModel()
    ledger = Ledger(Budget(llm_calls=10))
    many = (ask(request(str(i))) for i in range(25))
    outcomes = list(run_many(many, model, ledger=ledger, concurrency=8))
    assert sum(outcome.value == ["{}"] for outcome in outcomes) == 10 == len(model.requests)
    assert sum(outcome.value == ["error: budget"] for outcome in outcomes) == 15


def test_many_steps_are_read_as_there_is_room() -> None:
    read = []

    def many() -> Iterator[ModelSteps[Any]]:
        for i in range(1_000):
            read.append(i)
            yield ask(request(str(i)))

    outcomes = run_many(many(), ScriptedModel(), concurrency=2)
    assert next(outcomes).value == ["{}"]
    assert len(read) == 4
    outcomes.close()  # type: ignore[attr-defined]
    assert len(read) == 4
