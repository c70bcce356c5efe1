"""The same histories in calendar time and in age."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidEventsError, InvalidParameterError

ENTRIES = np.array(["2024-01-03", "2024-01-01", "2024-02-01T12"], "datetime64[us]")
DAY = np.timedelta64(1, "D")


def histories(origin):
    """Return two windows with a gap for each, an event in the first."""
    rows = {
        "well": np.repeat(["a", "b", "c"], 2),
        "from": np.column_stack([ENTRIES, ENTRIES + 9 * DAY]).ravel(),
        "to": np.column_stack([ENTRIES + 4 * DAY, ENTRIES + 20 * DAY]).ravel(),
        "failed": np.tile([True, False], 3),
    }
    columns = ("well", "from", "to", "failed")
    return RecurrentEvents.from_start_stop(pd.DataFrame(rows), *columns, origin=origin)


def test_calendar_time_is_what_a_common_origin_reads():
    assert histories("individual").in_calendar_time().equals(histories(None))


def test_age_is_what_own_origins_read():
    assert histories(None).in_age().equals(histories("individual"))


def test_histories_in_the_time_scale_asked_for_stay_as_they_are():
    age, calendar = histories("individual"), histories(None)
    assert age.in_age() is age
    assert calendar.in_calendar_time() is calendar


def test_age_may_count_from_before_the_entry():
    bought = ENTRIES - 30 * DAY
    for y in (histories(None), histories("individual")):
        age = y.in_age(since=bought)
        assert_allclose(age.start, 30.0)
        assert (age.origins == bought).all()
        assert_allclose(age.in_calendar_time().times, histories(None).times)


def test_dates_of_time_0_can_be_given_where_ages_are_numbers():
    table = pd.DataFrame({"id": [0, 0, 1], "t": [2.0, 5.0, 3.0], "e": [1, 0, 0]})
    y = RecurrentEvents.from_long(table, "id", "t", "e", unit="D")
    calendar = y.in_calendar_time(since=["2024-01-11", "2024-01-01"])
    assert calendar.origin == np.datetime64("2024-01-01")
    assert_allclose(calendar.start, [10.0, 0.0])
    assert_allclose(calendar.times, [12.0])


@given(
    ages=st.lists(st.floats(0.0, 1e4), min_size=1, max_size=6),
    since=st.floats(0.0, 1e6),
)
def test_numbers_go_there_and_back(ages, since):
    n = len(ages)
    y = RecurrentEvents.from_lists(
        [[age + 0.5] for age in ages], start=ages, end=[age + 1.0 for age in ages]
    )
    shifts = since + np.arange(n)
    back = y.in_calendar_time(since=shifts).in_age(since=shifts)
    # Entries within rounding of time 0, beside the latest time, are taken as 0.
    rounding = 1e-8 * max(1.0, float((y.end + shifts).max()))
    assert_allclose(back.times, y.times, atol=1e-8)
    assert_allclose(back.start, y.start, atol=rounding)
    assert back.origins is None


def test_sensors_move_with_the_histories():
    y = histories("individual")
    Z = Trajectories.from_flat(
        [0.0, 5.0, 1.0, 2.0], [0, 2, 3, 4], [[1, 2, 3, 4]], ["load"], ids=["c", "a", "b"]
    )._with(time_unit="D")
    calendar = y.in_calendar_time()
    moved = Z.to_time_scale(y, calendar)
    assert moved.ids.tolist() == ["a", "b", "c"]
    assert moved.origin == calendar.origin
    assert_allclose(moved.times, [3.0, 2.0, 31.5, 36.5])
    assert_allclose(moved.to_time_scale(calendar, y).times, [1.0, 2.0, 0.0, 5.0])


def test_sensors_do_not_move_with_other_histories():
    y = histories("individual")
    Z = Trajectories.from_events(y)
    for other in (y.in_calendar_time()._with(time_unit="h"), y[:2]):
        with pytest.raises(InvalidParameterError, match="same in both time scales"):
            Z.to_time_scale(y, other)


@pytest.mark.parametrize(
    ("since", "message"),
    [
        ([1.0], "one moment for each of the 2"),
        ([1.0, np.nan], "1 of 2 are not"),
        (["2024-01-01", "2024-01-02"], "count in a unit that dates have"),
        (None, "date of time 0 of every individual"),
    ],
)
def test_dates_of_time_0_must_be_known(since, message):
    y = RecurrentEvents.from_lists([[1.0], []], end=2.0)
    with pytest.raises(InvalidParameterError, match=message):
        y.in_calendar_time(since)


def test_time_stamps_need_histories_that_count_from_a_date():
    y = RecurrentEvents.from_lists([[1.0], []], end=2.0)._with(time_unit="D")
    with pytest.raises(InvalidParameterError, match="must be numbers where histories"):
        y.in_age(since=["2024-01-01", "2024-01-02"])


def test_nobody_enters_before_age_0():
    y = RecurrentEvents.from_lists([[1.0], []], end=2.0, ids=["a", "b"])
    with pytest.raises(InvalidEventsError, match=r"1 of 2 individuals \(ids b\)"):
        y.in_age(since=[0.0, 0.5])


def test_exposures_move_with_the_histories():
    y = histories("individual")
    samples = Trajectories.from_flat(
        [0.0, 2.0, 0.0, 0.0], [0, 2, 3, 4], [[1, 3, 2, 5]], ["size"], ids=y.ids
    )._with(time_unit="D")
    exposed = y.with_exposure(samples)
    calendar = exposed.in_calendar_time()
    assert calendar.exposure.begins[1] == 4.0  # two days after 2024-01-03
    assert calendar.in_age().exposure.equals(exposed.exposure)
