from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles_forecasts
from tests.windows import observe_in

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr._frailty.forecast_law import Shock
from boostr._frailty.law import FrailtyLaw
from boostr._training.frailty import TrainingCurves, look_ahead, some_of
from boostr._training.inputs import TrainingData
from boostr._training.rolling import (
    Forecast,
    cut_back,
    find_lead,
    look_back,
    make_shock,
    measure_level,
    roll_back,
)

# --- Individuals that tell frailties


@pytest.mark.parametrize("n", [0, 1, 2_999, 3_000, 3_001, 4_001, 100_000])
def test_the_subsample_is_evenly_spaced(n):
    rows = some_of(np.arange(n))
    steps = np.diff(rows)
    assert len(rows) == min(n, 3_000)
    assert steps.max(initial=1) - steps.min(initial=steps.max(initial=1)) <= 1


@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_histories_are_left_alone_where_frailties_do_not_vary(fleet, scale):
    law = FrailtyLaw(0.0, scale=scale, extra=0.2)
    seen = fleet.see()
    events, now = fleet.events, fleet.events.end - 2.0
    nothing = np.zeros(len(events))
    found, curves = look_ahead(seen.curves, events, now, law, seen.costs, nothing)
    told = law.posterior(seen.histories(law.cell), now, nothing)
    assert_array_equal(found.mean, told.mean)
    assert_array_equal(found.dispersion, told.dispersion)
    assert curves is seen.curves


# --- Errors of totals

LENGTHS = np.array([0.01, 0.5, 1.0, 2.0, 4.0, 9.0, 40.0])


def make_errors(*errors, lead=1.0, noise=0.0):
    return Shock(lead, np.array(errors), np.full(len(errors), noise))


@pytest.mark.parametrize("errors", [(), (0.1,), (0.3, -0.2, 0.1, 0.0)])
def test_errors_of_totals_grow_with_the_time_ahead(errors):
    variance = make_errors(*errors).variance(LENGTHS)
    assert np.all(np.diff(variance) > 0.0)


def test_errors_grow_more_slowly_after_some_leads():
    variance = make_errors(0.1, 0.1).variance(LENGTHS[2:])
    assert np.all(np.diff(variance / LENGTHS[2:]) <= 1e-12)
    assert_allclose(variance[1] / variance[0], 2.0)
    assert_allclose(variance[-1] / variance[-2], np.sqrt(40.0 / 9.0))


@pytest.mark.parametrize("error", [0.0, 0.1, 0.3])
def test_fewer_dates_make_wider_errors(error):
    widths = [
        make_errors(*[error] * n_dates).variance(np.ones(1)).item()
        for n_dates in (1, 2, 4, 8, 16)
    ]
    assert np.all(np.diff(widths) < 0.0)


def test_larger_errors_make_wider_ones():
    widths = [make_errors(e, -e, e).variance(np.ones(1)).item() for e in (0.0, 0.2, 0.5)]
    assert np.all(np.diff(widths) > 0.0)


def test_many_dates_have_the_variance_of_their_errors(rng):
    errors = rng.normal(0.0, 0.2, 4_000)
    assert_allclose(make_errors(*errors).variance(np.ones(1)), 0.2**2, rtol=0.05)


def test_chance_of_single_individuals_is_no_common_error():
    lucky = make_errors(0.2, -0.2, noise=0.04).variance(LENGTHS)
    assert_allclose(lucky, make_errors(0.0, 0.0).variance(LENGTHS))


def test_totals_are_never_more_variable_than_their_squares():
    assert make_errors(5.0, 5.0).variance(np.array([100.0])) == 1.0


def test_the_unit_of_time_of_errors_does_not_matter():
    days, hours = make_errors(0.1, 0.2), make_errors(0.1, 0.2, lead=24.0)
    assert_allclose(hours.variance(24.0 * LENGTHS), days.variance(LENGTHS))


# --- Forecasts and what came


@pytest.fixture
def forecast(rng):
    return Forecast(
        rng.uniform(0.5, 2.0, 6),
        rng.uniform(0.1, 0.4, 6),
        rng.poisson(1.0, 6).astype(float),
        rng.choice([0.0, 1.0, 2.0], 6),
    )


def test_the_error_is_a_logarithm_and_chance_is_that_of_counts(forecast):
    expected = forecast.weights @ forecast.expected + 0.5
    error, noise = forecast.error
    assert_allclose(np.exp(error) * expected, forecast.weights @ forecast.came + 0.5)
    variances = forecast.expected + forecast.dispersion * forecast.expected**2
    assert_allclose(noise, forecast.weights @ variances / expected**2)


def test_the_likelihood_is_that_of_weighted_counts(forecast):
    pairs = zip(forecast.came, forecast.expected, forecast.dispersion, strict=True)
    each = [oracles_forecasts.log_probability(*pair) for pair in pairs]
    assert_allclose(forecast.log_likelihood, forecast.weights @ each)


def test_scaled_forecasts_expect_more_and_saw_the_same(forecast):
    more = forecast.scaled(3.0)
    assert_allclose(more.expected, 3.0 * forecast.expected)
    assert_array_equal(more.came, forecast.came)


def test_shocks_are_the_errors_of_forecasts(forecast):
    shock = make_shock(2.5, [forecast, forecast.scaled(2.0)])
    assert shock.lead == 2.5
    pairs = list(zip(shock.errors, shock.noise, strict=True))
    assert_allclose(pairs, [forecast.error, forecast.scaled(2.0).error])


def test_without_forecasts_shocks_have_no_errors():
    assert make_shock(1.0, []).errors.size == 0


# --- Earlier dates


def as_data(X, y, Z=None):
    return TrainingData(X, y, np.ones(len(y)), Z, np.ones(len(y), dtype=bool))


class Fleet:
    """A small model of a feature that doubles the rate, and what it was learned from."""

    def __init__(self, rng, rate, n_origins=4):
        self.X = rng.integers(1, 3, (150, 1)).astype(float)
        times = []
        for factor in self.X[:, 0]:
            tried = rng.uniform(0.0, 10.0, rng.poisson(40.0 * factor))
            times.append(np.sort(tried[rng.random(len(tried)) < rate(tried)]))
        self.events = RecurrentEvents.from_lists(times, end=10.0)
        self.model = BoostR(n_estimators=10, n_origins=n_origins, random_state=0)
        self.law = self.model.fit(self.X, self.events).forecast_law_

    def see(self, events=None):
        data = as_data(self.X, self.events if events is None else events)
        theta = self.model.out_of_fold_coefficients_
        return TrainingCurves.of(self.model.fitted_.trees, data, theta, self.law.paced)

    def roll_back(self, events=None, n_dates=4):
        return self.roll_back_by(True, events=events, n_dates=n_dates)[0]

    def roll_back_by(self, *ways, events=None, n_dates=4):
        trees, law = self.model.fitted_.trees, self.law.frailty
        return roll_back(trees, self.see(events), law, 1.0, n_dates, ways)


def steady(time):
    return np.full_like(time, 0.5)


def falling(time):
    return 1.0 / (1.0 + time)


def jumping(time):
    return np.where((time > 6.0) & (time < 8.0), 1.0, 0.2)


@pytest.fixture(scope="module")
def fleet():
    return Fleet(np.random.default_rng(5), steady)


def change_after(events, moment, rng):
    """Return the histories with other events after a time."""
    owner, early = events.event_owner, events.times <= moment
    times = [
        np.append(
            events.times[(owner == row) & early],
            np.sort(rng.uniform(moment, events.end[row], 3)),
        )
        for row in range(len(events))
    ]
    return RecurrentEvents.from_lists(times, end=events.end, start=events.start)


@pytest.mark.parametrize("n_back", [1, 2, 4])
def test_forecasts_do_not_look_at_what_came_later(fleet, rng, n_back):
    changed = change_after(fleet.events, 10.0 - n_back, rng)
    before, after = fleet.roll_back(), fleet.roll_back(changed)
    for old, new in list(zip(before, after, strict=True))[n_back - 1 :]:
        assert_array_equal(old.expected, new.expected)
        assert_array_equal(old.dispersion, new.dispersion)
    assert np.any(before[n_back - 1].came != after[n_back - 1].came)


def test_forecasts_do_look_at_what_came_before(fleet, rng):
    changed = change_after(fleet.events, 5.0, rng)
    before, after = fleet.roll_back(n_dates=1), fleet.roll_back(changed, n_dates=1)
    assert np.all(before[0].expected != after[0].expected)


@pytest.mark.parametrize("length", [0.5, 2.0])
def test_the_law_of_an_earlier_time_does_not_know_what_came_later(fleet, rng, length):
    trees = fleet.model.fitted_.trees
    changed = change_after(fleet.events, 10.0 - length, rng)
    one, other, late = (
        look_back(trees, seen, fleet.law, back)
        for seen, back in (
            (fleet.see(), length),
            (fleet.see(changed), length),
            (fleet.see(changed), 0.01),
        )
    )
    assert one.level == other.level
    assert_array_equal(one.paced.pace.factors, other.paced.pace.factors)
    assert_array_equal(one.paced.clock.log_counts, other.paced.clock.log_counts)
    assert np.any(one.paced.clock.log_counts[-1] != late.paced.clock.log_counts[-1])


def test_before_much_was_known_there_is_no_law(fleet):
    trees = fleet.model.fitted_.trees
    assert look_back(trees, fleet.see(), fleet.law, 9.9999) is None


def test_what_came_is_counted_over_one_lead(fleet):
    for place, forecast in enumerate(fleet.roll_back(), start=1):
        late = (fleet.events.times > 10.0 - place) & (fleet.events.times <= 11.0 - place)
        expected = np.bincount(fleet.events.event_owner[late], minlength=150)
        assert_array_equal(forecast.came, expected)


@pytest.mark.slow
def test_a_steady_fleet_is_forecast_well_and_one_that_jumps_is_not(fleet):
    jumps = Fleet(np.random.default_rng(5), jumping)
    errors = [np.abs(one.law.shock.errors) for one in (fleet, jumps)]
    assert errors[0].max() < 0.25
    assert errors[1].max() > 2.0 * errors[0].max()
    lead = np.array([fleet.law.shock.lead])
    assert jumps.law.shock.variance(lead) > 2.0 * fleet.law.shock.variance(lead)


def test_as_many_dates_are_tried_as_asked_for(fleet):
    assert len(fleet.law.shock.errors) == 4
    none = Fleet(np.random.default_rng(5), steady, n_origins=0)
    assert none.law.shock.errors.size == 0


def test_dates_after_which_nobody_was_observed_are_left_out(fleet):
    whole = fleet.events
    times = [whole.times[whole.event_owner == row] for row in range(len(whole))]
    gap = observe_in([(0.0, 5.0), (8.5, 10.0)], times)
    [latest] = fleet.roll_back(gap)
    late = whole.times > 9.0
    assert_array_equal(latest.came, np.bincount(whole.event_owner[late], minlength=150))


@pytest.mark.parametrize("rate", [steady, falling])
def test_forecasts_of_all_ways_are_those_of_each(rate):
    fleet = Fleet(np.random.default_rng(5), rate)
    together = fleet.roll_back_by(True, False)
    for way, forecasts in zip((True, False), together, strict=True):
        for one, other in zip(forecasts, fleet.roll_back_by(way)[0], strict=True):
            assert_array_equal(one.expected, other.expected)
    pairs = zip(*together, strict=True)
    differ = [np.any(falls.expected != stays.expected) for falls, stays in pairs]
    assert any(differ) == (rate is falling)


def test_the_lead_is_a_tenth_of_the_time_axis(fleet):
    assert find_lead(fleet.events) == 1.0
    assert fleet.law.shock.lead == 1.0


def test_the_level_of_the_last_lead_is_believed_in_part(fleet, rng):
    # As many events once more in the last unit of time.
    events = fleet.events
    owner, late = events.event_owner, events.times > 9.0
    times = [
        np.sort(np.append(own, rng.uniform(9.0, 10.0, np.sum(late & (owner == row)))))
        for row, own in enumerate(
            [events.times[owner == row] for row in range(len(events))]
        )
    ]
    doubled = RecurrentEvents.from_lists(times, end=10.0)
    seen = fleet.see()
    law = FrailtyLaw(0.0)
    once = measure_level(seen, law, 1.0)
    twice = measure_level(replace(seen, data=as_data(fleet.X, doubled)), law, 1.0)
    assert_allclose(once, 1.0, atol=0.1)
    assert_allclose(twice / once, 2.0 ** (1 / 3), rtol=0.02)


def test_what_was_known_ends_some_time_before_the_end(fleet):
    known, rows = cut_back(as_data(fleet.X, fleet.events), 3.0)
    assert_array_equal(rows, np.arange(150))
    assert_allclose(known.events.end, 7.0)
    assert_array_equal(
        np.sort(known.events.times), np.sort(fleet.events.times[fleet.events.times <= 7.0])
    )


def test_individuals_who_came_later_are_not_known_yet(rng):
    start = np.where(np.arange(40) < 30, 0.0, 8.0)
    times = [[begin + 0.5, begin + 1.0] for begin in start]
    events = RecurrentEvents.from_lists(times, end=10.0, start=start)
    known, rows = cut_back(as_data(np.zeros((40, 1)), events), 3.0)
    assert_array_equal(rows, np.arange(30))
    assert len(known) == 30


@pytest.mark.parametrize(("n", "n_events"), [(9, 2), (200, 0)])
def test_dates_before_which_little_was_known_are_left_out(n, n_events):
    times = [[*[1.0, 2.0][:n_events], 9.0]] * n
    events = RecurrentEvents.from_lists(times, end=10.0)
    assert cut_back(as_data(np.zeros((n, 1)), events), 3.0) is None


def test_sensors_are_known_up_to_the_same_time(rng):
    n = 20
    times, offsets = np.tile([0.0, 4.0, 8.0], n), 3 * np.arange(n + 1)
    sensors = Trajectories.from_flat(times, offsets, [rng.random(3 * n)], ["load"])
    events = RecurrentEvents.from_lists([[1.0, 2.0]] * n, end=10.0)
    known, _ = cut_back(as_data(np.zeros((n, 1)), events, sensors), 3.0)
    assert_array_equal(np.diff(known.sensors.offsets), np.full(n, 2))
    assert known.sensors.times.max() == 4.0
