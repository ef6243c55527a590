"""The command `ripple`: thin over the public API; results on stdout, progress and messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version as installed_version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ripple._cli_eval import Expansion, eval_app
from ripple._cli_import import import_file
from ripple._cli_output import AsJson, console, json_line, one_line, plain, print_json, progress_bar, shown
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

Store = Annotated[Path, typer.Option("--store", help="The store's directory.")]
Namespace = Annotated[str, typer.Option("--namespace", help="Which memory of the store.")]
Query = Annotated[str, typer.Argument(help="A question or words.")]
UnitId = Annotated[int, typer.Argument(min=1, help="A unit id, as search and recall show it.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", help="Only what was said by then; ISO 8601 with a zone.")
]
_DEFAULT_STORE = Path("agent.ripple")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command line and exit: 0 when it worked, 1 with one line on stderr, 2 for wrong usage."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="ripple")
    except (RippleError, OSError) as error:
        typer.echo(f"ripple: {one_line(error)}", err=True)
        sys.exit(1)


def _reading(store: Path) -> Memory:
    """Return an existing store, opened beside whoever writes to it."""
    from ripple.memory import Memory

    if not store.is_dir():
        raise InvalidInputError(f"{store} is not a store; create one with 'ripple add' or 'ripple import'")
    return Memory.open(store, read_only=True)


def _writing(store: Path, *, create: bool = False) -> Memory:
    from ripple.memory import Memory

    if not create and not store.is_dir():
        raise InvalidInputError(f"{store} is not a store; create one with 'ripple add' or 'ripple import'")
    return Memory.open(store)


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
def add(
    text: Annotated[str, typer.Argument(help="What was said; '-' reads it from standard input.")],
    speaker: Annotated[str | None, typer.Option("--speaker", help="Who said it.")] = None,
    timestamp: Annotated[str | None, typer.Option("--timestamp", help="When; ISO 8601 with a zone.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="The conversation it belongs to.")] = None,
    message_id: Annotated[
        str | None, typer.Option("--id", help="Your id; the same id is taken once.")
    ] = None,
    store: Store = _DEFAULT_STORE,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Remember one message."""
    message = {
        "content": sys.stdin.read() if text == "-" else text,
        "speaker": speaker,
        "timestamp": timestamp,
        "session": session,
        "id": message_id,
    }
    with _writing(store, create=True) as memory:
        result = memory.add([message], namespace=namespace)
    if as_json:
        print_json(plain(result))
    else:
        units = ", ".join(map(str, result.unit_ids)) or "no unit"
        console().print(f"turn {', '.join(map(str, result.turn_ids))} -> unit {units}")


@app.command("import")
def import_command(
    file: Annotated[
        Path, typer.Argument(help="JSON list of messages, JSONL, LoCoMo, LongMemEval, an export.")
    ],
    store: Store = _DEFAULT_STORE,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", help="Default: the export's or conversation's own, or 'default'."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Remember all messages of a file; run again, it goes on where it was interrupted."""
    with _writing(store, create=True) as memory, progress_bar(file.name) as progress:
        counts = import_file(memory, file, namespace, progress)
    if as_json:
        print_json(counts)
    else:
        console().print(
            f"{counts['messages']} messages in {len(counts['namespaces'])} namespaces, "
            f"{counts['repeated']} of them known before; {counts['units']} units"
        )


@app.command()
def export(
    file: Annotated[
        Path | None, typer.Argument(help="Where to write the JSONL; standard output if left out.")
    ] = None,
    store: Store = _DEFAULT_STORE,
    namespace: Namespace = "default",
) -> None:
    """Write units, turns, edges and vectors as JSONL, which import takes back."""
    with _reading(store) as memory:
        rows = memory.export(namespace=namespace)
        if file is None:
            for row in rows:
                typer.echo(json_line(row))
            return
        with file.open("w", encoding="utf-8") as target:
            for row in rows:
                target.write(json_line(row) + "\n")


@app.command()
def search(
    query: Query,
    top_k: Annotated[int, typer.Option("--top-k", min=1, help="Units at most.")] = 20,
    as_of: AsOf = None,
    store: Store = _DEFAULT_STORE,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Find memories in one shot."""
    moment = _moment(as_of, "--as-of")
    with _reading(store) as memory:
        found = memory.search(query, namespace=namespace, top_k=top_k, as_of=moment)
    if as_json:
        print_json({"query": query, "evidence": plain(found)})
    else:
        _print_evidence(found)


@app.command()
def recall(
    query: Query,
    top_k: Annotated[int, typer.Option("--top-k", min=1, help="Units at most.")] = 30,
    as_of: AsOf = None,
    expansion: Annotated[
        Expansion, typer.Option("--expansion", help="How expansion searches.")
    ] = Expansion.TARGETED,
    explain: Annotated[bool, typer.Option("--explain", help="Show how the evidence was found.")] = False,
    context: Annotated[
        int | None, typer.Option("--context", min=1, help="Print a prompt of at most so many tokens instead.")
    ] = None,
    store: Store = _DEFAULT_STORE,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Find the evidence for a question: first recall, then what is still missing."""
    moment = _moment(as_of, "--as-of")
    with _reading(store) as memory:
        found = memory.recall(
            query, namespace=namespace, top_k=top_k, as_of=moment, expansion=expansion.value
        )
    if as_json:
        print_json(plain(found))
    elif context is not None:
        typer.echo(found.context(max_tokens=context))
    elif explain:
        typer.echo(found.explain(limit=top_k))
    else:
        _print_evidence(found.evidence)
        if not found.is_supported:
            console().print(f"These may not answer the question (support {found.support:.2f}).")


def _print_evidence(evidence: Sequence[Evidence]) -> None:
    if not evidence:
        typer.echo("nothing found", err=True)
        return
    table = Table("unit", "score", "said at", "found by", "memory")
    for piece in evidence:
        said_at = piece.said_at.strftime("%Y-%m-%d %H:%M") if piece.said_at else ""
        table.add_row(
            str(piece.unit_id), f"{piece.score:.2f}", said_at, " ".join(piece.found_by), shown(piece.text)
        )
    console().print(table)


@app.command()
def get(
    unit_id: UnitId, store: Store = _DEFAULT_STORE, namespace: Namespace = "default", as_json: AsJson = False
) -> None:
    """Show a unit with its sources."""
    with _reading(store) as memory:
        unit = plain(memory.get(unit_id, namespace=namespace))
    if as_json:
        print_json(unit)
        return
    table = Table("field", "value")
    for name, value in unit.items():
        table.add_row(name, shown(value))
    console().print(table)


@app.command("list")
def list_command(
    limit: Annotated[int, typer.Option("--limit", min=1, help="Units at most.")] = 100,
    store: Store = _DEFAULT_STORE,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """List units, oldest first."""
    with _reading(store) as memory:
        units = list(islice(memory.get_all(namespace=namespace), limit))
    if as_json:
        print_json({"units": plain(units)})
        return
    table = Table("unit", "said at", "status", "memory")
    for unit in units:
        said_at = unit.said_at.strftime("%Y-%m-%d %H:%M") if unit.said_at else ""
        table.add_row(str(unit.unit_id), said_at, unit.status, shown(unit.text))
    console().print(table)


@app.command()
def delete(
    unit_id: UnitId, store: Store = _DEFAULT_STORE, namespace: Namespace = "default", as_json: AsJson = False
) -> None:
    """Delete a unit, its edges, and the turns that no other unit cites."""
    with _writing(store) as memory:
        result = memory.delete(unit_id, namespace=namespace)
    _print_deleted(result, as_json)


@app.command()
def forget(
    session: Annotated[
        list[str] | None, typer.Option("--session", help="Of this session; may be repeated.")
    ] = None,
    participant: Annotated[
        list[str] | None, typer.Option("--participant", help="With this person; may be repeated.")
    ] = None,
    location: Annotated[
        list[str] | None, typer.Option("--location", help="At this place; may be repeated.")
    ] = None,
    said_from: Annotated[
        str | None, typer.Option("--said-from", help="Said then or later; ISO 8601.")
    ] = None,
    said_until: Annotated[
        str | None, typer.Option("--said-until", help="Said then or before; ISO 8601.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    store: Store = _DEFAULT_STORE,
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
    with _writing(store) as memory:
        result = memory.forget(wanted, namespace=namespace, dry_run=dry_run)
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
def namespaces(store: Store = _DEFAULT_STORE, as_json: AsJson = False) -> None:
    """List the namespaces of a store."""
    with _reading(store) as memory:
        names = memory.namespaces()
    if as_json:
        print_json({"namespaces": names})
    else:
        typer.echo("\n".join(names))


@app.command()
def stats(
    store: Store = _DEFAULT_STORE,
    namespace: Annotated[str | None, typer.Option("--namespace", help="Default: the whole store.")] = None,
    as_json: AsJson = False,
) -> None:
    """Count units, turns and edges."""
    with _reading(store) as memory:
        counts = plain(memory.stats(namespace=namespace))
    if as_json:
        print_json(counts)
        return
    table = Table("what", "value")
    for name, value in counts.items():
        table.add_row(name, shown(value))
    console().print(table)


@app.command()
def verify(
    deep: Annotated[bool, typer.Option("--deep", help="Also rebuild what is derived, and compare.")] = False,
    store: Store = _DEFAULT_STORE,
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
    found = installed_version("ripplemem")
    if as_json:
        print_json({"version": found})
    else:
        typer.echo(f"ripple {found}")
