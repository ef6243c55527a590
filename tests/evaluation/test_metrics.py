import pytest

from ripple.errors import InvalidInputError
from ripple.evaluation.metrics import auc, cited_turns, evidence_recall, mean, paired_bootstrap, percentile
from ripple.types import Evidence, Source


def piece(unit_id: int, *message_ids: str | None) -> Evidence:
    sources = tuple(Source(turn_id=n, text="", message_id=name) for n, name in enumerate(message_ids))
    return Evidence(kind="unit", unit_id=unit_id, text="", score=0.0, parts={}, found_by=(), sources=sources)


def test_turns_are_listed_in_rank_order_and_counted_once():
    ranked = [piece(1, "c", "a"), piece(2, "a"), piece(3, None, "b")]
    assert cited_turns(ranked) == ("c", "a", "b")
    assert cited_turns(ranked, limit=2) == ("c", "a")
    assert cited_turns([]) == ()


def test_recall_counts_only_the_first_k_turns():
    turns = ["a", "x", "b", "y", "c"]
    assert evidence_recall(turns, ("a", "b", "c", "d"), 3) == 0.5
    assert evidence_recall(turns, ("a", "b", "c", "d"), 5) == 0.75
    assert evidence_recall(turns, ("a", "a"), 1) == 1.0
    with pytest.raises(InvalidInputError, match="gold"):
        evidence_recall(turns, (), 3)


def test_a_unit_of_many_turns_spends_the_budget_of_many_turns():
    ranked = [piece(1, "a", "b", "c"), piece(2, "gold")]
    assert evidence_recall(cited_turns(ranked), ["gold"], 3) == 0.0
    assert evidence_recall(cited_turns(ranked), ["gold"], 4) == 1.0


def test_auc_counts_ties_half():
    # pairs: .9 beats .5 and .2; .5 ties .5 and beats .2; .1 loses to both -> (2 + 1.5 + 0) / 6
    assert auc([0.9, 0.5, 0.1], [0.5, 0.2]) == pytest.approx(3.5 / 6)
    assert auc([1.0], [0.0]) == 1.0
    assert auc([], [0.0]) is None
    assert auc([1.0], []) is None


def test_percentile_is_linear_between_neighbours():
    assert percentile([4.0, 1.0, 3.0, 2.0], 50) == 2.5
    assert percentile([10.0, 20.0], 99) == pytest.approx(19.9)
    assert percentile([], 50) is None


def test_mean_of_nothing_is_none():
    assert mean([]) is None
    assert mean([1.0, 2.0]) == 1.5


def test_bootstrap_of_a_constant_difference_has_no_width():
    first = {f"q{n}": n / 10 for n in range(10)}
    second = {key: score + 0.25 for key, score in first.items()}
    result = paired_bootstrap(first, second, samples=200)
    assert result.questions == 10
    assert (result.difference, result.low, result.high) == pytest.approx((0.25, 0.25, 0.25))


def test_bootstrap_interval_is_that_of_the_binomial():
    # 400 questions, half of them one point better: the mean is .5 with standard error .025.
    first = dict.fromkeys((f"q{n}" for n in range(400)), 0.0)
    second = {key: float(n % 2) for n, key in enumerate(first)}
    result = paired_bootstrap(first, second, seed=3)
    assert result.difference == 0.5
    assert result.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)  # resampling noise of 10,000 samples
    assert result.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)
    assert paired_bootstrap(first, second, seed=3) == result
    assert paired_bootstrap(second, first, seed=3).difference == -0.5


def test_bootstrap_refuses_runs_over_other_questions():
    with pytest.raises(InvalidInputError, match="1 only in the first"):
        paired_bootstrap({"a": 1.0, "b": 1.0}, {"a": 1.0})
    with pytest.raises(InvalidInputError):
        paired_bootstrap({}, {})
