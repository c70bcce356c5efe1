"""Counts of those who may die on the way."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.oracles_forecasts import mixture_interval

from boostr._frailty.counts import Counts, MixedCounts

PARTS = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 1.0)), min_size=1)


def mix(mean, dispersion, parts):
    shares, weights = (np.array([each]) for each in zip(*parts, strict=True))
    whole = Counts(np.array([mean]), np.array([dispersion]))
    return MixedCounts(whole, shares, weights / weights.sum())


@settings(deadline=None, max_examples=60)
@given(st.floats(0.1, 40.0), st.floats(0.05, 2.0), PARTS, st.sampled_from([0.5, 0.9]))
def test_intervals_are_those_of_the_definition(mean, dispersion, parts, level):
    counts = mix(mean, dispersion, parts)
    lower, upper = counts.interval(level)
    expected = mixture_interval(
        mean, dispersion, counts.shares[0], counts.weights[0], level
    )
    assert (lower[0], upper[0]) == expected


@settings(deadline=None, max_examples=30)
@given(st.floats(0.1, 20.0), st.floats(0.0, 2.0), PARTS)
def test_chances_and_moments_are_those_of_the_parts(mean, dispersion, parts):
    counts = mix(mean, dispersion, parts)
    share, weight = counts.shares[0], counts.weights[0]
    each = Counts(share * mean, np.full(len(share), dispersion))
    assert_allclose(counts.exceed(2)[0], weight @ each.exceed(2))
    second = each.mean + (1.0 + dispersion) * each.mean**2
    first = weight @ each.mean
    assert_allclose(counts.mean[0], first)
    variance = counts.mean + counts.dispersion * counts.mean**2
    assert_allclose(variance[0], weight @ second - first**2, atol=1e-9)


def test_one_part_is_a_plain_count():
    plain = Counts(np.array([0.2, 5.0, 30.0]), np.array([0.5, 0.0, 0.1]))
    mixed = MixedCounts(plain, np.ones((3, 1)), np.ones((3, 1)))
    assert_array_equal(mixed.interval(0.9), plain.interval(0.9))
    assert_allclose(mixed.exceed(3), plain.exceed(3))


def test_the_dead_have_no_events():
    counts = mix(5.0, 0.5, [(0.0, 1.0)])
    assert counts.mean[0] == counts.exceed(1)[0] == 0.0
    assert_array_equal(np.concatenate(counts.interval(0.9)), 0.0)


def test_those_who_are_nearly_dead_have_nearly_no_events():
    counts = mix(5.0, 0.5, [(1e-200, 1.0)])
    assert 0.0 < counts.mean[0] < 1e-100
    assert np.isfinite(counts.dispersion[0])


def test_large_counts_have_the_interval_of_their_moments():
    counts = mix(1e5, 0.1, [(1.0, 0.9), (0.9, 0.1)])
    same = Counts(counts.mean, counts.dispersion)
    assert_array_equal(counts.interval(0.9), same.interval(0.9))
