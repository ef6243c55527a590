"""ripple: an embedded long-term memory engine for LLM agents."""

from ripple.async_memory import AsyncMemory
from ripple.errors import InvalidInputError, RippleError
from ripple.memory import Memory
from ripple.models.budget import Budget
from ripple.types import Filter, Usage, Windows

__all__ = ["AsyncMemory", "Budget", "Filter", "InvalidInputError", "Memory", "RippleError", "Usage", "Windows"]
