import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles

from boostr.baselines import (
    HistGradientBoostingRate,
    LightGBMPoisson,
    McfRegressor,
    XGBoostPoisson,
    XGBoostTime,
)
from boostr.baselines._cells import TimeCells
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidEventsError
from boostr.nonparametric import MeanCumulativeFunction
from boostr.simulate import dataset_a

BOOSTED = [
    pytest.param(XGBoostPoisson, id="xgboost"),
    pytest.param(LightGBMPoisson, id="lightgbm"),
]


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=150, random_state=1, end=(40.0, 100.0))


@pytest.fixture
def gappy():
    table = pd.DataFrame(
        {
            "id": [1, 1, 1, 2, 2],
            "start": [0.0, 3.0, 6.0, 2.0, 5.0],
            "stop": [3.0, 4.0, 9.0, 5.0, 10.0],
            "event": [1, 0, 1, 1, 1],
        }
    )
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")


def test_cells_count_events_and_time_observed(gappy):
    cells = TimeCells(np.array([0.0, 3.0, 5.0, 10.0]))
    assert_array_equal(cells.count(gappy), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    assert_array_equal(cells.observe(gappy), [[3.0, 1.0, 3.0], [1.0, 2.0, 5.0]])


def test_time_observed_is_that_of_a_fine_grid(gappy):
    cells = TimeCells(np.array([0.0, 2.5, 7.5, 10.0]))
    grid = np.arange(0.005, 10.0, 0.01)
    for number, own in enumerate(gappy):
        windows = list(zip(own.window_start, own.window_stop, strict=True))
        seen = [float(oracles.is_at_risk(windows, time)) for time in grid]
        sums = np.histogram(grid, cells.edges, weights=seen)[0] * 0.01
        assert_allclose(cells.observe(gappy)[number], sums, atol=0.02)


def test_rows_are_those_in_which_somebody_was_observed(gappy):
    cells = TimeCells(np.array([0.0, 1.0, 10.0]))
    rows = cells.expand(np.array([[7.0], [8.0]]), gappy, np.array([1.0, 2.0]))
    assert_array_equal(rows.features, [[7.0, 0.5], [7.0, 5.5], [8.0, 5.5]])
    assert_array_equal(rows.weights, [1.0, 1.0, 2.0])


def test_cells_have_about_as_many_events_each(fleet):
    cells = TimeCells.from_events(fleet.y, np.ones(150), 8)
    per_cell = cells.count(fleet.y).sum(axis=0)
    assert_allclose(per_cell, fleet.y.times.size / 8, atol=1.0)


@pytest.mark.parametrize("make", BOOSTED)
def test_explains_new_events_better_than_the_mean(make, fleet):
    pytest.importorskip("xgboost" if make is XGBoostPoisson else "lightgbm")
    test = dataset_a(n=200, random_state=2)
    assert make(random_state=0).fit(fleet.X, fleet.y).score(test.X, test.y) > 0.5


@pytest.mark.parametrize("make", BOOSTED)
def test_expects_as_many_events_as_there_are(make, fleet):
    pytest.importorskip("xgboost" if make is XGBoostPoisson else "lightgbm")
    model = make(random_state=0).fit(fleet.X, fleet.y)
    expected = model.predict_count(fleet.X, 0.0, fleet.y.end).sum()
    assert_allclose(expected, fleet.y.times.size, rtol=0.05)


@pytest.mark.parametrize("make", BOOSTED)
def test_curves_stay_constant_after_the_last_cell(make, fleet):
    pytest.importorskip("xgboost" if make is XGBoostPoisson else "lightgbm")
    model = make(n_estimators=5).fit(fleet.X, fleet.y)
    late = model.predict_cumulative(fleet.X, [fleet.y.end.max(), 300.0])
    assert_array_equal(late[:, 0], late[:, 1])


def test_rate_without_features_is_the_mean(fleet):
    X = np.zeros((150, 1))
    model = HistGradientBoostingRate(n_estimators=5).fit(X, fleet.y)
    assert_allclose(model.predict(X), McfRegressor().fit(X, fleet.y).predict(X), rtol=1e-6)


def test_curves_of_the_rate_are_proportional_to_the_mean(fleet):
    model = HistGradientBoostingRate(n_estimators=20).fit(fleet.X, fleet.y)
    times = [20.0, 50.0, 90.0]
    mean = MeanCumulativeFunction().fit(fleet.y).predict(times)
    curves = model.predict_cumulative(fleet.X, times)
    assert_allclose(curves, np.multiply.outer(curves[:, 2], mean / mean[2]))


def test_count_so_far_is_learned_and_cannot_be_extrapolated(fleet):
    pytest.importorskip("xgboost")
    model = XGBoostTime(min_samples_leaf=5).fit(fleet.X, fleet.y)
    curves = model.predict_cumulative(fleet.X, [50.0, fleet.y.end.max(), 300.0])
    assert_array_equal(curves[:, 1], curves[:, 2])
    assert np.corrcoef(curves[:, 0], fleet.truth([50.0])[:, 0])[0, 1] > 0.8


def test_plain_count_so_far_may_fall(fleet):
    pytest.importorskip("xgboost")
    settings = {"min_samples_leaf": 1, "n_times": 50, "max_leaf_nodes": 60}
    times = np.linspace(0.0, 100.0, 51)
    plain, bent = (
        XGBoostTime(monotone=monotone, **settings).fit(fleet.X, fleet.y)
        for monotone in (False, True)
    )
    curves = plain.predict_cumulative(fleet.X, times)
    assert np.diff(curves, axis=1).min() < 0.0
    assert_allclose(
        bent.predict_cumulative(fleet.X, bent.edges_),
        np.maximum.accumulate(plain.predict_cumulative(fleet.X, plain.edges_), axis=1),
    )


def test_count_so_far_needs_somebody_observed_from_zero():
    pytest.importorskip("xgboost")
    y = RecurrentEvents.from_lists([[3.0], [2.0]], start=1.0, end=4.0)
    with pytest.raises(InvalidEventsError, match="XGBoostPoisson takes late entry"):
        XGBoostTime().fit(np.zeros((2, 1)), y)
