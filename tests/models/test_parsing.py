from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.errors import InvalidInputError
from ripple.models.base import ModelReply
from ripple.models.parsing import Parsed, parse_reply

NULLABLE = {"type": ["string", "null"], "maxLength": 40}
UNITS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["units"],
    "properties": {
        "units": {
            "type": "array",
            "maxItems": 4,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "who", "place", "turn"],
                "properties": {
                    "text": {"type": "string", "minLength": 3, "maxLength": 60},
                    "who": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 3},
                    "place": NULLABLE,
                    "turn": {"type": "integer", "minimum": 0, "maximum": 99},
                },
            },
        }
    },
}
PLAN: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["proceed", "reason", "anchors", "target"],
    "properties": {
        "proceed": {"type": "boolean"},
        "reason": {"type": "string", "enum": ["enough", "missing"]},
        "anchors": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
        "target": {
            "anyOf": [
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["text", "weight"],
                    "properties": {"text": {"type": "string", "maxLength": 12}, "weight": {"type": "number"}},
                },
                {"type": "null"},
            ]
        },
    },
}


def unit(text: str = "Ana swims", who: Any = ("Ana",), place: Any = None, turn: Any = 1, **more: Any) -> dict[str, Any]:
    return {"text": text, "who": list(who) if isinstance(who, tuple) else who, "place": place, "turn": turn, **more}


A, B, C = unit(), unit("Ben runs", ("Ben",), "Rome", 2), unit("Cleo cooks", (), None, 3)


def units(*each: Any) -> str:
    return json.dumps({"units": list(each)})


def read(text: str, finish: str = "stop", schema: Any = UNITS) -> Parsed:
    return parse_reply(ModelReply(text, finish), schema)


def kept(parsed: Parsed) -> list[Any] | None:
    return None if parsed.value is None else parsed.value["units"]


@pytest.mark.parametrize(
    ("text", "expected", "problems"),
    [
        (units(A, B), [A, B], {}),
        (units(), [], {}),
        ("\ufeff" + units(A), [A], {}),
        ("```json\n" + units(A) + "\n```", [A], {}),
        (f"Here you are: {units(A)} Anything else?", [A], {"prose": 1}),
        (f"I noted [sic] that {{x}} {units(A)}", [A], {"prose": 1}),
        ('{"units": [' + json.dumps(A)[:-1] + ",}, ], }", [A], {"trailing_commas": 3}),
        (f"First: {units(A)} and then: {units(B)}", [A, B], {"prose": 1, "several_values": 1}),
        (f"{json.dumps(A)}\n{json.dumps(B)}", [A, B], {"coerced_list": 2, "several_values": 1}),
        (json.dumps([A, B]), [A, B], {"coerced_list": 1}),
        ("[]", [], {"coerced_list": 1}),
        ('{"units": null}', [], {"coerced_null": 1}),
        (json.dumps({"units": A}), [A], {"coerced_single": 1}),
        (json.dumps({"units": [A], "note": "done"}), [A], {"unknown_key": 1}),
        ('{"units": [' + json.dumps(A).replace("swims", "sw\nims") + "]}", [unit("Ana sw\nims")], {}),
        (json.dumps([A]).replace("swims", "likes ,] commas"), [unit("Ana likes ,] commas")], {"coerced_list": 1}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_all_objects_of_a_list_are_found(text: str, expected: list[Any], problems: dict[str, int]) -> None:
    parsed = read(text)
    assert kept(parsed) == expected
    assert parsed.problems == problems
    assert not parsed.is_cut
    assert not parsed.is_refused


@pytest.mark.parametrize(
    ("given", "expected", "problem"),
    [
        (unit(who="Ana"), A, "coerced_single"),
        (unit(who=None), unit(who=()), "coerced_null"),
        (unit(who=""), unit(who=()), "coerced_single"),
        ({"text": "Ana swims", "turn": 1}, unit(who=()), "coerced_missing"),
        (unit(turn=1.0), A, None),
        (unit("Ana \ud83d swims"), unit("Ana \ufffd swims"), "replaced_surrogates"),
        (unit(who=("a", "b", "c", "d", "e")), unit(who=("a", "b", "c")), "clipped_items"),
    ],
    ids=str,
)
def test_what_can_be_told_is_coerced_and_counted(given: Any, expected: Any, problem: str | None) -> None:
    parsed = read(units(given))
    assert kept(parsed) == [expected]
    assert set(parsed.problems) == ({problem} if problem else set())


def test_a_surrogate_pair_in_two_escapes_is_one_character() -> None:
    assert kept(read(units(unit("Ana \U0001f600")))) == [unit("Ana \U0001f600")]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (json.dumps(unit(mood="calm")), "unknown_key"),
        (json.dumps(unit(who=7)), "wrong_type"),
        (json.dumps(unit(who=["Ana", None])), "wrong_type"),
        (json.dumps(unit(turn="1")), "wrong_type"),
        (json.dumps(unit(turn=True)), "wrong_type"),
        (json.dumps(unit(turn=1.5)), "wrong_type"),
        (json.dumps(unit(turn=-1)), "out_of_range"),
        (json.dumps(unit(text="A")), "too_short"),
        (json.dumps(unit(text="A" * 61)), "too_long"),
        (json.dumps(unit(place={"city": "Rome"})), "wrong_type"),
        ('{"who": [], "place": null, "turn": 1}', "missing_key"),
        ('"just words"', "wrong_type"),
        (json.dumps(A)[:-1] + ', "turn": 2}', "duplicate_key"),
        (json.dumps(A).replace(": 1}", ": NaN}"), "not_a_number"),
        (json.dumps(A).replace(": 1}", ": -Infinity}"), "not_a_number"),
        (json.dumps(A).replace(": 1}", ": 1e999}"), "not_a_number"),
        (json.dumps(A).replace(": 1}", ": 1e300}"), "not_a_number"),
        (json.dumps(A).replace(": 1}", ": " + "9" * 5_000 + "}"), "not_a_number"),
    ],
    ids=lambda value: value[:60],
)
def test_a_bad_object_is_rejected_alone(bad: str, reason: str) -> None:
    parsed = read(f'{{"units": [{json.dumps(B)}, {bad}, {json.dumps(C)}]}}')
    assert kept(parsed) == [B, C]
    assert parsed.problems == {"rejected_items": 1, reason: 1}
    alone = read(f'{{"units": [{bad}]}}')
    assert alone.value is None, "nothing that fits is not the same as an empty list"
    assert alone.problems[reason] == 1


def test_a_reply_cut_inside_its_third_object_keeps_two() -> None:
    whole = units(A, B, C)
    third = whole.index('"Cleo')
    for end in range(third - 9, len(whole)):
        parsed = read(whole[:end], "length")
        assert parsed.is_cut
        assert kept(parsed) == ([A, B] if end < len(whole) - 2 else [A, B, C]), whole[:end]
    for end in range(len(whole)):
        for text in (whole[:end], f"```json\n{whole[:end]}"):
            assert read(text, "length").is_cut
            assert read(text).is_cut == (end > 1), "a server may say stop where it cut"
            assert kept(read(text)) in (None, [A], [A, B], [A, B, C])
    assert read(whole, "length").is_cut
    assert kept(read(whole, "length")) == [A, B, C]


def test_a_broken_object_in_the_middle_costs_only_itself() -> None:
    broken = json.dumps(B).replace('"Ben runs"', '"Ben "quietly" runs"')
    parsed = read(f'{{"units": [{json.dumps(A)}, {broken}, {json.dumps(C)}]}}')
    assert kept(parsed) == [A, C]
    assert parsed.problems == {"malformed": 1, "salvaged": 2}
    assert not parsed.is_cut


def test_more_objects_than_the_schema_has_room_for_are_clipped() -> None:
    parsed = read(units(*[unit(turn=i) for i in range(10)]))
    assert kept(parsed) == [unit(turn=i) for i in range(4)]
    assert parsed.problems == {"clipped_items": 6}


@pytest.mark.parametrize(
    "reasoning",
    [
        "I should say so.</think>",
        "<think>They swim.</think>\n",
        f"<think>A draft: {units(C)} or [{json.dumps(C)}, no</think>",
        f"A draft: {units(C)} </THINK> no, </think>",
        "<reasoning>quick</reasoning>",
    ],
)
def test_reasoning_is_dropped(reasoning: str) -> None:
    parsed = read(reasoning + units(A))
    assert kept(parsed) == [A]
    assert not parsed.problems
    assert not parsed.is_cut
    assert read(reasoning + "Ana swims.", schema=None).value == "Ana swims."


def test_a_tag_that_someone_wrote_is_text() -> None:
    said = unit("He wrote </think> then {} left")
    for text in (units(said, B), f"Here: {units(said, B)}"):
        assert kept(read(text)) == [said, B]


def test_reasoning_without_end_is_no_answer() -> None:
    for schema in (UNITS, None):
        parsed = read(f"<think>First {units(A)}", "length", schema)
        assert (parsed.value, parsed.is_cut, parsed.problems) == (None, True, {"cut": 1, "reasoning": 1})


@pytest.mark.parametrize(
    "echo",
    [
        UNITS,
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"units": [A]}},
    ],
    ids=["itself", "empty", "filled"],
)
def test_the_schema_echoed_back_is_a_failure(echo: Any) -> None:
    parsed = read(json.dumps(echo))
    assert parsed.value is None
    assert parsed.problems == {"schema_echo": 1}
    assert kept(read(json.dumps(echo) + units(A))) == [A]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (ModelReply("", refusal="I cannot help with that"), "refused"),
        (ModelReply(units(A), refusal="I cannot help with that"), "refused"),
        (ModelReply(units(A), "content_filter"), "filtered"),
    ],
)
def test_a_refusal_is_told_apart(reply: ModelReply, problem: str) -> None:
    assert parse_reply(reply, UNITS) == Parsed(None, False, True, parse_reply(reply, UNITS).problems)
    assert parse_reply(reply, UNITS).problems == {problem: 1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        (" \n\ufeff", "empty"),
        ("x" * (1 << 20) + "x", "too_large"),
        ("é" * (1 << 19) + "x", "too_large"),
        ("Sorry, I found nothing.", "no_json"),
        ("null", "no_json"),
        ("7", "no_json"),
        ('{"answer": 3}', "no_json"),
        ("{}", "no_json"),
        ("I looked in [] and {} but", "no_json"),
        ('{"units": "none"}', "wrong_type"),
        (units(A)[:-1] + ', "units": []}', "duplicate_key"),
        ('{"units": ' + "[" * 31 + "]" * 31 + "}", "rejected_items"),
        ('{"units": ' + "[" * 32 + "]" * 32 + "}", "too_deep"),
        ("[" * 100_000, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
    ],
    ids=lambda value: str(value)[:25],
)
def test_what_is_no_answer_gives_no_value(text: str, problem: str) -> None:
    parsed = read(text)
    assert parsed.value is None
    assert parsed.problems[problem] == 1


def test_one_object_is_the_first_that_fits() -> None:
    plan = {"proceed": True, "reason": "missing", "anchors": [3, 1], "target": {"text": "a gap", "weight": 0.5}}
    other = {**plan, "reason": "enough", "target": None}
    assert read(json.dumps(plan), schema=PLAN) == Parsed(plan)
    several = read(f'{{"note": 1}} {json.dumps(plan)} {json.dumps(other)}', schema=PLAN)
    assert several.value == plan
    assert several.problems["several_values"] == 1
    assert read(json.dumps([other]), schema=PLAN).value == other
    long = {**plan, "anchors": [1, 2, 3, 4], "target": {"text": "a" * 20, "weight": 1}, "why": "so"}
    clipped = read(json.dumps(long), schema=PLAN)
    assert clipped.value == {**plan, "anchors": [1, 2, 3], "target": {"text": "a" * 12, "weight": 1}}
    assert clipped.problems == {"clipped_items": 1, "clipped_text": 1, "unknown_key": 1}
    assert read(json.dumps({**plan, "reason": "tired"}), schema=PLAN).problems == {"not_allowed": 1}
    cut = read(json.dumps(plan)[:-2], "length", schema=PLAN)
    assert (cut.value, cut.is_cut) == (None, True), "the parts of a cut object are no answer"


def test_free_text_comes_as_it_is() -> None:
    assert read(" Ana [1] swims. ", schema=None) == Parsed("Ana [1] swims.")
    assert read("Ana \ud83d", "length", None).value == "Ana \ufffd"
    assert read("done</think> ", schema=None).value is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "properties": {"a": {"type": "string", "format": "date"}}},
        {"type": "object", "properties": {"a": {"type": ["string", "integer"]}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "patternProperties": {}},
        {},
    ],
    ids=str,
)
def test_a_schema_outside_the_subset_is_refused(schema: Any) -> None:
    with pytest.raises(InvalidInputError, match="schema"):
        read("{}", schema=schema)


SIZE = 1 << 18
HOSTILE = {
    "open objects": "{" * SIZE,
    "open keys": '{"' * (SIZE // 2),
    "keys over lines": '{"\n' * (SIZE // 3),
    "open strings": '[["' + "x" * 50 + ("[" * 30 + '"' + "y" * 30) * (SIZE // 62),
    "escaped quotes": '\\"' * (SIZE // 2),
    "an open string of quotes": '{"' + '\\"' * (SIZE // 2),
    "pairs": "[]" * (SIZE // 2),
    "objects": "{}" * (SIZE // 2),
    "commas": "[," * (SIZE // 2),
    "commas before brackets": '{"a":[1,2,{"b":"c"},]},' * (SIZE // 23),
    "spaces": "{ " * (SIZE // 2),
    "one space": "[" + " " * SIZE,
    "numbers": "[-" * (SIZE // 2),
    "almost too deep": ("[" * 900 + "x") * (SIZE // 901),
    "tags": "</think>" * (SIZE // 8),
    "tags among values": '[{"text":1}]</think>' * (SIZE // 20),
    "values that do not end": '{"units": [' * (SIZE // 11),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_reply_takes_long(text: str) -> None:
    begin = time.process_time()
    assert read(text).value is None
    # A quarter of the greatest reply; measured 0.01 to 0.15 s, what reads quadratically takes far longer.
    assert time.process_time() - begin < 1.0


FRAGMENTS = st.sampled_from(
    [
        *'{}[]",:\\\n ',
        '{"units": [',
        '"text": ',
        '"who"',
        "null",
        "NaN",
        "-1e999",
        "</think>",
        "<think>",
        "```json",
        "\ud83d",
        units(A),
        json.dumps(B),
        json.dumps(C)[:-9],
        "9" * 5_000,
        "[" * 40,
        "]" * 40,
    ]
)
REPLIES = st.one_of(
    st.binary(max_size=200).map(lambda data: data.decode("utf-8", "surrogateescape")),
    st.lists(FRAGMENTS, max_size=15).map("".join),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["units", "text", "who", "place", "turn", "x"]), inner, max_size=5)
        ),
        max_leaves=12,
    ).map(json.dumps),
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(REPLIES, st.sampled_from(["stop", "length", "", "tool_calls"]), st.sampled_from([UNITS, PLAN, None]))
def test_no_reply_raises_and_every_value_fits(text: str, finish: str, schema: Any) -> None:
    parsed = read(text, finish, schema)
    assert parsed.is_cut or finish != "length"
    assert all(count > 0 for count in parsed.problems.values())
    if parsed.value is None:
        assert parsed.problems, "there is always a reason"
        return
    again = parse_reply(ModelReply(json.dumps(parsed.value)), schema) if schema else read(parsed.value, schema=None)
    assert (again.value, +again.problems) == (parsed.value, {}), "a value that fits is left as it is"
