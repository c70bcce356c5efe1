"""Mean numbers of events of individuals whose lives may end."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from boostr._training.surviving import SurvivingCurves, mean_share
from boostr.basis import CalendarClock


class PowerCurves:
    """Curves ``scale * t ** exponent`` of some individuals."""

    def __init__(self, scales, exponent):
        self.scales, self.exponent = np.array(scales), exponent

    def values(self, times):
        return np.multiply.outer(self.scales, times**self.exponent)

    def values_at(self, rows, times):
        return self.scales[rows] * times**self.exponent


def make(exponents=(1.3, 0.8), horizon=10.0):
    clock = CalendarClock()
    events = PowerCurves([0.5, 2.0], exponents[0])
    hazard = PowerCurves([0.1, 0.4], exponents[1])
    return events, hazard, SurvivingCurves(events, clock, hazard, clock, horizon)


@settings(deadline=None, max_examples=20)
@given(st.floats(0.8, 2.0), st.floats(0.8, 2.0), st.floats(0.1, 30.0))
def test_agrees_with_numerical_integrals(of_events, of_hazard, time):
    events, hazard, curves = make((of_events, of_hazard))
    for row in range(2):

        def rise(u, row=row):
            rate = events.scales[row] * of_events * u ** (of_events - 1.0)
            return rate * np.exp(-hazard.scales[row] * u**of_hazard)

        expected = quad(rise, 0.0, time, limit=200)[0]
        found = curves.values(np.array([time]))[row, 0]
        assert_allclose(found, expected, rtol=2e-3, atol=1e-3)


def test_is_exact_where_rate_and_hazard_are_proportional():
    events, hazard, curves = make((1.3, 1.3))
    times = np.array([0.0, 0.7, 10.0, 400.0])
    dead = 1.0 - np.exp(-hazard.values(times))
    assert_allclose(curves.values(times), (events.scales / hazard.scales)[:, None] * dead)


def test_one_time_does_not_depend_on_the_others():
    times = np.array([0.3, 5.0, 9.9, 25.0])
    curves = make()[2]
    together = curves.values(times)
    alone = np.hstack([curves.values(times[[k]]) for k in range(4)])
    each = curves.values_at(np.repeat([0, 1], 4), np.tile(times, 2)).reshape(2, 4)
    assert_array_equal(together, alone)
    assert_allclose(each, together)


@given(st.floats(0.0, 50.0))
def test_the_mean_share_is_the_mean_of_a_survival(hazard):
    grid = (np.arange(20_000) + 0.5) / 20_000
    expected = np.exp(-hazard * grid).mean()
    assert_allclose(mean_share(np.array([hazard]))[0], expected, rtol=1e-4)
