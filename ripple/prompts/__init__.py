"""Prompts, one module each."""
