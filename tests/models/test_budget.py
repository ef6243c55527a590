from __future__ import annotations

import threading
from typing import Any

import pytest

from ripple.errors import BudgetExceededError, ConfigError, InvalidInputError, ModelError
from ripple.models.budget import Budget, Ledger, check_price
from ripple.types import Usage


def test_usage_adds_and_an_unknown_price_stays_unknown() -> None:
    priced, unpriced = Usage(1, 100, 10, 0.5, 0.25), Usage(1, 1, 2, 0.25)
    assert priced + priced == Usage(2, 200, 20, 1.0, 0.5)
    assert priced + unpriced == unpriced + priced == Usage(2, 101, 12, 0.75, None)
    assert Usage() + priced == priced + Usage() == priced == sum([priced], Usage())
    with pytest.raises(TypeError):
        priced + 1  # type: ignore[operator]


@pytest.mark.parametrize(
    "limits",
    [{"llm_calls": -1}, {"llm_calls": 1.5}, {"tokens": True}, {"seconds": float("nan")}, {"usd": float("inf")}],
    ids=str,
)
def test_budget_refuses_what_is_no_limit(limits: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(limits))):
        Budget(**limits)


@pytest.mark.parametrize("price", [(1,), (1, -1), ("a", 2), 3, (float("nan"), 1)], ids=str)
def test_price_is_two_numbers(price: Any) -> None:
    with pytest.raises(InvalidInputError, match="per million tokens"):
        check_price(price)
    assert check_price((1, 2)) == (1.0, 2.0)


def test_ledger_counts_by_stage_and_price() -> None:
    ledger = Ledger()
    for stage, price in (("extraction", (1.0, 4.0)), ("planner", (1.0, 4.0)), ("planner", (1.0, 4.0))):
        held = ledger.reserve(stage, input_tokens=9, output_tokens=9, price=price)
        ledger.book(held, input_tokens=1_000_000, output_tokens=500_000, seconds=2.0)
    assert ledger.by_stage() == {
        "extraction": Usage(1, 1_000_000, 500_000, 2.0, 3.0),
        "planner": Usage(2, 2_000_000, 1_000_000, 4.0, 6.0),
    }
    assert ledger.usage() == Usage(3, 3_000_000, 1_500_000, 6.0, 9.0)
    assert not ledger.refused()


@pytest.mark.parametrize(
    ("budget", "name", "made"),
    [
        (Budget(llm_calls=3), "llm_calls", 3),
        (Budget(tokens=450), "tokens", 4),  # 100 spent, or 150 held, a call: 3 x 100 + 150
        (Budget(usd=0.00042), "usd", 3),  # 0.00012 spent, 0.00018 held: 2 x 12 + 18 = 42
        (Budget(llm_calls=0), "llm_calls", 0),
    ],
    ids=str,
)
def test_budget_refuses_the_call_that_may_exceed_it(budget: Budget, name: str, made: int) -> None:
    ledger = Ledger(budget)
    for _ in range(made):
        held = ledger.reserve("answer", input_tokens=90, output_tokens=60, price=(1.2, 1.2))
        ledger.book(held, input_tokens=90, output_tokens=10)
    with pytest.raises(ModelError, match=f"{name} has no room") as caught:
        ledger.reserve("answer", input_tokens=90, output_tokens=60, price=(1.2, 1.2))
    assert caught.value.reason == "budget"
    assert caught.value.retryable
    assert ledger.refused() == {name: 1}
    assert ledger.usage().calls == made


def test_a_strict_budget_raises() -> None:
    with pytest.raises(BudgetExceededError, match="llm_calls"):
        Ledger(Budget(llm_calls=0, strict=True)).reserve("answer", input_tokens=1, output_tokens=1)


def test_time_runs_out_with_the_clock() -> None:
    now = [100.0]
    ledger = Ledger(Budget(seconds=5), clock=lambda: now[0])
    ledger.book(ledger.reserve("answer", input_tokens=1, output_tokens=1))
    now[0] = 104.0
    assert ledger.seconds_left == 1.0
    now[0] = 105.0
    assert ledger.seconds_left == 0.0
    with pytest.raises(ModelError, match="seconds"):
        ledger.reserve("answer", input_tokens=1, output_tokens=1)
    assert Ledger().seconds_left == float("inf")


def test_dollars_need_a_price() -> None:
    with pytest.raises(ConfigError, match="price"):
        Ledger(Budget(usd=1.0)).reserve("answer", input_tokens=1, output_tokens=1)


def test_what_is_open_counts_as_spent_and_leaves_no_rest() -> None:
    ledger = Ledger(Budget(usd=0.3))
    for _ in range(3):  # in floats 3 x 0.1 is more than 0.3
        held = [ledger.reserve("judge", input_tokens=100_000, output_tokens=0, price=(1.0, 1.0)) for _ in range(3)]
        with pytest.raises(ModelError, match="usd"):
            ledger.reserve("judge", input_tokens=1, output_tokens=0, price=(1.0, 1.0))
        for each in held:
            ledger.book(each)
    assert ledger.usage() == Usage(9, usd=0.0)


def test_threads_never_exceed_the_calls_together() -> None:
    ledger = Ledger(Budget(llm_calls=50))
    barrier = threading.Barrier(8)
    refused = []

    def spend() -> None:
        barrier.wait()
        for _ in range(20):
            try:
                ledger.book(ledger.reserve("answer", input_tokens=1, output_tokens=1))
            except ModelError as error:
                refused.append(error.reason)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.usage().calls == 50
    assert refused == ["budget"] * 110
