"""Starts and ends of follow-up that are given beside a table of events."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from boostr.data import RecurrentEvents
from boostr.exceptions import BoostrError, DataWarning, InvalidEventsError

ORDERS = {"well": ["W3", "W1", "W3"], "day": [8.5, 2.0, 3.0]}
ROLES = {"id": "well", "time": "day"}
WHOLE = RecurrentEvents.from_long(
    pd.DataFrame(
        {
            "well": ["W1", "W1", "W3", "W3", "W3"],
            "day": [2.0, 10.0, 3.0, 8.5, 10.0],
            "failed": [1, 0, 1, 1, 0],
        }
    ),
    **ROLES,
    event="failed",
)


@pytest.fixture(params=[pd.DataFrame, pl.DataFrame])
def orders(request):
    return request.param(ORDERS)


@pytest.mark.parametrize(
    "end",
    [
        10,
        [10.0, 10.0],
        {"W1": 10.0, "W3": 10.0},
        pd.Series({"W3": 10.0, "W1": 10.0}),
        pl.Series([10.0, 10.0]),
    ],
    ids=["scalar", "array", "mapping", "pandas", "polars"],
)
def test_ends_may_be_given_in_the_place_of_rows(orders, end):
    assert RecurrentEvents.from_long(orders, **ROLES, end=end).equals(WHOLE)


def test_ends_may_be_a_column():
    table = pd.DataFrame(ORDERS | {"until": [11.0, 9.0, 11.0]})
    y = RecurrentEvents.from_long(table, **ROLES, end="until")
    assert y.end.tolist() == [9.0, 11.0]
    table.loc[2, "until"] = 12.0
    with pytest.raises(BoostrError, match=r"`end` must be the same .* \(ids W3\)"):
        RecurrentEvents.from_long(table, **ROLES, end="until")


def test_who_is_only_named_is_observed_without_events(orders):
    y = RecurrentEvents.from_long(orders, **ROLES, end={"W1": 10, "W2": 7, "W3": 10})
    assert y.ids.tolist() == ["W1", "W2", "W3"]
    assert y.n_events.tolist() == [1, 0, 2]
    assert y.end.tolist() == [10.0, 7.0, 10.0]
    starts = pd.Series({"W1": 1.0, "W2": 4.0, "W3": 0.0})
    y = RecurrentEvents.from_long(orders, **ROLES, start=starts, end=10)
    assert y.start.tolist() == [1.0, 4.0, 0.0]
    assert y.n_events.tolist() == [1, 0, 2]


def test_a_row_for_the_end_comes_first(orders):
    flagged = orders.assign if isinstance(orders, pd.DataFrame) else orders.with_columns
    values = [0, 1, 1]
    column = values if isinstance(orders, pd.DataFrame) else pl.Series(values)
    y = RecurrentEvents.from_long(flagged(failed=column), **ROLES, event="failed", end=10)
    assert y.end.tolist() == [10.0, 8.5]
    assert y.n_events.tolist() == [1, 1]


def test_costs_stay_with_their_events():
    table = pd.DataFrame(ORDERS | {"euro": [80.0, 20.0, 30.0]})
    y = RecurrentEvents.from_long(table, **ROLES, cost="euro", end=10)
    assert y.costs.tolist() == [20.0, 30.0, 80.0]


BEGIN = datetime(2024, 1, 1)


@pytest.mark.parametrize(
    "end",
    [
        "2024-01-11",
        datetime(2024, 1, 11),
        datetime(2024, 1, 11, tzinfo=UTC),
        np.datetime64("2024-01-11"),
        pd.Timestamp("2024-01-11"),
        pd.Series(pd.to_datetime(["2024-01-11"] * 2), index=["W1", "W3"]),
        pd.Series(
            pd.to_datetime(["2024-01-10 19:00"] * 2).tz_localize("America/New_York"),
            index=["W1", "W3"],
        ),
        {"W1": "2024-01-11", "W3": datetime(2024, 1, 11)},
        np.array(["2024-01-11"] * 2, "datetime64[D]"),
    ],
)
def test_dates_may_come_in_any_form(end):
    days = [BEGIN + timedelta(days=day) for day in ORDERS["day"]]
    for make in (pd.DataFrame, pl.DataFrame):
        table = make(ORDERS | {"day": days})
        y = RecurrentEvents.from_long(table, **ROLES, start=BEGIN, end=end)
        assert y.end.tolist() == [10.0, 10.0]
        assert y.times.tolist() == WHOLE.times.tolist()


def test_time_may_be_age_from_starts_by_id():
    table = pl.DataFrame({"well": [1], "day": [BEGIN + timedelta(days=4)]})
    starts = {1: BEGIN, 2: BEGIN + timedelta(days=3)}
    y = RecurrentEvents.from_long(
        table, **ROLES, start=starts, end="2024-01-11", origin="individual"
    )
    assert y.end.tolist() == [10.0, 7.0]
    assert y.times.tolist() == [4.0]


def test_durations_have_ends_too():
    table = pd.DataFrame(ORDERS | {"day": pd.to_timedelta(ORDERS["day"], unit="D")})
    y = RecurrentEvents.from_long(table, **ROLES, end=timedelta(days=10))
    assert y.end.tolist() == [10.0, 10.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "`event` must be the name of a column, unless `end` is given"),
        ({"end": {"W1": 10.0}}, r"row for its end .* \(ids W3\)(?s:.*)as `end`"),
        ({"end": {"W1": 10.0, "W3": None}}, r"row for its end .* \(ids W3\)"),
        ({"end": 5.0}, r"not come after the end .* \(ids W3\)"),
        ({"end": [1.0, 2.0, 3.0]}, "`end` must have one entry per individual"),
        ({"end": "2024-01-01"}, "`end` must be the name of a column, one time, or times"),
        ({"end": timedelta(days=3)}, "'end' holds durations"),
        ({"end": {"W1": 10.0, 7: 10.0, "W3": 10.0}}, "all numbers or all texts"),
        ({"end": pd.Series([9.0, 9.0], index=["W1", "W1"])}, r"ids are repeated \(W1"),
        ({"end": 10.0, "start": {"W1": 0.0}}, r"`start` must be known.* \(ids W3\)"),
        ({"end": {"W1": 10, "W2": 9, "W3": 10}, "exposure": "day"}, "same in all rows"),
    ],
)
def test_ends_that_cannot_be_are_refused(orders, given, message):
    with pytest.raises(BoostrError, match=message):
        RecurrentEvents.from_long(orders, **ROLES, **given)


def test_exposures_of_a_column_are_not_those_of_individuals_without_rows():
    table = pd.DataFrame({"well": [1], "day": [2.0], "km": [3.0]})
    with pytest.raises(BoostrError, match="2 individuals"):
        RecurrentEvents.from_long(table, **ROLES, end={1: 9, 2: 9}, exposure="km")
    y = RecurrentEvents.from_long(table, **ROLES, end={1: 9, 2: 9}, exposure={1: 3, 2: 4})
    assert len(y.exposure) == 2


def test_rows_without_an_event_that_end_most_follow_ups_before_the_end_are_a_warning():
    orders = pd.DataFrame(
        {"bus": [1, 1, 2, 2, 3], "day": [3, 5, 4, 8, 6], "failed": [1, 0, 1, 0, 1]}
    )
    with pytest.warns(DataWarning, match=r"`end` for 2 of 3 individuals \(ids 1, 2\)"):
        y = RecurrentEvents.from_long(orders, "bus", "day", "failed", end=10)
    assert y.end.tolist() == [5.0, 8.0, 10.0]
    few = orders[orders["bus"] > 1]  # who left early, among others
    assert RecurrentEvents.from_long(few, "bus", "day", "failed", end=10).end[0] == 8.0


def test_with_an_end_the_hint_is_to_leave_out_rows_without_events():
    orders = pd.DataFrame({"bus": [1, 1, 1], "day": [3, 5, 6], "failed": [1, 0, 0]})
    with (
        pytest.warns(DataWarning, match="for 1 of 1"),
        pytest.raises(InvalidEventsError, match="keep only the rows with events"),
    ):
        RecurrentEvents.from_long(orders, "bus", "day", "failed", end=10)
