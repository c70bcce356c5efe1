import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr import BoostR
from boostr.exceptions import InvalidParameterError, UnusedInputWarning
from boostr.inspection import partial_dependence, sensor_effect
from boostr.inspection.model import read_model, sort_times, unused_features, unused_sensors
from boostr.simulate import dataset_a, wells

USUAL = np.array([50.0, 100.0])


def test_the_usual_times_hold_where_none_are_given():
    assert sort_times(None, USUAL) is USUAL


@pytest.mark.parametrize(
    "times", [[3, 1, 3], (3.0, 1.0), np.array([[1.0], [3.0]])], ids=str
)
def test_times_are_sorted_and_each_once(times):
    assert_array_equal(sort_times(times, USUAL), [1.0, 3.0])


def test_one_time_is_enough():
    assert_array_equal(sort_times(0, USUAL), [0.0])


@pytest.mark.parametrize("times", [-1.0, [1.0, np.nan], np.inf, [], "soon"], ids=str)
def test_times_off_the_axis_are_refused(times):
    with pytest.raises(InvalidParameterError, match=r"`times` must be"):
        sort_times(times, USUAL)


@pytest.fixture(scope="module")
def fleet():
    return wells(n=60, n_sensors=3, random_state=1)


@pytest.fixture(scope="module")
def model(fleet):
    """Return a model whose third sensor has no part in any leaf."""
    settings = {"n_estimators": 3, "validation": None, "sensor_penalty": "ridge"}
    whole = BoostR(**settings, random_state=0).fit(fleet.X, fleet.y, fleet.Z)
    assert unused_sensors(whole) == ()
    parts = read_model(whole)
    return parts.without(parts.find_sensor("sensor3").terms).estimator


def plan(fleet, name, value):
    future = fleet.Z.select([name])
    return future._with(
        times=future.times + fleet.y.end.max(), values=np.full_like(future.values, value)
    )


def test_a_plan_for_an_unused_sensor_changes_nothing_and_is_said(model, fleet):
    assert unused_sensors(model) == ("sensor3",)
    asked = (fleet.X, fleet.y, 20.0, fleet.Z)
    plain = model.forecast_fleet(*asked)
    with pytest.warns(UnusedInputWarning, match="does not use the sensor 'sensor3'"):
        planned = model.forecast_fleet(*asked, plan(fleet, "sensor3", 0.5))
    assert_allclose(planned.expected, plain.expected, rtol=1e-12)
    assert replace(planned, expected=plain.expected) == plain
    with pytest.warns(UnusedInputWarning, match="sensor_importance") as caught:
        model.forecast(*asked, plan(fleet, "sensor3", 0.5))
    assert caught[0].filename == __file__


def test_a_plan_for_a_used_sensor_is_silent(model, fleet):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.forecast(fleet.X, fleet.y, 20.0, fleet.Z, plan(fleet, "sensor1", 0.5))


def test_the_effect_of_an_unused_sensor_is_zero_and_is_said(model, fleet):
    with pytest.warns(UnusedInputWarning, match="'sensor3': other values change nothing"):
        effect = sensor_effect(model, fleet.X, "sensor3")
    assert not effect.mean.any()


def test_curves_over_an_unused_feature_are_flat_and_it_is_said():
    fleet = dataset_a(n=80, random_state=1)
    X = np.column_stack([fleet.X, np.zeros(80)])
    model = BoostR(n_estimators=3, validation=None, random_state=0).fit(X, fleet.y)
    assert unused_features(model) == ("x2",)
    with pytest.warns(UnusedInputWarning, match="does not use the feature 'x2'"):
        curves = partial_dependence(model, X + np.arange(80)[:, None], "x2", n_grid=3)
    assert np.ptp(curves.average, axis=0).max() == 0.0
