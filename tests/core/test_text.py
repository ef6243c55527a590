import pydoc_data.topics
import re
import time
import unicodedata
from collections.abc import Iterator

import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import text as twin
from ripple import _core

# Blocks in which nothing was added after the version of the tables: a newer Python knows no more of them.
SETTLED_BLOCKS = [
    *[(0x00, 0x52F), (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x214F)],
    *[(0x2460, 0x27BF), (0x3000, 0x30FF), (0x4E00, 0x4EFF), (0xAC00, 0xACFF), (0xFB00, 0xFFEF)],
    *[(0x1D400, 0x1D7FF), (0x1F1E6, 0x1F64F), (0xE0000, 0xE007F)],
]
SETTLED = st.one_of(*[st.characters(min_codepoint=low, max_codepoint=high) for low, high in SETTLED_BLOCKS])
TEXTS = st.text(st.one_of(SETTLED, st.sampled_from("abeostns'\u2019 \u0301\u0310\u0323ß한中あ")), max_size=40)


def settled_code_points() -> Iterator[int]:
    is_same = unicodedata.unidata_version == _core.UNICODE_VERSION
    for low, high in [(0, 0x10FFFF)] if is_same else SETTLED_BLOCKS:
        for code in range(low, high + 1):
            is_character = unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")
            if is_character or chr(code) in twin.IGNORABLE_CHARACTERS:
                yield code


def terms(text: str | bytes) -> list[str]:
    return [term for term, _ in _core.tokenize(text)]


@pytest.mark.parametrize(
    ("spellings", "key"),
    [
        (["Straße", "STRASSE", "straße", "STRAẞE"], "strasse"),
        (["İzmir", "i̇zmir", "İzmir"], "i̇zmir"),
        (["Ａｄａ　Ｍｏｒｅａｕ", "ada moreau", " Ada\t\n Moreau "], "ada moreau"),
        (["José", "Jose\u0301", "JOSÉ"], "josé"),
        (["a\u0310\u0301", "A\u0310\u0301"], "a\u0310\u0301"),  # a mark of the same class keeps them apart
        (["a\u0301\u0323", "ạ\u0301", "a\u0323\u0301"], "ạ\u0301"),
        (["ａ\u200bd\u00adA", "\u202eada", "ad\u2066a", "ada\ufe0f", "a\U000e0064da"], "ada"),
        (["a\x00b", "a\x1fb", "a\x85b", "a\u2028b", "a\u00a0b", "a\x7fb"], "a b"),
        (["김철수", "김철수"], "김철수"),
        (["ﬁ №", "FI No"], "fi no"),
    ],
)
def test_spellings_of_one_name_have_one_key(spellings: list[str], key: str) -> None:
    assert {_core.normalize_key(spelling) for spelling in spellings} == {key}


def test_cyrillic_and_latin_look_alikes_keep_apart() -> None:
    assert _core.normalize_key("Мaya") != _core.normalize_key("Maya")
    assert _core.normalize_key("Мaya") == "мaya"


@pytest.mark.parametrize("text", ["", " ", "\x00\x01", "\u200b\u202e", "\u3000"])
def test_a_name_of_nothing_visible_has_an_empty_key(text: str) -> None:
    assert _core.normalize_key(text) == ""


def test_key_is_capped_after_normalisation() -> None:
    # U+FDFA becomes 18 characters, 33 bytes; 4,096 bytes end within the 125th.
    key = _core.normalize_key("\ufdfa" * 1_000)
    assert len(key.encode()) in range(4_093, 4_097)
    assert key.startswith(twin.fold("\ufdfa") * 2)
    assert _core.normalize_key("ab " * 4_000) == ("ab " * 1_366)[:4_096].rstrip()
    assert _core.normalize_key("x" * 4_095 + "é") == "x" * 4_095


def test_invalid_utf8_reads_as_replacement_characters() -> None:
    for data in [b"a\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xe2\x82\xff"]:
        assert _core.normalize_key(data) == data.decode(errors="replace")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.one_of(TEXTS, st.binary(max_size=12)))
def test_key_equals_the_twin_and_is_stable(text: str | bytes) -> None:
    as_text = text.decode(errors="replace") if isinstance(text, bytes) else text
    key = _core.normalize_key(text)
    assert key == twin.normalize_key(as_text)
    assert _core.normalize_key(key) == key


def test_every_settled_character_folds_as_in_pythons_tables() -> None:
    codes = list(settled_code_points())
    for start in range(0, len(codes), 256):
        # Letters keep the characters from composing with one another; 1,024 bytes of key are never reached.
        text = "x".join(map(chr, codes[start : start + 256]))
        assert _core.normalize_key(text) == twin.normalize_key(text), f"U+{codes[start]:X} and the 255 after it"


def test_every_settled_character_separates_or_joins_as_in_the_twin() -> None:
    sampled = range(0x3400, 0x32000)  # ideographs, syllables, rare scripts: one in 16 is enough
    codes = [code for code in settled_code_points() if code not in sampled or code % 16 == 0]
    assert 0x1F600 in codes
    for start in range(0, len(codes), 512):
        text = " ".join(f"x{chr(code)}{chr(code)}{chr(code)}x" for code in codes[start : start + 512])
        assert _core.tokenize(text) == twin.tokenize(text, _core.is_stop_word), f"from U+{codes[start]:X} on"


@settings(max_examples=100, deadline=None, derandomize=True)
@given(TEXTS)
def test_tokens_equal_the_twin(text: str) -> None:
    assert _core.tokenize(text) == twin.tokenize(text, _core.is_stop_word)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("She was swimming with Ada's kids.", [("swim", "swimming"), ("ada", "ada"), ("kid", "kids")]),
        ("I don't, can't and won't; it's O'Brien’s", [("o'brien", "o'brien")]),
        ("We'll meet the dogs' owners", [("meet", "meet"), ("dog", "dogs"), ("owner", "owners")]),
        ("7 May 2023, 10:30", [("7", "7"), ("may", "may"), ("2023", "2023"), ("10", "10"), ("30", "30")]),
        ("snake_case(x)", [("snake", "snake"), ("case", "case"), ("x", "x")]),
        ("CAFÉ Ｃａｆｅ\u0301", [("café", "café")] * 2),
        ("pass\u200bword", [("password", "password")]),
    ],
)
def test_english_words_give_stems_and_surfaces(text: str, tokens: list[tuple[str, str]]) -> None:
    assert _core.tokenize(text) == tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我喜欢北京", ["我喜", "喜欢", "欢北", "北京"]),
        ("猫", ["猫"]),
        ("iPhone手机", ["iphon", "手机"]),
        ("2024年", ["2024", "年"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("ｶﾞ", ["ガ"]),
        ("서울에 갔다", ["서울", "울에", "갔다"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("שָׁלוֹם عليكم", ["שָׁלוֹם", "عليكم"]),
        ("👩\u200d👩\u200d👧 🎉!", ["👩", "👩", "👧", "🎉"]),
        ("🇫🇷", ["🇫🇷"]),
    ],
)
def test_other_scripts_give_bigrams_or_words(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("text", ["", "the of and", "!?… —", "\u0301\u0301", "''''", "\x00"])
def test_texts_without_content_give_no_token(text: str) -> None:
    assert _core.tokenize(text) == []


def test_stop_words_are_function_words_only() -> None:
    assert all(map(_core.is_stop_word, ["the", "a", "of", "was", "himself", "yourselves", "dont"]))
    assert not any(map(_core.is_stop_word, ["", "may", "one", "two", "swim", "th", "thee", "z", "é", "'"]))


def test_a_long_word_is_cut_and_hashed() -> None:
    word = "a" * 127 + "é" * 100
    (term, surface), *rest = _core.tokenize(word)
    assert not rest
    assert term == surface == twin.clipped(word)
    assert term.startswith("a" * 127 + "#")
    assert terms(word + "x") != [term]
    assert terms("a" * 128) == ["a" * 128]


def test_a_word_of_a_million_letters_takes_well_under_a_second() -> None:
    start = time.perf_counter()
    assert len(_core.tokenize("a" * 10**6)) == 1
    assert len(_core.tokenize("中" + "\u0301" * 10**6)) == 1
    assert len(_core.tokenize("x" + "'s" * 500_000)) == 1
    assert time.perf_counter() - start < 1.0


def test_distinct_terms_are_capped_and_known_ones_still_count() -> None:
    words = [f"w{number}" for number in range(5_000)]
    text = " ".join([*words, "w0", "w4999", "w4095"])
    assert terms(text) == [*words[:4_096], "w0", "w4095"]


def synthetic_words() -> set[str]:
    """Each ending that a rule mentions on stems of each shape, and pairs of endings on a few."""
    endings = """'s 's' ' s es ies ied sses us ss eed eedly ed edly ing ingly y ational tional enci anci abli
        entli izer ization ation ator alism aliti alli fulness ousli ousness iveness iviti biliti bli ogi
        ogist fulli lessli li alize icate iciti ical ful ness ative al ance ence er ic able ible ant ement
        ment ent ism ate iti ous ive ize sion tion ion e l ll bb at"""
    stems = """a b ab ba bab by bay yb sky abl egg aeg add odd off ebb even inn out earr herr cann past pastx
        arsen commun emerg gener inter later organ univers succ proc exc d'b é éa aé bébé x1 w sw"""
    parts = endings.split()
    pairs = {f"{stem}{one}{two}" for stem in ("bab", "abab") for one in parts for two in parts}
    return pairs | {stem + ending for stem in stems.split() for ending in ["", *parts]}


def test_stems_equal_snowballs() -> None:
    prose = " ".join(pydoc_data.topics.topics.values()).lower()
    words = sorted(synthetic_words() | set(re.findall(r"[a-z']+", prose)))
    assert len(words) > 15_000
    stems = snowballstemmer.stemmer("english").stemWords(words)
    different = [(w, s) for w, s in zip(words, stems, strict=True) if _core.english_stem(w) != s]
    assert different == []


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(st.sampled_from("aeiouybdlnrstwxéß中'"), max_size=12))
def test_stems_of_any_letters_equal_snowballs(word: str) -> None:
    assert _core.english_stem(word) == snowballstemmer.stemmer("english").stemWord(word)
