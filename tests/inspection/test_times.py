import numpy as np
import pytest
from numpy.testing import assert_array_equal

from boostr.exceptions import InvalidParameterError
from boostr.inspection.model import sort_times

USUAL = np.array([50.0, 100.0])


def test_the_usual_times_hold_where_none_are_given():
    assert sort_times(None, USUAL) is USUAL


@pytest.mark.parametrize(
    "times", [[3, 1, 3], (3.0, 1.0), np.array([[1.0], [3.0]])], ids=str
)
def test_times_are_sorted_and_each_once(times):
    assert_array_equal(sort_times(times, USUAL), [1.0, 3.0])


def test_one_time_is_enough():
    assert_array_equal(sort_times(0, USUAL), [0.0])


@pytest.mark.parametrize("times", [-1.0, [1.0, np.nan], np.inf, [], "soon"], ids=str)
def test_times_off_the_axis_are_refused(times):
    with pytest.raises(InvalidParameterError, match=r"`times` must be"):
        sort_times(times, USUAL)
