import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from boostr.baselines import (
    HistGradientBoostingPoisson,
    HistGradientBoostingRate,
    HomogeneousPoisson,
    LightGBMPoisson,
    McfK,
    RandomForestRecurrence,
    XGBoostTime,
    tune,
)
from boostr.exceptions import InvalidParameterError, InvalidSensorsError
from boostr.simulate import dataset_a, wells


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=150, random_state=1, end=(40.0, 100.0))


def test_a_fitted_copy_is_returned(fleet):
    model = McfK()
    tuned = tune(model, fleet.X, fleet.y, random_state=0)
    assert tuned.predict(fleet.X).shape == (150,)
    with pytest.raises(NotFittedError):
        model.predict(fleet.X)


def test_neighbours_are_neither_few_nor_all(fleet):
    tried = {"n_neighbors": [1, 20, 150]}
    assert tune(McfK(), fleet.X, fleet.y, settings=tried).n_neighbors == 20


@pytest.mark.slow
def test_the_choice_is_that_of_the_held_out_score(fleet):
    tried = {"min_samples_leaf": [1, 10, 75]}
    model = RandomForestRecurrence(n_estimators=20, random_state=0)
    tuned = tune(model, fleet.X, fleet.y, settings=tried, n_folds=3, random_state=0)
    assert tuned.min_samples_leaf == 10


@pytest.mark.slow
def test_boosted_baselines_find_their_number_of_trees(fleet):
    model = HistGradientBoostingRate(random_state=0)
    tuned = tune(model, fleet.X, fleet.y, n_folds=3, random_state=0)
    assert tuned.learning_rate == model.learning_rate
    assert 20 < tuned.n_estimators < 500
    test = dataset_a(n=300, random_state=2)
    many = tuned.get_params() | {"n_estimators": 1000, "max_leaf_nodes": 24}
    wild = HistGradientBoostingRate(**many).fit(fleet.X, fleet.y)
    assert tuned.score(test.X, test.y) > wild.score(test.X, test.y)


@pytest.mark.slow
def test_squared_errors_are_compared_for_counts_so_far(fleet):
    pytest.importorskip("xgboost")
    tuned = tune(XGBoostTime(), fleet.X, fleet.y, n_folds=2, random_state=0)
    curves = tuned.predict_cumulative(fleet.X, [50.0])[:, 0]
    assert np.corrcoef(curves, fleet.truth([50.0])[:, 0])[0, 1] > 0.8


def test_nothing_to_tune_is_a_plain_fit(fleet):
    tuned = tune(HomogeneousPoisson(), fleet.X, fleet.y)
    assert_array_equal(tuned.coef_, HomogeneousPoisson().fit(fleet.X, fleet.y).coef_)


def test_tables_and_sensors_are_taken():
    data = wells(n=60, random_state=0)
    table = pd.DataFrame(data.X).add_prefix("x")
    model = HistGradientBoostingPoisson(random_state=0)
    tuned = tune(model, table, data.y, data.Z, settings={}, n_folds=2, random_state=0)
    assert np.isfinite(tuned.predict(table, data.Z)).all()


@pytest.mark.slow
def test_results_do_not_depend_on_processes(fleet):
    pytest.importorskip("lightgbm")
    one, two = (
        tune(
            LightGBMPoisson(random_state=0),
            fleet.X,
            fleet.y,
            settings={"max_leaf_nodes": [3, 6]},
            n_folds=2,
            random_state=0,
            n_jobs=n_jobs,
        )
        for n_jobs in (1, 2)
    )
    assert one.get_params() == two.get_params()
    assert_array_equal(one.predict(fleet.X), two.predict(fleet.X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"n_leaves": [3]}}, "'n_leaves' is none"),
        ({"settings": {"n_estimators": [3]}}, "'n_estimators' is none"),
        ({"settings": {"max_leaf_nodes": []}}, "at least one value"),
        ({"n_folds": 1}, "n_folds"),
    ],
)
def test_impossible_searches_are_refused(options, message, fleet):
    with pytest.raises(InvalidParameterError, match=message):
        tune(HistGradientBoostingRate(), fleet.X, fleet.y, **options)


def test_sensors_are_refused_by_baselines_that_take_none():
    data = wells(n=20, random_state=0)
    with pytest.raises(InvalidSensorsError, match="McfK cannot use sensors"):
        tune(McfK(), data.X, data.y, data.Z)
