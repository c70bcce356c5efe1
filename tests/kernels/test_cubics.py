import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from scipy.interpolate import PPoly

from boostr._kernels.cubics import read_cubics


def read(x, knots, coefficients, first_value=1.0, first_slope=2.0):
    out = np.full(len(x), -1.0)
    knots = np.asarray(knots, dtype=float)
    read_cubics(np.asarray(x, float), knots, coefficients, first_value, first_slope, out)
    return out


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_values_are_those_of_the_library(n_pieces, seed):
    rng = np.random.default_rng(seed)
    knots = np.cumsum(rng.uniform(0.1, 2.0, n_pieces + 1)) - 5.0
    coefficients = rng.normal(size=(4, n_pieces))
    inside = np.append(rng.uniform(knots[0], knots[-1], 50), knots[1:])
    found = read(inside, knots, coefficients)
    assert_array_equal(found, PPoly(coefficients, knots)(inside))


def test_the_curve_is_straight_before_its_knots_and_constant_after_them():
    coefficients = np.array([[0.0], [1.0], [0.0], [1.0]])  # 1 + (x - 3)**2 up to 5
    found = read([-np.inf, 2.0, 3.0, 4.0, 5.0, 99.0], [3.0, 5.0], coefficients)
    assert_array_equal(found, [-np.inf, -1.0, 1.0, 2.0, 5.0, 5.0])


def test_one_knot_ends_a_straight_line():
    assert_array_equal(read([0.0, 3.0, 7.0], [3.0], np.empty((4, 0))), [-5.0, 1.0, 1.0])


@pytest.mark.parametrize("knots", [[3.0], [3.0, 5.0, 6.0]])
def test_what_is_not_a_number_stays_so(knots):
    assert np.isnan(read([np.nan], knots, np.ones((4, len(knots) - 1)))).all()
