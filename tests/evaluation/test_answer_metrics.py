"""F1 and BLEU-1 of answers against values worked out by hand."""

import math

import pytest

from ripple.evaluation.answer_metrics import answer_f1, bleu1, token_f1


@pytest.mark.parametrize(
    ("reply", "right", "f1"),
    [
        ("The Red Kite!", "red kite", 1.0),
        ("adopting dogs", "adopted a dog", 1.0),
        ("red red kite", "red kite", 0.8),
        ("1,000 boats", "1000 boat", 1.0),
        ("a blue boat", "red kite", 0.0),
        ("", "red kite", 0.0),
        ("the", "and", 0.0),
    ],
)
def test_token_f1(reply, right, f1):
    assert token_f1(reply, right) == pytest.approx(f1)


def test_multi_hop_answers_count_part_by_part():
    assert answer_f1("pottery, hiking", "hiking, pottery, chess", "1") == pytest.approx(2 / 3)
    assert answer_f1("pottery, hiking", "hiking, pottery, chess", "4") == pytest.approx(0.8)


def test_open_domain_answers_end_at_a_semicolon():
    assert answer_f1("likely no", "Likely no; she never said so", "3") == 1.0
    assert answer_f1("likely no", "Likely no; she never said so", "4") < 1.0


def test_bleu1_clips_and_punishes_brevity():
    assert bleu1("Red kite.", "red kite") == 1.0
    assert bleu1("red red red", "red kite") == pytest.approx(1 / 3)
    assert bleu1("red", "red kite of Ada") == pytest.approx(math.exp(1 - 4))
    assert bleu1("", "red") == bleu1("boat", "") == 0.0
