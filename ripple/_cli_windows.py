"""Commands around the windows of a language model: what it took, what waits for it; and the options of an import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import typer

from ripple._cli_model import BaseUrl, ModelName, language_model
from ripple._cli_output import AsJson, console, plain, print_json, table
from ripple._cli_store import Namespace, Store, changing_store, reading_store
from ripple.errors import InvalidInputError
from ripple.models.budget import Budget
from ripple.types import AddResult, Usage, Windows, WindowStatus

__all__ = [
    "Concurrency",
    "MaxCalls",
    "MaxSeconds",
    "MaxUsd",
    "Preset",
    "PresetName",
    "PriceText",
    "budget_of",
    "pending_app",
    "price_of",
    "print_estimate",
    "print_extraction",
    "usage",
    "windows_of",
]

Concurrency = Annotated[int, typer.Option("--concurrency", min=1, max=64, help="Windows read side by side.")]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", min=0, help="Calls of the model at most.")]
MaxSeconds = Annotated[float | None, typer.Option("--max-seconds", min=0, help="Seconds of the model's work at most.")]
MaxUsd = Annotated[float | None, typer.Option("--max-usd", min=0, help="Dollars at most; needs --price.")]
PriceText = Annotated[
    str | None, typer.Option("--price", help="Dollars per million tokens of input and output, such as 0.4,1.6.")
]


class Preset(StrEnum):
    """How the model is given the turns."""

    DEFAULT = "default"
    LOCOMO = "locomo"
    LONGMEMEVAL = "longmemeval"


PresetName = Annotated[Preset, typer.Option("--windows", help="Turns that the model reads at once: 20, 40 or 10.")]

pending_app = typer.Typer(no_args_is_help=True, help="Windows of turns that wait for a language model.")


def windows_of(preset: Preset) -> Windows:
    """Return the windows of a preset."""
    return {
        Preset.DEFAULT: Windows(),
        Preset.LOCOMO: Windows.locomo(),
        Preset.LONGMEMEVAL: Windows.longmemeval(),
    }[preset]


def price_of(text: str | None) -> tuple[float, float] | None:
    """Return the price that an option gives, or None."""
    if text is None:
        return None
    try:
        input_price, output_price = map(float, text.split(","))
    except ValueError as error:
        raise InvalidInputError(f"--price is {text!r}; want two numbers such as 0.4,1.6") from error
    return input_price, output_price


def budget_of(calls: int | None, seconds: float | None, usd: float | None) -> Budget | None:
    """Return the budget that options give, None for no limit."""
    if calls is None and seconds is None and usd is None:
        return None
    return Budget(llm_calls=calls, seconds=seconds, usd=usd)


def usage(
    store: Store = None,
    namespace: Annotated[str | None, typer.Option("--namespace", help="Default: the whole store.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what calls of language models took so far, by stage."""
    with reading_store(store, namespace) as memory:
        stages = memory.usage(namespace=namespace)
    if as_json:
        print_json({"stages": plain(stages), "total": plain(sum(stages.values(), Usage()))})
        return
    if not stages:
        typer.echo("no language model was called")
        return
    _print_usage(stages)


def _print_usage(stages: Mapping[str, Usage]) -> None:
    rows = table("stage", "calls", "input tokens", "output tokens", "seconds", "usd")
    for stage, used in [*stages.items(), ("total", sum(stages.values(), Usage()))]:
        usd = "unknown" if used.usd is None else f"{used.usd:.4f}"
        rows.add_row(
            stage, f"{used.calls:,}", f"{used.input_tokens:,}", f"{used.output_tokens:,}", f"{used.seconds:.1f}", usd
        )
    console().print(rows)


@pending_app.command("list")
def list_pending(store: Store = None, namespace: Namespace = "default", as_json: AsJson = False) -> None:
    """List the windows that wait for the model, and those that it failed."""
    with reading_store(store, namespace) as memory:
        windows = memory.pending(namespace=namespace)
    if as_json:
        print_json({"windows": plain(windows)})
    elif not windows:
        typer.echo("nothing is pending")
    else:
        _print_windows(windows)


def _print_windows(windows: Sequence[WindowStatus]) -> None:
    rows = table("window", "state", "turns", "attempts", "reason")
    for window in windows:
        turns = f"{window.turn_ids[0]}-{window.turn_ids[-1]}"
        rows.add_row(str(window.window_id), window.state, turns, str(window.attempts), window.reason)
    console().print(rows)


@pending_app.command()
def retry(
    llm: ModelName = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = 4,
    max_calls: MaxCalls = None,
    max_seconds: MaxSeconds = None,
    store: Store = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Let the model extract again all that is pending or was given up."""
    budget = budget_of(max_calls, max_seconds, None)
    with language_model(llm, base_url) as model, changing_store(store, llm=model) as memory:
        result = memory.retry(namespace=namespace, budget=budget, concurrency=concurrency)
        left = len(memory.pending(namespace=namespace))
    if as_json:
        print_json({**plain(result), "left": left})
        return
    print_extraction(result)
    typer.echo(f"{left} windows are left; 'ripple pending list' shows them" if left else "nothing is pending")


def print_extraction(result: AddResult) -> None:
    """Tell what a model did: windows, what the budget refused, what it took."""
    if result.windows:
        typer.echo("windows: " + ", ".join(f"{count} {state}" for state, count in sorted(result.windows.items())))
    for limit, count in result.refused.items():
        typer.echo(f"the budget of {limit} had no room for {count} calls; 'ripple pending retry' goes on", err=True)
    if result.usage:
        _print_usage(result.usage)


def print_estimate(counts: Mapping[str, int], price: tuple[float, float] | None, *, as_json: bool) -> None:
    """Tell what an import would take of a model; its output is not foreseen, so the price is that of the input."""
    usd = None if price is None else counts["input_tokens"] * price[0] / 1_000_000
    if as_json:
        print_json({**counts, "input_usd": usd})
        return
    cost = "" if usd is None else f", {usd:.4f} usd before output"
    typer.echo(
        f"{counts['messages']:,} messages in {counts['windows']:,} windows: {counts['calls']:,} calls, "
        f"about {counts['input_tokens']:,} input tokens{cost}"
    )
