"""Readers beside a writer: no error, no torn result, and what was acknowledged stays findable."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ripple import Memory
from ripple.types import Evidence, Filter

NOON = datetime(2026, 4, 23, 12, 0, tzinfo=UTC)
SECONDS = 1.0
READERS = 3


def check_whole(evidence: Evidence) -> None:
    assert evidence.sources, "evidence without its sources"
    if "corrected" not in evidence.text:
        assert all(source.text in evidence.text for source in evidence.sources)
    assert abs(sum(evidence.parts.values()) - evidence.score) < 1e-3
    assert evidence.found_by


def beside(write: Callable[[], None], reads: list[Callable[[], None]]) -> int:
    """Run the reads over and over while ``write`` runs; return how often; raise what any thread raised."""
    done = threading.Event()
    errors: list[BaseException] = []
    counts = [0] * len(reads)

    def read(place: int) -> None:
        try:
            while not done.is_set():
                reads[place]()
                counts[place] += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read, args=(place,)) for place in range(len(reads))]
    for thread in threads:
        thread.start()
    try:
        write()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    assert all(counts), "a reader never came to its turn"
    return sum(counts)


def test_readers_beside_a_writer_see_whole_units(memory: Memory) -> None:
    memory.add([{"speaker": "Ana", "content": "The orchard code word is quince.", "timestamp": NOON}])
    acknowledged = [1]

    def write() -> None:
        until = time.monotonic() + SECONDS
        number = 0
        while time.monotonic() < until:
            number += 1
            at = NOON + timedelta(hours=number)
            batch = [
                {"speaker": "Bo", "content": f"Orchard note {number}, line {n}.", "timestamp": at} for n in range(8)
            ]
            kept, *others = memory.add(batch).unit_ids
            acknowledged.append(kept)
            if number % 2:
                memory.delete(others[0])
            if number % 3 == 0:
                memory.update(others[1], f"Orchard note {number} was corrected.")

    def recall() -> None:
        for evidence in memory.recall("What was noted in the orchard?").evidence:
            check_whole(evidence)

    def find_acknowledged() -> None:
        latest = acknowledged[-1]
        assert memory.get(latest).sources
        found = memory.search("orchard note", filter=Filter(ids=(latest,)))
        assert [evidence.unit_id for evidence in found] == [latest]
        assert memory.search("What is the orchard code word?")[0].unit_id == 1

    def list_all() -> None:
        for unit in memory.get_all():
            assert unit.sources
        assert memory.stats().units >= 1

    beside(write, [recall, find_acknowledged, list_all])
    assert set(acknowledged) <= {unit.unit_id for unit in memory.get_all()}
    assert memory.verify(deep=True) == []


def test_two_writers_and_a_reader_of_another_namespace(memory: Memory) -> None:
    def add(namespace: str, count: int) -> None:
        for number in range(count):
            memory.add([{"content": f"Entry {number} of {namespace}.", "timestamp": NOON}], namespace=namespace)

    def write() -> None:
        writers = [threading.Thread(target=add, args=(name, 12)) for name in ("a", "a", "b")]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()

    def read() -> None:
        assert all(" of b." in evidence.text for evidence in memory.search("entry", namespace="b"))

    beside(write, [read])
    units = list(memory.get_all(namespace="a"))
    assert sorted(unit.text for unit in units) == sorted(f"Entry {n} of a." for n in range(12))
    assert all(len(unit.sources) == 2 for unit in units)
    assert [unit.unit_id for unit in memory.get_all(namespace="b")] == list(range(1, 13))


def test_same_messages_from_many_threads_are_one_set_of_units(memory: Memory) -> None:
    messages = [{"content": f"Line {n} of the window.", "id": f"m{n}", "timestamp": NOON} for n in range(20)]
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(memory.add(messages, namespace="w").repeated)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0, *[20] * 7]
    assert [len(unit.sources) for unit in memory.get_all(namespace="w")] == [1] * 20


def test_close_waits_for_the_writer(memory: Memory) -> None:
    started = threading.Event()
    added: list[int] = []

    def write() -> None:
        messages = [{"content": f"Line {n} of a long call.", "timestamp": NOON} for n in range(300)]
        started.set()
        added.append(len(memory.add(messages, namespace="w").unit_ids))

    memory.add("The namespace is there.", namespace="w")
    writer = threading.Thread(target=write)
    writer.start()
    started.wait()
    time.sleep(0.01)
    memory.close()
    writer.join()
    assert added in ([300], []), "written whole, or refused because the store was closed first"
