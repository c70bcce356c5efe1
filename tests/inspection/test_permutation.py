import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr import BoostR
from boostr.exceptions import InvalidFeaturesError, InvalidParameterError
from boostr.inspection import permutation_importance
from boostr.simulate import dataset_a, dataset_b

PARAMS = {"n_estimators": 8, "learning_rate": 0.3, "max_leaf_nodes": 3, "n_origins": 0}
PARAMS |= {"validation": None, "random_state": 0}


@pytest.fixture(scope="module")
def trained():
    train, test = dataset_b(n=150, random_state=1), dataset_b(n=100, random_state=2)
    return BoostR(**PARAMS).fit(train.X, train.y), test


@pytest.mark.parametrize("loss", ["intensity", "cumulative"])
def test_the_loss_on_the_training_data_is_that_of_training(loss):
    train = dataset_a(n=100, random_state=1)
    model = BoostR(**PARAMS, loss=loss).fit(train.X, train.y)
    result = permutation_importance(model, train.X, train.y, n_repeats=1)
    assert_allclose(result.loss, model.train_loss_[-1])


def test_a_rise_is_the_loss_of_shuffled_values_less_that_of_the_true_ones(trained):
    model, test = trained
    result = permutation_importance(model, test.X, test.y, n_repeats=1, random_state=5)
    first = np.flatnonzero(model.split_counts_)[0]
    shuffled = test.X.copy()
    rng = np.random.default_rng(5)
    shuffled[:, first] = rng.permutation(test.X[:, first])
    after = permutation_importance(model, shuffled, test.y, n_repeats=1)
    assert_allclose(result.importances[first], after.loss - result.loss)


def test_features_that_matter_stand_out(trained):
    model, test = trained
    result = permutation_importance(model, test.X, test.y)
    assert np.flatnonzero(result.importances > 3.0 * result.errors).tolist() == [0, 1]
    assert_allclose(result.repeats.mean(axis=1), result.importances)


def test_features_that_are_not_used_are_worth_exactly_nothing(trained):
    model, test = trained
    is_used = model.split_counts_ > 0
    assert not is_used.all()
    result = permutation_importance(model, test.X, test.y)
    assert not result.importances[~is_used].any()
    assert result.importances[is_used].all()


def test_the_same_seed_gives_the_same_rises(trained):
    model, test = trained
    first = permutation_importance(model, test.X, test.y, n_repeats=2, random_state=3)
    again = permutation_importance(model, test.X, test.y, n_repeats=2, random_state=3)
    assert np.array_equal(first.repeats, again.repeats)


def test_sensors_stay_in_place(fleet, model):
    result = permutation_importance(model, fleet.X, fleet.y, fleet.Z, n_repeats=2)
    assert_allclose(result.loss, model.train_loss_[-1])
    assert result.importances.shape == (3,)


def test_sensors_are_matched_by_id(pumps):
    straight = permutation_importance(pumps.model, pumps.X, pumps.y, pumps.Z, n_repeats=1)
    turned = permutation_importance(
        pumps.model, pumps.X, pumps.y, pumps.Z[::-1], n_repeats=1
    )
    assert_allclose(turned.loss, straight.loss)
    assert straight.features == ("site", "depth")


def test_a_table_has_a_row_for_every_feature(trained):
    model, test = trained
    table = permutation_importance(model, test.X, test.y, n_repeats=1).to_frame()
    assert table.shape == (10, 3)


@pytest.mark.parametrize("n_repeats", [0, 1.5, True])
def test_impossible_repeats_are_refused(trained, n_repeats):
    model, test = trained
    with pytest.raises(InvalidParameterError, match="`n_repeats`"):
        permutation_importance(model, test.X, test.y, n_repeats=n_repeats)


def test_histories_of_others_are_refused(trained):
    model, test = trained
    with pytest.raises(InvalidParameterError, match="same individuals"):
        permutation_importance(model, test.X[:5], test.y)


def test_features_in_another_order_are_refused(pumps):
    with pytest.raises(InvalidFeaturesError, match="same order"):
        permutation_importance(pumps.model, pumps.X[::-1], pumps.y, pumps.Z)
