import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from tests import oracles

from boostr._kernels.binning import assign_bins, assign_bins_parallel

MISSING = 200


def assign(values, thresholds, is_categorical=None, kernel=assign_bins, chunks=()):
    n_features = len(thresholds)
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in thresholds])])
    chosen = np.zeros(n_features, bool) if is_categorical is None else is_categorical
    out = np.full(values.shape, 99, dtype=np.uint8)
    flat = np.concatenate(thresholds).astype(np.float64)
    kernel(values, flat, offsets, np.asarray(chosen), MISSING, out, *chunks)
    return out


numbers = st.floats(-5, 5).map(lambda x: round(x, 1)) | st.sampled_from(
    [np.nan, np.inf, -np.inf]
)


@given(
    column=arrays(np.float64, st.integers(0, 30), elements=numbers),
    thresholds=st.lists(st.floats(-5, 5).map(lambda x: round(x, 1)), unique=True),
)
def test_the_bin_is_the_number_of_thresholds_below(column, thresholds):
    thresholds = np.sort(thresholds)
    bins = assign(column[:, None], [thresholds])[:, 0]
    assert np.array_equal(bins, oracles.bin_column(column, thresholds, MISSING))


def test_every_feature_uses_its_own_thresholds():
    values = np.array([[1.5, 1.5, 1.5]])
    thresholds = [np.array([1.0, 2.0]), np.empty(0), np.array([-1.0, 0.0, 1.0])]
    assert assign(values, thresholds).tolist() == [[1, 0, 3]]


def test_a_value_on_a_threshold_goes_below_it():
    values = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert assign(values, [np.array([1.0])]).ravel().tolist() == [0, 1]


def test_missing_values_have_a_bin_of_their_own():
    values = np.full((3, 1), np.nan)
    assert assign(values, [np.array([1.0])]).ravel().tolist() == [MISSING] * 3


def test_categories_are_their_own_bins_and_unknown_ones_are_missing():
    values = np.array([[0.0], [2.0], [3.0], [-1.0], [np.nan]])
    bins = assign(values, [np.zeros(3)], [True])
    assert bins.ravel().tolist() == [0, 2, MISSING, MISSING, MISSING]


@pytest.mark.parametrize("n_chunks", [1, 2, 5])
def test_threads_give_the_same_bins(rng, n_chunks):
    values = rng.normal(size=(333, 2))
    values[rng.random(values.shape) < 0.1] = np.nan
    thresholds = [np.sort(rng.normal(size=9)), np.sort(rng.normal(size=4))]
    parallel = assign(values, thresholds, kernel=assign_bins_parallel, chunks=(n_chunks,))
    assert np.array_equal(parallel, assign(values, thresholds))
