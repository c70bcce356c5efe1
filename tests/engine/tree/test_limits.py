from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from tests.engine.problems import make_problem
from tests.engine.tree.test_grower import grow

from boostr._engine.tree import Limits

FREE = np.zeros(3, dtype=np.int32)


def make_limits(signs=FREE, **others):
    return Limits(np.asarray(signs, dtype=np.int32), **others)


def limit(problem, limits):
    return replace(problem, leaf=replace(problem.leaf, limits=limits))


def read(tree, rows, missing):
    """Return the leaf coefficients of binned rows."""
    nodes, values = tree.nodes, []
    for row in rows:
        node = 0
        while nodes.feature[node] >= 0:
            feature = nodes.feature[node]
            value, place = row[feature], nodes.category_set[node]
            if place >= 0:
                word = nodes.categories[place, value // 32]
                goes_left = bool(word >> np.uint32(value % 32) & np.uint32(1))
            elif value == missing:
                goes_left = nodes.missing_left[node]
            else:
                goes_left = value <= nodes.bin_threshold[node]
            node = nodes.left_child[node] + (not goes_left)
        values.append(nodes.value[node])
    return np.array(values)


def find_paths(tree):
    """Return the sets of features on the ways to all leaves."""
    found, stack = [], [(0, frozenset())]
    while stack:
        node, path = stack.pop()
        feature = int(tree.nodes.feature[node])
        if feature < 0:
            found.append(path)
            continue
        left = int(tree.nodes.left_child[node])
        stack += [(child, path | {feature}) for child in (left, left + 1)]
    return found


@settings(max_examples=20)
@given(
    seed=st.integers(0, 1000),
    family=st.sampled_from(["power", "one power", "step", "spline"]),
    growth=st.sampled_from(["best", "level"]),
    n_candidates=st.sampled_from([0, 2]),
    signs=st.tuples(st.sampled_from([-1, 1]), st.sampled_from([-1, 0, 1])),
)
def test_leaves_are_in_order_term_by_term(seed, family, growth, n_candidates, signs):
    rng = np.random.default_rng(seed)
    problem = limit(make_problem(rng, 60, family), make_limits([*signs, 0]))
    tree = grow(problem, seed, max_leaves=8, growth=growth, n_candidates=n_candidates)
    missing = problem.features.missing_bin
    for feature in np.flatnonzero(signs):
        n_values = problem.features.n_values[feature]
        for row in problem.features.bins[:15]:
            rows = np.tile(row, (n_values, 1))
            rows[:, feature] = np.arange(n_values)
            steps = signs[feature] * np.diff(read(tree, rows, missing), axis=0)
            assert steps.min(initial=0.0) >= 0.0


def test_a_direction_that_the_data_have_costs_little(rng):
    problem = make_problem(rng, 200, "one power")
    free = grow(problem, max_leaves=2, features=[1])
    bound = grow(limit(problem, make_limits([0, 1, 0])), max_leaves=2, features=[1])
    against = grow(limit(problem, make_limits([0, -1, 0])), max_leaves=2, features=[1])
    assert bound.gain[0] == pytest.approx(free.gain[0])
    assert against.n_leaves == 1


@pytest.mark.parametrize("growth", ["best", "level"])
def test_limits_that_limit_nothing_change_no_bit(rng, growth):
    problem = make_problem(rng, 120)
    wide = [make_limits(most_together=9), make_limits(sets=np.ones((1, 3), dtype=bool))]
    plain = grow(problem, max_leaves=6, growth=growth)
    for limits in wide:
        tree = grow(limit(problem, limits), max_leaves=6, growth=growth)
        for name in plain.nodes._fields:
            assert np.array_equal(getattr(tree.nodes, name), getattr(plain.nodes, name))
        assert np.array_equal(tree.gain, plain.gain)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 1000),
    growth=st.sampled_from(["best", "level"]),
    n_candidates=st.sampled_from([0, 2]),
    sign=st.sampled_from([0, 1]),
)
def test_only_features_of_a_set_meet(seed, growth, n_candidates, sign):
    sets = np.array([[True, True, False], [False, False, True]])
    limits = make_limits([0, sign, 0], sets=sets)
    problem = limit(make_problem(np.random.default_rng(seed), 80), limits)
    tree = grow(problem, seed, max_leaves=8, growth=growth, n_candidates=n_candidates)
    assert all(path <= {0, 1} or path <= {2} for path in find_paths(tree))


@pytest.mark.parametrize("most", [1, 2])
def test_at_most_so_many_features_meet(rng, most):
    problem = limit(make_problem(rng, 200), make_limits(most_together=most))
    paths = find_paths(grow(problem, max_leaves=12))
    assert max(map(len, paths)) == most


def test_sets_that_overlap_are_left_open_as_long_as_possible():
    sets = np.array([[True, True, False], [False, True, True]])
    limits, features = make_limits(sets=sets), np.arange(3, dtype=np.int32)
    allowed = {
        path: limits.allow(frozenset(path), features).tolist()
        for path in [(), (0,), (1,), (0, 1)]
    }
    assert allowed == {
        (): [True, True, True],
        (0,): [True, True, False],
        (1,): [True, True, True],
        (0, 1): [True, True, False],
    }


def test_copies_are_limited_as_their_features_are():
    limits = make_limits([1, 0, -1], most_together=1)
    features = np.array([1, 3, 5], dtype=np.int32)
    assert limits.signs_of(features).tolist() == [0, 1, -1]
    assert limits.allow(frozenset({0}), features).tolist() == [False, True, False]


def test_a_node_that_no_feature_may_split_is_a_leaf(rng):
    sets = np.array([[True, False, False], [False, True, True]])
    problem = limit(make_problem(rng, 120), make_limits(sets=sets))
    tree = grow(problem, max_leaves=4, features=[0, 2])
    assert all(len(path) <= 1 for path in find_paths(tree))
