"""Models of events and of the terminal event that ends them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import boostr
from boostr import BoostR, simulate
from boostr._training.terminal import _choose_tie
from boostr.exceptions import InvalidParameterError

TIMES = np.array([0.0, 20.0, 60.0, 100.0])


@pytest.fixture(scope="module")
def patients():
    return simulate.patients(n=150, random_state=1)


@pytest.fixture(scope="module")
def model(patients):
    return BoostR(n_estimators=15, random_state=0).fit(patients.X, patients.y)


@pytest.fixture(scope="module")
def censored(patients):
    y = patients.y.with_terminal(None)
    return BoostR(n_estimators=15, random_state=0).fit(patients.X, y)


def test_the_rate_while_alive_is_that_of_death_as_censoring(patients, model, censored):
    X = patients.X
    alive = model.predict_cumulative(X, TIMES, conditional=True)
    assert_array_equal(alive, censored.predict_cumulative(X, TIMES))
    assert_array_equal(
        model.predict_intensity(X, TIMES), censored.predict_intensity(X, TIMES)
    )
    assert_array_equal(
        model.predict_out_of_fold(TIMES), censored.predict_out_of_fold(TIMES)
    )


def test_survival_falls_from_one(patients, model):
    survival = model.predict_survival(patients.X, TIMES)
    assert_array_equal(survival[:, 0], 1.0)
    assert np.all(np.diff(survival, axis=1) < 0.0)


def test_means_are_nearer_to_the_truth_than_death_as_censoring(patients, model, censored):
    new = simulate.patients(n=200, random_state=2)
    truth = new.truth(TIMES)
    found = np.mean((model.predict_cumulative(new.X, TIMES) - truth) ** 2)
    other = np.mean((censored.predict_cumulative(new.X, TIMES) - truth) ** 2)
    assert found < 0.8 * other
    survival = model.predict_survival(new.X, TIMES)
    average = new.survival(TIMES).mean(axis=0)
    right = new.survival(TIMES)
    assert np.mean((survival - right) ** 2) < np.mean((average - right) ** 2)


def test_means_are_the_integral_of_rate_times_survival(patients, model):
    X = patients.X[:5]
    grid = np.linspace(1e-9, 60.0, 4001)
    rates = model.predict_intensity(X, grid) * model.predict_survival(X, grid)
    expected = np.trapezoid(rates, grid, axis=1)
    assert_allclose(model.predict(X, horizon=60.0), expected, rtol=2e-3)


def test_counts_are_differences_of_means(patients, model):
    X = patients.X[:6]
    start, stop = np.linspace(0.0, 30.0, 6), np.linspace(40.0, 90.0, 6)
    found = model.predict_count(X, start, stop)
    each = [
        np.diff(model.predict_cumulative(X[[k]], [start[k], stop[k]]))[0, 0]
        for k in range(6)
    ]
    assert_allclose(found, each)
    while_alive = model.predict_count(X, start, stop, conditional=True)
    assert np.all(while_alive > found)


def test_the_last_stage_is_the_prediction(patients, model):
    *_, last = model.staged_predict_cumulative(patients.X[:4], TIMES)
    assert_allclose(last, model.predict_cumulative(patients.X[:4], TIMES))


def test_the_score_is_that_of_the_rate_while_alive(patients, model, censored):
    new = simulate.patients(n=50, random_state=2)
    assert model.score(new.X, new.y) == censored.score(new.X, new.y)


def test_saved_models_keep_the_hazard(patients, model, tmp_path):
    model.save(tmp_path / "patients.boostr")
    loaded = boostr.load(tmp_path / "patients.boostr")
    X = patients.X
    assert_array_equal(loaded.predict_survival(X, TIMES), model.predict_survival(X, TIMES))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.forecast_law_.tie == model.forecast_law_.tie
    assert_array_equal(
        loaded.terminal_.out_of_fold_coefficients, model.terminal_.out_of_fold_coefficients
    )


def test_nobody_dead_is_a_model_without_hazard(patients):
    y = patients.y.with_terminal(False)
    model = BoostR(n_estimators=5, random_state=0).fit(patients.X, y)
    assert model.terminal_ is None
    with pytest.raises(InvalidParameterError, match=r"fitted without.\s+Hint: fit"):
        model.predict_survival(patients.X, TIMES)


def test_one_death_is_enough(patients):
    died = np.arange(len(patients.y)) == np.flatnonzero(patients.y.is_terminal)[0]
    y = patients.y.with_terminal(died)
    model = BoostR(n_estimators=5, random_state=0).fit(patients.X, y)
    survival = model.predict_survival(patients.X, [100.0])
    assert np.all((survival > 0.95) & (survival < 1.0))


@pytest.mark.parametrize("params", [{"validation": None}, {"loss": "cumulative"}])
def test_other_settings_learn_the_hazard(patients, params):
    model = BoostR(n_estimators=5, random_state=0, **params).fit(patients.X, patients.y)
    dead = 1.0 - model.predict_survival(patients.X, [75.0]).mean()
    assert 0.25 < dead < 0.6


def test_sensors_act_on_the_hazard():
    wells = simulate.wells(n=40, random_state=0)
    y = wells.y.with_terminal(np.arange(40) % 3 == 0)
    model = BoostR(n_estimators=5, random_state=0).fit(wells.X, y, wells.Z)
    survival = model.predict_survival(wells.X, [10.0, 50.0], wells.Z)
    assert np.all(np.diff(survival, axis=1) < 0.0)


def test_frailties_that_die_early_are_tied_and_others_are_not():
    rng = np.random.default_rng(0)
    frailty = rng.gamma(2.0, 0.5, 2000)
    ends = rng.uniform(0.5, 1.5, 2000)
    for power in (0.0, 1.0):
        death = rng.exponential(1.0 / frailty**power)
        died, end = death < ends, np.minimum(death, ends)
        alive = (~died).astype(float)
        tie = _choose_tie(end, frailty, died.astype(float), frailty, alive)
        assert tie.power == power
        # The level keeps the sum of hazards of the living, who are less frail.
        assert_allclose(alive @ tie.factor(frailty), alive.sum())


def test_as_many_die_as_expected_where_the_frail_die_early():
    rng = np.random.default_rng(1)
    frailty = rng.gamma(1.5, 1.0 / 1.5, 1000)
    death = rng.exponential(500.0 / frailty)
    died, end = death < 1000.0, np.minimum(death, 1000.0)
    times = [
        rng.uniform(0.0, t, rng.poisson(0.02 * f * t))
        for f, t in zip(frailty, end, strict=True)
    ]
    y = boostr.RecurrentEvents.from_lists(times, end=end, terminal=died)
    model = BoostR(n_estimators=10, random_state=0).fit(np.zeros((1000, 1)), y)
    assert model.forecast_law_.tie.power > 0.0
    chance = model.forecast(np.zeros((1000, 1)), y, 180.0)["terminal"].sum()
    truth = np.sum(1.0 - np.exp(-frailty[~died] * 180.0 / 500.0))
    assert chance == pytest.approx(truth, rel=0.25)


def test_scans_learn_the_same_hazard(patients, tmp_path):
    frame = patients.y.to_long(backend="pandas")
    frame.to_parquet(tmp_path / "events.parquet")
    scan = boostr.RecurrentEvents.scan_parquet(
        tmp_path, id="id", time="time", event="event", terminal="terminal"
    )
    params = {"n_estimators": 5, "random_state": 0, "validation": None}
    found = BoostR(**params).fit(patients.X, scan)
    model = BoostR(**params).fit(patients.X, patients.y)
    assert_allclose(
        found.predict_survival(patients.X, TIMES), model.predict_survival(patients.X, TIMES)
    )


def test_exposures_do_not_change_the_hazard(patients):
    X, y = patients.X, patients.y
    params = {"n_estimators": 5, "random_state": 0}
    plain = BoostR(**params).fit(X, y)
    exposed = BoostR(**params).fit(X, y.with_exposure(2.0))
    survival = plain.predict_survival(X, TIMES)
    assert_array_equal(exposed.predict_survival(X, TIMES), survival)
    mean = exposed.predict_cumulative(X, TIMES, exposure=2.0)
    assert_allclose(mean, plain.predict_cumulative(X, TIMES), rtol=1e-6)
    assert exposed.forecast_law_.tie.power == plain.forecast_law_.tie.power
    assert_allclose(exposed.forecast_law_.tie.level, plain.forecast_law_.tie.level)
