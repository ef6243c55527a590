import json
from datetime import UTC, datetime

import pytest
from fake_memory import FakeMemory

from ripple.errors import InvalidInputError
from ripple.evaluation.datasets import Conversation, Dataset, Question
from ripple.evaluation.metrics import paired_bootstrap
from ripple.evaluation.runner import EvalOptions, read_scores, run, save_scores, scores_of


def said(message_id, content):
    return {"id": message_id, "content": content}


ASKED = datetime(2024, 1, 2, tzinfo=UTC)
# What the fake finds, by words of four letters and more: q1 a1; q2 a2 and a3, not b1; q3 nothing; q4 b1.
DATASET = Dataset(
    "tiny",
    "locomo",
    (
        Conversation("a", (said("a1", "kite flying"), said("a2", "boat trip"), said("a3", "boat race"))),
        Conversation("b", (said("b1", "tram ride"), said("b2", "lunch"))),
        Conversation("c", (said("c1", "never asked"),)),
    ),
    (
        Question("q1", "a", "which kite", "1", ("a1",), asked_at=ASKED),
        Question("q2", "a", "every boat", "1", ("a1", "a2", "a3", "zz")),
        Question("q3", "b", "what else", "2", ("b2",)),
        Question("q4", "b", "tram", "4", ()),
        Question("q5", "b", "zeppelin", "5", ("b1",), answerable=False),
    ),
    {"mended_evidence": 1},
)


def test_figures_are_those_worked_out_by_hand():
    figures = run(DATASET, EvalOptions(), FakeMemory()).figures
    assert figures["questions"] == 3
    assert figures["left_out"] == {"unanswerable": 1, "no_usable_evidence": 1}
    assert figures["repairs"] == {"mended_evidence": 1}
    assert (figures["conversations"], figures["turns"], figures["units"]) == (2, 5, 5)
    assert figures["turns_per_unit"] == 1.0
    assert figures["edges"] == {"sequence": 3}
    assert figures["recall@30"] == figures["recall@10"] == pytest.approx((1 + 2 / 4 + 0) / 3)
    assert figures["whole@30"] == pytest.approx(1 / 3)
    assert figures["by_category"] == {
        "1": {"recall@10": 0.75, "recall@30": 0.75, "whole@30": 0.5, "n": 2}
        | {"ceiling": 0.875, "share_of_ceiling": pytest.approx(0.75 / 0.875)},
        "2": {"recall@10": 0.0, "recall@30": 0.0, "whole@30": 0.0, "n": 1} | {"ceiling": 1.0, "share_of_ceiling": 0.0},
    }
    # Support: q1 .25, q2 .5, q3 0, q4 .25 against q5 0 -> one tie of four.
    assert figures["support_auc"] == pytest.approx(3.5 / 4)
    assert figures["ceiling"] == pytest.approx((1 + 3 / 4 + 1) / 3)
    assert figures["share_of_ceiling"] == pytest.approx(1.5 / 2.75)
    assert figures["whole_ceiling"] == pytest.approx(2 / 3)
    assert set(figures["recall_ms"]) == {"p50", "p99"}
    assert figures["settings"]["top_k"] == 30
    json.dumps(figures)


def test_conversations_are_apart_and_only_those_asked_about_are_added():
    memory = FakeMemory()
    run(DATASET, EvalOptions(), memory)
    assert [call["namespace"] for call in memory.calls] == ["conversation-0"] * 2 + ["conversation-1"] * 3
    assert memory.deleted == ["conversation-0", "conversation-1"]


def test_the_memory_gets_messages_questions_and_dates_but_never_gold():
    memory = FakeMemory()
    run(DATASET, EvalOptions(), memory)
    allowed = {
        "query",
        "namespace",
        "top_k",
        "first",
        "now",
        "planner",
        "expansion",
        "ranking",
        "without",
    }
    assert all(set(call) <= allowed for call in memory.calls)
    assert [call["query"] for call in memory.calls] == [question.text for question in DATASET.questions]
    assert [call["now"] for call in memory.calls] == [ASKED, None, None, None, None]


def test_options_reach_the_recall():
    memory = FakeMemory()
    options = EvalOptions(top_k=7, expansion="none", ranking="paper", without=frozenset({"graph"}))
    figures = run(DATASET, options, memory).figures
    call = memory.calls[0]
    assert (call["top_k"], call["expansion"], call["ranking"]) == (7, "none", "paper")
    assert call["without"] == {"graph"}
    assert figures["settings"]["without"] == ["graph"]


def test_limit_asks_the_first_questions_only():
    memory = FakeMemory()
    figures = run(DATASET, EvalOptions(limit=2), memory).figures
    assert len(memory.calls) == 2
    assert figures["conversations"] == 1
    assert figures["support_auc"] is None
    with pytest.raises(InvalidInputError, match="no question"):
        run(DATASET, EvalOptions(limit=0), memory)


def test_passages_also_report_small_cutoffs():
    dataset = Dataset("p", "passages", DATASET.conversations, DATASET.questions[1:2])
    figures = run(dataset, EvalOptions(), FakeMemory()).figures
    assert figures["recall@2"] == figures["recall@5"] == 0.5


def test_progress_is_told_after_each_conversation():
    seen = []
    run(DATASET, EvalOptions(), FakeMemory(), progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 2), (2, 2)]


def test_saved_scores_of_two_runs_are_compared_question_by_question(tmp_path):
    good = run(DATASET, EvalOptions(), FakeMemory())
    save_scores(good, tmp_path / "good.jsonl")
    poor = run(DATASET, EvalOptions(top_k=1), FakeMemory())
    save_scores(poor, tmp_path / "poor.jsonl")
    saved = [read_scores(tmp_path / name, "recall@30") for name in ("poor.jsonl", "good.jsonl")]
    assert saved == [scores_of(poor, "recall@30"), scores_of(good, "recall@30")]
    # Only q2 differs: two of four gold turns against one.
    result = paired_bootstrap(*saved)
    assert result.difference == pytest.approx(0.25 / 3)
    assert result.questions == 3
    with pytest.raises(InvalidInputError, match="recall@99"):
        read_scores(tmp_path / "good.jsonl", "recall@99")
    with pytest.raises(InvalidInputError, match="--scores"):
        read_scores(tmp_path / "none.jsonl", "recall@30")
