import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.baselines import McfK, McfRegressor
from boostr.data import RecurrentEvents
from boostr.nonparametric import MeanCumulativeFunction


@pytest.fixture
def histories(rng):
    """Late entry, gaps, costs, ties and individuals without events."""
    rows = []
    for number in range(30):
        start = float(rng.integers(0, 5))
        rows.append((number, start, start + 4.0, number % 4 > 0, float(number % 3)))
        rows.append((number, start + 6.0, start + 9.0, number % 3 > 0, 2.0))
        rows.append((number, start + 9.0, start + 12.0, False, 0.0))
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event", "cost"])
    table.loc[~table["event"], "cost"] = 0.0
    return RecurrentEvents.from_start_stop(
        table, "id", "start", "stop", "event", cost="cost"
    )


TIMES = np.linspace(0.0, 25.0, 101)


def test_everybody_gets_the_mean_cumulative_function(histories, rng):
    weights = rng.uniform(0.5, 2.0, 30)
    model = McfRegressor().fit(np.zeros((30, 1)), histories, sample_weight=weights)
    expected = MeanCumulativeFunction().fit(histories, weights).predict(TIMES)
    assert_allclose(model.predict_cumulative(np.zeros((1, 1)), TIMES)[0], expected)


def test_smooth_curves_keep_the_total(histories):
    X = np.zeros((30, 1))
    plain, smooth = McfRegressor().fit(X, histories), McfRegressor(smooth=True)
    assert_allclose(smooth.fit(X, histories).predict(X), plain.predict(X))


def test_all_neighbours_make_the_mean_cumulative_function(histories, rng):
    X = rng.normal(size=(30, 2))
    model = McfK(n_neighbors=30).fit(X, histories)
    expected = MeanCumulativeFunction().fit(histories).predict(TIMES)
    assert_allclose(
        model.predict_cumulative(X, TIMES), np.tile(expected, (30, 1)), atol=1e-12
    )


def test_more_neighbours_than_individuals_are_all_of_them(histories, rng):
    X = rng.normal(size=(30, 2))
    everybody = McfK(n_neighbors=30).fit(X, histories)
    assert_array_equal(
        McfK(n_neighbors=500).fit(X, histories).predict(X), everybody.predict(X)
    )


def test_curve_is_that_of_the_nearest_after_scaling(histories, rng):
    X = rng.normal(size=(30, 2)) * [1.0, 1000.0]
    asked = rng.normal(size=(5, 2)) * [1.0, 1000.0]
    weights = rng.uniform(0.5, 2.0, 30)
    model = McfK(n_neighbors=7).fit(X, histories, sample_weight=weights)
    curves = model.predict_cumulative(asked, TIMES)
    mean = np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    for row, curve in zip(asked, curves, strict=True):
        nearest = np.argsort((((X - row) / scale) ** 2).sum(axis=1))[:7]
        own = MeanCumulativeFunction().fit(histories[nearest], weights[nearest])
        assert_allclose(curve, own.predict(TIMES), atol=1e-12)


def test_different_categories_are_one_standard_deviation_apart():
    table = pd.DataFrame({"kind": ["a", "b", "a", "b"], "size": [-1.0, -1.0, 1.0, 1.0]})
    y = RecurrentEvents.from_lists([[1.0], [], [], []], end=2.0)
    model = McfK(n_neighbors=1).fit(table, y)
    places = model._place(model.columns_.encode(table))
    assert_allclose(np.linalg.norm(places[0] - places[1]), 1.0)
    assert_allclose(np.linalg.norm(places[0] - places[2]), 2.0)


def test_missing_numbers_are_the_mean():
    X = np.array([[0.0], [1.0], [2.0]])
    y = RecurrentEvents.from_lists([[], [1.0], []], end=2.0)
    assert_array_equal(McfK(n_neighbors=1).fit(X, y).predict([[np.nan]]), [1.0])
