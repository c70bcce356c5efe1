import numba
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.histories import AWKWARD, clocked, histories

from boostr._kernels.moments import (
    piecewise_cumulative_moments,
    piecewise_intensity_moments,
    power_cumulative_moments,
    power_intensity_moments,
)

EXPONENTS = np.array([0.75, 1.0, 2.0])
EDGES = np.array([0.0, 1.25, 4.0, 6.5])
PIECES = np.random.default_rng(7).normal(size=(4, 2, 3))  # jumps at every edge
POWER = {"intensity": power_intensity_moments, "cumulative": power_cumulative_moments}
PIECEWISE = {
    "intensity": piecewise_intensity_moments,
    "cumulative": piecewise_cumulative_moments,
}
losses = pytest.mark.parametrize("loss", ["intensity", "cumulative"])


def compute(kernel, events, n_terms, *family):
    linear = np.full((len(events), n_terms), np.nan)
    quadratic = np.full((len(events), n_terms * (n_terms + 1) // 2), np.nan)
    kernel(
        len(events),
        *family,
        events.window_start,
        events.window_stop,
        events.window_offsets,
        events.times,
        events.costs,
        events.event_offsets,
        linear,
        quadratic,
    )
    return linear, quadratic


def power_moments(events, loss, exponents=EXPONENTS):
    exponents = np.array(exponents)
    return compute(POWER[loss], events, len(exponents), exponents)


def piecewise_moments(events, loss, edges=EDGES, pieces=PIECES):
    nodes, weights = np.polynomial.legendre.leggauss(pieces.shape[2])
    rule = 0.5 * (nodes + 1.0), 0.5 * weights
    return compute(PIECEWISE[loss], events, pieces.shape[1], edges, pieces, *rule)


def power_oracle(history, loss, exponents=EXPONENTS):
    if loss == "intensity":
        return oracles.intensity_statistics(
            lambda s: exponents * s ** (exponents - 1.0), *history
        )
    return oracles.cumulative_statistics(lambda s: s**exponents, *history)


def piecewise_oracle(history, loss):
    function = oracles.polynomial_pieces(EDGES, PIECES)
    if loss == "intensity":
        return oracles.intensity_statistics(function, *history, breaks=EDGES)
    return oracles.cumulative_statistics(function, *history, breaks=EDGES)


def flatten(linear, quadratic):
    """Put b and H of one individual into one array; H as a matrix or a triangle."""
    linear = np.ravel(linear)
    is_matrix = np.ndim(quadratic) == 2 and len(quadratic) == len(linear) > 1
    triangle = oracles.lower_triangle(quadratic) if is_matrix else np.ravel(quadratic)
    return np.concatenate([linear, triangle])


def with_zero(statistics, n_terms):
    """The sum over no events is the number zero: make it a vector."""
    linear, quadratic = statistics
    return np.zeros(n_terms) + linear, quadratic


@losses
@settings(max_examples=15)
@given(history=histories())
def test_power_statistics_are_the_integrals(loss, history):
    expected = with_zero(power_oracle(history, loss), 3)
    found = power_moments(clocked([history]), loss)
    assert_allclose(flatten(*found), flatten(*expected), rtol=1e-7, atol=1e-7)


@losses
@settings(max_examples=15)
@given(history=histories())
def test_piecewise_statistics_are_the_integrals(loss, history):
    expected = with_zero(piecewise_oracle(history, loss), 2)
    found = piecewise_moments(clocked([history]), loss)
    assert_allclose(flatten(*found), flatten(*expected), rtol=1e-7, atol=1e-7)


@losses
@pytest.mark.parametrize("moments", [power_moments, piecewise_moments])
def test_individuals_do_not_touch_each_other(moments, loss):
    quiet = ([(0.0, 3.0)], [], [])
    single = [moments(clocked([one]), loss) for one in (quiet, AWKWARD, quiet)]
    together = moments(clocked([quiet, AWKWARD, quiet]), loss)
    assert all(
        np.array_equal(np.vstack([one[k] for one in single]), together[k]) for k in (0, 1)
    )


def test_a_constant_rate_counts_events_and_exposure():
    history = ([(1.0, 3.0), (4.0, 9.0)], [2.0, 5.0, 6.0], [1.0, 1.0, 1.0])
    linear, quadratic = power_moments(clocked([history]), "intensity", [1.0])
    assert (linear[0, 0], quadratic[0, 0]) == (3.0, 7.0)


def test_the_area_under_the_count_by_hand():
    # A = s; N = 1 on (1, 2] and 3 on (2, 3]: b = 3/2 + 3 * 5/2, H = 27/3.
    history = ([(0.0, 3.0)], [1.0, 2.0], [1.0, 2.0])
    linear, quadratic = power_moments(clocked([history]), "cumulative", [1.0])
    assert_allclose([linear[0, 0], quadratic[0, 0]], [9.0, 9.0])


def test_the_cumulative_curve_rests_during_a_gap():
    # A = s up to 1, rests until 2, and is s - 1 from there: 0 to 2 all in all.
    history = ([(0.0, 1.0), (2.0, 3.0)], [], [])
    _, quadratic = power_moments(clocked([history]), "cumulative", [1.0])
    assert_allclose(quadratic, [[8 / 3]])


@pytest.mark.parametrize("moments", [power_moments, piecewise_moments])
def test_tied_events_at_the_end_of_a_window_count_after_the_gap(moments):
    windows = [(0.0, 2.0), (3.0, 5.0)]
    tied = clocked([(windows, [2.0, 2.0, 2.0], [1.0, 0.5, 1.0])])
    single = clocked([(windows, [2.0], [2.5])])
    assert_allclose(moments(tied, "cumulative")[0], moments(single, "cumulative")[0])


@pytest.mark.parametrize("start", [1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_short_windows_late_in_time_keep_their_digits(exponent, start):
    # On (start, start + 1] the curve is exponent * start^(exponent - 1) * (s - start),
    # nearly.
    history = ([(start, start + 1.0)], [], [])
    _, quadratic = power_moments(clocked([history]), "cumulative", [exponent])
    slope = exponent * start ** (exponent - 1.0)
    assert_allclose(quadratic, [[slope**2 / 3.0]], rtol=1e-3)


@losses
def test_an_event_on_an_edge_belongs_to_the_piece_before(loss):
    pieces = np.array([[[1.0]], [[5.0]]])
    edges = np.array([0.0, 2.0])
    history = ([(0.0, 3.0)], [2.0], [1.0])
    linear, _ = piecewise_moments(clocked([history]), loss, edges, pieces)
    assert_allclose(linear, [[1.0 if loss == "intensity" else 5.0]])


@losses
def test_events_without_cost_change_nothing(loss):
    with_event = clocked([([(0.0, 5.0)], [1.0, 2.0], [0.0, 1.0])])
    without = clocked([([(0.0, 5.0)], [2.0], [1.0])])
    for moments in (power_moments, piecewise_moments):
        assert_allclose(
            flatten(*moments(with_event, loss)), flatten(*moments(without, loss))
        )


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads need the compiler")
@losses
@pytest.mark.parametrize("moments", [power_moments, piecewise_moments])
def test_threads_give_the_same_bits(moments, loss, monkeypatch):
    monkeypatch.setattr("boostr._kernels._jit._SHARED_FROM", 1)
    events = clocked([AWKWARD, ([(0.0, 3.0)], [1.0], [1.0])] * 50)
    before = numba.get_num_threads()
    results = []
    try:
        for n_threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(n_threads)
            results.append(np.hstack(moments(events, loss)))
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(*results)
