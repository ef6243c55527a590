"""`ripple eval` from the command line: what goes to stdout and stderr, exit codes, options."""

import json

import pytest
from fake_memory import FakeMemory

from ripple import _cli_eval
from ripple.cli import main

LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "My kite is red."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "My boat is blue."},
        ],
    },
    "qa": [
        {"question": "Which colour has the kite?", "answer": "red", "evidence": ["D1:1"], "category": 4},
        {"question": "Which colour has the tram?", "evidence": ["D1:2"], "category": 5},
    ],
}


@pytest.fixture
def memory(monkeypatch):
    fake = FakeMemory()
    monkeypatch.setattr(_cli_eval, "_opened", lambda embedder, **opening: fake)
    return fake


@pytest.fixture
def locomo(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([LOCOMO]))
    return path


def ripple(capsys, *arguments):
    """Run a command line; return its exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


def test_json_alone_is_on_stdout(memory, locomo, capsys):
    code, out, err = ripple(capsys, "eval", "locomo", locomo, "--json")
    assert (code, err) == (0, "")
    figures = json.loads(out)
    assert figures["questions"] == 1
    assert figures["recall@30"] == 1.0
    assert figures["left_out"]["unanswerable"] == 1
    assert figures["settings"]["embedder"] == "static"


def test_options_reach_the_memory(memory, locomo, capsys):
    options = [
        "--top-k",
        5,
        "--expansion",
        "none",
        "--ranking",
        "paper",
        "--without",
        "graph",
        "--without",
        "cues",
    ]
    code, out, _ = ripple(capsys, "eval", "locomo", locomo, *options, "--limit", 1)
    assert code == 0
    assert "locomo.json" in out
    (call,) = memory.calls
    assert (call["top_k"], call["expansion"], call["ranking"]) == (5, "none", "paper")
    assert call["without"] == {"graph", "cues"}


def test_the_way_of_a_comparison_reaches_the_memory(memory, locomo, capsys):
    code, out, _ = ripple(capsys, "eval", "locomo", locomo, "--access", "undirected", "--json")
    settings = json.loads(out)["settings"]
    assert (code, settings["access"], settings["taken"]) == (0, "undirected", {"undirected": 2})
    assert "expansion" not in settings
    assert {call["expansion"] for call in memory.calls} == {"undirected"}
    code, _, err = ripple(capsys, "eval", "locomo", locomo, "--access", "dense", "--answers")
    assert code == 1
    assert "--access" in err


def test_scores_of_two_runs_are_compared(memory, locomo, tmp_path, capsys):
    saved = tmp_path / "scores.jsonl"
    assert ripple(capsys, "eval", "locomo", locomo, "--scores", saved)[0] == 0
    code, out, _ = ripple(capsys, "eval", "locomo", locomo, "--against", saved, "--json")
    assert code == 0
    assert json.loads(out)["against"] == {
        "figure": "recall@30",
        "difference": 0.0,
        "low": 0.0,
        "high": 0.0,
        "questions": 1,
    }


def test_other_sets_take_their_two_files(memory, tmp_path, capsys):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"id": "p", "title": "Oslo", "text": "A harbor city."}))
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"id": "q", "question": "Which harbor?", "gold": ["p"]}))
    code, out, _ = ripple(capsys, "eval", "passages", corpus, questions, "--json")
    assert (code, json.loads(out)["recall@5"]) == (0, 1.0)
    messages = tmp_path / "messages.jsonl"
    messages.write_text(json.dumps({"chat": "1", "id": 0, "text": "A harbor city."}))
    questions.write_text(json.dumps({"chat": "1", "question": "Which harbor?", "evidence": [0]}))
    code, out, _ = ripple(capsys, "eval", "messages", messages, questions, "--json")
    assert (code, json.loads(out)["recall@10"]) == (0, 1.0)


def test_data_folder_of_the_environment_is_searched(memory, locomo, monkeypatch, capsys):
    monkeypatch.setenv("RIPPLE_DATA", str(locomo.parent))
    assert ripple(capsys, "eval", "locomo", "locomo.json", "--json")[0] == 0


@pytest.mark.parametrize("content", ["[", "{}", '[{"conversation": {}}]', "[]"])
def test_a_bad_file_is_one_line_on_stderr(memory, tmp_path, capsys, content):
    path = tmp_path / "bad.json"
    path.write_text(content)
    code, out, err = ripple(capsys, "eval", "locomo", path, "--json")
    assert (code, out) == (1, "")
    assert err.startswith("ripple: ")
    assert "bad.json" in err
    assert err.count("\n") == 1


def test_a_missing_file_is_one_line_on_stderr(memory, capsys):
    code, out, err = ripple(capsys, "eval", "locomo", "nowhere.json")
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_unknown_embedder_is_refused(locomo, capsys):
    code, _, err = ripple(capsys, "eval", "locomo", locomo, "--embedder", "word2vec")
    assert code == 1
    assert "minilm:FOLDER" in err


@pytest.mark.parametrize(
    "arguments",
    [["eval", "locomo"], ["eval", "locomo", "x", "--top-k", "0"], ["eval", "nothing"], ["frobnicate"]],
)
def test_wrong_usage_exits_with_two(capsys, arguments):
    code, out, err = ripple(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err


def test_stories_print_rates_by_bridge(memory, capsys):
    code, out, err = ripple(capsys, "eval", "stories", "--count", 3, "--json")
    assert (code, err) == (0, "")
    figures = json.loads(out)
    assert figures["stories"] == 3
    assert set(figures["missing_piece"]) == {"one_shot", "undirected", "ripple"}
    assert set(figures["by_bridge"]) == {"word", "meaning"}
    code, out, _ = ripple(capsys, "eval", "stories", "--count", 3)
    assert code == 0
    assert "95 % interval" in out
