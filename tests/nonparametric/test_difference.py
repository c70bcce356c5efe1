import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.data import RecurrentEvents
from boostr.datasets import load_bladder, load_cgd
from boostr.exceptions import InvalidParameterError
from boostr.nonparametric import MeanCumulativeFunction, mcf_difference


def draw_counts(rng, rates, spread=0.5):
    """Poisson processes with gamma frailties and staggered ends."""
    n = len(rates)
    ends = rng.uniform(0.5, 1.0, n)
    counts = rng.poisson(rates * ends * rng.gamma(1.0 / spread, spread, n))
    times = [end * (1.0 - rng.random(k)) for end, k in zip(ends, counts, strict=True)]
    return RecurrentEvents.from_lists(times, end=ends)


@pytest.fixture(scope="module")
def infections():
    data = load_cgd()
    return data.y, data.X["treatment"]


def test_difference_and_error_agree_with_the_r_package_survival(infections):
    # survfit(Surv(tstart, tstop, status) ~ 1, id = id, robust = TRUE) for each treatment,
    # fields cumhaz and std.chaz, at days 100, 200, 300 and 365.
    placebo = np.array([0.246642246642, 0.407932569223, 0.892971559174, 1.26265779399])
    treated = np.array([0.031746031746, 0.160283045, 0.279480206623, 0.415445118904])
    errors = np.hypot(
        [0.0654429729706, 0.093463263614, 0.168189178984, 0.251838478684],
        [0.0220886457992, 0.0563852022593, 0.0730211274391, 0.139125210704],
    )
    result = mcf_difference(*infections, reference="placebo")
    at = np.searchsorted(result.times, [100, 200, 300, 365], side="right") - 1
    assert_allclose(result.difference[at], treated - placebo, rtol=1e-9)
    assert_allclose(np.sqrt(result.variance[at]), errors, rtol=1e-9)
    assert_allclose(result.upper[at], treated - placebo + 1.959963985 * errors, rtol=1e-8)


def test_the_reference_is_subtracted(infections):
    there = mcf_difference(*infections, reference="placebo")
    back = mcf_difference(*infections, reference="rIFN-g")
    assert (there.group, there.reference) == ("rIFN-g", "placebo")
    assert (back.group, back.reference) == ("placebo", "rIFN-g")
    assert_allclose(there.difference, -back.difference)
    assert_allclose(there.lower, -back.upper)
    assert_array_equal(
        mcf_difference(*infections).difference, there.difference
    )  # the first


def test_it_is_the_difference_of_two_estimates():
    y = RecurrentEvents.from_lists(
        [[1.0, 3.0], [4.0], [2.0], [6.0]], end=[5.0, 5.0, 5.0, 9.0]
    )
    result = mcf_difference(y, [0, 0, 1, 1], confidence=0.8)
    old, new = (MeanCumulativeFunction().fit(y[part]) for part in ([0, 1], [2, 3]))
    assert_array_equal(result.times, [1.0, 2.0, 3.0, 4.0])
    assert_allclose(
        result.difference, new.predict(result.times) - old.predict(result.times)
    )
    assert_allclose(result.variance, [1 / 8, 1 / 4, 1 / 2 + 1 / 8, 1 / 8 + 1 / 8])
    assert_allclose(
        result.upper - result.lower, 2 * 1.2815515655 * np.sqrt(result.variance)
    )


def test_it_ends_where_one_of_the_groups_ends():
    y = RecurrentEvents.from_lists([[1.0], [], [2.0, 8.0], []], end=[5.0, 4.0, 9.0, 9.0])
    result = mcf_difference(y, ["a", "a", "b", "b"])
    assert_array_equal(result.times, [1.0, 2.0])
    assert result.span == (0.0, 5.0)


@pytest.mark.slow
def test_band_covers_the_true_difference_as_often_as_it_says():
    rng = np.random.default_rng(9)
    group = np.repeat([0, 1], 40)
    rates = np.where(group == 1, 4.0, 2.0)
    hits = 0
    for _ in range(300):
        result = mcf_difference(draw_counts(rng, rates), group, confidence=0.9)
        place = np.searchsorted(result.times, 0.5, side="right") - 1
        hits += result.lower[place] <= 1.0 <= result.upper[place]
    assert 0.85 < hits / 300 < 0.95


def test_it_draws_itself(infections):
    ax = mcf_difference(*infections).plot(show_band=False)
    assert not ax.collections


def test_more_than_two_groups_have_no_difference():
    data = load_bladder()
    with pytest.raises(InvalidParameterError, match="There must be two groups"):
        mcf_difference(data.y, data.X["treatment"])


def test_an_unknown_reference_is_refused(infections):
    with pytest.raises(InvalidParameterError, match="one of the groups, 'placebo' or"):
        mcf_difference(*infections, reference="vitamin")


def test_an_impossible_confidence_is_refused(infections):
    with pytest.raises(InvalidParameterError, match="`confidence` must lie in"):
        mcf_difference(*infections, confidence=95)
