from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests import oracles
from tests.basis.test_sensors import Fleet
from tests.engine.histories import AWKWARD, FAMILIES, clocked
from tests.kernels.calls import from_python

from boostr._engine.penalty import (
    _SENSOR_INDIVIDUALS,
    _STANDARD_ERRORS,
    reprice,
    sensor_problem,
    time_problem,
)
from boostr._engine.statistics import SufficientStats, compute_suffstats, pseudo_individual
from boostr._kernels.group_lasso import observe, price_factor
from boostr._kernels.solve import GROUPED

HORIZON = 10.0
GAMMA2 = 0.7
losses = pytest.mark.parametrize("loss", ["intensity", "cumulative"])
penalties = pytest.mark.parametrize("penalty", ["group_lasso", "ridge"])
centred = pytest.mark.parametrize("baseline", ["constant", "powers", "spline"])


class Case:
    """The statistics of a fleet, and the problem that its leaves solve."""

    def __init__(self, rng, baseline, loss="intensity", weights=None, n=12):
        self.fleet = Fleet(rng, n)
        self.loss = loss
        self.basis = self.fleet.place(baseline, loss)
        self.weights = np.ones(n) if weights is None else weights
        self.stats = compute_suffstats(self.fleet.clocked(), self.basis, loss, self.weights)

    def take(self, rows):
        stats = self.stats.linear[rows], self.stats.quadratic[rows]
        part = object.__new__(Case)
        part.basis, part.loss, part.weights = self.basis, self.loss, self.weights[rows]
        part.stats = SufficientStats(*stats)
        return part

    def problem(self, penalty="group_lasso", gamma2=GAMMA2):
        settings = self.loss, HORIZON, gamma2, penalty
        return sensor_problem(self.basis, self.total, *settings)

    def total(self, summand):
        return summand(self.stats, self.weights)

    def gradients(self):
        """Return everybody's gradient at the coefficients that suit all of them best."""
        n_terms = self.stats.n_terms
        hessians = np.array(
            [oracles.full_matrix(one, n_terms) for one in self.stats.quadratic]
        )
        theta = np.linalg.pinv(hessians.sum(axis=0)) @ self.stats.linear.sum(axis=0)
        return np.einsum("itu,u->it", hessians, theta) - self.stats.linear


@centred
@losses
@penalties
def test_beside_a_baseline_imaginary_individuals_draw_to_zero(rng, baseline, loss, penalty):
    case = Case(rng, baseline, loss)
    n_baseline, n_terms = case.basis.n_baseline, case.basis.n_terms
    # An average individual: every function has a variance of one, all along.
    length = HORIZON if loss == "intensity" else HORIZON**3 / 3.0
    expected = _SENSOR_INDIVIDUALS * length * np.eye(n_terms)
    own = pseudo_individual(case.basis.baseline, loss, HORIZON)
    expected[:n_baseline, :n_baseline] = own
    assert_allclose(case.problem(penalty).penalty, GAMMA2 * expected)


@centred
@losses
def test_the_baseline_is_free_and_sensors_have_their_price(rng, baseline, loss):
    groups = Case(rng, baseline, loss).problem().groups
    assert groups.prices[0] == 0.0
    assert np.all(groups.prices[1:] > 0.0)
    assert groups.grows


@centred
@losses
def test_prices_are_standard_errors_of_the_gradient(rng, baseline, loss):
    # In the root, where everything was observed.
    case = Case(rng, baseline, loss)
    problem = case.problem()
    sums = np.concatenate(
        [-case.stats.linear.sum(axis=0), case.stats.quadratic.sum(axis=0), [12.0]]
    )
    observed = from_python(observe)(sums, problem.groups)
    factor = from_python(price_factor)(observed, problem.groups)
    squares = np.sum(case.gradients() ** 2, axis=0)
    errors = [np.sqrt(squares[a:b].sum()) for a, b in pairwise(problem.groups.starts)]
    expected = _STANDARD_ERRORS * GAMMA2 * np.array(errors)[1:]
    assert_allclose(factor * problem.groups.prices[1:], expected, rtol=1e-6)


@losses
@penalties
@pytest.mark.parametrize("baseline", ["none", "constant", "powers"])
def test_weight_two_is_the_individual_twice(rng, baseline, loss, penalty):
    weights = rng.choice([1.0, 2.0], 12)
    plain = Case(rng, baseline, loss)
    stats = (plain.stats.linear, plain.stats.quadratic)
    weighted = plain.take(np.arange(12))
    weighted.weights = weights
    weighted.stats = SufficientStats(*(weights[:, None] * one for one in stats))
    twice = plain.take(np.repeat(np.arange(12), weights.astype(int)))
    one, other = weighted.problem(penalty), twice.problem(penalty)
    assert_allclose(one.groups.prices, other.groups.prices, rtol=1e-9)
    assert_allclose(one.penalty, other.penalty)


@centred
def test_the_order_of_individuals_does_not_matter(rng, baseline):
    case = Case(rng, baseline)
    shuffled = case.take(rng.permutation(12)).problem().groups.prices
    assert_allclose(shuffled, case.problem().groups.prices, rtol=1e-9)


@centred
def test_prices_do_not_depend_on_how_many_there_are(rng, baseline):
    # The same individuals three times over: noise and observation grow alike.
    case = Case(rng, baseline)
    thrice = case.take(np.tile(np.arange(12), 3)).problem().groups.prices
    assert_allclose(thrice, case.problem().groups.prices, rtol=1e-9)


def test_prices_are_in_the_unit_of_costs(rng):
    case = Case(rng, "constant")
    costly = case.take(np.arange(12))
    costly.stats = replace(case.stats, linear=1000.0 * case.stats.linear)
    expected = 1000.0 * case.problem().groups.prices
    assert_allclose(costly.problem().groups.prices, expected, rtol=1e-9)


def test_blocks_of_individuals_change_nothing(rng, monkeypatch):
    case = Case(rng, "powers")
    whole = case.problem().groups.prices
    monkeypatch.setattr("boostr._engine.penalty._BLOCK", 5)
    assert_allclose(case.problem().groups.prices, whole)


def test_nothing_observed_has_no_price(rng):
    case = Case(rng, "constant")
    case.stats = SufficientStats(0.0 * case.stats.linear, 0.0 * case.stats.quadratic)
    assert np.array_equal(case.problem().groups.prices, np.zeros(4))


@pytest.mark.parametrize("baseline", ["none", "constant", "powers"])
@penalties
@pytest.mark.parametrize("factor", [0.0, 0.5, 3.0])
def test_everything_grows_with_gamma2(rng, baseline, penalty, factor):
    case = Case(rng, baseline)
    one, other = case.problem(penalty), case.problem(penalty, factor * GAMMA2)
    assert_allclose(other.penalty, factor * one.penalty)
    assert_allclose(other.groups.prices, factor * one.groups.prices)


# --- The paper's form


@losses
@pytest.mark.parametrize("gamma2", [0.0, 1.0, 100.0])
def test_the_paper_s_price_is_half_of_gamma2_in_every_leaf(rng, loss, gamma2):
    problem = Case(rng, "none", loss).problem(gamma2=gamma2)
    assert np.array_equal(problem.groups.prices, np.full(3, gamma2 / 2))
    assert not problem.groups.grows


@losses
def test_the_paper_s_form_draws_with_prices_alone(rng, loss):
    case = Case(rng, "none", loss)
    assert np.array_equal(case.problem().penalty, np.zeros((case.basis.n_terms,) * 2))


@losses
def test_ridge_without_a_baseline_draws_with_gamma2_individuals(rng, loss):
    case = Case(rng, "none", loss)
    length = HORIZON if loss == "intensity" else HORIZON**3 / 3.0
    expected = GAMMA2 * length * np.eye(case.basis.n_terms)
    assert_allclose(case.problem("ridge").penalty, expected)


# --- Groups


@losses
@pytest.mark.parametrize("baseline", ["none", "constant", "powers"])
def test_ridge_has_one_group_that_is_free(rng, baseline, loss):
    case = Case(rng, baseline, loss)
    groups = case.problem("ridge").groups
    assert np.array_equal(groups.starts, [0, case.basis.n_terms])
    assert np.array_equal(groups.prices, [0.0])
    assert not groups.grows


@pytest.mark.parametrize("baseline", ["none", "constant", "powers"])
def test_every_sensor_that_says_something_is_a_group(rng, baseline):
    # The last of the four never changes.
    case = Case(rng, baseline)
    starts = case.basis.starts[:-1]
    expected = starts if baseline == "none" else np.concatenate([[0], starts])
    assert np.array_equal(case.problem().groups.starts, expected)
    assert case.problem().groups.starts.dtype == np.int32


@pytest.mark.parametrize("baseline", ["none", "constant"])
@penalties
def test_leaves_are_solved_by_groups(rng, baseline, penalty):
    assert Case(rng, baseline).problem(penalty).solver == GROUPED


def test_new_prices_are_multiples_of_the_old(rng):
    problem = Case(rng, "constant").problem()
    before = problem.groups.prices.copy()
    factors = np.array([1.0, 1.0, 30.0, 0.5])
    again = reprice(problem, factors)
    assert np.array_equal(again.groups.prices, factors * before)
    assert np.array_equal(problem.groups.prices, before)
    assert again.penalty is problem.penalty
    assert np.array_equal(again.groups.starts, problem.groups.starts)
    assert again.groups.grows == problem.groups.grows


# --- Functions of time alone


@losses
@pytest.mark.parametrize("family", FAMILIES)
def test_functions_of_time_are_drawn_by_gamma2_individuals(family, loss):
    basis = FAMILIES[family].place(clocked([AWKWARD], horizon=HORIZON), loss)
    problem = time_problem(basis, loss, HORIZON, GAMMA2)
    assert_allclose(problem.penalty, GAMMA2 * pseudo_individual(basis, loss, HORIZON))
    assert problem.solver == basis.solver
    assert problem.groups is None
