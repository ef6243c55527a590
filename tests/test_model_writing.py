"""Windows of turns through a language model: what becomes of them, and that no failure loses a turn."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from models.scripted import ScriptedModel
from ripple import AsyncMemory, Budget, Filter, Memory, Windows
from ripple.errors import BudgetExceededError, ConfigError, ModelError
from ripple.models.base import ModelReply, ModelRequest

SMALL = Windows(turns=3, overlap=1)


def message(number: int, text: str | None = None, **fields: Any) -> dict[str, Any]:
    content = text or f"Parcel number {number} lies in the {('red', 'blue', 'green')[number % 3]} shed."
    when = f"2026-04-01T{9 + number // 60:02d}:{number % 60:02d}:00+02:00"
    return {"speaker": ("Ana", "Bob")[number % 2], "content": content, "timestamp": when, "id": f"m{number}", **fields}


def lines_of(request: ModelRequest) -> list[tuple[int, str]]:
    """Return the numbered lines that the model is shown."""
    lines = [line for group in json.loads(request.user)["turns"] for line in group[1:]]
    return [(int(number), text) for number, text in (line.split(" ", 1) for line in lines)]


def units_of(request: ModelRequest) -> list[dict[str, Any]]:
    return [
        {
            "restatement": text.replace(": ", " says: ", 1),
            "participants": [text.split(":")[0]],
            "locations": [],
            "start": None,
            "end": None,
            "turns": [number],
        }
        for number, text in lines_of(request)
    ]


def extract(request: ModelRequest, timeout: float = 0.0) -> ModelReply:
    """Reply as a good model would: one unit a line."""
    return ModelReply(json.dumps({"units": units_of(request)}), input_tokens=100, output_tokens=20)


def cut(request: ModelRequest, timeout: float = 0.0) -> ModelReply:
    """Reply with two finished units and a third that is cut."""
    text = json.dumps({"units": units_of(request)})
    place = text.index('{"restatement"', text.index('{"restatement"', text.index('{"restatement"') + 1) + 1)
    return ModelReply(text[: place + 40], finish_reason="length")


def failing(reason: str = "server") -> ModelError:
    return ModelError("the endpoint failed", retryable=True, reason=reason)


def open_memory(path: str | Path, *answers: Any, windows: Windows = SMALL, **options: Any) -> Memory:
    return Memory.open(path, llm=ScriptedModel(*(answers or (extract,))), windows=windows, **options)


def calls(memory: Memory) -> int:
    return len(memory.opened.extracting.llm.requests)  # type: ignore[union-attr]


def cited(memory: Memory) -> list[int]:
    """Return the turns that units cite, one entry for each citation."""
    return sorted(source.turn_id for unit in memory.get_all() for source in unit.sources)


def test_turns_are_found_before_their_window_is_full() -> None:
    with open_memory(":memory:") as memory:
        added = memory.add([message(1), message(2)])
        assert added.outcomes == ("open", "open") and calls(memory) == 0
        first = memory.search("Where is parcel number 2?")[0]
        assert (first.kind, first.unit_id, first.text) == ("turn", -2, "Ana: Parcel number 2 lies in the green shed.")
        assert [source.message_id for source in first.sources] == ["m2"]
        added = memory.add([message(3)])
        assert added.windows == {"done": 1} and calls(memory) == 1
        found = memory.search("Where is parcel number 2?")[0]
        assert (found.kind, found.unit_id, found.text) == (
            "unit",
            2,
            "Ana says: Parcel number 2 lies in the green shed.",
        )
        assert all(evidence.kind == "unit" for evidence in memory.search("parcel"))
        assert memory.verify(deep=True) == []


def test_a_call_can_close_the_window_or_leave_it_to_the_background() -> None:
    with open_memory(":memory:") as memory:
        assert memory.add([message(1)], wait=True).outcomes == ("written",)
        memory.add([message(number) for number in range(2, 8)], wait=False)
        results = memory.flush()["default"]
        assert results.windows.get("pending", 0) == 0 and memory.pending() == []
        assert cited(memory) == [1, 2, 3, 4, 5, 6, 7]
        assert memory.search("Where is parcel number 7?")[0].kind == "unit"


def test_closing_the_store_makes_units_of_what_is_left(tmp_path: Path) -> None:
    with open_memory(tmp_path / "store") as memory:
        memory.add([message(1)])
    with Memory.open(tmp_path / "store") as memory:
        assert cited(memory) == [1]


def test_a_failed_window_stays_pending_and_is_never_doubled(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with pytest.raises(RuntimeError), open_memory(path, failing()) as memory:
        added = memory.add([message(number) for number in (1, 2, 3)])
        assert added.outcomes == ("pending",) * 3 and added.windows == {"pending": 1}
        (window,) = memory.pending()
        assert (window.state, window.attempts, window.reason) == ("pending", 1, "server")
        assert memory.search("Where is parcel number 1?")[0].kind == "turn"
        raise RuntimeError  # leave without the model's last try
    with Memory.open(path) as memory:  # without a model the window waits, and its turns are found
        assert memory.search("Where is parcel number 1?")[0].kind == "turn"
        assert memory.stats().windows == {"pending": 1, "done": 0, "failed": 0}
    with open_memory(path) as memory:
        assert memory.retry().windows == {"done": 1}
        assert memory.retry().windows == {}
        assert cited(memory) == [1, 2, 3]


def test_a_window_that_is_given_up_gets_the_units_of_rules_until_the_model_returns() -> None:
    with open_memory(
        ":memory:", failing(), failing("timeout"), extract, windows=Windows(turns=3, attempts=2)
    ) as memory:
        memory.add([message(number) for number in (1, 2, 3)])
        assert memory.retry().windows == {"failed": 1}
        (window,) = memory.pending()
        assert (window.state, window.attempts, window.reason) == ("failed", 2, "timeout")
        assert cited(memory) == [1, 2, 3]
        assert memory.flush()["default"].windows == {}  # what was given up is tried again on demand alone
        assert memory.retry().windows == {"done": 1}
        assert cited(memory) == [1, 2, 3]
        assert all(unit.text.split(" ")[1] == "says:" for unit in memory.get_all())
        assert memory.verify(deep=True) == []


def test_a_window_without_fallback_keeps_its_raw_turns() -> None:
    with open_memory(":memory:", failing(), windows=Windows(turns=2, overlap=0, attempts=1, fallback=False)) as memory:
        added = memory.add([message(1), message(2)])
        assert added.outcomes == ("failed", "failed") and cited(memory) == []
        assert memory.search("Where is parcel number 1?")[0].kind == "turn"


def test_a_cut_reply_is_asked_for_with_more_room_then_in_halves() -> None:
    with open_memory(":memory:", cut, cut, extract) as memory:
        added = memory.add([message(number) for number in (1, 2, 3)])
        requests = memory.opened.extracting.llm.requests  # type: ignore[union-attr]
        assert [len(lines_of(request)) for request in requests] == [3, 3, 1, 2]
        assert requests[1].max_output_tokens > requests[0].max_output_tokens
        assert added.windows == {"done": 1}
        assert cited(memory) == [1, 2, 3]


def test_a_refusal_makes_one_call_and_is_told() -> None:
    with open_memory(":memory:", ModelReply("", refusal="I cannot help with that.")) as memory:
        memory.add([message(number) for number in (1, 2, 3)])
        memory.add([message(4)])
        assert calls(memory) == 1
        assert memory.pending()[0].reason == "refused"


@pytest.mark.parametrize(
    "reply",
    [
        "Sorry, here is some prose.",
        "[]",
        '{"units": 7}',
        "",
        '{"units": [{"restatement": "x"}]}',
        '{"type":"object","properties":{"units":{"type":"array"}}}',
        "\ud83d" * 40,
    ],
)
def test_an_unreadable_reply_is_asked_for_once_more_and_never_taken_as_empty(reply: str) -> None:
    with open_memory(":memory:", ModelReply(reply)) as memory:
        memory.add([message(number) for number in (1, 2, 3)])
        if reply == "[]":  # a bare list of nothing is an answer: nothing to remember
            assert memory.stats().windows["done"] == 1
            return
        if "restatement" in reply:  # read, but nothing of it holds: rules speak
            assert cited(memory) == [1, 2, 3]
            return
        assert calls(memory) == 2
        assert memory.pending()[0].state == "pending"


def test_windows_are_applied_in_the_order_of_their_turns() -> None:
    def slow_at_first(request: ModelRequest, timeout: float) -> ModelReply:
        time.sleep(0.15 if "number 1 " in request.user else 0.01)
        return extract(request)

    with open_memory(":memory:", slow_at_first) as memory:
        added = memory.add_many([[message(number)] for number in range(1, 20)], concurrency=4)
        assert added.windows["done"] == 9
        units = list(memory.get_all())
        assert [source.turn_id for unit in units for source in unit.sources] == list(range(1, 20))
        assert added.outcomes == ("written",) * 19


def test_threads_that_add_at_once_double_nothing() -> None:
    def slowly(request: ModelRequest, timeout: float) -> ModelReply:
        time.sleep(0.01)
        return extract(request)

    with open_memory(":memory:", slowly) as memory:
        threads = [
            threading.Thread(target=lambda: memory.add([message(number) for number in range(1, 10)])) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        memory.flush()
        assert cited(memory) == list(range(1, 10))
        assert memory.stats().windows["pending"] == 0 and memory.verify(deep=True) == []


def test_what_is_forgotten_while_the_model_works_is_not_written() -> None:
    started, go_on = threading.Event(), threading.Event()

    def wait_once(request: ModelRequest, timeout: float) -> ModelReply:
        if not started.is_set():
            started.set()
            go_on.wait(5)
        return extract(request)

    with open_memory(":memory:", wait_once) as memory:
        messages = [message(1), message(2, "The secret word is zanzibar."), message(3)]
        adding = threading.Thread(target=lambda: memory.add(messages))
        adding.start()
        assert started.wait(5)
        forgotten = memory.forget(Filter(participants=("Ana",)))
        assert forgotten.turns == 1
        go_on.set()
        adding.join()
        memory.flush()
        assert cited(memory) == [1, 3]
        assert not any("zanzibar" in evidence.text for evidence in memory.search("What is the secret word?"))
        assert not any("zanzibar" in unit.text for unit in memory.get_all())


def test_a_budget_stops_cleanly() -> None:
    with open_memory(":memory:") as memory:
        added = memory.add_many([[message(number)] for number in range(1, 12)], budget=Budget(llm_calls=2))
        assert calls(memory) == 2
        assert added.windows["done"] == 2 and added.refused["llm_calls"] >= 1
        assert added.usage["extraction"].calls == 2
        assert sorted(set(added.outcomes)) == ["pending", "written"]
        assert all(window.attempts == 0 for window in memory.pending())
        with pytest.raises(BudgetExceededError):
            memory.retry(budget=Budget(llm_calls=1, strict=True))
        memory.flush()
        assert cited(memory) == list(range(1, 12))


def test_usage_is_summed_in_the_record(tmp_path: Path) -> None:
    with open_memory(tmp_path / "store") as memory:
        memory.add([message(number) for number in range(1, 6)])
    with Memory.open(tmp_path / "store") as memory:
        usage = memory.usage(namespace="default")["extraction"]
        assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 200, 40)
        assert memory.usage() == {"extraction": usage}


def test_kept_replies_go_with_what_is_forgotten(tmp_path: Path) -> None:
    def kept() -> int:
        with closing(sqlite3.connect(f"file:{tmp_path}/store/ripple.db?mode=ro", uri=True)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM replies").fetchone()
        return int(count)

    with open_memory(tmp_path / "store", keep_replies=True) as memory:
        memory.add([message(number) for number in (1, 2, 3)])
        assert kept() == 1
        memory.forget(Filter(participants=("Bob",)))
        assert kept() == 0


def test_small_talk_costs_no_call() -> None:
    with open_memory(":memory:") as memory:
        added = memory.add([message(1, "Hi!"), message(2, "Thanks!"), message(3, "Bye!")])
        assert calls(memory) == 0
        assert added.outcomes == ("empty",) * 3 and added.dropped["gated"] == 3


def test_slow_models_hold_up_no_other_task() -> None:
    def slowly(request: ModelRequest, timeout: float) -> ModelReply:
        time.sleep(0.6)
        return extract(request)

    async def work() -> tuple[list[float], float]:
        async with await AsyncMemory.open(":memory:", llm=ScriptedModel(slowly), windows=SMALL) as memory:
            for name in map(str, range(8)):
                await memory.add([message(1), message(2)], namespace=name)
            await memory.search("parcel", namespace="0")
            started = time.perf_counter()
            adding = asyncio.gather(*(memory.add([message(3)], namespace=str(name)) for name in range(8)))
            await asyncio.sleep(0.05)
            times = []
            while not adding.done():
                before = time.perf_counter()
                assert await memory.search("Where is parcel number 3?", namespace="0")
                times.append(time.perf_counter() - before)
            assert [added.windows for added in await adding] == [{"done": 1}] * 8
            return sorted(times), time.perf_counter() - started

    times, whole = asyncio.run(work())
    assert whole > 0.5 and times[len(times) // 2] < 0.1 and len(times) > 10


def broken(rng: random.Random) -> Callable[[ModelRequest, float], ModelReply]:
    """A model that fails in all ways, and sometimes does not."""

    def reply(request: ModelRequest, timeout: float) -> ModelReply:
        good = json.dumps({"units": units_of(request)})
        way = rng.randrange(10)
        if way == 0:
            raise failing(rng.choice(["server", "timeout", "rate_limit", "connection"]))
        if way == 1:
            return ModelReply(good[: rng.randrange(len(good))], finish_reason="length")
        if way == 2:
            return ModelReply("", finish_reason="content_filter")
        if way == 3:
            return ModelReply("no", refusal="no")
        if way == 4:
            return ModelReply(good.replace('"restatement"', rng.choice(['"text"', '"restatement" "x"']), 1))
        if way == 5:
            return ModelReply(good.replace("}", "", rng.randrange(3)))
        if way == 6:
            return ModelReply(rng.choice(["", "null", "{}", "[1, 2]", '{"units": [', "\ud83d", "9" * 6_000]))
        if way == 7:
            return ModelReply(f"Here you are: {good} and {good}")
        return ModelReply(good)

    return reply


@pytest.mark.parametrize("seed", range(10))
def test_random_failures_lose_no_turn(seed: int, failures: int) -> None:
    rng = random.Random(seed)
    model = ScriptedModel(broken(rng))
    limit = failures
    rule = Windows(turns=rng.randint(2, 6), overlap=1, attempts=2, fallback=rng.random() < 0.5)
    with Memory.open(":memory:", llm=model, windows=rule) as memory:
        number = 0
        while len(model.requests) < limit:
            batch = [message(number + step) for step in range(rng.randint(1, 6))]
            number += len(batch)
            before = len(model.requests)
            budget = rng.randint(0, 4)
            memory.add(batch, wait=rng.choice([None, True]), budget=Budget(llm_calls=budget))
            assert len(model.requests) - before <= budget
        waiting = {turn_id for window in memory.pending() for turn_id in window.turn_ids}
        found = {
            source.turn_id for evidence in memory.search("parcel shed", top_k=10_000) for source in evidence.sources
        }
        assert found == set(range(1, number + 1)), "each turn is found as a unit or as it is"
        assert waiting | set(cited(memory)) >= set(range(1, number + 1)) - {
            turn.turn_id
            for turn in memory.opened.namespace("default", create=False)._windows.open_turns  # type: ignore[union-attr]
        }
        model.answers = [extract]
        memory.retry()
        assert sorted(set(cited(memory))) == list(range(1, number + 1))
        assert memory.pending() == [] and memory.verify(deep=True) == []


@pytest.fixture
def failures() -> int:
    """Model calls of one seed; 10 seeds make the 1,000 of the short form."""
    return 100


def test_without_a_model_nothing_is_retried(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "store") as memory:
        memory.add([message(1)])
        with pytest.raises(ConfigError, match="open the memory with llm="):
            memory.retry()


def test_what_waits_reads_like_other_evidence() -> None:
    with open_memory(":memory:") as memory:
        memory.add([message(number) for number in range(1, 5)])
        recall = memory.recall("Where is parcel number 4?", planner="rules")
        assert {evidence.kind for evidence in recall.evidence} == {"turn", "unit"}
        assert "Parcel number 4 lies" in recall.context(max_tokens=500)
        assert "Parcel number 4 lies" in recall.explain()


def test_deleting_a_namespace_waits_for_no_model() -> None:
    started, go_on = threading.Event(), threading.Event()

    def hang(request: ModelRequest, timeout: float) -> ModelReply:
        started.set()
        go_on.wait(10)
        return extract(request)

    with open_memory(":memory:", hang) as memory:
        memory.add([message(number) for number in (1, 2, 3)], namespace="doomed", wait=False)
        assert started.wait(5)
        before = time.monotonic()
        memory.delete_namespace("doomed")
        assert time.monotonic() - before < 3
        go_on.set()
        memory.add([message(1)], namespace="doomed")
        assert [evidence.unit_id for evidence in memory.search("parcel", namespace="doomed")] == [-1]
        assert memory.verify(deep=True) == []


def test_each_window_is_counted_once_whatever_the_budget_refused() -> None:
    rule = Windows(turns=3, overlap=1)
    with open_memory(":memory:", windows=rule) as memory:
        added = memory.add_many([[message(n) for n in range(12)]], budget=Budget(llm_calls=1), concurrency=1)
        assert added.windows == {"done": 1, "pending": len(memory.pending())}
        assert added.windows["pending"] == 5
        again = memory.add([message(20)], budget=Budget(llm_calls=0))
        assert again.windows == {"pending": 5}


def test_a_window_that_was_given_up_stays_listed_when_the_store_is_opened_again(tmp_path: Path) -> None:
    rule = Windows(turns=3, attempts=1)
    with open_memory(tmp_path / "store", failing(), windows=rule) as memory:
        memory.add([message(number) for number in (1, 2, 3)])
        listed = memory.pending()
    with open_memory(tmp_path / "store", windows=rule) as memory:
        assert memory.pending() == listed and listed[0].state == "failed"
        corrected = memory.update(2, "Parcel number 2 lies in the cellar.")
        assert memory.retry().windows == {"done": 1}
        assert memory.pending() == []
        assert memory.get(corrected).content == "Parcel number 2 lies in the cellar."
        assert set(cited(memory)) == {1, 2, 3} and memory.verify(deep=True) == []


def test_a_window_whose_turns_are_all_deleted_after_it_was_claimed_asks_nothing() -> None:
    with open_memory(":memory:", failing(), extract) as memory:
        memory.add([message(number) for number in (1, 2, 3)])
        namespace = memory.opened.existing("default")
        (job,) = namespace._windows.claim(at_once=True)
        memory.forget(Filter(participants=("Ana", "Bob")))
        with pytest.raises(StopIteration):
            next(namespace._windows.steps(job))
        assert memory.pending() == []
