"""Rows of events that stand twice."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from boostr.data import RecurrentEvents
from boostr.exceptions import (
    DuplicateRowsWarning,
    InvalidEventsError,
    InvalidParameterError,
)

ROWS = {
    "well": ["W1", "W1", "W1", "W1", "W2"],
    "day": [3.0, 3.0, 3.0, 9.0, 7.0],
    "failed": [1, 1, 1, 0, 0],
    "note": [None, None, "seal", None, None],
}
COLUMNS = {"id": "well", "time": "day", "event": "failed"}


@pytest.fixture(params=[pd.DataFrame, pl.DataFrame, pa.table])
def table(request):
    return request.param


def test_events_that_stand_twice_count_with_a_warning(table):
    message = r"^1 row .* repeats another row in all columns, for 1 individual \(ids W1\)"
    with pytest.warns(DuplicateRowsWarning, match=message) as caught:
        y = RecurrentEvents.from_long(table(ROWS), **COLUMNS)
    assert y.n_events.tolist() == [3, 0]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("choice", "n_events"), [("keep", 3), ("drop", 2)])
def test_they_are_kept_or_dropped_without_one(table, choice, n_events):
    y = RecurrentEvents.from_long(table(ROWS), **COLUMNS, duplicates=choice)
    assert y.n_events.tolist() == [n_events, 0]


def test_they_can_be_refused(table):
    with pytest.raises(InvalidEventsError, match=r"1 row .* \(ids W1\).*\n\nHint: dup"):
        RecurrentEvents.from_long(table(ROWS), **COLUMNS, duplicates="error")


def test_events_at_one_time_that_differ_elsewhere_are_no_duplicates():
    rows = ROWS | {"note": ["a", "b", "c", "d", "e"]}
    for choice in ("warn", "drop", "error"):
        y = RecurrentEvents.from_long(pd.DataFrame(rows), **COLUMNS, duplicates=choice)
        assert y.n_events.tolist() == [3, 0]


def test_ends_that_stand_twice_are_dropped_too(table):
    twice = {name: [*values, values[-1]] for name, values in ROWS.items()}
    with pytest.raises(InvalidEventsError, match="only one row for its end"):
        RecurrentEvents.from_long(table(twice), **COLUMNS)
    y = RecurrentEvents.from_long(table(twice), **COLUMNS, duplicates="drop")
    assert y.n_events.tolist() == [2, 0]


def test_windows_that_stand_twice_are_refused_or_dropped(table):
    rows = {
        "well": ["W1", "W1", "W2"],
        "from": [0.0, 0.0, 1.0],
        "to": [3.0, 3.0, 4.0],
        "failed": [1, 1, 0],
        "length": [2.0, 2.0, 5.0],
    }
    columns = {"id": "well", "start": "from", "stop": "to", "event": "failed"}
    with pytest.raises(InvalidEventsError, match=r"(?s)overlap.*duplicates='drop'"):
        RecurrentEvents.from_start_stop(table(rows), **columns)
    y = RecurrentEvents.from_start_stop(
        table(rows), **columns, exposure="length", duplicates="drop"
    )
    assert y.n_events.tolist() == [1, 0]
    assert y.start.tolist() == [0.0, 1.0]


def test_cells_that_cannot_be_hashed_are_compared():
    rows = ROWS | {"note": [[1], [1], [2], [3], [4]]}
    y = RecurrentEvents.from_long(pd.DataFrame(rows), **COLUMNS, duplicates="drop")
    assert y.n_events.tolist() == [2, 0]


def test_other_choices_are_refused():
    with pytest.raises(InvalidParameterError, match="'warn', 'keep', 'drop', 'error'"):
        RecurrentEvents.from_long(pd.DataFrame(ROWS), **COLUMNS, duplicates="first")
