import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles
from tests.kernels.test_split import KINDS, MISSING, N_BINS, N_VALUES, Node

from boostr._kernels.ordered import find_ordered_split, solve_bounded, solve_children

SEEDS = st.integers(0, 10_000)
SIGNS = st.sampled_from([-1, 0, 1])
KIND = st.sampled_from(["diagonal", "full"])


def make_leaf(rng, n_terms, kind):
    """Return sums of a leaf, and its gradient and matrix."""
    root = rng.normal(size=(n_terms, n_terms))
    hessian = root @ root.T
    if kind == "diagonal":
        hessian = np.diag(np.diag(hessian))
    gradient = rng.normal(size=n_terms)
    curvature = np.diag(hessian) if kind == "diagonal" else oracles.lower_triangle(hessian)
    sums = np.concatenate([gradient, curvature, [10.0]])
    return sums, (gradient, hessian + np.eye(n_terms))


def make_bounds(rng, n_terms):
    low = np.where(rng.random(n_terms) < 0.5, -np.inf, rng.normal(-0.3, 0.5, n_terms))
    high = np.where(
        rng.random(n_terms) < 0.5, np.inf, np.maximum(low, 0.0) + rng.random(n_terms)
    )
    return low, high


@given(SEEDS, st.integers(1, 4), KIND)
def test_bounded_leaves_are_those_of_the_oracle(seed, n_terms, kind):
    rng = np.random.default_rng(seed)
    sums, problem = make_leaf(rng, n_terms, kind)
    low, high = make_bounds(rng, n_terms)
    value = np.full(n_terms, np.nan)
    drop = solve_bounded(sums, np.eye(n_terms), KINDS[kind], low, high, value)
    assert np.all((value >= low) & (value <= high))
    assert_allclose(drop, -oracles.objective(value, *problem), atol=1e-9)
    assert_allclose(drop, oracles.solve_bounded(*problem, low, high)[1], atol=1e-6)


@given(SEEDS, st.integers(1, 3), KIND, SIGNS)
def test_two_sides_are_in_order_and_those_of_the_oracle(seed, n_terms, kind, sign):
    rng = np.random.default_rng(seed)
    sides = [make_leaf(rng, n_terms, kind) for _ in range(2)]
    low, high = make_bounds(rng, n_terms)
    middle, values = np.full(n_terms, np.nan), np.full((2, n_terms), np.nan)
    leaf = np.eye(n_terms), KINDS[kind]
    drop = solve_children(sides[0][0], sides[1][0], *leaf, sign, low, high, middle, values)
    expected = oracles.solve_ordered(sides[0][1], sides[1][1], sign, low, high)
    assert_allclose(drop, expected[0], atol=1e-6)
    assert_allclose(middle, expected[1], atol=1e-6)
    assert np.all(sign * (values[1] - values[0]) >= 0.0)
    assert np.all((values >= low) & (values <= high))
    if sign != 0:
        assert np.all(sign * (middle - values[0]) >= -1e-12)
        assert np.all(sign * (values[1] - middle) >= -1e-12)


def find(node, signs, low, high, n_candidates=0, seed=0):
    """Return the gain of the best split of a node, its feature and sides."""
    histograms = node.histograms()
    n_features, kind = node.bins.shape[1], KINDS[node.kind]
    goes_left = np.zeros(N_BINS, dtype=bool)
    sums = np.full((2, histograms.shape[2]), np.nan)
    sums[0] = histograms[0].sum(axis=0)
    value = np.empty(len(node.penalty))
    own = solve_bounded(sums[0], node.penalty, kind, low, high, value)
    gain, slot, _, _ = find_ordered_split(
        histograms,
        np.arange(n_features, dtype=np.int32),
        np.full(n_features, N_VALUES, dtype=np.int32),
        np.full(n_features, node.is_categorical),
        np.asarray(signs, dtype=np.int32),
        node.penalty,
        kind,
        1.0,
        n_candidates,
        np.uint64(seed),
        own,
        low,
        high,
        goes_left,
        sums,
    )
    return gain, slot, goes_left, own


@given(SEEDS, st.integers(1, 3), KIND, st.booleans(), st.sampled_from([0, 2]))
def test_free_splits_are_the_best_ones(seed, n_terms, kind, is_categorical, n_candidates):
    node = Node.random(seed, 25, 2, n_terms, kind, is_categorical)
    node.penalty = np.eye(n_terms)
    free = np.full(n_terms, np.inf)
    gain, slot, goes_left, _ = find(node, [0, 0], -free, free, n_candidates, seed)
    expected = node.find(n_candidates=n_candidates, seed=seed)
    assert_allclose(gain, expected, rtol=1e-6, atol=1e-9)
    if gain > 1e-6:
        assert slot == node.slot
        assert np.array_equal(goes_left, node.goes_left)


def best_gain(node, signs, low, high, own):
    """Try all thresholds, with missing values on either side, alone on the right."""
    best = -np.inf
    for column, sign in zip(node.bins.T, signs, strict=True):
        for last in range(N_VALUES):
            for missing_left in (False, True):
                is_left = np.where(column == MISSING, missing_left, column <= last)
                if not np.any(column <= last) or is_left.all():
                    continue
                sides = [
                    (
                        node.gradients[own_side].sum(axis=0),
                        node.hessians[own_side].sum(axis=0) + node.penalty,
                    )
                    for own_side in (is_left, ~is_left)
                ]
                if node.kind == "diagonal":
                    sides = [(g, np.diag(np.diag(h))) for g, h in sides]
                best = max(best, oracles.solve_ordered(*sides, sign, low, high)[0] - own)
    return best


@given(SEEDS, st.integers(1, 2), KIND, st.tuples(SIGNS, SIGNS))
def test_no_split_in_order_gains_more(seed, n_terms, kind, signs):
    rng = np.random.default_rng(seed)
    node = Node.random(seed, 12, 2, n_terms, kind)
    node.penalty = np.eye(n_terms)
    low, high = make_bounds(rng, n_terms)
    gain, slot, _, own = find(node, signs, low, high)
    expected = best_gain(node, signs, low, high, own)
    if slot >= 0:
        assert_allclose(gain, expected, rtol=1e-6, atol=1e-6)
    else:
        assert expected <= 1e-6


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_split_against_the_direction_is_not_made(sign):
    bins = np.repeat([[0], [1]], 10, axis=0)
    node = Node.groups(bins, np.repeat([1.0, -1.0], 10))  # rises with the feature
    node.kind = "diagonal"
    free = np.full(1, np.inf)
    gain, slot, _, _ = find(node, [sign], -free, free)
    assert (slot == 0) == (sign == 1)
    assert (gain > 0.0) == (sign == 1)
