"""Models behind ripple's interfaces: embedders and, later, language models."""
