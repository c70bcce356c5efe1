import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import gammaln
from tests import oracles_forecasts

from boostr._frailty.counts import Counts, conformal_level


@pytest.mark.parametrize("k", [1, 2, 5])
def test_probabilities_of_k_events_are_those_of_scipy(k):
    counts = Counts(np.array([0.3, 4.0, 4.0]), np.array([0.0, 0.0, 0.8]))
    shape = 1.0 / 0.8
    expected = [
        stats.poisson.sf(k - 1, 0.3),
        stats.poisson.sf(k - 1, 4.0),
        stats.nbinom.sf(k - 1, shape, shape / (shape + 4.0)),
    ]
    assert_allclose(counts.exceed(k), expected)


@pytest.mark.parametrize("dispersion", [0.0, 0.5, 2.0])
def test_intervals_cover_the_level_on_average_over_many_means(dispersion, rng):
    means = rng.uniform(0.2, 20.0, 1000)
    counts = Counts(means, np.full(1000, dispersion))
    lower, upper = counts.interval(0.9)
    frailty = rng.gamma(1.0 / dispersion, dispersion, (20, 1000)) if dispersion else 1.0
    drawn = rng.poisson(means * frailty, (20, 1000))
    assert abs(np.mean((lower <= drawn) & (drawn <= upper)) - 0.9) < 0.015


def test_huge_counts_have_the_interval_of_a_continuous_variable():
    counts = Counts(np.array([1e6]), np.array([0.25]))
    bounds = np.concatenate(counts.interval(0.9))
    assert_allclose(
        bounds, stats.nbinom.ppf([0.05, 0.95], 4.0, 4.0 / (4.0 + 1e6)), rtol=1e-3
    )


@settings(max_examples=100, deadline=None)
@given(st.floats(1e4, 1e8), st.floats(1e-3, 1e5), st.floats(0.0, 8.0))
def test_the_interval_of_a_score_holds_a_huge_count_that_has_it(mean, dispersion, times):
    counts = Counts(np.array([mean]), np.array([dispersion]))
    count = np.rint(np.array([mean * times]))
    lower, upper = counts.interval(float(counts.score(count)[0]))
    assert lower[0] <= count[0] <= upper[0]


def test_a_huge_count_that_is_most_probably_zero_has_a_low_score_there():
    counts = Counts(np.array([1e4]), np.array([1e5]))
    assert counts.score(np.zeros(1))[0] < 0.01


def test_the_level_of_tied_scores_covers_all_of_them():
    counts = Counts(np.full(20, 3.7), np.full(20, 0.3))
    seen = np.repeat([4.0, 9.0], [2, 18])
    level = conformal_level(counts.score(seen), 0.9)
    lower, upper = counts.interval(level)
    assert ((lower <= seen) & (seen <= upper)).all()


def test_scores_of_drawn_counts_are_uniform(rng):
    means = rng.uniform(5.0, 50.0, 4000)
    scores = Counts(means, np.full(4000, 0.3)).score(
        rng.poisson(means * rng.gamma(1 / 0.3, 0.3, 4000)).astype(float)
    )
    assert_allclose(np.quantile(scores, [0.25, 0.5, 0.9]), [0.25, 0.5, 0.9], atol=0.03)


def test_the_conformal_level_is_the_order_statistic_that_covers():
    scores = np.arange(1.0, 20.0) / 20.0
    assert_allclose(conformal_level(scores, 0.9), 0.9, atol=1e-8)


@pytest.mark.parametrize("dispersion", [0.0, 1e-7, 1e-3, 0.5, 20.0])
def test_log_likelihoods_are_those_of_scipy_but_for_factorials(dispersion):
    mean, seen = np.array([0.01, 0.7, 3.0, 40.0, 3.0]), np.array([0.0, 1.0, 9.0, 30.0, 0.0])
    found = Counts(mean, np.full(5, dispersion)).log_likelihood(seen)
    expected = [
        oracles_forecasts.log_probability(n, m, dispersion)
        for n, m in zip(seen, mean, strict=True)
    ]
    assert_allclose(found, expected, rtol=1e-5)


def test_likelihoods_of_all_counts_add_up_to_one():
    counts = np.arange(400.0)
    one = Counts(np.full(400, 6.0), np.full(400, 0.4)).log_likelihood(counts)
    assert_allclose(np.exp(one - gammaln(counts + 1.0)).sum(), 1.0)


def test_too_few_scores_give_no_conformal_level():
    assert conformal_level(np.array([0.1, 0.2]), 0.9) is None
