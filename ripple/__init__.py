"""ripple: an embedded long-term memory engine for LLM agents."""

from ripple.memory import Memory

__all__ = ["Memory"]
