"""ripple: an embedded long-term memory engine for LLM agents."""

from typing import TYPE_CHECKING, Any

from ripple.errors import InvalidInputError, RippleError
from ripple.memory import Memory
from ripple.models.budget import Budget
from ripple.types import Filter, Usage, Windows

if TYPE_CHECKING:
    from ripple.async_memory import AsyncMemory

__all__ = ["AsyncMemory", "Budget", "Filter", "InvalidInputError", "Memory", "RippleError", "Usage", "Windows"]


def __getattr__(name: str) -> Any:
    # Looked up when first used: asyncio takes a quarter of the time that the whole package takes to load.
    if name != "AsyncMemory":
        raise AttributeError(f"module 'ripple' has no attribute {name!r}")
    from ripple.async_memory import AsyncMemory

    return AsyncMemory
