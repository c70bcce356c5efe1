from datetime import datetime

import pytest

pl = pytest.importorskip("polars")

from boostr.cli._files import open_file  # noqa: E402
from boostr.cli._moments import (  # noqa: E402
    could_be_flags,
    could_be_times,
    is_date,
    parse_flags,
    parse_time,
    parse_times,
)
from boostr.exceptions import InvalidEventsError, InvalidParameterError  # noqa: E402

LAST_OF_JANUARY = datetime(2024, 1, 31)


@pytest.mark.parametrize(
    "values",
    [
        ["2024-01-31", "2024-01-31"],
        ["2024-01-31T00:00:00", "2024-01-31 00:00"],
        ["2024-01-31T00:00:00Z", "2024-01-31T02:00:00+02:00"],
        ["2024/01/31", "2024/01/31"],
        ["31.01.2024", "31.01.2024 00:00"],
        ["31/01/2024", "31/01/2024"],
        ["01/31/2024", "01/31/2024"],
        ["31-Jan-2024", "31-JAN-2024"],
        ["31 January 2024", "31 Jan 2024 00:00"],
        [20240131, 20240131],
        [202401310000, 202401310000],
        [20240131000000, 20240131000000],
        [LAST_OF_JANUARY, LAST_OF_JANUARY],
    ],
)
def test_dates_are_read_however_they_are_written(values):
    assert parse_times(pl.Series("day", values)).to_list() == [LAST_OF_JANUARY] * 2


def test_numbers_stay_numbers():
    assert parse_times(pl.Series("day", [1, 2])).to_list() == [1, 2]
    assert parse_times(pl.Series("day", [" 1.5", "2"])).to_list() == [1.5, 2.0]
    assert parse_times(pl.Series("day", [20240131, 20249999])).dtype == pl.Int64


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2024-01-31", "31.01.2024"], "'31.01.2024' beside '2024-01-31'"),
        (["31.01.2024", "x", "01.02.2024"], "'x' beside '31.01.2024'"),
        (["01/02/2024"], "day first or month first"),
        (["soon", "later"], "'soon', 'later'"),
        (["2024-02-30"], "'2024-02-30'"),
        (["2011-01-31", "2011-02-31"], "dates of the calendar, but '2011-02-31' is none"),
        (["31-Jan-2011", "31-Feb-2011"], "but '31-Feb-2011' is none"),
        (["1.5", "x", "2"], "'x' beside '1.5'"),
        (["31.01.24", "01.02.24"], "'31.01.24', '01.02.24'"),
        (["24-01-31"], "'24-01-31'"),
    ],
)
def test_dates_of_no_or_two_meanings_are_refused(values, message):
    with pytest.raises(InvalidEventsError, match=message):
        parse_times(pl.Series("day", values))


def test_strange_values_are_found_by_their_row(tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("day,failed\n2011-01-31,yes\n,no\n2011-02-31,maybe\n")
    file = open_file(path, "events")
    table = file.read(file.names)
    with pytest.raises(InvalidEventsError, match=r"'2011-02-31' \(row 4 of 'events.csv'\)"):
        parse_times(table["day"], file)
    with pytest.raises(InvalidEventsError, match=r"'maybe' \(row 4 of 'events.csv'\)"):
        parse_flags(table["failed"], file)


def test_missing_times_stay_missing():
    assert parse_times(pl.Series("day", [None, "2024-01-31"])).to_list() == [
        None,
        LAST_OF_JANUARY,
    ]


@pytest.mark.parametrize("values", [["yes", "No"], ["True", "false "], ["1", "0"]])
def test_words_for_yes_and_no_are_flags(values):
    column = pl.Series("failed", values)
    assert could_be_flags(column)
    assert parse_flags(column).to_list() == [True, False]


def test_other_words_are_named():
    with pytest.raises(InvalidEventsError, match="'maybe'"):
        parse_flags(pl.Series("failed", ["yes", "maybe"]))


@pytest.mark.parametrize(
    "values", [[2, 0], ["yes", "maybe"], [None], [datetime(2024, 1, 1)]]
)
def test_what_holds_anything_else_is_no_flag(values):
    assert not could_be_flags(pl.Series(values))


def test_texts_are_times_if_they_look_like_dates():
    assert could_be_times(pl.Series(["2024-01-31"]))
    assert could_be_times(pl.Series([1.0]))
    assert could_be_times(pl.Series(["31-Jan-2011"]))
    assert not could_be_times(pl.Series(["P-1-2"]))
    assert not could_be_times(pl.Series([True]))


def test_times_of_options_are_numbers_or_dates():
    assert parse_time("1.5", "--start") == 1.5
    assert parse_time("2024-01-31", "--start") == LAST_OF_JANUARY
    with pytest.raises(InvalidParameterError, match="--start must be a number or a date"):
        parse_time("soon", "--start")


@pytest.mark.parametrize("text", ["2024-01-31", "2024-01-31T12:00", "20240131"])
def test_dates_are_told_from_numbers(text):
    assert is_date(text)


@pytest.mark.parametrize("text", ["50", "2024", "1e3", "-5", "2024-13-01", "soon", "nan"])
def test_what_is_no_date_is_none(text):
    assert not is_date(text)
