"""Write ``cpp/src/wordpiece_tables.inc``: what the word-piece splitter does with code points beyond ASCII.

Follows BERT's uncased basic tokeniser: decompose (NFD), drop marks, control and unassigned code points,
lower-case, split at white space, punctuation and around each CJK ideograph. We differ in two points: every
symbol stands alone (a smiley glued to a word does not make the word unknown), and form feeds and their like
are white space.

    python cpp/tools/make_wordpiece_tables.py > cpp/src/wordpiece_tables.inc

The Unicode version is that of the running Python; it is written into the file.
"""

from __future__ import annotations

import itertools
import unicodedata

KEEP, DROP, SPACE, ALONE = range(4)
CLASS_NAMES = ("Keep", "Drop", "Space", "Alone")
CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic in the core
WHITE_SPACE = {0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}


def is_ideograph(code: int) -> bool:
    """Return whether BERT isolates the code point as Chinese."""
    return any(first <= code <= last for first, last in CJK)


def fold(char: str) -> str:
    """Return the decomposed, unmarked, lower-cased form."""
    bare = [c for c in unicodedata.normalize("NFD", char) if unicodedata.category(c) != "Mn"]
    return "".join(c.lower() for c in bare)


def classify(code: int) -> tuple[int, str]:
    """Return the class of a code point and its folded form."""
    char = chr(code)
    if code in WHITE_SPACE:
        return SPACE, char
    if unicodedata.category(char)[0] == "C" or code == 0xFFFD:
        return DROP, char
    folded = "".join(c for c in fold(char) if unicodedata.category(c) != "Mn")
    if not folded:
        return DROP, char
    stands_alone = is_ideograph(code) or any(unicodedata.category(c)[0] in "PS" for c in folded)
    return (ALONE if stands_alone else KEEP), folded


def write_lines(items: list[str]) -> None:
    """Print the items in lines of at most 108 characters."""
    line = " "
    for item in items:
        if len(line) + len(item) + 2 > 108:
            print(line)
            line = " "
        line += f" {item},"
    print(line)


def main() -> None:
    """Print the tables."""
    codes = range(0x80, 0x110000)
    classes = {code: classify(code) for code in codes}
    print("// Written by cpp/tools/make_wordpiece_tables.py. Do not edit.")
    print(f"// Unicode {unicodedata.unidata_version}")
    print("\n// Runs of code points that are not plain parts of a word, ascending.")
    print("constexpr CodeRange kCodeRanges[] = {")
    ranges = []
    for kind, run in itertools.groupby(codes, key=lambda code: classes[code][0]):
        span = list(run)
        if kind != KEEP:
            ranges.append(f"{{0x{span[0]:X}, 0x{span[-1]:X}, CodeClass::{CLASS_NAMES[kind]}}}")
    write_lines(ranges)
    print("};")
    texts: list[int] = []
    folds = []
    for code in codes:
        folded = classes[code][1]
        if code not in HANGUL and folded != chr(code):
            folds.append(f"{{0x{code:X}, {len(texts)}, {len(folded)}}}")
            texts += map(ord, folded)
    print("\n// Code points that fold to others: the place and length in kFoldedCodes, ascending.")
    print("constexpr CodeFold kCodeFolds[] = {")
    write_lines(folds)
    print("};\n\nconstexpr char32_t kFoldedCodes[] = {")
    write_lines([f"0x{code:X}" for code in texts])
    print("};")


if __name__ == "__main__":
    main()
