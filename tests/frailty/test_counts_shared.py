"""Totals whose level may be wrong for all individuals together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import integrate, stats

from boostr._frailty.counts import Counts, SharedCounts


def make(mean, dispersion, spread):
    counts = Counts(np.atleast_1d(mean), np.atleast_1d(dispersion))
    return SharedCounts(counts, np.atleast_1d(spread))


def chance_above(k, mean, dispersion, spread):
    """Return the chance of more than ``k`` events, integrated over all levels."""
    shape = 1.0 / dispersion

    def at(move):
        level = mean * np.exp(spread * move)
        return stats.norm.pdf(move) * stats.nbinom.sf(k, shape, shape / (shape + level))

    return integrate.quad(at, -8.0, 8.0, points=[-2.0, 0.0, 2.0])[0]


@given(
    mean=st.floats(0.01, 300.0),
    dispersion=st.floats(0.01, 3.0),
    spread=st.floats(0.0, 1.0),
    level=st.sampled_from([0.5, 0.8, 0.9, 0.98]),
)
def test_outside_is_as_much_as_the_level_leaves_on_either_side(
    mean, dispersion, spread, level
):
    (low,), (high,) = make(mean, dispersion, spread).interval(level)
    tail = 0.5 * (1.0 - level)
    rounding = 0.002
    known = mean, dispersion, spread
    assert low == 0.0 or chance_above(low - 1.0, *known) > 1.0 - tail - rounding
    assert chance_above(low, *known) <= 1.0 - tail + rounding
    assert chance_above(high, *known) <= tail + rounding
    assert high == 0.0 or chance_above(high - 1.0, *known) > tail - rounding


def test_without_shared_errors_bounds_are_quantiles_of_the_counts():
    mean, dispersion = np.array([0.0, 0.4, 30.0, 900.0]), np.array([1.0, 0.5, 0.1, 0.02])
    found = make(mean, dispersion, np.zeros(4)).interval(0.9)
    shape = 1.0 / dispersion
    chance = shape / (shape + mean)
    for bound, share in zip(found, (0.05, 0.95), strict=True):
        assert_array_equal(bound, stats.nbinom.ppf(share, shape, chance))


def test_rises_and_falls_by_the_same_factor_are_as_likely():
    (low,), (high,) = make(1e6, 0.0, 0.8).interval(0.8)
    assert np.log(1e6 / low) == pytest.approx(np.log(high / 1e6), rel=0.01)
    assert np.log(high / 1e6) == pytest.approx(0.8 * stats.norm.ppf(0.9), rel=0.05)


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
def test_drawn_totals_are_covered(rng, spread):
    levels = 200.0 * np.exp(spread * rng.normal(size=100_000))
    totals = rng.poisson(levels * rng.gamma(50.0, 1.0 / 50.0, levels.size))
    (low,), (high,) = make(200.0, 0.02, spread).interval(0.9)
    assert np.mean((low <= totals) & (totals <= high)) == pytest.approx(0.9, abs=0.012)
