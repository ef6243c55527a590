"""`ripple answer` and `ripple recall --planner`, with a model on a real socket."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from models.server import ScriptedServer, chat, error, running_server
from read.asking import ANSWER_UNIT, QUESTION, messages, plan
from ripple import Memory
from ripple.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def running() -> Iterator[ScriptedServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("answers") / "store"
    with Memory.open(path) as memory:
        memory.add(messages())
    return path


@pytest.fixture
def server(running: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """A server that plans from the seafood place and answers from the allergy; the environment names nothing."""
    for name in ("RIPPLE_MODEL", "RIPPLE_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RIPPLE_API_KEY", "sk-test")

    def respond(received: Any) -> Any:
        system, user = (message["content"] for message in received.body["messages"])
        shown = json.loads(user)["memories"]
        wanted = "seafood place" if "You plan" in system else "allergic"
        number = next((memory[0] for memory in shown if wanted in memory[2]), 1)
        told = {"citations": [number], "in_memory": True, "answer": "Maya is \x1b[31mallergic."}
        return chat(json.dumps(plan([number]) if "You plan" in system else told))

    return running.script(respond)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], store: Path) -> Run:
    def run_(*arguments: Any) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments), "--store", str(store)])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run_


def test_answer_is_told_with_what_it_rests_on(run: Run, server: ScriptedServer) -> None:
    code, out, err = run(
        "answer", QUESTION, "--llm", "tiny", "--base-url", server.url, "--top-k", 10, "--planner", "always"
    )
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert first == "Maya is [31mallergic."
    assert second.endswith(ANSWER_UNIT)


def test_answer_as_json(run: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIPPLE_MODEL", "tiny")
    monkeypatch.setenv("RIPPLE_BASE_URL", server.url)
    code, out, _ = run("answer", QUESTION, "--top-k", 10, "--planner", "always", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["in_memory"] is True
    assert told["citations"][0]["sources"][0]["message_id"] == "allergy"
    assert told["usage"]["answer"]["calls"] == told["usage"]["planner"]["calls"] == 1


def test_recall_asks_the_model_when_told_to(run: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIPPLE_MODEL", "tiny")
    monkeypatch.setenv("RIPPLE_BASE_URL", server.url)
    code, out, _ = run("recall", QUESTION, "--planner", "always", "--json")
    assert code == 0
    assert ANSWER_UNIT in [piece["text"] for piece in json.loads(out)["evidence"]]
    before = len(server.received)
    assert run("recall", QUESTION)[0] == 0
    assert len(server.received) == before


def test_model_that_fails_is_one_line(run: Run, server: ScriptedServer) -> None:
    server.script(error(400, "no such model"))
    code, out, err = run("answer", QUESTION, "--llm", "tiny", "--base-url", server.url)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "sk-test" not in err


def test_no_model_named_is_one_line(run: Run, server: ScriptedServer) -> None:
    code, _, err = run("answer", QUESTION)
    assert (code, err.count("\n")) == (1, 1)
    assert "RIPPLE_MODEL" in err
