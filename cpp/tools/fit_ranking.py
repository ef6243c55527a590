"""Fit the weights of first recall and of support on LoCoMo conversations, leaving each out in turn.

First recall: listwise softmax over the pool of each question, L2 towards 0, by L-BFGS. Support: logistic
regression that tells answerable questions (half of the weight) from those of category 5 and from those asked
of another conversation with its names exchanged (a quarter each). Features and signals are read from the
engine itself through the public API, so what is fitted is what runs. Prints figures of the left-out
conversations and the weights fitted on all: they stand in cpp/include/ripple/ranking.hpp. Never shipped.

    python cpp/tools/fit_ranking.py LOCOMO.json.gz [--minilm FOLDER] [--l2 3]
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from ripple import Memory
from ripple._engine import FEATURES, FITTED_FEATURES
from ripple.evaluation.datasets import Dataset, Question
from ripple.evaluation.loaders import load_locomo
from ripple.evaluation.metrics import auc
from ripple.models.embedders import MiniLMEmbedder

FloatArray = npt.NDArray[np.float64]

POOL = 10_000
SUPPORT_L2 = 1.0
ANSWERABLE, OF_CATEGORY_5, OF_OTHERS = 1, 0, -1


@dataclass(frozen=True)
class Asked:
    """A question with the features of its pool: float (units, features); gold marks turns by unit."""

    conversation: str
    category: str
    features: FloatArray
    unit_ids: npt.NDArray[np.int64]
    cited: list[tuple[str, ...]]
    gold: frozenset[str]


@dataclass(frozen=True)
class Judged:
    """A question's signals of support, but for the best score, and the pool that gives that score."""

    conversation: str
    kind: int
    features: FloatArray
    signals: tuple[float, ...]


def ask(memory: Memory, text: str, conversation: str) -> tuple[FloatArray, list[object], tuple[float, ...]]:
    """Return the raw features of the pool of a question, the units and the signals of support."""
    found = memory.recall(text, namespace=conversation, top_k=POOL, expansion="none", weights=[1.0] * FITTED_FEATURES)
    rows = [[unit.parts.get(name, 0.0) for name in FEATURES[:FITTED_FEATURES]] for unit in found.evidence]
    features = np.array(rows, float).reshape(len(rows), FITTED_FEATURES)
    return features, list(found.evidence), found.trace.support_signals


def ask_all(memory: Memory, dataset: Dataset) -> list[Asked]:
    """Return every answerable question with its pool."""
    asked = []
    for question in dataset.questions:
        if not question.answerable or not question.gold:
            continue
        features, units, _ = ask(memory, question.text, question.conversation)
        asked.append(
            Asked(
                conversation=question.conversation,
                category=str(question.category),
                features=features,
                unit_ids=np.array([unit.unit_id for unit in units], np.int64),
                cited=[tuple(source.message_id or "" for source in unit.sources) for unit in units],
                gold=frozenset(question.gold),
            )
        )
    return asked


def judged_questions(memory: Memory, dataset: Dataset) -> list[Judged]:
    """Return the questions of each conversation, answerable or not, and as many of the others'."""
    judged = []
    speakers = {
        conversation.name: sorted({str(message["speaker"]) for message in conversation.messages})
        for conversation in dataset.conversations
    }
    by_name = {name: [q for q in dataset.questions if q.conversation == name] for name in speakers}
    for name, own in speakers.items():
        kinds = [(q.text, ANSWERABLE if q.answerable else OF_CATEGORY_5) for q in by_name[name]]
        kinds += [(text, OF_OTHERS) for text in _exchanged(by_name, speakers, name, own)]
        for text, kind in kinds:
            features, _, signals = ask(memory, text, name)
            judged.append(Judged(name, kind, features, signals[1:]))
    return judged


def _exchanged(
    by_name: dict[str, list[Question]], speakers: dict[str, list[str]], name: str, own: Sequence[str]
) -> Iterator[str]:
    """Yield answerable questions of other conversations, a third of each, asked about this one's speakers."""
    for other, theirs in speakers.items():
        if other == name:
            continue
        for question in [q for q in by_name[other] if q.answerable][::3]:
            text = question.text
            for their, our in zip(theirs, own, strict=False):
                text = re.sub(rf"\b{re.escape(their)}\b", our, text)
            yield text


def fit(asked: list[Asked], l2: float) -> FloatArray:
    """Return the weights that give the gold units of each pool the most mass."""
    pools = []
    for question in asked:
        labels = np.array([bool(question.gold & set(cited)) for cited in question.cited], bool)
        if labels.any():
            pools.append((question.features, labels))

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        value, slope = 0.5 * l2 * float(weights @ weights), l2 * weights
        for features, labels in pools:
            scores = features @ weights
            scores -= scores.max()
            mass = np.exp(scores)
            mass /= mass.sum()
            value -= float(np.log(mass[labels] + 1e-300).mean())
            slope = slope - features[labels].mean(axis=0) + mass @ features
        return value, slope

    start = np.zeros(asked[0].features.shape[1])
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def signals_of(judged: list[Judged], weights: FloatArray) -> FloatArray:
    """Return (questions, signals + 1): the best score under the weights, the other signals, and a 1."""
    return np.array([[float((q.features @ weights).max(initial=0.0)), *q.signals, 1.0] for q in judged])


def fit_support(judged: list[Judged], weights: FloatArray) -> FloatArray:
    """Return the weights of the signals and the bias."""
    signals = signals_of(judged, weights)
    kinds = np.array([q.kind for q in judged])
    share = {ANSWERABLE: 0.5, OF_CATEGORY_5: 0.25, OF_OTHERS: 0.25}
    mass = np.array([share[int(kind)] / float((kinds == kind).mean()) for kind in kinds])
    wanted = (kinds == ANSWERABLE).astype(float)

    def loss(support: FloatArray) -> tuple[float, FloatArray]:
        logits = signals @ support
        free = np.append(support[:-1], 0.0)  # the bias is not drawn to 0
        value = float((mass * (np.logaddexp(0.0, logits) - wanted * logits)).sum() + SUPPORT_L2 * free @ free / 2)
        slope = signals.T @ (mass * (1.0 / (1.0 + np.exp(-logits)) - wanted)) + SUPPORT_L2 * free
        return value, slope

    return np.asarray(minimize(loss, np.zeros(signals.shape[1]), jac=True, method="L-BFGS-B").x)


def measure(asked: list[Asked], weights: FloatArray) -> dict[str, float]:
    """Return evidence recall over the first k source turns."""
    rows = []
    for question in asked:
        order = np.lexsort((question.unit_ids, -(question.features @ weights)))
        turns = list(dict.fromkeys(turn for unit in order[:60] for turn in question.cited[unit]))
        found10, found30 = (len(question.gold & set(turns[:k])) / len(question.gold) for k in (10, 30))
        rows.append((found10, found30, found30 == 1.0, question.category == "1"))
    table = np.array(rows, float)
    multi = table[:, 3] == 1
    return {
        "@10": table[:, 0].mean(),
        "@30": table[:, 1].mean(),
        "whole@30": table[:, 2].mean(),
        "multi-hop@30": table[multi, 1].mean(),
    }


def show(name: str, figures: dict[str, float]) -> None:
    """Print a row."""
    print(f"{name:24}" + "  ".join(f"{key} {value:.3f}" for key, value in figures.items()))


def leave_one_out(asked: list[Asked], l2: float) -> dict[str, float]:
    """Return figures over all questions, each ranked by weights fitted on the other conversations."""
    figures, counts = [], []
    for left_out in sorted({question.conversation for question in asked}):
        weights = fit([question for question in asked if question.conversation != left_out], l2)
        own = [question for question in asked if question.conversation == left_out]
        figures.append(measure(own, weights))
        counts.append((len(own), sum(question.category == "1" for question in own)))
    sizes = np.array(counts, float)
    return {
        key: float(np.average([row[key] for row in figures], weights=sizes[:, 1 if key.startswith("multi") else 0]))
        for key in figures[0]
    }


def leave_one_out_support(asked: list[Asked], judged: list[Judged], l2: float) -> dict[str, float]:
    """Return areas under the ROC curve and the share of each kind that falls below 0.3."""
    logits = np.zeros(len(judged))
    for left_out in sorted({question.conversation for question in judged}):
        weights = fit([question for question in asked if question.conversation != left_out], l2)
        support = fit_support([question for question in judged if question.conversation != left_out], weights)
        own = [place for place, question in enumerate(judged) if question.conversation == left_out]
        logits[own] = signals_of([judged[place] for place in own], weights) @ support
    kinds = np.array([question.kind for question in judged])
    values = 1.0 / (1.0 + np.exp(-logits))
    good = values[kinds == ANSWERABLE].tolist()
    return {
        "category 5": auc(good, values[kinds == OF_CATEGORY_5].tolist()) or 0.0,
        "others": auc(good, values[kinds == OF_OTHERS].tolist()) or 0.0,
        **{f"below .3, kind {kind}": float((values[kinds == kind] < 0.3).mean()) for kind in (1, 0, -1)},
    }


def show_ablations(asked: list[Asked], l2: float) -> None:
    """Print what each feature is worth, the others fitted again."""
    for dropped, name in enumerate(FEATURES[:FITTED_FEATURES]):
        kept = [
            Asked(q.conversation, q.category, np.delete(q.features, dropped, 1), q.unit_ids, q.cited, q.gold)
            for q in asked
        ]
        show(f"  without {name}", leave_one_out(kept, l2))


def main() -> None:
    """Fit, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--minilm", type=Path, help="folder of the MiniLM model; the static model without it")
    parser.add_argument("--l2", type=float, default=3.0)
    options = parser.parse_args()
    dataset = load_locomo(options.file)
    with Memory.open(":memory:", embedder=MiniLMEmbedder(options.minilm) if options.minilm else None) as memory:
        for conversation in dataset.conversations:
            memory.add(list(conversation.messages), namespace=conversation.name)
        asked, judged = ask_all(memory, dataset), judged_questions(memory, dataset)
    show("leave one out", leave_one_out(asked, options.l2))
    show_ablations(asked, options.l2)
    show("support, leave one out", leave_one_out_support(asked, judged, options.l2))
    weights = fit(asked, options.l2)
    show("fitted on all", measure(asked, weights))
    print("weights " + ", ".join(f"{name} {value:.3f}" for name, value in zip(FEATURES, weights, strict=False)))
    print("support " + ", ".join(f"{value:.3f}" for value in fit_support(judged, weights)))


if __name__ == "__main__":
    main()
