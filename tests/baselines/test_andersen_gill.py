import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.baselines import AndersenGill
from boostr.baselines._andersen_gill import _cut_at_events
from boostr.baselines._rows import average_sensors
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.exposure import exposed_windows
from boostr.nonparametric import MeanCumulativeFunction
from boostr.simulate import dataset_a, wells

pytest.importorskip("lifelines")


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=100, random_state=1, end=(40.0, 100.0))


def test_rows_are_those_of_the_start_stop_table(fleet):
    owner, start, stop, is_event, _ = _cut_at_events(fleet.y, exposed_windows(fleet.y))
    table = fleet.y.to_start_stop(backend="pandas")
    assert_array_equal(owner, table["id"])
    assert_allclose(start, table["start"])
    assert_allclose(stop, table["stop"])
    assert_array_equal(is_event, table["event"])


def test_rows_respect_gaps():
    table = pd.DataFrame({"id": [1, 1, 1], "start": [1.0, 2.0, 5.0]})
    table = table.assign(stop=[2.0, 3.0, 7.0], event=[1, 0, 1])
    y = RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")
    _, start, stop, is_event, _ = _cut_at_events(y, exposed_windows(y))
    assert_array_equal(start, [1.0, 2.0, 5.0])
    assert_array_equal(stop, [2.0, 3.0, 7.0])
    assert_array_equal(is_event, [True, False, True])


def test_tied_events_come_one_after_the_other():
    y = RecurrentEvents.from_lists([[2.0, 2.0, 2.0]], end=3.0)
    _, start, stop, is_event, _ = _cut_at_events(y, exposed_windows(y))
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


@pytest.fixture(scope="module")
def well_fleet():
    return wells(n=60, random_state=1)


def test_constant_sensors_are_features(fleet):
    n, n_sensors = fleet.X.shape
    sensors = Trajectories.from_flat(
        np.zeros(n), np.arange(n + 1), fleet.X.T, [f"s{k}" for k in range(n_sensors)]
    )
    as_features = AndersenGill().fit(fleet.X, fleet.y)
    as_sensors = AndersenGill(n_cells=4).fit(np.empty((n, 0)), fleet.y, sensors)
    times = np.linspace(0.0, 100.0, 7)
    assert as_sensors.coef_names_ == list(sensors.names)
    assert_allclose(as_sensors.coef_, as_features.coef_, rtol=1e-6)
    assert_allclose(
        as_sensors.predict_cumulative(np.empty((n, 0)), times, sensors),
        as_features.predict_cumulative(fleet.X, times),
        rtol=1e-6,
    )


@pytest.mark.slow
def test_sensors_follow_the_model_of_lifelines(well_fleet):
    X, y, Z = well_fleet.X, well_fleet.y, well_fleet.Z
    model = AndersenGill(n_cells=10).fit(X, y, Z)
    edges = np.linspace(0.0, y.end.max(), 11)
    predicted = np.diff(model.predict_cumulative(X, edges, Z), axis=1)
    baseline = model.model_.baseline_cumulative_hazard_.iloc[:, 0]
    heights = [baseline[baseline.index <= edge].max() for edge in edges[1:]]
    rises = np.diff(heights, prepend=0.0)
    for cell, rise in enumerate(rises):
        starts, stops = (np.full((len(X), 1), edges[cell + k]) for k in (0, 1))
        table = np.column_stack([X, average_sensors(Z, starts, stops)[:, 0]])
        design = np.nan_to_num((table - model.means_) / model.scales_)
        named = pd.DataFrame(design, columns=model.coef_names_)
        factors = model.model_.predict_partial_hazard(named).to_numpy()
        assert_allclose(predicted[:, cell], factors * rise, rtol=1e-6, atol=1e-12)


def test_with_sensors_it_expects_about_as_many_events_as_there_are(well_fleet):
    model = AndersenGill(n_cells=10).fit(well_fleet.X, well_fleet.y, well_fleet.Z)
    expected = model.predict_count(well_fleet.X, 0.0, well_fleet.y.end, well_fleet.Z)
    assert_allclose(expected.sum(), well_fleet.y.times.size, rtol=0.02)


def test_weight_two_with_sensors_is_nearly_the_individual_twice(well_fleet):
    X, y, Z = well_fleet.X[:, :2], well_fleet.y, well_fleet.Z
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    twice = np.concatenate([np.arange(60), np.arange(20)])
    weighted = AndersenGill(n_cells=5).fit(X, y, Z, sample_weight=weights)
    repeated = AndersenGill(n_cells=5).fit(X[twice], y[twice], Z[twice])
    assert_allclose(weighted.coef_, repeated.coef_, rtol=0.02, atol=0.02)


def test_categories_of_sensors_have_indicators(rng):
    n = 40
    table = pd.DataFrame({"id": range(n), "time": 0.0, "load": ["high", "low"] * (n // 2)})
    sensors = Trajectories.from_long(table, "id", "time", ["load"])
    y = RecurrentEvents.from_lists(
        [rng.uniform(0, 10, 8 if row % 2 else 3) for row in range(n)], end=10.0
    )
    model = AndersenGill(n_cells=2).fit(np.empty((n, 0)), y, sensors)
    assert model.coef_names_ == ["load=low"]
    assert_allclose(np.exp(model.coef_[0]), 8.0 / 3.0, rtol=0.05)
