import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests import oracles_clock

from boostr.basis.recent import end_exponent, find_recent, fit_fall, pool_recent


@pytest.mark.parametrize("last", [0.5, 2.0, 5.0])
def test_a_level_that_has_changed_is_that_of_the_last_cell_however_long_it_is(last):
    # Cells of any length, such as those between the knots of a clock; twice the rate.
    edges = np.append(np.linspace(0.0, 10.0 - last, 6), 10.0)
    exposure = np.diff(edges)
    counts = 200.0 * exposure * np.array([1.0] * 5 + [2.0])
    assert_allclose(pool_recent(edges, counts, counts, exposure), 400.0)


@pytest.mark.parametrize(("n", "since"), [(1_000, 0.8), (100, 0.69), (31, 0.0), (30, -1)])
def test_the_recent_time_is_a_tenth_or_that_of_enough_events(n, since):
    times = np.arange(n) / n
    found = find_recent(times, np.ones(n), -1.0, 1.0)
    assert_allclose(found, since)


EDGES = np.linspace(2.0, 10.0, 9)
MIDDLE = 0.5 * (EDGES[1:] + EDGES[:-1])
MANY = np.full(8, 500.0)


@pytest.mark.parametrize("slope", [-0.2, -0.5, -0.8])
def test_the_exponent_of_a_falling_power_law_is_found(slope):
    assert_allclose(fit_fall(EDGES, 3.0 * MIDDLE**slope, 1e9 * MANY), slope, atol=1e-5)


@pytest.mark.parametrize("slope", [-0.3, -0.8, -2.0])
def test_an_exponential_ends_as_steep_as_a_power_law(slope):
    falling = 3.0 * np.exp(slope * MIDDLE / EDGES[-1])
    assert_allclose(fit_fall(EDGES, falling, 1e9 * MANY), slope, atol=1e-5)


def test_the_fewer_the_events_the_less_steep_the_fall():
    slopes = [fit_fall(EDGES, MIDDLE**-0.7, n * MANY) for n in (1.0, 2.0, 10.0, 1e9)]
    assert np.all(np.diff(slopes) < 0.0)


@pytest.mark.parametrize(
    "rates",
    [np.where(MIDDLE < 7.0, 1.0, 0.5), np.exp(-0.3 * np.minimum(MIDDLE, 6.0))],
    ids=["a step", "a fall that ends"],
)
def test_a_fall_that_is_over_does_not_go_on(rates):
    assert_allclose(fit_fall(EDGES, rates, 10.0 * MANY), 0.0, atol=0.05)


@given(seed=st.integers(0, 2**32 - 1))
def test_falls_are_those_of_weighted_least_squares(seed):
    rng = np.random.default_rng(seed)
    step, speed = rng.choice([1.0, 0.7]), rng.choice([0.0, 0.1, 0.3])
    rates = np.exp(-speed * np.minimum(MIDDLE, rng.uniform(4.0, 10.0)))
    rates *= np.where(MIDDLE > 6.0, step, 1.0) * rng.uniform(0.8, 1.2, 8)
    counts = rng.uniform(1.0, 900.0, 8)
    expected = oracles_clock.falling_rate(MIDDLE / EDGES[-1], rates, counts)
    assert_allclose(fit_fall(EDGES, rates, counts), expected, atol=1e-9)


@pytest.mark.parametrize("slope", [0.0, 0.4, 2.0])
def test_rates_that_rise_or_stay_do_not_fall(slope):
    assert fit_fall(EDGES, MIDDLE**slope, MANY) == 0.0


def test_few_events_do_not_tell_a_fall():
    assert fit_fall(EDGES, MIDDLE**-0.5, np.full(8, 2.0)) == 0.0


def test_cells_without_events_do_not_tell_a_fall():
    counts = np.where(np.arange(8) < 2, 500.0, 0.0)
    assert fit_fall(EDGES, MIDDLE**-0.5, counts) == 0.0


def test_a_fall_never_goes_on_so_steeply_that_the_count_stops():
    assert fit_fall(EDGES, MIDDLE**-5.0, MANY) == -3.0
    assert_allclose([end_exponent(-3.0), end_exponent(-0.5)], [0.1, 0.5])
