"""Clocks beside sensors that show the same, or nearly the same, to all."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import PoissonRegressor

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr._training.statistics import _PENALTY, _regress
from boostr.basis import OperationalClock

SMALL = {"n_estimators": 2, "validation": None, "n_origins": 0, "random_state": 0}
LAST = 8.5  # cycles of a season, which ends in the middle of one


def draw(rng, exponent=1.0, n=300):
    """Return event times at a rate three times as high in the first half of a cycle."""
    mean = 20.0 * 2.0
    histories = []
    for _ in range(n):
        times = LAST * rng.uniform(size=rng.poisson(mean)) ** (1.0 / exponent)
        is_kept = (times % 1.0 < 0.5) | (rng.uniform(size=len(times)) < 1.0 / 3.0)
        histories.append(np.sort(times[is_kept]))
    return histories


def season(n, values=(1.0, 0.0)):
    """Return a sensor of the half of the cycle, the same for all."""
    times = np.arange(0.0, 10.0, 0.5)
    path = np.resize(values, len(times))
    offsets = np.arange(n + 1) * len(times)
    return Trajectories.from_flat(np.tile(times, n), offsets, [np.tile(path, n)], ["half"])


@pytest.mark.parametrize("exponent", [0.7, 1.0, 1.5])
def test_the_clock_is_the_power_law_beside_the_season(rng, exponent):
    y = RecurrentEvents.from_lists(draw(rng, exponent), end=LAST)
    clock = BoostR(**SMALL).fit(np.zeros((len(y), 1)), y, season(len(y))).clock_
    assert clock.is_power_law
    assert clock.last_slope == pytest.approx(exponent, abs=0.06)
    # Nobody comes or goes: the clock reads their mean number of events at the end.
    times = np.array([0.1, 1.0, LAST, 3.0 * LAST])
    count = len(y.times) / len(y) * (times / LAST) ** clock.last_slope
    assert_allclose(clock.read(times), count)
    assert_allclose(clock.rate(times), clock.last_slope * count / times)


def test_a_season_that_is_the_same_needs_no_effect(rng):
    y = RecurrentEvents.from_lists(
        [rng.uniform(0.0, LAST, 20) for _ in range(99)], end=LAST
    )
    Z = season(99, (0.1, 0.7))  # whose means are rounded
    assert BoostR(**SMALL).fit(np.zeros((99, 1)), y, Z).clock_.is_power_law


def test_the_power_law_expects_as_many_events_as_came_where_follow_ups_differ(rng):
    y = RecurrentEvents.from_flat(
        rng.uniform(3.0, 4.0, 50), np.arange(51), start=2.5, end=rng.uniform(4.0, 9.0, 50)
    ).with_exposure(rng.uniform(1.0, 3.0, 50))
    weights = rng.uniform(1.0, 2.0, 50)
    clock = OperationalClock.power_law(y, weights, 2.0, 1.4)
    expected = clock.read(y.end) - clock.read(y.start)
    assert weights @ (y.exposure.values * expected) == pytest.approx(weights.sum())


def test_exposures_that_grow_are_no_course_of_time(rng):
    n, times = 300, np.array([0.0, LAST / 2.0])
    first, second = (draw(rng, n=n) for _ in range(2))
    histories = [
        np.sort(np.append(one, other[other > times[1]]))
        for one, other in zip(first, second, strict=True)
    ]
    grows = Trajectories.from_flat(
        np.tile(times, n), np.arange(n + 1) * 2, [np.tile([1.0, 2.0], n)], ["units"]
    )
    y = RecurrentEvents.from_lists(histories, end=LAST)
    X, Z = np.zeros((n, 1)), season(n)
    exposed = BoostR(**SMALL).fit(X, y, Z, exposure=grows).clock_
    assert exposed.last_slope == pytest.approx(1.0, abs=0.06)
    assert BoostR(**SMALL).fit(X, y, Z).clock_.last_slope > 1.15


def test_the_pace_of_events_leaves_the_season_to_the_sensors(rng):
    y = RecurrentEvents.from_lists(draw(rng), end=LAST)
    model = BoostR(**SMALL).fit(np.zeros((len(y), 1)), y, season(len(y)))
    paced = model.forecast_law_.paced
    assert paced.clock is model.clock_
    assert len(paced.pace.factors) == 1


def fit_with_and_without(rng, change, n=100):
    """Return the clocks with sensors that a function makes of the season, and without."""
    y, Z, X = RecurrentEvents.from_lists(draw(rng, n=n), end=LAST), season(n), np.zeros(n)
    Z = Z.assign(half=change(Z.values[0].reshape(n, -1)).ravel())
    return (BoostR(**SMALL).fit(X[:, None], y, *more).clock_ for more in ([Z], []))


@pytest.mark.parametrize("sd", [0.01, 0.2])
def test_the_clock_is_a_power_law_beside_a_season_that_is_nearly_the_same(rng, sd):
    clock, _ = fit_with_and_without(
        rng, lambda half: half + rng.normal(0.0, sd, half.shape)
    )
    assert clock.is_power_law
    assert clock.last_slope == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    "change",
    [
        lambda half, noise: half + 2.0 * noise,
        lambda half, noise: (
            np.resize([0.0, 0.0, 1.0, 1.0, 1.0], half.shape[1]) + 0.1 * noise
        ),
        lambda half, noise: np.arange(half.shape[1]) + noise,
    ],
    ids=["the own part is larger", "another season", "a trend"],
)
def test_other_sensors_that_differ_leave_the_clock_as_it_is(rng, change):
    with_sensors, plain = fit_with_and_without(
        rng, lambda half: change(half, rng.normal(size=half.shape))
    )
    assert_allclose(with_sensors.log_counts, plain.log_counts)


def test_a_sensor_that_never_changes_leaves_the_clock_as_it_is(rng):
    y = RecurrentEvents.from_lists(draw(rng, n=60), end=LAST)
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
