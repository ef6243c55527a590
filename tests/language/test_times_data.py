"""The temporal resolver against two specifications; skipped where the data is not at hand."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ripple.language.times import resolve_times

FOLDER = Path(os.environ.get("RIPPLE_DATA", "no-such-folder")) / "temporal"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="RIPPLE_DATA names no folder with temporal/")
SECOND = timedelta(seconds=1)


def at(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def intervals(text: str, said_at: datetime, start: int, end: int) -> list[tuple[datetime, datetime]]:
    """Grounded intervals that touch characters start..end, half-open."""
    return [
        (m.interval.start, m.interval.end + SECOND)
        for m in resolve_times(text, said_at)
        if m.interval is not None and m.start_char <= end and m.end_char > start
    ]


def test_every_expression_of_the_project_list_resolves_as_accepted() -> None:
    cases = json.loads((FOLDER / "expressions_dev.json").read_text("utf-8"))
    missed = []
    for case in cases:
        text = case["expression"]
        found = intervals(text, at(case["reference"]), 0, len(text))
        accepted = [(at(start), at(end)) for start, end in case["accept"]]
        if not (any(f in accepted for f in found) if accepted else not found):
            missed.append((text, found))
    assert len(cases) >= 29
    assert missed == []


def specified(result: dict[str, Any]) -> Iterator[tuple[datetime, datetime]]:
    """Half-open intervals that a specification resolves to; values open on one side are no interval."""
    for value in result["values"] or []:
        try:
            if result["type"] == "date" and "value" in value:
                yield at(value["value"]), at(value["value"]) + timedelta(days=1)
            elif result["type"] == "datetime" and "value" in value:
                yield at(value["value"]), at(value["value"]) + SECOND
            elif value.get("start") and value.get("end"):
                yield at(value["start"]), at(value["end"])
        except ValueError:  # "not resolved"
            continue


# The metric: expressions of type date, datetime and daterange that the specification grounds on both sides; a
# hit is an interval equal to one of its values. Conventions differ on purpose, so the floors are low: "in two
# years" is a month here and a day there; "2014 to 2018" ends with 2018 here and before it there.
@pytest.mark.parametrize(("name", "floor"), [("recognizers_en", 0.45), ("recognizers_zh", 0.55)])
def test_share_of_specified_expressions(name: str, floor: float) -> None:
    hits = total = 0
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            for result in case["results"]:
                wanted = set(specified(result))
                if case["ref"] is None or result["type"] not in ("date", "datetime", "daterange") or not wanted:
                    continue
                total += 1
                found = intervals(case["input"], at(case["ref"][:19]), result["start"], result["end"])
                hits += any(f in wanted for f in found)
    assert hits / total >= floor, f"{hits} of {total}"
