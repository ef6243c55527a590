"""The command `ripple`: thin over the public API; results on stdout, progress and messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
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
from ripple._cli_import import import_file
from ripple._cli_output import AsJson, console, json_line, one_line, plain, print_json, progress_bar, shown, table
from ripple.config import store_directory
from ripple.errors import InvalidInputError, RippleError
from ripple.types import Evidence, Filter, ForgetResult

if TYPE_CHECKING:
    from ripple.memory import Memory

__all__ = ["app", "main"]

app = typer.Typer(
    name="ripple",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="An embedded long-term memory engine for LLM agents.",
)
app.add_typer(eval_app, name="eval")

Store = Annotated[
    Path | None,
    typer.Option("--store", help="The store's directory; else RIPPLE_STORE, else ./agent.ripple.", show_default=False),
]
Namespace = Annotated[str, typer.Option("--namespace", help="Which memory of the store.")]
Query = Annotated[str, typer.Argument(help="A question or words.")]
UnitId = Annotated[int, typer.Argument(min=1, help="A unit id, as search and recall show it.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Only what was said by then; ISO 8601 with a zone.")]


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


def _existing(store: Path | None) -> Path:
    path = store or store_directory()
    if not path.is_dir():
        raise InvalidInputError(f"{path} is not a store; make one with 'ripple add' or 'ripple import'")
    return path


@contextmanager
def _reading(store: Path | None, namespace: str | None = None) -> Iterator[Memory]:
    """Give an existing store, opened beside whoever writes to it; the namespace must exist."""
    from ripple.memory import Memory

    with Memory.open(_existing(store), read_only=True) as memory:
        if namespace is not None and namespace not in memory.namespaces():
            raise InvalidInputError(f"no namespace {namespace!r}; 'ripple namespaces' lists those that exist")
        yield memory


def _writing(store: Path | None) -> Memory:
    """Return a store opened for writing, made where there is none."""
    from ripple.memory import Memory

    return Memory.open(store or store_directory())


def _changing(store: Path | None) -> Memory:
    """Return an existing store opened for writing."""
    return _writing(_existing(store))


def _moment(text: str | None, option: str) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidInputError(f"{option} is {text!r}; want ISO 8601 with a zone: 2026-04-23T19:05:00+02:00")
    return moment


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
    with _writing(store) as memory:
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
    as_json: AsJson = False,
) -> None:
    """Remember all messages of a file; run again, it goes on where it was interrupted."""
    with _writing(store) as memory, progress_bar(file.name) as progress:
        counts = import_file(memory, file, namespace, progress)
    if as_json:
        print_json(counts)
    else:
        names = counts["namespaces"]
        where = f"namespace {names[0]!r}" if len(names) == 1 else f"{len(names)} namespaces"
        known = f", {counts['repeated']} known before" if counts["repeated"] else ""
        refused = f", {counts['rejected']} deleted before and not taken" if counts["rejected"] else ""
        typer.echo(f"{counts['messages']} messages{known}{refused}; {counts['units']} units in {where}")


@app.command()
def export(
    file: Annotated[Path | None, typer.Argument(help="Where to write the JSONL; standard output if left out.")] = None,
    store: Store = None,
    namespace: Namespace = "default",
) -> None:
    """Write units, turns, edges and vectors as JSONL, which import takes back."""
    if file is not None and file.suffix != ".jsonl":
        raise InvalidInputError(f"{file.name} has another ending than .jsonl, which import wants")
    with _reading(store, namespace) as memory:
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
    moment = _moment(as_of, "--as-of")
    with _reading(store, namespace) as memory:
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
    context: Annotated[
        int | None, typer.Option("--context", min=1, help="Print a prompt of at most so many tokens instead.")
    ] = None,
    store: Store = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Find the evidence for a question: first recall, then what is still missing."""
    moment = _moment(as_of, "--as-of")
    with _reading(store, namespace) as memory:
        found = memory.recall(query, namespace=namespace, top_k=top_k, as_of=moment, expansion=expansion.value)
    if as_json:
        print_json(plain(found))
    elif context is not None:
        typer.echo(found.context(max_tokens=context))
    else:
        typer.echo(found.explain(limit=top_k))


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
    with _reading(store, namespace) as memory:
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
    with _reading(store, namespace) as memory:
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
    with _changing(store) as memory:
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
    said = (_moment(said_from, "--said-from"), _moment(said_until, "--said-until"))
    wanted = Filter(
        session=tuple(session) if session else None,
        participants=tuple(participant) if participant else None,
        locations=tuple(location) if location else None,
        said=said if said != (None, None) else None,
    )
    if everything == (wanted != Filter()):
        raise typer.BadParameter("say what to forget: either by options or --everything")
    with _changing(store) as memory:
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
    with _reading(store) as memory:
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
    with _reading(store) as memory:
        counts = plain(memory.stats(namespace=namespace))
    if as_json:
        print_json(counts)
        return
    rows = table("what", "value")
    for name, value in counts.items():
        rows.add_row(name, shown(value))
    console().print(rows)


@app.command()
def verify(
    deep: Annotated[bool, typer.Option("--deep", help="Also rebuild what is derived, and compare.")] = False,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Check a store; exit code 1 when something is wrong with it."""
    with _reading(store) as memory:
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
