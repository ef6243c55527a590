"""The only importer of the native core: dataclasses and lists on this side, exact arrays on the other."""

from __future__ import annotations

from pathlib import Path

from ripple import _core

__all__ = ["NativeStaticEmbedder", "load_static_embedder"]

NativeStaticEmbedder = _core.StaticEmbedder


def load_static_embedder(path: str | Path) -> NativeStaticEmbedder:
    """Return the static embedder of a model file; ``CorruptStoreError`` when the file is damaged."""
    return _core.StaticEmbedder(str(path))
