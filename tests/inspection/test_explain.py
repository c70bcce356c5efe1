import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from tests import oracles_shap

from boostr import BoostR, Panel
from boostr.data import RecurrentEvents
from boostr.exceptions import (
    DataWarning,
    InvalidParameterError,
    InvalidSensorsError,
)
from boostr.inspection import _explain, explain
from boostr.simulate import dataset_b

SMALL = {"n_estimators": 5, "learning_rate": 0.5, "max_leaf_nodes": 5, "max_bins": 16}
SMALL |= {"min_samples_leaf": 5, "random_state": 0}


class Machines:
    """Machines with missing values and a category, and models of them."""

    def __init__(self):
        fleet = dataset_b(n=120, random_state=3)
        self.X = pd.DataFrame(fleet.X[:, :3], columns=["load", "salt", "age"])
        self.X["site"] = np.where(fleet.X[:, 0] > 0.6, "north", "south")
        self.X.index = [f"M{place}" for place in range(120)]
        self.X.loc[self.X.index[::5], "salt"] = np.nan
        self.y = fleet.y

    def fit(self, **params):
        return BoostR(**(SMALL | {"validation": None} | params)).fit(self.X, self.y)


@pytest.fixture(scope="module")
def machines():
    return Machines()


@pytest.fixture(scope="module")
def machine_model(machines):
    return machines.fit()


@pytest.fixture(scope="module")
def falling():
    """A model with curves that fall: many events early, none later, for some."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    times = [np.sort(rng.uniform(0, 3 + 7 * x, 4)) for x in X[:, 0]]
    y = RecurrentEvents.from_lists(times, end=np.full(60, 10.0))
    params = {"leaf": "step", "clock": "calendar", "gamma2": 0.0}
    params |= {"learning_rate": 1.0, "loss": "cumulative"}
    return X, BoostR(**(SMALL | {"validation": None} | params)).fit(X, y)


def total(explanation):
    return explanation.base + explanation.amounts.sum(axis=1)


def walk_members(model):
    """Yield every tree as the oracle takes it, with its weight in the leaves."""
    for member in model.ensemble_.members:
        for tree in member.trees:
            yield tree.scaled(member.weight)


def expected_theta(model, bins, known):
    missing = model.ensemble_.mapper.missing_bin
    return sum(
        oracles_shap.expected_value(tree.nodes, tree.count, bins, missing, known)
        for tree in walk_members(model)
    )


# --- Static features
# -----------------------------------------------------------------------------


@pytest.mark.parametrize("leaf", ["power", "step", "spline"])
@pytest.mark.parametrize("monotone", [True, False])
def test_reasons_add_up_to_the_prediction(machines, leaf, monotone):
    model = machines.fit(leaf=leaf, monotone=monotone)
    explanation = explain(model, machines.X, horizon=70)
    assert_allclose(total(explanation), model.predict(machines.X, horizon=70), rtol=1e-12)
    assert np.array_equal(explanation.prediction, model.predict(machines.X, horizon=70))


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_bar_counts_the_individuals_explained(machines, verbose, capsys):
    model = machines.fit(verbose=verbose)
    capsys.readouterr()
    explain(model, machines.X)
    shown = capsys.readouterr().err
    assert ("120/120" in shown and "individuals explained" in shown) == (verbose == 1)


def test_the_sum_of_trees_leaves_nothing_to_other_reasons(machines):
    model = machines.fit(leaf="spline", monotone=False)
    explanation = explain(model, machines.X, horizon=[10, 70, 500])
    assert not explanation.above_zero.any()
    assert explanation.reasons == ("load", "salt", "age", "site")


def test_models_of_all_folds_are_explained_together(machines):
    params = {"validation": "cv", "n_folds": 2, "splitter": "best", "max_leaf_nodes": 3}
    model = machines.fit(**params)
    assert len(model.ensemble_.members) > 1
    explanation = explain(model, machines.X)
    assert_allclose(total(explanation), model.predict(machines.X), rtol=1e-12)
    assert not explanation.above_zero.any()


def test_amounts_are_those_of_all_subsets_of_features(machines, machine_model):
    ensemble = machine_model.ensemble_
    rows = [0, 1, 7]
    features = machine_model.encoder_.transform(machines.X.iloc[rows])
    bins = ensemble.mapper.transform(features).bins
    functions = ensemble.basis.evaluate(machine_model.clock_.read(np.array([70.0])))[0]
    explanation = explain(machine_model, machines.X.iloc[rows], horizon=70)
    for place, own in enumerate(bins):
        shares = oracles_shap.shapley_values(
            range(4), lambda known, own=own: expected_theta(machine_model, own, known)
        )
        expected = [shares[feature] @ functions for feature in range(4)]
        assert_allclose(explanation.values[place], expected, atol=1e-12)


def test_the_base_is_the_average_of_the_trees_over_training(machines):
    # One tree on everybody: its average leaf is the average prediction.
    model = machines.fit(n_estimators=2, monotone=False)
    explanation = explain(model, machines.X, horizon=70)
    assert_allclose(explanation.base, model.predict(machines.X, horizon=70).mean())


def test_features_that_no_tree_uses_have_exactly_zero(machines):
    model = machines.fit(n_estimators=2, max_leaf_nodes=2)
    (used,) = np.flatnonzero(model.split_counts_)
    explanation = explain(model, machines.X)
    assert explanation.values[:, used].any()
    assert not np.delete(explanation.values, used, axis=1).any()


def test_times_are_explained_at_once_or_one_by_one(machines, machine_model):
    times = [20.0, 70.0, 300.0]
    together = explain(machine_model, machines.X, horizon=times)
    assert together.values.shape == (120, 4, 3)
    for place, time in enumerate(times):
        alone = explain(machine_model, machines.X, horizon=time)
        assert_allclose(together.at(place).values, alone.values, atol=1e-14)
        assert_allclose(together.at(place).prediction, alone.prediction)
    assert explain(machine_model, machines.X, horizon=[20.0]).values.shape == (120, 4, 1)


def test_the_horizon_of_training_is_the_default(machines, machine_model):
    explanation = explain(machine_model, machines.X)
    assert_allclose(explanation.prediction, machine_model.predict(machines.X))
    assert_allclose(explanation.times, machine_model.horizon_)


def test_windows_are_differences(machines, machine_model):
    whole = explain(machine_model, machines.X, horizon=[30.0, 90.0])
    window = explain(machine_model, machines.X, start=30.0, stop=90.0)
    difference = whole.values[:, :, 1] - whole.values[:, :, 0]
    assert_allclose(window.values, difference, atol=1e-12)
    counts = machine_model.predict_count(machines.X, 30.0, 90.0)
    assert np.array_equal(window.prediction, counts)


def test_everybody_can_have_a_window_of_its_own(machines, machine_model):
    start = np.linspace(0.0, 60.0, 120)
    windows = explain(machine_model, machines.X, start=start, stop=start + 40.0)
    assert_allclose(
        total(windows), machine_model.predict_count(machines.X, start, start + 40.0)
    )
    third = explain(machine_model, machines.X.iloc[[3]], start=start[3], stop=start[3] + 40)
    assert_allclose(windows.values[3], third.values[0])
    assert windows.base[0] != windows.base[-1]


def test_a_window_without_start_begins_at_zero(machines, machine_model):
    window = explain(machine_model, machines.X, stop=90.0)
    by_then = explain(machine_model, machines.X, horizon=90.0)
    assert_allclose(window.values, by_then.values)


def test_curves_that_would_fall_have_a_reason_of_their_own(falling):
    X, model = falling
    plain = copy.copy(model).set_params(monotone=False)
    bent = model.predict(X, horizon=8.0) - plain.predict(X, horizon=8.0)
    assert (np.abs(bent) > 1e-6).any()
    explanation = explain(model, X, horizon=8.0)
    assert explanation.reasons[-1] == "kept above zero"
    assert_allclose(explanation.above_zero, bent, atol=1e-9)
    assert_allclose(total(explanation), model.predict(X, horizon=8.0))
    straight = np.abs(bent) < 1e-12
    assert straight.any()
    assert not explanation.above_zero[straight].any()


def test_blocks_of_individuals_change_nothing(machines, machine_model, monkeypatch):
    many = pd.concat([machines.X] * 3)
    window = {"start": np.linspace(0.0, 50.0, 360), "stop": 90.0}
    whole = explain(machine_model, many, **window)
    monkeypatch.setattr(_explain, "_BLOCK", 1)
    assert_allclose(explain(machine_model, many, **window).values, whole.values)


# --- Own history
# -----------------------------------------------------------------------------


def test_own_history_multiplies_what_the_model_expects(machines, machine_model):
    frailty = np.linspace(0.5, 2.0, 120)
    plain = explain(machine_model, machines.X, start=50, stop=90)
    updated = explain(machine_model, machines.X, start=50, stop=90, frailty=frailty)
    assert updated.reasons[-1] == "own history"
    assert_allclose(updated.prediction, frailty * plain.prediction)
    assert_allclose(updated.own_history, (frailty - 1.0) * plain.prediction)
    assert_allclose(total(updated), updated.prediction)
    assert np.array_equal(updated.values, plain.values)


def test_own_history_goes_with_several_times(machines, machine_model):
    frailty = np.linspace(0.5, 2.0, 120)
    updated = explain(machine_model, machines.X, [40, 80], frailty=frailty)
    assert_allclose(total(updated), updated.prediction)
    last = explain(machine_model, machines.X, 80, frailty=frailty)
    assert_allclose(updated.at(-1).own_history, last.own_history)


@pytest.mark.parametrize("wrong", [[1.0, 1.0], np.full(120, -1.0), np.full(120, np.nan)])
def test_impossible_frailties_are_refused(machines, machine_model, wrong):
    with pytest.raises(InvalidParameterError, match="`frailty`"):
        explain(machine_model, machines.X, frailty=wrong)


# --- Sensors
# -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model", "bare"])
def test_sensors_are_players_beside_the_features(fleet, name, request):
    model = request.getfixturevalue(name)
    X, Z = fleet.X[[5]], fleet.Z[[5]]
    few = slice(0, 6)  # samples, so that all subsets take no time
    Z = Z._with(times=Z.times[few], values=Z.values[:, few], offsets=np.array([0, 6]))
    bins = model.ensemble_.mapper.transform(X).bins[0]
    clock = model.clock_.read(np.array([60.0]))

    def count(known):
        values = Z.values.copy()
        values[[name not in known for name in Z.names]] = np.nan
        theta = expected_theta(model, bins, known)[None]
        sensors = Z._with(values=values)
        return model.ensemble_.curves(theta, sensors, monotone=False).values(clock)[0, 0]

    players = [0, 1, 2, *Z.names]
    shares = oracles_shap.shapley_values(players, count)
    explanation = explain(model, X, 60.0, Z)
    expected = [shares[player] for player in players]
    assert_allclose(explanation.values[0], expected, atol=1e-11)
    assert_allclose(explanation.base[0], count(frozenset()))


def test_sensor_models_add_up_to_the_prediction(fleet, model):
    X, Z = fleet.X[:10], fleet.Z[:10]
    explanation = explain(model, X, [30.0, 90.0], Z)
    predicted = model.predict_cumulative(X, [30.0, 90.0], Z)
    assert explanation.values.shape == (10, 3 + len(Z.names), 2)
    assert_allclose(total(explanation), predicted, rtol=1e-11)
    assert np.array_equal(explanation.prediction, predicted)


def test_sensor_models_explain_windows(fleet, model):
    X, Z = fleet.X[:10], fleet.Z[:10]
    start = np.linspace(0.0, 50.0, 10)
    explanation = explain(model, Panel(X, Z), start=start, stop=start + 30)
    counts = model.predict_count(X, start, start + 30, Z)
    assert_allclose(total(explanation), counts, rtol=1e-11)


def test_sensors_that_nobody_knows_add_nothing(fleet, model):
    Z = fleet.Z[:5]
    unknown = Z._with(values=np.full_like(Z.values, np.nan))
    explanation = explain(model, fleet.X[:5], 60.0, unknown)
    assert not explanation.values[:, 3:].any()


def test_sensors_with_categories_and_ids_are_taken(pumps):
    explanation = explain(pumps.model, pumps.X, 60.0, pumps.Z[::-1])
    assert explanation.reasons[:5] == ("site", "depth", "mode", "load", "stuck")
    assert_allclose(total(explanation), pumps.model.predict(pumps.X, pumps.Z, horizon=60.0))
    assert not explanation.values[:, 4].any()
    assert explanation.ids.tolist() == pumps.X.index.tolist()
    assert explanation.time_unit == "D"


def test_ids_come_from_the_sensors_where_the_features_have_none(pumps):
    codes = pd.DataFrame({"site": pumps.X["site"].to_numpy(), "depth": 1.0})
    table = codes.to_dict("list")
    polars = pytest.importorskip("polars")
    explanation = explain(pumps.model, polars.DataFrame(table), 60.0, pumps.Z)
    assert explanation.ids.tolist() == pumps.Z.ids.tolist()


def test_missing_sensors_are_named(fleet, model):
    with pytest.raises(InvalidSensorsError, match="`Z` is missing"):
        explain(model, fleet.X)


def test_sensors_of_a_model_without_are_refused(fleet, plain):
    with pytest.raises(InvalidSensorsError, match="without"):
        explain(plain, fleet.X[:, :2], Z=fleet.Z)


# --- What cannot be asked
# -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"horizon": -1.0}, "`horizon` must be finite"),
        ({"horizon": []}, "`horizon` must be finite"),
        ({"horizon": [[1.0]]}, "`horizon` must be finite"),
        ({"horizon": 5.0, "stop": 9.0}, "either by a horizon or in a window"),
        ({"start": 5.0}, "either by a horizon or in a window"),
        ({"start": 9.0, "stop": 5.0}, "120 of 120 individuals"),
        ({"start": [1.0, 2.0], "stop": 5.0}, "one time or one per individual"),
    ],
)
def test_impossible_questions_are_refused(machines, machine_model, asked, message):
    with pytest.raises(InvalidParameterError, match=message):
        explain(machine_model, machines.X, **asked)


def test_categories_that_are_not_learned_are_named(rng):
    n = 60
    site = np.where(np.arange(n) % 2, "north", "south").astype(object)
    site[0] = "EIRE"
    y = RecurrentEvents.from_lists(
        [np.sort(rng.uniform(0.0, 9.0, 1 + 4 * (one == "north"))) for one in site], end=10.0
    )
    X = pd.DataFrame({"age": rng.uniform(size=n), "site": site})
    model = BoostR(n_estimators=5, validation=None, random_state=0).fit(X, y)
    other = pd.DataFrame({"age": [0.5] * 4, "site": ["EIRE", "Mars", None, "north"]})
    with pytest.warns(DataWarning, match="'EIRE', 'Mars'"):
        found = explain(model, other).unlearned
    assert found == {(0, 1): "rare (EIRE)", (1, 1): "unknown (Mars)"}
