"""Models behind ripple's interfaces: embedders and language models."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ripple.models.embedders import MiniLMEmbedder, StaticEmbedder
    from ripple.models.openai import OpenAIModel
    from ripple.models.openai_embedder import OpenAIEmbedder

__all__ = ["MiniLMEmbedder", "OpenAIEmbedder", "OpenAIModel", "StaticEmbedder"]

_MODULES = {
    "MiniLMEmbedder": "embedders",
    "OpenAIEmbedder": "openai_embedder",
    "OpenAIModel": "openai",
    "StaticEmbedder": "embedders",
}


def __getattr__(name: str) -> Any:
    # Looked up when first used: asyncio and the rest take longer to load than the package.
    if name not in _MODULES:
        raise AttributeError(f"module 'ripple.models' has no attribute {name!r}")
    return getattr(import_module(f"ripple.models.{_MODULES[name]}"), name)
