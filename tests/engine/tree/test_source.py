import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles

from boostr._engine.binning import BinnedFeatures
from boostr._engine.tree import LocalSource

N_BINS = 6


def make_source(rng, n=40, n_features=3, n_channels=3, n_threads=1):
    bins = rng.integers(0, N_BINS, (n, n_features)).astype(np.uint8)
    n_values = np.full(n_features, N_BINS - 1, dtype=np.int32)
    binned = BinnedFeatures(
        bins=bins,
        n_values=n_values,
        is_categorical=np.zeros(n_features, bool),
        missing_bin=N_BINS - 1,
    )
    gradients, curvatures = rng.normal(size=(n, 1)), rng.normal(size=(n, n_channels - 2))
    rows = np.column_stack([gradients, curvatures, np.ones(n)])
    return LocalSource(binned, gradients, curvatures, n_threads), bins, rows


def direct(bins, rows, members, features):
    return oracles.histograms(bins, rows, members, features, N_BINS)


@given(seed=st.integers(0, 2**32 - 1), n_members=st.integers(1, 40))
def test_children_have_the_sums_of_their_members(seed, n_members):
    rng = np.random.default_rng(seed)
    source, bins, rows = make_source(rng)
    members = rng.permutation(40)[:n_members].astype(np.int32)
    features = np.array([2, 0], dtype=np.int32)
    goes_left = rng.random(N_BINS) < 0.5
    source.start(members)
    source.root(features)
    found = source.split(0, 2, goes_left, (1, 2))
    sides = oracles.partition(bins, 2, goes_left, members)
    expected = [direct(bins, rows, side, features) for side in sides]
    assert_allclose(found, expected, atol=1e-12)


def test_grandchildren_have_the_sums_of_their_members(rng):
    source, bins, rows = make_source(rng)
    members = np.arange(40, dtype=np.int32)
    features = np.arange(3, dtype=np.int32)
    first, second = np.arange(N_BINS) < 3, np.arange(N_BINS) < 2
    source.start(members)
    source.root(features)
    source.split(0, 0, first, (1, 2))
    found = source.split(2, 1, second, (3, 4)) + source.split(1, 1, second, (5, 6))
    left, right = oracles.partition(bins, 0, first, members)
    groups = [
        *oracles.partition(bins, 1, second, right),
        *oracles.partition(bins, 1, second, left),
    ]
    expected = [direct(bins, rows, group, features) for group in groups]
    assert_allclose(found, expected, atol=1e-12)


def test_the_next_tree_sees_the_new_gradients(rng):
    source, bins, rows = make_source(rng)
    members, features = np.arange(40, dtype=np.int32), np.arange(3, dtype=np.int32)
    source.start(members)
    source.root(features)
    source.split(0, 0, np.arange(N_BINS) < 3, (1, 2))
    source._gradients += 1.5
    rows[:, 0] += 1.5
    source.start(members)
    expected = direct(bins, rows, members, features)
    assert_allclose(source.root(features), expected, atol=1e-12)


@pytest.mark.parametrize("n_members", [40, 15])
@pytest.mark.parametrize("features", [[0, 1, 2], [2, 1, 0], [1]])
def test_the_next_tree_may_use_other_rows_and_features(rng, n_members, features):
    source, bins, rows = make_source(rng)
    source.start(np.arange(40, dtype=np.int32))
    source.root(np.arange(3, dtype=np.int32))
    members = np.arange(n_members, dtype=np.int32)
    source.start(members)
    used = np.array(features, dtype=np.int32)
    assert_allclose(source.root(used), direct(bins, rows, members, used), atol=1e-12)


def test_the_members_given_stay_in_their_order(rng):
    source, _, _ = make_source(rng)
    members = np.arange(40, dtype=np.int32)
    source.start(members)
    source.root(np.arange(3, dtype=np.int32))
    source.split(0, 0, np.arange(N_BINS) >= 3, (1, 2))
    assert members.tolist() == list(range(40))


def test_threads_give_the_same_bits(rng, monkeypatch):
    monkeypatch.setattr("boostr._engine.tree._source.PARALLEL_FROM", 1)
    results = []
    for n_threads in (1, 2):
        source, _, _ = make_source(np.random.default_rng(5), n_threads=n_threads)
        source.start(np.arange(40, dtype=np.int32))
        root = source.root(np.arange(3, dtype=np.int32)).copy()
        results.append([root, *source.split(0, 1, np.arange(N_BINS) < 2, (1, 2))])
    assert np.array_equal(*results)
