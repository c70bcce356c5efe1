"""Clocks beside sensors that show the same to all."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import PoissonRegressor

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr.estimators._common_course import _PENALTY, _regress, _sum_past

SMALL = {"n_estimators": 2, "validation": None, "random_state": 0}
LAST = 8.5  # cycles of a season, which ends in the middle of one


def draw(rng, exponent=1.0, n=300):
    """Return individuals whose rate is three times as high in the first half of a cycle."""
    mean = 20.0 * 2.0
    histories = []
    for _ in range(n):
        times = LAST * rng.uniform(size=rng.poisson(mean)) ** (1.0 / exponent)
        is_kept = (times % 1.0 < 0.5) | (rng.uniform(size=len(times)) < 1.0 / 3.0)
        histories.append(np.sort(times[is_kept]))
    return RecurrentEvents.from_lists(histories, end=LAST)


def season(n, values=(1.0, 0.0)):
    """Return a sensor of the half of the cycle, the same for all."""
    times = np.arange(0.0, 10.0, 0.5)
    path = np.resize(values, len(times))
    offsets = np.arange(n + 1) * len(times)
    return Trajectories.from_flat(np.tile(times, n), offsets, [np.tile(path, n)], ["half"])


@pytest.mark.parametrize("exponent", [0.7, 1.0, 1.5])
def test_the_clock_is_the_power_law_beside_the_season(rng, exponent):
    y = draw(rng, exponent)
    clock = BoostR(**SMALL).fit(np.zeros((len(y), 1)), y, season(len(y))).clock_
    assert len(clock.log_times) == 1
    assert clock.last_slope == pytest.approx(exponent, abs=0.06)


def test_sensors_that_differ_between_individuals_leave_the_clock_as_it_is(rng):
    y = draw(rng, n=60)
    Z = season(60)
    Z = Z.assign(half=Z.values[0] * np.repeat(np.linspace(1.0, 2.0, 60), 20))
    X = np.zeros((60, 1))
    with_sensors, plain = BoostR(**SMALL).fit(X, y, Z), BoostR(**SMALL).fit(X, y)
    assert_allclose(with_sensors.clock_.log_counts, plain.clock_.log_counts)


def test_a_sensor_that_never_changes_leaves_the_clock_as_it_is(rng):
    y = draw(rng, n=60)
    model = BoostR(**SMALL).fit(np.zeros((60, 1)), y, season(60, (1.0,)))
    assert len(model.clock_.log_times) > 1


def test_regression_is_scikit_learn_s(rng):
    columns = np.column_stack([np.ones(200), rng.normal(size=(200, 3))])
    exposure = rng.uniform(0.5, 2.0, 200)
    counts = rng.poisson(50.0 * exposure * np.exp(columns @ [0.0, 0.5, -0.3, 0.0]))
    peer = PoissonRegressor(alpha=_PENALTY, solver="newton-cholesky", tol=1e-10)
    rate = counts / exposure * exposure.sum() / counts.sum()
    peer.fit(columns[:, 1:], rate, sample_weight=exposure)
    found = _regress(columns, counts.astype(float), exposure)
    assert_allclose(found, [peer.intercept_, *peer.coef_], atol=1e-6)


def test_sums_of_past_time_are_those_of_a_loop(rng):
    moments, weights = rng.uniform(size=20), rng.uniform(size=20)
    times = np.linspace(0.0, 1.0, 7)
    slow = [weights @ np.maximum(time - moments, 0.0) for time in times]
    assert_allclose(_sum_past(moments, weights, times), slow, atol=1e-12)
