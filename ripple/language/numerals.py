"""Small numbers written as words or digits, in the languages of the temporal resolver."""

from __future__ import annotations

import re
from itertools import product

__all__ = [
    "CARDINALS",
    "ENGLISH_NUMBER",
    "ENGLISH_ORDINAL",
    "ORDINALS",
    "chinese_number",
    "number",
    "ordinal",
]

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINAL_UNITS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)


def _english_cardinals() -> dict[str, float]:
    words = [*_UNITS.split(), "seventeen", "eighteen", "nineteen"]
    values: dict[str, float] = {word: value for value, word in enumerate(words)}
    for (ten, tens), one in product(enumerate(_TENS.split(), start=2), range(10)):
        values[tens if one == 0 else f"{tens}-{words[one]}"] = 10 * ten + one
    return values | {
        "a": 1,
        "an": 1,
        "couple": 2,
        "a couple": 2,
        "a couple of": 2,
        "couple of": 2,
        "half a": 0.5,
    }


def _english_ordinals() -> dict[str, int]:
    words = _ORDINAL_UNITS.split()
    values = {word: value for value, word in enumerate(words) if value > 0}
    for number_of_tens, tens in ((20, "twenty"), (30, "thirty")):
        for one in range(1, 10):
            values[f"{tens}-{words[one]}"] = number_of_tens + one
    return values | {"thirtieth": 30}


_OTHER_CARDINALS = (
    "un dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "une deux trois quatre cinq six sept huit neuf dix onze douze",
    "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "eine",
    "einem",
    "einen",
    "einer",
    "una",
)

CARDINALS = _english_cardinals() | {
    word: value for row in _OTHER_CARDINALS for value, word in enumerate(row.split(), start=1)
}
"""Values of number words; a hyphen joins the parts of English ones."""

ORDINALS = _english_ordinals()

ENGLISH_NUMBER = (
    r"(?:half an? |a couple(?: of)? |couple(?: of)? |\d{1,4}(?:\.5)? ?|an? |"
    rf"(?:(?:{'|'.join(_TENS.split())})[- ](?:{'|'.join(_UNITS.split()[1:10])})|{'|'.join(_TENS.split())}|"
    rf"seventeen|eighteen|nineteen|{'|'.join(sorted(_UNITS.split()[1:], key=len, reverse=True))}) )"
)
"""Pattern of an English number with the space behind it."""

ENGLISH_ORDINAL = (
    r"(?:(?:twenty|thirty)[- ](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|thirtieth|"
    + "|".join(sorted(_ORDINAL_UNITS.split()[1:], key=len, reverse=True))
    + r"|\d{1,2}(?:st|nd|rd|th))"
)

_CHINESE_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_CHINESE_TENS = {"十": 10, "廿": 20, "卅": 30}


def number(text: str) -> float:
    """Return the value of a number in digits or words; ``ValueError`` when it is none."""
    text = text.strip()
    if text[:1].isdecimal():
        return float(text)
    if text.startswith("half"):
        return 0.5
    value = CARDINALS.get(re.sub(r"(?<=ty) ", "-", text))
    if value is None:
        raise ValueError("not a number")
    return value


def ordinal(text: str) -> int:
    """Return the value of an English ordinal or of leading digits, else raise ``ValueError``."""
    digits = re.match(r"\d{1,4}", text)
    if digits is not None:
        return int(digits.group())
    value = ORDINALS.get(re.sub(r"(?<=ty) ", "-", text.strip()))
    if value is None:
        raise ValueError("not an ordinal")
    return value


def chinese_number(text: str) -> int:
    """Return the value of Chinese or other decimal digits up to 9,999; ``ValueError`` when it is none.

    Both ways of writing are read: by place ("二零一六") and with tens and hundreds ("二十三", "一百").
    """
    text = text.strip()
    if text.isdecimal():
        return int(text)
    if len(text) > 1 and all(char in _CHINESE_DIGITS or char.isdecimal() for char in text):
        return int("".join(str(_CHINESE_DIGITS.get(char, char)) for char in text))
    total, digit = 0, -1
    for char in text:
        if char in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[char]
        elif char in _CHINESE_TENS:
            total += _CHINESE_TENS[char] * (digit if digit > 0 else 1)
            digit = -1
        elif char == "百" and digit > 0:
            total += 100 * digit
            digit = -1
        else:
            raise ValueError("not a number")
    return total + max(digit, 0)
