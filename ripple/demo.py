"""`ripple demo`: one evidence story asked in three ways, what each returned and why, and the rates over many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import shorten
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ripple._cli_output import plain, printable
from ripple.evaluation.stories import Story, generate_stories
from ripple.evaluation.story_runner import BUDGET, FIRST, WAYS, run_stories
from ripple.memory import Memory
from ripple.read.context import Reached, Recall
from ripple.types import Evidence, RecallPlan

__all__ = ["Demo", "as_document", "show", "tell"]

_PIECES = ("E1", "E2", "E3")
_SHOWN = 4  # of the best, besides the pieces
_WIDTH_MAX = 100
_BAR_CELLS = 40
_QUOTE_CHARACTERS = 48
_TITLES = {"one_shot": "one-shot search", "undirected": "undirected expansion", "ripple": "ripple"}


@dataclass(frozen=True, slots=True)
class Demo:
    """A story, what each way returned to its question, and the rate of each way over all stories.

    ``rates`` are the shares of stories in which a way finds the piece that the question shares no word with.
    """

    story: Story
    one_shot: tuple[Evidence, ...]
    undirected: Recall
    targeted: Recall
    texts: Mapping[int, str]
    stories: int
    rates: Mapping[str, float]
    seconds: float

    def piece_of(self, evidence: Evidence) -> str | None:
        """Return ``"E1"``, ``"E2"`` or ``"E3"`` where the evidence cites that message, else None."""
        cited = {source.message_id for source in evidence.sources}
        pieces = zip(_PIECES, self.story.evidence, strict=True)
        return next((piece for piece, message_id in pieces if message_id in cited), None)


def tell(count: int = 40, seed: int = 12, *, progress: Callable[[int, int], None] | None = None) -> Demo:
    """Return the first of ``count`` stories asked in each way, and the rates over all of them.

    Every way returns ten units: the best ten of one search; or the best eight and two by expansion.

    Raises
    ------
    InvalidInputError
        When ``count`` is below 1.
    """
    started = perf_counter()
    stories = generate_stories(count, seed)
    story = stories[0]
    with Memory.open(":memory:") as memory:
        memory.add(list(story.messages), namespace="demo")
        one_shot = memory.search(story.question, namespace="demo", top_k=BUDGET)
        undirected, targeted = (
            memory.recall(story.question, namespace="demo", top_k=BUDGET, first=FIRST, expansion=expansion)
            for expansion in ("undirected", "targeted")
        )
        texts = {unit.unit_id: unit.text for unit in memory.get_all(namespace="demo")}
        figures = run_stories(stories, memory, progress=progress)
    return Demo(
        story=story,
        one_shot=tuple(one_shot),
        undirected=undirected,
        targeted=targeted,
        texts=texts,
        stories=len(stories),
        rates=figures["missing_piece"],
        seconds=perf_counter() - started,
    )


def as_document(demo: Demo) -> dict[str, Any]:
    """Return what ``ripple demo --json`` prints."""
    plan = demo.targeted.trace.plan
    return {
        "first_recall": _items(demo, demo.one_shot),
        "undirected": _items(demo, demo.undirected.evidence),
        "plan": {
            "question": demo.story.question,
            "anchors": [{"unit_id": unit, "text": demo.texts[unit]} for unit in plan.anchors],
            "target": plain(plan.target),
            "reached": [
                {**plain(reached), "text": demo.texts[reached.unit_id]} for reached in demo.targeted.trace.reached
            ],
            "stop_reason": plan.stop_reason,
        },
        "evidence": _items(demo, demo.targeted.evidence),
        "stories": {way: demo.rates[way] for way in WAYS},
        "seconds": demo.seconds,
    }


def _items(demo: Demo, evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    return [
        {
            "text": found.text,
            "found_by": list(found.found_by),
            "score": found.score,
            "sources": plain(found.sources),
            "piece": demo.piece_of(found),
        }
        for found in evidence
    ]


def show(demo: Demo, console: Console) -> None:
    """Print the demo for a person, in lines of at most 100 characters."""
    console.width = min(console.width, _WIDTH_MAX)
    more = BUDGET - FIRST
    _show_question(demo, console)
    _show_way(demo, console, f"1  One-shot search: the best {BUDGET} memories", demo.one_shot)
    _show_way(
        demo,
        console,
        f"2  Undirected expansion: the best {FIRST}, and {more} linked to them",
        demo.undirected.evidence,
        demo.undirected.trace.reached,
    )
    _show_way(
        demo,
        console,
        f"3  ripple: the best {FIRST}, and {more} linked to them that fill the gap",
        demo.targeted.evidence,
        demo.targeted.trace.reached,
        demo.targeted.trace.plan,
    )
    _show_rates(demo, console)


def _show_question(demo: Demo, console: Console) -> None:
    story = demo.story
    messages = {message["id"]: message for message in story.messages}
    people = {message["speaker"] for message in story.messages}
    sessions = {message["session"] for message in story.messages}
    first, last = (datetime.fromisoformat(story.messages[end]["timestamp"]) for end in (0, -1))
    console.print(
        f"{len(people)} friends chat: {len(messages)} messages in {len(sessions)} sessions over"
        f" {round((last - first).days / 7)} weeks. Then somebody asks:\n"
    )
    console.print(_indented(Text(story.question, "bold")))
    console.print("\nThe answer takes three messages, said weeks apart amid the small talk:\n")
    table = _rows(3)
    for piece, message_id in zip(_PIECES, story.evidence, strict=True):
        message = messages[message_id]
        said = f"{message['speaker']}: {message['content']}"
        table.add_row(_mark(piece), Text(message["timestamp"][:10], "dim"), _words(said))
    console.print(_indented(table))
    console.print("\nE3 shares no word with the question but names. Who finds it?\n")


def _show_way(
    demo: Demo,
    console: Console,
    title: str,
    evidence: Sequence[Evidence],
    reached: Sequence[Reached] = (),
    plan: RecallPlan | None = None,
) -> None:
    console.print(Text(title, "bold"))
    console.print()
    over = {step.unit_id: step for step in reached}
    table = _rows(4)
    for rank, found in enumerate(evidence, start=1):
        piece = demo.piece_of(found)
        is_added = "expansion" in found.found_by
        if rank > _SHOWN and piece is None and not is_added:
            continue
        place = f"{rank:2}{'+' if is_added else ' '}"
        table.add_row(Text(place, "dim"), Text(f"{found.score:.2f}", "dim"), _mark(piece), _words(found.text))
        if is_added:
            table.add_row("", "", "", Text(_way_to(demo, found, over), "cyan"))
    console.print(_indented(table))
    if plan is not None:
        _show_plan(demo, console, plan)
    got = {demo.piece_of(found) for found in evidence}
    found_names = " ".join(piece for piece in _PIECES if piece in got) or "none of them"
    missed = " ".join(piece for piece in _PIECES if piece not in got)
    verdict = f"Found {found_names}" + (f"; not {missed}." if missed else ": the answer can be given.")
    console.print(_indented(Text(verdict, "yellow" if missed else "green")))
    console.print()


def _way_to(demo: Demo, found: Evidence, over: Mapping[int, Reached]) -> str:
    """Return over which edge expansion came to a unit, and how well the unit met the target."""
    step = over[found.unit_id]
    edge = f'{step.kind} edge from "{_short(demo.texts[step.parent])}"'
    far = f', two edges from "{_short(demo.texts[step.anchor])}"' if step.hop > 1 else ""
    return f"over a {edge}{far}; score {step.score:.2f}"


def _show_plan(demo: Demo, console: Console, plan: RecallPlan) -> None:
    table = _rows(2)
    for number, anchor in enumerate(plan.anchors):
        table.add_row("" if number else "looked from", _words(_short(demo.texts[anchor])))
    if plan.target is not None:
        who = f"of {' and '.join(plan.target.participants)}: " if plan.target.participants else ""
        table.add_row("for the gap", _words(f"{who}{plan.target.restatement}"))
    table.add_row("stopped", _words(plan.stop_reason))
    console.print()
    console.print(_indented(table))
    console.print()


def _show_rates(demo: Demo, console: Console) -> None:
    plural = "stories" if demo.stories > 1 else "story"
    console.print(Text(f"E3 found, in {demo.stories} such {plural}, with {BUDGET} memories each way", "bold"))
    console.print()
    table = _rows(3)
    for way in WAYS:
        rate = demo.rates[way]
        style = "green" if way == "ripple" else "dim"
        table.add_row(_TITLES[way], f"{rate:4.0%}", Text("█" * round(_BAR_CELLS * rate), style))
    console.print(_indented(table))
    console.print(f"\n{demo.seconds:.1f} s on this machine; no model was called and nothing left it.")


def _rows(columns: int) -> Table:
    """Return a table without lines; its last column takes what is left of the width."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    for column in range(1, columns + 1):
        table.add_column(no_wrap=column < columns, ratio=1 if column == columns else None)
    return table


def _indented(shown: Table | Text) -> Padding:
    return Padding(shown, (0, 0, 0, 2))


def _mark(piece: str | None) -> Text:
    return Text(piece or "", "bold green")


def _words(text: str) -> Text:
    return Text(printable(text))


def _short(text: str) -> str:
    return shorten(printable(text), _QUOTE_CHARACTERS, placeholder=" ...")
