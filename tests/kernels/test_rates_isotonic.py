import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from tests import oracles

from boostr._kernels.rates import project_monotone

curves = arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(2, 25)),
    elements=st.floats(-10, 10).map(lambda x: round(x, 2)),
)


def project(curves, weights):
    result = curves.copy()
    project_monotone(result, weights)
    return result


def draw_weights(data, n_pooled):
    weight = st.sampled_from([0.1, 0.5, 1.0, 3.0])
    return data.draw(arrays(np.float64, n_pooled, elements=weight))


@given(curves, st.data())
def test_the_projection_is_the_isotonic_regression_cut_at_zero(curves, data):
    weights = draw_weights(data, curves.shape[1])
    expected = [oracles.project_monotone(row, weights) for row in curves]
    assert_allclose(project(curves, weights), expected, atol=1e-9)


@given(curves, st.data())
def test_the_result_never_falls_and_is_never_negative(curves, data):
    weights = draw_weights(data, curves.shape[1])
    assert np.all(np.diff(project(curves, weights), axis=1, prepend=0.0) >= 0.0)


def test_the_worked_example_by_hand():
    # 3 and 1 pool to 2; -1 is cut to 0.
    curve = np.array([[-1.0, 3.0, 1.0, 2.0, 4.0]])
    assert_allclose(project(curve, np.ones(5)), [[0.0, 2.0, 2.0, 2.0, 4.0]])


def test_weight_two_is_the_column_twice():
    weighted = project(np.array([[4.0, 1.0, 5.0]]), np.array([1.0, 2.0, 1.0]))
    twice = project(np.array([[4.0, 1.0, 1.0, 5.0]]), np.ones(4))
    assert_allclose(weighted, twice[:, [0, 1, 3]])


def test_a_monotone_curve_keeps_its_bits(rng):
    curve = np.cumsum(rng.random((3, 40)), axis=1)
    assert np.array_equal(project(curve, rng.random(40)), curve)
