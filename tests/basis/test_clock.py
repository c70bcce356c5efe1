import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from tests.oracles_clock import weighted_mean

from boostr.basis import CalendarClock, OperationalClock, _clock
from boostr.data import RecurrentEvents, RiskTable


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


def test_beyond_the_data_the_power_law_goes_on(rng):
    clock = OperationalClock.from_events(power_law_events(rng, 1_500))
    assert_allclose(clock.read(np.array([20.0])), 0.5 * 20.0**1.7, rtol=0.1)


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
    assert_allclose(len(events.times), exposure.sum(), rtol=0.05)


def test_costs_count(rng):
    times = [np.sort(rng.uniform(0, 5, 3)) for _ in range(40)]
    plain = RecurrentEvents.from_lists(times, end=5.0)
    costly = RecurrentEvents.from_lists(times, end=5.0, cost=[[2.5] * 3] * 40)
    grid = np.linspace(0.0, 8.0, 30)
    assert_allclose(
        OperationalClock.from_events(costly).read(grid),
        2.5 * OperationalClock.from_events(plain).read(grid),
    )


def test_weight_two_is_the_row_twice(rng, ragged):
    weights = rng.choice([1.0, 2.0], len(ragged))
    repeated = ragged[np.repeat(np.arange(len(ragged)), weights.astype(int))]
    grid = np.linspace(0.0, 12.0, 40)
    assert_allclose(
        OperationalClock.from_events(ragged, weights).read(grid),
        OperationalClock.from_events(repeated).read(grid),
    )


def test_the_unit_of_time_does_not_matter(ragged):
    days = RecurrentEvents.from_flat(
        24.0 * ragged.times,
        ragged.event_offsets,
        start=24.0 * ragged.start,
        end=24.0 * ragged.end,
    )
    grid = np.linspace(0.0, 12.0, 40)
    assert_allclose(
        OperationalClock.from_events(days).read(24.0 * grid),
        OperationalClock.from_events(ragged).read(grid),
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
    costs = [np.where(own < 4.0, 1.0, 0.0) for own in times]
    with_free = RecurrentEvents.from_lists(times, end=10.0, cost=costs)
    without = RecurrentEvents.from_lists([own[own < 4.0] for own in times], end=10.0)
    grid = np.linspace(0.0, 20.0, 40)
    clocks = [OperationalClock.from_events(events) for events in (with_free, without)]
    assert_allclose(clocks[0].read(grid), clocks[1].read(grid))


def test_one_event_makes_a_straight_clock():
    # Half of the event (of one in four individuals) has happened at its own time.
    events = RecurrentEvents.from_lists([[2.0], [], [], []], end=5.0)
    clock = OperationalClock.from_events(events)
    assert_allclose(clock.read(np.array([0.0, 2.0, 4.0])), [0.0, 0.125, 0.25])


def test_one_event_gives_one_rate():
    events = RecurrentEvents.from_lists([[2.0], [], [], []], end=5.0)
    clock = OperationalClock.from_events(events)
    assert_allclose(clock.rate(np.array([0.0, 2.0, 4.0])), [0.0625] * 3)


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
    monkeypatch.setattr("boostr.basis._clock._SAMPLE_SIZE", 300)
    sampled = OperationalClock.from_events(events)
    part = OperationalClock.from_events(events[::3])
    grid = np.linspace(0.0, 12.0, 20)
    assert np.array_equal(sampled.read(grid), part.read(grid))


def frail_events(rng, n=100, exponent=1.2):
    """Frailties of variance 1 and staggered ends: 2 * t^exponent for the average."""
    end = rng.uniform(6.0, 10.0, n)
    counts = rng.poisson(rng.gamma(1.0, 1.0, n) * 2.0 * end**exponent)
    times = [
        stop * rng.random(k) ** (1 / exponent) for stop, k in zip(end, counts, strict=True)
    ]
    return RecurrentEvents.from_lists(times, end=end)


def gappy_people(rng, n=14):
    """Windows with gaps, events with costs, and weights."""
    people = []
    for _ in range(n):
        first = np.sort(rng.uniform(0.0, 10.0, 4))
        windows = [tuple(first[:2]), tuple(first[2:])]
        rate = rng.gamma(1.0, 1.0)
        events = [
            (rng.uniform(start, stop), rng.uniform(0.5, 2.0))
            for start, stop in windows
            for _ in range(rng.poisson(rate * (stop - start)))
        ]
        people.append((windows, sorted(events), rng.choice([1.0, 2.5])))
    return people


def as_events(people):
    rows = []
    for place, (windows, events, _) in enumerate(people):
        for start, stop in windows:
            inside = [event for event in events if start < event[0] <= stop]
            starts = [start, *(time for time, _ in inside)]
            stops = [*inside, (stop, 0.0)]
            rows += [
                (place, begin, time, cost > 0.0, cost)
                for begin, (time, cost) in zip(starts, stops, strict=True)
            ]
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event", "cost"])
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event", "cost")


@pytest.fixture(params=range(3))
def gappy(request):
    return gappy_people(np.random.default_rng(request.param))


def test_individuals_count_as_their_own_histories_say(gappy):
    weights = np.array([weight for _, _, weight in gappy])
    found = _clock._pool(as_events(gappy), weights)
    known = weighted_mean(gappy, _clock._N_ROUNDS)
    assert_allclose(found, known, rtol=1e-9)


def test_frailties_change_nothing_where_all_are_observed_alike(rng, monkeypatch):
    events = power_law_events(rng, 60)
    grid = np.linspace(0.0, 20.0, 50)
    weighed = OperationalClock.from_events(events).read(grid)
    monkeypatch.setattr(_clock, "_weigh", None)  # would fail if it was called
    assert np.array_equal(OperationalClock.from_events(events).read(grid), weighed)


def test_weights_make_the_continuation_surer(monkeypatch):
    ahead = lambda clock: clock.read(np.array([13.0])) / clock.read(np.array([8.0]))  # noqa: E731
    fleets = [frail_events(np.random.default_rng(seed)) for seed in range(20)]
    weighed = [ahead(OperationalClock.from_events(fleet)) for fleet in fleets]
    monkeypatch.setattr(_clock, "_pool", _plain_mean)
    straight = [ahead(OperationalClock.from_events(fleet)) for fleet in fleets]
    truth = (13.0 / 8.0) ** 1.2
    errors = [np.sqrt(np.mean((np.array(x) - truth) ** 2)) for x in (weighed, straight)]
    assert errors[0] < 0.7 * errors[1]


def _plain_mean(events, weights):
    table = RiskTable.from_events(events, weights)
    return table.times, np.cumsum(table.totals(table.cost) / table.at_risk())


def test_the_mean_is_found_where_courses_differ(rng):
    # Half of the individuals slow down and half wear: no frailty is the same all the time.
    n = 3_000
    exponent = np.where(rng.random(n) < 0.5, 0.6, 1.8)
    end = rng.uniform(2.0, 10.0, n)
    counts = rng.poisson(4.0 * (end / 10.0) ** exponent)
    times = [
        stop * rng.random(k) ** (1.0 / a)
        for stop, k, a in zip(end, counts, exponent, strict=True)
    ]
    events = RecurrentEvents.from_lists(times, end=end)
    _, weighed = _clock._pool(events, np.ones(n))
    _, plain = _plain_mean(events, np.ones(n))
    assert np.max(np.abs(weighed / plain - 1.0)) > 1e-4  # weights were not all one
    assert_allclose(weighed, plain, rtol=0.02)


def test_where_observation_stops_because_of_events_everybody_counts_alike(rng):
    # Everybody leaves with the third event: who is left is no sample of all.
    waits = rng.exponential(rng.gamma(2.0, 1.0, (60, 1)), (60, 3))
    times = np.cumsum(waits, axis=1)
    events = RecurrentEvents.from_lists(list(times), end=times[:, -1])
    _, mean = _clock._pool(events, np.ones(60))
    assert_allclose(mean, _plain_mean(events, np.ones(60))[1])
