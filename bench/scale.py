"""Real utterances through the public API: add rate, memory, recall before and after the vector graph, reopening.

    python bench/scale.py [--units 100000] [--data DIR] [--json]

DIR, or ``RIPPLE_DATA``, holds ``scale/utterances.tsv.gz``: source, dialogue, speaker, time, text. One
namespace, batches of 1,000 messages, the static embedder. Questions are utterances of the set that end in "?",
drawn with a fixed seed; times of recall are wall-clock, so nothing else may run.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ripple import Memory
from ripple.config import data_directory

BATCH = 1_000
QUESTIONS = 300


def read_messages(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the utterances as messages, a session a dialogue."""
    csv.field_size_limit(1 << 24)
    with gzip.open(folder / "scale" / "utterances.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            source, dialogue, speaker, _, text = row  # some have a time of day; without a day it grounds nothing
            message = {"content": text, "session": f"{source}/{dialogue}"}
            if speaker:
                message["speaker"] = speaker
            yield message


def resident_mib() -> float:
    """Return the resident memory of the process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def recall_ms(memory: Memory, questions: list[str]) -> dict[str, float]:
    """Return the median and the 99th percentile of a recall, wall-clock and CPU of the calling thread."""
    wall, cpu = [], []
    for question in questions:
        started, worked = time.perf_counter(), time.thread_time()
        memory.recall(question)
        cpu.append(time.thread_time() - worked)
        wall.append(time.perf_counter() - started)
    return {
        "p50": float(np.percentile(wall, 50) * 1e3),
        "p99": float(np.percentile(wall, 99) * 1e3),
        "cpu_p50": float(np.percentile(cpu, 50) * 1e3),
        "cpu_p99": float(np.percentile(cpu, 99) * 1e3),
    }


def wait_for_graph(memory: Memory) -> float:
    """Return the seconds until the vector graph is built."""
    engine = memory.opened.existing("default").engine
    started = time.perf_counter()
    while not engine.has_vector_graph and threading.active_count() > 1:  # the builder is the only other thread
        time.sleep(0.05)
    return time.perf_counter() - started


def measure(folder: Path, units: int) -> dict[str, Any]:
    """Return the figures of one run."""
    messages = list(islice(read_messages(folder), units))
    asked = [m["content"] for m in messages if m["content"].endswith("?") and len(m["content"]) > 20]
    questions = random.Random(7).sample(asked, QUESTIONS)
    result: dict[str, Any] = {"utterances": len(messages)}
    with tempfile.TemporaryDirectory() as store:
        before = resident_mib()
        with Memory.open(Path(store) / "scale") as memory:
            started, worked = time.perf_counter(), time.process_time()
            for at in range(0, len(messages), BATCH):
                memory.add(messages[at : at + BATCH])
            seconds = time.perf_counter() - started
            stats = memory.stats()
            result |= {
                "units": stats.units,
                "edges": dict(stats.edges),
                "add_seconds": seconds,
                "add_cpu_seconds": time.process_time() - worked,
                "units_a_second": stats.units / seconds,
                "resident_bytes_a_unit": (resident_mib() - before) * 2**20 / stats.units,
                "file_bytes_a_unit": stats.file_bytes / stats.units,
            }
            result["recall_exact_ms"] = recall_ms(memory, questions[:50])
            result["graph_seconds"] = wait_for_graph(memory)
            result["recall_ms"] = recall_ms(memory, questions)
            memory.flush()
        started = time.perf_counter()
        with Memory.open(Path(store) / "scale") as memory:
            memory.recall(questions[0])
            result["open_to_first_recall_seconds"] = time.perf_counter() - started
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--json", action="store_true", help="JSON alone on stdout")
    options = parser.parse_args()
    folder = options.data or data_directory()
    if folder is None:
        sys.exit("give --data, or name the folder of data in RIPPLE_DATA")
    result = measure(folder, options.units)
    print(json.dumps(result, indent=None if options.json else 2))


if __name__ == "__main__":
    main()
