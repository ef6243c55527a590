"""Fit the weights of first recall on LoCoMo conversations, leaving each out in turn.

Listwise softmax over the pool of each question, L2 towards 0, by L-BFGS. Reads the features of the engine itself
through the public API, so what is fitted is what runs. Prints evidence recall of the left-out conversations and the
weights fitted on all: they stand in cpp/include/ripple/ranking.hpp. Never shipped.

    python cpp/tools/fit_ranking.py LOCOMO.json.gz [--minilm FOLDER] [--l2 3]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from ripple import Memory
from ripple._engine import FEATURES, FITTED_FEATURES
from ripple.evaluation.loaders import load_locomo
from ripple.models.embedders import MiniLMEmbedder

POOL = 10_000


@dataclass(frozen=True)
class Asked:
    """A question with the features of its pool: float (units, features); gold marks turns by unit."""

    conversation: str
    category: str
    features: npt.NDArray[np.float64]
    unit_ids: npt.NDArray[np.int64]
    cited: list[tuple[str, ...]]
    gold: frozenset[str]


def ask_all(path: Path, minilm: Path | None) -> list[Asked]:
    """Return every answerable question with its pool."""
    dataset = load_locomo(path)
    asked = []
    with Memory.open(":memory:", embedder=MiniLMEmbedder(minilm) if minilm else None) as memory:
        for conversation in dataset.conversations:
            memory.add(list(conversation.messages), namespace=conversation.name)
        ones = [1.0] * FITTED_FEATURES
        for question in dataset.questions:
            if not question.answerable or not question.gold:
                continue
            found = memory.recall(
                question.text, namespace=question.conversation, top_k=POOL, expansion="none", weights=ones
            )
            features = np.array(
                [[unit.parts.get(name, 0.0) for name in FEATURES[:FITTED_FEATURES]] for unit in found.evidence]
            )
            asked.append(
                Asked(
                    conversation=question.conversation,
                    category=str(question.category),
                    features=features.reshape(len(found.evidence), FITTED_FEATURES),
                    unit_ids=np.array([unit.unit_id for unit in found.evidence], np.int64),
                    cited=[tuple(source.message_id or "" for source in unit.sources) for unit in found.evidence],
                    gold=frozenset(question.gold),
                )
            )
    return asked


def fit(asked: list[Asked], l2: float) -> npt.NDArray[np.float64]:
    """Return the weights that give the gold units of each pool the most mass."""
    pools = []
    for question in asked:
        labels = np.array([bool(question.gold & set(cited)) for cited in question.cited], bool)
        if labels.any():
            pools.append((question.features, labels))

    def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
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


def measure(asked: list[Asked], weights: npt.NDArray[np.float64]) -> dict[str, float]:
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


def main() -> None:
    """Fit, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--minilm", type=Path, help="folder of the MiniLM model; the static model without it")
    parser.add_argument("--l2", type=float, default=3.0)
    options = parser.parse_args()
    asked = ask_all(options.file, options.minilm)
    show("leave one out", leave_one_out(asked, options.l2))
    for dropped, name in enumerate(FEATURES[:FITTED_FEATURES]):
        kept = [
            Asked(q.conversation, q.category, np.delete(q.features, dropped, 1), q.unit_ids, q.cited, q.gold)
            for q in asked
        ]
        show(f"  without {name}", leave_one_out(kept, options.l2))
    weights = fit(asked, options.l2)
    show("fitted on all", measure(asked, weights))
    print("weights " + ", ".join(f"{name} {value:.3f}" for name, value in zip(FEATURES, weights, strict=False)))


if __name__ == "__main__":
    main()
