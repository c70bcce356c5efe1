import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr import BoostR
from boostr.exceptions import InvalidParameterError
from boostr.inspection import (
    feature_importance,
    feature_interaction,
    leaf_counts,
    tree_partition,
    trees_frame,
)
from boostr.simulate import dataset_a


@pytest.fixture(scope="module")
def data():
    return dataset_a(n=150, random_state=1)


@pytest.fixture(scope="module")
def averaged(data):
    params = {"n_estimators": 10, "validation": 0.2, "random_state": 0}
    return BoostR(**params).fit(data.X, data.y)


@pytest.fixture(scope="module")
def mixed(data):
    site = np.where(data.X[:, 0] > 0.5, "north", "south")
    table = pd.DataFrame({"site": site, "x1": data.X[:, 1]})
    table.loc[::7, "x1"] = np.nan
    params = {"n_estimators": 2, "validation": None, "min_samples_leaf": 10}
    return BoostR(max_leaf_nodes=4, **params).fit(table, data.y), table


def find_leaf(partition, row):
    """Return the leaf of an individual, by the thresholds and categories alone."""
    node = 0
    while partition.feature[node] >= 0:
        value = row[partition.feature[node]]
        if pd.isna(value):
            is_left = partition.missing_left[node]
        elif partition.categories[node] is not None:
            is_left = value in partition.categories[node]
        else:
            is_left = value <= partition.threshold[node]
        node = partition.left[node] if is_left else partition.right[node]
    return int(np.flatnonzero(partition.leaves == node)[0])


def test_leaf_functions_of_all_trees_add_up_to_the_curves(data, averaged):
    total = np.zeros((20, 101))
    for place, member in enumerate(averaged.ensemble_.members):
        for tree in range(len(member.trees)):
            part = tree_partition(averaged, place, tree)
            leaves = [find_leaf(part, row) for row in data.X[:20]]
            total += part.weight * part.curves[leaves]
    plain = copy.copy(averaged).set_params(monotone=False)
    assert_allclose(total, plain.predict_cumulative(data.X[:20], part.times), atol=1e-10)


def test_categories_and_missing_values_are_told_as_the_model_uses_them(mixed):
    model, table = mixed
    model.monotone = False
    parts = [tree_partition(model, 0, tree) for tree in range(2)]
    assert any(names is not None for names in parts[1].categories)
    rows = [tuple(row) for row in table.itertuples(index=False)]
    total = sum(
        part.expected[part.leaves][[find_leaf(part, row) for row in rows]] for part in parts
    )
    assert_allclose(total, model.predict(table), atol=1e-10)


def test_boxes_hold_the_individuals_of_their_leaves(data, averaged):
    part = tree_partition(averaged, 0, 3)
    for row in data.X:
        box = part.boxes[find_leaf(part, row)]
        assert (box[:, 0] < row).all()
        assert (row <= box[:, 1]).all()


def test_counts_of_leaves_are_those_of_the_root(averaged):
    part = tree_partition(averaged, 0, 3)
    assert part.count[part.leaves].sum() == part.count[0]
    assert part.n_leaves == leaf_counts(averaged).counts[0][3]
    assert_allclose(part.curves[:, -1], part.expected[part.leaves])


def test_the_first_tree_is_a_root_alone(averaged):
    part = tree_partition(averaged)
    assert_array_equal(part.leaves, [0])
    assert_array_equal(part.boxes, [[[-np.inf, np.inf]] * 2])


@pytest.mark.filterwarnings("ignore::boostr.exceptions.SensorRangeWarning")
@pytest.mark.parametrize("name", ["model", "bare"])
def test_sensors_are_taken_at_their_average(request, fleet, name):
    model = request.getfixturevalue(name)
    # Predictions take the average where a sensor is unknown.
    unknown = fleet.Z._with(values=np.full_like(fleet.Z.values, np.nan))
    parts = [tree_partition(model, 0, tree) for tree in range(3)]
    leaves = [[find_leaf(part, row) for row in fleet.X] for part in parts]
    total = sum(
        part.expected[part.leaves][own] for part, own in zip(parts, leaves, strict=True)
    )
    assert total.min() > 0.0  # so that predictions are the plain sums
    assert_allclose(total, model.predict(fleet.X, unknown))


@pytest.mark.parametrize(
    "params", [{"member": 9}, {"tree": 10}, {"tree": True}, {"times": [-1.0]}]
)
def test_what_is_not_there_is_refused(averaged, params):
    with pytest.raises(InvalidParameterError):
        tree_partition(averaged, **params)


def test_importances_are_those_of_the_model(averaged):
    result = feature_importance(averaged)
    assert_allclose(result.importances, averaged.feature_importances_)
    assert_allclose(result.gains, averaged.feature_gains_)
    assert_allclose(result.n_splits, averaged.split_counts_)
    assert list(result.to_frame()["feature"]) == ["x0", "x1"]


def test_interactions_are_the_predictions_on_the_grid(averaged):
    result = feature_interaction(averaged, "x1", "x0", times=[100.0, 30.0], n_grid=3)
    across, along = (axis.ravel() for axis in np.meshgrid(result.x_grid, result.y_grid))
    expected = averaged.predict_cumulative(np.column_stack([along, across]), [30.0, 100.0])
    assert_allclose(result.values.reshape(2, 9), expected.T)


def test_interactions_average_over_individuals(mixed):
    model, table = mixed
    params = {"times": 50.0, "X": table, "average": True, "n_grid": 2}
    result = feature_interaction(model, "site", "x1", **params)
    assert result.x_grid.tolist() == ["north", "south"]
    with pytest.raises(InvalidParameterError, match="`X` is missing"):
        feature_interaction(model, "site", "x1", average=True)
    with pytest.raises(InvalidParameterError, match="`times`"):
        feature_interaction(model, "site", "x1", times=-1.0)


def test_interactions_are_for_models_without_sensors(model):
    with pytest.raises(InvalidParameterError, match="no sensors"):
        feature_interaction(model, 0, 1)


def sum_leaves(frame, row):
    """Send one row of features down every tree by the table alone; sum up the leaves."""
    names = [name for name in frame.columns if name.startswith("coefficient_")]
    total = np.zeros(len(names))
    for _, tree in frame.groupby(["member", "tree"]):
        nodes = tree.set_index("node")
        node = nodes.loc[0]
        while node["left"] >= 0:
            value = row[node["feature"]]
            if pd.isna(value):
                is_left = node["missing_left"]
            elif node["categories"] is not None:
                is_left = str(value) in node["categories"]
            else:
                is_left = value <= node["threshold"]
            node = nodes.loc[node["left"] if is_left else node["right"]]
        total += node["weight"] * node[names].to_numpy(dtype=float)
    return total


def test_the_table_alone_gives_the_coefficients(pumps):
    X = pumps.X[:12].copy()
    X.iloc[0, 1] = np.nan
    frame = trees_frame(pumps.model)
    expected = pumps.model.ensemble_.coefficients(pumps.model.encoder_.transform(X))
    found = [sum_leaves(frame, row) for row in X.to_dict("records")]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_every_node_has_its_parent_and_its_individuals(plain):
    frame = plain.trees_to_frame()
    for _, tree in frame.groupby(["member", "tree"]):
        assert_array_equal(tree["node"], np.arange(len(tree)))
        inner = tree[tree["left"] >= 0]
        for side in ("left", "right"):
            children = tree["parent"].to_numpy()[inner[side]]
            assert_array_equal(children, inner["node"])
        pairs = tree["count"].to_numpy()[inner[["left", "right"]].to_numpy()]
        assert_array_equal(pairs.sum(axis=1), inner["count"])
        assert tree["feature"].isna().sum() == len(tree) - len(inner)
    totals = (frame["gain"] * frame["weight"]).groupby(frame["feature"]).sum()
    gains = [totals.get(name, 0.0) for name in plain.encoder_.names]
    assert_allclose(gains, plain.feature_gains_)


def test_polars_and_pandas_agree(pumps):
    polars = pytest.importorskip("polars")
    table = trees_frame(pumps.model, backend="polars")
    assert isinstance(table, polars.DataFrame)
    frame = trees_frame(pumps.model, backend="pandas")
    assert table.columns == list(frame.columns)
    assert_array_equal(table["threshold"].to_numpy(), frame["threshold"])
    assert table["categories"].to_list() == frame["categories"].tolist()


def test_other_backends_are_refused(pumps):
    with pytest.raises(InvalidParameterError, match="'pandas' or 'polars'"):
        trees_frame(pumps.model, backend="arrow")
