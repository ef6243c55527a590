"""The figures of an evaluation: evidence recall at k turns, AUC of support, percentiles, paired bootstrap."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ripple.errors import InvalidInputError
from ripple.types import Evidence

__all__ = [
    "Bootstrap",
    "auc",
    "cited_turns",
    "evidence_recall",
    "mean",
    "paired_bootstrap",
    "percentile",
]


def cited_turns(evidence: Iterable[Evidence], limit: int | None = None) -> tuple[str, ...]:
    """Return the message ids that ranked evidence cites, in order, each once.

    The turns of one piece of evidence follow in the order of its sources. ``limit`` cuts the list.
    """
    ordered: dict[str, None] = {}
    for piece in evidence:
        for source in piece.sources:
            if limit is not None and len(ordered) >= limit:
                return tuple(ordered)
            if source.message_id is not None:
                ordered.setdefault(source.message_id)
    return tuple(ordered)


def evidence_recall(turns: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of ``gold`` among the first ``k`` turns, 0..1.

    Raises
    ------
    InvalidInputError
        When ``gold`` is empty: such a question is counted apart, it has no recall.
    """
    if not gold:
        raise InvalidInputError("evidence recall needs gold turns, got none; count such questions apart")
    return len(set(turns[:k]) & set(gold)) / len(set(gold))


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, None of nothing."""
    return sum(values) / len(values) if values else None


def percentile(values: Sequence[float], q: float) -> float | None:
    """Return the ``q``-th percentile (0..100), linear between neighbours; None of nothing."""
    return float(np.percentile(np.asarray(values, dtype=np.float64), q)) if values else None


def auc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Return the chance that a positive scores above a negative, ties counted half; None if either is empty.

    Notes
    -----
    O(n log n).
    """
    if not positives or not negatives:
        return None
    low = np.sort(np.asarray(negatives, dtype=np.float64))
    high = np.asarray(positives, dtype=np.float64)
    below = np.searchsorted(low, high, side="left")
    not_above = np.searchsorted(low, high, side="right")
    return float((below + not_above).sum() / (2.0 * len(low) * len(high)))


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A paired difference (second minus first), its 95 % interval, and over how many questions."""

    difference: float
    low: float
    high: float
    questions: int


def paired_bootstrap(
    first: Mapping[str, float], second: Mapping[str, float], *, samples: int = 10_000, seed: int = 0
) -> Bootstrap:
    """Return the mean difference ``second - first`` over the questions of both, with its 95 % interval.

    Parameters
    ----------
    first : mapping of question id to score
        One run.
    second : mapping of question id to score
        The other run, over the same questions.
    samples : int
        Resamples of the questions with replacement; the interval is the 2.5th to 97.5th percentile of their
        means.
    seed : int
        Equal seeds give equal intervals.

    Raises
    ------
    InvalidInputError
        When the two do not hold the same questions.
    """
    if first.keys() != second.keys() or not first:
        raise InvalidInputError(
            f"a paired bootstrap needs the same questions in both runs, "
            f"got {len(first.keys() - second.keys())} only in the first and "
            f"{len(second.keys() - first.keys())} only in the second of {len(first)} and {len(second)}"
        )
    differences = np.array([second[key] - first[key] for key in sorted(first)], dtype=np.float64)
    generator = np.random.default_rng(seed)
    means = np.empty(samples, dtype=np.float64)
    # In blocks: 10,000 x 1,500 indices at once would take 120 MB.
    for start in range(0, samples, 500):
        stop = min(start + 500, samples)
        picks = generator.integers(0, len(differences), size=(stop - start, len(differences)))
        means[start:stop] = differences[picks].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Bootstrap(float(differences.mean()), float(low), float(high), len(differences))
