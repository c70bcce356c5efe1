import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles_clock
from tests.windows import observe_in

from boostr.basis import CalendarClock, OperationalClock
from boostr.basis.clock import PooledHistories, find_gaps
from boostr.data import RecurrentEvents, RiskTable, Trajectories

RECENT_EVENTS = 30  # that tell a rate of their own


def power_law_events(rng, n=400, scale=0.5, exponent=1.7, end=10.0):
    """Poisson histories with the cumulative intensity scale * t^exponent."""
    counts = rng.poisson(scale * end**exponent, n)
    times = [end * rng.random(k) ** (1 / exponent) for k in counts]
    return RecurrentEvents.from_lists(times, end=end)


def ragged_events(rng, n=80):
    """Late entries and different ends, the rate falling with time."""
    start = rng.uniform(0.5, 3.0, n)
    end = start + rng.uniform(0.5, 6.0, n)
    times = [
        a + (b - a) * rng.random(rng.poisson(2.0)) ** 1.5
        for a, b in zip(start, end, strict=True)
    ]
    return RecurrentEvents.from_lists(times, end=end, start=start)


@pytest.fixture
def ragged(rng):
    return ragged_events(rng)


def test_the_calendar_reads_time_as_it_is():
    times = np.array([0.0, 1.5, 4.0])
    assert np.array_equal(CalendarClock().read(times), times)


def test_the_calendar_runs_at_unit_speed():
    assert np.array_equal(CalendarClock().rate(np.array([0.0, 2.0])), [1.0, 1.0])


def test_the_operational_clock_starts_at_zero(rng):
    clock = OperationalClock.from_events(power_law_events(rng, 50))
    assert clock.read(np.array([0.0])) == 0.0


def test_a_time_is_read_the_same_alone_and_among_others(ragged):
    clock = OperationalClock.from_events(ragged)
    times = np.array([0.0, 1.0, 2.5, 9.0, 30.0])
    expected = clock.read(times)
    for time, read in zip(times, expected, strict=True):
        for shape in (3, (2, 3), (3, 1)):
            assert np.array_equal(clock.read(np.full(shape, time)), np.full(shape, read))
    assert clock.read(times[:0]).shape == (0,)


def test_nothing_passes_before_anybody_is_observed(ragged):
    clock = OperationalClock.from_events(ragged)
    before = np.linspace(0.0, ragged.window_start.min(), 5)
    assert np.array_equal(clock.read(before), np.zeros(5))


@pytest.mark.parametrize("make", [power_law_events, ragged_events])
def test_the_operational_clock_never_stands_still_once_started(rng, make):
    events = make(rng, 60)
    clock = OperationalClock.from_events(events)
    first = events.window_start.min()
    times = np.linspace(first, 3.0 * events.window_stop.max(), 2_000)
    assert np.all(np.diff(clock.read(times)) > 0.0)


@pytest.mark.parametrize(("scale", "exponent"), [(0.5, 1.7), (2.0, 1.0), (3.0, 0.6)])
def test_power_law_data_give_nearly_the_power_law(rng, scale, exponent):
    events = power_law_events(rng, 1_500, scale, exponent)
    clock = OperationalClock.from_events(events)
    times = np.linspace(1.0, 10.0, 50)
    assert_allclose(clock.read(times), scale * times**exponent, rtol=0.05)


def test_far_beyond_the_data_the_clock_is_finite_and_rises(ragged):
    clock = OperationalClock.from_events(ragged)
    far = clock.read(np.geomspace(10.0, 1e4, 50))
    assert np.all(np.isfinite(far))
    assert np.all(np.diff(far) > 0.0)


@pytest.mark.parametrize("make", [power_law_events, ragged_events])
def test_the_average_individual_has_unit_rate(rng, make):
    events = make(rng, 500)
    clock = OperationalClock.from_events(events)
    exposure = clock.read(events.window_stop) - clock.read(events.window_start)
    assert_allclose(len(events.times), exposure.sum(), rtol=0.01)


def test_costs_count(rng):
    times = [np.sort(rng.uniform(0, 5, 3)) for _ in range(40)]
    plain = RecurrentEvents.from_lists(times, end=5.0)
    costly = RecurrentEvents.from_lists(times, end=5.0, cost=[[2.5] * 3] * 40)
    grid = np.linspace(0.0, 8.0, 30)
    assert_allclose(
        OperationalClock.from_events(costly).read(grid),
        2.5 * OperationalClock.from_events(plain).read(grid),
    )


@pytest.mark.parametrize("seed", range(5))
def test_weight_two_is_the_row_twice(seed):
    rng = np.random.default_rng(seed)
    ragged = ragged_events(rng)
    weights = rng.choice([1.0, 2.0, 3.0], len(ragged))
    repeated = ragged[np.repeat(np.arange(len(ragged)), weights.astype(int))]
    grid = np.linspace(0.0, 12.0, 40)
    assert_allclose(
        OperationalClock.from_events(ragged, weights).read(grid),
        OperationalClock.from_events(repeated).read(grid),
    )


@pytest.mark.slow
@pytest.mark.parametrize("make", [power_law_events, ragged_events])
@given(unit=st.floats(1e-3, 1e3), n=st.sampled_from([4, 20, 80]))
def test_the_unit_of_time_does_not_matter(make, unit, n):
    events = make(np.random.default_rng(n), n)
    other = RecurrentEvents.from_flat(
        unit * events.times,
        events.event_offsets,
        start=unit * events.start,
        end=unit * events.end,
    )
    grid = np.linspace(0.0, 12.0, 40)
    assert_allclose(
        OperationalClock.from_events(other).read(unit * grid),
        OperationalClock.from_events(events).read(grid),
    )


@pytest.mark.parametrize("make", [power_law_events, ragged_events])
def test_the_rate_is_the_slope_of_the_clock(rng, make):
    events = make(rng, 60)
    clock = OperationalClock.from_events(events)
    times = np.linspace(events.window_start.min() + 0.1, 15.0, 101)
    slope = (clock.read(times + 1e-6) - clock.read(times - 1e-6)) / 2e-6
    assert_allclose(clock.rate(times), slope, rtol=1e-4)


def test_the_rate_at_the_origin_is_finite(rng):
    clock = OperationalClock.from_events(power_law_events(rng, 50, 3.0, 0.6))
    assert np.all(np.isfinite(clock.rate(np.array([0.0]))))


def test_without_events_the_clock_is_the_calendar():
    events = RecurrentEvents.from_lists([[], []], end=[3.0, 4.0])
    assert OperationalClock.from_events(events) == CalendarClock()


def test_events_without_cost_are_no_events():
    events = RecurrentEvents.from_lists([[1.0], [2.0]], end=4.0, cost=[[0.0], [0.0]])
    assert OperationalClock.from_events(events) == CalendarClock()


def test_events_that_cost_nothing_leave_the_clock_as_it_is(rng):
    times = [np.sort(rng.uniform(0.0, 9.0, 4)) for _ in range(30)]
    costs = [rng.choice([0.0, 1.0], 4) for _ in times]
    with_free = RecurrentEvents.from_lists(times, end=10.0, cost=costs)
    paid = [own[cost > 0.0] for own, cost in zip(times, costs, strict=True)]
    without = RecurrentEvents.from_lists(paid, end=10.0)
    grid = np.linspace(0.0, 20.0, 40)
    clocks = [OperationalClock.from_events(events) for events in (with_free, without)]
    assert_allclose(clocks[0].read(grid), clocks[1].read(grid))


def test_one_event_makes_a_straight_clock():
    # One event in the 17 units of time that four individuals were observed.
    events = RecurrentEvents.from_lists([[2.0], [], [], []], end=[5.0, 5.0, 5.0, 2.0])
    clock = OperationalClock.from_events(events)
    times = np.array([0.0, 2.0, 4.0, 5.0, 9.0])
    assert_allclose(clock.read(times), times / 17.0)
    assert_allclose(clock.rate(times), np.full(5, 1 / 17))


@pytest.mark.parametrize("n_events", [2, 3, 4, 5, 9])
def test_few_events_give_a_rising_clock(n_events):
    events = RecurrentEvents.from_lists([np.arange(1.0, n_events + 1)], end=20.0)
    clock = OperationalClock.from_events(events)
    values = clock.read(np.linspace(0.0, 40.0, 200))
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) > 0.0)


def test_event_times_that_differ_by_rounding_are_no_obstacle():
    times = [0.1 + 0.2, 0.3, np.nextafter(0.3, 0.0), np.nextafter(0.1 + 0.2, 1.0)]
    events = RecurrentEvents.from_lists([[time] for time in times * 4], end=1.0)
    clock = OperationalClock.from_events(events)
    assert np.all(np.diff(clock.read(np.linspace(0.0, 1.0, 50))) > 0.0)


def test_event_times_may_differ_by_rounding_far_from_the_origin():
    times = 19_000.0 + 4e-12 * np.arange(64)
    events = RecurrentEvents.from_lists([[time] for time in times], end=20_000.0)
    clock = OperationalClock.from_events(events)
    assert np.all(np.isfinite(clock.read(np.array([1.0, 19_000.0, 25_000.0]))))


def test_a_sample_stands_for_many(rng, monkeypatch):
    events = power_law_events(rng, 900)
    monkeypatch.setattr("boostr.basis.clock._SAMPLE_SIZE", 300)
    sampled = OperationalClock.from_events(events)
    part = OperationalClock.from_events(events[::3])
    grid = np.linspace(0.0, 12.0, 20)
    assert np.array_equal(sampled.read(grid), part.read(grid))


# --- As many events as came


RATES = {
    "constant": lambda time: np.full_like(time, 0.8),
    "rising": lambda time: 0.1 * time**1.2,
    "falling": lambda time: 2.0 * (time + 0.01) ** -0.5,
    "stepping": lambda time: np.where(time < 5.0, 1.0, 0.4),
    "swinging": lambda time: 1.0 + 0.9 * np.sin(2.0 * time),
}
rates = pytest.mark.parametrize("rate", RATES.values(), ids=RATES)


def staggered_events(rng, rate, n=1_000):
    """Poisson histories with late entries and ends that few reach, by thinning."""
    start = rng.uniform(0.0, 3.0, n)
    end = start + rng.uniform(1.0, 10.0, n)
    highest = 2.5
    times = []
    for first, last in zip(start, end, strict=True):
        tried = rng.uniform(first, last, rng.poisson(highest * (last - first)))
        is_event = rng.uniform(0.0, highest, len(tried)) < rate(tried)
        times.append(np.sort(tried[is_event]))
    return RecurrentEvents.from_lists(times, end=end, start=start)


def tenths_of(events):
    return np.linspace(events.window_start.min(), events.window_stop.max(), 11)


@rates
@pytest.mark.parametrize("seed", range(2))
def test_in_every_tenth_of_time_as_many_events_are_expected_as_came(rate, seed):
    events = staggered_events(np.random.default_rng(seed), rate)
    edges, clock = tenths_of(events), OperationalClock.from_events(events)
    expected = oracles_clock.expected_events(clock, events, edges)
    came = np.histogram(events.times, edges)[0]
    # Too few for a rate of their own share that of the last ones before.
    while came[-1] < RECENT_EVENTS:
        came, expected = (np.append(x[:-2], x[-2:].sum()) for x in (came, expected))
    assert np.all(np.abs(expected - came) <= np.maximum(0.05 * came, 2.0 * came**0.5))
    assert np.median(np.abs(expected / came - 1.0)) < 0.01


def test_where_all_are_observed_alike_tenths_end_at_the_mean_count(rng):
    events = power_law_events(rng, 200)
    edges = tenths_of(events)
    mean = np.searchsorted(np.sort(events.times), edges) / len(events)
    assert_allclose(OperationalClock.from_events(events).read(edges), mean, rtol=1e-6)


def test_a_constant_rate_makes_a_straight_clock(rng):
    events = staggered_events(rng, RATES["constant"], 4_000)
    clock = OperationalClock.from_events(events)
    times = np.linspace(1.0, 30.0, 59)
    assert_allclose(clock.read(times), 0.8 * times, rtol=0.05)
    assert clock.last_slope == 1.0


def test_the_clock_follows_the_mean_cumulative_function(rng):
    events = power_law_events(rng)
    clock = OperationalClock.from_events(events)
    times, mean = oracles_clock.nelson_aalen(events)
    off = np.abs(clock.read(times) - mean)
    assert off.max() < 2.0 * np.sqrt(mean[-1] / len(events))


def test_with_late_entries_the_clock_rises_as_the_mean_once_half_are_there(ragged):
    clock = OperationalClock.from_events(ragged)
    times, mean = oracles_clock.nelson_aalen(ragged)
    off = (clock.read(times) - mean)[times > np.median(ragged.start)]
    assert np.ptp(off) < 2.0 * np.sqrt(mean[-1] / len(ragged))


# --- At the ends of stretches, and after the end of follow-up


NEARBY = (1.0 - 1e-7, 1.0, 1.0 + 1e-7)


@rates
def test_the_rate_goes_on_where_it_ends(rate, rng):
    events = staggered_events(rng, rate, 200)
    clock = OperationalClock.from_events(events)
    end = events.window_stop.max()
    before, after = clock.rate(end * np.array([1.0 - 1e-9, 1.0 + 1e-9]))
    assert_allclose(before, after, rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("seed", range(4))
def test_rates_are_positive_and_continuous_at_every_knot(n, seed):
    events = staggered_events(np.random.default_rng(seed), RATES["constant"], n)
    clock = OperationalClock.from_events(events)
    knots = np.exp(clock.log_times)
    below, at, above = (clock.rate(clock.origin + knots * by) for by in NEARBY)
    assert at.min() > 0.0
    assert_allclose(below, above, rtol=1e-3)
    assert_allclose(at, above, rtol=1e-3)


def test_rates_are_positive_where_the_last_events_are_long_ago(rng):
    times = [np.sort(rng.uniform(0.0, 2.0, 3)) for _ in range(200)]
    events = RecurrentEvents.from_lists(times, end=10.0)
    clock = OperationalClock.from_events(events)
    rate = clock.rate(np.linspace(0.01, 30.0, 1_000))
    assert rate.min() > 0.0
    assert rate[-1] < 0.1 * rate[0]


@pytest.mark.parametrize(("exponent", "goes_on"), [(0.5, 0.5), (1.0, 1.0), (1.8, 1.0)])
def test_a_fall_goes_on_and_a_rise_does_not(rng, exponent, goes_on):
    events = power_law_events(rng, 1_500, 2.0, exponent)
    clock = OperationalClock.from_events(events)
    rate = clock.rate(np.array([10.0, 20.0, 40.0]))
    assert_allclose(rate / rate[0], np.array([1.0, 2.0, 4.0]) ** (goes_on - 1.0), rtol=0.1)


def test_where_the_rate_has_jumped_the_last_tenth_tells_it(rng):
    early = [rng.uniform(0.0, 9.0, count) for count in rng.poisson(0.9, 1_000)]
    late = [rng.uniform(9.0, 10.0, count) for count in rng.poisson(0.5, 1_000)]
    joined = [np.sort(np.concatenate(pair)) for pair in zip(early, late, strict=True)]
    clock = OperationalClock.from_events(RecurrentEvents.from_lists(joined, end=10.0))
    rate = sum(map(len, late)) / 1_000
    assert_allclose(clock.last_rate, rate)
    assert_allclose(clock.rate(np.array([20.0])), rate)


@pytest.mark.parametrize("seed", range(10))
def test_a_fleet_that_grows_tells_its_recent_rate(seed):
    rng = np.random.default_rng(seed)
    start = np.sort(rng.uniform(0.0, 950.0, 400))
    rates = np.where(np.arange(1000.0) < 870.0, 0.006, 0.003)
    growth = np.append(0.0, np.cumsum(rates))
    first = np.interp(start, np.arange(1001.0), growth)
    counts = rng.poisson(growth[-1] - first)
    times = [
        np.interp(np.sort(rng.uniform(low, growth[-1], k)), growth, np.arange(1001.0))
        for low, k in zip(first, counts, strict=True)
    ]
    y = RecurrentEvents.from_lists(times, start=start, end=1000.0)
    clock = OperationalClock.from_events(y)
    came = np.sum(y.times > 900.0)
    exposed = np.sum(1000.0 - np.maximum(start, 900.0))
    rise = np.diff(clock.read(np.array([900.0, 1000.0])))[0]
    assert rise == pytest.approx(100.0 * came / exposed, rel=0.1)


def test_where_rates_are_alike_all_events_tell_the_recent_one():
    times = np.linspace(0.05, 9.95, 100)
    events = RecurrentEvents.from_lists([[time] for time in times], end=10.0)
    assert_allclose(OperationalClock.from_events(events).last_rate, 0.1)


def test_few_events_cannot_tell_that_the_rate_has_changed():
    # Two events in the last tenth, where 1.1 were to be expected: nobody knows.
    events = RecurrentEvents.from_lists([[1.0, 3.0, 5.0, 7.0, 9.1, 9.2]] * 2, end=10.0)
    assert_allclose(OperationalClock.from_events(events).last_rate, 0.6)


def test_clocks_of_old_model_files_go_on_as_one_power_law():
    clock = OperationalClock(1.0, np.log([2.0, 5.0]), np.log([0.5, 3.0]), 1.2, 1.7)
    times = np.array([6.5, 12.0, 100.0])
    expected = 3.0 * ((times - 1.0) / 5.0) ** 1.7
    assert_allclose(clock.read(times), expected)
    assert_allclose(clock.rate(times), 1.7 * expected / (times - 1.0))


def draw_by_rate(rng, rate, end=10.0, n=400):
    """Return histories with a rate of at most 1."""
    times = [np.sort(rng.uniform(0.0, end, rng.poisson(end))) for _ in range(n)]
    kept = [own[rng.random(own.size) < rate(own)] for own in times]
    return RecurrentEvents.from_lists(kept, end=end)


@pytest.mark.parametrize(
    "rate",
    [
        lambda t: 0.9 - 0.06 * t,  # not a power of time
        lambda t: 0.9 * np.exp(-0.2 * t),
        lambda t: 0.9 * np.maximum(t, 1.0) ** -0.5,
    ],
)
def test_a_fall_goes_on_from_the_recent_level(rate):
    clock = OperationalClock.from_events(draw_by_rate(np.random.default_rng(0), rate))
    assert clock.last_slope < 1.0
    assert_allclose(clock.rate(np.array([10.0 + 1e-6])), rate(np.array([9.5])), rtol=0.2)


@pytest.mark.parametrize("seed", range(8))
def test_a_constant_rate_has_no_spikes_between_knots(seed):
    rng = np.random.default_rng(seed)
    end = rng.integers(200, 500, 200).astype(float)
    hours = [np.unique(np.ceil(24 * rng.uniform(0, e, rng.poisson(0.02 * e)))) for e in end]
    y = RecurrentEvents.from_lists([own / 24 for own in hours], end=end)
    clock = OperationalClock.from_events(y)
    rates = clock.rate(np.linspace(20.0, 400.0, 2_000))
    assert 0.009 < rates.min() <= rates.max() < 0.036
    # The same hours, but for rounding.
    moved = [own / 24 * (1.0 - 2e-16 * (own % 3)) for own in hours]
    other = OperationalClock.from_events(RecurrentEvents.from_lists(moved, end=end))
    assert_allclose(other.log_times, clock.log_times)


def test_tenths_are_knots_unless_few_events_lie_between_them_and_another():
    times = np.linspace(0.0, 10.0, 8_001)[1:] - 1e-9  # twenty quantiles, one at each half
    y = RecurrentEvents.from_lists([times], end=10.0)
    knots = np.exp(OperationalClock.from_events(y).log_times)
    assert np.diff(knots).min() > 0.4
    rare, recent = np.linspace(1.1, 9.0, 25), np.linspace(9.1, 9.9, 40)
    many = np.concatenate([times[times < 1.0], rare, recent])
    y = RecurrentEvents.from_lists([many], end=10.0)
    knots = np.exp(OperationalClock.from_events(y).log_times)
    assert_allclose(knots[knots > 1.3], np.arange(2.0, 11.0), rtol=0.01)


@pytest.mark.filterwarnings("ignore:.* events came while the exposure")
@given(st.integers(0, 10_000), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_the_pooled_mean_is_that_of_the_risk_table(
    seed, has_weights, has_costs, is_exposed, begin_together
):
    rng = np.random.default_rng(seed)
    start = np.zeros(12) if begin_together else rng.integers(0, 3, 12).astype(float)
    end = start + rng.integers(1, 6, 12)
    # Whole numbers: events happen together, and at ends of windows.
    times = [
        rng.integers(a + 1, b + 1, rng.poisson(2.0)).astype(float)
        for a, b in zip(start, end, strict=True)
    ]
    costs = [rng.uniform(0.5, 3.0, len(own)) for own in times] if has_costs else None
    y = RecurrentEvents.from_lists(times, end, start, costs)
    if is_exposed:
        # Nobody may be exposed later on.
        values = np.column_stack([rng.choice([0.5, 2.0], 12), rng.choice([0.0, 1.0], 12)])
        offsets, names = np.arange(0, 25, 2), ["exposure"]
        series = Trajectories.from_flat([0.0, 3.5] * 12, offsets, [values.ravel()], names)
        y = y.with_exposure(series)
    weights = rng.uniform(0.5, 2.0, 12) if has_weights else np.ones(12)
    table = RiskTable.from_events(y, weights)
    origin = float(y.window_start.min())
    found, mean = PooledHistories(y, weights, origin).mean()
    assert_allclose(found, table.times - origin)
    expected = np.cumsum(table.totals(table.cost) / table.at_risk())
    assert_allclose(mean, expected, rtol=1e-9)


@pytest.mark.parametrize("latest", [0.0, 3.0])
def test_exposure_is_the_time_that_windows_share_with_cells(rng, latest):
    start = rng.uniform(0.0, latest, 20)
    y = RecurrentEvents.from_lists([[]] * 20, start + rng.uniform(0.5, 6.0, 20), start)
    weights, edges = rng.uniform(0.5, 2.0, 20), np.linspace(0.0, 9.0, 30)
    shared = np.diff(np.clip(edges, y.window_start[:, None], y.window_stop[:, None]))
    found = PooledHistories(y, weights, 0.0).exposure(edges)
    assert_allclose(found, weights @ shared, atol=1e-12)


# --- Time that nobody observes


def spread_evenly(n, end=100.0):
    """Return times that come at a constant rate, as nearly as can be."""
    return [np.arange(5.0 * own / n, end, 5.0) for own in range(1, n)]


WAVES = [(0.0, 10.0), (100.0, 110.0), (200.0, 210.0), (300.0, 310.0)]


@pytest.mark.parametrize(
    "windows",
    [[(0.0, 50.0), (90.0, 100.0)], [(0.0, 40.0), (41.0, 70.0), (97.0, 100.0)], WAVES],
)
def test_in_time_that_nobody_observes_the_rate_is_that_around_it(windows):
    times = spread_evenly(200, windows[-1][1])
    clock = OperationalClock.from_events(observe_in(windows, times))
    begin, end = (np.array(ends) for ends in zip(*windows, strict=True))
    rises = clock.read(begin[1:]) - clock.read(end[:-1])
    assert_allclose(rises, 0.2 * (begin[1:] - end[:-1]), rtol=0.1)
    assert_allclose(clock.last_rate, 0.2, rtol=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_beside_time_that_nobody_observes_as_many_events_are_expected_as_came(seed):
    rng = np.random.default_rng(seed)
    whole = draw_by_rate(rng, lambda time: 1.0 / (0.3 + time))
    times = [whole.times[whole.event_owner == own] for own in range(len(whole))]
    windows = [(0.0, 4.0), (8.0, 10.0)]
    events = observe_in(windows, times)
    clock = OperationalClock.from_events(events)
    expected = [len(times) * np.diff(clock.read(np.array(ends)))[0] for ends in windows]
    came = [
        np.sum((events.times > first) & (events.times <= last)) for first, last in windows
    ]
    assert_allclose(expected, came, rtol=0.05)


def test_time_without_exposure_is_not_observed():
    times = [own[(own < 50.0) | (own > 80.0)] for own in spread_evenly(100)]
    events = RecurrentEvents.from_lists(times, end=100.0)
    samples = pd.DataFrame(
        {
            "id": np.repeat(events.ids, 3),
            "time": [0.0, 50.0, 80.0] * 99,
            "x": [1, 0, 1] * 99,
        }
    )
    exposed = events.with_exposure(Trajectories.from_long(samples, "id", "time", ["x"]))
    clock = OperationalClock.from_events(exposed)
    assert_allclose(np.diff(clock.read(np.array([50.0, 80.0]))), 6.0, rtol=0.1)


@given(
    windows=st.lists(
        st.tuples(st.integers(0, 20), st.integers(1, 6)), min_size=1, max_size=12
    )
)
def test_gaps_are_the_time_outside_of_all_windows(windows):
    start = np.array([float(first) for first, _ in windows])
    stop = start + [length for _, length in windows]
    cells = np.arange(26)
    is_seen = np.any((cells[:, None] >= start) & (cells[:, None] < stop), axis=1)
    inside = (cells >= start.min()) & (cells < stop.max())
    begins, ends = find_gaps(np.sort(start), np.sort(stop), 1e-9)
    found = np.zeros(26, dtype=bool)
    for begin, end in zip(begins, ends, strict=True):
        found[int(begin) : int(end)] = True
    assert_array_equal(found, inside & ~is_seen)
