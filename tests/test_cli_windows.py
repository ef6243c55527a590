"""The command line with a language model: a scripted server answers the real client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from models.server import Answer, Received, chat, error, running_server
from ripple.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ripple(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line; return its exit code, stdout and stderr."""
    monkeypatch.setenv("RIPPLE_API_KEY", "secret-key")

    def run(*arguments: Any) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def extract(received: Received) -> Answer:
    """Extract a unit of each line, or say what is asked for."""
    data = json.loads(received.body["messages"][-1]["content"])
    if "turns" not in data:
        return chat(json.dumps({"citations": [1], "in_memory": True, "answer": "In the red shed."}))
    lines = [line.split(" ", 1) for group in data["turns"] for line in group[1:]]
    fields = {"participants": [], "locations": [], "start": None, "end": None}
    return chat(json.dumps({"units": [{"restatement": text, "turns": [int(n)], **fields} for n, text in lines]}))


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.json"
    messages = [
        {
            "speaker": "Ana",
            "content": f"Parcel {n} lies in the {('red', 'blue')[n % 2]} shed.",
            "session": f"s{n}",
        }
        for n in range(6)
    ]
    path.write_text(json.dumps(messages))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "store"


def test_import_extracts_with_the_model_and_tells_what_it_took(ripple: Run, chats: Path, store: Path) -> None:
    with running_server() as server:
        server.script(extract)
        model = ("--llm", "scripted", "--base-url", server.url, "--store", store)
        code, out, err = ripple("import", chats, *model, "--price", "0.4,1.6", "--json")
        assert (code, err) == (0, "")
        told = json.loads(out)
        assert (told["messages"], told["units"], told["windows"]) == (6, 6, {"done": 6})
        assert told["usage"]["extraction"]["calls"] == 6
        again = json.loads(ripple("import", chats, *model, "--json")[1])
        assert (again["repeated"], again["windows"]) == (6, {})
        answered = ripple("answer", "Where is parcel 0?", *model, "--planner", "rules")[1]
        assert answered.startswith("In the red shed.")
    usage = json.loads(ripple("usage", "--store", store, "--json")[1])
    assert usage["total"]["calls"] == 6 and usage["stages"]["extraction"]["usd"] == pytest.approx(6 * 12e-6)
    assert "extraction" in ripple("usage", "--store", store)[1]
    assert ripple("pending", "list", "--store", store)[1] == "nothing is pending\n"


def test_a_budget_leaves_windows_that_a_retry_extracts(ripple: Run, chats: Path, store: Path) -> None:
    with running_server() as server:
        server.script(extract)
        model = ("--llm", "scripted", "--base-url", server.url, "--store", store)
        code, out, err = ripple("import", chats, *model, "--max-calls", "2")
        assert code == 0 and "2 done, 4 pending" in out and "llm_calls" in err
        listed = json.loads(ripple("pending", "list", "--store", store, "--json")[1])["windows"]
        assert [window["state"] for window in listed] == ["pending"] * 4
        retried = json.loads(ripple("pending", "retry", *model, "--json")[1])
        assert (retried["windows"], retried["left"]) == ({"done": 4}, 0)


def test_a_failing_endpoint_is_told_and_loses_nothing(ripple: Run, chats: Path, store: Path) -> None:
    with running_server() as server:
        server.script(error(400, "bad"))
        code, out, err = ripple("import", chats, "--llm", "x", "--base-url", server.url, "--store", store)
    assert code == 0 and "6 messages" in out and "secret-key" not in out + err
    listed = ripple("pending", "list", "--store", store)[1]
    assert listed.count("pending") >= 6
    found = json.loads(ripple("search", "parcel 3", "--store", store, "--json")[1])
    assert "Parcel 3" in json.dumps(found)


@pytest.mark.parametrize("arguments", [("--price", "1"), ("--price", "a,b"), ("--max-calls", "-1")])
def test_wrong_options_are_one_line(ripple: Run, chats: Path, store: Path, arguments: tuple[str, str]) -> None:
    code, out, err = ripple("import", chats, "--llm", "x", "--store", store, *arguments)
    assert code in (1, 2) and out == "" and "Traceback" not in err and not store.exists()


def test_dry_run_foresees_the_calls_and_writes_nothing(ripple: Run, chats: Path, store: Path) -> None:
    with running_server() as server:
        server.script(extract)
        model = ("--llm", "scripted", "--base-url", server.url, "--store", store)
        code, out, err = ripple("import", chats, *model, "--dry-run", "--price", "0.4,1.6", "--json")
        foreseen = json.loads(out)
        assert (code, err, server.received, store.exists()) == (0, "", [], False)
        taken = json.loads(ripple("import", chats, *model, "--json")[1])
        assert foreseen["calls"] == foreseen["windows"] == taken["usage"]["extraction"]["calls"]
    assert foreseen["messages"] == 6 and foreseen["input_usd"] == pytest.approx(foreseen["input_tokens"] * 0.4e-6)
    across = ripple("import", chats, "--dry-run", "--windows", "locomo", "--store", store)[1]
    assert across.startswith("6 messages in 1 windows: 1 calls")
