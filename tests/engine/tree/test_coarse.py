import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.problems import make_problem

from boostr._engine.tree import GrowthParams, LeafProblem, LocalSource, grow_tree
from boostr._engine.tree._coarse import CoarseBins
from boostr._kernels.group_lasso import Groups
from boostr._kernels.solve import GROUPED


@pytest.fixture
def problem(rng):
    return make_groups(rng)


def make_groups(rng):
    """Make leaves of two groups, and features of many values, some of them missing."""
    problem = make_problem(rng, 160, "spline", max_bins=200)
    assert problem.features.n_values[0] > 48  # some of them are joined
    n_terms = problem.stats.n_terms
    groups = Groups(np.array([0, 1, n_terms], dtype=np.int32), np.array([0.0, 0.1]), True)
    problem.leaf = LeafProblem(GROUPED, problem.leaf.penalty, groups)
    return problem


def make_source(problem, members=None):
    source = LocalSource(problem.features, *problem.statistics, 1, is_coarse=True)
    source.start(problem.everybody if members is None else members)
    return source


def grow(problem, **params):
    n_features = problem.features.n_features
    return grow_tree(
        make_source(problem),
        problem.leaf,
        GrowthParams(**({"max_leaves": 4, "min_samples_leaf": 5} | params)),
        problem.features.n_values,
        problem.features.is_categorical,
        np.arange(n_features, dtype=np.int32),
        7,
    )


def test_bins_are_joined_in_order_and_categories_are_not():
    n_values, is_categorical = np.array([100, 20, 40]), np.array([False, False, True])
    coarse = CoarseBins(n_values.astype(np.int32), is_categorical)
    bins = np.array([[0, 0, 0], [3, 3, 3], [4, 19, 39], [99, 100, 100], [100, 1, 2]])
    joined = coarse.join(bins.astype(np.uint8), 100)
    assert coarse.n_values.tolist() == [34, 20, 40]
    expected = [[0, 0, 0], [1, 3, 3], [1, 19, 39], [33, 40, 40], [40, 1, 2]]
    assert joined.tolist() == expected


def test_fine_bins_are_those_of_the_members_of_a_node(problem):
    members = problem.everybody[::2].copy()
    source, rows = make_source(problem, members), problem.channels()
    source.root(np.arange(problem.features.n_features, dtype=np.int32))
    found = source.read_bins(0, 1, 10, 30)
    own = problem.features.bins[members, 1]
    wanted = [own == place for place in (*range(10, 30), problem.features.missing_bin)]
    expected = [rows[members][is_in].sum(axis=0) for is_in in wanted]
    assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("n_candidates", [0, 2])
@pytest.mark.parametrize("max_leaves", [2, 5])
def test_leaves_have_the_coefficients_of_their_members(problem, max_leaves, n_candidates):
    tree = grow(problem, max_leaves=max_leaves, n_candidates=n_candidates)
    features, rows = problem.features, problem.channels()
    leaves = np.array(
        [oracles.find_leaf(tree.nodes, row, features.missing_bin) for row in features.bins]
    )
    starts, prices, grows = problem.leaf.groups
    n_terms = problem.stats.n_terms
    assert tree.n_leaves == max_leaves
    for leaf in np.unique(leaves):
        sums = rows[leaves == leaf].sum(axis=0)
        hessian = oracles.full_matrix(sums[n_terms:], n_terms)
        own = oracles.leaf_prices(hessian, starts, prices, grows)
        matrix = hessian + problem.leaf.penalty
        expected, _ = oracles.solve_groups(sums[:n_terms], matrix, starts, own)
        assert_allclose(tree.nodes.value[leaf], expected, rtol=1e-5, atol=1e-6)
        assert tree.count[leaf] == np.sum(leaves == leaf) >= 5


def test_a_jump_between_two_fine_bins_is_found(problem):
    stats, bins = problem.stats, problem.features.bins
    middle = int(problem.features.n_values[0]) // 2 + 1
    problem.features.bins[bins[:, 0] == problem.features.missing_bin, 0] = 0
    stats.linear[:] = np.where(bins[:, [0]] <= middle, 1.0, -1.0) * 5.0
    tree = grow(problem, max_leaves=2, min_samples_leaf=1)
    is_left = bins[:, 0] <= tree.nodes.bin_threshold[0]
    assert tree.nodes.feature[0] == 0
    assert np.array_equal(is_left, bins[:, 0] <= middle)


def gains_of_thresholds(problem, feature, thresholds, missing_left):
    """Return the gains of splits, from the individuals by the slow solver."""
    stats, features = problem.stats, problem.features
    n_terms = stats.n_terms
    hessians = np.array([oracles.full_matrix(row, n_terms) for row in stats.quadratic])
    bins = features.bins[:, feature]
    is_left = bins <= np.asarray(thresholds)[:, None]
    is_left[:, bins == features.missing_bin] = missing_left
    sides = np.vstack([is_left, ~is_left, np.ones((1, len(bins)), bool)])
    groups = problem.leaf.groups
    drops = oracles.grouped_drops(
        sides, -stats.linear, hessians, problem.leaf.penalty, tuple(groups)
    )
    k = len(is_left)
    return drops[:k] + drops[k : 2 * k] - drops[-1]


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_a_refined_split_is_as_good_as_any_beside_it(seed):
    problem = make_groups(np.random.default_rng(seed))
    tree = grow(problem, max_leaves=2, min_samples_leaf=5)
    nodes = tree.nodes
    assume(tree.n_leaves == 2 and nodes.category_set[0] < 0)
    feature, found = int(nodes.feature[0]), int(nodes.bin_threshold[0])
    coarse = CoarseBins(problem.features.n_values, problem.features.is_categorical)
    step = int(coarse.steps[feature])
    beside = found // step * step - 1 + np.array([0, step])  # ends of its coarse bin
    beside = beside[(beside >= 0) & (beside < problem.features.n_values[feature])]
    sides = problem, feature, [found, *beside], bool(nodes.missing_left[0])
    gains = gains_of_thresholds(*sides)
    assert_allclose(tree.gain[0], gains[0], rtol=1e-4, atol=1e-6)
    counts = np.sum(problem.features.bins[:, [feature]] <= beside, axis=0)
    is_large = (counts >= 5) & (len(problem.features.bins) - counts >= 5)
    assert (gains[1:][is_large] <= gains[0] * (1.0 + 1e-4) + 1e-6).all()
