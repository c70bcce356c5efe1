"""What the constructors of ``RecurrentEvents`` read."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from boostr.data import RecurrentEvents


@pytest.fixture
def two_wells():
    return RecurrentEvents.from_lists([[3.0, 8.5], []], end=[10.0, 7.0])


@pytest.fixture
def long_table():
    return pd.DataFrame(
        {
            "well": ["W1", "W1", "W1", "W2"],
            "day": [3.0, 8.5, 10.0, 7.0],
            "failed": [1, 1, 0, 0],
        }
    )


def test_lists_count_the_events(two_wells):
    assert_array_equal(two_wells.n_events, [2, 0])


def test_follow_up_starts_at_zero_unless_said(two_wells):
    assert_array_equal(two_wells.start, [0.0, 0.0])


def test_start_may_be_one_number_for_all():
    y = RecurrentEvents.from_lists([[3.0], []], end=[10.0, 7.0], start=2)
    assert_array_equal(y.follow_up, [8.0, 5.0])


def test_lists_are_sorted_with_their_costs():
    y = RecurrentEvents.from_lists([[8.0, 3.0]], end=9.0, cost=[[80.0, 30.0]])
    assert_array_equal(y.costs, [30.0, 80.0])


def test_costs_are_ones_unless_given(two_wells):
    assert_array_equal(two_wells.costs, [1.0, 1.0])


def test_tied_events_are_kept():
    y = RecurrentEvents.from_lists([[2.0, 2.0]], end=2.0)
    assert_array_equal(y.times, [2.0, 2.0])


def test_flat_arrays_equal_lists(two_wells):
    flat = RecurrentEvents.from_flat([3.0, 8.5], [0, 2, 2], end=[10.0, 7.0])
    assert flat.equals(two_wells)


def test_flat_arrays_are_copied():
    times = np.array([3.0, 8.5])
    y = RecurrentEvents.from_flat(times, [0, 2], end=10.0)
    times[:] = -1.0
    assert_array_equal(y.times, [3.0, 8.5])


def test_unsorted_flat_times_are_sorted_within_individuals():
    y = RecurrentEvents.from_flat([8.5, 3.0, 1.0], [0, 2, 3], end=10.0)
    assert_array_equal(y.times, [3.0, 8.5, 1.0])


@pytest.mark.parametrize("padding", [np.nan, -1.0, -np.inf])
def test_wide_rows_equal_lists(two_wells, padding):
    rows = np.array([[3.0, 8.5, 10.0], [7.0, padding, padding]])
    assert RecurrentEvents.from_wide(rows).equals(two_wells)


@pytest.mark.parametrize("dtype", ["float64", "Float64"])
def test_a_wide_table_equals_its_array(two_wells, dtype):
    table = pd.DataFrame([[3.0, 8.5, 10.0], [7.0, None, None]]).astype(dtype)
    assert RecurrentEvents.from_wide(table).equals(two_wells)


def test_wide_rows_take_an_event_at_the_end():
    y = RecurrentEvents.from_wide([[3.0, 5.0, 5.0]])
    assert_array_equal(y.times, [3.0, 5.0])


def test_long_rows_equal_lists(two_wells, long_table):
    y = RecurrentEvents.from_long(long_table, "well", "day", "failed")
    assert_array_equal(y.times, two_wells.times)


def test_long_rows_keep_the_name_of_the_id(long_table):
    y = RecurrentEvents.from_long(long_table, "well", "day", "failed")
    assert y.id_name == "well"


@pytest.mark.parametrize("dtype", [bool, float, "Int64", "boolean", "int8"])
def test_any_kind_of_flag_marks_events(long_table, dtype):
    table = long_table.astype({"failed": dtype})
    y = RecurrentEvents.from_long(table, "well", "day", "failed")
    assert_array_equal(y.n_events, [2, 0])


@pytest.mark.parametrize("dtype", ["category", "string", "object"])
def test_any_kind_of_text_is_an_id(long_table, dtype):
    table = long_table.astype({"well": dtype})
    y = RecurrentEvents.from_long(table, "well", "day", "failed")
    assert_array_equal(y.ids, np.array(["W1", "W2"], dtype=object))


def test_individuals_are_sorted_by_id(long_table):
    y = RecurrentEvents.from_long(long_table[::-1], "well", "day", "failed")
    assert_array_equal(y.ids, np.array(["W1", "W2"], dtype=object))


def test_long_rows_take_the_start_from_a_column(long_table):
    table = long_table.assign(entry=[1.0, 1.0, 1.0, 2.0])
    y = RecurrentEvents.from_long(table, "well", "day", "failed", start="entry")
    assert_array_equal(y.start, [1.0, 2.0])


def test_the_start_of_unsorted_individuals_stays_with_them(long_table):
    table = long_table.assign(entry=[1.0, 1.0, 1.0, 2.0])[::-1]
    y = RecurrentEvents.from_long(table, "well", "day", "failed", start="entry")
    assert_array_equal(y.start, [1.0, 2.0])


def test_long_rows_take_one_start_for_all(long_table):
    y = RecurrentEvents.from_long(long_table, "well", "day", "failed", start=1.5)
    assert_array_equal(y.start, [1.5, 1.5])


def test_costs_may_be_missing_where_there_is_no_event(long_table):
    table = long_table.assign(price=[30.0, 85.0, np.nan, np.nan])
    y = RecurrentEvents.from_long(table, "well", "day", "failed", cost="price")
    assert_array_equal(y.costs, [30.0, 85.0])


@pytest.fixture
def gap_table():
    return pd.DataFrame(
        {
            "well": [2, 1, 1, 1],
            "start": [0.0, 6.0, 1.0, 2.0],
            "stop": [7.0, 9.0, 2.0, 4.0],
            "failed": [False, True, True, False],
        }
    )


def test_rows_that_touch_are_one_window(gap_table):
    y = RecurrentEvents.from_start_stop(gap_table, "well", "start", "stop", "failed")
    assert_array_equal(y.window_start, [1.0, 6.0, 0.0])


def test_gaps_do_not_count_as_follow_up(gap_table):
    y = RecurrentEvents.from_start_stop(gap_table, "well", "start", "stop", "failed")
    assert_array_equal(y.follow_up, [6.0, 7.0])


def test_flags_put_events_at_the_stops(gap_table):
    y = RecurrentEvents.from_start_stop(gap_table, "well", "start", "stop", "failed")
    assert_array_equal(y.times, [2.0, 9.0])


def test_the_end_is_the_stop_of_the_last_window(gap_table):
    y = RecurrentEvents.from_start_stop(gap_table, "well", "start", "stop", "failed")
    assert_array_equal(y.end, [9.0, 7.0])


def test_numbers_can_be_measured_from_each_ones_start(gap_table):
    y = RecurrentEvents.from_start_stop(
        gap_table, "well", "start", "stop", "failed", origin="individual"
    )
    assert_array_equal(y.times, [1.0, 8.0])


@pytest.mark.slow
def test_a_million_individuals_are_read_at_once(rng):
    counts = rng.poisson(2.0, 1_000_000)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    y = RecurrentEvents.from_flat(1 - rng.random(offsets[-1]), offsets, end=1.0)
    assert_array_equal(y.n_events, counts)
