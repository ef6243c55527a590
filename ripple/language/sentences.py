"""Plain text for indexing, and its sentences."""

from __future__ import annotations

import re

__all__ = ["clean_text", "is_question", "split_long", "split_sentences"]

_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_SPACES = re.compile(r"\s+")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=[\s\"'”’)\]]|$)[\"'”’)\]]*|[。！？!?；][”’」』）]*|\n+|$)", re.DOTALL)
_TAIL = 32
_QUESTION_END = re.compile(r"[?？][^\w?？]*$")
_CHINESE_QUESTION = re.compile(
    r"(?:吗|呢|么|嘛)[。.!！~～\s]*$|(?:谁|什么|怎么|为什么|哪|几|多少|是不是|有没有)[^，。,.!！]*$"
)


def clean_text(text: str) -> str:
    """Return a text on one line, without control, direction and invisible characters."""
    if not text.isprintable() or not text.isascii():
        text = _CONTROL.sub("", _SPACES.sub(" ", text))
    return _SPACES.sub(" ", text).strip()


def is_question(text: str) -> bool:
    """Whether the last sentence of a text asks."""
    end = text[-_TAIL:]
    return _QUESTION_END.search(end) is not None or _CHINESE_QUESTION.search(end) is not None


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each without the white space around it."""
    return [sentence for match in _SENTENCE.finditer(text) if (sentence := match.group().strip())]


def split_long(text: str, longest: int) -> list[str]:
    """Return a text in pieces of at most ``longest`` characters, cut at sentence ends where there are any.

    A sentence that is longer itself is cut at a space, else at the limit.
    """
    pieces: list[str] = []
    for sentence in split_sentences(text):
        while len(sentence) > longest:
            cut = sentence.rfind(" ", longest // 2, longest)
            cut = cut if cut > 0 else longest
            pieces.append(sentence[:cut].rstrip())
            sentence = sentence[cut:].lstrip()
        if pieces and len(pieces[-1]) + 1 + len(sentence) <= longest:
            pieces[-1] = f"{pieces[-1]} {sentence}"
        elif sentence:
            pieces.append(sentence)
    return pieces
