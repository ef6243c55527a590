"""A memory of a few lines for the runners: words in common decide, expansion follows what was found."""

import re
from dataclasses import dataclass, field

from ripple.types import AddResult, Evidence, MemoryUnit, Source


@dataclass(frozen=True)
class FakeRecall:
    evidence: tuple
    support: float

    def context(self, max_tokens=1500):
        return "\n".join(piece.text for piece in self.evidence)[: 4 * max_tokens]


@dataclass(frozen=True)
class FakeStats:
    edges: dict


@dataclass
class FakeMemory:
    """Keeps what it was asked with; targeted expansion adds units that share a word with the best two."""

    namespaces: dict = field(default_factory=dict)
    calls: list = field(default_factory=list)
    deleted: list = field(default_factory=list)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def add(self, messages, *, namespace="default"):
        units = self.namespaces.setdefault(namespace, [])
        for message in messages:
            number = len(units) + 1
            source = Source(number, message["content"], message_id=message["id"])
            units.append(
                MemoryUnit(
                    unit_id=number,
                    text=message["content"],
                    content=message["content"],
                    speaker=message.get("speaker"),
                    participants=(),
                    locations=(),
                    time=None,
                    said_at=None,
                    session="",
                    sources=(source,),
                )
            )
        return AddResult()

    def get_all(self, *, namespace="default"):
        return iter(self.namespaces[namespace])

    def stats(self, *, namespace):
        return FakeStats({"sequence": len(self.namespaces[namespace]) - 1})

    def delete_namespace(self, namespace):
        self.deleted.append(namespace)
        del self.namespaces[namespace]

    def search(self, query, *, namespace="default", top_k=20):
        return list(self.recall(query, namespace=namespace, top_k=top_k, expansion="none").evidence)

    def recall(self, query, *, namespace, top_k, first=None, **options):
        self.calls.append({"query": query, "namespace": namespace, "top_k": top_k, "first": first, **options})
        units = self.namespaces[namespace]
        ranked = _by_words(query, units)
        chosen = ranked[: first or top_k]
        if options.get("expansion") == "targeted":
            seen = {unit.unit_id for unit in chosen}
            clue = " ".join(unit.text for unit in chosen[:2])
            chosen += [unit for unit in _by_words(clue, units) if unit.unit_id not in seen]
        evidence = tuple(
            Evidence("unit", unit.unit_id, unit.text, 1.0, {}, ("lexical",), unit.sources) for unit in chosen[:top_k]
        )
        return FakeRecall(evidence, support=min(1.0, len(ranked) / 4))


def _by_words(query, units):
    wanted = set(re.findall(r"\w{4,}", query.lower()))
    scores = {unit.unit_id: len(wanted & set(re.findall(r"\w{4,}", unit.text.lower()))) for unit in units}
    found = [unit for unit in units if scores[unit.unit_id] > 0]
    return sorted(found, key=lambda unit: (-scores[unit.unit_id], unit.unit_id))
