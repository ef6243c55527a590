"""`ripple demo`: what it says is what the three ways returned."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from ripple.cli import main
from ripple.demo import as_document, show, tell


@pytest.fixture(scope="module")
def demo():
    return tell(6, 7)


def shown(demo, **console):
    stream = io.StringIO()
    show(demo, Console(file=stream, highlight=False, **console))
    return stream.getvalue()


def test_all_pieces_are_found_and_the_last_by_expansion(demo):
    found = {item["piece"]: item for item in as_document(demo)["evidence"] if item["piece"]}
    assert set(found) == {"E1", "E2", "E3"}
    assert found["E3"]["found_by"] == ["expansion"]
    assert "allergic to seafood" in found["E3"]["text"]


def test_document_holds_the_promised_keys_and_ten_units_each_way(demo):
    document = as_document(demo)
    assert list(document) == ["first_recall", "undirected", "plan", "evidence", "stories", "seconds"]
    for way in ("first_recall", "undirected", "evidence"):
        assert len(document[way]) == 10
        assert set(document[way][0]) == {"text", "found_by", "score", "sources", "piece"}
    assert set(document["stories"]) == {"one_shot", "undirected", "ripple"}
    assert "seafood" in document["plan"]["target"]["restatement"]
    assert {step["kind"] for step in document["plan"]["reached"]} <= {
        "semantic", "structural", "state", "sequence", "term"
    }  # fmt: skip


def test_rates_are_those_of_the_stories(demo):
    assert demo.stories == 6
    assert demo.rates["ripple"] > max(demo.rates["one_shot"], demo.rates["undirected"])


def test_text_is_plain_and_fits_eighty_columns(demo):
    text = shown(demo, width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.replace("\n", "").isprintable()
    assert "Should we follow Sam's tip and take Maya to Harbor Grill?" in text
    assert text.count("Harbor Grill turned out to be a seafood place") == 4
    assert "edge from" in text


def test_terminal_gets_colours(demo):
    assert "\x1b[" in shown(demo, force_terminal=True, color_system="standard", width=80)


def test_verdict_follows_what_was_found(demo):
    without = [piece for piece in demo.targeted.evidence if demo.piece_of(piece) != "E3"]
    changed = replace(demo, one_shot=(), targeted=replace(demo.targeted, evidence=tuple(without)))
    text = shown(changed, width=80)
    assert "Found none of them; not E1 E2 E3." in text
    assert "Found E1 E2; not E3." in text


def test_command_prints_json_alone(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--stories", "1", "--seed", "3", "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code or 0, err) == (0, "")
    document = json.loads(out)
    assert set(document["stories"].values()) <= {0.0, 1.0}


def test_no_story_is_wrong_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--stories", "0"])
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""
