"""`ripple eval locomo --answers` with a model and a judge on a real socket."""

import json

import pytest

from models.server import chat, error, running_server
from ripple.cli import main
from ripple.evaluation.answers import figures_of

FACTS = [["Ada painted a red kite.", "D1:1"], ["Ada plans to sail on Sunday.", "D1:2"]]
SAMPLE = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I painted my kite in red."},
            {"speaker": "Ada", "dia_id": "D1:2", "text": "On Sunday I plan to sail."},
        ],
    },
    "observation": {"session_1_observation": {"Ada": FACTS}},
    "qa": [
        {"question": "Which colour has the kite of Ada?", "answer": "red", "evidence": ["D1:1"], "category": 4},
        {"question": "When does Ada plan to sail?", "answer": "Sunday", "evidence": ["D1:2"], "category": 2},
        {"question": "Which tram does Ada ride?", "adversarial_answer": "red", "evidence": [], "category": 5},
    ],
}


@pytest.fixture(scope="module")
def running():
    with running_server() as server:
        yield server


@pytest.fixture
def server(running, monkeypatch):
    """A server that knows the kite alone, whose judge changes its mind about every third vote."""
    for name in ("RIPPLE_MODEL", "RIPPLE_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RIPPLE_API_KEY", "sk-test")
    votes = []

    def respond(received):
        system, user = (message["content"] for message in received.body["messages"])
        if "You grade" in system:
            votes.append(json.loads(user))
            return chat(json.dumps({"correct": len(votes) % 3 != 0}))
        if "You answer" not in system:
            return error(400)
        is_kite = "kite of Ada" in json.loads(user)["question"]
        reply = {"citations": [1], "in_memory": True, "answer": "Red."}
        nothing = {"citations": [], "in_memory": False, "answer": "not in memory"}
        return chat(json.dumps(reply if is_kite else nothing))

    return running.script(respond)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([SAMPLE]))
    return path


def ripple(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


def test_answers_are_graded_counted_and_saved(server, file, tmp_path, capsys):
    saved = tmp_path / "replies.jsonl"
    asked = ["eval", "locomo", file, "--units", "observations", "--answers", "--llm", "tiny", "--base-url", server.url]
    code, out, err = ripple(capsys, *asked, "--judge", "strict", "--save", saved, "--json")
    assert (code, err) == (0, "")
    figures = json.loads(out)
    assert (figures["questions"], figures["failed"]) == (3, 0)
    assert figures["by_category"]["4"] == {"n": 1, "f1": 1.0, "bleu1": 1.0, "correct": 1.0, "not_in_memory": 0.0}
    assert (figures["by_category"]["2"]["f1"], figures["by_category"]["2"]["correct"]) == (0.0, 0.0)
    assert figures["unanswerable"] == {"n": 1, "f1": None, "bleu1": None, "correct": 1.0, "not_in_memory": 1.0}
    assert figures["answerable"]["correct"] == 0.5
    cost = figures["cost"]
    assert cost["build_calls"] == 1
    assert cost["build_tokens"] > 100
    assert cost["context_tokens"] > 10
    models = [body["model"] for body in server.bodies]
    assert models.count("strict") == 3

    calls = len(server.bodies)
    code, out, _ = ripple(capsys, "eval", "locomo", file, "--from", saved, "--json")
    again = json.loads(out)
    assert (code, len(server.bodies)) == (0, calls)
    assert again == {name: figures[name] for name in again}
    code, out, _ = ripple(capsys, "eval", "locomo", file, "--from", saved)
    assert code == 0
    assert "planner tokens" in out


def test_what_the_model_is_asked_never_holds_the_right_answer(server, file, capsys):
    answered = ["eval", "locomo", file, "--answers", "--units", "observations", "--llm", "tiny", "--limit", 3]
    assert ripple(capsys, *answered, "--base-url", server.url, "--json")[0] == 0
    users = [message["content"] for body in server.bodies for message in body["messages"] if message["role"] == "user"]
    assert users
    assert not any('"right"' in user or "adversarial" in user for user in users)


def test_a_question_that_the_model_fails_counts_as_wrong():
    row = {"kind": "question", "id": "q", "question": "?", "right": "red", "reply": None, "in_memory": False}
    rows = [row | {"category": name, "answerable": name == "4", "votes": [], "usage": {}} for name in ("4", "5")]
    figures = figures_of(rows)
    assert figures["failed"] == 2
    assert (figures["answerable"]["f1"], figures["unanswerable"]["correct"]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("votes", "correct"), [((True, True, False), 1.0), ((True, False), 0.0), ((True, None, None), 0.0), ((), None)]
)
def test_the_majority_of_the_votes_counts(votes, correct):
    row = {"kind": "question", "category": "4", "answerable": True, "reply": "red", "in_memory": True, "right": "red"}
    figures = figures_of([row | {"votes": [{"correct": vote} for vote in votes], "usage": {}}])
    assert figures["answerable"]["correct"] == correct


@pytest.mark.parametrize("content", ["[]\n", '{"kind": "tram"}\n', "{\n"])
def test_a_file_of_other_rows_is_refused(file, tmp_path, capsys, content):
    saved = tmp_path / "other.jsonl"
    saved.write_text(content)
    code, out, err = ripple(capsys, "eval", "locomo", file, "--from", saved)
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_replies_are_saved_as_json_lines_only(file, tmp_path, capsys):
    code, _, err = ripple(capsys, "eval", "locomo", file, "--answers", "--save", tmp_path / "replies.txt")
    assert code == 1
    assert ".jsonl" in err
