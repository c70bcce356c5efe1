import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.baselines import AndersenGill
from boostr.baselines._andersen_gill import _cut_windows
from boostr.data import RecurrentEvents
from boostr.nonparametric import MeanCumulativeFunction
from boostr.simulate import dataset_a

pytest.importorskip("lifelines")


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=100, random_state=1, end=(40.0, 100.0))


def test_rows_are_those_of_the_start_stop_table(fleet):
    owner, start, stop, is_event = _cut_windows(fleet.y)
    table = fleet.y.to_start_stop(backend="pandas")
    assert_array_equal(owner, table["id"])
    assert_allclose(start, table["start"])
    assert_allclose(stop, table["stop"])
    assert_array_equal(is_event, table["event"])


def test_rows_respect_gaps():
    table = pd.DataFrame({"id": [1, 1, 1], "start": [1.0, 2.0, 5.0]})
    table = table.assign(stop=[2.0, 3.0, 7.0], event=[1, 0, 1])
    y = RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")
    _, start, stop, is_event = _cut_windows(y)
    assert_array_equal(start, [1.0, 2.0, 5.0])
    assert_array_equal(stop, [2.0, 3.0, 7.0])
    assert_array_equal(is_event, [True, False, True])


def test_tied_events_come_one_after_the_other():
    y = RecurrentEvents.from_lists([[2.0, 2.0, 2.0]], end=3.0)
    _, start, stop, is_event = _cut_windows(y)
    assert np.all(stop > start)
    assert_array_equal(start[1:], stop[:-1])
    assert_array_equal(is_event, [True, True, True, False])
    assert_allclose(stop, [2.0, 2.0, 2.0, 3.0], rtol=1e-5)


@pytest.mark.slow
def test_recovers_a_log_linear_effect(rng):
    X = rng.normal(size=(300, 1))
    counts = rng.poisson(3.0 * np.exp(0.7 * X[:, 0]))
    y = RecurrentEvents.from_lists([rng.uniform(0, 10, k) for k in counts], end=10.0)
    model = AndersenGill().fit(X, y)
    error = model.summary()["se(coef)"].iloc[0] / X.std()
    assert abs(model.coef_[0] - 0.7) < 3.0 * error


def test_baseline_is_that_of_lifelines(fleet):
    model = AndersenGill().fit(fleet.X, fleet.y)
    baseline = model.model_.baseline_cumulative_hazard_.iloc[:, 0]
    design = (fleet.X - model.means_) / model.scales_
    table = pd.DataFrame(design, columns=model.coef_names_)
    factors = model.model_.predict_partial_hazard(table).to_numpy()
    ours = model.predict_cumulative(fleet.X, baseline.index.to_numpy())
    assert_allclose(ours, np.multiply.outer(factors, baseline.to_numpy()), rtol=1e-6)


def test_expects_as_many_events_as_there_are(fleet):
    model = AndersenGill().fit(fleet.X, fleet.y)
    expected = model.predict_count(fleet.X, 0.0, fleet.y.end).sum()
    assert_allclose(expected, fleet.y.times.size)


def test_constant_features_leave_the_mean_cumulative_function(fleet):
    model = AndersenGill().fit(np.ones((100, 2)), fleet.y)
    times = [10.0, 50.0, 90.0]
    expected = MeanCumulativeFunction().fit(fleet.y).predict(times)
    assert_allclose(model.predict_cumulative(np.ones((1, 2)), times)[0], expected)
    assert_array_equal(model.coef_, 0.0)
    assert model.summary() is None


@pytest.mark.slow
def test_ridge_draws_coefficients_to_zero(fleet):
    free, drawn = (AndersenGill(alpha=alpha).fit(fleet.X, fleet.y) for alpha in (0.0, 1.0))
    assert np.all(np.abs(drawn.coef_) < np.abs(free.coef_))
