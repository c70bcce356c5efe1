import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.fitted import drifting

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr._forecasting import outlook as _outlook
from boostr._frailty.law import FrailtyLaw
from boostr.basis import PowerBasis
from boostr.exceptions import InvalidParameterError

END = 100.0


def draw(n, seed, *, costs=None, rate=0.08):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    counts = rng.poisson(rate * END * (1.0 + X[:, 0]) * rng.gamma(2.0, 0.5, n))
    y = RecurrentEvents.from_lists([rng.uniform(0.0, END, k) for k in counts], end=END)
    if costs is None:
        return X, y
    return X, y._with(costs=costs(rng, len(y.times)), has_costs=True)


def sense(n, seed):
    """Return a sensor that changes every ten units of time."""
    values = np.random.default_rng(seed).uniform(size=(1, 10 * n))
    times = np.tile(np.arange(0.0, END, 10.0), n)
    return Trajectories.from_flat(times, np.arange(0, 10 * n + 1, 10), values, ["load"])


def fit(X, y, Z=None, **params):
    settings = {
        "n_estimators": 4,
        "learning_rate": 0.5,
        "max_leaf_nodes": 2,
        "splitter": "best",
        "leaf": PowerBasis((1.0,)),
        "n_folds": 2,
        "random_state": 0,
    }
    if Z is not None:
        settings |= {"sensor_penalty": "ridge", "n_knots": 0}
    return BoostR(**(settings | params)).fit(X, y, Z)


@pytest.fixture(scope="module")
def plain():
    X, y = draw(120, seed=0)
    return fit(X, y), X, y


@pytest.fixture(scope="module")
def monitored():
    X, y = draw(60, seed=1)
    Z = sense(60, seed=1)
    return fit(X, y, Z), X, y, Z


def test_calibration_does_not_see_what_sensors_show_later(monitored):
    model, X, y, Z = monitored
    is_late = Z.times > 60.0
    other = Z._with(values=np.where(is_late, 1.0 - Z.values, Z.values))
    scores = model.calibrate_forecast(X, y, 40.0, Z).scores
    assert_array_equal(model.calibrate_forecast(X, y, 40.0, other).scores, scores)


def test_a_future_that_is_given_is_seen(monitored):
    model, X, y, Z = monitored
    known = model.calibrate_forecast(X, y, 40.0, Z, Z)
    later = np.bincount(y.event_owner, y.times > 60.0, len(y))
    table = model.forecast(X, y, 40.0, Z, Z, now=60.0, level=0.8).sort_values("id")
    is_held = (table["lower"] <= later) & (later <= table["upper"])
    assert is_held.mean() >= np.mean(known.scores <= 0.8)
    assert not np.array_equal(known.scores, model.calibrate_forecast(X, y, 40.0, Z).scores)


def test_scores_of_training_are_those_of_forecasts_at_half_of_the_follow_up(monitored):
    model, X, y, Z = monitored
    calibration = model.calibrate_forecast(X, y, 50.0, Z, out_of_fold=True)
    assert_allclose(model.forecast_scores_, calibration.scores, rtol=1e-9)


def test_scores_are_levels_at_which_forecasts_hold_what_happened(monitored):
    model, X, y, Z = monitored
    scores = model.calibrate_forecast(X, y, 40.0, Z).scores
    seen = np.bincount(y.event_owner, y.times > 60.0, len(y))
    for level in (0.3, 0.8):
        table = model.forecast(X, y, 40.0, Z, now=60.0, level=level).sort_values("id")
        is_held = (table["lower"] <= seen) & (seen <= table["upper"])
        # Below its own score an interval holds the mode alone.
        assert is_held.mean() >= np.mean(scores <= level)


def test_functions_of_histories_are_not_calibrated(monitored):
    model, X, y, Z = monitored
    with pytest.raises(InvalidParameterError, match="`Z` is a function"):
        model.calibrate_forecast(X, y, 40.0, lambda y, until: Z)
    with pytest.raises(InvalidParameterError, match="`Z` is a function"):
        model.forecast(X, y, 40.0, lambda y, until: Z, intervals="conformal")


def test_fits_of_training_individuals_calibrate_nothing():
    X, y = draw(40, seed=2)
    model = fit(X, y, validation=None)
    assert model.forecast_scores_.size == 0
    with pytest.raises(InvalidParameterError, match="validation='cv'"):
        model.forecast(X, y, 20, intervals="conformal")
    others = model.calibrate_forecast(*draw(40, seed=3), 20.0)
    assert len(model.forecast(X, y, 20, intervals=others)) == 40


def test_calibrations_are_for_their_own_horizon(plain):
    model, X, y = plain
    calibration = model.calibrate_forecast(X, y, 20.0)
    with pytest.raises(InvalidParameterError, match=r"of 20, but .* for 30"):
        model.forecast(X, y, 30, intervals=calibration)
    with pytest.raises(InvalidParameterError, match="for 20 to 30"):
        model.forecast(X[:2], y[:2], [20.0, 30.0], intervals=calibration)


def test_calibrations_are_for_forecasts_with_or_without_own_history(plain):
    model, X, y = plain
    without = model.calibrate_forecast(X, y, 20.0, own_history=False)
    assert not without.own_history
    with pytest.raises(InvalidParameterError, match="own_history=True"):
        model.forecast(X, y, 20, intervals=without)
    with pytest.raises(InvalidParameterError, match="own_history=False"):
        model.forecast(X, y, 20, own_history=False, intervals="conformal")
    table = model.forecast(X, y, 20, own_history=False, intervals=without)
    assert (table["frailty"] == 1.0).all()


@pytest.fixture(scope="module")
def costly():
    costs = lambda rng, n: rng.lognormal(1.0, 0.7, n)  # noqa: E731
    X, y = draw(200, seed=4, costs=costs, rate=0.03)
    return fit(X, y), X, y


def test_intervals_of_costs_reach_half_a_unit_further(costly):
    model, X, y = costly
    table = model.forecast(X, y, 20)
    unit = model.cost_moments_[1] / model.cost_moments_[0]
    assert_allclose(table["upper"] / unit % 1.0, 0.5)
    assert (table["lower"] >= 0.0).all()
    total = model.forecast_fleet(X, y, 20)
    assert_allclose([total.lower / unit % 1.0, total.upper / unit % 1.0], 0.5)


def test_intervals_of_costs_cover_costs_that_are_no_whole_units(costly):
    model, X, y = costly
    table = model.forecast(X, y, 20, now=80.0).sort_values("id")
    seen = np.bincount(y.event_owner, y.costs * (y.times > 80.0), len(y))
    is_held = (table["lower"] <= seen) & (seen <= table["upper"])
    assert abs(is_held.mean() - 0.9) < 0.06


def test_what_has_been_paid_is_sure(costly):
    model, X, y = costly
    band = model.predict_band(X[:3], [50.0, 100.0, 120.0], y=y[:3])
    assert_array_equal(band.lower[:, :2], band.upper[:, :2])
    assert (band.upper[:, 2] > band.upper[:, 1]).all()


def test_bands_sum_up_histories_once(plain, monkeypatch):
    model, X, y = plain
    calls = []

    def count(*arguments):
        calls.append(1)
        return real(*arguments)

    real = _outlook.sum_histories
    monkeypatch.setattr(_outlook, "sum_histories", count)
    model.predict_band(X, np.linspace(10.0, 150.0, 8), y=y)
    assert len(calls) == 1


def ahead_of(model, X, y, length):
    """Return intervals of counts and of totals, bands, and variances of drawn futures."""
    table = model.forecast(X, y, length)
    fleet = model.forecast_fleet(X, y, length)
    band = model.predict_band(X, [END + length], y=y)
    counts = model.simulate(X, 60, y, horizon=length, random_state=0).n_events
    return np.array(
        [
            (table["upper"] - table["lower"]).sum(),
            fleet.upper - fleet.lower,
            (band.upper - band.lower).sum(),
            counts.reshape(-1, 60).var(axis=1).mean(),
        ]
    )


def test_frailties_that_drift_are_less_known_the_further_ahead(plain, monkeypatch):
    model, X, y = plain
    drifts = drifting(model, 30.0)
    wide = ahead_of(drifts, X, y, 60.0)
    monkeypatch.setattr(FrailtyLaw, "spread", lambda self, length: np.ones_like(length))
    assert (wide > 1.05 * ahead_of(drifts, X, y, 60.0)).all()


def test_drifting_frailties_stay_what_they_are_on_average(plain):
    model, X, y = plain
    drifts = drifting(model, 30.0)
    short, long = (
        drifts.forecast(X, y, length).sort_values("id") for length in (10.0, 20.0)
    )
    assert_allclose(short["frailty"], long["frailty"])
    rate = model.predict_count(X, END, END + 20.0)
    assert_allclose(long["expected"], long["frailty"] * rate, rtol=1e-9)


@pytest.mark.slow
def test_intervals_cover_counts_of_frailties_that_drift():
    rng = np.random.default_rng(3)
    n = 800
    moves = rng.normal(-0.00125, 0.05, (n, 200)).cumsum(axis=1)
    counts = rng.poisson(0.2 * rng.gamma(4.0, 0.25, (n, 1)) * np.exp(moves))
    past, ahead = counts[:, :100], counts[:, 100:].sum(axis=1)
    times = [np.repeat(np.arange(100), own) + rng.random(own.sum()) for own in past]
    y = RecurrentEvents.from_lists(times, end=END)
    X = np.zeros((n, 1))
    model = fit(X, y)
    assert np.isfinite(model.frailty_half_life_)
    table = model.forecast(X, y, 100.0).sort_values("id")
    is_covered = (table["lower"] <= ahead) & (ahead <= table["upper"])
    assert 0.87 < is_covered.mean() < 0.93  # 0.83 if frailties were known as well as now


@pytest.mark.parametrize("half_life", [10.0, 15.0, np.inf])
def test_nothing_falls_as_the_time_ahead_gets_longer(plain, half_life):
    model, X, y = plain
    drifts = drifting(model, half_life)
    lengths = np.array([5.0, 20.0, 60.0, 120.0, 200.0])
    tables = [drifts.forecast(X, y, length).sort_values("id") for length in lengths]
    chances = np.stack([table["probability"] for table in tables])
    assert (np.diff(chances, axis=0) >= 0.0).all()
    band = drifts.predict_band(X, END + lengths[::-1], y=y)
    for bound in (band.lower, band.upper):
        assert (np.diff(bound[:, ::-1], axis=1) >= 0.0).all()


def test_half_of_next_events_have_come_by_their_median(plain):
    model, X, y = plain
    drifts = drifting(model, 10.0)
    medians = drifts.predict_next_event(X, y)
    some = np.isfinite(medians)
    assert some.mean() > 0.5
    table = drifts.forecast(X[some], y[some], medians[some])
    assert_allclose(table["probability"], 0.5, rtol=0.02)
