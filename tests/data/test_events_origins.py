"""Origins of the individuals' own: kept with the histories, dates are counted from them."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import train_test_split

from boostr.data import RecurrentEvents
from boostr.data.clip import clip, read_times
from boostr.data.times import as_moments, counts_from_elsewhere, name_origin
from boostr.exceptions import InvalidEventsError, InvalidParameterError

ENTRIES = np.array(["2024-01-03", "2024-01-01", "2024-02-01T12"], "datetime64[us]")
DAY = np.timedelta64(1, "D")
FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])


def windows(entries=ENTRIES):
    """Return rows of intervals: two windows with a gap for each, an event in the first."""
    n = len(entries)
    return {
        "well": np.repeat([f"W{place}" for place in range(n)], 2).tolist(),
        "from": np.column_stack([entries, entries + 9 * DAY]).ravel(),
        "to": np.column_stack([entries + 4 * DAY, entries + 20 * DAY]).ravel(),
        "failed": np.tile([True, False], n),
    }


def ends(entries=ENTRIES):
    """Return rows of one event and one end for each."""
    n = len(entries)
    return {
        "well": np.repeat([f"W{place}" for place in range(n)], 2).tolist(),
        "entry": np.repeat(entries, 2),
        "when": np.column_stack([entries + 4 * DAY, entries + 20 * DAY]).ravel(),
        "failed": np.tile([True, False], n),
    }


def read(entries=ENTRIES, frame=pd.DataFrame, origin="individual", **options):
    return RecurrentEvents.from_long(
        frame(ends(entries)),
        *("well", "when", "failed"),
        start="entry",
        origin=origin,
        **options,
    )


def read_windows(frame=pd.DataFrame, origin="individual"):
    return RecurrentEvents.from_start_stop(
        frame(windows()), "well", "from", "to", "failed", origin=origin
    )


@FRAMES
def test_everybody_keeps_the_date_of_its_own_time_zero(frame):
    for y in (read(frame=frame), read_windows(frame)):
        assert_array_equal(y.origins, ENTRIES)
        assert y.origins.dtype == np.dtype("datetime64[us]")
        assert y.origin is None


def test_the_first_of_several_starts_is_the_origin_whatever_the_order():
    table = pd.DataFrame(windows()).sample(frac=1.0, random_state=0)
    y = RecurrentEvents.from_start_stop(
        table, "well", "from", "to", "failed", origin="individual"
    )
    assert y.equals(read_windows())


def test_a_common_origin_leaves_no_own_ones():
    assert read(origin=None).origins is None
    assert read(origin="2023-01-01").origins is None


def test_numbers_have_no_date_of_time_zero():
    table = pd.DataFrame({"id": [1], "start": [3.0], "stop": [5.0], "event": [0]})
    y = RecurrentEvents.from_start_stop(
        table, "id", "start", "stop", "event", origin="individual"
    )
    assert (y.end.tolist(), y.origins) == ([2.0], None)


@pytest.mark.parametrize(
    "key", [[2, 0, 2], slice(1, None), np.array([True, False, True]), 1, []], ids=str
)
def test_origins_are_taken_with_their_individuals(key):
    taken = read()[key]
    assert_array_equal(taken.origins, np.atleast_1d(ENTRIES[key]))


def test_scikit_learn_takes_them_along():
    y = read()
    for part in train_test_split(y, random_state=0):
        assert_array_equal(part.origins, [y[y.ids == one].origins[0] for one in part.ids])


@pytest.mark.parametrize("again", [pickle.dumps, copy.deepcopy, joblib.hash])
def test_origins_survive_copies(again):
    y = read()
    if again is pickle.dumps:
        assert pickle.loads(again(y)).equals(y)
    elif again is copy.deepcopy:
        assert again(y).equals(y)
    else:
        assert again(y) != again(read(ENTRIES + DAY))


def test_pickles_from_before_there_were_origins_are_read():
    y = read()
    state = {name: value for name, value in vars(y).items() if name != "origins"}
    old = RecurrentEvents.__new__(RecurrentEvents)
    vars(old).update(state)
    assert old[[1]].origins is None
    assert not old.equals(y)


def test_the_same_ages_from_other_dates_are_other_histories():
    assert not read().equals(read(ENTRIES + DAY))
    assert not read().equals(read()._with(origins=None))


def test_parts_put_together_keep_their_origins():
    y = read()
    assert RecurrentEvents.concatenate([y[2:], y[:2]]).equals(y[[2, 0, 1]])


def test_origins_are_dropped_unless_all_are_known():
    y = read()
    both = RecurrentEvents.concatenate([y, y._with(origins=None)])
    assert both.origins is None
    assert_array_equal(both.end, [20.0] * 6)


def test_ages_are_not_put_beside_calendar_time():
    with pytest.raises(InvalidEventsError, match="2 different clocks"):
        RecurrentEvents.concatenate([read(), read(origin=None)])


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_tables_give_the_dates_back(backend):
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[backend]
    y = read()
    table = y.to_long(backend=backend)
    assert_array_equal(table["start"].to_numpy(), ends()["entry"])
    assert_array_equal(table["time"].to_numpy(), ends()["when"])
    again = RecurrentEvents.from_long(
        table, "well", "time", "event", start="start", origin="individual"
    )
    assert again.equals(y)
    y = read_windows(frame)
    table = y.to_start_stop(backend=backend)
    assert_array_equal(table["stop"].to_numpy(), windows()["to"])
    again = RecurrentEvents.from_start_stop(
        table, "well", "start", "stop", "event", origin="individual"
    )
    assert again.equals(y)


def test_what_is_left_of_some_keeps_their_origins():
    part, rows = clip(read(), np.zeros(3), np.array([0.0, 3.0, 30.0]))
    assert rows.tolist() == [1, 2]
    assert_array_equal(part.origins, ENTRIES[1:])


@pytest.mark.parametrize("unit", ["h", "D", "W"])
def test_a_date_becomes_the_time_since_each_ones_own_origin(unit):
    y = read(unit=unit)
    date = np.datetime64("2024-01-15")
    assert_allclose(
        read_times(y, "2024-01-15", "now"), (date - ENTRIES) / np.timedelta64(1, unit)
    )
    for same in (date, pd.Timestamp(date), date.astype(object), [str(date)] * 3):
        assert_array_equal(read_times(y, same, "now"), read_times(y, str(date), "now"))


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(0, 10**15), min_size=1, max_size=5),
    st.data(),
    st.sampled_from(["s", "min", "h", "D", "W"]),
)
def test_dates_become_times_and_come_back_to_the_microsecond(since, data, unit):
    entries = np.array(since, "datetime64[us]")
    y = read(entries, unit=unit)
    dates = data.draw(
        st.lists(st.integers(0, 10**15), min_size=len(since), max_size=len(since))
    )
    dates = np.array(dates, "datetime64[us]")
    times = read_times(y, dates, "now")
    assert_array_equal(as_moments(y, slice(None), times), dates)
    assert_array_equal(read_times(y, dates[0], "now")[0], times[0])


@pytest.mark.parametrize("date", [["2024-01-15"] * 2, [["2024-01-15"] * 3], []], ids=str)
def test_as_many_dates_as_individuals_are_needed(date):
    with pytest.raises(InvalidParameterError, match=r"one for each of the 3 individuals"):
        read_times(read(), date, "now")


@pytest.mark.parametrize("date", ["soon", pd.NaT, np.datetime64("NaT"), None], ids=str)
def test_what_is_no_date_is_refused(date):
    with pytest.raises(InvalidParameterError, match=r"`now` must be a time stamp"):
        read_times(read(), date, "now")


def test_histories_without_dates_take_none():
    y = RecurrentEvents.from_lists([[1.0]], end=2.0)
    with pytest.raises(InvalidParameterError, match="do not count time from a known date"):
        read_times(y, "2024-01-01", "now")


def test_ages_are_told_from_calendar_time():
    y, begin = read(), ENTRIES[1]
    assert counts_from_elsewhere(y, begin)
    assert not counts_from_elsewhere(y[[1, 1]], begin)
    assert not counts_from_elsewhere(read(origin=None), begin)
    assert counts_from_elsewhere(read(origin=None), begin + DAY)
    assert name_origin(y) == "each one's own start"
    assert name_origin(read(origin=None)).startswith("2024-01-01")
