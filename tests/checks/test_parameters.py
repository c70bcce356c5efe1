import numpy as np
import pandas as pd
import pytest

from boostr._checks.parameters import check_length, check_times, check_windows
from boostr.exceptions import InvalidParameterError


def test_one_time_is_a_row_of_one():
    assert check_times(3).tolist() == [3.0]


@pytest.mark.parametrize("times", [-1.0, [0.0, np.nan], [np.inf]])
def test_times_are_finite_and_not_negative(times):
    with pytest.raises(InvalidParameterError, match="`horizon` must be finite and not neg"):
        check_times(times, "horizon")


def test_times_have_one_axis():
    with pytest.raises(InvalidParameterError, match=r"shape is \(1, 2\)"):
        check_times([[1.0, 2.0]])


@pytest.mark.parametrize(
    "dates",
    [
        pd.to_datetime(["2024-03-31"]),
        pd.Series(pd.to_timedelta([3], unit="D")),
        np.array(["2024-03-31"], "M8[D]"),
        np.datetime64("2024-03-31"),
        [pd.Timestamp("2024-03-31")],
    ],
)
def test_dates_and_durations_are_no_numbers(dates):
    with pytest.raises(InvalidParameterError, match=r"must be numbers(.|\n)*y\.origin"):
        check_times(dates)


def test_texts_are_no_times():
    with pytest.raises(InvalidParameterError, match=r"must be numbers(.|\n)*y\.origin"):
        check_times("soon")


@pytest.mark.parametrize("length", [7, 7.0, np.float32(7.0), np.int64(7)])
def test_lengths_of_time_become_floats(length):
    assert check_length(length, "horizon") == 7.0


@pytest.mark.parametrize("length", [0, -1.0, np.nan, np.inf, "7", [7.0], True, None])
def test_lengths_of_time_are_finite_and_above_zero(length):
    with pytest.raises(InvalidParameterError, match="`horizon` must be a finite number"):
        check_length(length, "horizon")


def test_one_window_serves_all_individuals():
    starts, stops = check_windows(1.0, [2.0, 3.0], 2)
    assert starts.tolist() == [1.0, 1.0]
    assert stops.tolist() == [2.0, 3.0]


def test_windows_must_not_stop_before_they_start():
    with pytest.raises(InvalidParameterError, match=r"1 of 2 individuals \(rows 1\)"):
        check_windows([0.0, 4.0], [2.0, 3.0], 2)
