"""The thresholds of an embedder, found on a sample of sentences: no two models mean the same by a cosine."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

import numpy as np
import numpy.typing as npt

from ripple.errors import EmbeddingError, InvalidInputError
from ripple.models.base import Embedder
from ripple.types import Thresholds

__all__ = ["calibrate", "calibration_sample"]

# A sentence of the sample has fewer relatives than a unit of one conversation: what gives the sample half an
# edge a sentence gives each of LoCoMo's turns and facts 3.4 to 4.0 edges (cap 6 at both ends), static-en-1.
_EDGES_A_SENTENCE = 0.5
_DEGREE_MAX = 6
_MERGE_QUANTILE = 0.9995
_GATE_QUANTILE = 0.9999
_SUPPORT_QUANTILE = 0.90
_SENTENCES_MIN = 20
_SENTENCES_MAX = 2000
_CANDIDATES_A_SENTENCE = 30


def calibration_sample() -> list[str]:
    """Return the packaged sentences that a new store calibrates its embedder on."""
    file = resources.files("ripple.data").joinpath("calibration_sample.txt")
    return file.read_text(encoding="utf-8").splitlines()


def calibrate(embedder: Embedder, sentences: Sequence[str]) -> Thresholds:
    """Return the thresholds that suit the embedder on the sample.

    Parameters
    ----------
    embedder : Embedder
        The model; it is called once, with all sentences.
    sentences : sequence of str
        Different sentences of the kind that will be stored; 20 at least, the first 2,000 count. Repeated
        sentences and those without a vector are left out.

    Returns
    -------
    Thresholds
        ``semantic``: from the most similar pair down, each pair an edge unless one end has 6 already, the
        cosine at which there is half an edge a sentence; in a conversation that makes 3 to 4 at a unit.
        ``merge`` and ``gate``: the cosines that 1 in 2,000 and 1 in 10,000 pairs of different sentences
        exceed, never below ``semantic``; the gate, which drops a turn unread, is the stricter.
        ``support_low``: the cosine that 1 pair in 10 exceeds, what a question finds by chance.
        ``support_high``: the median cosine of a sentence to its nearest other.

    Raises
    ------
    InvalidInputError
        Fewer than 20 different sentences.
    EmbeddingError
        The embedder gave too few vectors, or rows of another number or length than it says.

    Notes
    -----
    O(n^2) in the sentences; the static embedder takes about 0.1 s for the packaged sample.
    """
    distinct = list(dict.fromkeys(sentences))[:_SENTENCES_MAX]
    if len(distinct) < _SENTENCES_MIN:
        raise InvalidInputError(
            f"the calibration sample has {len(distinct)} different sentences; give {_SENTENCES_MIN} or more"
        )
    vectors = _unit_rows(embedder, distinct)
    cosines = vectors @ vectors.T
    left, right = np.triu_indices(len(vectors), 1)
    pairs = cosines[left, right]
    semantic = _edge_threshold(pairs, left, right, len(vectors))
    low, merge, gate = np.quantile(pairs, (_SUPPORT_QUANTILE, _MERGE_QUANTILE, _GATE_QUANTILE))
    np.fill_diagonal(cosines, -1.0)
    return Thresholds(
        semantic=semantic,
        merge=max(float(merge), semantic),
        gate=max(float(gate), semantic),
        support_low=float(low),
        support_high=float(np.median(cosines.max(axis=1))),
    )


def _unit_rows(embedder: Embedder, sentences: list[str]) -> npt.NDArray[np.float32]:
    """Return the unit-length vectors of the sentences that have one."""
    vectors = np.asarray(embedder.embed(sentences), dtype=np.float32)
    wanted = (len(sentences), embedder.dimension)
    if vectors.shape != wanted:
        raise EmbeddingError(f"{embedder.name} gave vectors of shape {vectors.shape}; wanted {wanted}")
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    usable = np.isfinite(norms) & (norms > 1e-12)
    if usable.sum() < _SENTENCES_MIN:
        raise EmbeddingError(
            f"{embedder.name} gave {usable.sum()} usable vectors for {len(sentences)} sentences; "
            f"calibration wants {_SENTENCES_MIN} or more"
        )
    return np.asarray(vectors[usable] / norms[usable, None], dtype=np.float32)


def _edge_threshold(
    pairs: npt.NDArray[np.float32],
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    count: int,
) -> float:
    """Return the cosine of the last edge when the best pairs become edges under the degree cap."""
    candidates = min(_CANDIDATES_A_SENTENCE * count, len(pairs))
    best = np.argpartition(-pairs, candidates - 1)[:candidates]
    best = best[np.lexsort((best, -pairs[best]))]
    degrees = [0] * count
    edges = 0
    for a, b, cosine in zip(left[best].tolist(), right[best].tolist(), pairs[best].tolist(), strict=True):
        if degrees[a] < _DEGREE_MAX and degrees[b] < _DEGREE_MAX:
            degrees[a] += 1
            degrees[b] += 1
            edges += 1
            if edges >= _EDGES_A_SENTENCE * count:
                return float(cosine)
    return float(pairs[best[-1]])
