import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from tests import oracles

from boostr._engine.binning import BinMapper

columns = arrays(
    np.float64,
    st.integers(1, 60),
    elements=st.floats(-3, 3).map(lambda x: round(x, 1)) | st.just(np.nan),
)


def map_column(column, max_bins=255):
    mapper = BinMapper.from_quantiles(column[:, None], max_bins)
    return mapper, mapper.transform(column[:, None]).bins[:, 0]


@given(columns, st.integers(2, 20))
def test_bins_count_the_thresholds_below(column, max_bins):
    mapper, bins = map_column(column, max_bins)
    expected = oracles.bin_column(column, mapper.thresholds, mapper.missing_bin)
    assert np.array_equal(bins, expected)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_without_features_everybody_is_in_one_bin(n_threads):
    mapper = BinMapper.from_quantiles(np.empty((5, 0)), 255)
    binned = mapper.transform(np.empty((3, 0)), n_threads)
    assert (mapper.thresholds.size, mapper.n_values.size) == (0, 0)
    assert np.array_equal(binned.bins, np.zeros((3, 1)))
    assert binned.n_values.tolist() == [1]
    assert binned.is_categorical.tolist() == [False]
    assert binned.n_bins == 2


@given(columns, st.integers(2, 20))
def test_there_are_at_most_so_many_bins(column, max_bins):
    mapper, _ = map_column(column, max_bins)
    assert mapper.n_values[0] <= max_bins


@given(columns)
def test_few_values_are_all_told_apart(column):
    _, bins = map_column(column)
    values = column[~np.isnan(column)]
    ranks = np.unique(values, return_inverse=True)[1]
    assert np.array_equal(bins[~np.isnan(column)], ranks)


def test_bins_of_many_values_are_about_equally_full(rng):
    _, bins = map_column(rng.normal(size=5_000), 10)
    assert np.ptp(np.bincount(bins)) <= 2


def test_a_heavy_value_does_not_cost_the_others_their_bins(rng):
    column = np.concatenate([np.zeros(900), rng.uniform(1, 2, 100)])
    mapper, _ = map_column(column, 20)
    assert mapper.n_values[0] >= 2


def test_neighbouring_floats_are_told_apart():
    column = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert map_column(column)[1].tolist() == [0, 1]


def test_large_values_do_not_overflow():
    column = np.array([1.7e308, 1.6e308])
    assert map_column(column)[1].tolist() == [1, 0]


def test_a_feature_that_is_all_missing_has_one_unused_bin():
    mapper, bins = map_column(np.full(4, np.nan))
    assert (mapper.n_values.tolist(), bins.tolist()) == ([1], [1, 1, 1, 1])


def test_values_between_training_values_part_in_the_middle():
    mapper, _ = map_column(np.array([0.0, 1.0]))
    bins = mapper.transform(np.array([[0.5], [0.51]])).bins
    assert bins.ravel().tolist() == [0, 1]


def test_categories_keep_their_codes():
    features = np.array([[0.0, 5.0], [2.0, 6.0], [1.0, 7.0]])
    chosen, counts = np.array([True, False]), np.array([3, 0], dtype=np.int32)
    mapper = BinMapper.from_quantiles(features, 255, chosen, counts)
    assert mapper.transform(features).bins[:, 0].tolist() == [0, 2, 1]


def test_the_threshold_of_a_bin_is_where_it_ends():
    features = np.array([[0.0, 10.0], [1.0, 20.0], [2.0, 30.0]])
    mapper = BinMapper.from_quantiles(features, 255)
    own = mapper.thresholds[mapper.offsets[1] : mapper.offsets[2]]
    assert own[:2].tolist() == [15.0, 25.0]


def test_threads_give_the_same_bins(rng, monkeypatch):
    features = rng.normal(size=(300, 3))
    mapper = BinMapper.from_quantiles(features, 30)
    serial = mapper.transform(features).bins
    monkeypatch.setattr("boostr._engine.binning._PARALLEL_FROM", 10)
    assert np.array_equal(mapper.transform(features, n_threads=2).bins, serial)


def test_an_even_sample_stands_for_many_rows(rng, monkeypatch):
    features = rng.normal(size=(400, 2))
    monkeypatch.setattr("boostr._engine.binning._SAMPLE_SIZE", 100)
    sampled = BinMapper.from_quantiles(features, 30)
    assert np.array_equal(
        sampled.thresholds, BinMapper.from_quantiles(features[::4], 30).thresholds
    )


@given(n=st.integers(1, 2000))
def test_rows_that_a_cluster_keeps_have_the_thresholds_of_all(n):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boostr._engine.binning.N_KEPT", 100)
        patch.setattr("boostr._engine.binning._SAMPLE_SIZE", 30)
        rows = np.arange(float(n))[:, None]
        kept = rows[:: max(1, n // 100)]
        found = [BinMapper.from_quantiles(part, 10).thresholds for part in (rows, kept)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("n_categories", [1, 254])
def test_codes_beyond_the_known_ones_are_missing(n_categories):
    features = np.array([[float(n_categories - 1)], [float(n_categories)]])
    counts = np.array([n_categories], dtype=np.int32)
    mapper = BinMapper.from_quantiles(features, 255, np.array([True]), counts)
    assert mapper.transform(features).bins.ravel().tolist() == [
        n_categories - 1,
        mapper.missing_bin,
    ]
