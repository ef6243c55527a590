"""The language model of a command line: which one, where, and how long it lives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ripple.models import OpenAIModel

__all__ = ["BaseUrl", "ModelName", "Planner", "Rounds", "Seconds", "language_model"]

ModelName = Annotated[
    str | None, typer.Option("--llm", help="The language model, such as gpt-4.1-mini; else RIPPLE_MODEL.")
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="An OpenAI-compatible endpoint; else RIPPLE_BASE_URL, OPENAI_BASE_URL, OpenAI's."),
]
Rounds = Annotated[int, typer.Option("--rounds", min=1, max=10, help="Calls of the model's planner at most.")]
Seconds = Annotated[float | None, typer.Option("--timeout", help="Seconds for all calls of the model together.")]


class Planner(StrEnum):
    """Who says what is missing."""

    AUTO = "auto"
    ALWAYS = "always"
    RULES = "rules"


@contextmanager
def language_model(
    name: str | None, base_url: str | None, price: tuple[float, float] | None = None
) -> Iterator[OpenAIModel]:
    """Give a model that is closed at the end; its key comes from RIPPLE_API_KEY or OPENAI_API_KEY alone."""
    from ripple.models import OpenAIModel

    model = OpenAIModel(name, base_url=base_url, price=price)
    try:
        yield model
    finally:
        model.close()
