import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from boostr.exceptions import InvalidParameterError, InvalidSensorsError
from boostr.inspection import coefficient_map, sensor_effect


def pairs(result):
    """All pairs of values, in the order of the map."""
    return np.array(list(itertools.product(result.y_grid, result.x_grid)))[:, ::-1]


def test_map_of_a_model_without_sensors_is_its_prediction(plain):
    result = coefficient_map(plain, 0, 1, n_grid=7)
    assert result.kind == "expected"
    assert_allclose(result.values.ravel(), plain.predict(pairs(result)))


def test_features_may_change_places(plain):
    one, other = coefficient_map(plain, 0, 1), coefficient_map(plain, "x1", "x0")
    assert_allclose(one.values, other.values.T)
    assert (one.feature_x, other.feature_x) == ("x0", "x1")


def test_other_features_are_at_their_medians(model, fleet):
    X = fleet.X.copy()
    X[:, 1] = np.where(np.arange(80) < 41, 0.1, 0.99)  # far from the mean
    result = coefficient_map(model, 0, 2, sensor=2, at=0.9, X=X, n_grid=6)
    rows = np.full((36, 3), 0.1)
    rows[:, [0, 2]] = pairs(result)
    effect = sensor_effect(model, rows, 2, grid=[0.9])
    assert_allclose(result.values.ravel(), effect.curves[:, 0], atol=1e-12)
    assert result.values.any()


def test_average_is_over_the_other_features_of_everybody(model, fleet):
    X = fleet.X[:20]
    result = coefficient_map(model, 0, 1, sensor=2, X=X, average=True, n_grid=3)
    for (first, second), value in zip(pairs(result), result.values.ravel(), strict=True):
        rows = X.copy()
        rows[:, 0], rows[:, 1] = first, second
        effect = sensor_effect(model, rows, 2)
        norms = effect.speed * np.linalg.norm(effect.coefficients, axis=1)
        assert value == pytest.approx(norms.mean())


def test_baseline_is_the_rate_when_sensors_are_unknown(model, fleet):
    result = coefficient_map(model, 0, 1, X=fleet.X, n_grid=8)
    rows = np.tile(np.median(fleet.X, axis=0), (64, 1))
    rows[:, :2] = pairs(result)
    unknown = fleet.Z[:64]._with(values=np.full((3, fleet.Z.offsets[64]), np.nan))
    rates = model.predict_intensity(rows, 40.0, unknown)[:, 0]
    speed = model.clock_.read(np.array([model.horizon_])) / model.horizon_
    assert result.kind == "baseline"
    assert_allclose(result.values.ravel(), rates * speed / model.clock_.rate([40.0]))


def test_grid_spans_the_individuals_or_the_bins(model, fleet):
    given = coefficient_map(model, 0, 1, X=fleet.X[:10])
    assert (given.x_grid[0], given.x_grid[-1]) == (
        fleet.X[:10, 0].min(),
        fleet.X[:10, 0].max(),
    )
    training = coefficient_map(model, 0, 1)
    assert fleet.X[:, 0].min() < training.x_grid[0] < training.x_grid[-1] < 1.0
    assert_allclose(np.diff(training.x_grid), np.diff(training.x_grid)[0])


def test_categories_of_features_and_sensors_are_named(pumps):
    result = coefficient_map(
        pumps.model, "site", "depth", sensor="mode", at="rush", X=pumps.X, n_grid=4
    )
    rows = pd.DataFrame(
        {"site": np.tile(["north", "south"], 4), "depth": np.repeat(result.y_grid, 2)}
    )
    effect = sensor_effect(pumps.model, rows, "mode", grid=["rush"])
    assert result.x_grid.tolist() == ["north", "south"]
    assert (result.sensor, result.at, result.time_unit) == ("mode", "rush", "D")
    assert_allclose(result.values.ravel(), effect.curves[:, 0], atol=1e-12)


def test_other_categories_are_the_most_frequent_ones(pumps):
    result = coefficient_map(
        pumps.model, "depth", "depth", sensor="load", X=pumps.X, n_grid=5
    )
    both = coefficient_map(pumps.model, "site", "depth", sensor="load", X=pumps.X, n_grid=5)
    assert_allclose(np.diag(result.values), both.values[:, 0])
    assert not np.allclose(both.values[:, 0], both.values[:, 1])


def test_without_individuals_other_categories_are_missing(pumps):
    result = coefficient_map(pumps.model, "depth", "depth", sensor="load", n_grid=5)
    rows = pd.DataFrame({"site": [None] * 5, "depth": result.x_grid})
    effect = sensor_effect(pumps.model, rows, "load")
    norms = effect.speed * np.linalg.norm(effect.coefficients, axis=1)
    assert_allclose(np.diag(result.values), norms, atol=1e-12)


@pytest.mark.parametrize("wanted", ["depht", 9])
def test_unknown_features_are_named_with_those_that_there_are(pumps, wanted):
    message = rf"feature {wanted!r}.*\n\n.*'site', 'depth'\."
    with pytest.raises(InvalidParameterError, match=message):
        coefficient_map(pumps.model, "site", wanted)


def test_unknown_sensors_are_named_with_those_that_there_are(model):
    with pytest.raises(InvalidParameterError, match=r"'torque'.*\n\n.*'sensor1'"):
        coefficient_map(model, 0, 1, sensor="torque")


def test_long_lists_of_names_are_cut(model, monkeypatch):
    monkeypatch.setattr("boostr.inspection.model._N_LISTED", 2)
    with pytest.raises(InvalidParameterError, match=r"'x0', 'x1', …"):
        coefficient_map(model, "depth", 1)


def test_a_value_needs_a_sensor(model):
    with pytest.raises(InvalidParameterError, match="no sensor is named"):
        coefficient_map(model, 0, 1, at=0.5)


@pytest.mark.parametrize("at", ["high", np.nan])
def test_the_value_of_a_sensor_must_be_a_number(model, at):
    with pytest.raises(InvalidParameterError, match="`at` must be a finite number"):
        coefficient_map(model, 0, 1, sensor=0, at=at)


def test_an_average_needs_individuals(model):
    with pytest.raises(InvalidParameterError, match="`X` is missing"):
        coefficient_map(model, 0, 1, average=True)


def test_without_a_baseline_there_is_none_to_map(bare):
    with pytest.raises(InvalidParameterError, match="baseline=None"):
        coefficient_map(bare, 0, 1)


def test_a_model_without_sensors_has_no_effects_to_map(plain):
    with pytest.raises(InvalidSensorsError, match="fitted without"):
        coefficient_map(plain, 0, 1, sensor="torque")


def test_a_feature_without_known_values_has_no_grid(model, fleet):
    X = fleet.X.copy()
    X[:, 1] = np.nan
    with pytest.raises(InvalidParameterError, match="'x1' was constant or missing in `X`"):
        coefficient_map(model, 0, 1, X=X)
