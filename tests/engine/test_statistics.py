import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.histories import AWKWARD, FAMILIES, clocked, histories

from boostr._engine.statistics import (
    SufficientStats,
    compute_suffstats,
    pseudo_individual,
    put_on_clock,
)
from boostr._kernels.solve import DIAGONAL, FULL, SINGLE
from boostr.basis import CalendarClock, OperationalClock, PowerBasis
from boostr.data import RecurrentEvents

families = pytest.mark.parametrize("family", FAMILIES)
losses = pytest.mark.parametrize("loss", ["intensity", "cumulative"])


def place(family, loss):
    """Place a family for individuals that may enter late."""
    late = clocked([AWKWARD], horizon=10.0)
    return FAMILIES[family].place(late, loss)


def statistics(family, loss, *individuals, weights=None):
    return compute_suffstats(clocked(individuals), place(family, loss), loss, weights)


def at(function):
    return lambda time: function(np.array([time]))[0]


def cell_of(edges):
    """The pointwise form: one in the cell of a time, from the left."""
    return oracles.polynomial_pieces(edges, np.eye(len(edges))[:, :, None])


def oracle(family, loss, history):
    basis = place(family, loss)
    breaks = getattr(basis, "edges", ())
    if loss == "intensity":
        return oracles.intensity_statistics(at(basis.rates), *history, breaks)
    function = cell_of(breaks) if family == "step" else at(basis.evaluate)
    return oracles.cumulative_statistics(function, *history, breaks)


@pytest.mark.slow
@families
@losses
@settings(max_examples=8)
@given(history=histories())
def test_statistics_are_the_integrals_of_the_functions(family, loss, history):
    linear, quadratic = oracle(family, loss, history)
    stats = statistics(family, loss, history)
    expected = np.concatenate([np.zeros(stats.n_terms) + linear, quadratic.ravel()])
    found = oracles.full_matrix(stats.quadratic[0], stats.n_terms).ravel()
    assert_allclose(
        np.concatenate([stats.linear[0], found]), expected, rtol=1e-7, atol=1e-7
    )


@pytest.mark.slow
@families
def test_the_cumulative_loss_is_the_squared_distance_of_curve_and_count(family):
    stats, basis = statistics(family, "cumulative", AWKWARD), place(family, "cumulative")
    theta = np.linspace(0.5, -0.4, stats.n_terms)
    windows, times, costs = AWKWARD
    is_step = family == "step"
    function = cell_of(basis.edges) if is_step else at(basis.evaluate)
    step = 1e-3
    grid = np.arange(step / 2, 7.0, step)
    grid = [s for s in grid if oracles.is_at_risk(windows, s)]
    count = np.array([oracles.counted(times, costs, s) for s in grid])
    curve = np.array([oracles.accumulated(function, windows, s) @ theta for s in grid])
    distance = 0.5 * step * np.sum((count - curve) ** 2 - count**2)
    hessian = oracles.full_matrix(stats.quadratic[0], stats.n_terms)
    loss = oracles.objective(theta, -stats.linear[0], hessian)
    assert_allclose(loss, distance, rtol=1e-3)


def flatten(stats):
    return np.hstack([stats.linear, stats.quadratic])


@families
@losses
@pytest.mark.parametrize(
    "cut", [4.0, 4.7, 5.0]
)  # at an event, between, on an edge of steps
def test_a_window_cut_in_two_is_one_window(family, loss, cut):
    (first, (start, stop)), times, costs = AWKWARD
    parts = [first, (start, cut), (cut, stop)]
    assert_allclose(
        flatten(statistics(family, loss, (parts, times, costs))),
        flatten(statistics(family, loss, AWKWARD)),
        atol=1e-9,
    )


@families
def test_an_individual_cut_in_two_sums_for_the_intensity_loss(family):
    windows, times, costs = AWKWARD
    first = ([windows[0]], times[:2], costs[:2])
    second = ([windows[1]], times[2:], costs[2:])
    whole, parts = (
        statistics(family, "intensity", AWKWARD),
        statistics(family, "intensity", first, second),
    )
    assert_allclose(
        np.hstack([parts.linear.sum(axis=0), parts.quadratic.sum(axis=0)]),
        np.hstack([whole.linear[0], whole.quadratic[0]]),
    )


@families
@losses
def test_weights_scale_an_individual(family, loss):
    plain = statistics(family, loss, AWKWARD, AWKWARD)
    weighted = statistics(family, loss, AWKWARD, AWKWARD, weights=np.array([2.0, 0.5]))
    assert_allclose(flatten(weighted), flatten(plain) * [[2.0], [0.5]])


@families
@losses
def test_curvature_is_never_negative(family, loss):
    stats = statistics(family, loss, AWKWARD)
    hessian = oracles.full_matrix(stats.quadratic[0], stats.n_terms)
    assert np.linalg.eigvalsh(hessian).min() > -1e-9


@families
@losses
def test_the_penalty_is_one_individual_observed_all_along(family, loss):
    quiet = ([(0.0, 10.0)], [], [])
    stats = statistics(family, loss, quiet)
    assert_allclose(
        pseudo_individual(place(family, loss), loss, 10.0),
        oracles.full_matrix(stats.quadratic[0], stats.n_terms),
    )


def make_stats(rng, n=6, n_terms=3):
    roots = rng.normal(size=(n, n_terms, n_terms))
    hessians = np.einsum("irt,iru->itu", roots, roots)
    triangles = np.array([oracles.lower_triangle(h) for h in hessians])
    return SufficientStats(rng.normal(size=(n, n_terms)), triangles), hessians


@pytest.mark.parametrize("n_terms", [1, 2, 4])
def test_the_diagonal_is_that_of_the_matrices(rng, n_terms):
    stats, hessians = make_stats(rng, n_terms=n_terms)
    assert_allclose(stats.diagonal(), np.einsum("itt->it", hessians))


@pytest.mark.parametrize("n_terms", [1, 2, 4])
def test_multiplication_is_that_of_the_matrices(rng, n_terms):
    stats, hessians = make_stats(rng, n_terms=n_terms)
    rows, theta = np.array([4, 0, 4]), rng.normal(size=(3, n_terms))
    expected = np.einsum("itu,iu->it", hessians[rows], theta)
    assert_allclose(stats.multiply(theta, rows), expected)


def test_diagonal_statistics_multiply_term_by_term(rng):
    stats = SufficientStats(rng.normal(size=(5, 2)), rng.random((5, 2)))
    theta = rng.normal(size=(2, 2))
    rows = np.array([1, 3])
    assert_allclose(stats.multiply(theta, rows), stats.quadratic[rows] * theta)


@pytest.mark.parametrize("term", [0, 1, 2])
def test_one_term_alone_has_its_own_statistics(rng, term):
    stats, hessians = make_stats(rng)
    alone = stats.restrict(term)
    expected = np.column_stack([stats.linear[:, term], hessians[:, term, term]])
    assert_allclose(flatten(alone), expected)


def test_one_exponent_alone_is_the_basis_of_that_exponent():
    events = clocked([AWKWARD])
    for loss in ("intensity", "cumulative"):
        both = compute_suffstats(events, PowerBasis((1.0, 1.5)), loss).restrict(1)
        alone = compute_suffstats(events, PowerBasis((1.5,)), loss)
        assert_allclose(flatten(both), flatten(alone))


@pytest.mark.parametrize("solver", [SINGLE, DIAGONAL])
def test_simple_problems_read_the_diagonal(rng, solver):
    stats, hessians = make_stats(rng)
    found = stats.curvature(solver)
    assert_allclose(found, np.einsum("itt->it", hessians))
    assert found.flags.c_contiguous


def test_the_full_problem_reads_the_triangle(rng):
    stats, _ = make_stats(rng)
    assert stats.curvature(FULL) is stats.quadratic


def test_histories_are_read_off_the_clock(rng):
    events = RecurrentEvents.from_lists(
        [[1.0, 2.0], [3.5]], end=[3.0, 5.0], start=[0.0, 1.0], cost=[[1.0, 2.0], [3.0]]
    )
    clock = OperationalClock.from_events(events)
    read = put_on_clock(events, clock)
    expected = [clock.read(np.array(t)) for t in ([0.0, 1.0], [3.0, 5.0], [1.0, 2.0, 3.5])]
    found = [read.window_start, read.window_stop, read.times]
    assert_allclose(np.concatenate(found), np.concatenate(expected))


def test_the_horizon_is_the_last_end_of_follow_up():
    events = RecurrentEvents.from_lists([[1.0], []], end=[3.0, 5.0])
    assert put_on_clock(events, CalendarClock()).horizon == 5.0
