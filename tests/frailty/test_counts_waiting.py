import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from boostr._frailty.counts import find_times, needed_exposure


def test_needed_exposure_gives_the_share_of_first_events():
    for dispersion in (0.0, 0.5, 2.0):
        needed = needed_exposure(0.3, np.array([1.4]), np.array([dispersion]))
        mean = 1.4 * needed[0]
        if dispersion:
            shape = 1.0 / dispersion
            none = stats.nbinom.pmf(0, shape, shape / (shape + mean))
        else:
            none = np.exp(-mean)
        assert_allclose(none, 0.7)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=6), st.floats(0.3, 3.0))
def test_times_of_power_laws_are_found(scales, exponent):
    scale = np.array(scales)
    rows = np.arange(len(scale))
    found = find_times(
        lambda rows, times: scale[rows] * times**exponent,
        rows,
        np.full(len(scale), 0.5),
        np.zeros(len(scale)),
        np.full(len(scale), 1e6),
    )
    expected = (0.5 / scale) ** (1.0 / exponent)
    reached = expected <= 1e6
    assert_allclose(found[reached], expected[reached], rtol=1e-2, atol=2e-3)
    assert np.isinf(found[~reached]).all()


def test_a_flat_piece_is_passed():
    curve = lambda rows, times: np.where(times < 1.0, times, np.maximum(1.0, times - 8.0))  # noqa: E731
    found = find_times(
        curve, np.zeros(1, int), np.array([1.5]), np.zeros(1), np.full(1, 100.0)
    )
    assert_allclose(found, 9.5, rtol=1e-6)


def test_a_target_behind_the_start_is_met_at_once():
    found = find_times(
        lambda rows, times: times,
        np.zeros(1, int),
        np.array([1.0]),
        np.array([3.0]),
        np.array([9.0]),
    )
    assert found[0] == 3.0
