"""Limits for what comes from outside, defaults of the Python layer, and the only reads of the environment."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

__all__ = [
    "CLOSE_SECONDS",
    "LABEL_CHARACTERS_MAX",
    "METADATA_BYTES_MAX",
    "METADATA_DEPTH_MAX",
    "MODEL_SECONDS",
    "NAMESPACE_CHARACTERS_MAX",
    "QUERY_CHARACTERS_MAX",
    "REPEAT_WINDOW",
    "REPLY_BYTES_MAX",
    "REPLY_DEPTH_MAX",
    "ROUNDS_MAX",
    "SESSION_GAP",
    "SUPPORT_MIN",
    "SUPPORT_SURE",
    "TEXT_BYTES_MAX",
    "TOKENS_MAX",
    "TOP_K_MAX",
    "WRITE_BATCH",
    "data_directory",
    "model_endpoint",
    "model_key",
    "model_name",
    "store_directory",
]

TEXT_BYTES_MAX = 1 << 20
"""UTF-8 bytes of one message."""
CLOSE_SECONDS = 60.0
"""What closing a store may take for the model's last windows; those that are left stay pending."""
LABEL_CHARACTERS_MAX = 512
"""Characters of a speaker, session or message id."""
NAMESPACE_CHARACTERS_MAX = 128
METADATA_BYTES_MAX = 64 << 10
METADATA_DEPTH_MAX = 32
QUERY_CHARACTERS_MAX = 8_192
"""A longer question is cut; what is left still finds what it names."""
TOP_K_MAX = 10_000
TOKENS_MAX = 10_000_000
"""Budget of a context."""
SESSION_GAP = timedelta(hours=1)
"""Messages without a session begin a new one after this gap (RippleMem leaves it open; ours)."""
REPEAT_WINDOW = timedelta(hours=24)
"""The same words without a grounded time are one unit inside this gap, a recurrence beyond it."""
ROUNDS_MAX = 10
"""Calls of a planner in one recall."""
SUPPORT_MIN = 0.3
"""Evidence with less support is reported as "not in memory"."""
SUPPORT_SURE = 0.8
"""With this support, and nobody missing, no model is asked for a plan: on LoCoMo's dev conversations that is so for
.361 of the questions, of which .967 have all their evidence in the list (.790 of the others)."""
MODEL_SECONDS = 60.0
"""One call of a model, its retries included."""
REPLY_BYTES_MAX = 1 << 20
"""UTF-8 bytes of what a model said."""
REPLY_DEPTH_MAX = 32
WRITE_BATCH = 1_000
"""Messages that are extracted, embedded and committed together."""


def data_directory() -> Path | None:
    """Return the folder of evaluation data that ``RIPPLE_DATA`` names, or None."""
    value = os.environ.get("RIPPLE_DATA", "")
    return Path(value) if value else None


def store_directory() -> Path:
    """Return the store that the command line works on: what ``RIPPLE_STORE`` names, else ``agent.ripple`` here."""
    return Path(os.environ.get("RIPPLE_STORE") or "agent.ripple")


def model_name() -> str | None:
    """Return the language model that ``RIPPLE_MODEL`` names, or None."""
    return os.environ.get("RIPPLE_MODEL") or None


def model_endpoint() -> str | None:
    """Return the endpoint that ``RIPPLE_BASE_URL``, else ``OPENAI_BASE_URL``, names, or None."""
    return os.environ.get("RIPPLE_BASE_URL") or os.environ.get("OPENAI_BASE_URL") or None


def model_key() -> str | None:
    """Return the key that ``RIPPLE_API_KEY``, else ``OPENAI_API_KEY``, holds, or None."""
    return os.environ.get("RIPPLE_API_KEY") or os.environ.get("OPENAI_API_KEY") or None
