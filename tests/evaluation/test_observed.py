"""The stand-in of a perfect extractor: which facts it replies for which lines, and what the pipeline makes of them."""

import json
from datetime import UTC, datetime

import pytest

from ripple.cli import main
from ripple.errors import InvalidInputError
from ripple.evaluation.datasets import Conversation
from ripple.evaluation.observed import Observation, ObservedModel, load_observations
from ripple.models.base import ModelRequest
from ripple.prompts.extraction import build
from ripple.types import Turn

SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
SAMPLE = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I painted my kite in red."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "My boat is blue, it leaks.", "blip_caption": "a boat"},
            {"speaker": "Ada", "dia_id": "D1:3", "text": "We could sail on Sunday if it is mended."},
        ],
    },
    "observation": {
        "session_1_observation": {
            "Ada": [["Ada painted a red kite.", "D1:1"]],
            "Ben": [["Ben owns a leaking boat.", ["D1:2", "D1:3"]]],
        }
    },
    "qa": [
        {"question": "Which colour has the kite of Ada?", "answer": "red", "evidence": ["D1:1"], "category": 4},
        {"question": "When could they sail the boat?", "evidence": ["D1:3"], "category": 1},
    ],
}
MESSAGES = tuple(
    {"content": text, "id": message_id, "speaker": speaker, "timestamp": SAID.isoformat(), "session": "session_1"}
    for speaker, message_id, text in (("Ada", "D1:1", "Yes."), ("Ada", "D1:2", "Yes."), ("Ben", "D1:3", "No."))
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([SAMPLE]))
    return path


def reply(model, *turns):
    return json.loads(model.complete(build(turns), timeout=1.0).text)["units"]


def turn(number, text, speaker, said_at=SAID):
    return Turn(number, text, speaker, said_at=said_at, session="session_1")


def test_observations_are_read_with_one_or_more_sources(file):
    assert load_observations(file) == {
        "conv-1": [
            Observation("Ada painted a red kite.", "Ada", ("D1:1",)),
            Observation("Ben owns a leaking boat.", "Ben", ("D1:2", "D1:3")),
        ]
    }


@pytest.mark.parametrize("observation", [None, {"session_1_observation": {"Ada": [["no source"]]}}, []])
def test_a_file_without_observations_is_refused(tmp_path, observation):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([SAMPLE | {"observation": observation}]))
    with pytest.raises(InvalidInputError, match=r"bad\.json holds no observations"):
        load_observations(path)


def test_equal_lines_of_one_moment_are_told_apart_by_their_order():
    facts = {"c": [Observation("Ada agreed twice.", "Ada", ("D1:2",))]}
    model = ObservedModel([Conversation("c", MESSAGES)], facts)
    (unit,) = reply(model, turn(7, "No.", "Ben"), turn(8, "Yes.", "Ada"), turn(9, "Yes.", "Ada"))
    assert (unit["turns"], unit["participants"]) == ([3], ["Ada"])


def test_lines_of_another_date_or_speaker_are_not_known():
    facts = {"c": [Observation("Ben declined.", "Ben", ("D1:3",))]}
    model = ObservedModel([Conversation("c", MESSAGES)], facts)
    assert reply(model, turn(1, "No.", "Ada"), turn(2, "No.", "Ben", SAID.replace(day=9))) == []
    assert len(reply(model, turn(1, "No.", "Ben"))) == 1


def test_only_extraction_is_answered():
    request = ModelRequest("planner", "", "{}", None, "planner-1", 10)
    assert ObservedModel([], {}).complete(request, timeout=1.0).text == "{}"


def test_the_pipeline_keeps_every_observation_and_its_sources(file, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["eval", "locomo", str(file), "--units", "observations", "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code or 0, err) == (0, "")
    figures = json.loads(out)
    assert figures["observations"] == {"facts": 2, "missing": 0, "units_by_rules": 0}
    assert (figures["units"], figures["turns_per_unit"]) == (2, 1.5)
    assert (figures["ceiling"], figures["whole_ceiling"], figures["recall@30"]) == (1.0, 1.0, 1.0)
    assert figures["by_category"]["1"]["share_of_ceiling"] == 1.0
    assert figures["build"]["calls"] == 1
    assert figures["settings"]["units"] == "observations"
