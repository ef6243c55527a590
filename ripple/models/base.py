"""The interfaces that users may replace, and what crosses them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["Embedder", "LanguageModel", "ModelReply", "ModelRequest", "ModelSteps"]

Result = TypeVar("Result")


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    ``embed`` gives float32 of shape (n, dimension). A row may be of any length; it is scaled to unit length
    by the engine. A row of NaN or zeros means "no vector": that unit is found by words and cues only.
    """

    @property
    def name(self) -> str:
        """Identity of the model; a store refuses an embedder with another name or dimension."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row a text."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a language model.

    Attributes
    ----------
    stage : {"extraction", "cues", "planner", "answer", "judge"}
        What the call is for; usage is counted by it.
    system : str
        Constant text of the prompt: nothing of a user stands in it.
    user : str
        One JSON value that holds all that comes from users; data, never instructions.
    schema : mapping or None
        JSON schema of the reply, in the subset that servers share (objects with all properties required and
        no others, capped strings and arrays, no unions but with null); None asks for free text.
    version : str
        Name and version of the prompt, such as ``"extraction-1"``.
    max_output_tokens : int
        The reply is cut there.
    """

    stage: str
    system: str
    user: str
    schema: Mapping[str, Any] | None
    version: str
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a language model said, unchecked.

    ``finish_reason`` is the endpoint's word: ``"stop"`` when the reply is whole, ``"length"`` when it was
    cut. ``refusal`` is the model's own refusal. Tokens are as the endpoint counts them, 0 where it does not.
    """

    text: str
    finish_reason: str = "stop"
    refusal: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


@runtime_checkable
class LanguageModel(Protocol):
    """Answers one request; safe to call from several threads."""

    @property
    def name(self) -> str:
        """Identity of the model, part of the key of cached replies."""
        ...

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Return the reply, or raise ModelError; never takes longer than ``timeout`` seconds in all."""
        ...


ModelSteps: TypeAlias = Generator[ModelRequest, ModelReply, Result]
"""Steps that need a model: they yield requests, get replies, or have the ModelError thrown into them, and
return their result. A driver, sync or async, answers them."""
