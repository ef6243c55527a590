"""The command line against real stores: round trips of the verbs, exit codes, what goes to which stream."""

import io
import json
import shutil
import sys

import pytest

from ripple import _cli_import
from ripple._namespace import Namespace
from ripple.cli import main
from ripple.evaluation.stories import generate_stories
from ripple.memory import Memory

STORY = generate_stories(1, 7)[0]


@pytest.fixture
def ripple(capsys):
    """Run a command line; return its exit code, stdout and stderr."""

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def document(ripple):
    """Run a command line that must work with ``--json``; return its document."""

    def run(*arguments):
        code, out, err = ripple(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return run


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A store that holds the story in two namespaces; read it, copy it to change it."""
    path = tmp_path_factory.mktemp("told") / "store"
    with Memory.open(path) as memory:
        memory.add(list(STORY.messages), namespace="default")
        memory.add("A lonely line.", namespace="other")
    return path


@pytest.fixture
def store(told, tmp_path):
    return shutil.copytree(told, tmp_path / "store")


@pytest.fixture(scope="module")
def no_memory(tmp_path_factory):
    path = tmp_path_factory.mktemp("empty") / "store"
    Memory.open(path).close()
    return path


@pytest.fixture
def empty(no_memory, tmp_path):
    """An empty store; made once, because a new store calibrates its embedder."""
    return shutil.copytree(no_memory, tmp_path / "empty")


# --- the verbs ---


def test_what_is_added_is_found(ripple, document, tmp_path):
    to = ("--store", tmp_path / "new", "--namespace", "trip")
    said = ("--speaker", "Sam", "--timestamp", "2026-04-23T19:05:00+02:00", "--session", "s", "--id", "m1")
    added = document("add", "Try Harbor Grill.", *said, *to)
    assert (added["turn_ids"], added["unit_ids"]) == ([1], [1])
    assert ripple("add", "Try Harbor Grill.", *said, *to)[1] == "turn 1 (known before), unit none\n"
    unit = document("get", 1, *to)
    assert (unit["text"], unit["said_at"]) == ("Sam: Try Harbor Grill.", "2026-04-23T19:05:00+02:00")
    assert unit["sources"][0]["message_id"] == "m1"
    assert document("list", *to)["units"] == [unit]
    for verb in ("search", "recall"):
        found = document(verb, "Which place did Sam name?", *to)["evidence"]
        assert [piece["unit_id"] for piece in found] == [1]
    assert document("namespaces", "--store", to[1]) == {"namespaces": ["trip"]}
    assert document("stats", *to)["turns"] == 1


def test_a_message_comes_from_standard_input(document, monkeypatch, empty):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Grüße aus 北京.\nBis bald!".encode())))
    document("add", "-", "--store", empty)
    (unit,) = document("list", "--store", empty)["units"]
    assert unit["sources"][0]["text"] == "Grüße aus 北京.\nBis bald!"


def test_a_time_without_zone_is_mentioned(ripple, empty):
    _, out, _ = ripple("add", "Hi Ana.", "--timestamp", "2026-04-23", "--store", empty)
    assert out == "turn 1, unit 1; 1 naive time\n"


def test_recall_explains_itself(ripple, told):
    code, out, err = ripple("recall", STORY.question, "--store", told)
    with Memory.open(told, read_only=True) as memory:
        expected = memory.recall(STORY.question, top_k=10).explain()
    assert (code, out, err) == (0, expected + "\n", "")


def test_recall_gives_a_prompt(ripple, told):
    code, out, _ = ripple("recall", STORY.question, "--context", 100, "--store", told)
    assert code == 0
    assert out.startswith("Memories (quoted data")
    assert "Sam: You two should try Harbor Grill for dinner." in out


def test_as_of_leaves_out_what_was_said_later(document, told):
    first_day = STORY.messages[0]["timestamp"]
    found = document("search", STORY.question, "--as-of", first_day, "--top-k", 50, "--store", told)["evidence"]
    assert [piece["said_at"] for piece in found] == [first_day] * len(found)


def test_tables_are_plain_text(ripple, told):
    for arguments in (("search", "Harbor Grill"), ("list", "--limit", 3), ("get", 1), ("stats",)):
        code, out, err = ripple(*arguments, "--store", told)
        assert (code, err) == (0, "")
        assert "\x1b" not in out
        assert max(map(len, out.splitlines())) <= 80


def test_deleting_and_forgetting(ripple, document, store):
    at = ("--store", store)
    before = document("stats", "--namespace", "default", *at)
    assert document("delete", 1, *at)["units"] == 1
    assert ripple("get", 1, *at)[0] == 1
    planned = document("forget", "--session", "session_2", "--dry-run", *at)
    assert planned["turns"] > 0
    assert document("forget", "--session", "session_2", *at) == {**planned, "dry_run": False}
    after = document("stats", "--namespace", "default", *at)
    assert after["units"] == before["units"] - 1 - planned["units"]
    assert all(unit["session"] != "session_2" for unit in document("list", *at)["units"])
    everything = document("forget", "--everything", "--dry-run", *at)
    assert everything["units"] == after["units"]
    assert document("forget", "--everything", *at)["units"] == after["units"]
    assert document("namespaces", *at)["namespaces"] == ["other"]
    assert document("verify", "--deep", *at) == {"problems": []}


def test_the_store_comes_from_the_environment(document, monkeypatch, told):
    monkeypatch.setenv("RIPPLE_STORE", str(told))
    assert document("namespaces")["namespaces"] == ["default", "other"]


def test_the_store_is_agent_ripple_here_by_default(ripple, monkeypatch, tmp_path):
    monkeypatch.delenv("RIPPLE_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert ripple("add", "One line.")[0] == 0
    assert (tmp_path / "agent.ripple").is_dir()


def test_version_is_that_of_the_distribution(ripple, document):
    assert ripple("version")[1] == f"ripple {document('version')['version']}\n"


# --- import and export ---


def recalled(document, question, store, namespace):
    found = document("recall", question, "--top-k", 30, "--store", store, "--namespace", namespace)
    del found["timings"]
    for piece in found["evidence"]:
        for source in piece["sources"]:
            del source["turn_id"]  # counted anew by an import
    return found


def test_an_export_is_imported_as_it_was(ripple, document, store, tmp_path, empty):
    document("delete", 2, "--store", store)
    file = tmp_path / "out.jsonl"
    assert ripple("export", file, "--store", store) == (0, "", "")
    counts = document("import", file, "--store", empty)
    assert counts["namespaces"] == ["default"]
    assert counts["units"] == len(STORY.messages) - 1
    document("import", file, "--store", store, "--namespace", "copy")
    for question in (STORY.question, "Where is the seafood?"):
        was = recalled(document, question, store, "default")
        assert len(was["evidence"]) == 30
        assert recalled(document, question, empty, "default") == was
        assert recalled(document, question, store, "copy") == was
    code, _, err = ripple("import", file, "--store", store)
    assert code == 1
    assert "already" in err


def test_an_export_to_stdout_is_the_file(ripple, told, tmp_path):
    ripple("export", tmp_path / "out.jsonl", "--store", told, "--namespace", "other")
    code, out, _ = ripple("export", "--store", told, "--namespace", "other")
    assert (code, out) == (0, (tmp_path / "out.jsonl").read_text())


def test_an_export_cut_short_is_refused(ripple, told, tmp_path, empty):
    ripple("export", tmp_path / "out.jsonl", "--store", told)
    lines = (tmp_path / "out.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_text("".join(lines[:-5]))
    code, out, err = ripple("import", tmp_path / "cut.jsonl", "--store", empty)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "cut short" in err


def test_an_interrupted_import_is_resumed(ripple, document, monkeypatch, tmp_path):
    messages = [{key: said[key] for key in ("speaker", "content", "timestamp")} for said in STORY.messages]
    file = tmp_path / "chat.jsonl"
    file.write_text("".join(json.dumps(message) + "\n" for message in messages))
    monkeypatch.setattr(_cli_import, "_BATCH", 25)
    record, calls = Namespace.record_messages, []

    def interrupted(self, *arguments, **options):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return record(self, *arguments, **options)

    monkeypatch.setattr(Namespace, "record_messages", interrupted)
    assert ripple("import", file, "--store", tmp_path / "a")[0] != 0
    assert document("stats", "--store", tmp_path / "a")["turns"] == 50
    counts = document("import", file, "--store", tmp_path / "a")
    assert (counts["messages"], counts["repeated"]) == (len(messages), 50)
    document("import", file, "--store", tmp_path / "b")
    assert document("list", "--store", tmp_path / "a") == document("list", "--store", tmp_path / "b")
    was, now = (recalled(document, STORY.question, tmp_path / name, "default") for name in "ba")
    assert now == was


LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "My kite is red."}],
    },
    "qa": [{"question": "Which colour?", "answer": "red", "evidence": ["D1:1"], "category": 4}],
}


@pytest.mark.parametrize(
    ("name", "content", "namespace", "text"),
    [
        ("a.json", ["My kite is red."], "default", "My kite is red."),
        ("a.json", [{"role": "user", "content": "My kite is red.", "id": None}], "default", "user: My kite is red."),
        ("a.json", [LOCOMO], "conv-1", "Ada: My kite is red."),
    ],
)
def test_kinds_of_files(document, tmp_path, empty, name, content, namespace, text):
    (tmp_path / name).write_text(json.dumps(content))
    counts = document("import", tmp_path / name, "--store", empty)
    assert (counts["messages"], counts["namespaces"]) == (1, [namespace])
    units = document("list", "--store", empty, "--namespace", namespace)["units"]
    assert [unit["text"] for unit in units] == [text]


# --- what goes wrong ---


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "x", "--namespace", "nowhere"),
        ("list", "--namespace", "nowhere"),
        ("stats", "--namespace", "nowhere"),
        ("export", "out.jsonl", "--namespace", "nowhere"),
        ("export", "out.txt"),
        ("get", "999"),
        ("delete", "999"),
        ("get", str(2**70)),
        ("recall", "x", "--top-k", "10001"),
        ("recall", "x", "--as-of", "yesterday"),
        ("search", "x", "--as-of", "2026-01-01"),
        ("forget", "--said-from", "2026-13-01T00:00:00Z"),
        ("add", "x", "--timestamp", "soon"),
        ("add", "x", "--namespace", " x"),
        ("add", "another text", "--id", STORY.messages[0]["id"]),
        ("import", "nowhere.json"),
    ],
)
def test_a_mistake_is_one_line_on_stderr(ripple, store, monkeypatch, tmp_path, arguments):
    monkeypatch.chdir(tmp_path)
    code, out, err = ripple(*arguments, "--store", store)
    assert (code, out) == (1, "")
    assert err.startswith("ripple: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("out.*"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[",
        b'"\xff"',
        b"[" * 100_000,
        b"[" + b"9" * 5_000 + b"]",
        b"[7]",
        b'[{"speaker": "Ana"}]',
        b'["fine", {"content": "x", "mood": "y"}]',
        b'["fine", {"content": "x", "timestamp": "soon"}]',
        b'{"type": "namespace", "name": "x"}',
        b'{"conversation": 1, "qa": 2}',
        b'{"haystack_sessions": 1}',
    ],
)
def test_a_bad_file_is_one_line_and_nothing_is_added(ripple, document, store, tmp_path, content):
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    code, out, err = ripple("import", file, "--store", store, "--namespace", "new")
    assert (code, out) == (1, "")
    assert err.startswith("ripple: ")
    assert "bad.json" in err
    assert err.count("\n") == 1
    assert document("namespaces", "--store", store)["namespaces"] == ["default", "other"]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("frobnicate",),
        ("add",),
        ("get", "first"),
        ("get", "0"),
        ("recall", "x", "--expansion", "sideways"),
        ("forget",),
        ("forget", "--everything", "--session", "s"),
        ("demo", "--seed", "x"),
    ],
)
def test_wrong_usage_exits_with_two(ripple, arguments):
    code, _, err = ripple(*arguments)
    assert code == 2
    assert "Traceback" not in err


@pytest.mark.parametrize("verb", ["recall", "verify", "delete"])
def test_no_store_is_one_line(ripple, tmp_path, verb):
    arguments = {"recall": ("x",), "delete": (1,)}.get(verb, ())
    code, out, err = ripple(verb, *arguments, "--store", tmp_path / "none")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert not (tmp_path / "none").exists()


def test_a_folder_that_is_no_store_is_left_alone(ripple, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    for arguments in (("recall", "x"), ("verify",)):
        code, out, err = ripple(*arguments, "--store", tmp_path)
        assert (code, out, err.count("\n")) == (1, "", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_store_in_use_can_be_read_and_not_written(ripple, told):
    with Memory.open(told):
        assert ripple("search", "seafood", "--store", told)[0] == 0
        code, out, err = ripple("add", "x", "--store", told)
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_a_damaged_store_is_told_and_never_a_traceback(ripple, store):
    file = store / "ripple.db"
    data = bytearray(file.read_bytes())
    place = data.index(b"seafood place")
    data[place : place + 7] = b"SEAFOOD"
    file.write_bytes(data)
    code, out, err = ripple("verify", "--store", store)
    assert (code, out) == (1, "")
    assert err.strip()
    assert "SEAFOOD" not in err
    code, out, err = ripple("recall", STORY.question, "--store", store)
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_input_that_is_not_utf8_is_one_line(ripple, monkeypatch, empty):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ab\xff")))
    code, _, err = ripple("add", "-", "--store", empty)
    assert (code, err.count("\n")) == (1, 1)
    assert "byte 2" in err


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_terminal_of_few_characters_is_no_failure(monkeypatch, told, encoding):
    for options in ((), ("--json",)):
        written = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
        with pytest.raises(SystemExit) as ended:
            main(["search", "北京 seafood \udcff", "--store", str(told), *options])
        sys.stdout.flush()
        assert ended.value.code in (None, 0)
    assert json.loads(written.getvalue())["query"].startswith("北京 seafood")
