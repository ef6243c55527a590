"""Plain text and its sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.language.sentences import clean_text, is_question, split_long, split_sentences


def test_clean_text_is_one_line_without_what_cannot_be_seen() -> None:
    assert clean_text("  a\tb\r\n c\x00\x1b[0m\u202ed\u200be\ufefff ") == "a b c[0mdef"
    assert clean_text("\u200b \x07\n") == ""
    assert clean_text("👩\u200d🚀 家族") == "👩\u200d🚀 家族"


@pytest.mark.parametrize("text", ["Why?", 'Did she say "why?"', "Fine. And you? 😀", "你去吗", "他是谁?", "What now?!"])
def test_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["", "Why? Because.", "No!", "我去了。"])
def test_no_question(text: str) -> None:
    assert not is_question(text)


def test_sentences_end_at_marks_of_any_script() -> None:
    assert split_sentences("One. Two! Three? 四。五！six") == [
        "One.",
        "Two!",
        "Three?",
        "四。",
        "五！",
        "six",
    ]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(alphabet="ab .。!\n", max_size=200), st.integers(5, 40))
def test_pieces_of_a_long_text_are_short_and_lose_no_word(text: str, longest: int) -> None:
    pieces = split_long(text, longest)
    assert all(0 < len(piece) <= longest for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
