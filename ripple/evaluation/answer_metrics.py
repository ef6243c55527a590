"""F1 and BLEU-1 of answers, computed as the LoCoMo benchmark and the papers on it do.

F1 normalises as LoCoMo does: no commas, small letters, no marks, none of "a an the and"; then words are
stemmed (Porter's second English stemmer here, the first there) and compared with their counts. Of an answer of
category 1 each part between commas counts by its best match among the parts of the reply; of an answer of
category 3 only what stands before a semicolon counts. BLEU-1 is clipped unigram precision by the brevity
penalty over words of small letters without marks, not stemmed, zero where none is shared.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from ripple._engine_options import english_stem

__all__ = ["answer_f1", "bleu1", "token_f1"]

MULTI_HOP, OPEN_DOMAIN = "1", "3"

_ARTICLES = frozenset({"a", "an", "the", "and"})
_MARKS = re.compile(r"[!-/:-@\[-`{-~]")


def answer_f1(reply: str, right: str, category: str) -> float:
    """Return the F1 of a reply to a question of a LoCoMo category, 0..1."""
    if category == OPEN_DOMAIN:
        right = right.split(";")[0]
    if category != MULTI_HOP:
        return token_f1(reply, right)
    replies, wanted = reply.split(","), right.split(",")
    return sum(max(token_f1(said, part) for said in replies) for part in wanted) / len(wanted)


def token_f1(reply: str, right: str) -> float:
    """Return the harmonic mean of precision and recall of the normalised words, 0..1."""
    said, wanted = (Counter(map(english_stem, _normalised(text))) for text in (reply, right))
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def bleu1(reply: str, right: str) -> float:
    """Return BLEU with unigrams alone, 0..1."""
    said, wanted = _words(reply), _words(right)
    shared = (Counter(said) & Counter(wanted)).total()
    if not shared:
        return 0.0
    penalty = 1.0 if len(said) >= len(wanted) else math.exp(1 - len(wanted) / len(said))
    return penalty * shared / len(said)


def _words(text: str) -> list[str]:
    return _MARKS.sub(" ", text.lower()).split()


def _normalised(text: str) -> list[str]:
    return [word for word in _MARKS.sub("", text.lower()).split() if word not in _ARTICLES]
