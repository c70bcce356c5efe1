"""Baselines with exposures: rates per unit, or a word that they cannot use them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests import oracles

from boostr.baselines import (
    AndersenGill,
    HomogeneousPoisson,
    LightGBMPoisson,
    McfK,
    McfRegressor,
    PowerLawProcess,
    RandomForestRecurrence,
)
from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.nonparametric import MeanCumulativeFunction, compare_mcf, laplace_test


@pytest.fixture
def pipes(rng):
    n = 80
    length = rng.uniform(0.2, 5.0, n)
    X = rng.integers(0, 2, (n, 1)).astype(float)
    counts = rng.poisson(length * np.where(X[:, 0] > 0, 4.0, 1.0))
    events = [np.sort(rng.uniform(0.0, 10.0, k)) for k in counts]
    end = rng.uniform(10.0, 12.0, n)
    return X, length, RecurrentEvents.from_lists(events, end=end)


def test_a_homogeneous_rate_is_events_over_exposed_time(pipes):
    X, length, y = pipes
    model = HomogeneousPoisson().fit(X, y.with_exposure(length))
    is_high = X[:, 0] > 0
    rates = [y.n_events[s].sum() / (length * y.end)[s].sum() for s in (~is_high, is_high)]
    found = model.predict(np.array([[0.0], [1.0]]), horizon=1.0)
    assert_allclose(found, rates, rtol=1e-6)
    own = model.predict(X, horizon=3.0, exposure=length)
    assert_allclose(own, length * model.predict(X, horizon=3.0))


def test_a_series_counts_where_it_is_exposed(pipes):
    y = pipes[2]
    n = len(y)
    series = Trajectories.from_flat(
        np.tile([0.0, 6.0], n), 2 * np.arange(n + 1), [np.tile([1.0, 3.0], n)], ["use"]
    )
    model = HomogeneousPoisson().fit(np.zeros((n, 0)), y.with_exposure(series))
    rate = y.n_events.sum() / np.sum(6.0 + 3.0 * (y.end - 6.0))
    assert_allclose(model.predict(np.zeros((1, 0)), horizon=1.0), rate, rtol=1e-6)


@pytest.mark.parametrize(
    "model", [McfRegressor(), McfK(n_neighbors=80), PowerLawProcess(), LightGBMPoisson()]
)
def test_exposures_of_one_change_nothing_and_others_multiply(pipes, model):
    if isinstance(model, LightGBMPoisson):
        pytest.importorskip("lightgbm")
    X, length, y = pipes
    times = np.array([2.0, 9.0])
    plain = model.fit(X, y).predict_cumulative(X, times)
    score = model.score(X, y)
    ones = model.fit(X, y.with_exposure(1.0)).predict_cumulative(X, times)
    assert_allclose(ones, plain, rtol=1e-12)
    assert_allclose(model.score(X, y.with_exposure(1.0)), score)
    twos = model.fit(X, y.with_exposure(2.0)).predict_cumulative(X, times, exposure=2.0)
    assert_allclose(twos, plain, rtol=1e-6)
    unit = model.fit(X, y.with_exposure(length)).predict_cumulative(X, times)
    exposed = model.predict_cumulative(X, times, exposure=length)
    assert_allclose(exposed, length[:, None] * unit)


def test_the_mean_cumulative_function_is_per_unit(pipes):
    _, length, y = pipes
    estimate = MeanCumulativeFunction().fit(y.with_exposure(length))
    at_risk = [length[y.end >= time].sum() for time in estimate.times_]
    assert_allclose(estimate.at_risk_, at_risk)
    assert_allclose(estimate.mcf_, np.cumsum(estimate.n_events_ / at_risk))


def test_residuals_of_the_variance_fall_by_exposures():
    y = RecurrentEvents.from_lists([[1.0, 3.0], [2.0]], end=[4.0, 5.0], exposure=[2.0, 1.0])
    estimate = MeanCumulativeFunction().fit(y)
    risk, rise = np.array([3.0, 3.0, 3.0]), np.array([1.0, 1.0, 1.0]) / 3.0
    jumps = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    residuals = np.cumsum((jumps - np.array([[2.0], [1.0]]) * rise) / risk, axis=1)
    assert_allclose(estimate.variance_, np.sum(residuals**2, axis=0), atol=1e-12)


def test_others_say_that_they_cannot_use_exposures(pipes):
    X, length, y = pipes
    exposed = y.with_exposure(length)
    for ask in (
        lambda: AndersenGill().fit(X, exposed),
        lambda: RandomForestRecurrence().fit(X, exposed),
        lambda: compare_mcf(exposed, X[:, 0]),
        lambda: laplace_test(exposed),
    ):
        with pytest.raises(InvalidEventsError, match="cannot use exposures") as caught:
            ask()
        assert "Hint:" in str(caught.value)


def test_models_without_exposures_refuse_some_to_predict(pipes):
    X, length, y = pipes
    with pytest.raises(InvalidParameterError, match="fitted without exposures"):
        McfRegressor().fit(X, y).predict(X, exposure=length)


def test_power_laws_maximise_the_likelihood_of_exposed_time(pipes):
    X, length, y = pipes
    model = PowerLawProcess().fit(X, y.with_exposure(length))
    design = np.column_stack([np.ones(len(y)), X])
    windows = [[(0.0, end)] for end in y.end]
    events = [one.times for one in y]

    def likelihood(point):
        # The log of the length is an offset of the linear predictor.
        coefficients, shape = np.append(point[:2], 1.0), point[2]
        with_offset = np.column_stack([design, np.log(length)])
        return oracles.power_law_log_likelihood(
            windows, events, with_offset, coefficients, shape, np.ones(len(y))
        )

    best = np.array([model.intercept_, model.coef_[0], model.shape_])
    for place in range(3):
        for step in (-0.01, 0.01):
            other = best.copy()
            other[place] += step
            assert likelihood(other) < likelihood(best)
