"""The command `ripple`: thin over the public API; results on stdout, progress and messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import typer.core
import typer.main

from ripple._cli_eval import Expansion, eval_app
from ripple._cli_import import estimate_file, import_file
from ripple._cli_model import BaseUrl, ModelName, Planner, Rounds, Seconds, language_model
from ripple._cli_output import (
    AsJson,
    console,
    json_line,
    one_line,
    plain,
    print_json,
    printable,
    progress_bar,
    shown,
    table,
)
from ripple._cli_store import (
    AsOf,
    Namespace,
    Store,
    changing_store,
    moment_of,
    reading_store,
    writing_store,
)
from ripple._cli_windows import (
    Concurrency,
    MaxCalls,
    MaxSeconds,
    MaxUsd,
    Preset,
    PresetName,
    PriceText,
    budget_of,
    pending_app,
    price_of,
    print_estimate,
    print_extraction,
    usage,
    windows_of,
)
from ripple.errors import InvalidInputError, RippleError
from ripple.types import AddResult, Evidence, Filter, ForgetResult

if TYPE_CHECKING:
    from ripple.models.base import LanguageModel

__all__ = ["app", "main"]

app = typer.Typer(
    name="ripple",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="An embedded long-term memory engine for LLM agents.",
)
app.add_typer(eval_app, name="eval")
app.add_typer(pending_app, name="pending")

Query = Annotated[str, typer.Argument(help="A question or words.")]
UnitId = Annotated[int, typer.Argument(min=1, help="A unit id, as search and recall show it.")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command line and exit: 0 when it worked, 1 with one line on stderr, 2 for wrong usage."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal lacks is no failure
    try:
        _command()(args=None if arguments is None else list(arguments), prog_name="ripple")
    except (RippleError, OSError) as error:
        typer.echo(f"ripple: {one_line(error)}", err=True)
        sys.exit(1)


@cache
def _command() -> typer.core.TyperGroup:
    """Return the commands as click objects, which typer would make anew for every call (70 ms)."""
    command = typer.main.get_command(app)
    assert isinstance(command, typer.core.TyperGroup)
    return command


@app.command()
def demo(
    stories: Annotated[int, typer.Option("--stories", min=1, help="How many to ask for the rates.")] = 40,
    seed: Annotated[int, typer.Option("--seed", help="Names, wordings, order and dates.")] = 12,
    as_json: AsJson = False,
) -> None:
    """Tell a story whose answer lies in three messages, and show who finds the third, and how."""
    from ripple.demo import as_document, show, tell

    with progress_bar("stories") as progress:
        told = tell(stories, seed, progress=progress)
    if as_json:
        print_json(as_document(told))
    else:
        show(told, console())


@app.command()
def add(
    text: Annotated[str, typer.Argument(help="What was said; '-' reads it from standard input.")],
    speaker: Annotated[str | None, typer.Option("--speaker", help="Who said it.")] = None,
    timestamp: Annotated[str | None, typer.Option("--timestamp", help="When; ISO 8601 with a zone.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="The conversation it belongs to.")] = None,
    message_id: Annotated[str | None, typer.Option("--id", help="Your id; the same id is taken once.")] = None,
    store: Store = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Remember one message."""
    message = {
        "content": _standard_input() if text == "-" else text,
        "speaker": speaker,
        "timestamp": timestamp,
        "session": session,
        "id": message_id,
    }
    with writing_store(store) as memory:
        result = memory.add([message], namespace=namespace)
    if as_json:
        print_json(plain(result))
        return
    if result.rejected:
        console().print("not taken: the id is that of a deleted message")
        return
    units = ", ".join(map(str, result.unit_ids)) or "none"
    known = " (known before)" if result.repeated else ""
    noted = "".join(f"; {count} {reason.replace('_', ' ')}" for reason, count in result.dropped.items())
    console().print(f"turn {result.turn_ids[0]}{known}, unit {units}{noted}")


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"standard input is not UTF-8 at byte {error.start}; convert it") from error


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="JSON list of messages, JSONL, LoCoMo, LongMemEval, an export.")],
    store: Store = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", help="Default: the export's or conversation's own, or 'default'."),
    ] = None,
    llm: Annotated[str | None, typer.Option("--llm", help="A language model to extract by; rules without it.")] = None,
    base_url: BaseUrl = None,
    windows: PresetName = Preset.DEFAULT,
    concurrency: Concurrency = 4,
    max_calls: MaxCalls = None,
    max_seconds: MaxSeconds = None,
    max_usd: MaxUsd = None,
    price: PriceText = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only estimate the model's calls; none is made.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remember all messages of a file; run again, it goes on where it was interrupted.

    With --llm a budget may stop the model: what is left stays pending, and is found as it was said.
    """
    budget, cost = budget_of(max_calls, max_seconds, max_usd), price_of(price)
    if dry_run:
        print_estimate(estimate_file(file, namespace, windows_of(windows)), cost, as_json=as_json)
        return
    with ExitStack() as stack:
        model = stack.enter_context(language_model(llm, base_url, cost)) if llm is not None else None
        memory = stack.enter_context(writing_store(store, llm=model, windows=windows_of(windows)))
        progress = stack.enter_context(progress_bar(file.name))
        counts = import_file(memory, file, namespace, progress, budget=budget, concurrency=concurrency)
    if as_json:
        print_json(plain(counts))
    else:
        names = counts["namespaces"]
        where = f"namespace {names[0]!r}" if len(names) == 1 else f"{len(names)} namespaces"
        known = f", {counts['repeated']} known before" if counts["repeated"] else ""
        refused = f", {counts['rejected']} deleted before and not taken" if counts["rejected"] else ""
        typer.echo(f"{counts['messages']} messages{known}{refused}; {counts['units']} units in {where}")
        print_extraction(AddResult(windows=counts["windows"], refused=counts["refused"], usage=counts["usage"]))


@app.command()
def export(
    file: Annotated[Path | None, typer.Argument(help="Where to write the JSONL; standard output if left out.")] = None,
    store: Store = None,
    namespace: Namespace = "default",
) -> None:
    """Write units, turns, edges and vectors as JSONL, which import takes back."""
    if file is not None and file.suffix != ".jsonl":
        raise InvalidInputError(f"{file.name} has another ending than .jsonl, which import wants")
    with reading_store(store, namespace) as memory:
        rows = memory.export(namespace=namespace)
        if file is None:
            for row in rows:
                typer.echo(json_line(row))
            return
        with file.open("w", encoding="utf-8") as target:
            target.writelines(json_line(row) + "\n" for row in rows)


@app.command()
def search(
    query: Query,
    top_k: Annotated[int, typer.Option("--top-k", min=1, help="Units at most.")] = 10,
    as_of: AsOf = None,
    store: Store = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Find memories in one shot."""
    moment = moment_of(as_of, "--as-of")
    with reading_store(store, namespace) as memory:
        found = memory.search(query, namespace=namespace, top_k=top_k, as_of=moment)
    if as_json:
        print_json({"query": query, "evidence": plain(found)})
    else:
        _print_evidence(found)


@app.command()
def recall(
    query: Query,
    top_k: Annotated[int, typer.Option("--top-k", min=1, help="Units at most.")] = 10,
    as_of: AsOf = None,
    expansion: Annotated[Expansion, typer.Option("--expansion", help="How expansion searches.")] = Expansion.TARGETED,
    planner: Annotated[
        Planner | None,
        typer.Option("--planner", help="Whether the model is asked what is missing; auto with --llm, else rules."),
    ] = None,
    rounds: Rounds = 1,
    llm: ModelName = None,
    base_url: BaseUrl = None,
    timeout: Seconds = None,
    context: Annotated[
        int | None, typer.Option("--context", min=1, help="Print a prompt of at most so many tokens instead.")
    ] = None,
    store: Store = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Find the evidence for a question: first recall, then what is still missing."""
    moment = moment_of(as_of, "--as-of")
    planner = planner or (Planner.RULES if llm is None else Planner.AUTO)
    model: AbstractContextManager[LanguageModel | None] = nullcontext()
    if planner is not Planner.RULES:
        model = language_model(llm, base_url)
    with model as opened, reading_store(store, namespace, llm=opened) as memory:
        found = memory.recall(
            query,
            namespace=namespace,
            top_k=top_k,
            as_of=moment,
            expansion=expansion.value,
            planner=planner.value,
            rounds=rounds,
            timeout=timeout,
        )
    if as_json:
        print_json(plain(found))
    elif context is not None:
        typer.echo(found.context(max_tokens=context))
    else:
        typer.echo(found.explain(limit=top_k))


@app.command()
def answer(
    query: Query,
    llm: ModelName = None,
    base_url: BaseUrl = None,
    top_k: Annotated[int, typer.Option("--top-k", min=1, help="Units of evidence at most.")] = 30,
    max_tokens: Annotated[int, typer.Option("--tokens", min=1, help="Of the evidence that the model sees.")] = 1500,
    planner: Annotated[Planner, typer.Option("--planner", help="Whether the model is asked what is missing.")] = (
        Planner.AUTO
    ),
    rounds: Rounds = 1,
    timeout: Seconds = None,
    as_of: AsOf = None,
    store: Store = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Answer a question from memory with citations, or say that it is not in memory."""
    moment = moment_of(as_of, "--as-of")
    with language_model(llm, base_url) as model, reading_store(store, namespace, llm=model) as memory:
        found = memory.answer(
            query,
            namespace=namespace,
            top_k=top_k,
            max_tokens=max_tokens,
            as_of=moment,
            planner=planner.value,
            rounds=rounds,
            timeout=timeout,
        )
    if as_json:
        print_json(plain(found))
        return
    typer.echo(printable(found.text))
    for piece in found.citations:
        said_at = piece.said_at.strftime("%Y-%m-%d %H:%M") if piece.said_at else "undated"
        typer.echo(f"  {piece.kind} {piece.unit_id}, {said_at}: {printable(piece.text)}")
    if found.degraded:
        typer.echo(f"part of the way failed: {printable(found.recall.stop_reason)}", err=True)


def _print_evidence(evidence: Sequence[Evidence]) -> None:
    if not evidence:
        typer.echo("nothing found", err=True)
        return
    rows = table("unit", "score", "said at", "found by", "memory")
    for piece in evidence:
        said_at = piece.said_at.strftime("%Y-%m-%d %H:%M") if piece.said_at else ""
        rows.add_row(str(piece.unit_id), f"{piece.score:.2f}", said_at, " ".join(piece.found_by), shown(piece.text))
    console().print(rows)


@app.command()
def get(unit_id: UnitId, store: Store = None, namespace: Namespace = "default", as_json: AsJson = False) -> None:
    """Show a unit with its sources."""
    with reading_store(store, namespace) as memory:
        unit = plain(memory.get(unit_id, namespace=namespace))
    if as_json:
        print_json(unit)
        return
    rows = table("field", "value")
    for name, value in unit.items():
        rows.add_row(name, shown(value))
    console().print(rows)


@app.command("list")
def list_command(
    limit: Annotated[int, typer.Option("--limit", min=1, help="Units at most.")] = 100,
    store: Store = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """List units, oldest first."""
    with reading_store(store, namespace) as memory:
        units = list(islice(memory.get_all(namespace=namespace), limit))
    if as_json:
        print_json({"units": plain(units)})
        return
    rows = table("unit", "said at", "status", "memory")
    for unit in units:
        said_at = unit.said_at.strftime("%Y-%m-%d %H:%M") if unit.said_at else ""
        rows.add_row(str(unit.unit_id), said_at, unit.status, shown(unit.text))
    console().print(rows)


@app.command()
def delete(unit_id: UnitId, store: Store = None, namespace: Namespace = "default", as_json: AsJson = False) -> None:
    """Delete a unit, its edges, and the turns that no other unit cites."""
    with changing_store(store) as memory:
        result = memory.delete(unit_id, namespace=namespace)
    _print_deleted(result, as_json)


@app.command()
def forget(
    session: Annotated[list[str] | None, typer.Option("--session", help="Of this session; may be repeated.")] = None,
    participant: Annotated[
        list[str] | None, typer.Option("--participant", help="With this person; may be repeated.")
    ] = None,
    location: Annotated[list[str] | None, typer.Option("--location", help="At this place; may be repeated.")] = None,
    said_from: Annotated[str | None, typer.Option("--said-from", help="Said then or later; ISO 8601.")] = None,
    said_until: Annotated[str | None, typer.Option("--said-until", help="Said then or before; ISO 8601.")] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="The whole namespace; no other option with it.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    store: Store = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Delete the turns that match every given option, and all that was derived from them alone."""
    said = (moment_of(said_from, "--said-from"), moment_of(said_until, "--said-until"))
    wanted = Filter(
        session=tuple(session) if session else None,
        participants=tuple(participant) if participant else None,
        locations=tuple(location) if location else None,
        said=said if said != (None, None) else None,
    )
    if everything == (wanted != Filter()):
        raise typer.BadParameter("say what to forget: either by options or --everything")
    with changing_store(store) as memory:
        if not everything:
            result = memory.forget(wanted, namespace=namespace, dry_run=dry_run)
        elif dry_run:
            held = memory.stats(namespace=namespace)
            result = ForgetResult(held.turns, held.units, sum(held.edges.values()), dry_run=True)
        else:
            result = memory.delete_namespace(namespace)
    _print_deleted(result, as_json)


def _print_deleted(result: ForgetResult, as_json: bool) -> None:
    if as_json:
        print_json(plain(result))
        return
    verb = "would delete" if result.dry_run else "deleted"
    kept = f"; turns still cited: {', '.join(map(str, result.turns_kept))}" if result.turns_kept else ""
    pending = "; old bytes go when a reader ends" if result.pending else ""
    console().print(f"{verb} {result.turns} turns, {result.units} units, {result.edges} edges{kept}{pending}")


@app.command()
def namespaces(store: Store = None, as_json: AsJson = False) -> None:
    """List the namespaces of a store."""
    with reading_store(store) as memory:
        names = memory.namespaces()
    if as_json:
        print_json({"namespaces": names})
    else:
        for name in names:
            typer.echo(name)


@app.command()
def stats(
    store: Store = None,
    namespace: Annotated[str | None, typer.Option("--namespace", help="Default: the whole store.")] = None,
    as_json: AsJson = False,
) -> None:
    """Count units, turns and edges."""
    with reading_store(store) as memory:
        counts = plain(memory.stats(namespace=namespace))
    if as_json:
        print_json(counts)
        return
    rows = table("what", "value")
    for name, value in counts.items():
        rows.add_row(name, shown(value))
    console().print(rows)


app.command()(usage)


@app.command()
def verify(
    deep: Annotated[bool, typer.Option("--deep", help="Also rebuild what is derived, and compare.")] = False,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Check a store; exit code 1 when something is wrong with it."""
    with reading_store(store) as memory:
        problems = list(memory.verify(deep=deep))
    if as_json:
        print_json({"problems": problems})
    elif problems:
        for problem in problems:
            typer.echo(problem, err=True)
    else:
        typer.echo("no problem found")
    if problems:
        raise typer.Exit(1)


@app.command()
def version(as_json: AsJson = False) -> None:
    """Show the version."""
    try:
        found = installed_version("ripplemem")
    except PackageNotFoundError:
        found = "not installed"  # run from a source tree
    if as_json:
        print_json({"version": found})
    else:
        typer.echo(f"ripple {found}")
