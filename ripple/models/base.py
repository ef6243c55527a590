"""The interfaces that users may replace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["Embedder"]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    ``embed`` gives float32 of shape (n, dimension). A row may be of any length; it is scaled to unit length
    by the engine. A row of NaN or zeros means "no vector": that unit is found by words and cues only.
    """

    @property
    def name(self) -> str:
        """Identity of the model; a store refuses an embedder with another name or dimension."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row a text."""
        ...
