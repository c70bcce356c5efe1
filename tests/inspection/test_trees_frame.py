import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.exceptions import InvalidParameterError
from boostr.inspection import trees_frame


def walk(frame, row):
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
    found = [walk(frame, row) for row in X.to_dict("records")]
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
