from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from tests.windows import observe_in

from boostr._frailty.law import SeenNumbers
from boostr._frailty.pace import CurvesOnClock, Pace, PacedClock, find_rises, fit_pace
from boostr.basis import CalendarClock, OperationalClock
from boostr.data import RecurrentEvents

RECENT_EVENTS = 30  # that tell the last factor at least

quarters = st.integers(0, 40).map(lambda number: number / 4)
begins_of = st.lists(quarters, min_size=1, max_size=6, unique=True).map(sorted)


def make_pace(begins):
    return Pace(np.array(begins), 1.0 + 0.5 * np.arange(len(begins)))


# --- Stretches


@given(begins=begins_of, time=quarters)
def test_a_begin_belongs_to_the_stretch_before_it(begins, time):
    earlier = [begin for begin in begins if begin < time]
    found = make_pace(begins).find(np.array([time]))
    assert found.item() == max(len(earlier) - 1, 0)


# --- Paced curves

CLOCK = CalendarClock(2.0)
SLOPES = np.array([0.5, 3.0])


def everybody(clock_times):
    return SLOPES[:, None] * clock_times**2


def each(rows, clock_times):
    return SLOPES[rows] * clock_times**2


borders_of = st.lists(quarters, min_size=2, max_size=6, unique=True).map(sorted)


@given(begins=begins_of, borders=st.tuples(borders_of, borders_of))
def test_rises_are_those_in_the_part_of_a_stretch_that_is_observed(begins, borders):
    windows = [list(zip(own[::2], own[1::2], strict=False)) for own in borders]
    start, stop = np.array([window for own in windows for window in own]).T
    events = replace(
        RecurrentEvents.from_lists([[], []], end=20.0),
        window_start=start,
        window_stop=stop,
        window_offsets=np.cumsum([0, *map(len, windows)]),
    )
    pace = make_pace([min(start.min(), begins[0]), *begins[1:]])
    expected = np.zeros((2, len(begins)))
    ends = [*pace.begins[1:], np.inf]
    for row, own in enumerate(windows):
        for place, span in enumerate(zip(pace.begins, ends, strict=True)):
            for window in own:
                inside = np.clip(span, *window)
                expected[row, place] += np.diff(everybody(CLOCK.read(inside))[row]).item()
    edges = np.append(pace.begins, 20.0)
    found = find_rises(CurvesOnClock(CLOCK, everybody, each), edges, events)
    assert_allclose(found, expected.T, rtol=1e-12, atol=1e-9)


@given(begins=begins_of, time=st.floats(0.0, 20.0))
def test_paced_curves_rise_by_factors_of_stretches(begins, time):
    pace = make_pace(begins)
    paced, rows = PacedClock(CLOCK, pace), np.arange(2)
    ends = [0.0, *begins[1:], np.inf]
    expected = sum(
        factor * np.diff(everybody(CLOCK.read(np.minimum([start, stop], time)))).ravel()
        for factor, start, stop in zip(pace.factors, ends, ends[1:], strict=False)
    )
    found = paced.read(each, paced.table(everybody), rows, np.full(2, time))
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_the_table_has_the_curves_where_stretches_begin():
    paced = PacedClock(CLOCK, make_pace([1.0, 2.5, 4.0]))
    table = paced.table(everybody)
    for place, begin in enumerate(paced.pace.begins):
        found = paced.read(each, table, np.arange(2), np.full(2, begin))
        assert_array_equal(table.paced[place], found)


def test_an_even_pace_changes_nothing():
    paced, times = PacedClock(CLOCK, Pace.even()), np.array([0.0, 0.3, 7.0, 1e6])
    table = paced.table(everybody)
    for row in range(2):
        rows = np.full(4, row)
        found = paced.read(each, table, rows, times)
        assert_array_equal(found, each(rows, CLOCK.read(times)))


# --- The pace of events


class Fleet:
    """Individuals with constant predicted rates, and frailties around them."""

    def __init__(self, rng, n, variance=0.0, rate=None):
        self.rates = rng.uniform(0.5, 1.5, n)
        frailty = rng.gamma(1.0 / variance, variance, n) if variance else np.ones(n)
        start = rng.uniform(0.0, 3.0, n)
        end = start + rng.uniform(1.0, 10.0, n)
        highest = 2.0 * frailty * self.rates
        times = []
        for row in range(n):
            number = rng.poisson(highest[row] * (end[row] - start[row]))
            tried = rng.uniform(start[row], end[row], number)
            course = np.ones(number) if rate is None else rate(tried)
            times.append(np.sort(tried[rng.uniform(0.0, 2.0, number) < course]))
        self.events = RecurrentEvents.from_lists(times, end=end, start=start)

    def fit(self, clock=None, weights=None, cost=1.0):
        events, n = self.events, len(self.events)
        weights = np.ones(n) if weights is None else weights
        if clock is None:
            clock = OperationalClock.from_events(events, weights)
        amounts = np.full(len(events.times), 1.0)
        read_all = lambda times: cost * np.outer(self.rates, times)  # noqa: E731
        read = lambda rows, times: cost * self.rates[rows] * times  # noqa: E731
        curves = CurvesOnClock(clock, read_all, read)
        pace = fit_pace(curves, events, amounts, weights, cost)
        return pace.go_on(), pace.variance

    def take(self, rows):
        part = object.__new__(Fleet)
        part.rates, part.events = self.rates[rows], self.events[rows]
        return part

    def expect(self, paced):
        """Return what all are expected to have in each stretch at this pace, (n, k)."""
        edges = np.append(paced.pace.begins, np.inf)
        expected = []
        for start, stop, rate in zip(
            self.events.start, self.events.end, self.rates, strict=True
        ):
            inside = paced.clock.read(np.clip(edges, start, stop))
            expected.append(rate * paced.pace.factors * np.diff(inside))
        return np.array(expected)


def falls(time):
    return np.where(time < 5.0, 1.0, 0.4)


@pytest.fixture(params=[0.0, 0.8])
def variance(request):
    return request.param


def test_frailty_weighted_expectations_are_the_events_of_every_stretch(rng, variance):
    fleet = Fleet(rng, 500, variance, falls)
    paced, found = fleet.fit()
    expected = fleet.expect(paced)
    seen = np.diff(fleet.events.event_offsets)
    frailty = (1.0 + found * seen) / (1.0 + found * expected.sum(axis=1))
    came = np.bincount(paced.pace.find(fleet.events.times), minlength=expected.shape[1])
    assert_allclose(frailty @ expected, came, rtol=0.02, atol=0.1)


def test_the_variance_is_that_of_permanent_frailties_at_this_pace(rng, variance):
    fleet = Fleet(rng, 500, variance, falls)
    paced, found = fleet.fit()
    seen = np.diff(fleet.events.event_offsets).astype(float)
    again = SeenNumbers.of(seen).fit_variance(fleet.expect(paced).sum(axis=1))
    assert_allclose(found, again, rtol=0.01, atol=1e-3)
    assert abs(found - variance) < 0.2


def test_further_rounds_would_change_nothing(rng, variance, monkeypatch):
    fleet = Fleet(rng, 500, variance, falls)
    paced, found = fleet.fit()
    monkeypatch.setattr("boostr._frailty.pace._STILL", 0.0)
    further, more = fleet.fit()
    assert_allclose(paced.pace.factors, further.pace.factors, rtol=5e-3)
    assert_allclose(found, more, rtol=5e-3)


@pytest.mark.parametrize("clock", [CalendarClock(1.0), None])
def test_right_predictions_have_an_even_pace(rng, clock):
    fleet = Fleet(rng, 2_000)
    if clock is None:  # one whose own course is right for everybody
        clock = replace(
            OperationalClock.from_events(fleet.events),
            log_times=np.log([1.0, 5.0, 13.0]),
            log_counts=np.log([1.0, 5.0, 13.0]),
            first_slope=1.0,
            last_rate=1.0,
        )
    paced, found = fleet.fit(clock)
    came = np.bincount(paced.pace.find(fleet.events.times))
    errors = 1.0 / np.sqrt(np.append(came, RECENT_EVENTS))
    assert np.all(np.abs(paced.pace.factors - 1.0) < 3.0 * errors)
    assert found < 0.02


def test_who_is_left_does_not_make_the_pace(rng):
    # Frail individuals are observed longer: the average rate rises, nobody's own does.
    fleet = Fleet(rng, 3_000)
    is_frail = rng.random(3_000) < 0.5
    end = np.where(is_frail, 10.0, 5.0)
    rate = np.where(is_frail, 1.6, 0.4)
    times = [
        np.sort(rng.uniform(0.0, stop, rng.poisson(own * stop)))
        for stop, own in zip(end, rate, strict=True)
    ]
    fleet.events, fleet.rates = RecurrentEvents.from_lists(times, end=end), np.ones(3_000)
    paced, _ = fleet.fit()
    rise = lambda read: np.diff(read(np.array([0.5, 4.5, 5.5, 9.5])))[[0, 2]]  # noqa: E731
    pooled = rise(paced.clock.read)
    table = paced.table(lambda times: times[None, :])
    straight = lambda rows, times: times  # noqa: E731
    own = rise(lambda at: paced.read(straight, table, np.zeros(4, int), at))
    assert pooled[1] / pooled[0] > 1.5
    assert abs(own[1] / own[0] - 1.0) < 0.15


@pytest.mark.parametrize("windows", [[(0, 50), (99, 100)], [(0, 40), (60, 64), (95, 100)]])
def test_a_gap_of_all_does_not_change_the_rate_that_goes_on(rng, windows):
    times = [np.sort(rng.uniform(0.0, 100.0, rng.poisson(50.0))) for _ in range(400)]
    fleet = object.__new__(Fleet)
    fleet.rates, fleet.events = np.ones(400), observe_in(windows, times)
    paced, _ = fleet.fit()
    rate = paced.pace.factors[-1] * paced.clock.rate(np.array([101.0]))
    assert_allclose(rate, 0.5, rtol=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_weight_two_is_the_individual_twice(seed):
    rng = np.random.default_rng(seed)
    fleet = Fleet(rng, 60, 0.5)
    weights = rng.choice([1.0, 2.0, 3.0], 60)
    twice = fleet.take(np.repeat(np.arange(60), weights.astype(int)))
    (weighed, one), (repeated, other) = fleet.fit(weights=weights), twice.fit()
    assert_allclose(weighed.pace.begins, repeated.pace.begins)
    assert_allclose(weighed.pace.factors, repeated.pace.factors, rtol=1e-6)
    assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("unit", [24.0, 1 / 7])
def test_the_unit_of_time_does_not_matter(rng, unit):
    fleet = Fleet(rng, 60, 0.5, falls)
    events = fleet.events
    other = fleet.take(np.arange(60))
    other.events = RecurrentEvents.from_flat(
        unit * events.times,
        events.event_offsets,
        start=unit * events.start,
        end=unit * events.end,
    )
    (here, _), (there, _) = fleet.fit(), other.fit()
    assert_allclose(there.pace.begins, unit * here.pace.begins)
    assert_allclose(there.pace.factors, here.pace.factors, rtol=1e-6)
    assert_allclose(there.clock.last_slope, here.clock.last_slope, rtol=1e-6)


def test_the_unit_of_costs_does_not_matter(rng):
    fleet = Fleet(rng, 60, 0.5)
    clock = OperationalClock.from_events(fleet.events)
    (one, _), (other, _) = fleet.fit(clock), fleet.fit(clock, cost=40.0)
    assert_allclose(one.pace.factors, other.pace.factors)


def test_the_recent_factor_goes_on_after_the_end(rng):
    # The clock says nothing of the fall after 8, the events do.
    fleet = Fleet(rng, 3_000, rate=lambda time: np.where(time < 10.0, 1.0, 0.5))
    paced, _ = fleet.fit(CalendarClock(1.0))
    assert paced.pace.begins[-1] == fleet.events.window_stop.max()
    assert_allclose(paced.pace.factors[-1], 0.5, atol=0.15)
    assert_allclose(paced.pace.factors[:5], 1.0, atol=0.1)


def test_a_fall_at_this_pace_goes_on(rng):
    fleet = Fleet(rng, 1_500, rate=lambda time: (time + 0.3) ** -0.5)
    paced, _ = fleet.fit()
    rate = paced.pace.factors[-1] * paced.clock.rate(np.array([14.0, 28.0]))
    assert_allclose(paced.clock.last_slope, 0.5, atol=0.15)
    assert_allclose(rate, [14.0**-0.5, 28.0**-0.5], rtol=0.15)


def test_clocks_of_old_model_files_go_on_as_they_did(rng):
    fleet = Fleet(rng, 100)
    old = OperationalClock(0.0, np.log([2.0, 5.0]), np.log([0.5, 3.0]), 1.2, 1.7)
    assert fleet.fit(old)[0].clock is old
