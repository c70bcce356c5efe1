"""Individuals without static features: sensors alone, or the average of all."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score

from boostr import BoostR, Panel, RecurrentEvents, Trajectories
from boostr.exceptions import InvalidFeaturesError

TIMES = [1.0, 4.0, 8.0]
NO_TABLES = {
    "array": lambda n: np.empty((n, 0)),
    "list": lambda n: [[] for _ in range(n)],
    "frame": lambda n: pd.DataFrame(index=range(n)),
}


@dataclass
class Wells:
    """Wells whose load changes at times, and with it the rate of failures."""

    X: np.ndarray
    y: RecurrentEvents
    Z: Trajectories


@pytest.fixture(scope="module")
def wells():
    rng = np.random.default_rng(0)
    n, changes = 40, np.array([0.0, 2.5, 5.0, 7.5])
    loads = rng.random((n, changes.size))
    lists = []
    for own in loads:
        happened = [
            begin + 2.5 * rng.random(rng.poisson(2.0 * load))
            for begin, load in zip(changes, own, strict=True)
        ]
        lists.append(np.sort(np.concatenate(happened)))
    offsets = changes.size * np.arange(n + 1)
    Z = Trajectories.from_flat(np.tile(changes, n), offsets, [loads.ravel()], ["load"])
    return Wells(rng.random((n, 2)), RecurrentEvents.from_lists(lists, end=10.0), Z)


def fit(X, wells, with_sensors, **params):
    settings = {"n_estimators": 4, "validation": None, "n_origins": 0, "random_state": 0}
    model = BoostR(**(settings | params))
    return model.fit(X, wells.y, wells.Z if with_sensors else None)


def predict_all(model, X, wells, with_sensors):
    Z = wells.Z if with_sensors else None
    return [
        model.predict(X, Z),
        model.predict_cumulative(X, TIMES, Z),
        model.predict_intensity(X, TIMES, Z),
        model.predict_count(X, 0.5, 5.0, Z),
        model.score(X, wells.y, Z=Z),
    ]


@pytest.mark.parametrize("with_sensors", [False, True])
@pytest.mark.parametrize("kind", NO_TABLES)
def test_no_features_are_like_one_that_is_the_same_for_all(wells, kind, with_sensors):
    none, same = NO_TABLES[kind](len(wells.y)), np.ones((len(wells.y), 1))
    model = fit(none, wells, with_sensors)
    found = predict_all(model, none, wells, with_sensors)
    expected = predict_all(fit(same, wells, with_sensors), same, wells, with_sensors)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)
    assert model.n_features_in_ == 0
    assert model.feature_importances_.shape == (0,)


@pytest.mark.slow
@pytest.mark.parametrize("with_sensors", [False, True])
@pytest.mark.parametrize(
    "params",
    [
        {"validation": "cv"},
        {"validation": 0.3},
        {"growth": "level"},
        {"splitter": "random", "colsample": 0.5, "subsample": 0.5},
        {"leaf": "spline", "loss": "cumulative"},
    ],
)
def test_every_way_of_training_goes_without_features(wells, params, with_sensors):
    none, same = np.empty((len(wells.y), 0)), np.ones((len(wells.y), 1))
    found, expected = (
        predict_all(fit(X, wells, with_sensors, **params), X, wells, with_sensors)
        for X in (none, same)
    )
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


def test_everybody_is_average_without_sensors(wells):
    none = np.empty((len(wells.y), 0))
    predicted = fit(none, wells, False).predict_cumulative(none, TIMES)
    assert_array_equal(predicted, np.tile(predicted[0], (len(predicted), 1)))
    # The average individual of those observed: events that happened, events expected.
    expected = fit(none, wells, False).predict_count(none, wells.y.start, wells.y.end)
    assert_allclose(expected.sum(), wells.y.n_events.sum(), rtol=0.05)


def test_sensors_alone_tell_individuals_apart(wells):
    none = np.empty((len(wells.y), 0))
    model = fit(none, wells, True)
    assert np.ptp(model.predict(none, wells.Z)) > 0.1
    assert all(
        len(tree.nodes.feature) == 1 for m in model.ensemble_.members for tree in m.trees
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::boostr.exceptions.SensorRangeWarning")
def test_a_panel_without_features_goes_through_cross_validation(wells):
    panel = Panel(np.empty((len(wells.y), 0)), wells.Z)
    model = BoostR(n_estimators=2, validation=None, random_state=0)
    assert np.isfinite(cross_val_score(model, panel, wells.y, cv=2)).all()


def test_features_that_training_did_not_have_are_refused(wells):
    model = fit(np.empty((len(wells.y), 0)), wells, False)
    with pytest.raises(ValueError, match="expecting 0 features"):
        model.predict(wells.X)


def test_rows_are_needed_all_the_same(wells):
    with pytest.raises(ValueError, match="0 sample"):
        BoostR().fit(np.empty((0, 0)), wells.y)
    with pytest.raises(InvalidFeaturesError, match="must have rows"):
        BoostR().fit(pd.DataFrame(), wells.y)
