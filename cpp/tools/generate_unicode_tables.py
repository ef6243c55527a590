"""Writes cpp/src/unicode_tables.inc from Python's unicodedata.

Run from the root of the repository with the Python whose unicodedata has the version below::

    python3.11 cpp/tools/generate_unicode_tables.py

A newer version changes stored keys: raise it together with the store's format.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

VERSION = "14.0.0"
OUTPUT = Path("cpp/src/unicode_tables.inc")
BLOCK = 64
LIMIT = 0x31400  # above it nothing has properties or folds, except the ignorable tags (checked in main)
TAGS = range(0xE0000, 0xE1000)

# Default_Ignorable_Code_Point; unicodedata does not have it.
IGNORABLE = [
    *[(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)],
    *[(0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F)],
    *[(0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)],
    (TAGS[0], TAGS[-1]),
]

# Scripts written without spaces between words, and Hangul, whose words carry particles; of these the letters.
# The last entry is the regional indicators, pairs of which are flags.
UNSPACED = [
    *[(0x2E80, 0x2FD5), (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C)],  # Han
    *[(0x3400, 0x9FFF), (0xF900, 0xFAD9), (0x16FE2, 0x16FF1), (0x20000, 0x3134A)],
    *[(0x3041, 0x30FF), (0x31F0, 0x31FF), (0x1AFF0, 0x1B167)],  # kana
    *[(0x3105, 0x312F), (0x31A0, 0x31BF)],  # Bopomofo
    *[(0x1100, 0x11FF), (0xA960, 0xA97C), (0xAC00, 0xD7FB)],  # Hangul
    *[(0xE01, 0xE4E), (0xE81, 0xECD), (0xEDC, 0xEDF)],  # Thai, Lao
    *[(0x1000, 0x109F), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F), (0x1780, 0x17DD)],  # Myanmar, Khmer
    *[(0x1980, 0x19C9), (0x1A20, 0x1A7C), (0x1AA7, 0x1AA7)],  # New Tai Lue, Tai Tham
    (0x1F1E6, 0x1F1FF),
]
SYMBOLS = [(0x2600, 0x27BF), (0x2B1B, 0x2B55), (0x1F000, 0x1FAFF)]  # of these, general category So
APOSTROPHES = {0x2BC}  # a letter by category; tokenize() reads it as an apostrophe

OTHER, WORD, MARK, UNSPACED_CLASS, SYMBOL = range(5)  # CharClass
CLASS_BITS = 3
COMPOSES_BACK = 1 << 11


def members(ranges: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(code for first, last in ranges for code in range(first, last + 1))


def scalars(first: int = 0, limit: int = LIMIT) -> Iterator[int]:
    return (code for code in range(first, limit) if not 0xD800 <= code < 0xE000)


def is_hangul_syllable(code: int) -> bool:
    return 0xAC00 <= code < 0xD7A4


def decompose(text: str) -> str:
    """NFD, with Hangul syllables left whole: fold() composes what follows them by arithmetic."""
    return "".join(c if is_hangul_syllable(ord(c)) else unicodedata.normalize("NFD", c) for c in text)


def folded(code: int, ignorable: frozenset[int]) -> str:
    """NFKC_Casefold of one character, fully decomposed; controls and separators as a space."""
    if unicodedata.category(chr(code)) in ("Cc", "Zs", "Zl", "Zp"):
        return " "
    text = chr(code)
    while True:
        step = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
        step = "".join(c for c in step if ord(c) not in ignorable)
        if step == text:
            return decompose(text)
        text = step


def compositions() -> dict[tuple[int, int], int]:
    pairs = {}
    for code in scalars():
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0][0] != "<" and unicodedata.normalize("NFC", chr(code)) == chr(code):
            pairs[int(parts[0], 16), int(parts[1], 16)] = code
    return pairs


def character_class(code: int, unspaced: frozenset[int], symbols: frozenset[int]) -> int:
    category = unicodedata.category(chr(code))
    if category in ("Mn", "Mc"):
        return MARK
    if code in APOSTROPHES:
        return OTHER
    if code in unspaced and (category in ("Lo", "Lm", "Nl") or 0x1F1E6 <= code <= 0x1F1FF):
        return UNSPACED_CLASS
    if category[0] in "LN":
        return WORD
    return SYMBOL if code in symbols and category == "So" else OTHER


def properties(seconds: set[int]) -> list[int]:
    """Of each code point: class, combining class, and whether it can close a composition."""
    unspaced, symbols = members(UNSPACED), members(SYMBOLS)
    values = [0] * LIMIT
    for code in scalars():
        values[code] = character_class(code, unspaced, symbols) | unicodedata.combining(chr(code)) << CLASS_BITS
        if code in seconds or 0x1161 <= code <= 0x1175 or 0x11A8 <= code <= 0x11C2:
            values[code] |= COMPOSES_BACK
    return values


def fold_offsets(ignorable: frozenset[int]) -> tuple[list[int], list[int]]:
    """Of each code point the offset of its folded form in the pool (0: itself), and the pool."""
    pool: list[int] = [0]
    offsets_of: dict[str, int] = {}
    offsets = [0] * LIMIT
    for code in scalars():
        form = folded(code, ignorable)
        if form != chr(code):
            if form not in offsets_of:
                offsets_of[form] = len(pool)
                pool += [len(form), *map(ord, form)]
            offsets[code] = offsets_of[form]
    return offsets, pool


def two_stages(values: list[int]) -> tuple[list[int], list[int]]:
    blocks: dict[tuple[int, ...], int] = {}
    index = []
    for start in range(0, LIMIT, BLOCK):
        index.append(blocks.setdefault(tuple(values[start : start + BLOCK]), len(blocks)))
    return index, [value for block in blocks for value in block]


def table(kind: str, name: str, values: list[int]) -> str:
    """The definition of an array, lines filled to the width of the code."""
    lines, line = [], ""
    for value in values:
        word = f"{value},"
        if len(line) + len(word) > 110:
            lines.append(line)
            line = ""
        line += word
    return f"constexpr std::array<{kind}, {len(values)}> {name}{{\n" + "\n".join([*lines, line]) + "\n};\n"


def main() -> None:
    if unicodedata.unidata_version != VERSION:
        raise SystemExit(f"this Python has Unicode {unicodedata.unidata_version}; wanted {VERSION}")
    ignorable = members(IGNORABLE)
    for code in scalars(LIMIT, 0x110000):
        if code not in TAGS and (folded(code, ignorable) != chr(code) or unicodedata.category(chr(code))[0] in "LNM"):
            raise SystemExit(f"U+{code:X} lies beyond the tables; raise LIMIT")
    pairs = compositions()
    offsets, pool = fold_offsets(ignorable)
    fold_index, fold_blocks = two_stages(offsets)
    property_index, property_blocks = two_stages(properties({second for _, second in pairs}))
    ordered = sorted(pairs)
    OUTPUT.write_text(
        f"// Unicode {VERSION}. Generated by cpp/tools/generate_unicode_tables.py; not edited by hand.\n"
        "// Included by unicode.cpp alone.\n"
        "// clang-format off\n\n"
        + "\n".join(
            [
                table("std::uint16_t", "kFoldIndex", fold_index),
                table("std::uint16_t", "kFoldBlocks", fold_blocks),
                table("char32_t", "kFoldPool", pool),
                table("std::uint16_t", "kPropertyIndex", property_index),
                table("std::uint16_t", "kPropertyBlocks", property_blocks),
                table("std::uint64_t", "kPairs", [first << 32 | second for first, second in ordered]),
                table("char32_t", "kComposites", [pairs[pair] for pair in ordered]),
            ]
        ),
        encoding="ascii",
    )
    sizes = {"folded": len(fold_blocks), "pool": len(pool), "properties": len(property_blocks)}
    print(f"wrote {OUTPUT}: {sizes}, {len(ordered)} compositions")


if __name__ == "__main__":
    main()
