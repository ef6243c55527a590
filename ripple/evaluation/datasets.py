"""What an evaluation set is once loaded: conversations to remember and questions with their gold turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["Conversation", "Dataset", "Question"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages that belong to one namespace, each a dict as ``Memory.add`` takes it."""

    name: str
    messages: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one conversation.

    Attributes
    ----------
    question_id : str
        Unique in the set; per-question scores of two runs are paired by it.
    gold : tuple of str
        Message ids of the evidence. Only the metrics read it; the code under test never does.
    answerable : bool
        False where the right answer is that the memory holds none (LoCoMo category 5, abstention).
    asked_at : datetime or None
        When the question is asked, where the set says so.
    answer : str
        The right answer, empty where the set gives none. Only metrics and the judge read it.
    """

    question_id: str
    conversation: str
    text: str
    category: str
    gold: tuple[str, ...]
    answerable: bool = True
    asked_at: datetime | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """An evaluation set in memory.

    ``kind`` is ``"locomo"``, ``"longmemeval"``, ``"passages"``, ``"messages"`` or ``"stories"``. ``repairs``
    counts what the loader had to mend or leave out, by reason.
    """

    name: str
    kind: str
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]
    repairs: Mapping[str, int] = field(default_factory=dict)
