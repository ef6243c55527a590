import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import edge_scoring as twin
from reference.edge_scoring import DAY, NO_TIME, Cues
from ripple import _core

ADA, BO, CY, PARIS, ROME = 1, 2, 3, 10, 11


def structural(
    units: Sequence[Cues], left: Sequence[int], right: Sequence[int], options: _core.EdgeOptions | None = None
) -> tuple[np.ndarray, np.ndarray]:
    def csr(sets: list[frozenset[int]]) -> tuple[np.ndarray, np.ndarray]:
        indptr = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        return indptr, np.array([i for ids in sets for i in sorted(ids)], np.uint32)

    return _core.structural_scores(
        *csr([frozenset(unit.participants) for unit in units]),
        *csr([frozenset(unit.locations) for unit in units]),
        np.array([unit.time or (NO_TIME, NO_TIME) for unit in units], np.int64).reshape(-1, 2),
        np.array(left, np.uint32),
        np.array(right, np.uint32),
        options or _core.EdgeOptions(),
    )


def compare(a: Cues, b: Cues, options: _core.EdgeOptions | None = None) -> tuple[float, bool]:
    scores, is_edge = structural([a, b], [0], [1], options)
    return float(scores[0]), bool(is_edge[0])


def at(day: float, *participants: int, place: int | None = None) -> Cues:
    second = round(day * DAY)
    return Cues(frozenset(participants), frozenset() if place is None else {place}, (second, second))


@pytest.mark.parametrize("gap_days", [0.001, 1, 30, 365 * 50])
def test_equal_participants_alone_always_make_an_edge(gap_days: float) -> None:
    score, is_edge = compare(at(0, ADA, BO), at(gap_days, ADA, BO))
    assert is_edge
    assert score >= 0.625
    assert score == pytest.approx((0.5 + 0.3 * math.exp(-gap_days / 7)) / 0.8)


def test_equal_participants_score_five_eighths_at_an_endless_gap() -> None:
    first, last = Cues({ADA}, time=(-(2**63) + 1,) * 2), Cues({ADA}, time=(2**63 - 1,) * 2)
    assert compare(first, last) == (0.625, True)


@pytest.mark.parametrize(
    ("pair", "needed_closeness", "days"),
    [
        # (0.5 / 2 + 0.3 t) / 0.8 >= 0.6
        ((((ADA, BO), None), ((ADA,), None)), (0.48 - 0.25) / 0.3, 1.86),
        # t >= 0.6
        ((((), None), ((), None)), 0.6, 3.58),
        # 0.5 + 0.3 t >= 0.6
        ((((ADA,), PARIS), ((ADA,), ROME)), 1 / 3, 7.69),
    ],
    ids=["half the participants", "time alone", "equal participants in different places"],
)
def test_a_gap_in_time_ends_the_edge_to_the_second(
    pair: tuple[tuple[tuple[int, ...], int | None], ...], needed_closeness: float, days: float
) -> None:
    last_second = math.floor(-7 * DAY * math.log(needed_closeness))
    assert last_second / DAY == pytest.approx(days, abs=0.005)
    (first, place), (second, other_place) = pair
    start = at(0, *first, place=place)
    assert compare(start, at(last_second / DAY, *second, place=other_place))[1]
    assert not compare(start, at((last_second + 1) / DAY, *second, place=other_place))[1]


def test_same_place_and_time_without_a_shared_person_is_no_edge() -> None:
    assert compare(at(0, ADA, place=PARIS), at(0, BO, place=PARIS)) == (0.5, False)


def test_same_time_in_different_places_is_exactly_the_threshold_and_an_edge() -> None:
    assert compare(at(0, place=PARIS), at(0, place=ROME)) == (0.6, True)


def test_every_mean_that_equals_the_threshold_is_an_edge() -> None:
    far = 365 * 1000  # the decay is exactly 0 in a double
    cases = [
        (Cues({1, 2, 3}), Cues({1, 2, 3, 4, 5})),  # 3 of 5
        (Cues(set(range(9))), Cues(set(range(15)))),  # 9 of 15
        (at(0, 1, 2, 3, 4, place=PARIS), at(far, 1, 2, 3, 4, 5, place=PARIS)),  # 0.5 * 4/5 + 0.2
        (at(0, 1, 2, 3, place=PARIS), at(0, 1, 4, 5, 6, 7, 8, 9, place=PARIS)),  # 0.5 / 9 + 0.5 is below
        (at(0, 1, 2, 3, 4, place=PARIS), at(0, 1, 5, place=PARIS)),  # 0.5 / 5 + 0.5
    ]
    assert [compare(a, b)[1] for a, b in cases] == [True, True, True, False, True]
    assert [compare(a, b)[0] for a, b in cases if compare(a, b)[1]] == [0.6] * 4


def test_nothing_comparable_gives_no_score() -> None:
    for a, b in [(Cues(), Cues()), (Cues({ADA}), Cues(locations={PARIS})), (at(0), Cues({ADA}))]:
        score, is_edge = compare(a, b)
        assert math.isnan(score)
        assert not is_edge


def test_intervals_that_touch_count_as_the_same_time() -> None:
    year = Cues(time=(0, 365 * DAY - 1))
    assert compare(year, at(200)) == (1.0, True)
    assert compare(year, Cues(time=(365 * DAY - 1, 400 * DAY))) == (1.0, True)
    assert compare(year, Cues(time=(365 * DAY, 400 * DAY)))[0] < 1.0


@pytest.mark.parametrize(
    "time",
    [(0, 100 * 366 * DAY + 1), (-(2**62) - 5, 2**62), (10, 9), (5, NO_TIME), (NO_TIME, 5)],
    ids=["too long", "nearly all of time", "reversed", "no end", "no start"],
)
def test_an_unusable_interval_gives_no_temporal_weight(time: tuple[int, int]) -> None:
    assert compare(Cues({ADA}, time=time), Cues({ADA}, time=(0, 10))) == (1.0, True)


def test_an_interval_of_the_longest_allowed_length_counts() -> None:
    assert compare(Cues({ADA}, time=(0, 100 * 366 * DAY)), Cues({BO}, time=(5, 5)))[0] == 0.375


def test_cues_beyond_the_longest_list_are_not_compared() -> None:
    crowd = Cues(set(range(200)))
    assert compare(crowd, Cues(set(range(64)))) == (1.0, True)
    assert compare(crowd, Cues({150, 151})) == (0.0, False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("participant_weight", math.nan),
        ("location_weight", -0.1),
        ("time_weight", 101.0),
        ("structural_threshold", 0.0),
        ("structural_threshold", math.nan),
        ("semantic_threshold", 1.5),
        ("time_decay_seconds", 0),
    ],
)
def test_options_out_of_range_are_refused(name: str, value: float) -> None:
    options = _core.EdgeOptions()
    setattr(options, name, value)
    with pytest.raises(ValueError, match=r"must (be|lie)"):
        compare(Cues({ADA}), Cues({ADA}), options)
    with pytest.raises(ValueError, match=r"must (be|lie)"):
        _core.MemoryGraph(options)


def test_all_weights_zero_are_refused() -> None:
    options = _core.EdgeOptions()
    options.participant_weight = options.location_weight = options.time_weight = 0.0
    with pytest.raises(ValueError, match="all cue weights are 0"):
        compare(Cues({ADA}), Cues({ADA}), options)


def test_malformed_cue_arrays_are_refused() -> None:
    empty = np.array([], np.uint32)
    no_ids, times = np.zeros(2, np.int64), np.full((1, 2), NO_TIME, np.int64)
    pair = np.zeros(1, np.uint32)

    def call(indptr: np.ndarray, ids: np.ndarray, left: np.ndarray = pair) -> None:
        _core.structural_scores(indptr, ids, no_ids, empty, times, left, pair)

    call(np.array([0, 2]), np.array([3, 4], np.uint32))
    with pytest.raises(ValueError, match="not sorted"):
        call(np.array([0, 2]), np.array([4, 4], np.uint32))
    with pytest.raises(ValueError, match="does not span"):
        call(np.array([0, 3]), np.array([3, 4], np.uint32))
    with pytest.raises(ValueError, match="has 1 entries; it must have 2"):
        call(np.array([0]), empty)
    with pytest.raises(IndexError, match="unit 1 of 1"):
        call(no_ids, empty, left=np.ones(1, np.uint32))
    with pytest.raises(TypeError):
        call(np.array([0, 2]), np.array([3, 4], np.int64))


ids = st.frozensets(st.integers(0, 8), max_size=5)
seconds = st.integers(-40 * DAY, 40 * DAY)
intervals = st.one_of(
    st.none(),
    seconds.map(lambda s: (s, s)),
    st.tuples(seconds, st.integers(0, 40 * DAY)).map(lambda pair: (pair[0], sum(pair))),
)
cues = st.builds(Cues, ids, ids, intervals)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(cues, min_size=1, max_size=8))
def test_scores_agree_with_exact_fractions(units: list[Cues]) -> None:
    pairs = [(i, j) for i in range(len(units)) for j in range(len(units))]
    scores, is_edge = structural(units, [i for i, _ in pairs], [j for _, j in pairs])
    for (i, j), score, edge in zip(pairs, scores, is_edge, strict=True):
        exact = twin.structural_score(units[i], units[j])
        if exact is None:
            assert math.isnan(score)
        else:
            # A few roundings of doubles near 1.
            assert score == pytest.approx(float(exact), abs=1e-15)
            assert 0.0 <= score <= 1.0
        assert bool(edge) == twin.is_structural_edge(units[i], units[j])


def test_scores_are_symmetric_on_many_seeded_pairs() -> None:
    rng = np.random.default_rng(7)
    units = [
        Cues(
            frozenset(rng.integers(0, 6, rng.integers(0, 4)).tolist()),
            frozenset(rng.integers(0, 4, rng.integers(0, 3)).tolist()),
            None if rng.random() < 0.3 else (int(start := rng.integers(0, 30 * DAY)), int(start + DAY)),
        )
        for _ in range(300)
    ]
    left, right = rng.integers(0, 300, 4000), rng.integers(0, 300, 4000)
    forward, backward = structural(units, left, right), structural(units, right, left)
    np.testing.assert_array_equal(forward[0], backward[0])
    np.testing.assert_array_equal(forward[1], backward[1])
    assert 0 < forward[1].sum() < 4000
