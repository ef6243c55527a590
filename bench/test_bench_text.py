"""Cutting texts into terms and names into keys.

Data: 20,000 English sentences drawn from Python's own documentation (pydoc_data), as many Chinese ones of
300 characters in random order, seed 20260423. Rivals: a regular expression with snowballstemmer (what
programs in Python use), unicodedata for keys. `extra_info` holds tokens and bytes, so tokens a second can
be had.

    python -P -m pytest bench/test_bench_text.py
"""

from __future__ import annotations

import pydoc_data.topics
import random
import re
import unicodedata

import pytest
import snowballstemmer
from pytest_benchmark.fixture import BenchmarkFixture

from ripple import _core

SEED = 20260423
SENTENCES = 20_000
WORDS = re.compile(r"\w+(?:['’]\w+)*")
STEM = snowballstemmer.stemmer("english").stemWord


def english() -> list[str]:
    prose = re.split(r"(?<=[.:])\s+", " ".join(pydoc_data.topics.topics.values()))
    sentences = [sentence for sentence in prose if 20 <= len(sentence) <= 300]
    return random.Random(SEED).choices(sentences, k=SENTENCES)


def chinese() -> list[str]:
    rng = random.Random(SEED)
    letters = [chr(0x4E00 + 7 * i) for i in range(300)]
    return ["".join(rng.choices(letters, k=rng.randint(8, 40))) + "。" for _ in range(SENTENCES)]


def in_python(text: str) -> list[str]:
    words = WORDS.findall(unicodedata.normalize("NFKC", text).casefold())
    return [STEM(word) for word in words if not _core.is_stop_word(word)]


@pytest.mark.parametrize("language", ["english", "chinese"])
@pytest.mark.benchmark(group="tokenize")
def test_ripple(benchmark: BenchmarkFixture, language: str) -> None:
    texts = english() if language == "english" else chinese()
    tokens = benchmark(lambda: sum(map(_core.count_tokens, texts)))
    benchmark.extra_info |= {
        "tokens": tokens,
        "bytes": sum(len(text.encode()) for text in texts),
        "seed": SEED,
    }
    if language == "chinese":
        assert tokens == sum(len(text) - 2 for text in texts)
    else:
        ours = [[term for term, _ in _core.tokenize(text)] for text in texts[:500]]
        same = sum(a == in_python(b) for a, b in zip(ours, texts, strict=False))
        assert same > 250  # the expression keeps underscores and clitics


@pytest.mark.benchmark(group="tokenize")
def test_regular_expression_and_snowballstemmer(benchmark: BenchmarkFixture) -> None:
    texts = english()[:1_000]
    tokens = benchmark(lambda: sum(len(in_python(text)) for text in texts))
    benchmark.extra_info |= {
        "tokens": tokens,
        "bytes": sum(len(text.encode()) for text in texts),
        "seed": SEED,
    }
    assert tokens > 5_000


NAMES = [
    "Ada Moreau",
    "José  Álvarez",
    "Ｗａｎｇ　Ｗｅｉ",
    "Straße des 17. Juni",
    "김철수",
    "Мая\u200b Иванова",
] * 1_000


def key_in_python(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.replace("\u200b", "").split())


@pytest.mark.benchmark(group="keys")
def test_ripple_keys(benchmark: BenchmarkFixture) -> None:
    keys = benchmark(lambda: [_core.normalize_key(name) for name in NAMES])
    assert keys == [key_in_python(name) for name in NAMES]


@pytest.mark.benchmark(group="keys")
def test_unicodedata_keys(benchmark: BenchmarkFixture) -> None:
    assert len(benchmark(lambda: [key_in_python(name) for name in NAMES])) == len(NAMES)
