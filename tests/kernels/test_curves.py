import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from boostr._kernels.curves import (
    combine_terms,
    count_in_order,
    count_passed,
    read_lines,
)

seeds = st.integers(0, 2**32 - 1)
# Few different numbers, so that many times are the same as marks.
quarters = st.lists(st.integers(-8, 8).map(lambda number: number / 4), max_size=30)


def draw_curves(rng, n_times, n):
    return np.cumsum(rng.uniform(0.0, 1.0, (n_times, n)), axis=0)


@given(st.integers(0, 5), st.integers(0, 7), st.integers(0, 4), seeds)
def test_terms_are_combined_as_a_product_of_matrices(n_times, n, n_terms, seed):
    rng = np.random.default_rng(seed)
    theta, terms = rng.normal(size=(n_terms, n)), rng.normal(size=(n_times, n_terms))
    out = np.zeros((n_times, n))
    combine_terms(theta, terms, out)
    assert_allclose(out, terms @ theta, atol=1e-14)


def test_bits_of_a_curve_do_not_depend_on_the_others():
    rng = np.random.default_rng(0)
    theta, terms = rng.normal(size=(6, 50)), rng.normal(size=(9, 6))
    together, alone = np.zeros((9, 50)), np.zeros((9, 1))
    combine_terms(theta, terms, together)
    combine_terms(np.ascontiguousarray(theta[:, 7:8]), terms, alone)
    assert_array_equal(alone[:, 0], together[:, 7])


@pytest.mark.parametrize("is_sorted", [False, True])
@given(quarters, quarters)
def test_marks_before_a_time_are_counted(is_sorted, marks, times):
    marks = np.array(sorted(marks))
    times = np.array(sorted(times) if is_sorted else times)
    out = np.full(len(times), -1)
    (count_in_order if is_sorted else count_passed)(marks, times, out)
    assert_array_equal(out, np.searchsorted(marks, times, side="left"))


@given(st.integers(2, 20), st.integers(1, 9), seeds)
def test_lines_are_read_as_by_the_library(n_points, n, seed):
    rng = np.random.default_rng(seed)
    grid = np.cumsum(rng.uniform(0.1, 1.0, n_points))
    values = draw_curves(rng, n_points, n).T.copy()
    places = rng.permutation(np.append(np.arange(n), [-1, -1]))
    rows = rng.integers(0, len(places), 40)
    times = np.append(rng.uniform(grid[0], grid[-1], 30), rng.choice(grid, 10))
    out = np.full(len(rows), 99.0)
    read_lines(values, grid, places, rows, times, out)
    for place, time, found in zip(places[rows], times, out, strict=True):
        expected = 99.0 if place < 0 else np.interp(time, grid, values[place])
        assert_allclose(found, expected, rtol=1e-12)


def test_the_first_and_the_last_line_go_on():
    grid, values = np.array([1.0, 2.0, 4.0]), np.array([[0.0, 1.0, 7.0]])
    out = np.empty(2)
    read_lines(values, grid, np.zeros(1, int), np.zeros(2, int), np.array([0.0, 5.0]), out)
    assert_array_equal(out, [-1.0, 10.0])
