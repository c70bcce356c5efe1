import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles

from boostr._kernels.histogram import (
    accumulate_histograms,
    accumulate_histograms_parallel,
    accumulate_some_bins,
    count_spare,
)

# Numbers of gradients and curvatures.
SHAPES = [(1, 1), (2, 2), (2, 3), (3, 3), (3, 6), (6, 21)]


class Node:
    """Members of a node with random bins, gradients and curvatures."""

    def __init__(self, rng, shape, n=50, n_features=4, n_bins=7):
        self.x_binned = rng.integers(0, n_bins, (n, n_features)).astype(np.uint8)
        self.gradients = rng.normal(size=(n, shape[0]))
        self.curvatures = rng.normal(size=(n, shape[1]))
        self.members = np.sort(rng.choice(n, n // 2, replace=False)).astype(np.int32)
        self.features = np.arange(n_features, dtype=np.int32)
        self.n_bins = n_bins

    @property
    def data(self):
        return self.x_binned, self.gradients, self.curvatures

    def rows(self):
        count = np.ones(len(self.gradients))
        return np.column_stack([self.gradients, self.curvatures, count])

    def accumulate(self, members=None, n_channels=None):
        members = self.members if members is None else members
        n_channels = self.rows().shape[1] if n_channels is None else n_channels
        out = np.full((len(self.features), self.n_bins, n_channels), np.nan)
        accumulate_histograms(*self.data, members, self.features, out)
        return out

    def accumulate_in_parts(self, n_parts, n_channels=None):
        n_channels = self.rows().shape[1] if n_channels is None else n_channels
        out = np.full((len(self.features), self.n_bins, n_channels), np.nan)
        given = (self.members, self.features, out, n_parts)
        accumulate_histograms_parallel(*self.data, *given)
        return out

    def expect(self):
        given = (self.members, self.features, self.n_bins)
        return oracles.histograms(self.x_binned, self.rows(), *given)


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_statistics_per_feature_and_bin_and_counts(rng, shape):
    node = Node(rng, shape)
    node.features = np.array([3, 0, 2], dtype=np.int32)
    assert_allclose(node.accumulate(), node.expect(), atol=1e-13)


@pytest.mark.parametrize("n_gradients", range(1, 8))
def test_gradients_can_be_summed_alone(rng, n_gradients):
    node = Node(rng, (n_gradients, 3))
    expected = node.expect()[:, :, :n_gradients]
    assert_allclose(node.accumulate(n_channels=n_gradients), expected, atol=1e-13)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 40),
    n_features=st.integers(1, 5),
    n_bins=st.integers(1, 9),
    shape=st.sampled_from([*SHAPES, (8, 31)]),
)
def test_any_node_sums_like_loops(seed, n, n_features, n_bins, shape):
    rng = np.random.default_rng(seed)
    node = Node(rng, shape, n + 1, n_features, n_bins)
    node.members = rng.integers(0, n + 1, n).astype(np.int32)
    node.features = rng.permutation(n_features).astype(np.int32)
    assert_allclose(node.accumulate(), node.expect(), atol=1e-12)


@pytest.mark.parametrize("shape", [*SHAPES, (8, 31)])
def test_blocks_of_members_and_features_change_nothing(rng, shape):
    # More members than a block holds, and more sums than are written at a time.
    node = Node(rng, shape, 2_500, 45, 255)
    node.members = np.arange(2_500, dtype=np.int32)
    expected = [
        [np.bincount(node.x_binned[:, feature], own, 255) for own in node.rows().T]
        for feature in node.features
    ]
    assert np.array_equal(node.accumulate(), np.swapaxes(expected, 1, 2))


def test_no_members_give_zeros(rng):
    node = Node(rng, (1, 1))
    sums = node.accumulate(node.members[:0])
    assert np.array_equal(sums, np.zeros((4, 7, 3)))


def test_subtraction_gives_the_sibling(rng):
    node = Node(rng, (1, 1))
    whole = node.accumulate()
    left, right = node.accumulate(node.members[:10]), node.accumulate(node.members[10:])
    assert_allclose(whole - left, right, atol=1e-12)


@pytest.mark.parametrize("n_chunks", [1, 2, 3, 7])
@pytest.mark.parametrize("n_channels", [2, 6])
def test_threads_give_the_same_bits(rng, n_channels, n_chunks):
    node = Node(rng, (2, 3), 3_000, 5, 40)
    found = node.accumulate_in_parts(n_chunks, n_channels)
    assert np.array_equal(found, node.accumulate(n_channels=n_channels))


@pytest.mark.slow  # without the compiler
@pytest.mark.parametrize("n_chunks", [1, 2, 5])
@pytest.mark.parametrize(
    ("n_members", "n_shares"),
    [
        (19_999, 1),
        (20_000, 2),
        (49_999, 2),
        (50_000, 4),
        (99_999, 4),
        (100_000, 8),
        (300_001, 8),
    ],
)
def test_many_members_are_summed_by_shares(rng, n_members, n_shares, n_chunks):
    node = Node(rng, (2, 3), 2 * n_members, 3, 40)
    edges = [n_members * share // n_shares for share in range(n_shares + 1)]
    expected = 0.0
    for begin, end in itertools.pairwise(edges):
        expected = expected + node.accumulate(node.members[begin:end], 2)
    assert np.array_equal(node.accumulate_in_parts(n_chunks, 2), expected)
    assert count_spare(n_members) == max(n_shares - 1, 1)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 40),
    n_bins=st.integers(2, 9),
    bins=st.tuples(st.integers(0, 8), st.integers(0, 8)),
    shape=st.sampled_from([*SHAPES, (8, 31)]),
)
def test_some_bins_are_those_of_the_histogram_to_the_bit(seed, n, n_bins, bins, shape):
    first, stop = sorted(min(place, n_bins - 1) for place in bins)
    node = Node(np.random.default_rng(seed), shape, n + 1, 3, n_bins)
    out = np.full((stop - first + 1, sum(shape) + 1), np.nan)
    accumulate_some_bins(*node.data, node.members, 1, first, n_bins - 1, out)
    assert np.array_equal(out, node.accumulate()[1, [*range(first, stop), n_bins - 1]])
