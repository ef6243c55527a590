from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ripple.errors import ConfigError, CorruptStoreError, EmbeddingError, InvalidInputError
from ripple.models.base import Embedder
from ripple.models.calibration import calibrate, calibration_sample
from ripple.models.embedders import MiniLMEmbedder, StaticEmbedder


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    directory = os.environ.get("RIPPLE_MINILM")
    if not directory:
        pytest.skip("RIPPLE_MINILM does not name the directory that build_minilm_onnx.py wrote")
    return MiniLMEmbedder(directory)


class FixedEmbedder:
    """Gives vectors made before."""

    name = "fixed"

    def __init__(self, vectors: npt.NDArray[np.float32], dimension: int | None = None) -> None:
        self.vectors = vectors
        self.dimension = vectors.shape[1] if dimension is None else dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self.vectors


def test_default_embedder_is_the_packaged_model(static: StaticEmbedder) -> None:
    assert isinstance(static, Embedder)
    assert (static.name, static.dimension) == ("static-en-1", 256)


def test_related_sentences_are_nearer_than_unrelated_ones(static: StaticEmbedder) -> None:
    texts = [
        "Maya is allergic to seafood.",
        "She gets a rash from shrimp and fish.",
        "The train to Lisbon leaves at nine.",
    ]
    vectors = static.embed(texts)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


def test_name_in_front_moves_a_sentence_little(static: StaticEmbedder) -> None:
    bare, named = static.embed(["we went hiking in the mountains", "Caroline: we went hiking in the mountains"])
    assert bare @ named > 0.9


def test_text_without_a_known_piece_gets_no_vector(static: StaticEmbedder) -> None:
    vectors = static.embed(["", "  \n", "\u200b", "𓀀𓀁", "[unused7]" * 0, "hello"])
    assert np.isnan(vectors[:5]).all()
    assert np.isfinite(vectors[5]).all()


def test_threads_share_an_embedder(static: StaticEmbedder) -> None:
    texts = calibration_sample()[:200]
    wanted = static.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: static.embed(texts), range(8)):
            assert np.array_equal(vectors, wanted)


def test_static_model_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(CorruptStoreError, match="cannot be read"):
        StaticEmbedder(tmp_path / "none.bin")


def test_minilm_needs_its_files(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    with pytest.raises(ConfigError, match=r"model\.onnx is missing"):
        MiniLMEmbedder(tmp_path)


def test_minilm_ranks_paraphrase_above_other_topic(minilm: MiniLMEmbedder) -> None:
    vectors = minilm.embed(["He lost his job.", "He was let go at work.", "The soup is too salty.", "", "[UNK]"])
    assert vectors.shape == (5, minilm.dimension) == (5, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors[:3], axis=1), 1.0, rtol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert np.isnan(vectors[3]).all()
    assert minilm.embed([]).shape == (0, 384)


def test_minilm_vector_depends_little_on_the_batch(minilm: MiniLMEmbedder) -> None:
    texts = calibration_sample()[:40]
    together = minilm.embed(texts)
    alone = np.concatenate([minilm.embed([text]) for text in texts[:5]])
    # Activations are quantised a tensor at a time, so the batch moves a vector a little.
    assert np.sum(together[:5] * alone, axis=1).min() > 0.97


def test_semantic_threshold_is_the_cosine_of_the_last_edge() -> None:
    # Twenty unit vectors in ten pairs; pair i has cosine c_i, all other pairs are orthogonal. Half an edge a
    # sentence is ten edges: the tenth best cosine.
    cosines = np.linspace(0.5, 0.95, 10)
    vectors = np.zeros((20, 20), dtype=np.float32)
    for i, cosine in enumerate(cosines):
        vectors[2 * i, 2 * i] = 1.0
        vectors[2 * i + 1, [2 * i, 2 * i + 1]] = cosine, np.sqrt(1.0 - cosine**2)
    thresholds = calibrate(FixedEmbedder(vectors), [f"sentence {i}" for i in range(20)])
    assert thresholds.semantic == pytest.approx(0.5)
    # 190 pairs, 10 of them not 0: the 90 % quantile is 0, those of merge and gate lie just below 0.95.
    assert thresholds.support_low == 0.0
    assert 0.9 < thresholds.merge < thresholds.gate < 0.95
    # Nearest other: each cosine twice.
    assert thresholds.support_high == pytest.approx(np.median(cosines), abs=1e-6)


def test_degree_cap_counts_at_both_ends() -> None:
    # A hub at cosines .40, .39 ... .22 to 19 others, whose cosines to each other are the products, at most .156.
    # The hub takes 6 edges; the other 4 of the 10 are .40 x .39, .40 x .38, .39 x .38 and .40 x .37 = .148.
    cosines = 0.40 - 0.01 * np.arange(19)
    vectors = np.zeros((20, 20), dtype=np.float32)
    vectors[0, 0] = 1.0
    vectors[1:, 0] = cosines
    vectors[1:, 1:] = np.diag(np.sqrt(1.0 - cosines**2))
    thresholds = calibrate(FixedEmbedder(vectors), [f"sentence {i}" for i in range(20)])
    assert thresholds.semantic == pytest.approx(0.148, abs=1e-6)


def test_calibration_of_the_default_embedder_is_fast_and_ordered(static: StaticEmbedder) -> None:
    sample = calibration_sample()
    began = time.perf_counter()
    thresholds = calibrate(static, sample)
    seconds = time.perf_counter() - began
    assert 0.0 < thresholds.support_low < thresholds.semantic < thresholds.merge < thresholds.gate < 1.0
    assert thresholds.support_low < thresholds.support_high
    assert thresholds == calibrate(static, sample)
    assert seconds < 3.0  # 0.1 s alone on the machine


def test_calibration_leaves_out_repeats_and_sentences_without_a_vector(static: StaticEmbedder) -> None:
    sample = calibration_sample()[:100]
    assert calibrate(static, [*sample, *sample, "", "\u200b"]) == calibrate(static, sample)


def test_too_small_a_sample_is_refused(static: StaticEmbedder) -> None:
    with pytest.raises(InvalidInputError, match="1 different sentences"):
        calibrate(static, ["the same"] * 50)


@pytest.mark.parametrize(
    ("vectors", "dimension", "says"),
    [
        (np.ones((19, 4), np.float32), 4, "shape"),
        (np.ones((20, 4), np.float32), 8, "shape"),
        (np.full((20, 4), np.nan, np.float32), 4, "0 usable vectors"),
        (np.zeros((20, 4), np.float32), 4, "0 usable vectors"),
    ],
)
def test_faulty_embedder_is_reported(vectors: npt.NDArray[np.float32], dimension: int, says: str) -> None:
    with pytest.raises(EmbeddingError, match=says):
        calibrate(FixedEmbedder(vectors, dimension), [f"sentence {i}" for i in range(20)])
