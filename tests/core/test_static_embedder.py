from __future__ import annotations

import struct
import unicodedata
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ripple
from reference import static_embedder as twin
from ripple import _core
from ripple.errors import CorruptStoreError

SEED = 11
PIECES = (
    *"abcdeghilorstz0123.,!?'-$",
    *(f"##{c}" for c in "abcdeghilorst019ᄒ"),
    *("the", "cat", "cats", "##ing", "hotel", "eat", "ea", "##ting", "café", "cafe", "##é", "ı", "ß", "σ"),
    *("中", "文", "##文", "ᄒ", "##ᅡ", "##ᆫ", "€", "😊", "i̇", "##"),
)

VOCABULARY_AT = 28 + len("small")
SCALES_AT = VOCABULARY_AT + sum(1 + len(p.encode()) for p in PIECES)

PACKAGED = Path(ripple.__file__).parent / "data" / "static-en-1.bin"
Packaged = tuple[_core.StaticEmbedder, twin.StaticModel]


def small_model(dimension: int = 8) -> twin.StaticModel:
    rng = np.random.default_rng(SEED)
    values = rng.integers(-127, 128, (len(PIECES), dimension)).astype(np.int8)
    scales = rng.uniform(0.001, 0.02, len(PIECES)).astype(np.float32)
    return twin.StaticModel("small", PIECES, scales, values)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> _core.StaticEmbedder:
    path = tmp_path_factory.mktemp("model") / "small.bin"
    path.write_bytes(small_model().dump())
    return _core.StaticEmbedder(str(path))


def assert_like_twin(got: np.ndarray, wanted: np.ndarray) -> None:
    assert got.dtype == np.float32
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    # float32 sums of up to some thousand rows against float64; where they cancel the error's share grows.
    np.testing.assert_allclose(got, wanted, atol=2e-4)


def test_vector_is_the_unit_length_sum_of_piece_rows(tmp_path: Path) -> None:
    model = twin.StaticModel(
        "hand",
        ("cat", "##s", "."),
        np.array([0.5, 1.0, 0.25], dtype=np.float32),
        np.array([[6, 0], [0, 2], [0, 8]], dtype=np.int8),
    )
    path = tmp_path / "hand.bin"
    path.write_bytes(model.dump())
    embedder = _core.StaticEmbedder(str(path))
    # cat (3, 0) + ##s (0, 2) + . (0, 2) = (3, 4) of length 5; alone: (1, 0) and (3, 2) / sqrt(13).
    got = embedder.embed(["Cats.", "CAT", "cats"])
    np.testing.assert_allclose(got, [[0.6, 0.8], [1.0, 0.0], [3 / 13**0.5, 2 / 13**0.5]], rtol=1e-6)
    assert (embedder.name, embedder.dimension) == ("hand", 2)


@pytest.mark.parametrize(
    "text",
    ["", " \t\r\n\f", "\x00\x07\u200d\ufe0f", "zzzzqqqq", "xyz", "a" * 101, "[UNK]", "\ufffd"],
)
def test_text_without_a_known_piece_has_no_vector(small: _core.StaticEmbedder, text: str) -> None:
    # "[UNK]" splits at the brackets; neither they nor "unk" are in the small vocabulary.
    assert np.isnan(small.embed([text])).all()


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Café", "cafe"),
        ("THE\u00a0cat", "the cat"),
        ("the\u200bcat", "thecat"),
        ("cat😊", "cat 😊"),
        ("€10", "€ 10"),
        ("the\fcat", "the cat"),
        ("the unknownqq cat", "the cat"),
        ("the \ud83d cat", "the ? cat"),
        ("İ", "i"),
    ],
)
def test_texts_that_read_the_same_have_the_same_vector(small: _core.StaticEmbedder, text: str, same: str) -> None:
    got = small.embed([text, same])
    assert np.isfinite(got).all()
    assert np.array_equal(got[0], got[1])


def test_word_of_a_hundred_code_points_is_the_longest(small: _core.StaticEmbedder) -> None:
    assert np.isfinite(small.embed(["a" * 100, "한" * 33])).all()
    assert np.isnan(small.embed(["a" * 101, "한" * 34])).all()


# Characters that the oldest database of every Python knows: newer ones change with the version of Python.
LASTING = st.characters(codec="utf-8").filter(lambda c: unicodedata.ucd_3_2_0.category(c) != "Cn")
WORDS = ("The", "cats", "hotel", "eating", "café", "中文", "x" * 150)
TEXTS = st.lists(
    st.one_of(
        st.text(LASTING, max_size=40),
        st.text(st.sampled_from("abcdeEATinghlors .,中文한éÉß€😊\u0301\u200d\n\x00'$"), max_size=300),
        st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join),
    ),
    max_size=8,
)


@given(TEXTS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_embed_equals_the_twin(small: _core.StaticEmbedder, texts: list[str]) -> None:
    assert_like_twin(small.embed(texts), twin.embed(small_model(), texts))


@given(TEXTS)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_packaged_model_equals_the_twin(packaged: Packaged, texts: list[str]) -> None:
    embedder, model = packaged
    assert_like_twin(embedder.embed(texts), twin.embed(model, texts))


@pytest.fixture(scope="module")
def packaged() -> Packaged:
    return _core.StaticEmbedder(str(PACKAGED)), twin.read_model(PACKAGED.read_bytes())


def test_code_points_fold_as_in_the_twin(packaged: Packaged) -> None:
    embedder, model = packaged
    codes = [c for c in range(0x3400) if unicodedata.ucd_3_2_0.category(chr(c)) not in ("Cn", "Cs")]
    codes += [*range(0xF900, 0xFA00), 0xAC00, 0xAC01, 0xD7A3, 0xFFFD, 0x2F800]
    texts = [f"a{chr(code)}b" for code in codes]
    assert_like_twin(embedder.embed(texts), twin.embed(model, texts))


def test_embedding_the_empty_list_gives_no_rows(small: _core.StaticEmbedder) -> None:
    assert small.embed([]).shape == (0, 8)


def test_word_vectors_are_those_of_the_words_as_texts(small: _core.StaticEmbedder) -> None:
    assert np.array_equal(small.word_vectors(["cats", "Hotel"]), small.embed(["cats", "hotel"]))


@pytest.mark.parametrize("texts", [[1], [None], [b"cat"]])
def test_what_is_not_text_is_refused(small: _core.StaticEmbedder, texts: list[object]) -> None:
    with pytest.raises(ValueError, match="must hold str only"):
        small.embed(texts)


def load_bytes(data: bytes, path: Path) -> _core.StaticEmbedder:
    path.write_bytes(data)
    return _core.StaticEmbedder(str(path))


def test_file_cut_at_any_section_is_refused(tmp_path: Path) -> None:
    data = small_model().dump()
    borders = [0, 8, 12, 28, VOCABULARY_AT, SCALES_AT, SCALES_AT + 4 * len(PIECES), len(data) - 4, len(data)]
    for size in sorted({max(border - cut, 0) for border in borders for cut in (1, 0, -1)} - {len(data)}):
        with pytest.raises(CorruptStoreError):
            load_bytes((data + b"\0")[:size], tmp_path / "cut.bin")


def test_flipped_bits_are_refused(tmp_path: Path) -> None:
    data = small_model(4).dump()
    for at in range(0, len(data), 5):
        damaged = bytearray(data)
        damaged[at] ^= 1 << (at % 8)
        with pytest.raises(CorruptStoreError):
            load_bytes(bytes(damaged), tmp_path / "flipped.bin")


def resealed(change: Callable[[bytearray], None]) -> bytes:
    """Return the small file, changed, under a right checksum."""
    data = bytearray(small_model().dump()[:-4])
    change(data)
    return bytes(data) + struct.pack("<I", zlib.crc32(data))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: struct.pack_into("<I", d, 8, 2), "version 2, this build reads 1"),
        (lambda d: struct.pack_into("<I", d, 12, 0), "dimension 0"),
        (lambda d: struct.pack_into("<I", d, 12, 1025), "dimension 1025"),
        (lambda d: struct.pack_into("<I", d, 16, 0xFFFFFFFF), "bytes after its header"),
        (lambda d: struct.pack_into("<I", d, 20, 0xFFFFFFFF), "bytes after its header"),
        (lambda d: struct.pack_into("<I", d, 24, 0xFFFFFFFF), "bytes after its header"),
        (lambda d: struct.pack_into("<B", d, SCALES_AT - 3, 255), "ends after the vocabulary"),
        (lambda d: struct.pack_into("<B", d, VOCABULARY_AT + 1, ord("b")), "a piece twice"),
        (lambda d: struct.pack_into("<f", d, SCALES_AT, float("nan")), "positive number"),
        (lambda d: struct.pack_into("<f", d, SCALES_AT, 0.0), "positive number"),
        (lambda d: struct.pack_into("<f", d, SCALES_AT, float("inf")), "positive number"),
    ],
)
def test_nonsense_under_a_right_checksum_is_refused(
    tmp_path: Path, change: Callable[[bytearray], None], says: str
) -> None:
    with pytest.raises(CorruptStoreError, match=says):
        load_bytes(resealed(change), tmp_path / "sealed.bin")


def test_empty_piece_is_refused(tmp_path: Path) -> None:
    model = twin.StaticModel("hand", ("a", ""), np.ones(2, np.float32), np.ones((2, 2), np.int8))
    with pytest.raises(CorruptStoreError, match="empty piece"):
        load_bytes(model.dump(), tmp_path / "empty.bin")


def test_vocabulary_of_another_count_is_refused(tmp_path: Path) -> None:
    def move_a_row_into_the_vocabulary(data: bytearray) -> None:
        # One piece fewer and its 12 bytes of row counted as vocabulary: the total stays right.
        struct.pack_into("<I", data, 16, len(PIECES) - 1)
        struct.pack_into("<I", data, 20, SCALES_AT - VOCABULARY_AT + 12)

    with pytest.raises(CorruptStoreError, match="vocabulary"):
        load_bytes(resealed(move_a_row_into_the_vocabulary), tmp_path / "count.bin")


@pytest.mark.parametrize("name", ["absent.bin", "."])
def test_path_without_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorruptStoreError, match="cannot be read"):
        _core.StaticEmbedder(str(tmp_path / name))
