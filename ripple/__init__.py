"""ripple: an embedded long-term memory engine for LLM agents."""

from ripple.errors import InvalidInputError, RippleError
from ripple.memory import Memory
from ripple.types import Filter

__all__ = ["Filter", "InvalidInputError", "Memory", "RippleError"]
