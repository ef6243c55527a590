"""What the record keeps and gives back, in memory; files, crashes and locks are in test_persistence."""

from __future__ import annotations

import base64
import copy
import json
import pickle
import struct
import threading
import zlib
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from record_examples import (
    DAY,
    DIMENSION,
    SETTINGS,
    fill,
    message,
    open_configured,
    stored_unit,
    utc,
    vectors_for,
)
from ripple._record.checksum import UNIT, RowFormat
from ripple.errors import (
    ConfigError,
    CorruptStoreError,
    DimensionMismatchError,
    InvalidInputError,
    ReadOnlyError,
    StoreClosedError,
    StoreError,
    UnitNotFoundError,
)
from ripple.store import Batch, Links, Record, WindowState
from ripple.types import EdgeKind, Filter, Thresholds, TimeInterval

BOUNDED = settings(max_examples=60, deadline=None, derandomize=True)
NO_TIME = np.iinfo(np.int64).min


@pytest.fixture
def home():
    record, namespace = open_configured(":memory:")
    yield record, namespace
    record.close()


# Turns


def test_turns_come_back_as_they_were_said(home):
    record, namespace = home
    said = datetime(2026, 4, 23, 19, 5, 7, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    text = 'NUL \x00, bidi \u202e, emoji \U0001f469\u200d\U0001f680, "quotes" and \\'
    metadata = {"mood": "good", "tags": ["a", {"b": None}], "big": 2**70, "true": True}
    given_message = replace(
        message(text, "id \x00 'x'", session="s\x00t", said_at=said, metadata=metadata), flags=("naive_time",)
    )
    (turn,) = record.add_turns(namespace, [given_message]).turns
    assert record.turns(namespace, [turn.turn_id, 99]) == {1: turn}
    assert (turn.text, turn.message_id, turn.session) == (text, "id \x00 'x'", "s\x00t")
    assert turn.metadata == metadata
    assert turn.flags == ("naive_time",)
    assert turn.said_at == said
    assert turn.said_at.utcoffset() == said.utcoffset()


def test_each_session_of_a_call_gets_one_pending_window(home):
    record, namespace = home
    calls = [message("a", session="x"), message("b", session="y"), message("c", session="x")]
    windows = record.add_turns(namespace, calls).windows
    assert [(w.turn_ids, w.state) for w in windows] == [((1, 3), "pending"), ((2,), "pending")]
    assert record.windows.all(namespace) == list(windows)
    assert record.windows.all(namespace, state=WindowState.DONE) == []


def test_a_repeated_message_changes_nothing(home):
    record, namespace = home
    first = record.add_turns(namespace, [message("hello", "m1")])
    again = record.add_turns(namespace, [message("hello", "m1"), message("new", "m2"), message("new", "m2")])
    assert again.repeated == (0, 2)
    assert again.turns[0] == first.turns[0]
    assert again.turns[1] == again.turns[2]
    assert [window.turn_ids for window in again.windows] == [(2,)]
    unchanged = record.add_turns(namespace, [message("hello", "m1")])
    assert (unchanged.sequence, unchanged.windows) == (again.sequence, ())


@pytest.mark.parametrize("messages", [[message("other", "m1")], [message("ok", "m2"), message("not ok", "m2")]])
def test_an_id_met_with_another_text_is_refused_before_anything_is_written(home, messages):
    record, namespace = home
    record.add_turns(namespace, [message("hello", "m1")])
    before = record.sequence
    with pytest.raises(InvalidInputError, match="another text"):
        record.add_turns(namespace, [message("innocent"), *messages])
    assert record.sequence == before
    assert record.stats().turns == 1


def test_a_naive_time_and_nan_metadata_are_refused(home):
    record, namespace = home
    for bad in (message("x", said_at=datetime(2026, 1, 1)), message("x", metadata={"a": float("nan")})):
        with pytest.raises(InvalidInputError):
            record.add_turns(namespace, [bad])
    assert record.stats().turns == 0


@given(st.datetimes(timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))))
@BOUNDED
def test_any_aware_datetime_comes_back_with_its_zone(said):
    record, namespace = open_configured(":memory:")
    (turn,) = record.add_turns(namespace, [message("x", said_at=said)]).turns
    assert turn.said_at == said.replace(microsecond=0)
    assert turn.said_at.utcoffset() == said.utcoffset()
    record.close()


# Units


def test_a_unit_comes_back_with_its_sources_in_order(home):
    record, namespace = home
    record.add_turns(namespace, [message("a", "m1"), message("b"), message("c")])
    (unit_id,) = record.reserve_unit_ids(namespace, 1)
    interval = TimeInterval(utc(2026, 4, 24), utc(2026, 4, 24, 23))
    unit = stored_unit(unit_id, [3, 1], participants=("Sam", 'An"a\\'), locations=("Harbor",), time=interval)
    record.apply(namespace, Batch([unit]))
    record.apply(namespace, Batch(new_sources=[(unit_id, 2), (unit_id, 3), (unit_id, 2)]))
    read = record.units(namespace, [unit_id, 7])[unit_id]
    assert [source.turn_id for source in read.sources] == [3, 1, 2]
    assert read.sources[1].message_id == "m1"
    assert (read.text, read.content, read.speaker) == ("Sam: Harbor Grill is good", unit.draft.content, "Sam")
    assert (read.participants, read.locations) == (("Sam", 'An"a\\'), ("Harbor",))
    assert (read.time, read.said_at, read.session) == (interval, DAY, "first")
    assert (read.is_question, read.has_time_word, read.status) == (False, True, "current")


def test_a_state_edge_makes_its_old_end_superseded(home):
    record, namespace = home
    fill(record, namespace, 3)
    record.apply(namespace, Batch(edges_added=Links.of([(3, 1, EdgeKind.STATE, 0.9)])))
    units = record.units(namespace, [1, 2, 3])
    assert [(u.status, u.superseded_by) for u in units.values()] == [
        ("current", None),
        ("current", None),
        ("superseded", 1),
    ]


def test_unit_ids_are_reserved_and_never_given_again(home):
    record, namespace = home
    assert list(record.reserve_unit_ids(namespace, 3)) == [1, 2, 3]
    assert fill(record, namespace, 2) == [4, 5]
    record.delete_units(namespace, [4, 5])
    assert fill(record, namespace, 1, start=2) == [6]
    with pytest.raises(InvalidInputError, match="not reserved"):
        record.apply(namespace, Batch([stored_unit(9, [3])]))
    with pytest.raises(InvalidInputError, match="cannot reserve"):
        record.reserve_unit_ids(namespace, -1)


@pytest.mark.parametrize(
    "batch",
    [
        Batch([stored_unit(4, [])]),
        Batch([stored_unit(4, [77])]),
        Batch([stored_unit(4, [1 << 41])]),
        Batch([stored_unit(3, [1])]),
        Batch([stored_unit(4, [1]), stored_unit(4, [2])]),
        Batch([stored_unit(4, [1], digest=b"short")]),
        Batch([stored_unit(4, [1])], vectors=np.zeros((2, DIMENSION), np.float32)),
        Batch(new_sources=[(9, 1)]),
        Batch(edges_added=Links.of([(1, 1, 0, 0.5)])),
        Batch(edges_added=Links.of([(1, 99, 0, 0.5)])),
        Batch(edges_added=Links.of([(1, 2, 5, 0.5)])),
        Batch(edges_added=Links.of([(1, 3, 0, float("nan"))])),
        Batch(edges_added=Links.of([(1, (1 << 40) + 2, 0, 0.5)])),
        Batch(windows_done=[5]),
    ],
    ids=range(14),
)
def test_a_batch_that_contradicts_the_record_changes_nothing(home, batch):
    record, namespace = home
    fill(record, namespace, 3)
    record.reserve_unit_ids(namespace, 1)
    before = list(record.export(namespace)), record.sequence
    with pytest.raises(InvalidInputError):
        record.apply(namespace, replace(batch, edges_evicted=Links.of([(1, 2, EdgeKind.SEQUENCE, 0.0)])))
    assert (list(record.export(namespace)), record.sequence) == before
    assert record.verify(deep=True) == []


def test_vectors_need_the_dimension_of_the_store(home):
    record, namespace = home
    fill(record, namespace, 1)
    record.reserve_unit_ids(namespace, 1)
    with pytest.raises(DimensionMismatchError, match="dimension 3, the store has 4"):
        record.apply(namespace, Batch([stored_unit(2, [1])], vectors=np.zeros((1, 3), np.float32)))
    with Record.open(":memory:") as bare:
        number = bare.namespace("x", create=True)
        with pytest.raises(ConfigError, match="configure"):
            bare.apply(number, Batch(vectors=np.zeros((0, 4), np.float32)))


def test_a_window_is_applied_once_and_failures_are_counted(home):
    record, namespace = home
    (window,) = record.add_turns(namespace, [message("a")]).windows
    (failed,) = record.windows.mark(namespace, [window.window_id], state=WindowState.FAILED, reason="refused")
    assert record.windows.all(namespace, state=WindowState.FAILED) == [failed]
    assert (failed.attempts, failed.reason) == (1, "refused")
    record.apply(namespace, Batch(windows_done=[window.window_id], prompt_version="rules-1"))
    (done,) = record.windows.all(namespace, state=WindowState.DONE)
    assert (done.reason, done.prompt_version, done.turn_ids) == ("", "rules-1", (1,))
    with pytest.raises(StoreError, match="applied once"):
        record.apply(namespace, Batch(windows_done=[window.window_id]))


def test_units_are_found_by_digest(home):
    record, namespace = home
    record.add_turns(namespace, [message("a"), message("b")])
    first, second = record.reserve_unit_ids(namespace, 2)
    digest = bytes(range(16))
    units = [stored_unit(first, [1], digest=digest), stored_unit(second, [2], digest=digest, said_at=None)]
    record.apply(namespace, Batch(units))
    found = record.units_by_digest(namespace, [bytes(16), digest, digest])
    assert found == {digest: [(first, int(DAY.timestamp())), (second, None)]}


# Edges


def test_evicted_edges_leave_before_added_ones_enter(home):
    record, namespace = home
    fill(record, namespace, 3)
    change = Batch(
        edges_added=Links.of([(2, 1, EdgeKind.SEQUENCE, 0.75), (3, 1, EdgeKind.TERM, 0.5)]),
        edges_evicted=Links.of([(1, 2, EdgeKind.SEQUENCE, 0.625), (1, 3, EdgeKind.SEMANTIC, 0.5)]),
    )
    record.apply(namespace, change)
    edges = record.load(namespace).edges
    rows = list(zip(edges.src, edges.dst, edges.kind, edges.weight, strict=True))
    assert rows == [(1, 2, 3, 0.75), (1, 3, 4, 0.5), (2, 3, 3, 0.625)]
    assert record.verify() == []


def test_an_edge_written_again_gets_the_new_weight(home):
    record, namespace = home
    fill(record, namespace, 2)
    record.apply(namespace, Batch(edges_added=Links.of([(1, 2, EdgeKind.SEQUENCE, 0.25)])))
    assert record.load(namespace).edges.weight.tolist() == [0.25]
    assert record.verify() == []


# Loading


def test_the_image_holds_every_unit_as_columns(home):
    record, namespace = home
    record.add_turns(namespace, [message("a"), message("b")])
    ids = record.reserve_unit_ids(namespace, 2)
    interval = TimeInterval(utc(2026, 4, 24), utc(2026, 4, 25))
    units = [
        stored_unit(1, [1], content="one", locations=("Harbor",), time=interval),
        stored_unit(2, [2], content="two", speaker=None, participants=(), said_at=None, session=""),
    ]
    vectors = np.array([[1, 2, 3, 4], [np.nan] * 4], dtype=np.float64)
    sequence = record.apply(namespace, Batch(units, vectors, edges_added=Links.of([(2, 1, EdgeKind.TERM, 0.5)])))
    image = record.load(namespace)
    assert image.sequence == sequence
    assert image.unit_ids.tolist() == list(ids)
    np.testing.assert_array_equal(image.vectors, vectors.astype(np.float32))
    assert (image.contents, image.speakers, image.sessions) == (["one", "two"], ["Sam", None], ["first", ""])
    assert (image.participants, image.locations) == ([("Sam",), ()], [("Harbor",), ()])
    assert (image.participant_keys, image.location_keys) == ([("sam",), ()], [("harbor",), ()])
    start, end = int(interval.start.timestamp()), int(interval.end.timestamp())
    assert image.times.tolist() == [[start, end], [NO_TIME, NO_TIME]]
    assert image.said_at.tolist() == [int(DAY.timestamp()), NO_TIME]
    assert image.flags.tolist() == [2 | 4, 0]
    assert (image.edges.src.tolist(), image.edges.dst.tolist()) == ([1], [2])
    dtypes = [a.dtype for a in (image.vectors, image.times, image.flags, image.edges.kind, image.edges.weight)]
    assert dtypes == [np.float32, np.int64, np.uint8, np.uint8, np.float32]


def test_an_empty_namespace_has_an_empty_image(home):
    record, namespace = home
    image = record.load(namespace)
    assert (image.vectors.shape, image.times.shape, len(image.edges)) == ((0, DIMENSION), (0, 2), 0)


def test_all_units_are_given_over_page_borders(home):
    record, namespace = home
    fill(record, namespace, 501)
    record.delete_units(namespace, [1, 250, 500])
    listed = list(record.all_units(namespace))
    assert [unit.unit_id for unit in listed] == [n for n in range(1, 502) if n not in (1, 250, 500)]
    assert listed[0] == record.units(namespace, [2])[2]


# Selecting


@pytest.fixture
def scene():
    record, namespace = open_configured(":memory:")
    record.add_turns(
        namespace,
        [
            message("a", session="one", said_at=utc(2026, 1, 1), metadata={"topic": "food", "n": 1}),
            message("b", session="one", said_at=utc(2026, 1, 2), metadata={"topic": "food", "n": True}),
            message("c", session="two", said_at=None, speaker="Tom"),
            message("d", session="two\x00", said_at=utc(2026, 1, 9), speaker="Zoe", metadata={"k\"'": [1]}),
        ],
    )
    record.reserve_unit_ids(namespace, 4)
    week = TimeInterval(utc(2026, 1, 5), utc(2026, 1, 11))
    units = [
        stored_unit(1, [1], participants=("Sam", "Maya"), session="one", said_at=utc(2026, 1, 1)),
        stored_unit(2, [2, 1], locations=("Rome",), session="one", said_at=utc(2026, 1, 2), time=week),
        stored_unit(3, [3], participants=("Tom",), session="two", said_at=None),
        stored_unit(4, [4, 3], participants=(), session="two\x00", said_at=utc(2026, 1, 9)),
    ]
    record.apply(namespace, Batch(units))
    yield record, namespace
    record.close()


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Filter(), [1, 2, 3, 4]),
        (Filter(session="two"), [3]),
        (Filter(session=("one", "two\x00", "no")), [1, 2, 4]),
        (Filter(participants=("maya", "tom")), [1, 3]),
        (Filter(participants=("sam",), locations=("rome",)), [2]),
        (Filter(participants=()), []),
        (Filter(time=(utc(2026, 1, 11), None)), [2]),
        (Filter(time=(utc(2026, 1, 12), None)), []),
        (Filter(time=(None, utc(2026, 1, 5))), [2]),
        (Filter(time=(None, None)), [2]),
        (Filter(said=(utc(2026, 1, 2), utc(2026, 1, 9))), [2, 4]),
        (Filter(metadata={"topic": "food"}), [1, 2]),
        (Filter(metadata={"n": 1}), [1, 2]),
        (Filter(metadata={"n": True}), [2]),
        (Filter(metadata={"k\"'": (1,)}), [4]),
        (Filter(metadata={"topic": None}), []),
        (Filter(ids=(4, 2, 99, 0, -1, (1 << 40) + 1)), [2, 4]),
        (Filter(ids=(1, 2), session="one", said=(utc(2026, 1, 2), None)), [2]),
        (Filter(session="one' OR 1=1 --"), []),
    ],
)
def test_a_filter_selects_units(scene, wanted, ids):
    record, namespace = scene
    selected = record.select(namespace, wanted)
    assert selected.dtype == np.int64
    assert selected.tolist() == ids


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Filter(), [1, 2, 3, 4]),
        (Filter(session="one"), [1, 2]),
        (Filter(said=(None, utc(2026, 1, 1))), [1]),
        (Filter(metadata={"n": 1, "topic": "food"}), [1]),
        (Filter(ids=(4,)), [3, 4]),
        (Filter(ids=(4,), session="two"), [3]),
        (Filter(time=(utc(2026, 1, 5), None)), [1, 2]),
        (Filter(participants=("zoe",)), [4]),
        (Filter(participants=("sam",), said=(utc(2026, 1, 2), None)), [2]),
        (Filter(participants=("zoe",), locations=("rome",)), []),
    ],
)
def test_a_filter_selects_turns(scene, wanted, ids):
    record, namespace = scene
    assert record.select_turns(namespace, wanted, name_key=str.casefold).tolist() == ids


def test_a_speaker_is_matched_only_with_the_rule_for_names(scene):
    record, namespace = scene
    assert record.select_turns(namespace, Filter(participants=("zoe",))).tolist() == []


# Deleting


def test_a_turn_goes_with_its_last_citing_unit(scene):
    record, namespace = scene
    edges = Links.of([(1, 2, 0, 0.5), (2, 3, 0, 0.5), (3, 4, 0, 0.5), (4, 2, EdgeKind.STATE, 0.5)])
    record.apply(namespace, Batch(edges_added=edges))
    planned = record.delete_units(namespace, [2], dry_run=True)
    assert record.stats().units == 4
    report = record.delete_units(namespace, [2], edges_added=Links.of([(1, 3, EdgeKind.STATE, 0.9)]))
    assert (report.units, report.turns, report.edges, report.turns_kept) == ((2,), (2,), 3, (1,))
    assert replace(report, sequence=0) == planned
    image = record.load(namespace)
    assert image.unit_ids.tolist() == [1, 3, 4]
    assert (image.edges.src.tolist(), image.edges.dst.tolist()) == ([1, 3], [3, 4])
    assert list(record.turns(namespace, range(1, 5))) == [1, 3, 4]
    assert record.verify(deep=True) == []


def test_orphaned_turns_stay_when_asked(scene):
    record, namespace = scene
    report = record.delete_units(namespace, [2], delete_orphan_turns=False)
    assert (report.turns, report.turns_kept) == ((), (1, 2))


def test_deleting_a_missing_unit_changes_nothing(scene):
    record, namespace = scene
    before = record.sequence
    for missing in ([1, 9], [0], [(1 << 40) + 1]):
        with pytest.raises(UnitNotFoundError, match=f"no unit {missing[-1]}"):
            record.delete_units(namespace, missing)
    assert record.sequence == before
    assert record.delete_units(namespace, []).units == ()


def test_forgetting_turns_takes_the_units_that_have_no_other_source(scene):
    record, namespace = scene
    planned = record.forget_turns(namespace, [1, 3, 77], dry_run=True)
    report = record.forget_turns(namespace, np.array([1, 3, 77]))
    assert (report.turns, report.units, report.units_shortened) == ((1, 3), (1, 3), (2, 4))
    assert replace(report, sequence=0) == planned
    units = record.units(namespace, range(5))
    assert {n: [s.turn_id for s in unit.sources] for n, unit in units.items()} == {2: [2], 4: [4]}
    assert record.verify(deep=True) == []


def test_forgotten_turns_leave_their_windows(home):
    record, namespace = home
    record.add_turns(namespace, [message("a"), message("b"), message("c", session="other")])
    record.forget_turns(namespace, [1, 3])
    assert [window.turn_ids for window in record.windows.all(namespace)] == [(2,)]
    assert record.verify(deep=True) == []


def test_the_id_of_a_deleted_message_is_rejected_for_good(home):
    record, namespace = home
    fill(record, namespace, 3)
    record.forget_turns(namespace, [1])
    record.delete_units(namespace, [2])
    again = record.add_turns(namespace, [message(f"turn {n} of Zanzibar", f"message-{n}") for n in range(3)])
    assert again.rejected == (0, 1)
    assert again.repeated == (2,)
    assert again.turns[:2] == (None, None)
    other = record.namespace("elsewhere", create=True)
    assert record.add_turns(other, [message("x", "message-0")]).rejected == ()


# Namespaces


@pytest.mark.parametrize("name", ["", "x" * 129, "a\nb", "\x7f", " a", "a\u2003", "a\ud800", None, 7])
def test_bad_namespace_names_are_refused(home, name):
    record, _ = home
    for call in (record.namespace, record.delete_namespace):
        with pytest.raises(InvalidInputError):
            call(name)


def test_names_that_look_alike_or_like_paths_are_names_of_their_own(home):
    record, namespace = home
    names = [
        "a/b",
        "..",
        "C:\\x",
        "%2e%2e",
        "Home",
        "caf\u00e9",
        "cafe\u0301",
        "x" * 128,
        "'; DROP TABLE units",
    ]
    numbers = [record.namespace(name, create=True) for name in names]
    assert len({namespace, *numbers}) == len(names) + 1
    assert [info.name for info in record.namespaces()] == ["home", *names]
    assert [record.namespace(name) for name in names] == numbers
    assert record.namespace("HOME") is None


def test_a_deleted_namespace_takes_all_it_holds_and_nothing_else(home):
    record, namespace = home
    fill(record, namespace, 3)
    other = record.namespace("other", create=True)
    fill(record, other, 2)
    before = list(record.export(namespace))
    gone = record.delete_namespace("other")
    assert (gone.units, gone.turns, gone.edges) == (2, 2, 1)
    assert list(record.export(namespace)) == before
    assert record.verify(deep=True) == []
    with pytest.raises(InvalidInputError, match="no namespace"):
        record.load(other)
    assert record.delete_namespace("other").units == 0
    again = record.namespace("other", create=True)
    assert again > other
    assert record.add_turns(again, [message("turn 0 of Zanzibar", "message-0")]).turns[0].turn_id == 1


def test_ids_beyond_a_namespace_do_not_reach_into_the_next(home):
    record, namespace = home
    fill(record, namespace, 1)
    other = record.namespace("other", create=True)
    assert other == namespace + 1
    fill(record, other, 1)
    beyond = (1 << 40) + 1
    assert record.units(namespace, [beyond]) == {}
    assert record.turns(namespace, [beyond]) == {}
    assert record.forget_turns(namespace, [beyond]).turns == ()
    assert record.stats(other).units == 1


# The whole


def test_an_export_is_json_and_can_be_written_back(home):
    record, namespace = home
    fill(record, namespace, 6)
    record.delete_units(namespace, [3])
    lines = [json.loads(json.dumps(row, allow_nan=False)) for row in record.export(namespace)]
    assert lines[0] == {"type": "namespace", "name": "home"}
    with Record.open(":memory:") as copied:
        copied.configure(SETTINGS)
        number = copied.namespace("home", create=True)
        turns = [line for line in lines if line["type"] == "turn"]
        units = [line for line in lines if line["type"] == "unit"]
        edges = [line for line in lines if line["type"] == "edge"]
        said = {line["turn_id"]: datetime.fromisoformat(line["said_at"]) for line in turns}
        assert set(said.values()) == {DAY}
        messages = [message(line["text"], line["message_id"], said_at=said[line["turn_id"]]) for line in turns]
        new = {
            line["turn_id"]: turn.turn_id
            for line, turn in zip(turns, copied.add_turns(number, messages).turns, strict=True)
        }
        unit_ids = dict(zip([line["unit_id"] for line in units], copied.reserve_unit_ids(number, 5), strict=True))
        nothing = np.full(DIMENSION, np.nan, np.float32)
        vectors = [
            np.frombuffer(base64.b64decode(line["vector"]), "<f4") if line["vector"] else nothing for line in units
        ]
        copied.apply(
            number,
            Batch(
                [
                    stored_unit(
                        unit_ids[line["unit_id"]],
                        [new[n] for n in line["turn_ids"]],
                        content=line["content"],
                        participants=tuple(line["participants"]),
                    )
                    for line in units
                ],
                np.array(vectors),
                edges_added=Links.of(
                    (unit_ids[e["src"]], unit_ids[e["dst"]], EdgeKind[e["kind"].upper()], e["weight"]) for e in edges
                ),
            ),
        )
        ours, theirs = record.load(namespace), copied.load(number)
        np.testing.assert_array_equal(ours.vectors, theirs.vectors)
        assert (ours.contents, ours.participant_keys) == (theirs.contents, theirs.participant_keys)
        assert [unit_ids[n] for n in ours.edges.src.tolist()] == theirs.edges.src.tolist()


def test_stats_count_by_kind_and_state(home):
    record, namespace = home
    fill(record, namespace, 6)
    record.add_turns(namespace, [message("waiting")])
    stats = record.stats(namespace)
    assert (stats.units, stats.turns, stats.sources, stats.vectors) == (6, 7, 6, 5)
    assert stats.edges == {"semantic": 0, "structural": 0, "state": 0, "sequence": 5, "term": 0}
    assert stats.windows == {"pending": 1, "done": 1, "failed": 0}
    assert record.stats().sequence == record.sequence
    empty = record.namespace("empty", create=True)
    assert record.stats(empty).turns == 0


def test_settings_are_kept_and_another_embedder_is_refused(home):
    record, _ = home
    assert record.settings == SETTINGS
    recalibrated = replace(SETTINGS, thresholds=Thresholds(0.4, 0.8, 0.9))
    record.configure(recalibrated)
    assert record.settings == recalibrated
    for other in (replace(SETTINGS, embedder_name="x"), replace(SETTINGS, dimension=5)):
        with pytest.raises(ConfigError, match="test-embedder"):
            record.configure(other)


def test_a_closed_record_refuses_and_a_record_is_not_copied(home):
    record, namespace = home
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            copied(record)
    record.close()
    record.close()
    for call in (record.namespaces, record.verify, lambda: record.apply(namespace, Batch())):
        with pytest.raises(StoreClosedError):
            call()
    with pytest.raises(ReadOnlyError):
        Record.open(":memory:", read_only=True)


def test_threads_adding_the_same_messages_store_each_once(home):
    record, namespace = home
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for n in range(20):
                record.add_turns(namespace, [message(f"text {n}", f"m{n}")])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert record.stats().turns == 20


# Checksums


def test_a_row_is_summed_as_the_format_says():
    row = (1, 2, None, None, None, None, 7, 0, 4, 9, "s", "t\u00e9", "c", None, "[]", "[]", "[]", "[]", None)
    numbers = (1, 2, NO_TIME, NO_TIME, NO_TIME, NO_TIME, 7, 0, 4, 9)
    lengths = (1, 2, 1, -1, 2, 2, 2, 2, -1)
    head = b"".join(struct.pack("<q", int(n)) for n in numbers + lengths)
    assert UNIT.checksum(row) == zlib.crc32(head + "st\u00e9c[][][][]".encode())
    assert UNIT.is_sound((*row, UNIT.checksum(row)))
    assert not UNIT.is_sound((*row[:10], 5, *row[11:], UNIT.checksum(row)))


@given(
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9), st.floats(), st.binary()),
        min_size=1,
        max_size=6,
    )
)
@BOUNDED
def test_many_rows_are_summed_like_single_ones(rows):
    table = RowFormat("any", ints=2, reals=1, blobs=1)
    repeated = rows * 64
    columns = list(zip(*repeated, strict=True))
    sums = table.checksums(columns)
    assert sums.tolist() == [table.checksum(row) for row in rows] * 64
    table.check_columns([*columns, sums])
    sums[-1] ^= 1
    for wrong in (sums, ["x"] * len(sums)):
        with pytest.raises(CorruptStoreError, match="table any"):
            table.check_columns([*columns, wrong])


def test_vectors_are_taken_from_any_layout(home):
    record, namespace = home
    record.add_turns(namespace, [message("a"), message("b")])
    ids = record.reserve_unit_ids(namespace, 2)
    wanted = vectors_for(ids)
    odd = np.asfortranarray(wanted.astype(">f8"))
    odd[1, 0], wanted[1] = 1e300, np.nan
    record.apply(namespace, Batch([stored_unit(1, [1]), stored_unit(2, [2])], odd))
    np.testing.assert_array_equal(record.load(namespace).vectors, wanted)
