import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from tests import oracles
from tests.kernels.calls import from_python

from boostr._kernels import solve as kernels
from boostr._kernels.solve import DIAGONAL, FULL, SINGLE, solve_leaf

leaf_reduction = from_python(kernels.leaf_reduction)
KINDS = {"single": SINGLE, "diagonal": DIAGONAL, "full": FULL}
kinds = pytest.mark.parametrize("kind", KINDS)


def make_leaf(rng, n_terms, n_members=8):
    roots = rng.normal(size=(n_members, n_terms))
    return rng.normal(size=n_terms) * 3, roots.T @ roots


def make_penalty(rng, n_terms):
    root = rng.normal(size=(n_terms, n_terms))
    return root.T @ root


def pack(gradient, hessian, kind):
    curvature = oracles.lower_triangle(hessian) if kind == "full" else np.diag(hessian)
    return np.concatenate([gradient, curvature, [1.0]])


def solve(gradient, hessian, penalty, kind):
    beta = np.full(len(gradient), np.nan)
    drop = solve_leaf(pack(gradient, hessian, kind), penalty, KINDS[kind], beta)
    return beta, drop


@kinds
@given(seed=st.integers(0, 2**32 - 1), n_terms=st.integers(1, 6))
def test_coefficients_and_drop_solve_the_leaf_problem(kind, seed, n_terms):
    rng = np.random.default_rng(seed)
    gradient, hessian = make_leaf(rng, n_terms)
    penalty = make_penalty(rng, n_terms)
    beta, drop = solve(gradient, hessian, penalty, kind)
    best, best_drop = oracles.solve_leaf(gradient, hessian, penalty, kind)
    assert_allclose([*beta, drop], [*best, best_drop], rtol=1e-6, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), n_terms=st.integers(1, 2), is_flat=st.booleans())
def test_few_terms_have_the_bits_of_the_general_solution(seed, n_terms, is_flat):
    rng = np.random.default_rng(seed)
    gradient, hessian = make_leaf(rng, n_terms)
    penalty = make_penalty(rng, n_terms)
    if is_flat:  # the last term has no curvature of its own
        hessian[:] = hessian[0, 0]
        penalty[:] = 0.0
    sums, out = pack(gradient, hessian, "full"), np.full((2, n_terms), np.nan)
    drops = [
        solve_leaf(sums, penalty, solver, out[row])
        for row, solver in enumerate([FULL, None])
    ]
    assert drops[0] == drops[1]
    assert_array_equal(out[0], out[1])


@pytest.mark.parametrize("n_terms", [1, 2, 4])
def test_a_general_minimiser_finds_no_better_full_solution(rng, n_terms):
    gradient, hessian = make_leaf(rng, n_terms)
    penalty = make_penalty(rng, n_terms)
    beta, _ = solve(gradient, hessian, penalty, "full")
    found = minimize(oracles.objective, np.zeros(n_terms), (gradient, hessian + penalty))
    assert_allclose(beta, found.x, atol=1e-4)


@kinds
@given(seed=st.integers(0, 2**32 - 1), n_terms=st.integers(1, 5))
def test_the_drop_alone_is_that_of_the_solution(kind, seed, n_terms):
    rng = np.random.default_rng(seed)
    gradient, hessian = make_leaf(rng, n_terms)
    penalty = make_penalty(rng, n_terms)
    space = np.full((n_terms, n_terms), np.nan), np.full(n_terms, np.nan)
    drop = leaf_reduction(pack(gradient, hessian, kind), penalty, KINDS[kind], *space)
    assert_allclose(drop, solve(gradient, hessian, penalty, kind)[1], rtol=1e-8)


def test_a_single_term_is_the_one_that_helps_most():
    # Drops of 1/2 g^2 / h: 2, 4.5, 0.5.
    beta, drop = solve(np.array([2.0, -3.0, 1.0]), np.eye(3), np.zeros((3, 3)), "single")
    assert [*beta, drop] == [0.0, 3.0, 0.0, 4.5]


def test_the_penalty_shrinks_like_pseudo_individuals():
    beta, _ = solve(np.array([-6.0]), np.array([[2.0]]), np.array([[1.0]]), "single")
    assert beta == [2.0]


@kinds
def test_terms_without_curvature_stay_zero(kind):
    gradient = np.array([0.0, -4.0, 0.0])
    beta, drop = solve(gradient, np.diag([0.0, 2.0, 0.0]), np.zeros((3, 3)), kind)
    assert_allclose([*beta, drop], [0.0, 2.0, 0.0, 4.0])


@kinds
def test_an_empty_leaf_is_zero(kind):
    beta, drop = solve(np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)), kind)
    assert [*beta, drop] == [0.0, 0.0, 0.0]


def test_collinear_terms_reach_the_same_minimum(rng):
    # The third term is the sum of the others, as with B-splines beside a constant.
    roots = rng.normal(size=(9, 2))
    roots = np.column_stack([roots, roots.sum(axis=1)])
    hessian = roots.T @ roots
    gradient = -hessian @ np.array([1.0, 2.0, 3.0])
    penalty = np.zeros((3, 3))
    _, drop = solve(gradient, hessian, penalty, "full")
    assert_allclose(drop, oracles.solve_leaf(gradient, hessian, penalty, "full")[1])


@kinds
def test_one_term_is_the_same_problem_for_every_solver(kind):
    beta, drop = solve(np.array([-3.0]), np.array([[2.0]]), np.array([[1.0]]), kind)
    assert_allclose([*beta, drop], [1.0, 1.5])


@pytest.mark.parametrize("correlation", [0.0, 0.9, 1.0 - 1e-5, 1.0 - 1e-8, 1.0])
def test_two_terms_that_resemble_each_other_lower_the_objective_by_what_they_can(
    correlation,
):
    hessian = np.array([[4.0, 6.0 * correlation], [6.0 * correlation, 9.0]])
    coefficients = np.array([1.0, -0.5])
    gradient = -hessian @ coefficients
    space = np.full((2, 2), np.nan), np.full(2, np.nan)
    drop = leaf_reduction(pack(gradient, hessian, "full"), np.zeros((2, 2)), FULL, *space)
    assert_allclose(drop, 0.5 * coefficients @ hessian @ coefficients, rtol=1e-8)
