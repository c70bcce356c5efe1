import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.exceptions import InvalidParameterError, InvalidSensorsError
from boostr.inspection import individual_convergence
from boostr.simulate import dataset_a


@pytest.fixture(scope="module")
def machines():
    return dataset_a(n=100, random_state=1)


def test_curves_are_the_staged_predictions(plain, machines):
    result = individual_convergence(plain, machines.X, machines.y, 7, times=[10.0, 90.0])
    staged = list(plain.staged_predict_cumulative(machines.X, [10.0, 90.0]))
    assert_array_equal(result.n_trees, [1, 2, 3])
    assert_allclose(result.curves, [curves[7] for curves in staged])
    assert_array_equal(result.history.times, machines.y[7].times)
    assert result.sensors is None


def test_stages_can_be_chosen_and_end_with_all_trees(plain, machines):
    result = individual_convergence(plain, machines.X, machines.y, -1, n_trees=2)
    assert_array_equal(result.n_trees, [2, 3])
    assert result.position == 99
    assert result.times[-1] == machines.y.end[99]


def test_sensors_are_matched_by_id(pumps):
    turned = pumps.Z[np.arange(60)[::-1]]
    result = individual_convergence(pumps.model, pumps.X, pumps.y, 5, turned, times=[60.0])
    staged = pumps.model.staged_predict_cumulative(pumps.X, [60.0], pumps.Z)
    assert_allclose(result.curves[:, 0], [curves[5, 0] for curves in staged])
    assert result.sensors.ids.tolist() == ["P05"]
    assert (result.has_id, result.time_unit) == (True, "D")


@pytest.mark.parametrize(
    "params",
    [{"i": 100}, {"i": 1.5}, {"n_trees": 4}, {"n_trees": 0.5}, {"times": [-1.0]}],
)
def test_what_is_not_there_is_refused(plain, machines, params):
    with pytest.raises(InvalidParameterError):
        individual_convergence(plain, machines.X, machines.y, **params)


def test_individuals_and_sensors_must_fit(plain, machines, pumps):
    with pytest.raises(InvalidParameterError, match="same individuals"):
        individual_convergence(plain, machines.X[:5], machines.y)
    with pytest.raises(InvalidSensorsError, match="`Z` is missing"):
        individual_convergence(pumps.model, pumps.X, pumps.y)
    with pytest.raises(InvalidSensorsError, match="without"):
        individual_convergence(plain, machines.X[:60], machines.y[:60], Z=pumps.Z)
