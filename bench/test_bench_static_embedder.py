"""Static embedder: sentences a second, one query, loading; beside its NumPy twin.

Data: the packaged calibration sample (878 sentences of chat, 10 words each) repeated. Not measured: other
languages, long documents, several threads. Each vector is compared with the twin's.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference import static_embedder as twin
from ripple import _core
from ripple.models.calibration import calibration_sample

SENTENCES = 8_780
QUERY = "Should we follow Sam's tip and take Maya to Harbor Grill?"


@pytest.fixture(scope="module")
def model_path() -> Path:
    with resources.as_file(resources.files("ripple.data").joinpath("static-en-1.bin")) as path:
        return path


@pytest.fixture(scope="module")
def model(model_path: Path) -> twin.StaticModel:
    return twin.read_model(model_path.read_bytes())


@pytest.fixture(scope="module")
def embedder(model_path: Path) -> _core.StaticEmbedder:
    return _core.StaticEmbedder(str(model_path))


@pytest.mark.benchmark(group="sentences")
def test_bench_core_sentences(benchmark: Any, embedder: _core.StaticEmbedder, model: twin.StaticModel) -> None:
    sample = calibration_sample()
    texts = (sample * (SENTENCES // len(sample) + 1))[:SENTENCES]
    vectors = benchmark(embedder.embed, texts)
    np.testing.assert_allclose(vectors[:100], twin.embed(model, texts[:100]), atol=1e-5)
    benchmark.extra_info.update(n=len(texts), dimension=embedder.dimension)


@pytest.mark.benchmark(group="sentences")
def test_bench_twin_sentences(benchmark: Any, model: twin.StaticModel) -> None:
    sample = calibration_sample()
    texts = (sample * (SENTENCES // len(sample) + 1))[:SENTENCES]
    vectors = benchmark.pedantic(twin.embed, (model, texts), rounds=2)
    assert np.isfinite(vectors).all()
    benchmark.extra_info.update(n=len(texts), dimension=vectors.shape[1])


@pytest.mark.benchmark(group="query")
def test_bench_core_query(benchmark: Any, embedder: _core.StaticEmbedder, model: twin.StaticModel) -> None:
    vectors = benchmark(embedder.embed, [QUERY])
    np.testing.assert_allclose(vectors, twin.embed(model, [QUERY]), atol=1e-5)


@pytest.mark.benchmark(group="query")
def test_bench_twin_query(benchmark: Any, model: twin.StaticModel) -> None:
    vectors = benchmark(twin.embed, model, [QUERY])
    assert np.isfinite(vectors).all()


@pytest.mark.benchmark(group="load")
def test_bench_load(benchmark: Any, model_path: Path) -> None:
    embedder = benchmark(_core.StaticEmbedder, str(model_path))
    assert embedder.dimension == 256
