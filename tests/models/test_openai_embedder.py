from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from models.server import Answer, Received, ScriptedServer, embeddings, error
from ripple.errors import ConfigError, EmbeddingError, InvalidInputError
from ripple.models import OpenAIEmbedder
from ripple.models.base import Embedder

KEY = "sk-very-secret-7d1f"


@pytest.fixture(scope="module", autouse=True)
def client(running: ScriptedServer) -> Iterator[None]:
    """Keep one client for all tests of the module: embedders of one address and key share it."""
    kept = OpenAIEmbedder("tiny", base_url=running.url, api_key=KEY)
    yield
    kept.close()


@pytest.fixture
def make(server: ScriptedServer) -> Iterator[Any]:
    def embedder(**options: Any) -> OpenAIEmbedder:
        fixed = {"base_url": server.url, "api_key": KEY, "timeout": 5.0, "pause": 0.002, "dimension": 3}
        return OpenAIEmbedder("tiny", **{**fixed, **options})

    yield embedder


def row_of(text: str) -> list[float]:
    return [float(len(text)), 0.5, -1.0]


def by_length(received: Received) -> Answer:
    return embeddings([row_of(text) for text in received.body["input"]])


def test_texts_come_back_as_rows_in_their_order(server: ScriptedServer, make: Any) -> None:
    server.script(by_length)
    embedder = make()
    texts = ["a", "", "ccc", " \n", "ee \ud83d"]
    rows = embedder.embed(texts)
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous
    expected = np.array([row_of("a"), [np.nan] * 3, row_of("ccc"), [np.nan] * 3, row_of("ee ?")], np.float32)
    np.testing.assert_array_equal(rows, expected)
    body = server.bodies[0]
    assert body == {"model": "tiny", "input": ["a", "ccc", "ee \ufffd"], "encoding_format": "float", "dimensions": 3}
    assert server.received[0].path == "/v1/embeddings"
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimension) == ("tiny", 3)
    assert len(server.received) == 1


def test_no_text_costs_no_request(server: ScriptedServer, make: Any) -> None:
    assert make().embed([]).shape == (0, 3)
    assert make().embed([" "]).shape == (1, 3)
    assert not server.received


def test_the_dimension_is_learnt_once(server: ScriptedServer, make: Any) -> None:
    server.script(by_length)
    embedder = make(dimension=None)
    assert embedder.dimension == 3
    assert embedder.embed(["a"]).shape == (1, 3)
    assert embedder.dimension == 3
    assert [body["input"] for body in server.bodies] == [["dimension"], ["a"]]
    assert not any("dimensions" in body for body in server.bodies)


def test_batches_go_side_by_side_and_keep_the_order(server: ScriptedServer, make: Any) -> None:
    def slow_first(received: Received) -> Answer:
        texts = received.body["input"]
        return embeddings([row_of(text) for text in texts], delay=0.1 if "x" in texts else 0.02)

    server.script(slow_first)
    texts = ["x" * (i + 1) for i in range(10)]
    rows = make(batch=3, concurrency=2).embed(texts)
    assert rows[:, 0].tolist() == [float(i + 1) for i in range(10)]
    assert sorted(len(body["input"]) for body in server.bodies) == [1, 3, 3, 3]
    assert server.most_open == 2


def test_long_texts_are_cut_and_bound_a_batch(server: ScriptedServer, make: Any) -> None:
    server.script(by_length)
    make(text_tokens=100).embed(["word " * 1_000, "short"])
    cut, short = server.bodies[0]["input"]
    assert len(cut) == 500
    assert short == "short"
    server.script(by_length)
    make(text_tokens=10**6).embed(["x" * 300_000, "y" * 300_000, "z"])
    assert sorted(len(body["input"]) for body in server.bodies) == [1, 2]


def test_a_time_out_is_for_each_request_not_for_all(server: ScriptedServer, make: Any) -> None:
    def slow(received: Received) -> Answer:
        return embeddings([row_of(text) for text in received.body["input"]], delay=0.06)

    server.script(slow)
    rows = make(batch=1, concurrency=1, timeout=0.25).embed(["a", "b", "c", "d", "e"])
    assert rows.shape == (5, 3)


def test_rows_are_put_where_they_belong(server: ScriptedServer, make: Any) -> None:
    server.script(embeddings([[2, 2, 2], [1, 1, 1]], indices=[1, 0]))
    np.testing.assert_array_equal(make().embed(["a", "b"]), np.array([[1] * 3, [2] * 3], np.float32))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (embeddings([[1, 2, 3]]), "sent 1 of 2 embeddings"),
        (embeddings([]), "sent 0 of 2"),
        (embeddings([[1, 2, 3]] * 3), "sent 3 of 2"),
        (embeddings([[1, 2, 3]] * 2, indices=[0, 0]), "sent 1 of 2"),
        (embeddings([[1, 2, 3]] * 2, indices=[0, 7]), "sent 2 of 2"),
        (embeddings([[1, 2, 3], [1, 2]]), "rows of numbers"),
        (embeddings([[1, 2, "x"], [1, 2, 3]]), "rows of numbers"),
        (embeddings([[], []]), "rows of numbers"),
        (embeddings([[1, 2], [3, 4]]), "length 2; wanted 3"),
        (Answer({"data": {"a": 1}}), "no embeddings"),
        (Answer({"data": [{"index": []}]}), "no embeddings"),
        (Answer(b"busy"), "no embeddings"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_bad_answer_fails_the_whole_call(answer: Answer, told: str, server: ScriptedServer, make: Any) -> None:
    server.script(answer)
    with pytest.raises(EmbeddingError, match=told):
        make(attempts=2).embed(["a", "b"])


def test_one_failed_batch_fails_the_call_at_once(server: ScriptedServer, make: Any) -> None:
    def third_fails(received: Received) -> Answer:
        return error(403) if received.body["input"] == ["c"] else embeddings([[1, 2, 3]], delay=0.02)

    server.script(third_fails)
    begin = time.monotonic()
    with pytest.raises(EmbeddingError, match="403"):
        make(batch=1, concurrency=2).embed([*"abcdefghij"] * 20)
    assert len(server.received) < 20
    assert time.monotonic() - begin < 2.0


def test_what_may_pass_is_tried_again(server: ScriptedServer, make: Any) -> None:
    server.script(error(429, headers={"Retry-After": "0"}), Answer(reset=True), error(503), by_length)
    assert make().embed(["a"]).shape == (1, 3)
    assert len(server.received) == 4


def test_the_deadline_is_hard_and_tells_no_secret(server: ScriptedServer, make: Any) -> None:
    server.script(embeddings([[1, 2, 3]], trickle=0.02))
    embedder = make(timeout=0.15)
    begin = time.monotonic()
    with pytest.raises(EmbeddingError, match="within") as caught:
        embedder.embed(["parsnip"])
    assert time.monotonic() - begin < 0.65
    assert caught.value.retryable
    assert not any(secret in repr(caught.value) + repr(embedder) for secret in (KEY, "parsnip"))
    assert repr(embedder) == f"OpenAIEmbedder('tiny' at {server.host})"


def test_a_dimension_that_is_refused_is_left_out_but_checked(server: ScriptedServer, make: Any) -> None:
    def fixed(received: Received) -> Answer:
        if "dimensions" in received.body:
            return error(400, "This model does not support specifying dimensions")
        return by_length(received)

    server.script(fixed)
    embedder = make()
    for _ in range(2):
        assert embedder.embed(["a"]).shape == (1, 3)
    assert ["dimensions" in body for body in server.bodies] == [True, False, False]
    with pytest.raises(EmbeddingError, match="length 3; wanted 5"):
        make(dimension=5).embed(["a"])


def test_nothing_and_null_are_no_vector(server: ScriptedServer, make: Any) -> None:
    nan = json.loads("NaN")
    server.script(embeddings([[1, None, 3], [nan, nan, nan]]))
    rows = make().embed(["a", "b"])
    assert np.isnan(rows).any(axis=1).all()


@pytest.mark.parametrize("options", [{"dimension": 0}, {"batch": 0}, {"text_tokens": 1.5}, {"timeout": 0}], ids=str)
def test_options_out_of_range_are_refused(options: dict[str, Any], make: Any) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        make(**options)


def test_a_model_must_be_named(server: ScriptedServer) -> None:
    with pytest.raises(ConfigError, match="name"):
        OpenAIEmbedder("", base_url=server.url)
