"""CueIndex: postings, the bounded walk for candidates, and the cue view of first recall."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from reference.cue_index import LOCATION, NO_TIME, PARTICIPANT, Cues, ShadowCues
from ripple import _core

DAY = 86_400
ROWS = 24
ALL = _core.RowMask(np.arange(5_000, dtype=np.uint32))


def arrays_of(cues):
    return (
        np.array(cues.participants, np.uint32),
        np.array(cues.locations, np.uint32),
        np.array(cues.time, np.int64),
    )


def add(index, row, cues):
    index.add(row, *arrays_of(cues), cues.said_at)


def candidates(index, cues, allowed=ALL, self_row=2**32 - 1, **options):
    return index.candidates(*arrays_of(cues), cues.said_at, allowed, self_row, **options).tolist()


def search(index, cues, k, allowed=ALL):
    return index.search(*arrays_of(cues), k, allowed)[0].tolist()


def assert_finds(index, query, k, wanted, allowed=ALL):
    """The same rows in the same order, the same scores but for the last bit of a float32."""
    rows, scores = index.search(*arrays_of(query), k, allowed)
    assert rows.tolist() == [row for row, _ in wanted]
    assert scores.tolist() == pytest.approx([score for _, score in wanted], rel=1e-6)


def ids(most):
    return st.frozensets(st.integers(0, most), max_size=3).map(lambda chosen: tuple(sorted(chosen)))


MOMENTS = st.integers(-20, 20).map(lambda day: day * DAY)
TIMES = st.one_of(
    st.just((NO_TIME, NO_TIME)),
    MOMENTS.map(lambda moment: (moment, moment)),
    st.tuples(MOMENTS, MOMENTS).map(lambda pair: (min(pair), max(pair))),
    MOMENTS.map(lambda moment: (moment, moment + 200 * 366 * DAY)),  # too long to count
)
CUES = st.builds(Cues, ids(5), ids(2), TIMES, st.one_of(st.just(NO_TIME), MOMENTS))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, ROWS - 1), st.one_of(st.none(), CUES)), max_size=50),
    CUES,
    st.integers(0, ROWS),
    st.frozensets(st.integers(0, ROWS - 1), min_size=ROWS // 2),
)
def test_operations_agree_with_the_shadow(operations, query, most, allowed):
    index, shadow = _core.CueIndex(), ShadowCues()
    for row, cues in operations:
        if cues is None:
            index.remove(row)
            shadow.units.pop(row, None)
        elif row not in shadow.units:
            add(index, row, cues)
            shadow.units[row] = cues
    assert len(index) == len(shadow.units)
    for row in range(ROWS):
        held = shadow.units.get(row, Cues())
        assert (row in index) == (row in shadow.units)
        assert [tuple(part.tolist()) for part in index.cues(row)] == [
            held.participants,
            held.locations,
            held.time,
        ]
        assert index.said_at(row) == held.said_at
    for kind, most_id in ((PARTICIPANT, 5), (LOCATION, 2)):
        for cue in range(most_id + 1):
            rows = shadow.rows((kind, cue))
            assert index.count(kind, cue) == len(rows)
            assert list(BitMap.deserialize(index.postings(kind, cue))) == rows
    mask = _core.RowMask(np.array(sorted(allowed), np.uint32))
    assert_finds(index, query, most, shadow.search(query, most, allowed), mask)
    found = candidates(index, query, mask, 3, candidates=most, steps_max=10_000)
    assert found == shadow.candidates(query, 3, allowed, most)


def conversation(rows, seed):
    """Two speakers in every unit, some friends, few places; half of the units have a time."""
    random = np.random.default_rng(seed)
    units = {}
    for row in range(rows):
        said_at = int(row * 3_600 + random.integers(0, 600))
        friends = {2 + int(random.zipf(1.5)) for _ in range(random.integers(0, 2))}
        places = {int(random.zipf(1.7))} if random.random() < 0.3 else set()
        start = (said_at // DAY + int(random.integers(-9, 10))) * DAY
        length = [0, DAY - 1, 30 * DAY, 365 * DAY][random.choice(4, p=[0.5, 0.4, 0.08, 0.02])]
        time = (start, start + length) if random.random() < 0.5 else (NO_TIME, NO_TIME)
        speakers = {0, 1} if random.random() < 0.9 else {int(random.integers(0, 2))}
        units[row] = Cues(tuple(sorted(friends | speakers)), tuple(places), time, said_at)
    return units


@pytest.mark.parametrize("k", [1, 10, 50])
def test_search_is_exact_although_it_stops_early(k):
    units = conversation(1_500, seed=5)
    index, shadow = _core.CueIndex(), ShadowCues(units)
    for row, cues in units.items():
        add(index, row, cues)
    noon = 30 * DAY + DAY // 2
    for query in [
        Cues(participants=(0,)),
        Cues(participants=(0, 1)),
        Cues(participants=(0, 1), time=(noon, noon)),
        Cues(participants=(0,), time=(-900 * DAY, -899 * DAY)),
        Cues(participants=(1, 3, 4), locations=(1, 2), time=(20 * DAY, 21 * DAY - 1)),
        Cues(participants=(3,), time=(0, 365 * DAY)),
        Cues(time=(noon, noon + DAY)),
        Cues(locations=(1,)),
    ]:
        assert_finds(index, query, k, shadow.search(query, k, units))


def test_candidates_are_exact_while_the_steps_last():
    units = conversation(400, seed=6)
    index, shadow = _core.CueIndex(), ShadowCues(units)
    for row, cues in units.items():
        add(index, row, cues)
    for row in range(0, 400, 23):
        found = candidates(index, units[row], self_row=row, steps_max=100_000)
        assert found == shadow.candidates(units[row], row, units, 20)
        few = candidates(index, units[row], self_row=row, steps_max=64)
        assert len(set(few)) == len(few) <= 20
        assert set(few) <= set(shadow.candidates(units[row], row, units, 400))
        assert len(few) == 20  # enough to fill the list in this conversation


def test_the_rarest_cue_goes_first_then_the_nearest_in_time():
    index = _core.CueIndex()
    for row in range(10):
        add(index, row, Cues(participants=(1,), said_at=row * DAY))
    add(index, 10, Cues(participants=(1, 2), said_at=400 * DAY))
    add(index, 11, Cues(locations=(1,), said_at=NO_TIME))
    add(index, 12, Cues(time=(5 * DAY, 6 * DAY), said_at=0))
    add(index, 13, Cues(participants=(9,), time=(50 * DAY, 50 * DAY)))
    unit = Cues(participants=(1, 2), locations=(1,), time=(7 * DAY, 7 * DAY), said_at=4 * DAY)
    # participant 2 and location 1 have one row each, and participants go first; the rest of 1 by said_at,
    # of two equally near the later; then those that have but a time
    assert candidates(index, unit) == [10, 11, 4, 5, 3, 6, 2, 7, 1, 8, 0, 9, 12, 13]
    assert candidates(index, unit, candidates=3) == [10, 11, 4]
    assert candidates(index, unit, self_row=10, candidates=3) == [11, 4, 5]
    # two steps are spent on the rare cues, three on the hub
    assert candidates(index, unit, steps_max=5) == [10, 11, 4, 5, 3]
    assert candidates(index, unit, steps_max=0) == []


def test_where_both_have_a_time_it_counts_and_else_when_it_was_said():
    index = _core.CueIndex()
    add(index, 0, Cues((1,), time=(100 * DAY, 100 * DAY), said_at=0))
    add(index, 1, Cues((1,), said_at=3 * DAY))
    add(index, 2, Cues((1,), time=(0, 0), said_at=98 * DAY))
    assert candidates(index, Cues((1,), time=(101 * DAY, 101 * DAY), said_at=0)) == [0, 1, 2]
    assert candidates(index, Cues((1,), said_at=97 * DAY)) == [2, 1, 0]
    # nothing is known of when it was said: the latest first
    assert candidates(index, Cues((1,))) == [2, 1, 0]


def test_the_score_of_the_cue_view_by_hand():
    index = _core.CueIndex()
    add(index, 0, Cues((1,), (5,), time=(0, DAY), said_at=10))
    add(index, 1, Cues((1,), (), time=(8 * DAY, 8 * DAY), said_at=20))
    add(index, 2, Cues((2,), (5,), said_at=30))
    add(index, 3, Cues((3,), (), said_at=40))
    query = Cues((1,), (5,), time=(DAY, DAY))
    # N = 4; participant 1 in two units, location 5 in two: ln(1 + 4/2) each. Unit 0 has both and meets
    # the time; unit 1 is seven days away: 1/e; unit 2 has the place alone; unit 3 shares nothing.
    rarity = np.log(3.0)
    assert_finds(index, query, 10, [(0, 2 * rarity + 1), (1, rarity + np.exp(-1.0)), (2, rarity)])
    assert_finds(index, Cues((3, 7)), 10, [(3, np.log(5.0))])
    assert search(index, Cues(), 10) == []
    assert search(index, query, 0) == []


def test_ties_of_the_cue_view_go_to_what_was_said_later():
    index = _core.CueIndex()
    for row, said_at in [(0, 50), (1, 90), (2, NO_TIME), (3, 90), (4, NO_TIME)]:
        add(index, row, Cues((1,), said_at=said_at))
    assert search(index, Cues((1,)), 9) == [3, 1, 0, 4, 2]
    assert search(index, Cues((1,)), 2) == [3, 1]


@pytest.mark.parametrize(
    "cues",
    [
        Cues(participants=(2, 1)),
        Cues(locations=(3, 3)),
        Cues(time=(5, 4)),
        Cues(time=(NO_TIME, 4)),
        Cues(time=(4, NO_TIME)),
    ],
)
def test_bad_cues_are_refused_before_any_change(cues):
    index = _core.CueIndex()
    with pytest.raises(ValueError, match="must"):
        add(index, 0, cues)
    with pytest.raises(ValueError, match="must"):
        candidates(index, cues)
    with pytest.raises(ValueError, match="must"):
        search(index, cues, 1)
    assert len(index) == 0
    assert index.count(PARTICIPANT, 1) == index.count(PARTICIPANT, 2) == index.count(LOCATION, 3) == 0


def test_a_row_is_added_once_and_other_mistakes_are_named():
    index = _core.CueIndex()
    add(index, 0, Cues((1,)))
    with pytest.raises(ValueError, match="row 0 cannot be added: it has cues already"):
        add(index, 0, Cues((2,)))
    with pytest.raises(ValueError, match="is no row"):
        add(index, 2**32 - 1, Cues((2,)))
    with pytest.raises(ValueError, match="cue kind is 2"):
        index.count(2, 0)
    with pytest.raises(ValueError, match="time has 3 entries"):
        index.add(1, np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(3, np.int64), 0)
    with pytest.raises(ValueError, match="time_decay_seconds is 0"):
        _core.CueIndex(time_decay_seconds=0)
    assert index.count(PARTICIPANT, 2) == 0
