import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests import oracles_forecasts

from boostr._kernels.counts import grow_intervals, score_counts

means = st.floats(0.01, 20.0)
dispersions = st.sampled_from([0.0, 0.1, 0.7, 1.0, 3.0])


def grow(mean, dispersion, level):
    lower, upper = np.full(1, np.nan), np.full(1, np.nan)
    grow_intervals(np.array([mean]), np.array([dispersion]), level, lower, upper)
    return lower[0], upper[0]


def score(mean, dispersion, count):
    out = np.full(1, np.nan)
    score_counts(np.array([mean]), np.array([dispersion]), np.array([float(count)]), out)
    return out[0]


@settings(max_examples=50, deadline=None)
@given(means, dispersions, st.integers(0, 40))
def test_scores_are_those_of_the_obvious_version(mean, dispersion, count):
    expected = oracles_forecasts.count_scores(mean, dispersion)[count]
    assert_allclose(score(mean, dispersion, count), expected, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(means, dispersions, st.floats(0.5, 0.98))
def test_intervals_hold_the_counts_with_a_score_up_to_the_level(mean, dispersion, level):
    scores = oracles_forecasts.count_scores(mean, dispersion)
    lower, upper = grow(mean, dispersion, level)
    mode = int(np.argmin(scores))
    inside = np.flatnonzero((scores <= level + 1e-12) | (np.arange(len(scores)) == mode))
    assert (lower, upper) == (inside.min(), inside.max())


@settings(max_examples=300, deadline=None)
@given(st.floats(0.01, 60.0), st.floats(0.0, 5.0), st.integers(0, 60))
def test_the_interval_of_a_score_holds_the_count_that_has_it(mean, dispersion, count):
    lower, upper = grow(mean, dispersion, score(mean, dispersion, count))
    assert lower <= count <= upper


@pytest.mark.parametrize("mean", [0.5, 3.0, 11.0])
def test_no_other_end_brings_the_probability_closer_to_the_level(mean):
    probabilities = oracles_forecasts.count_probabilities(mean, 0.4, 200)
    lower, upper = map(int, grow(mean, 0.4, 0.9))
    distance = abs(probabilities[lower : upper + 1].sum() - 0.9)
    wider = probabilities[lower : upper + 2].sum()
    assert distance <= abs(wider - 0.9) + 1e-12


def test_nothing_expected_is_nothing_for_sure():
    assert grow(0.0, 0.5, 0.9) == (0, 0)


def test_a_level_of_one_has_no_bounds():
    assert grow(41.0, 0.0, 1.0) == (0.0, np.inf)


def test_a_count_that_cannot_be_has_the_highest_score():
    assert score(0.0, 0.5, 3) == 1.0


def test_a_vanishing_dispersion_is_poisson():
    assert_allclose(score(7.0, 1e-10, 12), score(7.0, 0.0, 12), rtol=1e-7)
