import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from tests.metrics.scenes import make_events

from boostr import BoostR, RecurrentEvents
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.inspection import CumulativeResiduals, rescaled_times, residuals
from boostr.inspection._residuals import _count_gaps, _test_gaps
from boostr.metrics import poisson_deviance
from boostr.simulate import dataset_a


@pytest.fixture(scope="module")
def test():
    return dataset_a(n=40, random_state=5, end=(20.0, 100.0))


@pytest.fixture(scope="module")
def trained():
    fleet = dataset_a(n=80, random_state=6, end=(20.0, 100.0))
    params = {"n_estimators": 5, "n_origins": 0, "random_state": 0}
    return BoostR(validation=0.5, **params).fit(fleet.X, fleet.y), fleet


def test_martingale_residuals_are_events_minus_predicted_counts(plain, test):
    expected = plain.predict_count(test.X, test.y.start, test.y.end)
    assert_allclose(residuals(plain, test.X, test.y), test.y.n_events - expected)


def test_squared_deviance_residuals_average_to_the_deviance(plain, test):
    found = residuals(plain, test.X, test.y, kind="deviance")
    expected = plain.predict_count(test.X, test.y.start, test.y.end)
    assert_allclose(np.mean(found**2), poisson_deviance(test.y, expected))
    assert np.array_equal(np.sign(found), np.sign(test.y.n_events - expected))


def test_gaps_in_observation_are_left_out(plain):
    y = make_events([([(0.0, 20.0), (50.0, 60.0)], [5.0, 55.0], [1.0, 1.0])])
    y = y._with(has_costs=False)
    X = np.array([[0.2, 0.2]])
    seen = plain.predict_count(X, 0.0, 20.0) + plain.predict_count(X, 50.0, 60.0)
    assert_allclose(residuals(plain, X, y), 2.0 - seen)
    gaps = rescaled_times(plain, X, y).gaps
    between = plain.predict_count(X, 5.0, 20.0) + plain.predict_count(X, 50.0, 55.0)
    assert_allclose(gaps[1], between[0])


def test_cumulative_residuals_end_at_the_martingale_residuals(plain, test):
    found = residuals(plain, test.X, test.y, kind="cumulative")
    assert_allclose(found.values[:, -1], residuals(plain, test.X, test.y))
    assert_allclose(found.values[:, 0], 0.0)


def test_cumulative_residuals_at_given_times(plain, test):
    found = residuals(plain, test.X, test.y, kind="cumulative", times=[10.0, 15.0])
    counts = [np.sum(test.y[row].times <= 15.0) for row in range(len(test.y))]
    expected = plain.predict_cumulative(test.X, [15.0])[:, 0]
    assert_allclose(found.values[:, 1], counts - expected)


def test_mean_and_error_are_those_of_the_known():
    values = np.array([[1.0], [3.0], [np.nan]])
    found = CumulativeResiduals(np.array([1.0]), values)
    assert_allclose([found.mean[0], found.error[0]], [2.0, 1.0])


def test_without_features_predictions_are_out_of_fold(trained):
    model, fleet = trained
    found = residuals(model, None, fleet.y)
    times = np.unique(fleet.y.end)
    curves = model.predict_out_of_fold(times)
    expected = curves[np.arange(80), np.searchsorted(times, fleet.y.end)]
    assert np.isnan(found).sum() == 40
    assert_allclose(found, fleet.y.n_events - expected)


def test_out_of_fold_gaps_are_those_of_individuals_held_out(trained):
    model, fleet = trained
    found = rescaled_times(model, None, fleet.y)
    held_out = np.flatnonzero(~np.isnan(residuals(model, None, fleet.y)))
    assert np.array_equal(np.unique(found.individual), held_out)


def test_gaps_of_an_individual_sum_to_its_expected_count(plain, test):
    found = rescaled_times(plain, test.X, test.y)
    expected = plain.predict_count(test.X, test.y.start, test.y.end)
    assert_allclose(np.bincount(found.individual, found.gaps), expected)
    assert np.array_equal(np.bincount(found.individual), test.y.n_events + 1)
    assert found.is_censored.sum() == len(test.y)


def test_sensors_are_needed_and_used(model, fleet):
    found = rescaled_times(model, fleet.X, fleet.y, fleet.Z)
    expected = model.predict_count(fleet.X, fleet.y.start, fleet.y.end, Z=fleet.Z)
    assert_allclose(np.bincount(found.individual, found.gaps), expected, atol=1e-9)


def test_gaps_come_as_a_table(plain, test):
    found = rescaled_times(plain, test.X, test.y)
    table = found.to_frame(backend="pandas")
    assert table.columns.tolist() == ["individual", "gap", "is_censored"]
    assert len(table) == len(found.gaps)


def test_costs_are_refused_for_gaps(test):
    costs = np.full(test.y.times.size, 2.0)
    y = test.y._with(costs=costs, has_costs=True)
    model = BoostR(n_estimators=2, validation=None, n_origins=0).fit(test.X, y)
    with pytest.raises(InvalidEventsError, match="costs"):
        rescaled_times(model, test.X, y)


def test_gaps_need_times_of_events(plain, test):
    table = pd.DataFrame(
        {"id": np.arange(40), "start": 0.0, "stop": test.y.end, "count": test.y.n_events}
    )
    counted = RecurrentEvents.from_counts(table, "id", "start", "stop", "count")
    with pytest.raises(InvalidEventsError, match="gaps between events needs the times"):
        rescaled_times(plain, test.X, counted)
    assert_allclose(residuals(plain, test.X, counted), residuals(plain, test.X, test.y))


def test_unknown_kinds_are_refused(plain, test):
    with pytest.raises(InvalidParameterError, match="kind"):
        residuals(plain, test.X, test.y, kind="score")


# --- The test of gaps


def draw_gaps(rng, n, rate=1.0, shape=1.0):
    """Return gaps of renewal processes that are cut off at time 3."""
    gaps, is_censored = [], []
    for _ in range(n):
        left = 3.0
        while True:
            gap = rng.gamma(shape, 1.0 / (shape * rate))
            gaps.append(min(gap, left))
            is_censored.append(gap >= left)
            left -= gap
            if left <= 0.0:
                break
    return np.array(gaps), np.array(is_censored)


def test_p_values_are_uniform_where_the_model_is_right(rng):
    found = [_test_gaps(*draw_gaps(rng, 60))[1] for _ in range(300)]
    assert stats.kstest(found, "uniform").pvalue > 0.01


@pytest.mark.parametrize(("rate", "shape"), [(1.3, 1.0), (0.7, 1.0), (1.0, 0.4)])
def test_wrong_rates_and_clustered_events_are_found(rng, rate, shape):
    assert _test_gaps(*draw_gaps(rng, 300, rate, shape))[1] < 1e-3


def test_the_chance_is_that_of_brownian_motion(rng):
    steps = rng.standard_normal((2000, 1000)) / np.sqrt(1000.0)
    farthest = np.abs(np.cumsum(steps, axis=1)).max(axis=1)
    for distance in (1.0, 2.0):
        # One gap that ends at once, and much exposure, make the statistic.
        gaps, is_censored = np.array([distance**2]), np.array([True])
        statistic, chance = _test_gaps(gaps, is_censored)
        assert_allclose(statistic, distance)
        assert_allclose(chance, np.mean(farthest > distance), atol=0.04)


@given(
    st.lists(st.tuples(st.floats(0.0, 5.0), st.booleans()), min_size=1, max_size=30),
    st.floats(0.0, 6.0),
)
def test_numbers_of_gaps_are_counted_and_expected(pairs, length):
    gaps, is_censored = (np.array(one) for one in zip(*pairs, strict=True))
    lengths, expected, observed = _count_gaps(gaps, is_censored)
    place = np.searchsorted(lengths, length, side="right") - 1
    assert observed[place] == np.sum(~is_censored & (gaps <= length))
    reached = lengths[place]
    assert_allclose(expected[place], np.minimum(gaps, reached).sum(), atol=1e-9)


def test_nothing_expected_is_refused():
    with pytest.raises(InvalidEventsError, match="expects none"):
        _test_gaps(np.zeros(2), np.array([True, True]))
