import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.exceptions import InvalidParameterError
from boostr.simulate import dataset_d, integrated_squared_error


def test_error_of_a_line_against_zero_is_its_integral():
    times = np.linspace(0.0, 3.0, 3001)
    error = integrated_squared_error(times[np.newaxis], np.zeros((1, 3001)), times)
    assert_allclose(error, 9.0, rtol=1e-6)


def test_the_truth_has_no_error():
    simulation = dataset_d(n=5)
    times = np.linspace(0.0, simulation.horizon, 11)
    curves = simulation.truth(times)
    assert_allclose(integrated_squared_error(curves, curves, times), np.zeros(5))


@pytest.mark.parametrize("times", [[1.0], [0.0, 0.0], [2.0, 1.0]])
def test_times_must_increase(times):
    with pytest.raises(InvalidParameterError, match="increasing"):
        integrated_squared_error(np.zeros((1, len(times))), np.zeros((1, 1)), times)


def test_curves_must_have_a_column_per_time():
    with pytest.raises(InvalidParameterError, match="one column per time"):
        integrated_squared_error(np.zeros((2, 3)), np.zeros((2, 3)), [0.0, 1.0])
