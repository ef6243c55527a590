"""The cue index beside NumPy over whole columns and pyroaring.

Measured: candidates for a new unit, the cue view of a query, intersection of two postings, and adding; one
thread. Data: a two-person conversation. Both speakers are in every unit (hubs as large as the store), a third
of the units names one of 300 friends (Zipf 1.5), a fifth one of 60 places; half have a time within ten days
of when they were said.
Not measured: rows that come out of the order of time (each moves what stands behind it).
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from pyroaring import BitMap

from reference.cue_index import Cues, ShadowCues
from ripple import _core

DAY = 86_400
NO_TIME = np.iinfo(np.int64).min
SEED = 12
SIZES = [10_000, 100_000]


class Conversation:
    """Columns of n units, and the index over them."""

    def __init__(self, rows):
        random = np.random.default_rng(SEED)
        self.rows = rows
        self.said_at = np.arange(rows, dtype=np.int64) * 1_200 + random.integers(0, 1_200, rows)
        self.friend = np.where(random.random(rows) < 1 / 3, 2 + np.minimum(random.zipf(1.5, rows), 300), 0)
        self.place = np.where(random.random(rows) < 0.2, np.minimum(random.zipf(1.5, rows), 60), 0)
        day = self.said_at // DAY + random.integers(-10, 10, rows)
        self.is_timed = random.random(rows) < 0.5
        self.start = np.where(self.is_timed, day * DAY, NO_TIME)
        self.everything = _core.RowMask(np.arange(rows, dtype=np.uint32))
        self.index = self.build()

    def cues(self, row):
        friend, place, start = int(self.friend[row]), int(self.place[row]), int(self.start[row])
        time = (NO_TIME, NO_TIME) if start == NO_TIME else (start, start + DAY - 1)
        people = (0, 1, friend) if friend else (0, 1)
        return Cues(people, (place,) if place else (), (int(time[0]), int(time[1])), int(self.said_at[row]))

    def build(self):
        index = _core.CueIndex()
        for row in range(self.rows):
            index.add(row, *arrays_of(self.cues(row)), int(self.said_at[row]))
        return index


@functools.cache
def conversation(rows):
    return Conversation(rows)


def arrays_of(cues):
    return (
        np.array(cues.participants, np.uint32),
        np.array(cues.locations, np.uint32),
        np.array(cues.time, np.int64),
    )


def note(benchmark, rows):
    benchmark.extra_info.update(n=rows, seed=SEED)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("engine", ["ripple", "numpy"])
def test_candidates_of_a_hub(benchmark, engine, rows):
    """A unit with the two speakers alone, in the middle of the store, said at a known moment."""
    talk = conversation(rows)
    benchmark.group = f"20 candidates through a hub of {rows} rows"
    unit = Cues((0, 1), (), (NO_TIME, NO_TIME), int(talk.said_at[rows // 2]) + 1)
    cues = arrays_of(unit)

    def by_numpy():
        return np.argsort(np.abs(talk.said_at - unit.said_at), kind="stable")[:20]

    def by_ripple():
        return talk.index.candidates(*cues, unit.said_at, talk.everything)

    found = benchmark({"ripple": by_ripple, "numpy": by_numpy}[engine])
    note(benchmark, rows)
    near = {row: talk.cues(row) for row in range(rows // 2 - 40, rows // 2 + 40)}
    assert sorted(found.tolist()) == sorted(ShadowCues(near).candidates(unit, None, near, 20))


QUERIES = {
    "one hub": Cues((0,)),
    "two hubs and a time": Cues((0, 1), time=(30 * DAY, 31 * DAY - 1)),
    "a hub, a friend, a place": Cues((0, 5), (4,)),
    "a friend and a time": Cues((5,), time=(30 * DAY, 31 * DAY - 1)),
}


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("engine", ["ripple", "numpy"])
def test_cue_view(benchmark, engine, name, rows):
    """The 50 best; NumPy scores every row."""
    talk, query = conversation(rows), QUERIES[name]
    benchmark.group = f"cue view, {name}, {rows} rows"
    cues = arrays_of(query)

    def by_numpy():
        scores = np.zeros(rows)
        for person in query.participants:
            has = talk.friend == person if person > 1 else np.ones(rows, bool)
            scores += np.where(has, np.log(1 + rows / max(has.sum(), 1)), 0)
        for place in query.locations:
            has = talk.place == place
            scores += np.where(has, np.log(1 + rows / max(has.sum(), 1)), 0)
        if query.has_time():
            after, before = talk.start - query.time[1], query.time[0] - (talk.start + DAY - 1)
            gaps = np.maximum(np.maximum(after, before), 0)
            scores += np.where(talk.is_timed, np.exp(-gaps / (7 * DAY)), 0)
        return np.lexsort((-np.arange(rows), -talk.said_at, -scores.astype(np.float32)))[:50]

    def by_ripple():
        return talk.index.search(*cues, 50, talk.everything)[0]

    found = benchmark({"ripple": by_ripple, "numpy": by_numpy}[engine])
    note(benchmark, rows)
    assert found.tolist() == by_numpy().tolist()


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("engine", ["ripple", "pyroaring", "numpy"])
def test_intersection_of_postings(benchmark, engine, rows):
    """Units with the commonest friend, at the commonest place."""
    talk = conversation(rows)
    benchmark.group = f"who and where, {rows} rows"
    data = talk.index.postings(0, 3), talk.index.postings(1, 1)
    ours = [_core.RoaringBitmap.deserialise(part) for part in data]
    theirs = [BitMap.deserialize(part) for part in data]
    plain = [np.flatnonzero(talk.friend == 3), np.flatnonzero(talk.place == 1)]
    found = benchmark(
        {
            "ripple": lambda: ours[0] & ours[1],
            "pyroaring": lambda: theirs[0] & theirs[1],
            "numpy": lambda: np.intersect1d(*plain, assume_unique=True),
        }[engine]
    )
    note(benchmark, rows)
    wanted = np.flatnonzero((talk.friend == 3) & (talk.place == 1)).tolist()
    assert (found.rows() if engine == "ripple" else np.array(list(found))).tolist() == wanted


def test_add(benchmark):
    """One unit after the other in the order of time, the arrays made beforehand."""
    rows = 10_000
    talk = conversation(rows)
    benchmark.group = f"add {rows} units to the cue index"
    units = [(row, *arrays_of(talk.cues(row)), int(talk.said_at[row])) for row in range(rows)]

    def add_all():
        index = _core.CueIndex()
        for unit in units:
            index.add(*unit)
        return index

    index = benchmark(add_all)
    note(benchmark, rows)
    assert index.count(0, 0) == rows
