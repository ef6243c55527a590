"""BM25 on the evaluation sets, by the same loaders and metrics as `ripple eval`: the row to compare with.

Measured: evidence recall at k source turns of plain BM25 (Lucene's form, k1 1.2, b 0.75) over single turns,
the speaker's name part of the text, English words cut to their Porter2 stems and stop words left out, Chinese
as bigrams. Not measured: speed; this is a dictionary in Python. Needs `snowballstemmer` (the extra `test`).

`--plain` leaves words as they are, with k1 1.5 and few stop words, as the library bm25s does by default.

    python bench/baselines.py locomo FILE
    python bench/baselines.py longmemeval FILE
    python bench/baselines.py passages CORPUS QUESTIONS
    python bench/baselines.py messages MESSAGES QUESTIONS
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import snowballstemmer

from ripple.evaluation.datasets import Conversation, Dataset
from ripple.evaluation.loaders import load_locomo, load_longmemeval, load_messages, load_passages
from ripple.evaluation.metrics import evidence_recall, mean

CUTOFFS = (2, 5, 10, 30)
# What bm25s leaves out when nothing is set, and the words that questions and chats are full of besides.
_PLAIN_STOP_WORDS = """a an and are as at be but by for if in into is it no not of on or such that the their
then there these they this to was will with"""
_STOP_WORDS = f"""{_PLAIN_STOP_WORDS} about after all also am any because been can could did do does from had
has have he her hers him his how i its just me my our out she so some than them those too up us we were what
when where which who whom whose why would you your"""
# A single letter is mostly what an apostrophe left over.
_WORDS = re.compile(r"[\u3400-\u9fff]+|(?:(?![\u3400-\u9fff])\w){2,}")


@dataclass(frozen=True, slots=True)
class Flavour:
    """How texts become terms, and BM25's saturation."""

    stem: Callable[[str], str]
    stop_words: frozenset[str]
    k1: float


STEMMED = Flavour(snowballstemmer.stemmer("english").stemWord, frozenset(_STOP_WORDS.split()), 1.2)
PLAIN = Flavour(str, frozenset(_PLAIN_STOP_WORDS.split()), 1.5)


def terms(text: str, flavour: Flavour) -> list[str]:
    """Return the index terms of a text: stems of words, and for Chinese every two characters in a row."""
    found: list[str] = []
    for run in _WORDS.findall(text.lower()):
        if "\u3400" <= run[0] <= "\u9fff":
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        elif run not in flavour.stop_words:
            found.append(flavour.stem(run))
    return found


class Bm25:
    """Lucene's BM25 over documents given as term lists."""

    def __init__(self, documents: Sequence[Sequence[str]], k1: float, b: float = 0.75) -> None:
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        average = sum(map(len, documents)) / max(1, len(documents))
        for row, document in enumerate(documents):
            norm = k1 * (1 - b + b * len(document) / average) if average else k1
            for term, count in Counter(document).items():
                self._postings[term].append((row, count / (count + norm)))
        self._idf = {
            term: math.log(1 + (len(documents) - len(rows) + 0.5) / (len(rows) + 0.5))
            for term, rows in self._postings.items()
        }

    def best(self, query: Sequence[str], k: int) -> list[int]:
        """Return the ``k`` best rows, score down then row up; rows without a query term are left out."""
        scores: dict[int, float] = defaultdict(float)
        for term in dict.fromkeys(query):
            for row, weight in self._postings.get(term, ()):
                scores[row] += weight * self._idf[term]
        return sorted(scores, key=lambda row: (-scores[row], row))[:k]


def spoken(message: dict[str, str]) -> str:
    """Return a message with its speaker in front."""
    speaker = message.get("speaker") or message.get("role")
    return f"{speaker}: {message['content']}" if speaker else message["content"]


def searcher(conversation: Conversation, flavour: Flavour) -> Callable[[str], list[str]]:
    """Return a function from a question to the ids of the best turns."""
    index = Bm25([terms(spoken(message), flavour) for message in conversation.messages], flavour.k1)
    ids = [message["id"] for message in conversation.messages]
    return lambda question: [ids[row] for row in index.best(terms(question, flavour), max(CUTOFFS))]


def measure(dataset: Dataset, flavour: Flavour) -> dict[str, object]:
    """Return recall at each cutoff, the share of whole sets at 30, and recall at 30 for each category."""
    searchers = {conversation.name: searcher(conversation, flavour) for conversation in dataset.conversations}
    scores: dict[str, list[float]] = defaultdict(list)
    for question in dataset.questions:
        if not question.gold or not question.answerable:
            continue
        turns = searchers[question.conversation](question.text)
        for k in CUTOFFS:
            scores[f"recall@{k}"].append(evidence_recall(turns, question.gold, k))
        scores["whole@30"].append(float(scores["recall@30"][-1] == 1.0))
        scores[f"recall@30 of {question.category}"].append(scores["recall@30"][-1])
    return {"set": dataset.name, "questions": len(scores["whole@30"])} | {
        key: round(mean(values) or 0.0, 4) for key, values in scores.items()
    }


def main() -> None:
    """Print the figures of one set as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    loaders: dict[str, Callable[..., Dataset]] = {
        "locomo": load_locomo,
        "longmemeval": load_longmemeval,
        "passages": load_passages,
        "messages": load_messages,
    }
    parser.add_argument("kind", choices=sorted(loaders))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--plain", action="store_true", help="words as they are, k1 1.5, few stop words")
    arguments = parser.parse_args()
    dataset = loaders[arguments.kind](*arguments.files)
    print(json.dumps(measure(dataset, PLAIN if arguments.plain else STEMMED), indent=2))


if __name__ == "__main__":
    main()
