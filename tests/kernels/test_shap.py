import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles_shap
from tests.kernels.test_apply import MISSING, make_bins, make_trees

from boostr._kernels.apply import Nodes, sum_leaves
from boostr._kernels.shap import share_out
from boostr.inspection._explain import make_rules
from boostr.inspection._leaf_paths import average_leaves, trace_paths


def draw_counts(rng, nodes, roots):
    """Draw individuals into the leaves; a split has those of both its children."""
    counts = np.zeros(len(nodes.feature))
    for root, end in zip(roots, [*roots[1:], len(counts)], strict=True):
        for node in range(end - 1, root - 1, -1):
            left = root + nodes.left_child[node]
            is_leaf = nodes.feature[node] < 0
            counts[node] = rng.integers(1, 30) if is_leaf else counts[left : left + 2].sum()
    return counts


def compute(bins, nodes, counts, roots, with_partner=False, n_parts=1):
    out = np.zeros((len(bins), bins.shape[1] + 1, nodes.value.shape[1]))
    paths, rules = trace_paths(nodes, counts, roots), make_rules(bins.shape[1] + 1)
    share_out(bins, MISSING, nodes, paths, rules, with_partner, out, n_parts)
    return out


def make_chain(n_splits, feature_of=int):
    """A tree that gives 1 to those who go left at every split, and 0 to all others."""
    n_nodes = 2 * n_splits + 1
    feature, left_child = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes, np.int32)
    for split in range(n_splits):
        node = 0 if split == 0 else 2 * split - 1
        feature[node], left_child[node] = feature_of(split), 2 * split + 1
    value = np.zeros((n_nodes, 1))
    value[n_nodes - 2 if n_splits else 0] = 1.0
    return Nodes(
        feature=feature,
        bin_threshold=np.zeros(n_nodes, np.uint8),
        missing_left=np.zeros(n_nodes, np.bool_),
        left_child=left_child,
        category_set=np.full(n_nodes, -1, np.int32),
        categories=np.empty((0, 8), np.uint32),
        value=value,
    )


ROOT = np.zeros(1, dtype=np.int32)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_splits=st.lists(st.integers(0, 6), min_size=1, max_size=3),
    with_partner=st.booleans(),
)
def test_shares_are_those_of_all_subsets(seed, n_splits, with_partner):
    rng = np.random.default_rng(seed)
    nodes, roots = make_trees(rng, n_splits)
    counts, bins = draw_counts(rng, nodes, roots), make_bins(rng, 3)
    expected = [
        oracles_shap.tree_shares(nodes, counts, roots, row, MISSING, with_partner)
        for row in bins
    ]
    shares = compute(bins, nodes, counts, roots, with_partner)
    assert_allclose(shares, expected, atol=1e-13)


@pytest.mark.parametrize("n_splits", [10, 11, 16])
@pytest.mark.parametrize("with_partner", [False, True])
def test_shares_of_large_trees_are_those_of_all_subsets(rng, n_splits, with_partner):
    nodes, roots = make_trees(rng, [n_splits])
    counts, bins = draw_counts(rng, nodes, roots), make_bins(rng, 6)
    expected = [
        oracles_shap.tree_shares(nodes, counts, roots, row, MISSING, with_partner)
        for row in bins
    ]
    shares = compute(bins, nodes, counts, roots, with_partner)
    assert_allclose(shares, expected, atol=1e-13)


@given(seed=st.integers(0, 2**32 - 1), n_splits=st.lists(st.integers(0, 12), max_size=4))
def test_shares_add_up_to_the_sum_of_leaves_less_the_average(seed, n_splits):
    rng = np.random.default_rng(seed)
    nodes, roots = make_trees(rng, [*n_splits, 2])
    counts, bins = draw_counts(rng, nodes, roots), make_bins(rng, 11)
    average, theta = average_leaves(nodes, counts, roots), np.zeros((11, 2))
    sum_leaves(bins, MISSING, nodes, roots, theta)
    shares = compute(bins, nodes, counts, roots)
    assert_allclose(shares.sum(axis=1), theta - average, atol=1e-13)


def test_shares_with_a_partner_add_up_to_the_sum_of_leaves(rng):
    nodes, roots = make_trees(rng, [5, 0, 3])
    counts, bins = draw_counts(rng, nodes, roots), make_bins(rng, 20)
    theta = np.zeros((20, 2))
    sum_leaves(bins, MISSING, nodes, roots, theta)
    shares = compute(bins, nodes, counts, roots, with_partner=True)
    assert_allclose(shares.sum(axis=1), theta, atol=1e-13)


def test_features_that_no_split_uses_have_exactly_zero(rng):
    nodes, roots = make_trees(rng, [4, 4])
    nodes = nodes._replace(feature=np.where(nodes.feature == 1, 2, nodes.feature))
    counts = draw_counts(rng, nodes, roots)
    shares = compute(make_bins(rng, 30), nodes, counts, roots)
    assert not shares[:, 1].any()


def test_features_that_do_the_same_have_equal_shares():
    # Both low: 1. Either order of the two splits gives the same game.
    nodes, counts = make_chain(2), np.array([4.0, 2.0, 2.0, 1.0, 1.0])
    bins = np.array([[0, 0], [1, 1]], dtype=np.uint8)
    shares = compute(bins, nodes, counts, ROOT)[:, :2, 0]
    assert_allclose(shares[:, 0], shares[:, 1])
    assert_allclose(shares.sum(axis=1), [0.75, -0.25])


def test_shares_are_known_by_hand():
    # Of ten individuals, four go left on feature 0; only they see feature 1, half each way.
    nodes, counts = make_chain(2), np.array([10.0, 4.0, 6.0, 2.0, 2.0])
    bins = np.array([[0, 1]], dtype=np.uint8)
    # v() = 0.2, v(0) = 0.5, v(1) = 0, v(0, 1) = 0.
    shares = compute(bins, nodes, counts, ROOT)[0, :2, 0]
    assert_allclose(shares, [0.15, -0.35])


@pytest.mark.parametrize("n_features", [10, 11, 13])
def test_long_paths_are_products(rng, n_features):
    nodes = make_chain(n_features)
    counts = draw_counts(rng, nodes, ROOT)
    bins = rng.integers(0, 2, (15, n_features)).astype(np.uint8)
    left = nodes.left_child[nodes.feature >= 0]
    ratios = counts[left] / (counts[left] + counts[left + 1])
    expected = [oracles_shap.product_shares(ratios, row == 0) for row in bins]
    shares = compute(bins, nodes, counts, ROOT)[:, :-1, 0]
    assert_allclose(shares, expected, atol=1e-13)


def test_paths_may_be_longer_than_a_word_has_bits():
    n_features = 70
    nodes = make_chain(n_features)
    counts = np.ones(len(nodes.feature))
    for node in np.flatnonzero(nodes.feature >= 0)[::-1]:
        counts[node] = 2.0 * counts[nodes.left_child[node]]
    counts[2::2] = counts[1::2]  # half of everybody strays at every split
    bins = np.zeros((2, n_features), dtype=np.uint8)
    shares = compute(bins, nodes, counts, ROOT)[:, :-1, 0]
    assert_allclose(shares, (1.0 - 0.5**n_features) / n_features, rtol=1e-12)


def test_a_feature_that_is_split_twice_is_one_player(rng):
    nodes = make_chain(4, feature_of=lambda split: split % 2)
    counts, bins = draw_counts(rng, nodes, ROOT), make_bins(rng, 8)
    expected = [
        oracles_shap.tree_shares(nodes, counts, ROOT, row, MISSING, False) for row in bins
    ]
    assert_allclose(compute(bins, nodes, counts, ROOT), expected, atol=1e-14)


def test_blocks_of_rows_change_nothing(rng):
    nodes, roots = make_trees(rng, [3, 2])
    counts, bins = draw_counts(rng, nodes, roots), make_bins(rng, 600)
    some = [0, 255, 256, 599]
    alone = np.vstack([compute(bins[[row]], nodes, counts, roots) for row in some])
    assert np.array_equal(compute(bins, nodes, counts, roots)[some], alone)


@pytest.mark.parametrize("n_chunks", [1, 3])
def test_threads_give_the_same_bits(rng, n_chunks):
    nodes, roots = make_trees(rng, [3, 4])
    counts, bins = draw_counts(rng, nodes, roots), make_bins(rng, 100)
    expected = compute(bins, nodes, counts, roots, True)
    assert np.array_equal(compute(bins, nodes, counts, roots, True, n_chunks), expected)


@pytest.mark.parametrize("most", [1, 2, 5, 12])
def test_rules_are_exact_for_their_polynomials(most):
    rules = make_rules(most)
    for n_features in range(1, most + 1):
        n = rules.n_points[n_features]
        powers = rules.points[n_features, :n, None] ** np.arange(n_features)
        integrals = rules.weights[n_features, :n] @ powers
        assert_allclose(integrals, 1.0 / np.arange(1, n_features + 1))
