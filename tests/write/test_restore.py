"""Memory.restore takes back what Memory.export gave, and refuses everything else before it is seen."""

import copy

import pytest

from ripple._record import writing
from ripple.errors import ConfigError, InvalidInputError, ReadOnlyError
from ripple.evaluation.stories import generate_stories
from ripple.memory import Memory
from ripple.store import Record

STORY = generate_stories(1, 11)[0]


@pytest.fixture(scope="module")
def memory():
    """A namespace that saw a deletion and an update, so that ids have gaps and one unit is superseded."""
    with Memory.open(":memory:") as memory:
        memory.add(list(STORY.messages), namespace="talk")
        memory.add(
            [
                {"content": "No id, no time."},
                {
                    "content": "我昨天在北京见了小明。",
                    "speaker": "李雷",
                    "timestamp": "2026-04-23T19:05:00",
                    "metadata": {"room": [1, None]},
                },
                {"content": " "},
            ],
            namespace="talk",
        )
        memory.delete(3, namespace="talk")
        memory.update(5, "I learned to iron two shirts.", namespace="talk")
        yield memory


@pytest.fixture(scope="module")
def rows(memory):
    return list(memory.export(namespace="talk"))


def unnumbered(rows):
    """Return rows without the turn ids, which are counted anew."""
    return [{key: value for key, value in row.items() if key not in ("turn_id", "turn_ids")} for row in rows]


def test_an_export_comes_back_as_it_was(memory, rows):
    result = memory.restore(rows, namespace="copy")
    again = list(memory.export(namespace="copy"))
    assert unnumbered(again[1:]) == unnumbered(rows[1:])
    assert again[0] == {**rows[0], "name": "copy"}
    assert list(dict.fromkeys(row["type"] for row in rows)) == ["namespace", "turn", "unit", "edge", "end"]
    assert len(result.unit_ids) == rows[-1]["units"]
    assert memory.verify(deep=True) == []
    assert memory.stats(namespace="copy").windows["pending"] == 0


def test_recall_is_the_same_in_the_copy(memory, rows):
    memory.restore(rows, namespace="same")
    for question in (STORY.question, "Who learned to iron?", "小明在哪里？"):
        was, now = (memory.recall(question, namespace=name) for name in ("talk", "same"))
        assert now.explain(30) == was.explain(30)
    assert memory.get(5, namespace="same").superseded_by == memory.get(5, namespace="talk").superseded_by


def test_the_copy_goes_on_where_the_original_would(memory, rows):
    memory.restore(rows, namespace="on")
    highest = max(row["unit_id"] for row in rows if row["type"] == "unit")
    added = memory.add([STORY.messages[0], {"content": "Something new.", "speaker": "Ana"}], namespace="on")
    assert added.repeated == 1
    assert added.unit_ids == (highest + 1,)


def test_sources_cite_the_turns_that_they_cited(memory, rows):
    memory.restore(rows, namespace="cites")
    for was, now in zip(memory.get_all(namespace="talk"), memory.get_all(namespace="cites"), strict=True):
        assert [(s.message_id, s.text, s.said_at) for s in now.sources] == [
            (s.message_id, s.text, s.said_at) for s in was.sources
        ]


def test_an_existing_namespace_is_left_alone(memory, rows):
    memory.add("One memory.", namespace="taken")
    with pytest.raises(InvalidInputError, match="already"):
        memory.restore(rows, namespace="taken")
    assert memory.stats(namespace="taken").units == 1


def test_vectors_of_another_embedder_are_refused(memory, rows):
    with pytest.raises(ConfigError, match="other-model"):
        memory.restore([{**rows[0], "embedder": "other-model"}, *rows[1:]], namespace="never")


def test_a_store_open_for_reading_refuses(tmp_path, rows):
    Memory.open(tmp_path / "store").close()
    with Memory.open(tmp_path / "store", read_only=True) as memory, pytest.raises(ReadOnlyError):
        memory.restore(rows)


def first(kind):
    return lambda rows: next(row for row in rows if row["type"] == kind)


BROKEN = {
    "cut short": lambda rows: rows.pop(),
    "empty": lambda rows: rows.clear(),
    "a turn lost": lambda rows: rows.remove(first("turn")(rows)),
    "an edge lost": lambda rows: rows.remove(first("edge")(rows)),
    "rows behind the end": lambda rows: rows.append(rows[-1]),
    "no head": lambda rows: rows.pop(0),
    "a row that is none": lambda rows: rows.insert(1, "text"),
    "an unknown type": lambda rows: rows.insert(1, {"type": "fact"}),
    "a field lost": lambda rows: first("unit")(rows).pop("content"),
    "a unit twice": lambda rows: rows.insert(rows.index(first("unit")(rows)), first("unit")(rows)),
    "an id that is text": lambda rows: first("unit")(rows).update(unit_id="1"),
    "an id beyond all": lambda rows: [r for r in rows if r["type"] == "unit"][-1].update(unit_id=2**63),
    "a unit of nothing": lambda rows: first("unit")(rows).update(turn_ids=[]),
    "an unknown source": lambda rows: first("unit")(rows).update(turn_ids=[10**6]),
    "a list as source": lambda rows: first("unit")(rows).update(turn_ids=[[1]]),
    "a lone surrogate": lambda rows: first("unit")(rows).update(text="\ud800"),
    "names that are one text": lambda rows: first("unit")(rows).update(participants="Ana"),
    "a time without zone": lambda rows: first("unit")(rows).update(said_at="2026-01-01T00:00:00"),
    "a time that ends before": lambda rows: first("unit")(rows).update(
        time=["2026-01-02T00:00:00+00:00", "2026-01-01T00:00:00+00:00"]
    ),
    "a vector cut": lambda rows: first("unit")(rows).update(vector="AAAA"),
    "a vector of zeros": lambda rows: first("unit")(rows).update(vector="A" * 1364 + "AA=="),
    "a vector that is no base64": lambda rows: first("unit")(rows).update(vector="!"),
    "an edge to nowhere": lambda rows: first("edge")(rows).update(dst=10**6),
    "a loop": lambda rows: first("edge")(rows).update(dst=first("edge")(rows)["src"]),
    "an edge of no kind": lambda rows: first("edge")(rows).update(kind="love"),
    "a weight of two": lambda rows: first("edge")(rows).update(weight=2.0),
    "a message id twice": lambda rows: [r for r in rows if r["type"] == "turn"][1].update(
        message_id=first("turn")(rows)["message_id"]
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_export_never_wrote_is_refused_whole(memory, rows, broken):
    changed = copy.deepcopy(rows)
    BROKEN[broken](changed)
    with pytest.raises(InvalidInputError):
        memory.restore(changed, namespace="never")
    assert "never" not in memory.namespaces()


def test_a_restore_that_ends_half_way_leaves_no_namespace(tmp_path, rows, monkeypatch):
    with Memory.open(tmp_path / "store") as memory:
        kept = memory.opened.record
        before = kept.sequence
        with monkeypatch.context() as patch:
            patch.setattr(writing, "insert_batch", interrupt)
            # As after a kill, nothing gets to clean up.
            patch.setattr(Record, "delete_namespace", interrupt)
            with pytest.raises(KeyboardInterrupt):
                memory.restore(rows)
        assert (memory.namespaces(), kept.sequence) == ([], before)
        memory.restore(rows)
        assert kept.sequence == before + 1
        assert memory.verify(deep=True) == []


def interrupt(*_):
    raise KeyboardInterrupt
