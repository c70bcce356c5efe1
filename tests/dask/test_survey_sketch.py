import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostr._engine.binning import BinMapper
from boostr.dask._cluster import FAN_IN
from boostr.dask._survey import (
    Summary,
    find_summarized_bins,
    merge_features,
    summarize_features,
)

VALUES = st.lists(
    st.one_of(st.floats(-1e6, 1e6), st.integers(-5, 5).map(float), st.just(np.nan)),
    max_size=400,
).map(np.array)


def build(values, n_parts, n_kept):
    """Summarize parts and merge them as the cluster does; return it and the levels."""
    level = [Summary.of(part, n_kept) for part in np.array_split(values, n_parts)]
    n_levels = 1
    while len(level) > 1:
        groups = [level[first : first + FAN_IN] for first in range(0, len(level), FAN_IN)]
        level = [Summary.merge(group, n_kept) for group in groups]
        n_levels += 1
    return level[0], n_levels


def rank(values, limit):
    return int(np.sum(values <= limit))


@given(VALUES, st.integers(1, 40), st.integers(3, 50))
def test_ranks_are_wrong_by_no_more_than_stated(values, n_parts, n_kept):
    summary, n_levels = build(values, n_parts, n_kept)
    known = values[~np.isnan(values)]
    assert summary.n == len(known)
    assert len(summary.values) <= n_kept
    assert summary.error <= n_levels * len(known) / n_kept
    for limit in known:
        read = int(summary.counts[summary.values <= limit].sum())
        assert read <= rank(known, limit) <= read + summary.error


@given(VALUES, st.integers(1, 40), st.integers(2, 20))
def test_few_different_values_give_the_thresholds_of_one_machine(values, n_parts, max_bins):
    summary, _ = build(values, n_parts, 1000)
    assert summary.error == 0
    local = BinMapper.from_quantiles(values[:, None], max_bins)
    np.testing.assert_array_equal(summary.find_thresholds(max_bins), local.thresholds)


@given(VALUES, st.integers(1, 40), st.randoms(use_true_random=False))
def test_an_exact_summary_does_not_depend_on_parts_and_order(values, n_parts, random):
    summary, _ = build(values, n_parts, 1000)
    shuffled = np.array(random.sample(values.tolist(), len(values)))
    other, _ = build(shuffled, 1, 1000)
    np.testing.assert_array_equal(summary.values, other.values)
    np.testing.assert_array_equal(summary.counts, other.counts)


@pytest.mark.parametrize("kind", ["normal", "skewed", "sorted", "ties"])
def test_bins_hold_the_share_aimed_at_within_half_of_the_error(rng, kind):
    n, n_kept, max_bins = 60_000, 500, 20
    values = {
        "normal": rng.normal(size=n),
        "skewed": np.exp(3 * rng.normal(size=n)),
        "sorted": np.arange(n, dtype=float),
        "ties": rng.integers(0, 5000, n).astype(float),
    }[kind]
    summary, n_levels = build(values, 100, n_kept)
    assert 0 < summary.error <= n_levels * n / n_kept
    thresholds = summary.find_thresholds(max_bins)
    assert len(thresholds) == max_bins - 1
    shares = np.array([rank(values, limit) for limit in thresholds])
    aimed = np.linspace(0, n - 1, max_bins + 1)[1:-1]
    # One more run of values: that is how far apart the values are that are left.
    assert np.abs(shares - aimed).max() <= summary.error / 2 + summary.counts.max()


@pytest.mark.parametrize("kind", ["normal", "skewed", "sorted"])
@pytest.mark.parametrize("n_parts", [1, 16, 100, 300])
def test_shares_below_thresholds_are_off_by_no_more_than_documented(rng, kind, n_parts):
    n, n_kept, max_bins = 60_000, 300, 40
    values = {
        "normal": rng.normal(size=n),
        "skewed": np.exp(3 * rng.normal(size=n)),
        "sorted": np.arange(n, dtype=float),
    }[kind]
    summary, n_levels = build(values, n_parts, n_kept)
    thresholds = summary.find_thresholds(max_bins)
    shares = np.searchsorted(np.sort(values), thresholds, side="right") / n
    aimed = np.linspace(0, 1, max_bins + 1)[1:-1]
    off = np.abs(shares - aimed).max()
    assert 0 < off <= (n_levels + 1) / n_kept


def test_features_are_summarized_each_for_itself(rng):
    features = rng.normal(size=(300, 3)).round(1)
    features[::7, 0] = np.nan
    features[:, 1] = rng.integers(0, 4, 300)
    is_categorical = np.array([False, True, False])
    parts = [
        summarize_features(part, is_categorical) for part in np.array_split(features, 5)
    ]
    n_categories = np.array([0, 4, 0], dtype=np.int32)
    mapper = find_summarized_bins(merge_features(parts), 16, is_categorical, n_categories)
    local = BinMapper.from_quantiles(features, 16, is_categorical, n_categories)
    np.testing.assert_array_equal(mapper.thresholds, local.thresholds)
    np.testing.assert_array_equal(mapper.offsets, local.offsets)
    np.testing.assert_array_equal(mapper.n_values, local.n_values)


def test_a_feature_that_nobody_has_gets_no_threshold():
    nobody = Summary.of(np.full(3, np.nan))
    assert Summary.merge([nobody, nobody]).find_thresholds(10).size == 0
