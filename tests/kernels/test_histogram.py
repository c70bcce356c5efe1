import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles

from boostr._kernels.histogram import (
    HALVES_FROM,
    accumulate_histograms,
    accumulate_histograms_parallel,
    accumulate_some_bins,
)


def accumulate(x_binned, rows, members, features, n_channels, n_bins):
    out = np.full((len(features), n_bins, n_channels), np.nan)
    accumulate_histograms(x_binned, rows, members, features, out)
    return out


def make_node(rng, n=50, n_features=4, n_bins=7, n_channels=3):
    x_binned = rng.integers(0, n_bins, (n, n_features)).astype(np.uint8)
    rows = rng.normal(size=(n, n_channels))
    members = np.sort(rng.choice(n, n // 2, replace=False)).astype(np.int32)
    return x_binned, rows, members


@pytest.mark.parametrize("n_channels", range(1, 8))
def test_sums_rows_per_feature_and_bin(rng, n_channels):
    x_binned, rows, members = make_node(rng, n_channels=n_channels)
    features = np.array([3, 0, 2], dtype=np.int32)
    assert_allclose(
        accumulate(x_binned, rows, members, features, n_channels, 7),
        oracles.histograms(x_binned, rows, members, features, 7),
        atol=1e-13,
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 40),
    n_features=st.integers(1, 5),
    n_bins=st.integers(1, 9),
    n_channels=st.sampled_from([1, 2, 3, 6, 40]),
)
def test_any_node_sums_like_loops(seed, n, n_features, n_bins, n_channels):
    rng = np.random.default_rng(seed)
    x_binned = rng.integers(0, n_bins, (n + 1, n_features)).astype(np.uint8)
    rows = rng.normal(size=(n + 1, n_channels))
    members = rng.integers(0, n + 1, n).astype(np.int32)
    features = rng.permutation(n_features).astype(np.int32)
    assert_allclose(
        accumulate(x_binned, rows, members, features, n_channels, n_bins),
        oracles.histograms(x_binned, rows, members, features, n_bins),
        atol=1e-12,
    )


@pytest.mark.parametrize("n_channels", [1, 3, 4, 6, 40])
def test_blocks_of_members_and_features_change_nothing(rng, n_channels):
    # More members than a block holds, and more sums than the first cache does.
    x_binned, rows, _ = make_node(rng, 2_500, 13, 255, n_channels)
    members = np.arange(2_500, dtype=np.int32)
    features = np.arange(13, dtype=np.int32)
    sums = accumulate(x_binned, rows, members, features, n_channels, 255)
    expected = [
        [np.bincount(x_binned[:, f], rows[:, c], 255) for c in range(n_channels)]
        for f in features
    ]
    assert np.array_equal(sums, np.swapaxes(expected, 1, 2))


def test_only_the_first_channels_are_summed(rng):
    x_binned, rows, members = make_node(rng, n_channels=6)
    features = np.arange(4, dtype=np.int32)
    sums = accumulate(x_binned, rows, members, features, 2, 7)
    everything = oracles.histograms(x_binned, rows, members, features, 7)
    assert_allclose(sums, everything[:, :, :2], atol=1e-13)


def test_no_members_give_zeros(rng):
    x_binned, rows, members = make_node(rng)
    features = np.arange(4, dtype=np.int32)
    sums = accumulate(x_binned, rows, members[:0], features, 3, 7)
    assert np.array_equal(sums, np.zeros((4, 7, 3)))


def test_subtraction_gives_the_sibling(rng):
    x_binned, rows, members = make_node(rng)
    features = np.arange(4, dtype=np.int32)
    whole, left, right = (
        accumulate(x_binned, rows, part, features, 3, 7)
        for part in (members, members[:10], members[10:])
    )
    assert_allclose(whole - left, right, atol=1e-12)


@pytest.mark.parametrize("n_chunks", [1, 2, 3, 7])
@pytest.mark.parametrize("n_channels", [2, 3, 6])
def test_threads_give_the_same_bits(rng, n_channels, n_chunks):
    x_binned, rows, members = make_node(rng, 3_000, 5, 40, n_channels)
    features = np.arange(5, dtype=np.int32)
    serial = accumulate(x_binned, rows, members, features, n_channels, 40)
    parallel = np.full_like(serial, np.nan)
    accumulate_histograms_parallel(x_binned, rows, members, features, parallel, n_chunks)
    assert np.array_equal(serial, parallel)


@pytest.mark.slow  # without the compiler
@pytest.mark.parametrize("n_chunks", [1, 2, 5])
@pytest.mark.parametrize("n_members", [HALVES_FROM - 1, HALVES_FROM, HALVES_FROM + 3])
def test_many_members_are_summed_by_halves(rng, n_members, n_chunks):
    x_binned, rows, members = make_node(rng, 2 * n_members, 5, 40, 2)
    features = np.arange(5, dtype=np.int32)
    middle = n_members // 2 if n_members >= HALVES_FROM else n_members
    expected = accumulate(x_binned, rows, members[:middle], features, 2, 40)
    if middle < n_members:
        expected += accumulate(x_binned, rows, members[middle:], features, 2, 40)
    found = np.full_like(expected, np.nan)
    accumulate_histograms_parallel(x_binned, rows, members, features, found, n_chunks)
    assert np.array_equal(found, expected)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 40),
    n_bins=st.integers(2, 9),
    bins=st.tuples(st.integers(0, 8), st.integers(0, 8)),
    n_channels=st.sampled_from([1, 6, 40]),
)
def test_some_bins_are_those_of_the_histogram_to_the_bit(seed, n, n_bins, bins, n_channels):
    rng = np.random.default_rng(seed)
    first, stop = sorted(min(place, n_bins - 1) for place in bins)
    x_binned, rows, members = make_node(rng, n + 1, 3, n_bins, n_channels)
    out = np.full((stop - first + 1, n_channels), np.nan)
    accumulate_some_bins(x_binned, rows, members, 1, first, n_bins - 1, out)
    feature = np.ones(1, dtype=np.int32)
    expected = accumulate(x_binned, rows, members, feature, n_channels, n_bins)[0]
    assert np.array_equal(out, expected[[*range(first, stop), n_bins - 1]])
