"""`ripple eval locomo --answers`: ask a model, perhaps a judge, and print quality and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ripple._cli_model import language_model
from ripple._cli_output import console, print_json, progress_bar, shown, table
from ripple.errors import InvalidInputError

if TYPE_CHECKING:
    from ripple.evaluation.datasets import Dataset
    from ripple.evaluation.runner import EvalOptions
    from ripple.memory import Memory
    from ripple.models.base import LanguageModel

__all__ = ["Answering", "Answers", "Judge", "Save", "Saved", "Votes", "answer_questions"]

Answers = Annotated[
    bool, typer.Option("--answers", help="Let a model answer, category 5 included; --units rules is then the model.")
]
Judge = Annotated[str | None, typer.Option("--judge", help="A model that grades the answers, at the same endpoint.")]
Votes = Annotated[int, typer.Option("--votes", min=1, max=99, help="Votes of the judge on an answer.")]
Save = Annotated[Path | None, typer.Option("--save", help="Save the raw replies to this .jsonl as they come.")]
Saved = Annotated[Path | None, typer.Option("--from", help="Make the table of replies saved before, without a call.")]


@dataclass(frozen=True, slots=True)
class Answering:
    """What to ask of whom, and where the replies are kept; ``saved`` alone asks nobody."""

    file: Path
    is_observed: bool
    llm: str | None
    base_url: str | None
    judge: str | None
    votes: int
    save: Path | None
    saved: Path | None


def answer_questions(asked: Answering, options: EvalOptions, opened: Callable[..., Memory], *, as_json: bool) -> None:
    """Print the table of a run of answers, made now or saved before."""
    from ripple.evaluation.answers import figures_of, read_rows
    from ripple.evaluation.loaders import load_locomo

    if asked.save is not None and asked.save.suffix != ".jsonl":
        raise InvalidInputError(f"--save is {asked.save.name!r}; want a name that ends in .jsonl")
    rows = read_rows(asked.saved) if asked.saved is not None else _ask(asked, load_locomo(asked.file), options, opened)
    figures = {"set": asked.file.name, **figures_of(rows)}
    if asked.saved is None:
        figures["settings"] = {
            "top_k": options.top_k,
            "limit": options.limit,
            "units": "observations" if asked.is_observed else "model",
            "judge": asked.judge,
            "votes": asked.votes,
        }
    if as_json:
        print_json(figures)
    else:
        _print(figures)


def _ask(asked: Answering, dataset: Dataset, options: EvalOptions, opened: Callable[..., Memory]) -> Any:
    from ripple.evaluation.answers import AnswerOptions, ask_answers, write_rows
    from ripple.evaluation.observed import ObservedModel, load_observations
    from ripple.types import Windows

    wanted = AnswerOptions(options.top_k, options.limit, asked.votes)
    with language_model(asked.llm, asked.base_url) as model, _judge(asked) as judge:
        llm: LanguageModel = model
        if asked.is_observed:
            llm = ObservedModel(dataset.conversations, load_observations(asked.file), model)
        with opened(llm=llm, windows=Windows.locomo()) as memory, progress_bar(dataset.name) as progress:
            return write_rows(ask_answers(dataset, wanted, memory, judge, progress=progress), asked.save)


@contextmanager
def _judge(asked: Answering) -> Iterator[LanguageModel | None]:
    with nullcontext() if asked.judge is None else language_model(asked.judge, asked.base_url) as judge:
        yield judge


def _print(figures: dict[str, Any]) -> None:
    names = ("n", "f1", "bleu1", "correct", "not_in_memory")
    rows = table("category", *names, title=f"{figures['set']}: answers")
    quality = {**figures["by_category"], "answerable": figures["answerable"], "unanswerable": figures["unanswerable"]}
    for category, row in quality.items():
        rows.add_row(category, *(shown(row[name]) for name in names))
    console().print(rows)
    costs = table("cost, the mean", "", title=None)
    for name, cost in figures["cost"].items():
        costs.add_row(name.replace("_", " "), shown(cost))
    console().print(costs)
    console().print(f"{figures['failed']} of {figures['questions']} questions got no reply")
