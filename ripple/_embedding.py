"""An embedder that users gave, held to what it promises, and to the store that was made with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ripple._engine import UNICODE_VERSION
from ripple.errors import EmbeddingError, ModelError
from ripple.models.base import Embedder
from ripple.models.calibration import calibrate, calibration_sample
from ripple.store import Record, StoreSettings
from ripple.types import Thresholds
from ripple.write.ingest import EmbedTexts

__all__ = ["guarded", "settle_embedder"]

FloatArray = npt.NDArray[np.float32]


def guarded(embedder: Embedder) -> EmbedTexts:
    """Return the embedder as a function that gives a float32 row for each text, or raises EmbeddingError."""

    def embed(texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.empty((0, embedder.dimension), np.float32)
        try:
            rows = embedder.embed(list(texts))
        except ModelError:
            raise
        except Exception as error:  # what a user's embedder raises has no common class
            raise EmbeddingError(
                f"embedder {embedder.name!r} failed on {len(texts)} texts with {type(error).__name__}",
                retryable=True,
            ) from error
        return _as_vectors(rows, len(texts), embedder)

    return embed


def _as_vectors(rows: object, count: int, embedder: Embedder) -> FloatArray:
    """Return a copy as float32; a number too large for it becomes infinite, which is no vector."""
    wanted = (count, embedder.dimension)
    try:
        vectors = np.asarray(rows)
    except ValueError as error:
        raise EmbeddingError(
            f"embedder {embedder.name!r} returned rows of unequal length; the shape must be {wanted}"
        ) from error
    if vectors.shape != wanted or vectors.dtype.kind not in "fiu":
        raise EmbeddingError(
            f"embedder {embedder.name!r} returned {vectors.dtype} of shape {vectors.shape} for {count} texts;"
            f" it must be real numbers of shape {wanted}"
        )
    with np.errstate(over="ignore"):
        return vectors.astype(np.float32)


def settle_embedder(record: Record, embedder: Embedder) -> Thresholds:
    """Return the thresholds of the store; a new store is calibrated and keeps to its embedder for life."""
    settings = record.settings
    thresholds = settings.thresholds if settings else calibrate(embedder, calibration_sample())
    wanted = StoreSettings(embedder.name, embedder.dimension, thresholds, UNICODE_VERSION)
    if settings != wanted:
        if record.is_read_only and settings is None:
            return thresholds
        record.configure(wanted)
    return thresholds
