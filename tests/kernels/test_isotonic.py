import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from tests import oracles

from boostr._kernels.isotonic import project_monotone

curves = arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(2, 25)),
    elements=st.floats(-10, 10).map(lambda x: round(x, 2)),
)


def project(curves, n_pooled):
    result = curves.copy()
    project_monotone(result, n_pooled)
    return result


@given(curves)
def test_the_projection_is_the_isotonic_regression_cut_at_zero(curves):
    expected = [oracles.project_monotone(row, len(row)) for row in curves]
    assert_allclose(project(curves, curves.shape[1]), expected, atol=1e-9)


@given(curves, st.data())
def test_beyond_the_data_curves_rise_where_they_exceed_all_before(curves, data):
    n_pooled = data.draw(st.integers(1, curves.shape[1]))
    expected = [oracles.project_monotone(row, n_pooled) for row in curves]
    assert_allclose(project(curves, n_pooled), expected, atol=1e-9)


@given(curves, st.data())
def test_the_result_never_falls_and_is_never_negative(curves, data):
    n_pooled = data.draw(st.integers(1, curves.shape[1]))
    assert np.all(np.diff(project(curves, n_pooled), axis=1, prepend=0.0) >= 0.0)


def test_the_worked_example_by_hand():
    # 3 and 1 pool to 2; -1 is cut to 0; beyond, 2.5 is 0.5 above the raw value 2 before.
    curve = np.array([[-1.0, 3.0, 1.0, 2.0, 1.0, 2.5, 2.2]])
    assert_allclose(project(curve, 4), [[0.0, 2.0, 2.0, 2.0, 2.0, 2.5, 2.5]])


def test_a_monotone_curve_keeps_its_bits(rng):
    curve = np.cumsum(rng.random((3, 40)), axis=1)
    assert np.array_equal(project(curve, 40), curve)
