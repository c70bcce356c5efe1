"""Sensors count time as the events do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

DAYS = ["2024-01-03", "2023-12-31", "2024-01-02T12:00"]


def table(stamps=DAYS, **more):
    when = pd.to_datetime(stamps, format="ISO8601")
    return pd.DataFrame({"well": [1, 1, 2], "when": when, "load": [1.0, 2.0, 3.0]} | more)


def read(source, **options):
    return Trajectories.from_long(source, "well", "when", ["load"], **options)


@pytest.fixture
def y():
    events = pd.DataFrame(
        {
            "well": [1, 2],
            "when": pd.to_datetime(["2024-02-01", "2024-02-01"]),
            "failed": [0, 0],
            "start": pd.to_datetime(["2024-01-01", "2024-01-02"]),
        }
    )
    return RecurrentEvents.from_long(events, "well", "when", "failed", start="start")


def test_stamps_are_counted_from_the_origin_of_the_events(y):
    Z = read(table(), origin=y.origin)
    assert_allclose(Z.times, [-1.0, 2.0, 1.5])
    assert (Z.time_unit, Z.origin) == ("D", np.datetime64("2024-01-01"))


@pytest.mark.parametrize(
    "origin", ["2024-01-01", pd.Timestamp("2024-01-01"), np.datetime64("2024-01-01")]
)
def test_an_origin_may_be_written_in_many_ways(origin):
    assert_allclose(read(table(), origin=origin).times, [-1.0, 2.0, 1.5])


def test_units_convert():
    Z = read(table(), origin="2024-01-01", unit="h")
    assert_allclose(Z.times, [-24.0, 48.0, 36.0])


def test_polars_reads_the_same_stamps():
    frame = table()
    columns = {name: frame[name].to_list() for name in frame}
    assert read(pl.DataFrame(columns), origin="2024-01-01").equals(
        read(frame, origin="2024-01-01")
    )


def test_zones_are_converted():
    frame = table()
    frame["when"] = frame["when"].dt.tz_localize("Africa/Cairo")
    assert_allclose(read(frame, origin="2024-01-01", unit="h").times, [-26.0, 46.0, 34.0])


def test_ages_count_from_a_column():
    start = pd.to_datetime(["2023-12-31", "2023-12-31", "2024-01-02"])
    Z = read(table(start=start), origin="start")
    assert_allclose(Z.times, [0.0, 3.0, 0.5])
    assert Z.origin is None


def test_the_column_of_origins_is_no_sensor():
    start = pd.to_datetime(["2023-12-31", "2023-12-31", "2024-01-02"])
    Z = Trajectories.from_long(table(start=start), "well", "when", origin="start")
    assert Z.names == ("load",)


def test_numbers_count_from_a_column_as_well():
    frame = pd.DataFrame({"well": 1, "when": [5.0, 6.0], "load": 1.0, "start": 4.0})
    assert_array_equal(read(frame, origin="start").times, [1.0, 2.0])


def test_durations_are_converted():
    frame = pd.DataFrame(
        {"well": 1, "when": pd.to_timedelta([12, 36], unit="h"), "load": [1.0, 2.0]}
    )
    assert_allclose(read(frame).times, [0.5, 1.5])


def test_the_unit_of_numbers_is_kept():
    frame = pd.DataFrame({"well": [1], "when": [5.0], "load": [1.0]})
    assert read(frame, unit="km").time_unit == "km"


@pytest.mark.parametrize("origin", [None, "individual"])
def test_stamps_without_an_origin_say_where_it_is(origin):
    with pytest.raises(InvalidSensorsError, match=r"(?s)Time st.*Hint: origin=y\.origin"):
        read(table(), origin=origin)


def test_numbers_have_no_stamp_as_origin(y):
    frame = pd.DataFrame({"well": [1], "when": [5.0], "load": [1.0]})
    with pytest.raises(InvalidParameterError, match=r"(?s)`origin` must be None.*Hint"):
        read(frame, origin=y.origin)


def test_an_origin_that_is_no_stamp_is_refused():
    with pytest.raises(InvalidParameterError, match=r"(?s)`origin`.*'begin'.*Hint"):
        read(table(), origin="begin")


def test_a_missing_stamp_names_the_id():
    frame = table()
    frame.loc[2, "when"] = pd.NaT
    with pytest.raises(InvalidSensorsError, match=r"\(ids 2\)"):
        read(frame, origin="2024-01-01")


def test_stamps_come_back(y):
    Z = read(table(), origin=y.origin)
    again = Trajectories.from_long(Z.to_long(), "well", "time", origin=y.origin)
    assert again.equals(Z)


def test_another_clock_than_that_of_the_events_is_refused(y):
    Z = read(table(), origin="2024-01-05")
    with pytest.raises(InvalidSensorsError, match=r"(?s)`origin` is 2024-01-05.*Hint"):
        Z.time_since_event(y)


@pytest.mark.parametrize("zone", ["America/New_York", "Etc/GMT+5"])
def test_zones_of_any_name_give_the_same_instants(zone):
    stamps = pd.to_datetime(["2024-01-01", "2024-07-01"])
    table = pd.DataFrame({"well": [1, 1], "when": stamps, "torque": [1.0, 2.0]})
    here = table.assign(when=stamps.tz_localize("UTC").tz_convert(zone))
    found = [
        Trajectories.from_long(each, "well", "when", origin="2024-01-01")
        for each in (table, here)
    ]
    assert found[0].equals(found[1])
