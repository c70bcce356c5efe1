import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles
from tests.engine.histories import clocked

from boostr._engine.curves import MonotoneCurves, PositiveCurves
from boostr.basis import PowerBasis, SplineBasis, StepBasis

HORIZON = 8.0
REACH = 800.0
EVENTS = clocked([([(0.0, HORIZON)], [1.0, 2.5, 4.0, 7.0], [1.0] * 4)])
BASES = {
    "power": PowerBasis((1.0, 1.5)),
    "three powers": PowerBasis((0.7, 1.0, 2.0)),
    "step": StepBasis(6).place(EVENTS, "intensity"),
    "pointwise": StepBasis(6).place(EVENTS, "cumulative"),
    "many cells": StepBasis(200).place(EVENTS, "intensity"),
    "spline": SplineBasis(3).place(EVENTS, "intensity"),
}
families = pytest.mark.parametrize("family", BASES)

# Every scale of time: fine steps inside the horizon, and far beyond it.
TIMES = np.unique(
    np.concatenate(
        [
            [0.0],
            np.geomspace(1e-6, 1e-1, 200),
            np.linspace(0.0, 3 * HORIZON, 4_001),
            np.geomspace(HORIZON, 2 * REACH, 200),
        ]
    )
)


def make_theta(rng, family, n=60):
    """Curves that rise on the whole, with downs."""
    theta = rng.normal(0.3, 1.0, (n, BASES[family].n_terms))
    return np.cumsum(theta, axis=1) if family == "pointwise" else theta


def make_rising(rng, family, n=20):
    theta = rng.random((n, BASES[family].n_terms))
    return np.cumsum(theta, axis=1) if family == "pointwise" else theta


def raw(basis, theta, times):
    """Return the plain sums; they stay constant beyond the reach."""
    return theta @ basis.evaluate(np.minimum(times, REACH)).T


def make_curves(family, theta, *, horizon=HORIZON, monotone=True):
    return MonotoneCurves(BASES[family], theta, horizon, REACH, monotone)


@families
def test_curves_never_fall(rng, family):
    values = make_curves(family, make_theta(rng, family)).values(TIMES)
    rises = np.diff(values, axis=1) / np.abs(values[:, 1:]).clip(1.0)
    assert rises.min() >= -1e-12


@families
def test_curves_are_never_negative(rng, family):
    values = make_curves(family, make_theta(rng, family)).values(TIMES)
    assert values.min() >= -1e-12


@families
def test_curves_are_zero_at_zero(rng, family):
    values = make_curves(family, make_theta(rng, family)).values(np.zeros(1))
    assert np.array_equal(values, np.zeros((60, 1)))


def test_a_dip_just_after_zero_is_not_overlooked():
    # -0.8 s + s^1.5 is negative up to s = 0.64, and positive from there on.
    curves = make_curves("power", np.array([[-0.8, 1.0]]), horizon=100.0)
    assert curves.values(np.array([0.1, 0.3, 0.6])).min() >= 0.0


def test_a_dip_just_after_zero_has_no_negative_slope():
    curves = make_curves("power", np.array([[-0.8, 1.0]]), horizon=100.0)
    assert curves.slopes(np.array([0.1])).min() >= 0.0


def test_a_dip_in_one_of_many_cells_is_not_overlooked():
    theta = np.ones((1, 200))
    theta[0, 101] = -0.5
    values = make_curves("many cells", theta).values(np.linspace(0.0, HORIZON, 10_001))
    assert np.diff(values).min() >= -1e-12


@families
def test_curves_that_rise_as_they_are_stay_untouched(rng, family):
    theta = make_rising(rng, family)
    assert_allclose(
        make_curves(family, theta).values(TIMES), raw(BASES[family], theta, TIMES)
    )


@pytest.mark.parametrize("level", [0.1, 0.3, 0.7])
def test_flat_curves_stay_untouched(level):
    # Rounding makes a flat stretch fall by 1e-17; that is no reason to bend the curve.
    theta = np.full((1, 6), level)
    times = np.linspace(0.0, 2 * HORIZON, 1_001)
    assert_allclose(
        make_curves("pointwise", theta).values(times),
        raw(BASES["pointwise"], theta, times),
        atol=1e-9,
    )


@families
def test_the_raw_sum_is_given_on_demand(rng, family):
    theta = make_theta(rng, family)
    values = make_curves(family, theta, monotone=False).values(TIMES)
    assert_allclose(values, raw(BASES[family], theta, TIMES))


@pytest.mark.parametrize("family", ["power", "pointwise", "spline"])
def test_bent_curves_are_the_nearest_monotone_ones_on_the_grid(rng, family):
    theta = make_theta(rng, family)
    curves = make_curves(family, theta)
    grid = curves._inside.grid
    before = raw(BASES[family], theta, grid)
    bent = np.flatnonzero(np.diff(before, axis=1).min(axis=1) < -1e-9)
    weights = np.diff(grid, append=grid[-1] + HORIZON / 128)
    expected = [oracles.project_monotone(before[row], weights) for row in bent]
    values = curves.values(grid)
    assert_allclose(values[bent], expected, rtol=1e-9, atol=1e-9)


@families
def test_the_value_at_one_time_does_not_depend_on_the_others(rng, family):
    curves = make_curves(family, make_theta(rng, family, 5))
    alone = np.hstack([curves.values(TIMES[[k]]) for k in range(0, len(TIMES), 97)])
    assert_allclose(curves.values(TIMES)[:, ::97], alone, atol=1e-12)


@families
def test_one_curve_does_not_depend_on_the_others(rng, family):
    theta = make_theta(rng, family, 8)
    alone = np.vstack([make_curves(family, theta[[k]]).values(TIMES) for k in range(8)])
    assert_allclose(make_curves(family, theta).values(TIMES), alone, atol=1e-12)


@families
@pytest.mark.parametrize("monotone", [True, False])
def test_values_at_pairs_are_entries_of_the_table(rng, family, monotone):
    curves = make_curves(family, make_theta(rng, family), monotone=monotone)
    rows, times = rng.integers(0, 60, 200), rng.uniform(0.0, 20.0, 200)
    expected = np.diag(curves.values(times)[rows])
    assert_allclose(curves.values_at(rows, times), expected, atol=1e-12)


@families
@pytest.mark.parametrize("monotone", [True, False])
def test_slopes_at_pairs_are_entries_of_the_table(rng, family, monotone):
    curves = make_curves(family, make_theta(rng, family), monotone=monotone)
    rows, times = rng.integers(0, 60, 200), rng.uniform(0.0, 20.0, 200)
    expected = np.diag(curves.slopes(times)[rows])
    assert_allclose(curves.slopes_at(rows, times), expected, atol=1e-12)


@families
@pytest.mark.parametrize("monotone", [True, False])
def test_slopes_are_those_of_the_values(rng, family, monotone):
    curves = make_curves(family, make_theta(rng, family), monotone=monotone)
    times = rng.uniform(0.1, 30.0, 50)
    differences = (curves.values(times + 1e-7) - curves.values(times - 1e-7)) / 2e-7
    assert_allclose(curves.slopes(times), differences, atol=1e-5)


@pytest.mark.parametrize("theta", [[3.0, -0.5], [-3.0, 1.5], [1.0, 1.0]])
@pytest.mark.parametrize("time", [0.5 * REACH, 1.5 * REACH])
def test_slopes_are_those_of_the_values_however_far(theta, time):
    # One curve falls in the end, one falls first, one does not fall at all.
    curves = make_curves("power", np.array([theta]))
    values = curves.values(np.array([0.999, 1.001]) * time)[0]
    slope = (values[1] - values[0]) / (0.002 * time)
    assert_allclose(curves.slopes(np.array([time])), [[slope]], rtol=1e-3)


@families
def test_beyond_the_reach_curves_stay_where_they_are(rng, family):
    curves = make_curves(family, make_theta(rng, family))
    values = curves.values(np.array([1.0, 3.0, 1e6]) * REACH)
    assert_allclose(values, values[:, :1] * np.ones(3))


@pytest.mark.slow
@families
@pytest.mark.parametrize("latest", [0.5 * HORIZON, HORIZON, 2.0 * HORIZON])
def test_the_latest_time_asked_for_changes_nothing_before_it(rng, family, latest):
    theta = make_theta(rng, family)
    times = TIMES[latest >= TIMES]
    assert_allclose(
        make_curves(family, theta).values(times),
        make_curves(family, theta).values(TIMES)[:, latest >= TIMES],
        atol=1e-12,
    )


def test_unbounded_rates_at_zero_count_as_zero():
    curves = make_curves("three powers", np.ones((1, 3)))
    assert_allclose(curves.slopes(np.zeros(1)), [[1.0]])


@pytest.mark.parametrize("family", ["power", "pointwise"])
def test_blocks_of_curves_change_nothing(rng, monkeypatch, family):
    theta = make_theta(rng, family)
    whole = make_curves(family, theta).values(TIMES)
    monkeypatch.setattr("boostr._engine.curves._BLOCK", 7)
    assert_allclose(make_curves(family, theta).values(TIMES), whole)


def test_no_curves_have_no_values():
    assert make_curves("power", np.empty((0, 2))).values(np.ones(3)).shape == (0, 3)


# --- Curves whose rates stay above zero

FLOOR = 0.2


def make_positive(family, theta, floor=FLOOR):
    return PositiveCurves(BASES[family], theta, HORIZON, REACH, floor)


@pytest.mark.slow
@families
def test_positive_curves_rise_at_all_times(rng, family):
    curves = make_positive(family, make_theta(rng, family))
    times = TIMES[TIMES <= REACH]
    assert np.diff(curves.values(times), axis=1).min() > 0.0
    assert curves.slopes(times[1:]).min() > 0.0


@pytest.mark.parametrize("kind", ["positive", "monotone"])
@families
def test_some_of_the_curves_are_the_same_curves(rng, family, kind):
    make = make_positive if kind == "positive" else make_curves
    curves, rows = make(family, make_theta(rng, family)), np.array([7, 2, 3, 59])
    some, places = curves.take(rows).take(np.array([1, 2])), np.array([0, 1, 0])
    assert_array_equal(some.values(TIMES), curves.values(TIMES)[[2, 3]])
    times = np.array([0.3, HORIZON, 2.0 * HORIZON])
    assert_allclose(some.values_at(places, times), curves.values_at(rows[[1, 2, 1]], times))
    assert_allclose(some.slopes_at(places, times), curves.slopes_at(rows[[1, 2, 1]], times))


@families
def test_positive_curves_are_zero_at_zero(rng, family):
    values = make_positive(family, make_theta(rng, family)).values(np.zeros(1))
    assert np.array_equal(values, np.zeros((60, 1)))


@families
def test_curves_that_stay_above_the_floor_are_the_raw_sums(rng, family):
    theta = make_rising(rng, family)
    rates = BASES[family].rates(TIMES)
    rates[np.isinf(rates)] = 0.0  # as in slopes at zero
    theta = theta * 2.0 * FLOOR / (theta @ rates.T).min()
    assert_allclose(
        make_positive(family, theta).values(TIMES), raw(BASES[family], theta, TIMES)
    )


@pytest.mark.slow
@pytest.mark.parametrize("family", ["step", "many cells"])
def test_positive_curves_add_up_bent_rates_of_cells(rng, family):
    theta, basis = make_theta(rng, family, 10), BASES[family]
    times = np.array([0.1, 3.3, HORIZON, 20.0])
    found = make_positive(family, theta).values(times)
    for own, values in zip(theta, found, strict=True):
        rate = lambda time, own=own: own @ basis.rates(np.array([time]))[0]  # noqa: E731
        expected = [
            oracles.rise_along_path(rate, basis.breaks, time, FLOOR) for time in times
        ]
        assert_allclose(values, expected)


@pytest.mark.parametrize("family", ["power", "three powers", "spline"])
def test_positive_curves_are_integrals_of_bent_rates(rng, family):
    theta, basis = make_theta(rng, family), BASES[family]
    edges = np.linspace(0.0, HORIZON, 8_001)
    middles = 0.5 * (edges[1:] + edges[:-1])
    rates = theta @ basis.rates(middles).T
    bent = np.where(rates < FLOOR, FLOOR**2 / (2.0 * FLOOR - rates), rates)
    expected = np.cumsum(bent, axis=1) * edges[1]
    found = make_positive(family, theta).values(edges[1:])
    assert_allclose(found[:, 999::1000], expected[:, 999::1000], rtol=0.01, atol=5e-3)


@families
def test_what_was_read_before_does_not_change_positive_curves(rng, family):
    theta, inside = make_theta(rng, family), TIMES[TIMES <= HORIZON]
    curves, others = make_positive(family, theta), make_positive(family, theta)
    early, slopes = curves.values(inside), curves.slopes(inside)
    late = others.values(TIMES)
    assert np.array_equal(early, late[:, : len(inside)])
    assert np.array_equal(slopes, others.slopes(TIMES)[:, : len(inside)])
    assert np.array_equal(curves.values(TIMES), late)
    rows = rng.integers(0, len(theta), len(TIMES))
    each = late[rows, np.arange(len(TIMES))]
    assert_allclose(make_positive(family, theta).values_at(rows, TIMES), each)


@pytest.mark.parametrize("family", ["power", "three powers", "spline"])
def test_curves_that_are_low_anywhere_are_bent(rng, family):
    theta, basis = make_theta(rng, family, 200), BASES[family]
    curves = make_positive(family, theta)
    grid = curves._grid
    steps = np.diff(theta @ basis.evaluate(grid).T, axis=1) / np.diff(grid)
    rates = basis.rates(grid[:-1])
    rates[np.isinf(rates)] = 0.0
    lowest = np.minimum(steps.min(axis=1), (theta @ rates.T).min(axis=1))
    assert np.array_equal(curves._bent_rows, np.flatnonzero(lowest < FLOOR))
    assert 0 < len(curves._bent_rows) < 200


@pytest.mark.parametrize("rate", [-3.0, 0.0, 0.1, FLOOR, 2.0])
def test_straight_lines_are_bent_without_a_grid(rate):
    expected = oracles.bend_rate(rate, FLOOR)
    curves = make_positive("power", np.array([[rate, 0.0]]))
    times = np.array([0.0, 1e-9, 0.3, HORIZON, 77.7])
    assert_allclose(curves.values(times), [expected * times], rtol=1e-14)
    assert_allclose(curves.slopes(times), [np.full(5, expected)], rtol=1e-14)
    assert not curves._bent.rows.size


@pytest.mark.slow
@families
def test_a_higher_curve_stays_the_higher_one(rng, family):
    theta = make_theta(rng, family)
    higher = theta + make_rising(rng, family, 60)
    low, high = (make_positive(family, one).values(TIMES[1:]) for one in (theta, higher))
    assert np.all(low < high * (1.0 + 1e-9))


@families
def test_positive_values_and_slopes_at_pairs_are_entries_of_tables(rng, family):
    curves = make_positive(family, make_theta(rng, family))
    rows, times = rng.integers(0, 60, 200), rng.choice(TIMES, 200)
    values, slopes = curves.values(times)[rows], curves.slopes(times)[rows]
    assert_allclose(curves.values_at(rows, times), np.diag(values), atol=1e-12)
    assert_allclose(curves.slopes_at(rows, times), np.diag(slopes), atol=1e-12)


@families
def test_positive_slopes_are_those_of_the_values(rng, family):
    curves = make_positive(family, make_theta(rng, family))
    times = rng.uniform(0.1, 30.0, 50)
    differences = (curves.values(times + 1e-7) - curves.values(times - 1e-7)) / 2e-7
    assert_allclose(curves.slopes(times), differences, atol=1e-5)


@families
def test_positive_curves_stay_where_they_are_beyond_the_reach(rng, family):
    curves = make_positive(family, make_theta(rng, family))
    times = np.array([1.0, 3.0, 1e6]) * REACH
    values = curves.values(times)
    assert_allclose(values, values[:, :1] * np.ones(3))
    assert np.array_equal(curves.slopes(times)[:, 1:], np.zeros((60, 2)))


@families
def test_one_positive_value_depends_on_no_other_time_or_curve(rng, family):
    theta = make_theta(rng, family, 8)
    whole = make_positive(family, theta).values(TIMES)
    alone = np.vstack([make_positive(family, theta[[k]]).values(TIMES) for k in range(8)])
    assert_allclose(whole, alone, atol=1e-12)
    some = make_positive(family, theta).values(TIMES[::97])
    assert_allclose(whole[:, ::97], some, atol=1e-12)


def test_no_positive_curves_have_no_values():
    assert make_positive("power", np.empty((0, 2))).values(np.ones(3)).shape == (0, 3)


def find_steps(family, theta, *, keeps_order):
    """Return the lowest steps from curves of lower to those of higher coefficients."""
    curves = PositiveCurves(
        BASES[family], theta, HORIZON, REACH, 0.5, keeps_order=keeps_order
    )
    found = [curves.values(TIMES), curves.slopes(TIMES)]
    scales = [np.maximum(np.abs(one).max(axis=0), 1e-300) for one in found]
    return min(
        float(np.min(np.diff(one, axis=0) / scale))
        for one, scale in zip(found, scales, strict=True)
    )


@pytest.mark.parametrize("family", ["power", "three powers", "step", "spline"])
@pytest.mark.parametrize("step", [0.0, 1e-6, 0.1])
def test_order_is_kept_where_some_curves_are_bent_and_some_are_not(rng, family, step):
    n_terms = BASES[family].n_terms
    for _ in range(20):
        start = rng.normal(0.5, 0.5, n_terms)
        theta = start + np.cumsum(step * rng.random((8, n_terms)), axis=0)
        assert find_steps(family, theta, keeps_order=True) >= -1e-12


def test_order_is_not_kept_where_only_low_rates_are_put_on_the_grid():
    theta = np.array([[0.5 - 1e-6, 0.2], [0.5, 0.2]])
    assert find_steps("power", theta, keeps_order=False) < -1e-6
    assert find_steps("power", theta, keeps_order=True) >= -1e-12
