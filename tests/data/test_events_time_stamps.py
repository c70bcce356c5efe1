"""Time stamps and durations become numbers, and come back."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from boostr.data import RecurrentEvents
from boostr.data.times import name_length
from boostr.exceptions import InvalidEventsError, InvalidParameterError

STAMPS = {
    "well": ["W1", "W1", "W2"],
    "entry": [datetime(2024, 1, 1), datetime(2024, 1, 1), datetime(2024, 1, 11)],
    "when": [datetime(2024, 1, 2, 12), datetime(2024, 1, 11), datetime(2024, 1, 21)],
    "failed": [True, False, False],
}
COLUMNS = {"id": "well", "time": "when", "event": "failed"}


@pytest.fixture(params=[pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def stamps(request):
    return request.param(STAMPS)


def test_stamps_become_days_since_the_earliest(stamps):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start="entry")
    assert_array_equal(y.times, [1.5])


def test_the_earliest_start_is_the_origin(stamps):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start="entry")
    assert y.origin == np.datetime64("2024-01-01")


def test_who_starts_later_enters_late(stamps):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start="entry")
    assert_array_equal(y.start, [0.0, 10.0])


@pytest.mark.parametrize(
    ("unit", "expected"),
    [("s", 129600.0), ("min", 2160.0), ("m", 2160.0), ("h", 36.0), ("W", 1.5 / 7)],
)
def test_the_unit_can_be_chosen(stamps, unit, expected):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start="entry", unit=unit)
    assert y.times[0] == expected


def test_both_names_of_minutes_are_the_same_unit(stamps):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start="entry", unit="m")
    assert y.time_unit == "min"


@pytest.mark.parametrize(
    "origin",
    [
        "2023-12-31",
        "2023-12-31T02:00:00+02:00",
        date(2023, 12, 31),
        datetime(2023, 12, 31),
        datetime(2023, 12, 31, 2, tzinfo=timezone(timedelta(hours=2))),
        np.datetime64("2023-12-31"),
        pd.Timestamp("2023-12-31"),
        pd.Timestamp("2023-12-31", tz="UTC"),
    ],
    ids=str,
)
def test_another_origin_can_be_given(stamps, origin):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, origin=origin)
    assert_array_equal(y.times, [2.5])


def test_without_start_follow_up_begins_at_the_origin(stamps):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, origin="2023-12-31")
    assert_array_equal(y.follow_up, [11.0, 21.0])


def test_start_may_be_one_stamp_for_all(stamps):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start=datetime(2023, 12, 31))
    assert_array_equal(y.end, [11.0, 21.0])


def test_time_can_be_measured_from_each_ones_start(stamps):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start="entry", origin="individual")
    assert_array_equal(y.end, [10.0, 10.0])


def test_with_own_origins_there_is_no_common_one(stamps):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start="entry", origin="individual")
    assert y.origin is None


def test_stamps_without_start_and_origin_are_refused(stamps):
    with pytest.raises(InvalidEventsError, match=r"start of follow-up.*\n\nHint: .*start="):
        RecurrentEvents.from_long(stamps, **COLUMNS)


def test_own_origins_need_a_start(stamps):
    with pytest.raises(InvalidEventsError, match="start of follow-up must be known"):
        RecurrentEvents.from_long(stamps, **COLUMNS, origin="individual")


def test_stamps_before_the_origin_name_the_ids(stamps):
    with pytest.raises(InvalidEventsError, match=r"negative.*\(ids W1\)"):
        RecurrentEvents.from_long(stamps, **COLUMNS, origin="2024-01-05")


def test_zones_are_converted_to_utc():
    zone = timezone(timedelta(hours=2))
    when = [t.replace(tzinfo=UTC).astimezone(zone) for t in STAMPS["when"]]
    table = pl.DataFrame({**STAMPS, "when": when})
    y = RecurrentEvents.from_long(table, **COLUMNS, origin="2024-01-01")
    assert_array_equal(y.times, [1.5])


def test_zones_of_pandas_are_converted_to_utc():
    table = pd.DataFrame(STAMPS)
    table["when"] = table["when"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    y = RecurrentEvents.from_long(table, **COLUMNS, origin="2024-01-01")
    assert_array_equal(y.times, [1.5])


def test_dates_of_polars_are_stamps():
    table = pl.DataFrame(
        {"well": [1, 1], "when": [date(2024, 1, 2), date(2024, 1, 5)], "failed": [1, 0]}
    )
    y = RecurrentEvents.from_long(table, **COLUMNS, origin=date(2024, 1, 1))
    assert_array_equal(y.end, [4.0])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_durations_are_converted(frame):
    ages = [timedelta(hours=12), timedelta(days=2)]
    table = frame({"well": [1, 1], "when": ages, "failed": [True, False]})
    y = RecurrentEvents.from_long(table, **COLUMNS, unit="h")
    assert_array_equal(y.times, [12.0])


def test_durations_take_one_start_for_all():
    ages = [timedelta(hours=12), timedelta(days=2)]
    table = pl.DataFrame({"well": [1, 1], "when": ages, "failed": [True, False]})
    y = RecurrentEvents.from_long(table, **COLUMNS, start=timedelta(hours=6))
    assert_array_equal(y.start, [0.25])


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_stamps_come_back(stamps, backend):
    y = RecurrentEvents.from_long(stamps, **COLUMNS, start="entry")
    table = y.to_long(backend=backend)
    again = RecurrentEvents.from_long(table, "well", "time", "event", start="start")
    assert again.equals(y)


def test_stamps_come_back_to_the_microsecond(rng):
    moments = np.datetime64("1985-01-01", "us") + rng.integers(1, 10**15, (500, 2))
    start, stop = np.sort(moments, axis=1).T
    flags = np.zeros(500, dtype=bool)
    table = pd.DataFrame({"id": range(500), "start": start, "stop": stop, "event": flags})
    y = RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")
    pd.testing.assert_frame_equal(y.to_start_stop(backend="pandas"), table)


def test_missing_stamps_name_the_ids():
    table = pd.DataFrame(STAMPS)
    table.loc[0, "when"] = pd.NaT
    with pytest.raises(InvalidEventsError, match=r"not missing or infinite.*\(ids W1\)"):
        RecurrentEvents.from_long(table, **COLUMNS, start="entry")


def test_missing_starts_name_the_ids():
    table = pd.DataFrame(STAMPS)
    table.loc[2, "entry"] = pd.NaT
    with pytest.raises(InvalidEventsError, match=r"`start` must be known.*\(ids W2\)"):
        RecurrentEvents.from_long(table, **COLUMNS, start="entry")


def test_a_table_of_missing_stamps_is_refused():
    table = pd.DataFrame(
        {
            "id": [1],
            "start": [pd.NaT],
            "stop": [pd.NaT],
            "event": [0],
        }
    ).astype({"start": "datetime64[us]", "stop": "datetime64[us]"})
    with pytest.raises(InvalidEventsError, match="not missing or infinite"):
        RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")


def test_an_unknown_unit_is_refused(stamps):
    with pytest.raises(
        InvalidParameterError, match=r"`unit` must be one of s, min, h, D, W"
    ):
        RecurrentEvents.from_long(stamps, **COLUMNS, start="entry", unit="Y")


@pytest.mark.parametrize("origin", ["yesterday", 3, pd.NaT], ids=str)
def test_an_impossible_origin_is_refused(stamps, origin):
    with pytest.raises(InvalidParameterError, match=r"`origin` must be a time stamp"):
        RecurrentEvents.from_long(stamps, **COLUMNS, origin=origin)


def test_numbers_take_no_origin():
    table = pd.DataFrame({"well": [1], "when": [3.0], "failed": [0]})
    with pytest.raises(InvalidParameterError, match="unless times are time stamps"):
        RecurrentEvents.from_long(table, **COLUMNS, origin="2024-01-01")


def test_numbers_and_stamps_are_not_mixed(stamps):
    table = pd.DataFrame(STAMPS).assign(entry=0.0)
    with pytest.raises(InvalidParameterError, match=r"'time' holds time stamps, 'start'"):
        RecurrentEvents.from_long(table, **COLUMNS, start="entry")


def test_the_unit_of_numbers_is_only_a_name():
    table = pd.DataFrame({"well": [1], "when": [3.0], "failed": [0]})
    y = RecurrentEvents.from_long(table, **COLUMNS, unit="km")
    assert repr(y) == "RecurrentEvents(1 individual, 0 events, follow-up 3 km)"


def test_texts_are_no_times():
    table = pd.DataFrame({"well": [1], "when": ["2024-01-01"], "failed": [0]})
    with pytest.raises(
        InvalidEventsError, match=r"'when' must hold numbers.*\n\nHint: conv"
    ):
        RecurrentEvents.from_long(table, **COLUMNS)


@pytest.mark.parametrize(
    "zone", ["America/New_York", "Etc/GMT+5", "America/Argentina/Buenos_Aires", "EST5EDT"]
)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_zones_of_any_name_give_the_same_instants(library, zone):
    here = pl.DataFrame(STAMPS).with_columns(
        pl.col("entry", "when").dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    )
    table = {"pandas": here.to_pandas, "polars": here.clone, "pyarrow": here.to_arrow}
    y = RecurrentEvents.from_long(table[library](), **COLUMNS, start="entry")
    assert y.equals(
        RecurrentEvents.from_long(pl.DataFrame(STAMPS), **COLUMNS, start="entry")
    )


@pytest.mark.parametrize(
    ("length", "unit", "words"),
    [
        (1, "D", "1 day"),
        (1.0, None, "1 unit of time"),
        (2.5, None, "2.5 units of time"),
        (3, "km", "3 km"),
        (8760.0, "h", "8,760 hours"),
    ],
)
def test_lengths_of_time_are_named_in_words(length, unit, words):
    assert name_length(length, unit) == words
