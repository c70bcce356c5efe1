"""Rates along a second time scale: the age in calendar time, or the date in age."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from scipy.special import gammaln

import boostr
from boostr import BoostR, RecurrentEvents
from boostr._frailty.own_pace import SecondScale
from boostr._frailty.pace import CurvesOnClock, Pace, fit_pace
from boostr._frailty.second_scale import (
    _PRIOR,
    _Counts,
    _cut,
    _find_quantiles,
    _Grid,
    fit_second_scale,
)
from boostr._training import law
from boostr.basis import CalendarClock

NOW = 1000.0
RATE = 0.01  # of everybody, before frailties and factors
CLOCK = CalendarClock()


def flat_curves(n):
    def each(rows, clock_times):
        return RATE * clock_times

    def everybody(clock_times):
        return np.tile(RATE * clock_times, (n, 1))

    return CurvesOnClock(CLOCK, everybody, each)


def by_age(age):
    return 0.5 + 2.0 * np.exp(-age / 80.0)


def draw(n, seed, *, factor=np.ones_like, cohort=np.ones_like, variance=0.3):
    """Return entries, and events up to now at rates with a factor of age."""
    rng = np.random.default_rng(seed)
    entry = np.floor(rng.random(n) * (NOW - 50.0))
    frailty = cohort(entry) * rng.gamma(1.0 / variance, variance, n)
    days = np.arange(NOW) + 0.5
    times = []
    for start, own in zip(entry, frailty, strict=True):
        rates = RATE * own * factor(np.maximum(days - start, 0.0))
        growth = np.append(0.0, np.cumsum(np.where(days > start, rates, 0.0)))
        shares = rng.random(rng.poisson(growth[-1]))
        times.append(np.sort(np.interp(growth[-1] * shares, growth, np.arange(NOW + 1.0))))
    return entry, times


def find(entry, times, weights=None):
    y = RecurrentEvents.from_lists(times, start=entry, end=NOW)
    weights = np.ones(len(entry)) if weights is None else weights
    curves, amounts = flat_curves(len(entry)), np.ones(len(y.times))
    pace = fit_pace(curves, y, amounts, weights)
    return fit_second_scale(curves, y, amounts, weights, pace)


# --- Curves


@given(
    begins=st.lists(st.integers(1, 60), min_size=1, max_size=4, unique=True).map(sorted),
    factors=st.lists(st.floats(0.05, 9.0), min_size=5, max_size=5),
    offset=st.floats(-30.0, 30.0),
    at=st.floats(0.0, 80.0),
)
def test_curves_rise_by_the_factor_of_the_second_time(begins, factors, offset, at):
    second = SecondScale(
        np.array([0.0, *begins]), np.array(factors[: len(begins) + 1]), True
    )
    pace = second.on(lambda rows, times: times**2, np.array([offset]))
    found = pace.change(np.array([at**2]), np.zeros(1, dtype=np.intp))
    inner = np.clip(np.array(begins) - offset, 0.0, at)
    rises = np.diff([0.0, *inner**2, at**2])
    assert_allclose(found, np.sum(second.factors * rises), rtol=1e-9, atol=1e-9)


def test_ages_count_from_entry_and_the_last_date_is_now_without_dates():
    begins, factors = np.array([0.0, 10.0]), np.array([2.0, 1.0])
    y = RecurrentEvents.from_lists([[1.0], [2.0]], end=9.0)
    entry, now = np.array([0.0, 5.0]), np.array([9.0, 7.0])
    ages = SecondScale(begins, factors, False)
    assert_array_equal(ages.place(y, entry, now), [0.0, -5.0])
    dates = SecondScale(begins, factors, True)
    assert_array_equal(dates.place(y, entry, now), [1.0, 3.0])


# --- The fit


@given(
    values=st.lists(st.integers(0, 9), min_size=1, max_size=30),
    n_parts=st.integers(2, 6),
    data=st.data(),
)
def test_weighted_quantiles_are_those_of_repeated_values(values, n_parts, data):
    n = len(values)
    weights = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    repeated = np.sort(np.repeat(values, weights))
    shares = np.arange(1, n_parts) * len(repeated)
    expected = np.unique(repeated[-(-shares // n_parts) - 1])
    found = _find_quantiles(np.array(values, float), np.array(weights, float), n_parts)
    assert_array_equal(found, expected)


@given(
    entry=st.lists(st.floats(0.0, 900.0), min_size=1, max_size=5),
    edges=st.lists(st.floats(1.0, 999.0), max_size=4, unique=True).map(sorted),
    begins=st.lists(st.floats(1.0, 900.0), min_size=1, max_size=4, unique=True).map(sorted),
)
def test_pieces_lie_in_one_stretch_of_either_scale(entry, edges, begins):
    entry = np.array(entry)
    y = RecurrentEvents.from_lists([[]] * len(entry), start=entry, end=NOW)
    edges = np.array([0.0, *edges, NOW])
    stretches = Pace.at(np.array([0.0, *begins]))
    pieces = _cut(flat_curves(len(entry)), y, edges, stretches, -entry)
    found = np.zeros((len(entry), len(edges) - 1, len(stretches.begins)))
    np.add.at(found, (pieces.owner, pieces.step, pieces.stretch), pieces.rises)
    own = np.append(stretches.begins, np.inf)
    for row, start in enumerate(entry):
        for step in range(len(edges) - 1):
            for stretch in range(len(begins) + 1):
                low = max(start, edges[step], start + own[stretch])
                high = min(NOW, edges[step + 1], start + own[stretch + 1])
                expected = RATE * max(high - low, 0.0)
                assert found[row, step, stretch] == pytest.approx(expected, abs=1e-9)


def test_factors_have_the_highest_likelihood_that_individuals_tell():
    entry, times = draw(60, 0, factor=by_age)
    y = RecurrentEvents.from_lists(times, start=entry, end=NOW)
    curves, n = flat_curves(60), 60
    amounts, weights = np.ones(len(y.times)), np.ones(n)
    pace = fit_pace(curves, y, amounts, weights)
    stretches = Pace.at(np.array([0.0, 60.0, 200.0, 500.0]))
    pieces = _cut(curves, y, pace.edges, stretches, -entry)
    counts = _Counts.of(y, amounts, weights, pieces.rises)
    ages = stretches.find(y.times - entry[y.event_owner])
    grid = _Grid.of(counts, pieces, pace, y.times).split(stretches, pieces.stretch, ages)
    found = grid.fit(pace, 200)
    steps = Pace.at(pace.edges[:-1]).find(y.times)
    k, shape = len(pace.factors), 1.0 / found.variance

    def loss(logs):
        log_rows, log_columns = logs[:k], logs[k:]
        rises = pieces.rises * np.exp(log_rows[pieces.step] + log_columns[pieces.stretch])
        total = 0.0
        for row in range(n):
            expected, seen = rises[pieces.owner == row].sum(), len(times[row])
            total += gammaln(seen + shape) - gammaln(shape) + shape * np.log(shape)
            total -= (seen + shape) * np.log(expected + shape)
        total += log_rows[steps].sum() + log_columns[ages].sum()
        total += _PRIOR * np.sum(log_rows - np.exp(log_rows))
        return -total - _PRIOR * np.sum(log_columns - np.exp(log_columns))

    best = optimize.minimize(loss, np.zeros(k + 4), method="BFGS", options={"gtol": 1e-4}).x
    factors = np.outer(np.exp(best[:k]), np.exp(best[k:]))
    assert_allclose(np.outer(found.rows, found.columns), factors, rtol=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_a_fleet_that_grows_shows_early_failures(seed):
    entry, times = draw(300, seed, factor=by_age)
    second = find(entry, times).second
    assert not second.counts_dates
    ages = 0.5 * (second.begins[:-1] + second.begins[1:])
    expected = by_age(ages)
    scale = np.exp(np.mean(np.log(second.factors[:-1] / expected)))
    assert_allclose(second.factors[:-1], scale * expected, rtol=0.4)
    assert second.factors[0] > 2.0 * second.factors[-1]


def test_a_weight_of_two_counts_as_two_individuals():
    entry, times = draw(120, 1, factor=by_age)
    twice = find(np.append(entry, entry[:50]), [*times, *times[:50]])
    found = find(entry, times, np.where(np.arange(120) < 50, 2.0, 1.0))
    assert_array_equal(found.second.begins, twice.second.begins)
    assert_allclose(found.second.factors, twice.second.factors)
    assert found.variance == pytest.approx(twice.variance)


def test_constant_rates_show_nothing():
    assert [find(*draw(150, seed)) for seed in range(10)].count(None) >= 9


def test_cohorts_are_no_ages():
    def cohort(entry):
        return np.where(entry < 500.0, 3.0, 0.5)

    assert [find(*draw(300, seed, cohort=cohort)) for seed in range(5)].count(None) >= 4


def test_who_enters_together_has_one_time_scale():
    _, times = draw(300, 0, factor=by_age)
    assert find(np.zeros(300), times) is None


def test_few_events_show_nothing():
    entry, times = draw(6, 0, factor=by_age)
    assert find(entry, times) is None


# --- Forecasts


def fit(X, y):
    model = BoostR(random_state=0).fit(X, y)
    assert model.fitted_.forecast_law.paced.second is not None
    return model


@pytest.fixture(scope="module")
def growing():
    """Return a model in calendar time of machines with early failures, and histories."""
    entry, times = draw(300, 0, factor=by_age)
    y = RecurrentEvents.from_lists(times, start=entry, end=NOW)
    X = np.random.default_rng(0).random((300, 2))
    return fit(X, y), X, y


@pytest.fixture(scope="module")
def dated():
    """Return a model in age where rates fell at a date, and histories."""
    rng = np.random.default_rng(1)
    entry = np.floor(rng.random(300) * 900.0)
    growth = np.append(0.0, np.cumsum(np.where(np.arange(NOW) < 800, 0.02, 0.006)))
    rows = []
    for machine, start in enumerate(entry.astype(int)):
        first = growth[start]
        shares = rng.random(rng.poisson(growth[-1] - first))
        times = np.interp(first + (growth[-1] - first) * shares, growth, np.arange(NOW + 1))
        rows += [(machine, time - start, 1) for time in times] + [(machine, NOW - start, 0)]
    table = pd.DataFrame(rows, columns=["id", "age", "failed"])
    age = RecurrentEvents.from_long(table, "id", "age", "failed", unit="D")
    dates = np.datetime64("2020-01-01") + entry.astype("timedelta64[D]")
    y = age.in_calendar_time(dates).in_age()
    X = np.random.default_rng(1).random((300, 2))
    return fit(X, y), X, y


def test_forecasts_from_earlier_dates_have_the_last_word(growing, monkeypatch):
    _, X, y = growing
    monkeypatch.setattr(law, "_LITTLE", -np.inf)  # no forecasts are good enough
    model = BoostR(random_state=0).fit(X, y)
    assert model.fitted_.forecast_law.paced.second is None


def forecast(model, X, y, horizon):
    return model.forecast(X, y, horizon).sort_values("id")["expected"].to_numpy()


def test_young_machines_fail_more_often_and_totals_are_level(growing):
    model, X, y = growing
    age = NOW - y.start
    expected = forecast(model, X, y, 100.0)
    growth = 0.5 * 100.0 + 160.0 * (np.exp(-age / 80) - np.exp(-(age + 100) / 80))
    assert expected.sum() == pytest.approx(RATE * growth.sum(), rel=0.15)
    young = age < 100.0
    assert expected[young].mean() > 1.3 * expected[~young].mean()


def test_rates_of_the_last_dates_hold_in_the_time_ahead(dated):
    model, X, y = dated
    assert model.fitted_.forecast_law.paced.second.counts_dates
    assert forecast(model, X, y, 100.0).sum() == pytest.approx(300 * 0.6, rel=0.15)


def test_the_present_of_histories_without_dates_is_the_last_date(dated):
    model, X, y = dated
    without = RecurrentEvents.from_lists(np.split(y.times, y.event_offsets[1:-1]), y.end)
    assert_allclose(forecast(model, X, without, 100.0), forecast(model, X, y, 100.0))


@pytest.mark.parametrize("fleet", ["growing", "dated"])
def test_more_is_expected_over_a_longer_time(fleet, request):
    model, X, y = request.getfixturevalue(fleet)
    horizons = np.geomspace(1.0, 3000.0, 10)
    found = [forecast(model, X, y, horizon) for horizon in horizons]
    assert np.all(np.diff(found, axis=0) > 0.0)


@pytest.mark.parametrize("fleet", ["growing", "dated"])
def test_next_events_come_when_chances_say(fleet, request):
    model, X, y = request.getfixturevalue(fleet)
    waits = model.predict_next_event(X, y, 0.5)
    for place in (0, 7, 123):
        one = model.forecast(X[[place]], y[[place]], float(waits[place]))
        assert one["probability"].iloc[0] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("fleet", ["growing", "dated"])
def test_simulated_futures_have_as_many_events_as_forecasts(fleet, request):
    model, X, y = request.getfixturevalue(fleet)
    expected = forecast(model, X, y, 60.0)
    drawn = model.simulate(X, 200, y, horizon=60.0, random_state=0)
    counts = drawn.n_events.reshape(300, 200).mean(axis=1)
    assert_allclose(counts, expected, atol=5.0 * np.sqrt(expected.max() / 200))
    assert counts.sum() == pytest.approx(expected.sum(), rel=0.03)


def test_reasons_add_up_to_the_forecast(growing):
    model, X, y = growing
    found = model.explain_forecast(X, y, 50.0).prediction
    assert_allclose(found, forecast(model, X, y, 50.0))


@pytest.mark.parametrize("fleet", ["growing", "dated"])
def test_forecasts_of_some_are_those_of_all(fleet, request):
    model, X, y = request.getfixturevalue(fleet)
    some = [5, 33, 200]
    assert_allclose(
        forecast(model, X[some], y[some], 80.0),
        forecast(model, X, y, 80.0)[some],
    )


@pytest.mark.parametrize("fleet", ["growing", "dated"])
def test_model_files_keep_the_second_scale(fleet, request, tmp_path):
    model, X, y = request.getfixturevalue(fleet)
    model.save(tmp_path / "model.boostr")
    again = boostr.load(tmp_path / "model.boostr")
    assert model.forecast(X, y, 50.0).equals(again.forecast(X, y, 50.0))


@pytest.mark.parametrize(
    ("fleet", "subject"), [("growing", "time since entry"), ("dated", "date")]
)
def test_summaries_tell_of_it(fleet, subject, request):
    model, _, _ = request.getfixturevalue(fleet)
    text = str(model.summary())
    assert f"Rates depend on the {subject}, too" in text
    first, last = {
        "growing": ("before", "between"),
        "dated": ("between 20", "usual rate after 2022-0"),
    }[fleet]
    assert first in text
    assert last in text
