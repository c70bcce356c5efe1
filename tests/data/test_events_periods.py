"""Events that are booked at the ends, or the starts, of periods."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from boostr import RecurrentEvents
from boostr.exceptions import InvalidParameterError


@pytest.fixture
def y():
    return RecurrentEvents.from_lists(
        [[30.0, 30.0, 60.0], [60.0, 90.0]], start=[0.0, 40.0], end=[90.0, 90.0]
    )


def test_events_come_since_the_date_before_or_the_start_of_follow_up(y):
    found = y.in_periods().intervals[:, :2]
    assert_allclose(found, [[0, 30], [0, 30], [30, 60], [40, 60], [60, 90]])


def test_events_come_until_the_next_date_or_the_end_of_follow_up(y):
    found = y.in_periods(at="start").intervals[:, :2]
    assert_allclose(found, [[30, 60], [30, 60], [60, 90], [60, 90], [90, 90]])


def test_events_stay_in_their_windows():
    rows = {"id": [0, 0, 0], "start": [0, 20, 50], "stop": [10, 40, 60], "event": [1, 0, 1]}
    y = RecurrentEvents.from_start_stop(pd.DataFrame(rows), *rows)
    assert_allclose(y.in_periods().intervals[:, :2], [[0, 10], [50, 60]])


@pytest.mark.parametrize("at", ["end", "start"])
@given(seed=st.integers(0, 2**32 - 1))
def test_histories_stay_valid(at, seed):
    rng = np.random.default_rng(seed)
    times = [5.0 * rng.integers(1, 9, rng.poisson(3.0)) for _ in range(8)]
    y = RecurrentEvents.from_lists(times, end=40.0)
    found = y.in_periods(at)
    assert_array_equal(found.n_events, y.n_events)
    if y.times.size:
        start, stop, _ = found.intervals.T
        assert np.all((start < found.times) & (found.times <= stop) & (stop <= 40.0))
        again = RecurrentEvents.from_lists(list(np.asarray(found)), end=40.0)
        assert_array_equal(again.times, found.times)


def test_counts_over_intervals_are_returned_as_they_are(y):
    once = y.in_periods()
    assert once.in_periods() is once
    nobody = RecurrentEvents.from_lists([[]], end=1.0)
    assert nobody.in_periods() is nobody


def test_dates_are_ends_or_starts(y):
    with pytest.raises(InvalidParameterError, match="must be one of 'end', 'start'"):
        y.in_periods("middle")
