from __future__ import annotations

import asyncio
import gc
import json
import logging
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from models.server import Answer, Received, ScriptedServer, chat, error
from ripple.errors import ConfigError, InvalidInputError, ModelError
from ripple.models import OpenAIModel
from ripple.models.base import LanguageModel, ModelReply, ModelRequest

KEY = "sk-very-secret-7d1f"
PROMPT = "the-user-said-parsnip"
REPLY = "the-model-said-turnip"
SCHEMA = {
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
                "required": ["maxLength"],
                "properties": {"maxLength": {"type": "string", "maxLength": 9}},
            },
        }
    },
}
ASKED = ModelRequest("extraction", "Constant system text.", json.dumps(PROMPT), None, "extraction-1", 150)
SHAPED = ModelRequest("extraction", "Constant system text.", json.dumps(PROMPT), SCHEMA, "extraction-1", 150)

Model = Any


@pytest.fixture(scope="module", autouse=True)
def client(running: ScriptedServer) -> Iterator[None]:
    """Keep one client for all tests of the module: models of one address and key share it."""
    kept = OpenAIModel("tiny", base_url=running.url, api_key=KEY)
    yield
    kept.close()


@pytest.fixture
def make(server: ScriptedServer) -> Iterator[Any]:
    made: list[OpenAIModel] = []

    def model(**options: Any) -> OpenAIModel:
        fixed = {"base_url": server.url, "api_key": KEY, "timeout": 5.0, "pause": 0.002}
        made.append(OpenAIModel("tiny", **{**fixed, **options}))
        return made[-1]

    yield model
    for each in made:
        each.close()


def complete(way: str, model: OpenAIModel, request: ModelRequest = ASKED, **options: Any) -> ModelReply:
    if way == "sync":
        return model.complete(request, **options)
    return asyncio.run(model.acomplete(request, **options))


both_ways = pytest.mark.parametrize("way", ["sync", "async"])


@both_ways
def test_a_reply_comes_back_whole(way: str, server: ScriptedServer, make: Model) -> None:
    server.script(chat("Ana swims.", usage=(321, 45)))
    model = make(price=(1.0, 2.0))
    reply = complete(way, model)
    assert (reply.text, reply.finish_reason, reply.refusal) == ("Ana swims.", "stop", None)
    assert (reply.input_tokens, reply.output_tokens) == (321, 45)
    assert 0 < reply.seconds < 5
    received = server.received[0]
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Constant system text."},
            {"role": "user", "content": json.dumps(PROMPT)},
        ],
        "max_tokens": 150,
        "temperature": 0.0,
    }
    assert isinstance(model, LanguageModel)
    assert (model.name, model.price, model.timeout) == ("tiny", (1.0, 2.0), 5.0)


def test_the_rest_of_a_reply_is_told(server: ScriptedServer, make: Model) -> None:
    server.script(
        chat("cut he", finish="length", usage=None),
        chat(None, refusal="I will not."),
        chat([{"type": "text", "text": "in "}, {"type": "image"}, {"type": "text", "text": "parts"}], finish=None),
        chat("x", finish="content_filter", usage={"prompt_tokens": -3, "completion_tokens": "many"}),
    )
    model = make()
    replies = [model.complete(ASKED) for _ in range(4)]
    assert [(each.text, each.finish_reason, each.refusal) for each in replies] == [
        ("cut he", "length", None),
        ("", "stop", "I will not."),
        ("in parts", "stop", None),
        ("x", "content_filter", None),
    ]
    assert [(each.input_tokens, each.output_tokens) for each in replies] == [(0, 0), (10, 5), (10, 5), (0, 0)]


def test_text_that_utf8_cannot_hold_is_mended_before_it_is_sent(server: ScriptedServer, make: Model) -> None:
    make().complete(ModelRequest("answer", "s", "Ana \ud83d", None, "answer-1", 10))
    assert server.bodies[0]["messages"][1]["content"] == "Ana \ufffd"


@both_ways
@pytest.mark.parametrize(
    "bad",
    [
        error(429, headers={"Retry-After": "0"}),
        error(500),
        error(503),
        error(408),
        Answer(reset=True),
        chat(REPLY, cut=40),
        Answer(b"<html>busy</html>"),
        Answer({"choices": []}),
        Answer({"choices": ["x"]}),
        Answer(b"[" * 50_000),
        Answer({"error": {"message": "upstream", "code": 502}}),
    ],
    ids=["429", "500", "503", "408", "reset", "cut", "html", "no-choice", "no-message", "deep", "error-as-200"],
)
def test_what_may_pass_is_tried_again(way: str, bad: Answer, server: ScriptedServer, make: Model) -> None:
    server.script(bad, bad, chat("at last"))
    assert complete(way, make()).text == "at last"
    assert len(server.received) == 3
    server.script(bad)
    with pytest.raises(ModelError) as caught:
        complete(way, make(attempts=2))
    assert caught.value.retryable
    assert caught.value.reason in ("rate_limit", "server", "timeout", "connection", "unreadable")
    assert "2 attempts" in str(caught.value)
    assert len(server.received) == 2


@both_ways
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (error(401, code="invalid_api_key"), "refused"),
        (error(403), "refused"),
        (error(404, code="model_not_found"), "refused"),
        (error(400, code="context_length_exceeded"), "too_long"),
        (error(400, "the request exceeds the available context size"), "too_long"),
        (error(500, "this model's maximum context length is 4096 tokens"), "too_long"),
        (error(429, code="insufficient_quota"), "rate_limit"),
        (error(501), "server"),
        (Answer({"error": {"message": "no", "code": 402}}), "refused"),
    ],
    ids=str,
)
def test_what_will_not_pass_is_tried_once(
    way: str, bad: Answer, reason: str, server: ScriptedServer, make: Model
) -> None:
    server.script(bad)
    with pytest.raises(ModelError) as caught:
        complete(way, make(), SHAPED)
    assert (caught.value.reason, caught.value.retryable) == (reason, False)
    assert len(server.received) == 1
    assert str(caught.value).startswith(server.host)


def test_a_reply_without_end_is_not_read_to_it(
    server: ScriptedServer, make: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ripple.models.openai._Chat.bytes_max", 100_000)
    server.script(chat("x" * 90_000), chat("x" * 100_000))
    model = make()
    assert len(model.complete(ASKED).text) == 90_000
    with pytest.raises(ModelError, match="more than 100000 bytes") as caught:
        model.complete(ASKED)
    assert (caught.value.reason, caught.value.retryable) == ("unreadable", False)
    assert len(server.received) == 2


def test_a_code_that_is_known_is_told(server: ScriptedServer, make: Model) -> None:
    server.script(error(404, code="model_not_found"))
    with pytest.raises(ModelError, match=r"answered with status 404 \(model_not_found\)$"):
        make().complete(ASKED)


@both_ways
@pytest.mark.parametrize(
    "bad",
    [
        error(400, f"bad key {KEY}, prompt {PROMPT}", code=PROMPT, param=KEY),
        error(500, f"bad key {KEY}, prompt {PROMPT}, {REPLY}", code=KEY),
        error(429, KEY, headers={"Retry-After": "soon"}),
        Answer(f"{KEY} {PROMPT} {REPLY}".encode()),
        chat(REPLY, cut=150),
        chat(REPLY, delay=10),
        chat(REPLY, trickle=0.01),
        Answer(reset=True),
    ],
    ids=["400", "500", "429", "body", "cut", "hang", "trickle", "reset"],
)
def test_no_secret_is_told(
    way: str, bad: Answer, server: ScriptedServer, make: Model, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script(bad)
    model = make(attempts=2, timeout=0.25)
    with pytest.raises(ModelError) as caught:
        complete(way, model, SHAPED)
    told = [
        str(caught.value),
        repr(caught.value),
        repr(model),
        str(model),
        caplog.text,
        "".join(traceback.format_exception(caught.value)),
        *(repr(each.args) + each.getMessage() for each in caplog.records if each.name.startswith(("ripple", "openai"))),
    ]
    for secret in (KEY, PROMPT, REPLY, "turnip", "parsnip", "7d1f"):
        assert not any(secret in text for text in told), secret
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None, "an error beneath would hold the server's words and the request"


def test_prompts_of_good_calls_are_not_logged(
    server: ScriptedServer, make: Model, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script(chat(REPLY))
    make(base_url=server.url.replace("//", "//user:hidden@")).complete(SHAPED)
    logging.getLogger("httpx").info("what others tell")
    assert "what others tell" in caplog.text
    assert not any(secret in caplog.text for secret in (KEY, PROMPT, REPLY, "hidden"))


@both_ways
@pytest.mark.parametrize(
    "bad",
    [chat(delay=30), chat("x" * 500, trickle=0.02), chat("x", trickle=0.02, trickle_head=True)],
    ids=["hangs", "trickles", "trickles its head"],
)
def test_the_deadline_is_hard(way: str, bad: Answer, server: ScriptedServer, make: Model) -> None:
    server.script(bad)
    model = make(timeout=30.0)
    begin = time.monotonic()
    with pytest.raises(ModelError, match=r"within 0\.15 s") as caught:
        complete(way, model, timeout=0.15)
    assert 0.14 < time.monotonic() - begin < 0.15 + 0.5
    assert (caught.value.reason, caught.value.retryable) == ("timeout", True)


def test_the_models_own_time_counts_where_it_is_shorter(server: ScriptedServer, make: Model) -> None:
    server.script(chat(delay=30))
    begin = time.monotonic()
    with pytest.raises(ModelError, match=r"within 0\.1 s"):
        make(timeout=0.1).complete(ASKED, timeout=60)
    assert time.monotonic() - begin < 0.6


def test_a_hung_attempt_is_tried_again(server: ScriptedServer, make: Model) -> None:
    server.script(chat(delay=30), chat("at last"))
    assert make(attempt_timeout=0.1).complete(ASKED).text == "at last"


@both_ways
def test_a_storm_of_429_ends_within_the_deadline(way: str, server: ScriptedServer, make: Model) -> None:
    server.script(error(429))
    model = make(attempts=1_000, pause=0.05, timeout=0.4)
    begin = time.monotonic()
    with pytest.raises(ModelError) as caught:
        complete(way, model)
    assert time.monotonic() - begin < 0.9
    assert caught.value.retryable
    assert 2 <= len(server.received) <= 40, "pauses double"


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        ({"Retry-After": "0.2"}, 0.2),
        ({"retry-after-ms": "150", "Retry-After": "9"}, 0.15),
        ({"Retry-After": "soon"}, 0.0),
        ({"Retry-After": "-5"}, 0.0),
        ({"Retry-After": "nan"}, 0.0),
    ],
    ids=str,
)
def test_the_time_that_the_server_asks_for_is_kept(
    headers: dict[str, str], least: float, server: ScriptedServer, make: Model
) -> None:
    server.script(error(429, headers=headers), chat())
    make().complete(ASKED)
    first, second = server.received
    assert least <= second.at - first.at < least + 0.5


def test_a_pause_that_would_outlast_the_deadline_is_not_begun(server: ScriptedServer, make: Model) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    for asked in ("60", later, "inf", "1e300"):
        server.script(error(429, headers={"Retry-After": asked}))
        begin = time.monotonic()
        with pytest.raises(ModelError) as caught:
            make().complete(ASKED)
        assert time.monotonic() - begin < 1.0
        assert (caught.value.reason, caught.value.retryable) == ("rate_limit", True)


def test_an_endpoint_that_is_not_there_is_an_error(make: Model) -> None:
    with pytest.raises(ModelError, match="could not be reached") as caught:
        make(base_url="http://127.0.0.1:9/v1", attempts=2).complete(ASKED)
    assert (caught.value.reason, caught.value.retryable) == ("connection", True)


# --- the ladder ---------------------------------------------------------------------------------------------------


def takes(*formats: str, refusal: str = "response_format is not supported", status: int = 400) -> Any:
    """A server that refuses every format but these."""

    def answer(received: Received) -> Answer:
        asked = received.body.get("response_format", {"type": "text"})
        kind = asked["type"]
        if kind == "json_schema":
            kind = "schema" if '"maxLength": 9' in json.dumps(asked) else "bare schema"
        kind = kind.removeprefix("json_")
        return chat("{}") if kind in formats else error(status, refusal)

    return answer


def formats(server: ScriptedServer) -> list[str]:
    return [body.get("response_format", {"type": "text"})["type"] for body in server.bodies]


def test_a_schema_is_asked_for_strictly(server: ScriptedServer, make: Model) -> None:
    make().complete(SHAPED)
    body = server.bodies[0]
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "extraction", "strict": True, "schema": SCHEMA},
    }
    assert body["messages"][0]["content"] == "Constant system text."


@both_ways
def test_the_ladder_is_learnt_once(way: str, server: ScriptedServer, make: Model) -> None:
    server.script(takes("text"))
    model = make()
    for _ in range(3):
        assert complete(way, model, SHAPED).text == "{}"
    assert formats(server) == ["json_schema", "json_object", "text", "text", "text"]
    compact = json.dumps(SCHEMA, separators=(",", ":"))
    contents = [body["messages"][0]["content"] for body in server.bodies]
    assert [compact in content for content in contents] == [False, True, True, True, True]
    assert all(content.startswith("Constant system text.") for content in contents)
    assert all(json.dumps(PROMPT) == body["messages"][1]["content"] for body in server.bodies)
    complete(way, model, ASKED)
    assert server.bodies[-1]["messages"][0]["content"] == "Constant system text."
    server.script(takes("text"))
    complete(way, make(), SHAPED)
    assert len(server.received) == 3, "another object learns for itself"


@pytest.mark.parametrize(
    ("refusal", "taken", "sent"),
    [
        ("'response_format' of type 'json_schema' is not supported", "object", ["json_schema", "json_object"]),
        ("This response_format type is unavailable now", "object", ["json_schema", "json_object"]),
        ("failed to parse grammar", "object", ["json_schema", "json_object"]),
        ("Invalid schema: In context=(), 'maxLength' is not permitted", "bare schema", ["json_schema"] * 2),
        ("Invalid schema: 'maxLength' is not permitted", "object", ["json_schema"] * 2 + ["json_object"]),
    ],
    ids=str,
)
def test_a_refusal_about_the_format_steps_down(
    refusal: str, taken: str, sent: list[str], server: ScriptedServer, make: Model
) -> None:
    for status in (400, 422, 500):
        server.script(takes(taken, refusal=refusal, status=status))
        make().complete(SHAPED)
        assert formats(server) == sent


def test_a_schema_without_limits_keeps_its_properties(server: ScriptedServer, make: Model) -> None:
    server.script(takes("bare schema", refusal="'maxLength' is not permitted"))
    make().complete(SHAPED)
    schema = server.bodies[1]["response_format"]["json_schema"]["schema"]
    items = {
        "type": "object",
        "additionalProperties": False,
        "required": ["maxLength"],
        "properties": {"maxLength": {"type": "string"}},
    }
    assert schema == {**SCHEMA, "properties": {"units": {"type": "array", "items": items}}}


def test_a_refusal_about_something_else_changes_nothing(server: ScriptedServer, make: Model) -> None:
    model = make()
    server.script(error(400, "your account is closed"), takes("schema"))
    with pytest.raises(ModelError):
        model.complete(SHAPED)
    model.complete(SHAPED)
    assert formats(server) == ["json_schema", "json_schema"]


def test_what_did_not_help_is_not_learnt(server: ScriptedServer, make: Model) -> None:
    quoted = error(422, json.dumps({"input": {"response_format": 1, "temperature": 0, "max_tokens": 9, "unknown": 1}}))
    model = make()
    server.script(quoted)
    with pytest.raises(ModelError):
        model.complete(SHAPED)
    assert len(server.received) <= 6
    server.script(chat())
    model.complete(SHAPED)
    body = server.bodies[0]
    assert body["response_format"]["type"] == "json_schema"
    assert (body["temperature"], body["max_tokens"]) == (0.0, 150)


def test_the_word_for_the_limit_of_tokens_is_learnt_once(server: ScriptedServer, make: Model) -> None:
    def modern(received: Received) -> Answer:
        if "max_tokens" in received.body:
            told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
            return error(400, told, param="max_tokens", code="unsupported_parameter")
        return chat()

    server.script(modern)
    model = make()
    for _ in range(2):
        model.complete(ASKED)
    assert ["max_tokens" in body for body in server.bodies] == [True, False, False]
    assert [body.get("max_completion_tokens") for body in server.bodies] == [None, 150, 150]


def test_a_limit_that_is_too_large_is_not_taken_for_an_unknown_word(server: ScriptedServer, make: Model) -> None:
    server.script(error(400, "max_tokens is too large: 150. The model gives at most 100", param="max_tokens"))
    with pytest.raises(ModelError):
        make().complete(ASKED)
    assert len(server.received) == 1


def test_a_temperature_that_is_refused_is_left_out(server: ScriptedServer, make: Model) -> None:
    def reasoning(received: Received) -> Answer:
        if "temperature" in received.body:
            return error(
                400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature"
            )
        return takes("object")(received)

    server.script(reasoning)
    model = make()
    for _ in range(2):
        model.complete(SHAPED)
    assert [("temperature" in body) for body in server.bodies] == [True, False, False, False]
    assert formats(server) == ["json_schema", "json_schema", "json_object", "json_object"]


def test_calls_side_by_side_learn_the_same(server: ScriptedServer, make: Model) -> None:
    server.script(takes("text"))
    model = make(concurrency=6)
    with ThreadPoolExecutor(6) as pool:
        assert [each.text for each in pool.map(lambda _: model.complete(SHAPED), range(6))] == ["{}"] * 6
    assert len(server.received) <= 6 * 3
    server.script(takes("text"))
    model.complete(SHAPED)
    assert formats(server) == ["text"]


def test_further_fields_and_no_temperature(server: ScriptedServer, make: Model) -> None:
    make(temperature=None, extra_body={"reasoning_effort": "low"}).complete(ASKED)
    body = server.bodies[0]
    assert "temperature" not in body
    assert body["reasoning_effort"] == "low"


# --- many at once -------------------------------------------------------------------------------------------------


@both_ways
def test_no_more_requests_are_open_than_told(way: str, server: ScriptedServer, make: Model) -> None:
    server.script(chat(delay=0.03))
    model = make(concurrency=3)
    if way == "sync":
        with ThreadPoolExecutor(9) as pool:
            list(pool.map(lambda _: model.complete(ASKED), range(9)))
    else:

        async def nine() -> None:
            await asyncio.gather(*(model.acomplete(ASKED) for _ in range(9)))

        asyncio.run(nine())
    assert len(server.received) == 9
    assert server.most_open == 3


def test_async_calls_do_not_hold_up_the_loop(server: ScriptedServer, make: Model) -> None:
    server.script(chat(delay=0.3))
    model = make(concurrency=10)

    async def watch() -> tuple[float, float]:
        begin = time.monotonic()
        calls = asyncio.gather(*(model.acomplete(ASKED) for _ in range(10)))
        longest = 0.0
        while not calls.done():
            tick = time.monotonic()
            await asyncio.sleep(0.005)
            longest = max(longest, time.monotonic() - tick)
        await calls
        return longest, time.monotonic() - begin

    longest, total = asyncio.run(watch())
    assert longest < 0.15, "a call that blocks would hold the loop for 0.3 s"
    assert total < 2.0, "ten calls of 0.3 s one after the other take 3 s"


def test_a_cancelled_call_hangs_up(server: ScriptedServer, make: Model) -> None:
    server.script(chat(delay=30), chat("next"))
    model = make(concurrency=1)

    async def cancel() -> str:
        task = asyncio.create_task(model.acomplete(ASKED))
        while not server.received:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await model.acomplete(ASKED)).text

    assert asyncio.run(cancel()) == "next", "the slot of a cancelled call is free"


def test_one_model_serves_threads_and_event_loops_in_turn(server: ScriptedServer, make: Model) -> None:
    model = make()
    for _ in range(2):
        assert asyncio.run(model.acomplete(ASKED)).text == "{}"
        assert model.complete(ASKED).text == "{}"
    model.close()
    assert model.complete(ASKED).text == "{}"
    assert sum(thread.name == "ripple-models" for thread in threading.enumerate()) == 1


def test_a_model_that_is_dropped_leaves_no_open_connection(server: ScriptedServer) -> None:
    OpenAIModel("tiny", base_url=server.url).complete(ASKED)
    gc.collect()  # an open socket would warn here, and warnings are errors
    assert len(server.received) == 1


AT_THE_END = """
import gc, logging, os, threading, time
logging.getLogger("asyncio").disabled = True  # it tells of slow steps, which a busy machine has
from models.server import chat, running_server
from ripple.errors import ModelError
from ripple.models import OpenAIModel
from ripple.models.base import ModelRequest
from ripple.models.loop import shared_loop

asked = ModelRequest("answer", "s", "u", None, "answer-1", 9)
with running_server() as server:
    server.script(chat("first"), chat("child"), chat("parent"), chat(delay=60), chat("last"))
    model = OpenAIModel("tiny", base_url=server.url)
    print(model.complete(asked).text, flush=True)
    child = os.fork()
    if child == 0:
        print(model.complete(asked).text, flush=True)
        shared_loop().stop()
        os._exit(0)
    os.waitpid(child, 0)
    print(model.complete(asked).text, flush=True)

    def hang():
        try:
            model.complete(asked)
        except ModelError as error:
            print(error, flush=True)

    threading.Thread(target=hang, daemon=True).start()
    while len(server.received) < 4:
        time.sleep(0.01)
    print(model.complete(asked).text, flush=True)
    shared_loop().stop()
    time.sleep(0.05)
    del model
    gc.collect()  # what is open now was not closed with the loop
"""


@pytest.mark.slow
def test_a_forked_child_has_calls_of_its_own_and_the_end_is_quiet() -> None:
    code = f"import sys; sys.path[:] = {sys.path!r}\n{AT_THE_END}"
    done = subprocess.run(
        [sys.executable, "-P", "-X", "dev", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.splitlines()[:4] == ["first", "child", "parent", "last"]
    assert "interpreter is ending" in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)


# --- settings -----------------------------------------------------------------------------------------------------


def test_repr_tells_name_and_host_only(server: ScriptedServer) -> None:
    model = OpenAIModel("tiny", base_url="http://user:hidden@localhost:81/v1?token=hidden", api_key=KEY)
    assert repr(model) == "OpenAIModel('tiny' at localhost:81)"


def test_settings_come_from_arguments_then_ripple_then_openai(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://openai.test/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key")
    assert repr(OpenAIModel("a")) == "OpenAIModel('a' at openai.test)"
    monkeypatch.setenv("RIPPLE_MODEL", "named")
    monkeypatch.setenv("RIPPLE_BASE_URL", server.url)
    assert repr(OpenAIModel()) == f"OpenAIModel('named' at {server.host})"
    OpenAIModel().complete(ASKED)
    monkeypatch.setenv("RIPPLE_API_KEY", "ripple-key")
    OpenAIModel().complete(ASKED)
    OpenAIModel(api_key=" given-key\n").complete(ASKED)
    assert [each.headers["authorization"] for each in server.received] == [
        "Bearer openai-key",
        "Bearer ripple-key",
        "Bearer given-key",
    ]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"model": None}, "RIPPLE_MODEL"),
        ({"base_url": None}, "OPENAI_API_KEY"),
        ({"base_url": "127.0.0.1:80"}, "http"),
        ({"base_url": "file:///etc"}, "http"),
        ({"base_url": "http://[::1"}, "http"),
        ({"base_url": "http://host:999999"}, "http"),
        ({"api_key": "sk-\nsecret"}, "characters"),
        ({"api_key": "“sk-secret”"}, "characters"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(server: ScriptedServer, options: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ConfigError, match=wanted) as caught:
        OpenAIModel(**{"model": "tiny", "base_url": server.url, **options})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"timeout": 0}, {"timeout": float("nan")}, {"attempts": 0}, {"concurrency": 2.5}, {"pause": -1}, {"price": 3}],
    ids=str,
)
def test_options_out_of_range_are_refused(server: ScriptedServer, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        OpenAIModel("tiny", base_url=server.url, **options)
