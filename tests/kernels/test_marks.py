import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from boostr._kernels.marks import mark_features, mark_times

WORD = 2**64


def mix(word):
    """SplitMix64, in whole numbers of any size."""
    word = (word + 0x9E3779B97F4A7C15) % WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def read_bits(number):
    return int(np.float64(number).view(np.uint64))


def marks_of(rows, mark):
    marks = np.arange(rows, dtype=np.uint64) * np.uint64(2**63 + 12345)
    before = marks.tolist()
    mark(marks)
    return marks, before


@given(st.integers(0, 2**32 - 1), st.integers(0, 600), st.integers(0, 3))
def test_features_are_mixed_one_by_one(seed, n, n_features):
    features = np.random.default_rng(seed).normal(size=(n, n_features))
    found, expected = marks_of(n, lambda marks: mark_features(features, marks))
    for column in features.T:
        for row, number in enumerate(column):
            expected[row] = mix((expected[row] + read_bits(np.float32(number))) % WORD)
    assert_array_equal(found, np.array(expected, dtype=np.uint64))


@given(st.lists(st.lists(st.floats(-1e9, 1e9), max_size=5), max_size=9))
def test_times_are_mixed_and_summed(lists):
    times = np.array([time + 0.0 for own in lists for time in own])
    offsets = np.cumsum([0, *map(len, lists)])
    found, before = marks_of(len(lists), lambda marks: mark_times(times, offsets, marks))
    expected = [
        mix((mark + sum(mix(read_bits(time + 0.0)) for time in own)) % WORD)
        for mark, own in zip(before, lists, strict=True)
    ]
    assert_array_equal(found, np.array(expected, dtype=np.uint64))


@pytest.mark.parametrize("pair", [(0.0, -0.0), (np.nan, -np.nan), (1.0, 1.0 + 1e-15)])
def test_numbers_that_count_as_the_same_have_one_mark(pair):
    marks = np.zeros(2, dtype=np.uint64)
    mark_features(np.array(pair)[:, None], marks)
    assert marks[0] == marks[1] != 0
