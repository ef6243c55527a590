"""Keys and tokens by Python's own Unicode tables and snowballstemmer, character by character."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import snowballstemmer

IGNORABLE = [
    *[(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)],
    *[(0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F)],
    *[(0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)],
    (0xE0000, 0xE0FFF),
]
IGNORABLE_CHARACTERS = frozenset(chr(code) for low, high in IGNORABLE for code in range(low, high + 1))
UNSPACED_NAMES = (
    *("CJK", "IDEOGRAPHIC", "HANGZHOU", "VERTICAL KANA", "VERTICAL IDEOGRAPHIC", "MASU MARK", "OLD CHINESE"),
    *("HIRAGANA", "KATAKANA", "HENTAIGANA", "BOPOMOFO", "HANGUL"),
    *("THAI", "LAO", "MYANMAR", "KHMER", "NEW TAI LUE", "TAI THAM", "REGIONAL INDICATOR"),
)
APOSTROPHES = "'\u2018\u2019\u201b\u02bc"
CLITICS = ("'s", "'ll", "'ve", "'re", "'d", "'m")
KEY_BYTES = 4_096
TOKEN_BYTES = 128
_STEM = snowballstemmer.stemmer("english").stemWord


def fold_character(c: str) -> str:
    if unicodedata.category(c) in ("Cc", "Zs", "Zl", "Zp"):
        return " "
    while True:
        step = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", c).casefold())
        step = "".join(part for part in step if part not in IGNORABLE_CHARACTERS)
        if step == c:
            return c
        c = step


def fold(text: str) -> str:
    """NFKC_Casefold, controls and separators as spaces."""
    return unicodedata.normalize("NFC", "".join(map(fold_character, text)))


def normalize_key(text: str) -> str:
    key = " ".join(word for word in fold(text).split(" ") if word)
    return key.encode()[:KEY_BYTES].decode(errors="ignore").rstrip(" ")


@cache
def kind(c: str) -> str:
    """Of a folded character: word, mark, unspaced, symbol, apostrophe or other."""
    category = unicodedata.category(c)
    if c in APOSTROPHES:
        return "apostrophe"
    if category in ("Mn", "Mc"):
        return "mark"
    if category[0] in "LN":
        is_digit = category in ("Nd", "No")
        name = unicodedata.name(c, "")
        return "unspaced" if not is_digit and name.startswith(UNSPACED_NAMES) else "word"
    if unicodedata.name(c, "").startswith("REGIONAL INDICATOR"):
        return "unspaced"
    is_pictograph = 0x2600 <= ord(c) <= 0x27BF or 0x2B1B <= ord(c) <= 0x2B55 or 0x1F000 <= ord(c) <= 0x1FAFF
    return "symbol" if category == "So" and is_pictograph else "other"


def fnv_1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def clipped(term: str) -> str:
    data = term.encode()
    if len(data) <= TOKEN_BYTES:
        return term
    return f"{data[:TOKEN_BYTES].decode(errors='ignore')}#{fnv_1a(data):016x}"


def groups(text: str) -> list[tuple[str, list[str]]]:
    """Runs of one kind; each item is a character with its marks. Apostrophes inside a word join its run."""
    runs: list[tuple[str, list[str]]] = []
    fresh = True
    kinds = [*map(kind, text), "other"]
    for at, c in enumerate(text):
        what = kinds[at]
        if what == "mark" and not fresh:
            runs[-1][1][-1] += c
        elif what == "apostrophe" and not fresh and runs[-1][0] == "word" and kinds[at + 1] == "word":
            runs[-1][1].append("'")
        elif what in ("word", "unspaced", "symbol"):
            if fresh or what == "symbol" or runs[-1][0] != what:
                runs.append((what, []))
            runs[-1][1].append(c)
            fresh = False
        else:
            fresh = True
    return runs


def without_clitics(word: str) -> str:
    while "'" in word:
        if word.endswith("n't"):
            return ""
        clitic = next((clitic for clitic in CLITICS if word.endswith(clitic)), None)
        if clitic is None:
            return word
        word = word.removesuffix(clitic)
    return word


def tokenize(text: str, is_stop_word: Callable[[str], bool]) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    for what, items in groups(fold(text)):
        if what == "word":
            word = without_clitics("".join(items))
            if not word or is_stop_word(word):
                continue
            is_long = len(word.encode()) > TOKEN_BYTES
            tokens.append((clipped(word),) * 2 if is_long else (_STEM(word), word))
        elif what == "symbol":
            tokens += [(clipped(items[0][0]),) * 2]
        else:
            pairs = [a + b for a, b in pairwise(items)] or items
            tokens += [(clipped(pair),) * 2 for pair in pairs]
    return capped(tokens)


def capped(tokens: list[tuple[str, str]], limit: int = 4_096) -> list[tuple[str, str]]:
    known: set[str] = set()
    kept = []
    for term, surface in tokens:
        if term in known or len(known) < limit:
            known.add(term)
            kept.append((term, surface))
    return kept
