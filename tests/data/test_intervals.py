"""Counts over intervals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from boostr.data import RecurrentEvents, Trajectories
from boostr.data.clip import clip
from boostr.data.events.intervals import place_events, smear_events
from boostr.exceptions import InvalidEventsError

ROWS = {
    "pump": ["P1", "P1", "P2", "P3", "P3"],
    "since": [0.0, 30.0, 0.0, 10.0, 50.0],
    "day": [30.0, 60.0, 45.0, 20.0, 60.0],
    "leaks": [2, 0, 1, 3, 1],
}
ROLES = ("pump", "since", "day", "leaks")


def read(**changes):
    return RecurrentEvents.from_counts(pd.DataFrame(ROWS | changes), *ROLES)


@pytest.fixture
def y():
    return read()


def test_counts_windows_and_gaps_are_those_of_the_table(y):
    assert_array_equal(y.n_events, [2, 1, 4])
    assert_array_equal(y.follow_up, [60.0, 45.0, 20.0])
    assert_array_equal(y.window_offsets, [0, 1, 2, 4])


def test_events_lie_in_their_intervals(y):
    start, stop, share = y.intervals.T
    assert np.all((start < y.times) & (y.times <= stop))
    assert np.all((share > 0.0) & (share <= 1.0))


def test_the_order_of_rows_does_not_matter(y):
    table = pd.DataFrame(ROWS).sample(frac=1.0, random_state=0)
    assert RecurrentEvents.from_counts(table, *ROLES).equals(y)


@pytest.mark.parametrize(
    ("leaks", "rule"),
    [
        ([2, 0, -1, 3, 1], "must not be negative"),
        ([2, 0, 1.5, 3, 1], "whole numbers"),
        ([2, 0, None, 3, 1], "whole numbers"),
    ],
)
def test_wrong_counts_name_the_individual(leaks, rule):
    with pytest.raises(InvalidEventsError, match=rf"{rule}.*1 of 3 individuals \(ids P2\)"):
        read(leaks=leaks)


def test_overlapping_intervals_name_the_individual():
    with pytest.raises(InvalidEventsError, match=r"must not overlap.*\(ids P1\)"):
        read(since=[0.0, 29.0, 0.0, 10.0, 50.0])


def test_the_hint_on_overlaps_names_no_parameter_that_is_not_there():
    with pytest.raises(InvalidEventsError, match="drop rows that repeat") as caught:
        read(since=[0.0, 0.0, 0.0, 10.0, 50.0])
    assert "duplicates=" not in str(caught.value)


def test_time_stamps_are_counted_in_days():
    days = [pd.Timestamp("2024-01-01") + pd.Timedelta(days=d) for d in (0, 30, 60)]
    table = pd.DataFrame(
        {"pump": "P1", "since": days[:2], "day": days[1:], "leaks": [1, 2]}
    )
    y = RecurrentEvents.from_counts(table, *ROLES)
    assert y.time_unit == "D"
    assert_array_equal(y.intervals[:, 1], [30.0, 60.0, 60.0])


def test_slices_clips_and_joins_keep_intervals(y):
    assert_array_equal(y[[2, 0]].intervals[:, 0], [10.0, 10.0, 10.0, 50.0, 0.0, 0.0])
    assert RecurrentEvents.concatenate([y[:1], y[1:]]).equals(y)
    part, _ = clip(y, np.zeros(3), np.full(3, 15.0))
    assert np.all(part.intervals[:, 1] == 15.0)
    assert np.all(part.times <= 15.0)
    moved = y.in_calendar_time(since=[5.0, 5.0, 5.0])
    assert_allclose(moved.intervals[:, :2], y.intervals[:, :2] + 5.0)


def test_parts_with_and_without_intervals_do_not_mix(y):
    other = RecurrentEvents.from_lists([[1.0]], end=2.0, ids=["P9"])
    with pytest.raises(InvalidEventsError, match="intervals"):
        RecurrentEvents.concatenate([y, other])


@pytest.mark.parametrize(
    "use",
    [
        lambda y: y.to_long(),
        lambda y: y.to_start_stop(),
        lambda y: Trajectories.from_events(y).time_since_event(y),
    ],
)
def test_what_needs_times_says_so(y, use):
    with pytest.raises(InvalidEventsError, match="needs the times of events"):
        use(y)


intervals = st.lists(
    st.tuples(st.floats(0.5, 5.0), st.integers(0, 4)), min_size=1, max_size=6
)


@settings(max_examples=50, deadline=None)
@given(intervals, st.floats(0.3, 3.0))
def test_smeared_events_are_means_over_intervals_on_the_clock(rows, power):
    """The integral of a power over the clock, by hand."""
    stops = np.cumsum([length for length, _ in rows])
    counts = np.array([count for _, count in rows])
    starts = np.concatenate([[0.0], stops[:-1]])
    table = pd.DataFrame({"id": 0, "start": starts, "stop": stops, "count": counts})
    y = RecurrentEvents.from_counts(table, "id", "start", "stop", "count")

    def clock(times):
        return times**power

    smeared = smear_events(y, clock)
    begin, end = clock(starts), clock(stops)
    means = (end**2 - begin**2) / (2.0 * (end - begin))
    found = smeared.costs @ clock(smeared.times)
    assert_allclose(found, counts @ means, rtol=1e-2, atol=1e-9)
    assert_allclose(smeared.costs.sum(), counts.sum())
    assert np.all(np.diff(smeared.times) >= 0.0)


def test_placed_events_are_even_on_the_clock():
    table = pd.DataFrame({"id": [0], "start": [1.0], "stop": [9.0], "count": [4]})
    y = RecurrentEvents.from_counts(table, "id", "start", "stop", "count")
    placed = place_events(y, lambda times: times**2)
    steps = np.diff(placed.times**2)
    assert_allclose(steps, 80.0 / 4.0, rtol=1e-3)
