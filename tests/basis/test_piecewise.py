from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from tests.engine.histories import AWKWARD, clocked

from boostr._kernels.solve import DIAGONAL, FULL
from boostr.basis import SplineBasis, StepBasis
from boostr.exceptions import InvalidParameterError

HORIZON = 8.0
PLAIN = clocked([([(0.0, HORIZON)], [1.0, 2.5, 2.5, 4.0, 7.0], [1.0] * 5)])
FAMILIES = {
    "step": (StepBasis(5), "intensity"),
    "pointwise": (StepBasis(5), "cumulative"),
    "one cell": (StepBasis(1), "cumulative"),
    "spline": (SplineBasis(3), "intensity"),
    "broken line": (SplineBasis(2, order=1), "intensity"),
    "cubic": (SplineBasis(1, order=4), "cumulative"),
    "no knots": (SplineBasis(0, order=2), "intensity"),
}


@pytest.fixture(params=FAMILIES)
def basis(request):
    family, loss = FAMILIES[request.param]
    return family.place(PLAIN, loss)


def test_functions_are_zero_at_zero(basis):
    assert np.array_equal(basis.evaluate(np.zeros(1)), np.zeros((1, basis.n_terms)))


def test_functions_are_the_integrals_of_their_rates(basis):
    points = np.unique(np.concatenate([basis.curve_edges, [3.3, 11.0]]))
    for time in (0.7, 3.3, HORIZON, 11.0):
        cuts = np.concatenate([[0.0], points[(points > 0.0) & (points < time)], [time]])
        for term in range(basis.n_terms):
            area = sum(
                quad(lambda s, term=term: basis.rates(np.array([s]))[0, term], a, b)[0]
                for a, b in pairwise(cuts)
            )
            assert_allclose(basis.evaluate(np.array([time]))[0, term], area, atol=1e-9)


def test_functions_do_not_jump(basis):
    edges = basis.curve_edges
    jumps = basis.evaluate(edges + 1e-9) - basis.evaluate(edges)
    assert_allclose(jumps, 0.0, atol=1e-7)


def test_beyond_the_end_functions_are_straight(basis):
    times = HORIZON + np.array([0.0, 1.0, 2.0, 50.0])
    values = basis.evaluate(times)
    slope = values[1] - values[0]
    assert_allclose(values[2:], values[0] + np.outer([2.0, 50.0], slope), atol=1e-9)


def test_beyond_the_end_the_last_slope_goes_on(basis):
    inside = basis.rates(np.array([HORIZON]))
    beyond = basis.rates(np.array([HORIZON + 1e-9, 3 * HORIZON]))
    assert_allclose(beyond, np.vstack([inside, inside]), atol=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("n_knots", [0, 1, 4])
def test_spline_rates_sum_to_one(n_knots, order):
    basis = SplineBasis(n_knots, order).place(PLAIN, "intensity")
    rates = basis.rates(np.linspace(0.001, 2 * HORIZON, 100))
    assert_allclose(rates.sum(axis=1), 1.0)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_there_are_as_many_splines_as_knots_and_order(order):
    events = clocked([([(0.0, HORIZON)], [1.0, 2.0, 3.0, 4.0, 5.0], [1.0] * 5)])
    assert SplineBasis(3, order).place(events, "intensity").n_terms == 3 + order


def test_knots_stand_at_quantiles_of_the_events():
    basis = SplineBasis(3).place(PLAIN, "intensity")
    assert_allclose(basis.edges, [0.0, 2.5, 4.0, HORIZON])  # two quartiles are tied


def test_without_events_the_knots_are_spread_evenly():
    nobody = clocked([([(0.0, HORIZON)], [], [])])
    assert_allclose(
        SplineBasis(3).place(nobody, "intensity").edges, [0.0, 2.0, 4.0, 6.0, 8.0]
    )


def test_events_at_the_end_alone_leave_no_inner_knots():
    events = clocked([([(0.0, HORIZON)], [HORIZON, HORIZON], [1.0, 1.0])])
    assert_allclose(SplineBasis(2).place(events, "intensity").edges, [0.0, HORIZON])


def test_cells_are_equally_long_where_all_are_observed_to_the_end():
    basis = StepBasis(4).place(PLAIN, "intensity")
    assert_allclose(basis.edges, [0.0, 2.0, 4.0, 6.0])


@pytest.mark.parametrize("n_cells", [1, 3, 4, 7])
@pytest.mark.parametrize("loss", ["intensity", "cumulative"])
def test_in_each_cell_as_much_time_is_observed(loss, n_cells):
    """The second individual leaves early; nobody is observed from 4 to 7."""
    windows = [(0.0, 4.0), (7.0, HORIZON)], [(0.0, 3.0)]
    histories = [(own, [], []) for own in windows]
    edges = StepBasis(n_cells).place(clocked(histories), loss).edges
    moments = (np.arange(8000) + 0.5) / 1000.0
    n_observed = sum((moments > a) & (moments < b) for own in windows for a, b in own)
    cells = np.searchsorted(edges, moments) - 1
    assert_allclose(np.bincount(cells, n_observed) / 1000.0, 8.0 / n_cells, atol=0.01)


def test_cells_where_nobody_is_exposed_are_even():
    unexposed = replace(PLAIN, window_exposure=np.zeros(1))
    assert_allclose(StepBasis(4).place(unexposed, "intensity").edges, [0.0, 2.0, 4.0, 6.0])


def test_the_rate_of_a_step_is_one_in_its_cell():
    rates = (
        StepBasis(4).place(PLAIN, "intensity").rates(np.array([1.0, 3.0, 5.0, 7.0, 20.0]))
    )
    assert np.array_equal(rates, np.vstack([np.eye(4), np.eye(4)[3]]))


def test_pointwise_curves_pass_through_the_middles_of_cells():
    basis = StepBasis(4).place(PLAIN, "cumulative")
    assert_allclose(basis.evaluate(np.array([1.0, 3.0, 5.0, 7.0])), np.eye(4), atol=1e-12)


def test_pointwise_cells_are_uncoupled_if_everybody_starts_at_zero():
    _, quadratic = StepBasis(3).place(PLAIN, "cumulative").moments(PLAIN, "cumulative")
    assert_allclose(quadratic[0, [1, 3, 4]], 0.0)


@pytest.mark.parametrize(
    ("events", "loss", "solver"),
    [
        (PLAIN, "cumulative", DIAGONAL),
        (clocked([AWKWARD]), "cumulative", FULL),
        (clocked([([(0.0, 1.0), (2.0, 3.0)], [], [])]), "cumulative", FULL),
        (clocked([AWKWARD]), "intensity", DIAGONAL),
    ],
)
def test_cells_are_solved_together_where_they_are_coupled(events, loss, solver):
    assert StepBasis(3).place(events, loss).solver == solver


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "3"])
def test_the_number_of_cells_must_be_a_whole_number(value):
    with pytest.raises(InvalidParameterError, match="`n_cells` must be a whole number"):
        StepBasis(value)


@pytest.mark.parametrize(("name", "value"), [("n_knots", -1), ("order", 0), ("order", 1.5)])
def test_knots_and_order_must_be_whole_numbers(name, value):
    with pytest.raises(InvalidParameterError, match=f"`{name}` must be a whole number"):
        SplineBasis(**{name: value})


def test_tied_events_leave_fewer_splines():
    assert SplineBasis(3, order=3).place(PLAIN, "intensity").n_terms == 2 + 3
