"""The ways of finding evidence: what each asks of the memory, and that all run on a real one."""

from types import SimpleNamespace

import pytest

from ripple._engine import FITTED_FEATURES
from ripple.errors import InvalidInputError
from ripple.evaluation.access import ACCESSES, FAMILIAR, AccessedMemory
from ripple.evaluation.datasets import Conversation, Dataset, Question
from ripple.evaluation.runner import EvalOptions, run

SAID = ("My kite is red.", "The boat leaks.", "Lunch was good.", "We painted the kite in May.")
MESSAGES = tuple({"content": text, "id": f"m{number}", "speaker": "Ada"} for number, text in enumerate(SAID))
DATASET = Dataset(
    "kites", "locomo", (Conversation("a", MESSAGES),), (Question("q", "a", "Which colour has the kite?", "1", ("m0",)),)
)


class Recording:
    """A memory that notes what it is asked and finds one piece of a given cosine."""

    add = get_all = stats = delete_namespace = None

    def __init__(self, cosine):
        self.calls = []
        self.cosine = cosine

    def recall(self, query, **options):
        self.calls.append(options)
        return SimpleNamespace(evidence=(SimpleNamespace(parts={"dense": 3 * self.cosine}),), support=0.0)


@pytest.mark.parametrize("access", ACCESSES)
def test_every_way_finds_evidence_in_a_memory(open_store, access):
    figures = run(DATASET, EvalOptions(top_k=3), AccessedMemory(open_store(), access)).figures
    assert figures["recall@30"] == 1.0


def test_ways_differ_in_expansion_and_ranking_alone():
    asked = {}
    for access in ("dense", "hybrid", "undirected", "ripple"):
        memory = Recording(1.0)
        AccessedMemory(memory, access).recall("which?", namespace="n", top_k=7, ranking="paper", expansion="none")
        (asked[access],) = memory.calls
        assert (asked[access]["namespace"], asked[access]["top_k"], asked[access]["planner"]) == ("n", 7, "rules")
    assert [asked[access]["expansion"] for access in asked] == ["none", "none", "undirected", "targeted"]
    assert [len(asked[access].get("weights", ())) for access in asked] == [FITTED_FEATURES, FITTED_FEATURES, 0, 0]
    assert asked["dense"]["without"] == {"lexical", "cues"}


@pytest.mark.parametrize(("cosine", "calls"), [(FAMILIAR + 0.01, ["none"]), (FAMILIAR - 0.01, ["none", "undirected"])])
def test_what_is_familiar_is_not_expanded(cosine, calls):
    memory = Recording(cosine)
    accessed = AccessedMemory(memory, "familiarity")
    accessed.recall("which?", namespace="n")
    assert [call["expansion"] for call in memory.calls] == calls
    assert accessed.taken.total() == 1


def test_the_columns_are_those_of_the_cosine_and_of_bm25(open_store):
    memory = open_store()
    memory.add(list(MESSAGES))
    hybrid = AccessedMemory(memory, "hybrid").recall("Which colour has the kite?")
    dense = AccessedMemory(memory, "dense").recall("Which colour has the kite?")
    assert {name for piece in hybrid.evidence for name, part in piece.parts.items() if part} == {"dense", "window"}
    assert {name for piece in dense.evidence for name, part in piece.parts.items() if part} == {"dense"}


def test_an_unknown_way_is_refused():
    with pytest.raises(InvalidInputError, match="tram"):
        AccessedMemory(Recording(1.0), "tram")
