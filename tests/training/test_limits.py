import itertools

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import boostr
from boostr import BoostR, RecurrentEvents
from boostr.basis import PowerBasis, StepBasis
from boostr.exceptions import InvalidParameterError
from boostr.simulate import wells

QUICK = {"n_estimators": 12, "n_origins": 0, "random_state": 0}
SINGLE = QUICK | {"validation": None, "min_samples_leaf": 5, "learning_rate": 0.3}
TIMES = np.concatenate([[0.0], np.geomspace(0.01, 30.0, 60), [300.0, 5000.0]])


def make_fleet(seed, n=60):
    """Return features without a direction of their own, and histories."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(n) < 0.1, 1] = np.nan
    rates = np.exp(rng.normal(0.0, 1.0, n)) * np.exp(X[:, 0]) / 2.0
    ends = rng.uniform(2.0, 10.0, n)
    powers = 1.0 + rng.integers(0, 3, n) / 2.0
    events = [
        end * np.sort(rng.random(rng.poisson(rate * end))) ** (1.0 / power)
        for rate, end, power in zip(rates, ends, powers, strict=True)
    ]
    return X, RecurrentEvents.from_lists(events, end=ends)


def find_steps(model, X, feature, sign, n_values=8):
    """Return the smallest steps of curves and rates where a feature rises."""
    grid = np.linspace(np.nanmin(X[:, feature]), np.nanmax(X[:, feature]), n_values)
    smallest = []
    for row in X[:12]:
        rows = np.tile(row, (n_values, 1))
        rows[:, feature] = grid
        for curves in (
            model.predict_cumulative(rows, TIMES),
            model.predict_intensity(rows, TIMES),
        ):
            scale = np.maximum(np.abs(curves).max(axis=0), 1e-300)
            smallest.append((sign * np.diff(curves, axis=0) / scale).min())
    return min(smallest)


@pytest.mark.slow
@settings(max_examples=12)
@given(
    seed=st.integers(0, 1000),
    leaf=st.sampled_from(["power", "step", "spline", PowerBasis((0.7, 1.0, 2.0))]),
    loss=st.sampled_from(["intensity", "cumulative"]),
    monotone=st.booleans(),
    sign=st.sampled_from([-1, 1]),
)
def test_curves_and_rates_are_in_order_at_all_times(seed, leaf, loss, monotone, sign):
    if loss == "cumulative" and leaf == "step":
        leaf = "power"
    X, y = make_fleet(seed)
    params = SINGLE | {"leaf": leaf, "loss": loss, "monotone": monotone}
    model = BoostR(monotonic_cst=[sign, -sign, 0], **params).fit(X, y)
    assert find_steps(model, X, 0, sign) >= -1e-10
    assert find_steps(model, X, 1, -sign) >= -1e-10


@pytest.mark.parametrize("leaf", ["power", StepBasis(4)])
def test_averages_over_folds_and_shapes_are_in_order(leaf):
    X, y = make_fleet(3)
    model = BoostR(monotonic_cst={"x0": -1, "x2": 1}, leaf=leaf, **QUICK).fit(X, y)
    assert find_steps(model, X, 0, -1) >= -1e-10
    assert find_steps(model, X, 2, 1) >= -1e-10


def test_without_a_direction_order_is_broken():
    X, y = make_fleet(3)
    model = BoostR(**SINGLE).fit(X, y)
    assert find_steps(model, X, 0, 1) < -1e-3


def test_no_direction_is_no_limit():
    X, y = make_fleet(4)
    plain, zero = (
        BoostR(monotonic_cst=given, **SINGLE).fit(X, y) for given in (None, [0, 0, 0])
    )
    assert np.array_equal(plain.predict(X), zero.predict(X))


def test_features_without_interactions_add_up():
    X, y = make_fleet(5)
    params = SINGLE | {"interaction_cst": "no_interactions", "monotone": False}
    model = BoostR(**params).fit(X, y)
    low, high = X[0], X[1]
    rows = np.array([[low[0], *low[1:]], [high[0], *low[1:]], [low[0], *high[1:]], high])
    curves = model.predict_cumulative(rows, TIMES)
    np.testing.assert_allclose(curves[0] + curves[3], curves[1] + curves[2], atol=1e-9)


def paths_of(model):
    """Return sets of names on the ways to leaves, of all trees."""
    found = set()
    for tree in itertools.chain(*(one.trees for one in model.ensemble_.members)):
        stack = [(0, frozenset())]
        while stack:
            node, path = stack.pop()
            feature = int(tree.nodes.feature[node])
            if feature < 0:
                found.add(path)
                continue
            left = int(tree.nodes.left_child[node])
            stack += [(child, path | {feature}) for child in (left, left + 1)]
    return found


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ([{0, 1}], [{0, 1}, {2}]),
        ([["x1", "x2"], ("x0",)], [{1, 2}, {0}]),
        ([{0, 1}, {1, 2}], [{0, 1}, {1, 2}]),
        ("pairwise", [{0, 1}, {0, 2}, {1, 2}]),
        ("no_interactions", [{0}, {1}, {2}]),
    ],
)
def test_ways_to_leaves_stay_in_a_set(given, allowed):
    X, y = make_fleet(6)
    model = BoostR(interaction_cst=given, max_leaf_nodes=8, **SINGLE).fit(X, y)
    paths = paths_of(model)
    assert all(any(path <= group for group in allowed) for path in paths)
    assert max(map(len, paths)) == max(map(len, allowed))


def test_interactions_can_be_limited_with_sensors():
    fleet = wells(n=60, random_state=1)
    params = SINGLE | {"n_estimators": 4, "interaction_cst": "no_interactions"}
    model = BoostR(**params).fit(fleet.X, fleet.y, fleet.Z)
    assert max(map(len, paths_of(model))) == 1


def test_a_model_file_keeps_limits(tmp_path):
    X, y = make_fleet(7)
    limits = {"monotonic_cst": {"x0": 1}, "interaction_cst": [{"x0", "x1"}, {2}]}
    model = BoostR(**limits, **SINGLE).fit(X, y)
    model.save(tmp_path / "fleet.boostr")
    loaded = boostr.load(tmp_path / "fleet.boostr")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    again = BoostR(**loaded.get_params()).fit(X, y)
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_checkpoint_of_other_limits_is_refused(tmp_path):
    X, y = make_fleet(8)
    path = tmp_path / "trees"
    BoostR(interaction_cst=[{0, 1}], **SINGLE).fit(X, y, checkpoint=path)
    with pytest.raises(InvalidParameterError, match="interaction_cst"):
        BoostR(interaction_cst=[{0, 2}], **SINGLE).fit(X, y, checkpoint=path)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"monotonic_cst": [1, 0]}, r"one entry per feature, .* \(2,\) for 3 features"),
        ({"monotonic_cst": 1}, "one entry per feature"),
        ({"monotonic_cst": [1, 2, 0]}, "-1, 0 or 1, but it is not for the features x1"),
        ({"monotonic_cst": {"x2": "up"}}, "-1, 0 or 1, but it is not for the features x2"),
        ({"monotonic_cst": {"age": 1}}, "`monotonic_cst` names the column 'age'"),
        ({"interaction_cst": "all"}, "'pairwise', 'no_interactions' or a list of sets"),
        ({"interaction_cst": [0, 1]}, "'pairwise', 'no_interactions' or a list of sets"),
        ({"interaction_cst": [{0, 7}]}, "`interaction_cst` names the column 7"),
        ({"interaction_cst": 3}, "'pairwise', 'no_interactions' or a list of sets"),
    ],
)
def test_limits_that_say_nothing_are_refused(limits, message):
    X, y = make_fleet(9, n=20)
    with pytest.raises(InvalidParameterError, match=message):
        BoostR(**limits, **SINGLE).fit(X, y)


def test_categories_have_no_direction():
    X, y = make_fleet(9, n=20)
    table = pd.DataFrame(X, columns=["load", "age", "depth"])
    table["site"] = np.where(np.arange(20) % 2, "north", "south")
    with pytest.raises(InvalidParameterError, match="categories: site"):
        BoostR(monotonic_cst={"site": 1}, **SINGLE).fit(table, y)
    BoostR(monotonic_cst={"site": 0, "age": 1}, **SINGLE).fit(table, y)


def test_sensors_have_no_direction():
    fleet = wells(n=20, random_state=1)
    p = fleet.X.shape[1]
    with pytest.raises(InvalidParameterError, match="this model has sensors"):
        BoostR(monotonic_cst=[1] * p, **SINGLE).fit(fleet.X, fleet.y, fleet.Z)


@pytest.mark.parametrize(
    "params",
    [{"leaf": "step", "loss": "cumulative"}, {"leaf": PowerBasis((1.0, 1.5), joint=False)}],
)
def test_leaf_functions_that_fall_are_refused(params):
    X, y = make_fleet(9, n=20)
    with pytest.raises(InvalidParameterError, match="leaf functions that rise"):
        BoostR(monotonic_cst=[1, 0, 0], **(SINGLE | params)).fit(X, y)
