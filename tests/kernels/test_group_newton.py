import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles_groups as oracles
from tests.kernels.calls import from_python

from boostr._kernels import group_newton
from boostr._kernels.group_newton import descend_together

sizes_of_groups = st.lists(st.integers(1, 4), min_size=1, max_size=3)
seeds = st.integers(0, 2**32 - 1)


class Problem:
    """Groups of terms with coefficients, of which none is zero; some have no price."""

    def __init__(self, seed, sizes, n_roots=None, prices=(0.0, 0.1, 0.5)):
        rng = np.random.default_rng(seed)
        n_terms = sum(sizes)
        self.starts = np.cumsum([0, *sizes]).astype(np.int32)
        roots = rng.normal(size=(2 * n_terms if n_roots is None else n_roots, n_terms))
        self.matrix = roots.T @ roots / max(len(roots), 1)
        self.gradient = self.matrix @ rng.normal(size=n_terms)
        self.prices = rng.choice(prices, len(sizes))
        self.beta = rng.normal(size=n_terms)
        self.work = np.full((n_terms + 4, n_terms), np.nan)

    @property
    def oracle(self):
        return self.gradient, self.matrix, self.starts, self.prices

    @property
    def pull(self):
        return self.gradient + self.matrix @ self.beta

    def objective(self):
        return oracles.objective(self.beta, *self.oracle)

    def step(self):
        pull = self.pull
        leaf = self.matrix, self.starts, self.prices, self.work
        steepest, share = group_newton._step_together(*leaf, pull, self.beta)
        assert_allclose(pull, self.pull, rtol=1e-9, atol=1e-9)
        return steepest, share

    def descend(self, least=1e-10):
        leaf = self.matrix, self.starts, self.prices, least, self.work
        return descend_together(*leaf, self.pull, self.beta)


@pytest.mark.parametrize("factor", [0.0, -2.0])
def test_a_multiple_of_a_row_is_added(factor):
    out = np.array([1.0, 2.0])
    from_python(group_newton.add_row)(np.array([3.0, 5.0]), factor, out)
    assert np.array_equal(out, [1.0 + 3.0 * factor, 2.0 + 5.0 * factor])


def test_the_length_of_a_vector_is_that_of_its_first_values():
    assert from_python(group_newton.measure)(np.array([3.0, 4.0, 12.0]), 2) == 5.0


@settings(max_examples=25)
@given(seeds, sizes_of_groups)
def test_second_derivatives_are_differences_of_slopes(seed, sizes):
    problem = Problem(seed, sizes)
    problem.beta += 0.3 * np.sign(problem.beta)  # differences need some length
    n_terms = len(problem.beta)
    terms, out = np.empty(n_terms), np.zeros((n_terms, n_terms))
    leaf = problem.matrix, problem.starts, problem.prices, problem.beta
    n_free, n_active = from_python(group_newton._write_curvature)(*leaf, terms, out)
    assert n_active == n_terms
    assert n_free == np.diff(problem.starts)[problem.prices == 0.0].sum()
    order = terms.astype(int)
    expected = oracles.curvature(problem.beta, *problem.oracle)[np.ix_(order, order)]
    assert_allclose(np.triu(out), np.triu(expected), rtol=1e-5, atol=1e-6)


@given(seeds, st.integers(1, 6))
def test_factors_solve_the_linear_system(seed, size):
    problem = Problem(seed, [size])
    matrix = problem.matrix + 0.1 * np.eye(size)
    factor, found = matrix.copy(), problem.gradient.copy()
    from_python(group_newton._factor)(factor, size, size, np.empty(size))
    from_python(group_newton._solve)(factor, size, found)
    assert_allclose(np.triu(factor).T @ np.triu(factor), matrix, atol=1e-12)
    assert_allclose(found, np.linalg.solve(matrix, problem.gradient), rtol=1e-8, atol=1e-10)


def test_a_direction_without_curvature_has_no_step_without_a_price():
    matrix, found = np.ones((2, 2)), np.array([3.0, 3.0])
    assert not from_python(group_newton._factor)(matrix, 2, 2, np.empty(2))
    from_python(group_newton._solve)(matrix, 2, found)
    assert_allclose(found, [3.0, 0.0])


def test_a_direction_without_curvature_has_a_long_step_where_there_is_a_price():
    matrix, found = np.ones((2, 2)), np.array([3.0, 4.0])
    assert from_python(group_newton._factor)(matrix, 1, 2, np.empty(2))
    from_python(group_newton._solve)(matrix, 2, found)
    assert_allclose(found, [3.0 - 1e11, 1e11])


@given(seeds, sizes_of_groups, st.floats(1e-3, 3.0))
def test_the_change_of_a_trial_is_that_of_the_objective(seed, sizes, share):
    problem = Problem(seed, sizes)
    step = np.random.default_rng(seed).normal(size=len(problem.beta))
    slopes = oracles.slopes(problem.beta, *problem.oracle)
    change, curved = np.full((2, len(step)), np.nan)
    leaf = problem.matrix, problem.starts, problem.prices, slopes
    found = group_newton._try_step(*leaf, share, step, problem.beta, change, curved)
    before = problem.objective()
    problem.beta += change
    assert_allclose(found, problem.objective() - before, rtol=1e-9, atol=1e-10)
    assert_allclose(curved, problem.matrix @ change, atol=1e-10)


def test_the_change_of_a_tiny_trial_is_not_lost_in_rounding():
    # Half the curvature along the step is left of the change: 1e-24 beside terms of 1e-12.
    problem = Problem(0, [2], prices=(0.5,))
    step = np.array([1e-12, 2e-12])
    slopes = np.zeros(2)
    change, curved = np.empty((2, 2))
    leaf = problem.matrix, problem.starts, problem.prices, slopes
    found = group_newton._try_step(*leaf, 1.0, step, problem.beta, change, curved)
    bend = oracles.curvature(problem.beta, *problem.oracle)
    assert_allclose(found, 0.5 * step @ bend @ step, rtol=1e-6)


def test_a_group_that_would_come_past_zero_is_set_to_zero():
    problem = Problem(0, [2, 1], prices=(0.5,))
    change, curved = np.full((2, 3), np.nan)
    leaf = problem.matrix, problem.starts, problem.prices, np.zeros(3)
    step = np.concatenate([-1.5 * problem.beta[:2], [0.1]])
    group_newton._try_step(*leaf, 1.0, step, problem.beta, change, curved)
    assert np.array_equal(change, [*-problem.beta[:2], 0.1])
    group_newton._try_step(*leaf, 0.5, step, problem.beta, change, curved)
    assert_allclose(change, 0.5 * step)


def test_the_crossing_is_where_the_first_group_with_a_price_comes_to_zero():
    problem = Problem(0, [2, 1, 1])
    problem.prices = np.array([1.0, 0.0, 1.0])
    step = -np.repeat([2.0, 8.0, 4.0], [2, 1, 1]) * problem.beta
    leaf = problem.starts, problem.prices, problem.beta
    assert_allclose(from_python(group_newton._find_crossing)(*leaf, step), 0.25)
    assert from_python(group_newton._find_crossing)(*leaf, -step) == np.inf


@settings(max_examples=50)
@given(seeds, sizes_of_groups, st.integers(0, 6))
def test_no_step_raises_the_objective(seed, sizes, n_roots):
    problem = Problem(seed, sizes, n_roots)
    for _ in range(6):
        before = problem.objective()
        problem.step()
        assert problem.objective() <= before + 1e-12 * (1.0 + abs(before))


@settings(max_examples=25)
@given(seeds, sizes_of_groups)
def test_groups_that_are_not_zero_end_at_the_minimum_of_a_general_method(seed, sizes):
    problem = Problem(seed, sizes, prices=(0.0, 1e-3, 0.05))
    problem.gradient = -problem.matrix @ (2.0 + np.abs(problem.beta))
    expected = oracles.minimise_smooth(problem.beta, *problem.oracle)
    problem.beta = expected + 0.1 * np.random.default_rng(seed).normal(size=len(expected))
    problem.descend()
    problem_drop = -problem.objective()
    assert_allclose(problem_drop, -oracles.objective(expected, *problem.oracle), rtol=1e-9)


@settings(max_examples=25)
@given(seeds, sizes_of_groups)
def test_best_means_that_no_coefficients_can_do_better(seed, sizes):
    problem = Problem(seed, sizes)
    is_best = problem.descend()
    gap = oracles.bound_drop(problem.beta, *problem.oracle) + problem.objective()
    assert gap >= -1e-9
    if is_best:
        assert gap <= 1e-7


def test_groups_of_zero_with_a_price_stay_and_say_whether_that_is_best():
    problem = Problem(0, [2, 2])
    problem.prices = np.array([1e-3, 1e3])
    alone = -np.linalg.solve(problem.matrix[:2, :2], problem.gradient[:2])
    problem.beta = np.concatenate([0.8 * alone, [0.0, 0.0]])
    assert problem.descend()
    assert np.array_equal(problem.beta[2:], [0.0, 0.0])
    problem.prices[1] = 1e-9
    assert not problem.descend()
    assert np.array_equal(problem.beta[2:], [0.0, 0.0])


def test_groups_of_zero_without_a_price_are_found_at_once():
    problem = Problem(0, [2, 2], prices=(0.0,))
    problem.beta[:] = 0.0
    assert problem.descend()
    expected = -np.linalg.solve(problem.matrix, problem.gradient)
    assert_allclose(problem.beta, expected, rtol=1e-9)


def test_the_dearer_of_two_copies_leaves():
    problem = Problem(0, [2, 2])
    root = problem.matrix[:2, :2].copy()
    problem.matrix = np.kron(np.ones((2, 2)), root)
    problem.gradient = np.tile(problem.gradient[:2], 2)
    problem.prices = np.array([1e-3, 1e-2])
    problem.beta = np.tile(-np.linalg.solve(root, problem.gradient[:2]) / 2.0, 2)
    assert problem.descend()
    assert np.array_equal(problem.beta[2:], [0.0, 0.0])
    gap = oracles.bound_drop(problem.beta, *problem.oracle) + problem.objective()
    assert_allclose(gap, 0.0, atol=1e-9)


def test_nothing_to_step_is_best_where_gradients_are_below_prices():
    problem = Problem(0, [2, 1], prices=(1e3,))
    problem.beta[:] = 0.0
    assert problem.descend()
    assert problem.objective() == 0.0


def test_a_fall_without_end_is_left_alone():
    problem = Problem(0, [1, 1])
    problem.matrix, problem.gradient = np.ones((2, 2)), np.array([1.0, -1.0])
    problem.prices, problem.beta = np.full(2, 0.1), np.array([-1.0, 2.0])
    assert not problem.descend()
    assert np.abs(problem.beta).max() < 10.0
