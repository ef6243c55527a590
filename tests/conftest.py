"""Stores for tests: copies of ones that were made once, so that no test waits for a calibration."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from doubles import HashEmbedder
from ripple import Memory
from ripple.models.base import Embedder
from ripple.models.embedders import StaticEmbedder

OpenStore = Callable[..., Memory]


@pytest.fixture(scope="session")
def static_embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="session")
def empty_stores(tmp_path_factory: pytest.TempPathFactory, static_embedder: StaticEmbedder) -> dict[str, Path]:
    """Empty stores by the name of their embedder."""
    stores = {}
    embedders: list[Embedder] = [static_embedder, HashEmbedder()]
    for embedder in embedders:
        stores[embedder.name] = tmp_path_factory.mktemp("stores") / "empty.ripple"
        Memory.open(stores[embedder.name], embedder=embedder).close()
    return stores


@pytest.fixture
def open_store(tmp_path: Path, empty_stores: dict[str, Path], static_embedder: StaticEmbedder) -> Iterator[OpenStore]:
    """Open the test's own store (made when first asked for); all that was opened is closed at the end."""
    opened: list[Memory] = []

    def open_(name: str = "agent", *, embedder: Embedder | None = None, **options: Any) -> Memory:
        embedder = embedder or static_embedder
        path = tmp_path / f"{name}.ripple"
        if not path.exists():
            shutil.copytree(empty_stores[embedder.name], path)
        opened.append(Memory.open(path, embedder=embedder, **options))
        return opened[-1]

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_store: OpenStore) -> Memory:
    return open_store()
