"""What messages and arguments are taken, what is refused before anything happens, what is left empty and flagged."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple._arguments import check_count, check_filter, check_id, check_moment, check_query, check_settings
from ripple.errors import InvalidInputError
from ripple.types import Filter, Message
from ripple.write.messages import assign_sessions, check_messages, check_namespace, is_moment_session

NOON = datetime(2026, 4, 23, 12, 0, tzinfo=UTC)


def one(**fields: object) -> Message:
    (message,) = check_messages([{"content": "Hello.", **fields}])
    return message


def test_message_keeps_all_that_was_given() -> None:
    message = one(
        speaker="Sam",
        timestamp="2026-04-23T19:05:00+02:00",
        id="m1",
        session="s1",
        metadata={"tags": ["a", 1, None, {"deep": True}]},
    )
    assert message.text == "Hello."
    assert message.speaker == "Sam"
    assert message.said_at == datetime(2026, 4, 23, 17, 5, tzinfo=UTC)
    assert message.said_at.utcoffset() == timedelta(hours=2)
    assert (message.message_id, message.session) == ("m1", "s1")
    assert message.metadata == {"tags": ["a", 1, None, {"deep": True}]}
    assert message.flags == ()


@pytest.mark.parametrize("given_as", ["Hello.", {"content": "Hello."}, [{"content": "Hello."}], ("Hello.",)])
def test_string_mapping_and_sequence_are_one_call(given_as: object) -> None:
    assert check_messages(given_as) == [Message("Hello.")]


def test_no_messages_are_none() -> None:
    assert check_messages([]) == []


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"])
def test_empty_text_is_taken(text: str) -> None:
    assert one(content=text).text == text


def test_text_up_to_a_mebibyte_is_taken_and_more_refused() -> None:
    assert len(one(content="é" * (1 << 19)).text) == 1 << 19
    with pytest.raises(InvalidInputError, match=r"messages\[0\].*1048578 bytes.*split"):
        one(content="é" * ((1 << 19) + 1))


def test_lone_surrogate_is_replaced_and_flagged() -> None:
    message = one(content=json.loads(r'"a\ud800b"'), speaker="S\udc00")
    assert message.text == "a\ufffdb"
    assert message.speaker == "S\ufffd"
    assert message.flags == ("replaced_surrogates",)


def test_surrogate_pair_in_two_halves_becomes_its_character() -> None:
    assert one(content="\ud83d\ude00").text == "😀"


@pytest.mark.parametrize(
    "text",
    [
        "a\x00b\x07\x85c",
        "abc\u202edef\u200b\U000e0041",
        "שלום עולם مرحبا 你好世界 👩‍👩‍👧",
        "e\u0301 vs \u00e9 ＡＢＣ",
    ],
)
def test_text_is_kept_character_for_character(text: str) -> None:
    message = one(content=text)
    assert message.text == text
    assert message.flags == ()


@pytest.mark.parametrize("content", [None, 7, 1.5, True, b"Hello.", bytearray(b"x"), {"text": "x"}, object()])
def test_content_that_is_no_string_is_refused(content: object) -> None:
    with pytest.raises(InvalidInputError, match=r"messages\[0\]\['content'\]"):
        one(content=content)


def test_text_parts_of_chat_messages_are_joined() -> None:
    parts = [{"type": "text", "text": "One."}, {"type": "input_text", "text": "Two."}]
    assert one(content=parts).text == "One.\nTwo."


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text"},
        {"type": "text", "text": 5},
        {"type": ["text"], "text": "x"},
        "x",
        None,
        [],
    ],
)
def test_part_that_is_not_text_is_refused(part: object) -> None:
    with pytest.raises(InvalidInputError, match="not text"):
        one(content=[{"type": "text", "text": "One."}, part])


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool", "no such role"])
def test_role_is_a_label(role: str) -> None:
    assert one(role=role).speaker == role


def test_speaker_stands_before_name_and_role() -> None:
    assert one(role="user", name="Ana", speaker="Bo").speaker == "Bo"
    assert one(role="user", name="Ana").speaker == "Ana"


@pytest.mark.parametrize("speaker", [None, "", "  "])
def test_missing_speaker_is_none(speaker: str | None) -> None:
    assert one(speaker=speaker).speaker is None


@pytest.mark.parametrize("key", ["speaker", "role", "id", "session"])
@pytest.mark.parametrize("value", [1, 1.0, True, b"x", ["x"], {"x": 1}, "x" * 513])
def test_label_that_is_no_short_string_is_refused(key: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"messages\[0\]"):
        one(**{key: value})


@pytest.mark.parametrize("key", ["text", "Content", "", "ID", 5])
def test_unknown_key_is_refused_with_the_known_ones(key: object) -> None:
    with pytest.raises(InvalidInputError, match=r"unknown key.*content.*timestamp"):
        check_messages([{"content": "x", key: "y"}])


def test_error_names_the_position() -> None:
    with pytest.raises(InvalidInputError, match=r"messages\[2\]"):
        check_messages(["a", "b", {"content": None}])


@pytest.mark.parametrize("messages", [None, 5, b"text", [b"text"], [None], [["Hello."]], [5], object()])
def test_what_is_no_message_is_refused(messages: object) -> None:
    with pytest.raises(InvalidInputError):
        check_messages(messages)


# --- metadata ---


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


def cyclic(width: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["children"] = [value] * width
    return value


def doubling() -> dict[str, Any]:
    value: list[Any] = []
    for _ in range(30):
        value = [value, value]
    return {"a": value}


@pytest.mark.parametrize(
    "metadata",
    [
        [],
        "x",
        5,
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": {1, 2}},
        {"a": b"x"},
        {"a": NOON},
        {1: "a"},
        {"a": {1: "b"}},
        {"a": [{None: "b"}]},
        {"a": 10**5000},
        {"a": "x" * (64 << 10)},
        nested(33),
    ],
    ids=lambda value: type(value).__name__,
)
def test_metadata_that_is_not_small_plain_json_is_refused(metadata: object) -> None:
    with pytest.raises(InvalidInputError, match="metadata"):
        one(metadata=metadata)


@pytest.mark.parametrize("metadata", [cyclic(1), cyclic(40), doubling()], ids=["cycle", "wide cycle", "shared"])
def test_metadata_that_hold_themselves_are_refused_at_once(metadata: object) -> None:
    with pytest.raises(InvalidInputError, match="metadata"):
        one(metadata=metadata)


def test_metadata_at_the_limits_are_taken_as_a_copy() -> None:
    assert one(metadata=nested(32)).metadata == nested(32)
    given_metadata = {"list": [1]}
    message = one(metadata=given_metadata)
    given_metadata["list"].append(2)
    assert message.metadata == {"list": [1]}
    assert one(metadata={"a": "\ud800"}).metadata == {"a": "\ufffd"}


# --- time ---


def test_naive_time_is_utc_and_flagged() -> None:
    for value in ("2026-04-23T19:05:00", "2026-04-23 19:05", datetime(2026, 4, 23, 19, 5)):
        message = one(timestamp=value)
        assert message.said_at == datetime(2026, 4, 23, 19, 5, tzinfo=UTC)
        assert message.flags == ("naive_time",)


def test_zone_that_knows_no_offset_is_naive() -> None:
    class Unknowing(tzinfo):
        def utcoffset(self, moment: datetime | None) -> None:
            return None

    message = one(timestamp=datetime(2026, 4, 23, 19, 5, tzinfo=Unknowing()))
    assert message.said_at == datetime(2026, 4, 23, 19, 5, tzinfo=UTC)
    assert message.flags == ("naive_time",)


@pytest.mark.parametrize(
    "value",
    [
        "0000-01-01",
        "10000-01-01",
        "2026-02-30",
        "2026-02-30T10:00:00Z",
        "2026-13-01",
        "2026-04-23T24:00:00Z",
        "2026-04-23T19:60:00Z",
        "2026-04-23T19:05:60Z",
        "2026-04-23T19:05:00+25:00",
        "9999-12-31T23:00:00-12:00",
        "0001-01-01T00:00:00+14:00",
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12))),
    ],
)
def test_time_that_is_no_moment_is_left_empty_and_flagged(value: object) -> None:
    message = one(timestamp=value)
    assert message.said_at is None
    assert "invalid_time" in message.flags


@pytest.mark.parametrize(
    "value",
    [
        "2026-W01-1",
        "20260430",
        "2026-4-3",
        "yesterday",
        "",
        "2026-04-23T19",
        "２０２６-04-23",
        "2026-04-23T19:05:00Z extra",
        1776970000,
        1776970000000,
        1776970000.5,
        True,
        date(2026, 4, 23),
        ["2026-04-23"],
        {"year": 2026},
    ],
)
def test_time_in_another_form_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"messages\[0\]\['timestamp'\]"):
        one(timestamp=value)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-04-23", datetime(2026, 4, 23, tzinfo=UTC)),
        ("2026-04-23T19:05:07Z", datetime(2026, 4, 23, 19, 5, 7, tzinfo=UTC)),
        ("2026-04-23T19:05:07.999999999+0530", datetime(2026, 4, 23, 13, 35, 7, tzinfo=UTC)),
        ("2076-01-01T00:00:00-11:30", datetime(2076, 1, 1, 11, 30, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_time_is_read_to_the_second(text: str, moment: datetime) -> None:
    assert one(timestamp=text).said_at == moment


def test_time_that_comes_twice_is_the_first() -> None:
    later = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1)
    assert one(timestamp=later).said_at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_gap_between_times_of_one_zone_is_real_time() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    before, after = datetime(2026, 3, 29, 1, 30, tzinfo=berlin), datetime(2026, 3, 29, 3, 10, tzinfo=berlin)
    first, second = check_messages([{"content": "a", "timestamp": t} for t in (before, after)])
    assert len(set(sessions([first, second]))) == 1, "forty minutes lie between half past one and ten past three"


# --- everything ---

json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=12)
    | st.binary(max_size=4)
    | st.sampled_from(["2026-04-23T19:05:00+02:00", "2026-02-30", "9999-12-31T23:00:00-12:00", "text", "\ud800"])
    | st.datetimes(timezones=st.sampled_from([None, UTC, ZoneInfo("Asia/Kolkata"), ZoneInfo("America/New_York")])),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(["content", "speaker", "role", "name", "timestamp", "id", "session", "metadata", "type"])
            | st.text(max_size=3),
            children,
            max_size=4,
        )
    ),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    json_like
    | st.lists(
        st.fixed_dictionaries(
            {"content": json_like},
            optional=dict.fromkeys(("speaker", "timestamp", "id", "session", "metadata"), json_like),
        )
    )
)
def test_any_input_is_messages_or_one_typed_error(given_input: object) -> None:
    try:
        messages = check_messages(given_input)
    except InvalidInputError as error:
        assert str(error)
        return
    for message in messages:
        message.text.encode()
        for label in (message.speaker, message.message_id, message.session):
            (label or "").encode()
        if message.said_at is not None:
            assert message.said_at.astimezone(UTC).microsecond == 0
        assert json.loads(json.dumps(message.metadata)) == message.metadata
    again = check_messages(messages)
    assert [(m.text, m.speaker, m.said_at, m.message_id, m.session, m.metadata) for m in again] == [
        (m.text, m.speaker, m.said_at, m.message_id, m.session, m.metadata) for m in messages
    ]


# --- sessions ---


def said(*minutes: float, session: str = "") -> list[Message]:
    return [Message(f"at {m}", said_at=NOON + timedelta(minutes=m), session=session) for m in minutes]


def sessions(messages: list[Message], last: str = "", last_at: datetime | None = None) -> list[str]:
    return [message.session for message in assign_sessions(messages, last, last_at)]


def test_session_ends_after_a_gap_of_more_than_an_hour() -> None:
    first, later = NOON.isoformat(), (NOON + timedelta(minutes=161)).isoformat()
    assert sessions(said(0, 40, 100, 161)) == [first, first, first, later]


def test_session_goes_on_from_the_call_before() -> None:
    assert sessions(said(30), "before", NOON) == ["before"]
    assert sessions(said(61), "before", NOON) == [(NOON + timedelta(minutes=61)).isoformat()]


def test_given_session_stays_and_joins_no_other_message() -> None:
    messages = [*said(0), *said(1, session="own"), *said(2)]
    first = NOON.isoformat()
    assert sessions(messages) == [first, "own", first]


def test_named_session_of_the_call_before_is_not_joined() -> None:
    assert sessions(said(1, session="own") + said(2)) == ["own", (NOON + timedelta(minutes=2)).isoformat()]


def test_session_named_by_a_moment_goes_on_like_one_of_ours() -> None:
    moment = NOON.isoformat()
    assert sessions(said(30, session=moment) + said(80)) == [moment, moment]
    timeless = Message("at some time", session=moment)
    assert sessions([timeless, *said(1)]) == [moment, (NOON + timedelta(minutes=1)).isoformat()]
    assert not is_moment_session("2026-04-23T12:00:00")


def test_message_without_a_time_has_no_session_of_ours() -> None:
    assert sessions([Message("a"), *said(0), Message("b")]) == ["", NOON.isoformat(), ""]


# --- names, ids, counts ---


@pytest.mark.parametrize(
    "name", ["", " a", "a ", "\ta", "a\x00b", "a\nb", "a\x7f", "x" * 129, "\ud800", None, 5, b"a", ["a"]]
)
def test_namespace_that_cannot_be_is_refused(name: object) -> None:
    with pytest.raises(InvalidInputError, match="namespace"):
        check_namespace(name)


@pytest.mark.parametrize("name", ["a/b", "..", "C:\\x", "%2e%2e", "x" * 128, "名前", "a b", "'; DROP TABLE"])
def test_namespace_is_a_plain_name(name: str) -> None:
    assert check_namespace(name) == name


@pytest.mark.parametrize("unit_id", [True, 1.0, "1", "True", "-1", "１", 0, -1, 2**63, 2**64, None, b"1", [1]])
def test_unit_id_that_is_no_positive_int_is_refused(unit_id: object) -> None:
    with pytest.raises(InvalidInputError, match="unit id"):
        check_id(unit_id)


@pytest.mark.parametrize("count", [0, -1, 10**9, float("nan"), 5.0, "5", None, True])
def test_count_out_of_range_is_refused_not_clamped(count: object) -> None:
    with pytest.raises(InvalidInputError, match="top_k"):
        check_count(count, "top_k", 10_000)


@pytest.mark.parametrize("query", [None, 5, b"x", ["x"], {"query": "x"}])
def test_query_that_is_no_string_is_refused(query: object) -> None:
    with pytest.raises(InvalidInputError, match="query"):
        check_query(query)


def test_query_is_bounded_and_without_lone_surrogates() -> None:
    assert check_query("a\ud800b") == "a\ufffdb"
    assert len(check_query("x" * (1 << 20))) == 8_192


@pytest.mark.parametrize("moment", [datetime(2026, 4, 23), date(2026, 4, 23), "2026-04-23", 5])
def test_moment_that_is_not_aware_is_refused(moment: object) -> None:
    with pytest.raises(InvalidInputError, match=r"as_of.*aware"):
        check_moment(moment, "as_of")


SETTINGS: dict[str, Any] = {
    "top_k": 30,
    "first": None,
    "expansion": "targeted",
    "ranking": "default",
    "without": frozenset(),
    "weights": None,
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top_k", 0),
        ("first", 31),
        ("first", 0),
        ("expansion", "both"),
        ("expansion", None),
        ("ranking", ["paper"]),
        ("without", {"graphs"}),
        ("without", "graph"),
        ("without", None),
        ("without", [["graph"]]),
        ("weights", [1.0]),
        ("weights", 5),
        ("weights", ["a"] * 11),
        ("weights", [float("nan")] * 11),
    ],
)
def test_setting_out_of_range_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=name):
        check_settings(**{**SETTINGS, name: value})


@pytest.mark.parametrize(
    "where",
    [
        {"session": "s1"},
        5,
        Filter(session=5),  # type: ignore[arg-type]
        Filter(participants="Ana"),  # type: ignore[arg-type]
        Filter(participants=(5,)),  # type: ignore[arg-type]
        Filter(locations="Rome"),  # type: ignore[arg-type]
        Filter(time=NOON),  # type: ignore[arg-type]
        Filter(time=(NOON,)),  # type: ignore[arg-type]
        Filter(said=(datetime(2026, 1, 1), None)),
        Filter(said=("2026-01-01", None)),  # type: ignore[arg-type]
        Filter(said=(NOON, NOON - timedelta(seconds=1))),
        Filter(time=(datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12))), None)),
        Filter(metadata=[("a", 1)]),  # type: ignore[arg-type]
        Filter(metadata={"a": {1, 2}}),
        Filter(ids=5),  # type: ignore[arg-type]
        Filter(ids=("1",)),  # type: ignore[arg-type]
        Filter(ids=(0,)),
        Filter(ids=(True,)),
    ],
    ids=str,
)
def test_filter_with_a_wrong_field_is_refused(where: object) -> None:
    with pytest.raises(InvalidInputError, match="filter"):
        check_filter(where)


def test_filter_of_every_field_is_taken() -> None:
    where = Filter(
        session=("s1", "s2"),
        participants=("Ana",),
        locations=(),
        time=(None, NOON),
        said=(NOON, None),
        metadata={"channel": "mail"},
        ids=(1, 2),
    )
    assert check_filter(where) == where
    assert check_filter(None) is None
