import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr._engine.curves import MonotoneCurves, expose
from boostr.basis import CalendarClock, PowerBasis
from boostr.data.events.exposure import Exposure

TIMES = np.array([0.0, 0.5, 1.0, 2.5, 3.0, 7.0, 50.0])


@pytest.fixture
def unit(rng):
    return MonotoneCurves(PowerBasis((1.0, 1.5)), rng.random((3, 2)), 8.0, 800.0, True)


@pytest.fixture
def series():
    begins, values = [0.0, 1.0, 3.0, 0.0, 2.0, 2.5], [2.0, 0.0, 5.0, 1.0, 3.0, 1.0]
    return Exposure.of_samples(np.array(begins), np.array(values), np.array([0, 3, 4, 6]))


def integrate(unit, exposure, row, time):
    """Sum the unit's rises over many small steps, each times the exposure in it."""
    grid = np.unique(np.concatenate([np.linspace(0.0, time, 200), exposure.begins, [0.0]]))
    grid = grid[(grid >= 0.0) & (grid <= time)]
    rows = np.full(len(grid), row)
    factors = exposure.values[exposure.find(rows[1:], grid[1:])]
    return float(factors @ np.diff(unit.values_at(rows, grid)))


def test_without_exposures_curves_are_the_same_object(unit):
    assert expose(unit, None, CalendarClock()) is unit


def test_curves_are_integrals_of_the_exposure(unit, series):
    curves = expose(unit, series, CalendarClock())
    expected = [[integrate(unit, series, row, time) for time in TIMES] for row in range(3)]
    assert_allclose(curves.values(TIMES), expected, atol=1e-12)


def test_slopes_are_those_of_a_unit_times_the_exposure(unit, series):
    curves = expose(unit, series, CalendarClock())
    factors = [
        series.values[series.find(np.full(len(TIMES), row), TIMES)] for row in range(3)
    ]
    assert_allclose(curves.slopes(TIMES), factors * unit.slopes(TIMES))


def test_single_times_and_common_times_agree(unit, series):
    curves = expose(unit, series, CalendarClock())
    rows, times = np.repeat(np.arange(3), len(TIMES)), np.tile(TIMES, 3)
    assert_array_equal(curves.values_at(rows, times), curves.values(TIMES).ravel())
    assert_array_equal(curves.slopes_at(rows, times), curves.slopes(TIMES).ravel())


def test_numbers_multiply_and_ones_leave_all_bits(unit):
    ones = expose(unit, Exposure.of_numbers(np.ones(3)), CalendarClock())
    assert_array_equal(ones.values(TIMES), unit.values(TIMES))
    assert_array_equal(ones.slopes(TIMES), unit.slopes(TIMES))
    amounts = np.array([0.5, 3.0, 100.0])
    curves = expose(unit, Exposure.of_numbers(amounts), CalendarClock())
    assert_allclose(curves.values(TIMES), amounts[:, None] * unit.values(TIMES))


def test_exposures_change_where_the_clock_says(unit, series):
    fast = expose(unit, series, CalendarClock(speed=2.0))
    slow = Exposure(series.begins * 2.0, series.values, series.offsets)
    expected = expose(unit, slow, CalendarClock())
    assert_allclose(fast.values(TIMES), expected.values(TIMES))
