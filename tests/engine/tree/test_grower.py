import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.problems import make_problem

from boostr._engine.tree import GrowthParams, LocalSource, grow_tree, pack_trees
from boostr._kernels.split import _PSEUDO_COUNT


def grow(problem, seed=0, features=None, **params):
    source = LocalSource(problem.features, *problem.statistics, 1)
    source.start(problem.everybody)
    n_features = problem.x.shape[1]
    used = np.arange(n_features) if features is None else np.array(features)
    return grow_tree(
        source,
        problem.leaf,
        GrowthParams(**({"max_leaves": 4} | params)),
        problem.features.n_values,
        problem.features.is_categorical,
        used.astype(np.int32),
        seed,
    )


def leaves_of(tree, problem):
    missing = problem.features.missing_bin
    return np.array(
        [oracles.find_leaf(tree.nodes, row, missing) for row in problem.features.bins]
    )


def values_of(tree, problem):
    return tree.nodes.value[leaves_of(tree, problem)]


def groups_of(tree, problem):
    """Return everybody's group as the set of people in the same leaf."""
    leaves = leaves_of(tree, problem)
    return leaves[:, None] == leaves


@pytest.fixture
def problem(rng):
    return make_problem(rng, 120)


@pytest.fixture
def scalar(rng):
    return make_problem(rng, 80, "one power")


@pytest.mark.parametrize("max_leaves", [2, 3, 5, 8])
def test_best_first_growth_ends_exactly_at_the_limit(problem, max_leaves):
    assert grow(problem, max_leaves=max_leaves).n_leaves == max_leaves


def test_growth_by_level_may_end_above_the_limit(problem):
    assert grow(problem, max_leaves=3, growth="level").n_leaves == 4


def test_growth_by_level_begins_no_round_at_the_limit(problem):
    assert grow(problem, max_leaves=4, growth="level").n_leaves == 4


def test_growth_by_level_splits_every_leaf_that_pays(problem):
    nodes = grow(problem, max_leaves=3, growth="level").nodes
    assert np.all(nodes.feature[[0, 1, 2]] >= 0)


def test_best_first_growth_splits_the_leaf_with_the_largest_gain(scalar):
    # The third leaf comes from the child whose own best split gains more.
    tree = grow(scalar, max_leaves=3)
    groups = groups_of(grow(scalar, max_leaves=2), scalar)[0]
    gains = [
        grow(scalar.take(np.flatnonzero(side)), max_leaves=2).gain[0]
        for side in (groups, ~groups)
    ]
    assert_allclose(tree.gain[tree.nodes.feature >= 0][1], max(gains))


def judged_gradients(problem, feature):
    """Return the gradients by which splits of a feature are judged."""
    features, gradients = problem.features, -problem.stats.linear
    if not features.is_categorical[feature]:
        return gradients
    column, n_values = features.bins[:, feature], features.n_values[feature]
    individuals = gradients, problem.hessians()
    return oracles.shrink_categories(column, n_values, *individuals, _PSEUDO_COUNT)


@pytest.mark.parametrize("family", ["power", "single power", "step", "spline", "one power"])
def test_a_stump_is_the_best_of_all_stumps(rng, family):
    problem = make_problem(rng, 40, family)
    # Categories are searched exhaustively for one term only: leave them out otherwise.
    features = range(3 if problem.stats.n_terms == 1 else 2)
    expected = max(
        oracles.best_gain(
            problem.features.bins[:, feature],
            problem.features.n_values[feature],
            problem.features.missing_bin,
            problem.features.is_categorical[feature],
            (judged_gradients(problem, feature), problem.hessians()),
            (problem.leaf.penalty, problem.kind),
        )
        for feature in features
    )
    assert_allclose(grow(problem, max_leaves=2, features=features).gain[0], expected)


@pytest.mark.parametrize("growth", ["best", "level"])
@pytest.mark.parametrize("family", ["power", "single power", "step", "spline"])
def test_leaves_hold_the_solution_of_their_members(rng, family, growth):
    problem = make_problem(rng, 80, family)
    tree = grow(problem, max_leaves=4, growth=growth)
    leaves, hessians = leaves_of(tree, problem), problem.hessians()
    for leaf in np.unique(leaves):
        own = leaves == leaf
        expected, _ = oracles.solve_leaf(
            -problem.stats.linear[own].sum(axis=0),
            hessians[own].sum(axis=0),
            problem.leaf.penalty,
            problem.kind,
        )
        assert_allclose(tree.nodes.value[leaf], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("growth", ["best", "level"])
def test_counts_are_those_of_the_leaves(problem, growth):
    tree = grow(problem, max_leaves=6, growth=growth)
    leaves = leaves_of(tree, problem)
    is_leaf = np.flatnonzero(tree.nodes.feature < 0)
    found = [(leaves == leaf).sum() for leaf in is_leaf]
    assert np.array_equal(tree.count[is_leaf], found)


@pytest.mark.parametrize("growth", ["best", "level"])
def test_the_price_of_a_leaf_prunes(problem, growth):
    gains = grow(problem, max_leaves=20, growth=growth).gain
    root_gain = gains[0]
    assert grow(problem, gamma1=1.001 * root_gain, growth=growth).n_leaves == 1


@pytest.mark.parametrize("growth", ["best", "level"])
def test_a_split_that_pays_its_price_stays(problem, growth):
    root_gain = grow(problem, growth=growth).gain[0]
    tree = grow(problem, gamma1=0.999 * root_gain, max_leaves=2, growth=growth)
    assert tree.n_leaves == 2


def test_the_gain_is_net_of_the_price(problem):
    free = grow(problem, max_leaves=2).gain[0]
    assert_allclose(grow(problem, max_leaves=2, gamma1=0.5).gain[0], free - 0.5)


def test_a_tree_without_a_split_keeps_its_root_function(problem):
    tree = grow(problem, gamma1=1e9)
    expected, _ = oracles.solve_leaf(
        -problem.stats.linear.sum(axis=0),
        problem.hessians().sum(axis=0),
        problem.leaf.penalty,
        problem.kind,
    )
    assert_allclose(tree.nodes.value, [expected])


@pytest.mark.parametrize("n_candidates", [0, 2])
def test_leaves_keep_the_least_number_of_members(problem, n_candidates):
    tree = grow(problem, max_leaves=9, min_samples_leaf=17, n_candidates=n_candidates)
    assert tree.count.min() >= 17


def test_two_individuals_grow_no_split_if_a_leaf_needs_two(problem):
    assert grow(problem.take([0, 1]), min_samples_leaf=2).n_leaves == 1


def test_the_order_of_individuals_does_not_matter(rng, problem):
    order = rng.permutation(len(problem))
    permuted = problem.take(order)
    values = values_of(grow(problem), problem)
    assert_allclose(values_of(grow(permuted), permuted), values[order], rtol=1e-7)


def test_weight_two_is_the_row_twice(rng, problem):
    weights = rng.choice([1, 2], len(problem))
    twice = problem.take(np.repeat(np.arange(len(problem)), weights))
    weighted = problem.weigh(weights)
    assert_allclose(
        np.repeat(values_of(grow(weighted), weighted), weights, axis=0),
        values_of(grow(twice), twice),
        rtol=1e-7,
    )


def test_merging_bins_that_no_split_separates_changes_nothing(problem):
    tree = grow(problem, max_leaves=3)
    on_first = tree.nodes.bin_threshold[tree.nodes.feature == 0]
    last = problem.features.n_values[0] - 1
    lower = next(b for b in range(last) if b not in on_first)
    bins = problem.features.bins[:, 0]
    is_above = (bins > lower) & (bins < problem.features.missing_bin)
    merged = problem.take(np.arange(len(problem)))
    merged.features.bins[is_above, 0] -= 1
    before, after = (groups_of(grow(p, max_leaves=3), p) for p in (problem, merged))
    assert np.array_equal(before, after)


def test_random_thresholds_are_the_same_for_the_same_seed(problem):
    first, second = (grow(problem, seed=9, n_candidates=1) for _ in range(2))
    assert np.array_equal(first.nodes.bin_threshold, second.nodes.bin_threshold)


def test_random_thresholds_differ_between_seeds(problem):
    trees = [grow(problem, seed=seed, n_candidates=1, features=[0]) for seed in range(9)]
    assert len({tuple(tree.nodes.bin_threshold) for tree in trees}) > 1


def test_only_the_given_features_split(problem):
    tree = grow(problem, max_leaves=8, features=[1])
    assert set(tree.nodes.feature.tolist()) == {-1, 1}


def test_scaling_multiplies_all_coefficients(problem):
    tree = grow(problem)
    assert_allclose(tree.scaled(0.25).nodes.value, 0.25 * tree.nodes.value)


def test_a_tree_of_one_term_fits_among_others(scalar):
    tree = grow(scalar)
    wide = tree.widened(1, 3).nodes.value
    expected = np.zeros((len(tree.gain), 3))
    expected[:, 1] = tree.nodes.value[:, 0]
    assert np.array_equal(wide, expected)


def test_packed_trees_walk_like_each_alone(problem):
    trees = [grow(problem, max_leaves=n, min_samples_leaf=5) for n in (6, 2, 9)]
    nodes, roots = pack_trees(trees, problem.stats.n_terms)
    missing = problem.features.missing_bin
    for tree, root in zip(trees, roots, strict=True):
        leaves = [
            oracles.find_leaf(nodes, row, missing, root) for row in problem.features.bins
        ]
        assert np.array_equal(nodes.value[leaves], values_of(tree, problem))


def test_no_trees_pack_to_nothing():
    nodes, roots = pack_trees([], 2)
    assert (nodes.value.shape, roots.shape) == ((0, 2), (0,))
