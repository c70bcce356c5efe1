import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.exceptions import InvalidParameterError, InvalidSensorsError
from boostr.inspection import partial_dependence


def test_everybody_is_given_one_value_after_the_other(plain, rng):
    X = rng.uniform(size=(9, 2))
    result = partial_dependence(plain, X, "x1", times=[30, 80], kind="individual", n_grid=4)
    assert_allclose(result.grid, np.linspace(X[:, 1].min(), X[:, 1].max(), 4))
    for place, value in enumerate(result.grid):
        changed = np.column_stack([X[:, 0], np.full(9, value)])
        expected = plain.predict_cumulative(changed, [30, 80])
        assert_allclose(result.individual[:, place], expected)


def test_averages_are_means_over_individuals(plain, rng):
    X = rng.uniform(size=(9, 2))
    result = partial_dependence(plain, X, 0, kind="individual", n_grid=4)
    alone = partial_dependence(plain, X, 0, n_grid=4)
    assert_allclose(alone.average, result.individual.mean(axis=0))
    assert alone.individual is None
    assert_allclose(alone.times, [plain.horizon_ / 2, plain.horizon_])


def test_the_features_given_stay_as_they_are(plain, rng):
    X = rng.uniform(size=(9, 2))
    before = X.copy()
    result = partial_dependence(plain, X, 0, n_grid=4)
    assert np.array_equal(X, before)
    assert_allclose(result.observed, X[:, 0])


def test_sensors_stay_with_their_individuals(fleet, model):
    X, Z = fleet.X[:10], fleet.Z[:10]
    result = partial_dependence(model, X, 1, times=60.0, Z=Z, kind="individual", n_grid=2)
    changed = np.column_stack([X[:, 0], np.full(10, result.grid[1]), X[:, 2]])
    expected = model.predict(changed, Z, horizon=60.0)
    assert_allclose(result.individual[:, 1, 0], expected)


def test_all_categories_are_taken(pumps):
    result = partial_dependence(pumps.model, pumps.X, "site", times=60.0, Z=pumps.Z)
    assert result.grid.tolist() == ["north", "south"]
    assert result.ids.tolist() == pumps.X.index.tolist()
    south = pumps.X.assign(site="south")
    expected = pumps.model.predict(south, pumps.Z, horizon=60.0).mean()
    assert_allclose(result.average[1, 0], expected)


def test_a_table_has_a_row_for_every_value_and_time(plain, rng):
    X = rng.uniform(size=(9, 2))
    result = partial_dependence(plain, X, 0, times=[30, 80], n_grid=4)
    table = result.to_frame()
    assert list(table.columns) == ["value", "time", "expected"]
    assert_allclose(table["expected"], result.average.ravel())
    assert_allclose(table["value"].iloc[:2], result.grid[0])


def test_unknown_kinds_are_refused(plain, rng):
    with pytest.raises(InvalidParameterError, match="`kind`"):
        partial_dependence(plain, rng.uniform(size=(9, 2)), 0, kind="both")


def test_missing_sensors_are_named(fleet, model):
    with pytest.raises(InvalidSensorsError, match="partial_dependence"):
        partial_dependence(model, fleet.X, 0)
