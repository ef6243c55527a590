"""Every error that ripple raises on purpose: each says what was met, what is wanted, and the way out."""

from typing import Any

__all__ = [
    "AnswerError",
    "BudgetExceededError",
    "ConfigError",
    "CorruptStoreError",
    "DimensionMismatchError",
    "EmbeddingError",
    "ExtractionError",
    "InvalidInputError",
    "ModelError",
    "PlannerError",
    "ReadOnlyError",
    "RippleError",
    "StoreClosedError",
    "StoreError",
    "StoreLockedError",
    "StoreVersionError",
    "UnitNotFoundError",
]


class RippleError(Exception):
    """Root of all errors that ripple raises on purpose."""


class StoreError(RippleError):
    """The store on disk could not be opened, read or written."""


class CorruptStoreError(StoreError):
    """Stored bytes do not form what they claim to be."""


class StoreVersionError(StoreError):
    """The store was written in a format that this version does not know."""


class StoreLockedError(StoreError):
    """Another process writes to the store."""


class StoreClosedError(StoreError):
    """The store has been closed."""


class ReadOnlyError(StoreError):
    """The store was opened for reading only."""


class ModelError(RippleError):
    """A language model or embedder failed.

    Attributes
    ----------
    retryable : bool
        Whether the same call may succeed later.
    reason : str
        One word for reports: ``"budget"``, ``"timeout"``, ``"rate_limit"``, ``"server"``, ``"connection"``,
        ``"refused"``, ``"too_long"`` (the prompt, for the model), ``"unreadable"``; empty where none fits.

    Notes
    -----
    The text never holds a key, a prompt or a reply.
    """

    def __init__(self, message: str, *, retryable: bool = False, reason: str = "") -> None:
        super().__init__(message)
        self.retryable = retryable
        self.reason = reason


class ExtractionError(ModelError):
    """Units could not be extracted from a window."""


class PlannerError(ModelError):
    """The recall planner failed."""


class AnswerError(ModelError):
    """A question could not be answered; ``recall`` is the evidence that was found for it."""

    def __init__(self, message: str, *, retryable: bool = False, reason: str = "", recall: Any = None) -> None:
        super().__init__(message, retryable=retryable, reason=reason)
        self.recall = recall


class EmbeddingError(ModelError):
    """Texts could not be embedded."""


class InvalidInputError(RippleError, ValueError):
    """An argument or message is not what the call takes."""


class DimensionMismatchError(RippleError, ValueError):
    """A vector's length differs from the store's."""


class UnitNotFoundError(RippleError, KeyError):
    """No live unit of this namespace has the id."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ConfigError(RippleError, ValueError):
    """A setting has a value that it cannot have."""


class BudgetExceededError(RippleError):
    """A budget ran out and the caller asked for an error."""
