import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tests.tuning.scenes import describe, gappy, join

from boostr import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidParameterError, TargetTypeError
from boostr.tuning import cut_at
from boostr.tuning._splits import clip_sensors

PAIR = RecurrentEvents.from_lists([[3.0, 8.5], [1.0]], end=[10.0, 4.0], ids=["a", "b"])


@pytest.mark.parametrize("time", [-5.0, 0.0, 20.0, 41.5, 60.0, 500.0])
def test_the_parts_are_the_whole(rng, time):
    y = gappy(rng)
    cut = cut_at(y, time)
    before = describe(cut.before, cut.rows_before)
    assert join(before, describe(cut.after, cut.rows_after)) == describe(y)


def test_the_parts_are_the_whole_where_cuts_are_at_events_and_borders(rng):
    y = gappy(rng)
    times = np.where(np.arange(len(y)) % 2, y.window_stop[::2], y.window_start[1::2])
    cut = cut_at(y, times)
    before = describe(cut.before, cut.rows_before)
    assert join(before, describe(cut.after, cut.rows_after)) == describe(y)


def test_nothing_is_on_the_wrong_side(rng):
    y = gappy(rng)
    times = rng.uniform(0.0, 80.0, len(y))
    cut = cut_at(y, times)
    assert np.all(cut.before.end <= times[cut.rows_before])
    assert np.all(cut.after.start >= times[cut.rows_after])
    assert np.all(cut.before.times <= times[cut.rows_before][cut.before.event_owner])
    assert np.all(cut.after.times > times[cut.rows_after][cut.after.event_owner])


def test_an_event_at_the_time_is_known():
    cut = cut_at(PAIR, 8.5)
    assert_array_equal(cut.before.n_events, [2, 1])
    assert_array_equal(cut.after.n_events, [0])


def test_ids_go_with_their_histories():
    assert_array_equal(cut_at(PAIR, 5.0).after.ids, ["a"])


def test_cutting_twice_is_cutting_at_the_earlier_time(rng):
    y = gappy(rng)
    twice = cut_at(cut_at(y, 50.0).before, 35.0).before
    assert twice.equals(cut_at(y, 35.0).before)


def test_dates_are_read_on_the_axis_of_the_histories():
    table = pd.DataFrame(
        {
            "id": [1, 1, 2],
            "start": pd.to_datetime(["2024-01-01", "2024-01-04", "2024-01-03"]),
            "stop": pd.to_datetime(["2024-01-04", "2024-01-11", "2024-01-09"]),
            "event": [1, 0, 0],
        }
    )
    y = RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")
    for date in ["2024-01-05", pd.Timestamp("2024-01-05"), np.datetime64("2024-01-05")]:
        assert cut_at(y, date).before.equals(cut_at(y, 4.0).before)
    assert_array_equal(cut_at(y, ["2024-01-05", "2024-01-04"]).before.end, [4.0, 3.0])


@pytest.mark.parametrize("time", [np.nan, [1.0, 2.0, 3.0], [[1.0], [2.0]]])
def test_impossible_times_are_refused(time):
    with pytest.raises(InvalidParameterError, match="`time` must be one time"):
        cut_at(PAIR, time)


def test_a_date_needs_an_origin():
    with pytest.raises(InvalidParameterError, match="known date"):
        cut_at(PAIR, "2024-01-05")


def test_only_histories_are_cut():
    with pytest.raises(TargetTypeError):
        cut_at([1.0, 2.0], 1.0)


def test_sensors_keep_the_samples_up_to_the_time():
    Z = Trajectories.from_flat(
        [0, 5, 9, 2, 6], [0, 3, 5], [[1, 2, 3, 4, 5]], ["load"], ids=["a", "b"]
    )
    known = clip_sensors(Z, np.array([5.0, 1.0]))
    assert_array_equal(known.times, [0.0, 5.0])
    assert_array_equal(known.values, [[1.0, 2.0]])
    assert_array_equal(known.offsets, [0, 2, 2])
