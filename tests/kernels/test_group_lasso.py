import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.stats import ortho_group
from tests import oracles, oracles_groups
from tests.kernels.calls import from_python

from boostr._kernels import group_lasso
from boostr._kernels.group_lasso import (
    Groups,
    descend_blocks,
    solve_groups,
)

observe, price_factor, unpack_matrix, write_pull, measure = map(
    from_python,
    (
        group_lasso.observe,
        group_lasso.price_factor,
        group_lasso.unpack_matrix,
        group_lasso._write_pull,
        group_lasso.measure,
    ),
)

TOLERANCE = 1e-10
sizes_of_groups = st.lists(st.integers(1, 4), min_size=1, max_size=4)


class Problem:
    """Groups of terms that resemble each other; some are free, some not worth it."""

    def __init__(self, rng, sizes, correlation=0.5):
        n_terms = sum(sizes)
        self.sizes = sizes
        self.starts = np.cumsum([0, *sizes]).astype(np.int32)
        common = np.sqrt(correlation) * rng.normal(size=(3 * n_terms + 5, 1))
        roots = common + np.sqrt(1.0 - correlation) * rng.normal(
            size=(3 * n_terms + 5, n_terms)
        )
        self.matrix = roots.T @ roots / len(roots) + 1e-3 * np.eye(n_terms)
        self.gradient = rng.normal(size=n_terms)
        self.prices = rng.choice([0.0, 0.3, 0.8, 2.0], len(sizes))

    def solve(self, beta=None, tolerance=TOLERANCE):
        beta = np.zeros(len(self.gradient)) if beta is None else np.array(beta)
        work = np.full((len(beta) + 6, len(beta)), np.nan)
        drop = descend_blocks(
            self.gradient, self.matrix, self.starts, self.prices, tolerance, work, beta
        )
        return beta, drop

    def oracle(self):
        return oracles.solve_groups(self.gradient, self.matrix, self.starts, self.prices)

    def drop_of(self, beta):
        return oracles.group_drop(
            beta, self.gradient, self.matrix, self.starts, self.prices
        )

    def groups(self, values):
        return np.split(values, self.starts[1:-1])

    def violation(self, beta):
        """Return by how much the slope of the objective misses zero, group by group.

        The slope of a price is the price times the direction of the group; at zero, any
        vector that is no longer than the price.
        """
        slopes = self.groups(self.gradient + self.matrix @ beta)
        missed = []
        for slope, own, price in zip(slopes, self.groups(beta), self.prices, strict=True):
            if np.any(own):
                missed.append(np.linalg.norm(slope + price * own / np.linalg.norm(own)))
            else:
                missed.append(max(np.linalg.norm(slope) - price, 0.0))
        return np.array(missed)

    def pack(self, hessian):
        return np.concatenate([self.gradient, oracles.lower_triangle(hessian), [1.0]])


problems = st.builds(
    lambda seed, sizes, correlation: Problem(
        np.random.default_rng(seed), sizes, correlation
    ),
    seed=st.integers(0, 2**32 - 1),
    sizes=sizes_of_groups,
    correlation=st.sampled_from([0.0, 0.5, 0.95]),
)


@settings(max_examples=25)
@given(problems)
def test_coefficients_and_drop_are_those_of_small_steps_downhill(problem):
    beta, drop = problem.solve()
    expected, expected_drop = problem.oracle()
    assert_allclose([*beta, drop], [*expected, expected_drop], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_a_general_minimiser_finds_the_same_drop_from_above(seed):
    # By duality the drop is the least of 1/2 (g + u)'M^-1 (g + u), where every group of u
    # is a vector within the unit ball, times the group's price.
    problem = Problem(np.random.default_rng(seed), [1, 2, 3])
    inverse, prices = np.linalg.inv(problem.matrix), np.repeat(problem.prices, [1, 2, 3])

    def bound(ball):
        rest = problem.gradient + prices * ball
        return 0.5 * rest @ inverse @ rest

    def room_in_balls(ball):
        return [1.0 - own @ own for own in problem.groups(ball)]

    found = minimize(
        bound,
        np.full(6, 0.1),
        method="SLSQP",
        constraints={"type": "ineq", "fun": room_in_balls},
        options={"ftol": 1e-14, "maxiter": 1_000},
    )
    assert_allclose(problem.solve()[1], found.fun, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("correlation", "tolerance"), [(0.0, 1e-10), (0.5, 1e-10), (0.95, 1e-6), (0.95, 1e-3)]
)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), sizes=sizes_of_groups)
def test_optimality_holds_to_the_tolerance(correlation, tolerance, seed, sizes):
    problem = Problem(np.random.default_rng(seed), sizes, correlation)
    scale = np.sqrt(np.diag(problem.matrix))
    problem.matrix /= np.outer(scale, scale)
    beta, _ = problem.solve(tolerance=tolerance)
    # With a unit diagonal, a change of one coefficient moves no slope by more than itself.
    allowed = len(beta) ** 1.5 * tolerance * np.abs(problem.gradient).max()
    assert problem.violation(beta).max() <= allowed + 1e-12


@given(problems)
def test_the_drop_is_that_of_the_objective(problem):
    beta, drop = problem.solve()
    assert_allclose(drop, problem.drop_of(beta), rtol=1e-9, atol=1e-12)


@given(problems, st.sampled_from([0.3, 1.0, 3.0]))
def test_the_drop_is_never_negative(problem, scale):
    problem.prices = problem.prices * scale
    assert problem.solve()[1] >= 0.0


@given(problems)
def test_groups_below_their_price_are_exactly_zero(problem):
    beta, _ = problem.solve()
    expected, _ = problem.oracle()
    slopes = problem.groups(problem.gradient + problem.matrix @ expected)
    is_zero = np.array([not np.any(own) for own in problem.groups(beta)])
    is_below = np.array([np.linalg.norm(slope) for slope in slopes]) < problem.prices - 1e-6
    assert np.all(is_zero[is_below])


def test_prices_above_all_gradients_leave_nothing(rng):
    problem = Problem(rng, [2, 3, 1])
    problem.prices = 1.01 * np.array(
        [np.linalg.norm(own) for own in problem.groups(problem.gradient)]
    )
    beta, drop = problem.solve()
    assert np.array_equal([*beta, drop], np.zeros(7))


@pytest.mark.parametrize("sizes", [[1], [4], [2, 3], [1, 1, 1, 2]])
def test_without_prices_the_solution_is_that_of_the_linear_system(rng, sizes):
    problem = Problem(rng, sizes)
    problem.prices = np.zeros(len(sizes))
    beta, drop = problem.solve()
    expected = -np.linalg.solve(problem.matrix, problem.gradient)
    expected_drop = -0.5 * problem.gradient @ expected
    assert_allclose([*beta, drop], [*expected, expected_drop], rtol=1e-7)


@pytest.mark.parametrize("price", [0.5, 2.0, 5.0])
def test_one_term_moves_towards_zero_by_its_price(price):
    problem = Problem(np.random.default_rng(0), [1])
    problem.gradient, problem.matrix = np.array([-3.0]), np.array([[2.0]])
    problem.prices = np.array([price])
    expected = max(3.0 - price, 0.0) / 2.0
    beta, drop = problem.solve()
    assert_allclose([*beta, drop], [expected, expected**2], atol=1e-12)


def test_a_round_group_keeps_its_direction():
    # With M = 2 I the group is -(1 - price / 5) / 2 times the gradient (3, 4).
    problem = Problem(np.random.default_rng(0), [2])
    problem.gradient, problem.matrix = np.array([3.0, 4.0]), 2.0 * np.eye(2)
    problem.prices = np.array([1.0])
    assert_allclose(problem.solve()[0], [-1.2, -1.6])


@given(problems, st.integers(0, 2**32 - 1))
def test_turning_the_axes_of_a_group_does_not_change_the_drop(problem, seed):
    _, drop = problem.solve()
    rng = np.random.default_rng(seed)
    turns = [
        ortho_group.rvs(size, random_state=rng) if size > 1 else np.array([[-1.0]])
        for size in problem.sizes
    ]
    turn = block_diag(*turns)
    problem.matrix = turn.T @ problem.matrix @ turn
    problem.gradient = turn.T @ problem.gradient
    assert_allclose(problem.solve()[1], drop, rtol=1e-8, atol=1e-10)


@given(problems)
def test_the_order_of_groups_does_not_matter(problem):
    beta, drop = problem.solve()
    reverse = np.concatenate(problem.groups(np.arange(len(beta)))[::-1])
    problem.matrix = np.ascontiguousarray(problem.matrix[reverse][:, reverse])
    problem.gradient = problem.gradient[reverse]
    problem.prices, problem.sizes = problem.prices[::-1].copy(), problem.sizes[::-1]
    problem.starts = np.cumsum([0, *problem.sizes]).astype(np.int32)
    turned, turned_drop = problem.solve()
    assert_allclose([*turned, turned_drop], [*beta[reverse], drop], rtol=1e-6, atol=1e-7)


@settings(max_examples=15)
@given(problems, st.sampled_from([0.0, 1e-3, 1.0, 1e3]), st.integers(0, 2**32 - 1))
def test_where_the_search_begins_does_not_matter(problem, distance, seed):
    beta, drop = problem.solve()
    begin = beta + distance * np.random.default_rng(seed).normal(size=len(beta))
    again, again_drop = problem.solve(begin)
    assert_allclose([*again, again_drop], [*beta, drop], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_the_objective_does_not_matter(rng, factor):
    problem = Problem(rng, [1, 3, 2])
    beta, drop = problem.solve()
    problem.gradient = factor * problem.gradient
    problem.matrix, problem.prices = factor * problem.matrix, factor * problem.prices
    scaled, scaled_drop = problem.solve()
    assert_allclose([*scaled, scaled_drop], [*beta, factor * drop], rtol=1e-7)


@pytest.mark.parametrize("price", [0.0, 0.1])
def test_groups_that_say_the_same_reach_the_minimum_of_one(rng, price):
    # Two copies of a group cost as much as one, however the effect is shared out.
    problem = Problem(rng, [3, 3])
    root = problem.matrix[:3, :3].copy()
    problem.matrix = np.block([[root, root], [root, root]])
    problem.gradient = np.tile(problem.gradient[:3], 2)
    problem.prices = np.full(2, price)
    alone = oracles.solve_groups(problem.gradient[:3], root, [0, 3], problem.prices[:1])
    beta, drop = problem.solve()
    assert_allclose(
        [*(beta[:3] + beta[3:]), drop], [*alone[0], alone[1]], rtol=1e-6, atol=1e-8
    )


def correlated(correlation, n_groups=2):
    """Free groups of two terms, each with a twin in every other group; noise to explain."""
    rng = np.random.default_rng(0)
    problem = Problem(rng, [2] * n_groups)
    between = np.full((n_groups, n_groups), correlation)
    np.fill_diagonal(between, 1.0)
    problem.matrix = np.kron(between, np.eye(2))
    values, vectors = np.linalg.eigh(problem.matrix)
    noise = rng.normal(size=2 * n_groups)
    problem.gradient = vectors @ (np.sqrt(values) * (vectors.T @ noise))
    problem.prices = np.zeros(n_groups)
    return problem


def count_sweeps(monkeypatch, problem, tolerance):
    """Run the outer loop without the compiler, and count how often it visits a group.

    Beside the number of sweeps, the number of times that groups are minimised together.
    """
    calls = []
    sweep, together = group_lasso._sweep, group_lasso.descend_together

    def count(name, kernel):
        def run(*arguments):
            calls.append(name)
            return kernel(*arguments)

        return run

    monkeypatch.setattr(group_lasso, "_write_pull", write_pull)
    monkeypatch.setattr(group_lasso, "measure", measure)
    monkeypatch.setattr(group_lasso, "_sweep", count("sweep", sweep))
    monkeypatch.setattr(group_lasso, "descend_together", count("together", together))
    descend = getattr(descend_blocks, "py_func", descend_blocks)
    leaf = problem.gradient, problem.matrix, problem.starts, problem.prices
    n_terms = len(problem.gradient)
    descend(*leaf, tolerance, np.full((n_terms + 6, n_terms), np.nan), np.zeros(n_terms))
    return calls.count("sweep"), calls.count("together")


def twins(rng, correlation, n_groups, shares):
    """Groups of two terms, each with a twin in every other group, a data set of each.

    Prices are shares of the largest gradient.
    """
    problem = Problem(rng, [2] * n_groups)
    n_terms = 2 * n_groups
    common = np.tile(rng.normal(size=(3 * n_terms + 5, 2)), n_groups)
    own = rng.normal(size=common.shape)
    roots = np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own
    roots /= np.linalg.norm(roots, axis=0)
    problem.matrix = roots.T @ roots
    problem.gradient = roots.T @ rng.normal(size=len(roots))
    problem.prices = np.abs(problem.gradient).max() * rng.choice(shares, n_groups)
    return problem


@pytest.mark.parametrize("tolerance", [1e-10, 1e-4])
@pytest.mark.parametrize("correlation", [0.9, 0.99, 0.999, 0.99999])
@pytest.mark.parametrize("n_groups", [2, 4])
def test_correlation_does_not_make_more_sweeps(
    monkeypatch, correlation, n_groups, tolerance
):
    sweeps, together = count_sweeps(
        monkeypatch, correlated(correlation, n_groups), tolerance
    )
    assert sweeps <= 3
    assert together <= 1


def test_easy_problems_are_sweeps_alone(monkeypatch):
    problem = correlated(1e-4)
    assert count_sweeps(monkeypatch, problem, 1e-10) == (3, 0)
    problem = correlated(0.99)
    problem.prices = np.array([0.0, 1e3])  # one group is all there is
    assert count_sweeps(monkeypatch, problem, 1e-10) == (2, 0)


@pytest.mark.parametrize("n_groups", [2, 3, 4])
@pytest.mark.parametrize("correlation", [0.9, 0.99, 0.999, 0.99999, 1.0 - 1e-8])
@pytest.mark.parametrize("shares", [[0.0], [1e-3, 0.01, 0.1, 0.5], [0.0, 1e-3, 0.1]])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_optimality_holds_however_strong_the_correlation(
    n_groups, correlation, shares, seed
):
    problem = twins(np.random.default_rng(seed), correlation, n_groups, shares)
    beta, drop = problem.solve()
    largest = np.abs(problem.gradient).max()
    rounding = 1e-14 / (1.0 - correlation)  # coefficients grow where groups differ little
    allowed = len(beta) ** 1.5 * TOLERANCE + rounding
    assert problem.violation(beta).max() <= allowed * largest
    assert_allclose(drop, problem.drop_of(beta), rtol=1e-9 + rounding, atol=1e-12)


@pytest.mark.parametrize("n_groups", [2, 4])
@pytest.mark.parametrize("correlation", [0.9, 0.999, 0.99999])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_coefficients_of_correlated_groups_can_do_better(n_groups, correlation, seed):
    shares = [0.0, 1e-3, 0.01, 0.1]
    problem = twins(np.random.default_rng(seed), correlation, n_groups, shares)
    beta, drop = problem.solve()
    leaf = problem.gradient, problem.matrix, problem.starts, problem.prices
    assert_allclose(oracles_groups.bound_drop(beta, *leaf), drop, rtol=1e-7, atol=1e-9)


@pytest.mark.slow  # small steps need many of them
@pytest.mark.parametrize("correlation", [0.9, 0.99, 0.999])
def test_small_steps_downhill_find_the_same_for_correlated_groups(correlation):
    shares = [0.0, 1e-3, 0.01, 0.1]
    found, stack = [], []
    for seed in range(12):
        problem = twins(np.random.default_rng(seed), correlation, 3, shares)
        found.append(problem.solve()[1])
        stack.append((problem.gradient, problem.matrix, problem.prices))
    gradients, matrices, prices = map(np.array, zip(*stack, strict=True))
    expected = oracles.solve_groups(gradients, matrices, problem.starts, prices)[1]
    assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize("shares", [[0.0], [1e-3, 0.01, 0.1], [0.0, 1e-3, 0.1]])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), n_groups=st.integers(2, 4))
def test_optimality_holds_for_exact_copies_of_different_prices(shares, seed, n_groups):
    problem = twins(np.random.default_rng(seed), 1.0, n_groups, shares)
    beta, _ = problem.solve()
    largest = np.abs(problem.gradient).max()
    assert problem.violation(beta).max() <= 1e-9 * largest
    assert np.abs(beta).max() <= 1e3 * largest


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.99999, 1.0]), st.floats(0.0, 10.0)
)
def test_the_objective_never_rises_from_where_the_search_begins(
    seed, correlation, distance
):
    rng = np.random.default_rng(seed)
    problem = twins(rng, correlation, 3, [0.0, 1e-3, 0.1])
    begin = distance * rng.normal(size=6)
    before = problem.drop_of(begin)
    for tolerance in [1.0, 1e-2, 1e-10]:
        after = problem.solve(begin, tolerance)[1]
        assert after >= before - 1e-9 * (1.0 + abs(before))


@pytest.mark.parametrize("prices", [[0.0, 0.0], [0.0, 0.5], [0.5, 0.5]])
@pytest.mark.parametrize("n_roots", [0, 1, 2])
def test_singular_matrices_do_no_harm(rng, prices, n_roots):
    roots = rng.normal(size=(n_roots, 5))
    problem = Problem(rng, [2, 3])
    problem.matrix = roots.T @ roots
    problem.gradient = problem.matrix @ rng.normal(size=5)
    problem.prices = np.array(prices)
    beta, drop = problem.solve()
    assert np.all(np.isfinite(beta))
    assert np.all(problem.violation(beta) <= 1e-6)
    assert drop >= 0.0


@pytest.mark.parametrize("price", [0.0, 0.5])
@pytest.mark.parametrize("gradient", [[0.0, 0.0], [0.0, 3.0]])
def test_without_any_curvature_coefficients_stay_zero(price, gradient):
    problem = Problem(np.random.default_rng(0), [2])
    problem.gradient, problem.matrix = np.array(gradient), np.zeros((2, 2))
    problem.prices = np.array([price])
    assert np.array_equal(problem.solve()[0], [0.0, 0.0])


@pytest.mark.parametrize("price", [0.0, 0.5])
def test_a_term_without_curvature_stays_zero(price):
    problem = Problem(np.random.default_rng(0), [2])
    problem.gradient, problem.matrix = np.array([-4.0, 0.0]), np.diag([2.0, 0.0])
    problem.prices = np.array([price])
    assert_allclose(problem.solve()[0], [(4.0 - price) / 2.0, 0.0])


@pytest.mark.parametrize("price", [0.0, 1e-4, 1.0])
def test_a_pull_along_a_direction_without_curvature_does_not_blow_up(price):
    problem = Problem(np.random.default_rng(0), [2])
    problem.gradient, problem.matrix = np.array([1.0, 5.0]), np.diag([1.0, 0.0])
    problem.prices = np.array([price])
    beta, _ = problem.solve()
    assert np.all(np.abs(beta) < 10.0)


@pytest.mark.parametrize("share", [1e-8, 1e-6, 1e-2])
@pytest.mark.parametrize("condition", [1e4, 1e8])
def test_groups_that_hardly_vary_in_some_direction_are_solved_all_the_same(
    rng, condition, share
):
    missed = []
    for _ in range(5):
        problem = Problem(rng, [5])
        turn = ortho_group.rvs(5, random_state=rng)
        matrix = turn @ np.diag(np.geomspace(1.0, 1.0 / condition, 5)) @ turn.T
        problem.matrix = 0.5 * (matrix + matrix.T)
        problem.gradient = problem.matrix @ rng.normal(size=5)
        problem.prices = share * np.linalg.norm(problem.gradient, keepdims=True)
        beta, _ = problem.solve()
        missed.append(problem.violation(beta).max() / np.abs(problem.gradient).max())
    assert max(missed) < 1e-4


@given(problems, st.booleans())
def test_a_leaf_is_the_problem_of_its_sums(problem, grows):
    hessian = problem.matrix.copy()
    penalty = 0.25 * np.eye(len(hessian))
    groups = Groups(problem.starts, problem.prices, grows)
    beta = np.full(len(hessian), np.nan)
    drop = solve_groups(problem.pack(hessian), penalty, groups, beta)
    problem.matrix = hessian + penalty
    problem.prices = oracles.leaf_prices(hessian, problem.starts, problem.prices, grows)
    expected, expected_drop = problem.solve()
    assert_allclose([*beta, drop], [*expected, expected_drop], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("sizes", [[1], [2, 1], [3, 2]])
def test_what_was_observed_is_the_trace_of_the_first_group(rng, sizes):
    problem = Problem(rng, sizes)
    groups = Groups(problem.starts, problem.prices, True)
    observed = observe(problem.pack(problem.matrix), groups)
    assert_allclose(observed, np.trace(problem.matrix[: sizes[0], : sizes[0]]))


@pytest.mark.parametrize(("grows", "factor"), [(True, 3.0), (False, 1.0)])
def test_prices_grow_with_the_root_of_what_was_observed(grows, factor):
    assert price_factor(9.0, Groups(np.array([0, 1]), np.ones(1), grows)) == factor


def test_rounding_below_zero_is_no_observation():
    assert price_factor(-1e-17, Groups(np.array([0, 1]), np.ones(1), True)) == 0.0


def test_the_matrix_of_a_leaf_is_its_triangle_and_the_penalty(rng):
    problem = Problem(rng, [2, 3])
    penalty = np.diag(np.arange(5.0))
    out = np.full((5, 5), np.nan)
    unpack_matrix(problem.pack(problem.matrix), penalty, out)
    assert_allclose(out, problem.matrix + penalty)
