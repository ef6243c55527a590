"""ripple: an embedded long-term memory engine for LLM agents."""
