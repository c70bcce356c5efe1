import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr import BoostR, Panel
from boostr.exceptions import (
    InvalidFeaturesError,
    InvalidParameterError,
    InvalidSensorsError,
)
from boostr.inspection import permutation_importance, sensor_effect, sensor_importance
from boostr.simulate import dataset_a, dataset_b


def test_norm_is_the_mean_square_of_the_coefficients(model, fleet):
    norms = sensor_importance(model, fleet.X).norms
    effects = [sensor_effect(model, fleet.X, place) for place in range(3)]
    squares = [effect.speed**2 * np.sum(effect.coefficients**2) for effect in effects]
    assert_allclose(norms**2, np.array(squares) / 80)


def test_norm_is_the_spread_of_the_effects_over_the_training_time(model, fleet):
    effect = sensor_effect(model, fleet.X, 0, n_grid=51)
    spread = np.sqrt(np.mean(effect.curves**2 @ effect.shares))
    assert sensor_importance(model, fleet.X).norms[0] == pytest.approx(spread, rel=0.02)


def test_norms_of_training_are_those_out_of_fold(validated):
    theta = validated.out_of_fold_coefficients_
    theta = theta[~np.isnan(theta[:, 0])]
    starts = validated.ensemble_.basis.starts
    speed = validated.clock_.read(np.array([validated.horizon_]))[0] / validated.horizon_
    for place, norm in enumerate(sensor_importance(validated).norms):
        own = theta[:, starts[place] : starts[place + 1]]
        assert norm == pytest.approx(speed * np.sqrt(np.mean(np.sum(own**2, axis=1))))


def test_zero_shares_are_counts_of_leaves(model, fleet):
    starts = model.ensemble_.basis.starts
    leaves = [
        value
        for member in model.ensemble_.members
        for tree in member.trees
        for value, feature in zip(tree.nodes.value, tree.nodes.feature, strict=True)
        if feature < 0
    ]
    shares = sensor_importance(model, fleet.X).zero_shares
    for place, share in enumerate(shares):
        zeros = [not leaf[starts[place] : starts[place + 1]].any() for leaf in leaves]
        assert share == pytest.approx(np.mean(zeros))
    assert 0.0 < shares.max() < 1.0


def test_loss_without_a_sensor_is_that_of_not_knowing_it(model, fleet):
    losses = sensor_importance(model, fleet.X, fleet.y, fleet.Z).losses
    full = model.score(fleet.X, fleet.y, Z=fleet.Z)
    for name, loss in zip(fleet.Z.names, losses, strict=True):
        unknown = fleet.Z.assign(**{name: np.full(fleet.Z.times.size, np.nan)})
        assert loss == pytest.approx(full - model.score(fleet.X, fleet.y, Z=unknown))


def test_the_model_itself_is_not_changed(model, fleet):
    before = model.predict(fleet.X, fleet.Z)
    sensor_importance(model, Panel(fleet.X, fleet.Z), fleet.y)
    assert_array_equal(model.predict(fleet.X, fleet.Z), before)


def test_losses_of_training_are_those_of_validation(validated):
    importance = sensor_importance(validated)
    assert importance.measure == "held-out loss"
    assert_allclose(
        np.stack([importance.losses, importance.errors], axis=1),
        [validated.sensor_usefulness_[name] for name in importance.sensors],
    )


def test_without_histories_and_validation_losses_are_unknown(model, fleet):
    importance = sensor_importance(model, fleet.X)
    assert importance.measure is None
    assert np.isnan(importance.losses).all()


def test_a_dead_sensor_matters_nothing(pumps):
    importance = sensor_importance(pumps.model, pumps.X, pumps.y, pumps.Z)
    place = importance.sensors.index("stuck")
    assert importance.norms[place] == 0.0
    assert importance.zero_shares[place] == 1.0
    assert importance.losses[place] == pytest.approx(0.0, abs=1e-12)


def test_static_features_stand_beside(pumps):
    importance = sensor_importance(pumps.model, pumps.X)
    assert importance.features == ("site", "depth")
    assert_allclose(importance.feature_importances, pumps.model.feature_importances_)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_table_has_a_row_for_each(pumps, backend):
    importance = sensor_importance(pumps.model, pumps.X)
    table = importance.to_frame(backend=backend)
    assert type(table).__module__.startswith(backend)
    assert list(table["name"]) == [*importance.sensors, "site", "depth"]
    assert list(table["kind"]) == ["sensor"] * 3 + ["feature"] * 2
    assert_allclose(table["norm"].to_numpy()[:3], importance.norms)
    assert_allclose(table["importance"].to_numpy()[3:], importance.feature_importances)


def test_norms_need_individuals(model):
    with pytest.raises(InvalidParameterError, match=r"sensor_importance\(model, X\)"):
        sensor_importance(model)


def test_histories_need_features(validated, fleet):
    with pytest.raises(InvalidParameterError, match="need the features"):
        sensor_importance(validated, y=fleet.y)


def test_a_model_without_sensors_is_refused(plain):
    with pytest.raises(InvalidSensorsError, match="feature_importances_"):
        sensor_importance(plain)


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
