import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from tests import oracles

from boostr.baselines import McfRegressor, PowerLawProcess, RandomForestRecurrence
from boostr.data import RecurrentEvents
from boostr.exceptions import (
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
)
from boostr.metrics import recurrent_concordance
from boostr.nonparametric import MeanCumulativeFunction
from boostr.simulate import dataset_a, dataset_b

TIMES = np.linspace(0.0, 100.0, 21)


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=60, random_state=1, end=(40.0, 100.0))


def grow(fleet, **params):
    settings = {"n_estimators": 12, "random_state": 0} | params
    return RandomForestRecurrence(**settings).fit(fleet.X, fleet.y)


@pytest.mark.slow
def test_ranks_better_than_the_mean_on_data_set_a():
    train, test = dataset_a(n=150, random_state=1), dataset_a(n=200, random_state=2)
    forest = grow(train, n_estimators=100)
    mean = McfRegressor().fit(train.X, train.y)
    gained = [recurrent_concordance(test.y, m.predict(test.X)) for m in (forest, mean)]
    assert gained[0] > gained[1] + 0.2


@pytest.mark.slow
def test_explains_new_events_better_than_the_mean_on_data_set_a():
    train, test = dataset_a(n=150, random_state=1), dataset_a(n=200, random_state=2)
    assert grow(train, n_estimators=100).score(test.X, test.y) > 0.5


@pytest.mark.parametrize("time", [30.0, 100.0])
def test_out_of_bag_predictions_are_those_of_trees_that_have_not_seen_one(fleet, time):
    model = grow(fleet, n_estimators=6)

    def mean_of(members, counts):
        return MeanCumulativeFunction().fit(fleet.y[members], counts).predict([time])[0]

    expected = oracles.out_of_bag(
        model.forest_.trees,
        model.forest_.n_draws,
        model._bins_.bins,
        model._bins_.missing_bin,
        mean_of,
    )
    assert_allclose(model.predict_oob(time)[:, 0], expected, atol=1e-12)


def test_out_of_bag_concordance_is_that_of_the_predictions(fleet):
    model = grow(fleet)
    known = ~np.isnan(model.oob_prediction_)
    expected = recurrent_concordance(fleet.y[known], model.oob_prediction_[known])
    assert model.oob_concordance_ == expected


def test_who_is_always_drawn_has_no_out_of_bag_prediction(fleet):
    model = grow(fleet, n_estimators=1)
    is_drawn = model.forest_.n_draws[:, 0] > 0
    assert_array_equal(np.isnan(model.oob_prediction_), is_drawn)


def test_individuals_of_weight_zero_have_no_out_of_bag_prediction(fleet):
    weight = np.ones(60)
    weight[7] = 0.0
    model = RandomForestRecurrence(n_estimators=30, random_state=0)
    model.fit(fleet.X, fleet.y, sample_weight=weight)
    assert_array_equal(np.flatnonzero(np.isnan(model.oob_prediction_)), [7])


@pytest.mark.parametrize("leaf", ["mcf", "power"])
def test_one_thread_gives_the_same_as_two(fleet, leaf):
    one, two = (grow(fleet, leaf=leaf, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_array_equal(
        one.predict_cumulative(fleet.X, TIMES), two.predict_cumulative(fleet.X, TIMES)
    )
    assert_array_equal(one.oob_prediction_, two.oob_prediction_)


def test_same_seed_gives_the_same_forest_and_another_another(fleet):
    first = grow(fleet).predict(fleet.X)
    assert_array_equal(grow(fleet).predict(fleet.X), first)
    assert np.any(grow(fleet, random_state=1).predict(fleet.X) != first)


def test_a_single_leaf_is_the_mean_cumulative_function(fleet):
    model = grow(fleet, bootstrap=False, min_samples_leaf=40)
    expected = MeanCumulativeFunction().fit(fleet.y).predict(TIMES)
    assert_allclose(model.predict_cumulative(fleet.X[:1], TIMES)[0], expected)


def test_all_individuals_and_features_grow_the_same_tree_again_and_again(fleet):
    model = grow(fleet, bootstrap=False, max_features=None)
    one = grow(fleet, bootstrap=False, max_features=None, n_estimators=1)
    assert_allclose(model.predict(fleet.X), one.predict(fleet.X))


def test_leaves_have_enough_individuals_and_grow_fully(fleet):
    model = grow(fleet, min_samples_leaf=5)
    for tree in model.forest_.trees:
        is_leaf = tree.nodes.feature < 0
        assert tree.count[is_leaf].min() >= 5
        assert tree.count[is_leaf].sum() == 60
        assert is_leaf.sum() > 3


def test_rates_of_leaves_are_events_over_expected_ones(fleet):
    model = grow(fleet, n_estimators=1, bootstrap=False)
    tree = model.forest_.trees[0]
    leaf = model.forest_.find_leaves(model._bins_)[:, 0]
    clock = model.reference_clock_
    for node in np.unique(leaf):
        own = leaf == node
        rate = fleet.y.n_events[own].sum() / clock.read(fleet.y.end[own]).sum()
        assert_allclose(tree.nodes.value[node, 0], rate, rtol=1e-5)


@pytest.mark.slow
def test_useful_features_are_found_among_useless_ones():
    fleet = dataset_b(n=200, random_state=1)
    model = grow(fleet, n_estimators=60)
    drops = model.permutation_importance(n_repeats=2, random_state=0)
    assert set(np.argsort(drops)[-2:]) == {0, 1}
    assert set(np.argsort(model.feature_importances_)[-2:]) == {0, 1}
    assert_allclose(model.feature_importances_.sum(), 1.0)


def test_a_feature_that_no_tree_uses_has_no_importance(fleet, rng):
    X = np.column_stack([fleet.X, np.ones(60)])
    model = RandomForestRecurrence(n_estimators=12, random_state=0).fit(X, fleet.y)
    assert model.permutation_importance(random_state=0)[2] == 0.0


@pytest.mark.parametrize(
    ("asked", "n_drawn"), [("sqrt", 3), (None, 10), (4, 4), (0.5, 5), (0.01, 1)]
)
def test_number_of_drawn_features(asked, n_drawn):
    assert RandomForestRecurrence(max_features=asked)._count_drawn(10) == n_drawn


def test_power_leaves_maximise_the_likelihood_with_one_imaginary_event(fleet):
    model = grow(fleet, n_estimators=1, bootstrap=False, leaf="power")
    pooled = PowerLawProcess().fit(np.zeros((60, 1)), fleet.y).shape_
    leaf = model.forest_.find_leaves(model._bins_)[:, 0]
    node = leaf[0]
    members = np.flatnonzero(leaf == node)
    end = fleet.y[members].end / model.horizon_
    times = fleet.y[members].times / model.horizon_

    def loss(shape):
        rate = times.size / np.sum(end**shape)
        own = times.size * np.log(rate * shape) + (shape - 1.0) * np.log(times).sum()
        return -(own + np.log(shape) - shape / pooled)

    best = minimize_scalar(loss, bounds=(0.05, 20.0), method="bounded").x
    assert_allclose(model.family_.shape[node], best, rtol=1e-4)
    expected = times.size / np.sum(end**best) * 0.5**best
    asked = model.predict(fleet.X[:1], horizon=0.5 * model.horizon_)
    assert_allclose(asked, expected, rtol=1e-4)


def test_power_leaves_go_on_beyond_the_data(fleet):
    model = grow(fleet, leaf="power")
    assert np.all(model.predict(fleet.X, horizon=200.0) > 1.2 * model.predict(fleet.X))


def test_categories_and_missing_values_are_split_on():
    truth = np.repeat(["a", "b", "c"], 40)
    counts = {"a": 1, "b": 6, "c": 1}
    y = RecurrentEvents.from_lists([np.arange(1, 1 + counts[k]) for k in truth], end=10.0)
    table = pd.DataFrame({"kind": truth, "size": np.tile([np.nan, 1.0], 60)})
    model = RandomForestRecurrence(n_estimators=5, max_features=None, random_state=0)
    assert_allclose(model.fit(table, y).predict(table), [counts[k] for k in truth])


def test_costs_are_summed_by_leaves_of_mean_cumulative_functions():
    y = RecurrentEvents.from_lists([[1.0], [2.0]] * 10, end=3.0, cost=[[4.0], [2.0]] * 10)
    model = RandomForestRecurrence(n_estimators=2, bootstrap=False, min_samples_leaf=20)
    assert_allclose(model.fit(np.zeros((20, 1)), y).predict([[0.0]]), 3.0)


def test_power_leaves_refuse_costs():
    y = RecurrentEvents.from_lists([[1.0], [2.0]], end=3.0, cost=[[4.0], [2.0]])
    with pytest.raises(InvalidEventsError, match="cannot use their costs"):
        RandomForestRecurrence(leaf="power").fit(np.zeros((2, 1)), y)


def test_without_bootstrap_there_is_nothing_out_of_bag(fleet):
    model = grow(fleet, bootstrap=False)
    with pytest.raises(InvalidParameterError, match="bootstrap=False"):
        model.predict_oob(10.0)
    with pytest.raises(InvalidParameterError, match="bootstrap=False"):
        model.permutation_importance()


def test_too_many_categories_are_refused():
    table = pd.DataFrame({"kind": [f"k{number}" for number in range(300)]})
    y = RecurrentEvents.from_lists([[1.0]] * 300, end=2.0)
    with pytest.raises(InvalidFeaturesError, match="'kind' has 300"):
        RandomForestRecurrence(n_estimators=1).fit(table, y)


def test_concordance_is_unknown_where_nobody_can_be_compared():
    y = RecurrentEvents.from_lists([[1.0]] * 12, end=2.0)
    model = RandomForestRecurrence(n_estimators=3, random_state=0)
    assert np.isnan(model.fit(np.arange(12.0)[:, None], y).oob_concordance_)
