import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.histories import AWKWARD, clocked, histories
from tests.engine.histories import offsets as offsets_of
from tests.kernels.test_atoms import SENSORS, make_atoms

from boostr._kernels.path_moments import (
    BaselineValues,
    Histories,
    Paths,
    path_cumulative_moments,
    path_intensity_moments,
)

MOMENTS = {"intensity": path_intensity_moments, "cumulative": path_cumulative_moments}
losses = pytest.mark.parametrize("loss", MOMENTS)
baselines = pytest.mark.parametrize("n_baseline", [0, 2])

# The functions s and s^2 / 4 of a baseline, and their first and second integrals.
INTEGRALS = (
    lambda s: np.array([s, s**2 / 4]).T,
    lambda s: np.array([s**2 / 2, s**3 / 12]).T,
    lambda s: np.array([s**3 / 6, s**4 / 48]).T,
)
RATES = lambda s: np.array([1.0, s / 2])  # noqa: E731 - beside its integrals

NUMBERS = st.sampled_from([np.nan, -2.0, -1.0, -0.3, 0.0, 0.5, 1.0, 2.2, 3.0, 9.0])
CODES = st.sampled_from([np.nan, 0.0, 1.0, 2.0, 7.0])
VALUES = st.tuples(NUMBERS, CODES, NUMBERS, NUMBERS)

# A path with everything: a piece long before, one where a window starts, one at an event,
# one in a gap, two at once, and unknown stretches.
PATH = (
    [-3.0, 0.5, 1.0, 2.5, 4.0, 4.0, 5.0],
    [
        (0.2, 1.0, 0.0, 0.0),
        (1.7, 1.0, 0.0, 0.7),
        (1.7, np.nan, 0.0, 0.2),
        (2.9, 0.0, 0.0, np.nan),
        (-0.5, 2.0, 0.0, 0.1),
        (np.nan, 2.0, 0.0, 0.1),
        (0.4, 2.0, 0.0, 5.0),
    ],
)
NO_PATH = ([], [])


@st.composite
def individuals(draw):
    """Draw a history and a path, whose pieces begin at its events, windows or elsewhere."""
    history = draw(histories())
    marks = [0.0, *np.ravel(history[0]), *history[1]]
    quarters = st.integers(-8, 44).map(lambda number: number / 4)
    begins = draw(st.lists(st.one_of(st.sampled_from(marks), quarters), max_size=6))
    begins = sorted(float(begin) for begin in begins)
    if begins and draw(st.booleans()):
        begins[0] = -np.inf
    return history, (begins, [draw(VALUES) for _ in begins])


def tabulate(times, loss, n_baseline):
    """Evaluate the baseline's functions and their integrals, as the kernels read them."""
    orders = INTEGRALS[:1] if loss == "intensity" else INTEGRALS
    tables = np.stack([function(np.asarray(times)) for function in orders], axis=1)
    return np.ascontiguousarray(tables[:, :, :n_baseline])


def moments(individuals, loss, n_baseline=2, sensors=SENSORS, exposure=None):
    """Return b and the triangles of H; nothing is written where the baseline stands."""
    events = clocked([history for history, _ in individuals])
    paths = [path for _, path in individuals]
    begins = np.array([begin for own, _ in paths for begin in own], dtype=float)
    values = [shown for _, own in paths for shown in own]
    values = np.array(values, dtype=float).reshape(len(begins), len(sensors))
    times = np.maximum(begins, 0.0), events.window_start, events.window_stop, events.times
    n_terms = n_baseline + sum(len(own[2]) for own in sensors)
    linear = np.full((len(events), n_terms), np.nan)
    quadratic = np.full((len(events), n_terms * (n_terms + 1) // 2), np.nan)
    MOMENTS[loss](
        len(events),
        Paths(
            begins,
            np.ascontiguousarray(values.T),
            offsets_of([len(own) for own, _ in paths]),
        ),
        make_atoms(*sensors),
        BaselineValues(*(tabulate(own, loss, n_baseline) for own in times)),
        Histories(
            events.window_start,
            events.window_stop,
            events.window_offsets,
            np.ones(len(events.window_start)) if exposure is None else exposure,
            events.times,
            events.costs,
            events.event_offsets,
        ),
        linear,
        quadratic,
    )
    return linear, quadratic


def sensor_part(linear, quadratic, n_baseline):
    """Leave out what concerns the baseline alone, and put all in one row each."""
    n_own = n_baseline * (n_baseline + 1) // 2
    return np.hstack([linear[:, n_baseline:], quadratic[:, n_own:]])


def flat(individuals, loss, n_baseline=2, sensors=SENSORS):
    found = moments(individuals, loss, n_baseline, sensors)
    return sensor_part(*found, n_baseline)


def oracle(individual, loss, n_baseline=2, sensors=SENSORS):
    history, path = individual
    function = RATES if loss == "intensity" else INTEGRALS[0]
    linear, quadratic = oracles.path_statistics(
        loss, lambda s: function(s)[:n_baseline], path, sensors, history
    )
    triangle = oracles.lower_triangle(quadratic)
    return sensor_part(linear[None], triangle[None], n_baseline)


@losses
@baselines
@settings(max_examples=7)
@given(individual=individuals())
def test_statistics_are_the_integrals(loss, n_baseline, individual):
    expected = oracle(individual, loss, n_baseline)
    found = flat([individual], loss, n_baseline)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@losses
@baselines
@pytest.mark.parametrize("path", [PATH, NO_PATH], ids=["everything", "no sample"])
def test_statistics_of_awkward_individuals_are_the_integrals(loss, n_baseline, path):
    expected = oracle((AWKWARD, path), loss, n_baseline)
    found = flat([(AWKWARD, path)], loss, n_baseline)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@losses
def test_what_concerns_the_baseline_alone_is_left_to_it(loss):
    linear, quadratic = moments([(AWKWARD, PATH)], loss, n_baseline=2)
    assert np.array_equal(np.isnan(linear[0]), np.arange(12) < 2)
    assert np.array_equal(np.isnan(quadratic[0]), np.arange(78) < 3)


@losses
@settings(max_examples=15)
@given(several=st.lists(individuals(), min_size=1, max_size=4))
def test_individuals_do_not_touch_each_other(loss, several):
    alone = np.vstack([flat([one], loss) for one in several])
    assert np.array_equal(flat(several, loss), alone)


def cut_history(history, cut):
    """Return what was observed up to a time and after it."""
    windows, times, costs = history
    before = [(start, min(stop, cut)) for start, stop in windows if start < cut]
    after = [(max(start, cut), stop) for start, stop in windows if stop > cut]
    n_before = sum(time <= cut for time in times)
    return (
        (before, times[:n_before], costs[:n_before]),
        (after, times[n_before:], costs[n_before:]),
    )


@settings(max_examples=40)
@given(individual=individuals(), cut=st.integers(1, 160).map(lambda number: number / 16))
def test_an_individual_cut_in_two_sums_for_the_intensity_loss(individual, cut):
    history, path = individual
    parts = [(part, path) for part in cut_history(history, cut)]
    whole = flat([individual], "intensity")
    assert_allclose(flat(parts, "intensity").sum(axis=0), whole[0], atol=1e-9)


@losses
@settings(max_examples=20)
@given(individual=individuals(), share=st.sampled_from([0.1, 0.25, 0.5, 0.75]))
def test_a_window_cut_in_two_is_one_window(loss, individual, share):
    (windows, times, costs), path = individual
    start, stop = windows[-1]
    cut = start + share * (stop - start)
    parts = [*windows[:-1], (start, cut), (cut, stop)]
    assert_allclose(
        flat([((parts, times, costs), path)], loss), flat([individual], loss), atol=1e-8
    )


@losses
@settings(max_examples=20)
@given(individual=individuals(), moment=st.integers(0, 44).map(lambda number: number / 4))
def test_a_sample_that_says_nothing_new_changes_nothing(loss, individual, moment):
    history, (begins, values) = individual
    place = np.searchsorted(begins, moment, side="right")
    shown = values[place - 1] if place else (np.nan,) * 4
    repeated = (
        [*begins[:place], moment, *begins[place:]],
        [*values[:place], shown, *values[place:]],
    )
    again = flat([(history, repeated)], loss)
    assert_allclose(again, flat([individual], loss), atol=1e-8)


@losses
@settings(max_examples=15)
@given(individual=individuals())
def test_a_sample_that_is_replaced_at_once_changes_nothing(loss, individual):
    history, (begins, values) = individual
    doubled = (
        [begin for begin in begins for _ in range(2)],
        [own for shown in values for own in ((9.0, 0.0, 9.0, 9.0), shown)],
    )
    assert_allclose(flat([(history, doubled)], loss), flat([individual], loss), atol=1e-8)


@losses
@settings(max_examples=10)
@given(individual=individuals())
def test_samples_after_the_end_change_nothing(loss, individual):
    history, (begins, values) = individual
    end = history[0][-1][1]
    n_kept = sum(begin < end for begin in begins)
    short = begins[:n_kept], values[:n_kept]
    assert np.array_equal(flat([(history, short)], loss), flat([individual], loss))


@losses
@settings(max_examples=10)
@given(individual=individuals())
def test_a_sensor_that_says_nothing_changes_nothing(loss, individual):
    history, (begins, values) = individual
    fewer = begins, [(shown[0], shown[1], shown[3]) for shown in values]
    speaking = [SENSORS[0], SENSORS[1], SENSORS[3]]
    found = flat([(history, fewer)], loss, sensors=speaking)
    assert np.array_equal(found, flat([individual], loss))


CATEGORIES = [(np.empty(0), 0, np.array([0.0, 0.0, 1.0]))]  # unknown is the third


def test_events_and_exposure_are_counted_by_category():
    # Category 0 on (2, 5], 1 on (5, 7]; observed on (1, 3] and (4, 8]. Not known before 2.
    # The event at 5 knows nothing of the sample at 5.
    history = [(1.0, 3.0), (4.0, 8.0)], [1.5, 2.5, 5.0, 6.0], [1.0, 1.0, 2.0, 1.0]
    path = [2.0, 5.0, 7.0], [(0.0,), (1.0,), (0.0,)]
    linear, quadratic = moments([(history, path)], "intensity", 0, CATEGORIES)
    assert np.array_equal(linear[0], [3.0, 1.0, 1.0])
    assert np.array_equal(oracles.full_matrix(quadratic[0], 3), np.diag([3.0, 2.0, 1.0]))


def test_the_area_under_the_count_by_hand():
    # A rises to 1 in category 0, then rests while category 1 rises to 2: N = 1 from 2 on.
    history = [(0.0, 3.0)], [2.0], [1.0]
    path = [0.0, 1.0], [(0.0,), (1.0,)]
    linear, quadratic = moments([(history, path)], "cumulative", 0, CATEGORIES)
    assert_allclose(linear[0], [1.0, 1.5, 0.0])
    expected = [[7 / 3, 2.0, 0.0], [2.0, 8 / 3, 0.0], [0.0, 0.0, 0.0]]
    assert_allclose(oracles.full_matrix(quadratic[0], 3), expected)


@losses
def test_an_event_where_a_piece_begins_belongs_to_the_piece_before(loss):
    history = [(0.0, 3.0)], [2.0], [1.0]
    early = [0.0, 2.0], [(0.0,), (1.0,)]
    late = [0.0, np.nextafter(2.0, 3.0)], [(0.0,), (1.0,)]
    both = flat([(history, early), (history, late)], loss, sensors=CATEGORIES)
    assert_allclose(both[0], both[1])


@losses
def test_tied_events_at_the_end_of_a_window_count_after_the_gap(loss):
    windows = [(0.0, 2.0), (3.0, 5.0)]
    tied = (windows, [2.0, 2.0, 2.0], [1.0, 0.5, 1.0]), PATH
    single = (windows, [2.0], [2.5]), PATH
    assert_allclose(flat([tied], loss), flat([single], loss))


@losses
def test_events_without_cost_change_nothing(loss):
    with_event = ([(0.0, 5.0)], [1.0, 2.0], [0.0, 1.0]), PATH
    without = ([(0.0, 5.0)], [2.0], [1.0]), PATH
    assert_allclose(flat([with_event], loss), flat([without], loss))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads need the compiler")
@losses
def test_threads_give_the_same_bits(loss, monkeypatch):
    monkeypatch.setattr("boostr._kernels._jit._SHARED_FROM", 1)
    many = [(AWKWARD, PATH), (([(0.0, 3.0)], [1.0], [1.0]), NO_PATH)] * 50
    before = numba.get_num_threads()
    results = []
    try:
        for n_threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(n_threads)
            results.append(flat(many, loss))
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(*results)


@baselines
@settings(max_examples=7)
@given(
    individual=individuals(),
    factors=st.lists(st.sampled_from([0.0, 0.5, 3.0]), min_size=3, max_size=3),
)
def test_time_counts_by_the_exposure_of_its_window(n_baseline, individual, factors):
    history, path = individual
    windows = history[0]
    exposure = np.array(factors[: len(windows)])
    alone = [(([window], [], []), path) for window in windows]
    curvature = exposure @ moments(alone, "intensity", n_baseline)[1]
    slope = moments([individual], "intensity", n_baseline)[0]
    found = moments([individual], "intensity", n_baseline, exposure=exposure)
    assert_allclose(
        sensor_part(*found, n_baseline),
        sensor_part(slope, curvature[None], n_baseline),
        rtol=1e-12,
        atol=1e-12,
    )
