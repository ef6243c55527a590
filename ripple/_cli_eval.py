"""The commands of `ripple eval`: load a set, run it in memory, print the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ripple._cli_answers import Answering, Answers, Judge, Save, Saved, Votes, answer_questions
from ripple._cli_model import BaseUrl, ModelName
from ripple._cli_output import AsJson, console, print_json, progress_bar, table
from ripple.config import data_directory
from ripple.errors import InvalidInputError

if TYPE_CHECKING:
    from ripple.evaluation.datasets import Dataset
    from ripple.evaluation.observed import ObservedModel
    from ripple.memory import Memory

__all__ = ["eval_app"]

eval_app = typer.Typer(no_args_is_help=True, help="Measure evidence recall on published sets and on stories.")


class Expansion(StrEnum):
    """How the neighbourhood of the anchors is searched."""

    NONE = "none"
    UNDIRECTED = "undirected"
    TARGETED = "targeted"


class Ranking(StrEnum):
    """The fitted sum, or the formula of the RippleMem paper."""

    DEFAULT = "default"
    PAPER = "paper"


class Units(StrEnum):
    """What makes units of messages: rules, or a stand-in of a model that replies the set's own observations."""

    RULES = "rules"
    OBSERVATIONS = "observations"


class Access(StrEnum):
    """How evidence is found among the units."""

    DENSE = "dense"
    HYBRID = "hybrid"
    FAMILIARITY = "familiarity"
    UNDIRECTED = "undirected"
    RIPPLE = "ripple"


class Part(StrEnum):
    """What can be switched off."""

    GRAPH = "graph"
    STRUCTURAL = "structural"
    LEXICAL = "lexical"
    DENSE = "dense"
    CUES = "cues"
    SEQUENCE = "sequence"


DataFile = Annotated[Path, typer.Argument(help=".json or .jsonl, also gzipped; looked up under RIPPLE_DATA too.")]
TopK = Annotated[int, typer.Option("--top-k", min=1, help="Units asked for.")]
EmbedderName = Annotated[
    str, typer.Option("--embedder", help="'static', or 'minilm:FOLDER' with its ONNX file and tokenizer.")
]
ExpansionKind = Annotated[Expansion, typer.Option("--expansion", help="How expansion searches.")]
RankingKind = Annotated[Ranking, typer.Option("--ranking", help="The fitted sum or the paper's formula.")]
Without = Annotated[list[Part] | None, typer.Option("--without", help="A part to switch off; may be repeated.")]
UnitsKind = Annotated[
    Units, typer.Option("--units", help="Units by rules, or the set's own observations through the whole writing.")
]
AccessKind = Annotated[
    Access | None, typer.Option("--access", help="The way of a comparison; sets --expansion, --ranking, --without.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many questions of the file.")]
Scores = Annotated[Path | None, typer.Option("--scores", help="Save the figures of each question to this .jsonl.")]
Against = Annotated[
    Path | None, typer.Option("--against", help="Scores of another run, compared by a paired bootstrap.")
]


_FILES = frozenset({"file", "corpus", "questions", "messages"})
"""Arguments that are looked up in the data folder."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A set, and how the memory is opened for it."""

    dataset: Dataset
    opening: Mapping[str, Any] = field(default_factory=dict)
    units: str = Units.RULES.value
    model: ObservedModel | None = None
    access: Access | None = None


def _evaluation(load: Callable[..., Any]) -> Callable[..., Any]:
    """Add the command that evaluates on what ``load`` reads: its arguments, then the options of every evaluation."""

    def command(
        top_k: TopK = 30,
        embedder: EmbedderName = "static",
        expansion: ExpansionKind = Expansion.TARGETED,
        ranking: RankingKind = Ranking.DEFAULT,
        without: Without = None,
        limit: Limit = None,
        scores: Scores = None,
        against: Against = None,
        as_json: AsJson = False,
        **own: Any,
    ) -> None:
        options = _options(top_k, expansion, ranking, without, limit)
        found = {name: _found(value) if name in _FILES else value for name, value in own.items()}
        asked = load(**found)
        if isinstance(asked, Answering):
            answer_questions(asked, options, lambda **opening: _opened(embedder, **opening), as_json=as_json)
        else:
            _evaluate(asked, options, embedder, scores, against, as_json)

    own = signature(load, eval_str=True).parameters.values()
    *shared, _ = signature(command, eval_str=True).parameters.values()
    command.__signature__ = Signature([*own, *shared])  # type: ignore[attr-defined] # typer reads it
    eval_app.command(load.__name__, help=load.__doc__)(command)
    return load


@_evaluation
def locomo(
    file: DataFile,
    units: UnitsKind = Units.RULES,
    access: AccessKind = None,
    answers: Answers = False,
    llm: ModelName = None,
    base_url: BaseUrl = None,
    judge: Judge = None,
    votes: Votes = 3,
    save: Save = None,
    saved: Saved = None,
) -> Any:
    """Evaluate on a LoCoMo file in its original format; overall figures are over categories 1 to 4."""
    from ripple.evaluation.loaders import load_locomo

    if access is not None and (answers or saved is not None):
        raise InvalidInputError("--access compares evidence recall; leave out --answers and --from")
    if answers or saved is not None:
        return Answering(
            file,
            is_observed=units is Units.OBSERVATIONS,
            llm=llm,
            base_url=base_url,
            judge=judge,
            votes=votes,
            save=save,
            saved=saved,
        )
    dataset = load_locomo(file)
    if units is Units.RULES:
        return _Run(dataset, access=access)
    from ripple.evaluation.observed import ObservedModel, load_observations
    from ripple.types import Windows

    model = ObservedModel(dataset.conversations, load_observations(file))
    return _Run(dataset, {"llm": model, "windows": Windows.locomo()}, units.value, model, access)


@_evaluation
def longmemeval(file: DataFile) -> Any:
    """Evaluate on a LongMemEval file: one haystack and one question an instance."""
    from ripple.evaluation.loaders import load_longmemeval

    return _Run(load_longmemeval(file))


@_evaluation
def passages(corpus: DataFile, questions: DataFile) -> Any:
    """Evaluate on a passage corpus and its questions (HotpotQA, MuSiQue, 2WikiMultihopQA)."""
    from ripple.evaluation.loaders import load_passages

    return _Run(load_passages(corpus, questions))


@_evaluation
def messages(messages: DataFile, questions: DataFile) -> Any:
    """Evaluate on chats given as messages and questions (BEAM, MemDaily)."""
    from ripple.evaluation.loaders import load_messages

    return _Run(load_messages(messages, questions))


@eval_app.command()
def stories(
    count: Annotated[int, typer.Option("--count", min=1, help="How many stories.")] = 40,
    seed: Annotated[int, typer.Option("--seed", help="Names, wordings, order and dates.")] = 12,
    embedder: EmbedderName = "static",
    as_json: AsJson = False,
) -> None:
    """Tell evidence stories and report how often each way finds the missing piece in ten units."""
    from ripple.evaluation.stories import generate_stories
    from ripple.evaluation.story_runner import WAYS, run_stories

    told = generate_stories(count, seed)
    with _opened(embedder) as memory, progress_bar("stories") as progress:
        figures = run_stories(told, memory, progress=progress)
    figures |= {"seed": seed, "embedder": embedder}
    if as_json:
        print_json(figures)
        return
    rows = table("bridge", "stories", *WAYS, title="missing piece found in ten units")
    for kind, rates in (("all", figures), *figures["by_bridge"].items()):
        rows.add_row(kind, str(rates["n"]), *(f"{rates['missing_piece'][way]:.3f}" for way in WAYS))
    console().print(rows)
    for other in ("one_shot", "undirected"):
        gain = figures[f"ripple_minus_{other}"]
        console().print(f"ripple - {other}: {_interval(gain)}")


def _found(file: Path) -> Path:
    from ripple.evaluation.loaders import resolve_path

    return resolve_path(file, data_directory())


def _options(top_k: int, expansion: Expansion, ranking: Ranking, without: list[Part] | None, limit: int | None) -> Any:
    from ripple.evaluation.runner import EvalOptions

    return EvalOptions(
        top_k=top_k,
        expansion=expansion.value,
        ranking=ranking.value,
        without=frozenset(part.value for part in without or ()),
        limit=limit,
    )


def _opened(embedder: str, **opening: Any) -> Memory:
    """Return an empty memory with the embedder of that name."""
    kind, _, folder = embedder.partition(":")
    if (kind, bool(folder)) not in (("static", False), ("minilm", True)):
        raise InvalidInputError(f"embedder is {embedder!r}; want 'static' or 'minilm:FOLDER'")
    from ripple.memory import Memory

    if kind == "static":
        return Memory.open(":memory:", **opening)
    from ripple.models.embedders import MiniLMEmbedder

    return Memory.open(":memory:", embedder=MiniLMEmbedder(folder), **opening)


def _evaluate(
    asked: _Run,
    options: Any,
    embedder: str,
    scores: Path | None,
    against: Path | None,
    as_json: bool,
) -> None:
    from ripple.evaluation.access import AccessedMemory
    from ripple.evaluation.metrics import paired_bootstrap
    from ripple.evaluation.runner import read_scores, run, save_scores, scores_of

    figure = "recall@30"
    other = read_scores(against, figure) if against is not None else None
    options = replace(options, units=asked.units)
    with _opened(embedder, **asked.opening) as memory, progress_bar(asked.dataset.name) as progress:
        accessed = memory if asked.access is None else AccessedMemory(memory, asked.access.value)
        report = run(asked.dataset, options, accessed, progress=progress)
    figures = dict(report.figures)
    figures["settings"] = {**figures["settings"], "embedder": embedder}
    if isinstance(accessed, AccessedMemory):
        figures["settings"] |= {"access": asked.access, "taken": dict(accessed.taken)}
        for name in ("expansion", "ranking", "without"):
            del figures["settings"][name]
    if asked.model is not None:
        missing, by_rules = asked.model.compare(report.unit_texts)
        figures["observations"] = {"facts": asked.model.facts, "missing": missing, "units_by_rules": by_rules}
    if scores is not None:
        save_scores(report, scores)
    if other is not None:
        figures["against"] = {"figure": figure, **asdict(paired_bootstrap(other, scores_of(report, figure)))}
    if as_json:
        print_json(figures)
    else:
        _print_figures(figures)


def _print_figures(figures: dict[str, Any]) -> None:
    names = [name for name in figures if name.startswith(("recall@", "whole@"))] + ["ceiling", "share_of_ceiling"]
    rows = table("category", "n", *names, title=f"{figures['set']}: evidence recall at k source turns")
    for category, row in figures["by_category"].items():
        rows.add_row(category, str(row["n"]), *(_number(row.get(name)) for name in names))
    rows.add_row("all", str(figures["questions"]), *(_number(figures[name]) for name in names))
    out = console()
    out.print(rows)
    left_out = ", ".join(f"{count} {reason}" for reason, count in figures["left_out"].items())
    out.print(f"left out: {left_out}")
    edges = ", ".join(f"{count} {kind}" for kind, count in figures["edges"].items())
    out.print(
        f"{figures['turns']} turns in {figures['conversations']} conversations, {figures['units']} units "
        f"({_number(figures['turns_per_unit'])} turns a unit, ceiling {_number(figures['ceiling'])}, whole sets "
        f"{_number(figures['whole_ceiling'])})"
    )
    if "observations" in figures:
        counts = ", ".join(f"{count} {name}" for name, count in figures["observations"].items())
        out.print(f"observations: {counts}; left out in writing: {figures['build']['dropped']}")
    out.print(f"edges: {edges}")
    out.print(
        f"support AUC {_number(figures['support_auc'])}; added in {figures['add_seconds']:.2f} s; recall "
        f"p50 {_number(figures['recall_ms']['p50'])} ms, p99 {_number(figures['recall_ms']['p99'])} ms; "
        f"context {_number(figures['context_tokens'])} tokens"
    )
    if "against" in figures:
        out.print(f"{figures['against']['figure']} against the other run: {_interval(figures['against'])}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(gain: dict[str, float]) -> str:
    return f"{gain['difference']:+.3f} (95 % interval {gain['low']:+.3f} to {gain['high']:+.3f})"
