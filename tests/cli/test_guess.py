import pytest

pl = pytest.importorskip("polars")

from boostr.cli._files import open_file  # noqa: E402
from boostr.cli._guess import (  # noqa: E402
    EventColumns,
    guess_event_columns,
    guess_id,
    guess_sample_columns,
)
from boostr.exceptions import InvalidParameterError  # noqa: E402


@pytest.fixture
def table(tmp_path):
    def write(**columns):
        path = tmp_path / "table.csv"
        pl.DataFrame(columns).write_csv(path)
        return open_file(path, "events")

    return write


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        (
            {"pump": ["a", "a"], "day": [1.0, 2.0], "failed": [1, 0]},
            {"id": "pump", "time": "day", "event": "failed"},
        ),
        (  # named by the words inside, in any order
            {
                "is_failure": [True, False],
                "EventDate": ["2024-01-01"] * 2,
                "assetId": [7, 7],
            },
            {"id": "assetId", "time": "EventDate", "event": "is_failure"},
        ),
        (  # by content alone: what repeats, what is a date, what is 0 or 1
            {"kennung": ["a", "a"], "wann": ["2024-01-01", "2024-02-01"], "defekt": [1, 0]},
            {"id": "kennung", "time": "wann", "event": "defekt"},
        ),
        (
            {"id": [1, 1], "tstart": [0, 5], "tstop": [5, 9], "status": [1, 0]},
            {"id": "id", "start": "tstart", "stop": "tstop", "event": "status"},
        ),
        (  # an entry beside the times
            {"bus": [1, 1], "start": [0, 0], "time": [5, 9], "event": [1, 0], "km": [3, 4]},
            {"id": "bus", "start": "start", "time": "time", "event": "event"},
        ),
        (
            {"unit": [1, 1], "end": [5, 9], "event": [1, 0]},
            {"id": "unit", "time": "end", "event": "event"},
        ),
    ],
)
def test_columns_are_found_by_name_and_content(table, columns, roles):
    assert guess_event_columns(table(**columns), {}) == EventColumns(**roles)


def test_what_is_given_comes_first(table):
    file = table(pump=[1, 1], tag=["a", "a"], day=[1, 2], hour=[3, 4], failed=[1, 0])
    found = guess_event_columns(file, {"id": "tag", "time": "hour", "cost": "day"})
    assert found == EventColumns(id="tag", time="hour", event="failed", cost="day")


def test_what_was_taken_is_said_and_what_was_not(table):
    file = table(pump=[1, 1], day=[1, 2], failed=[1, 0], note=["x", "y"])
    said = guess_event_columns(file, {}).describe(file)
    assert "using `pump` as the id, `day` as the time, `failed` as the event" in said
    assert "not using `note`" in said
    assert "--id" in said


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1.5, 2.5], "day": [1, 2], "failed": [1, 0]}, "column for the id"),
        ({"pump": [1, 1], "x": [1.5, 2.5], "failed": [1, 0]}, "column for the time"),
        ({"pump": [1, 1], "day": [1, 2], "x": [5, 6]}, "column for the event"),
        ({"pump": [1, 1], "day": [1, 2], "x": [0, 1], "y": [0, 1]}, "column for the event"),
    ],
)
def test_where_nothing_fits_clearly_the_columns_are_named(table, columns, message):
    with pytest.raises(InvalidParameterError, match=message) as caught:
        guess_event_columns(table(**columns), {})
    assert all(f"`{name}`" in str(caught.value) for name in columns)


def test_columns_that_are_given_must_be_there(table):
    file = table(pump=[1, 1], day=[1, 2], failed=[1, 0])
    with pytest.raises(InvalidParameterError, match="lacks --id well"):
        guess_event_columns(file, {"id": "well"})
    with pytest.raises(InvalidParameterError, match="both given"):
        guess_event_columns(file, {"time": "day", "stop": "day"})
    with pytest.raises(InvalidParameterError, match="column for the start"):
        guess_event_columns(file, {"stop": "day"})


def test_other_tables_are_searched_for_the_columns_of_the_events_first(table):
    events = EventColumns(id="tag", time="clock", event="failed")
    same = table(pump=[1], tag=[2], clock=[3], day=[4], torque=[5.0])
    assert guess_sample_columns(same, {}, events).time == "clock"
    assert guess_id(same, events) == "tag"
    other = table(pump=[1], day=[4], torque=[5.0])
    assert guess_sample_columns(other, {}, events).time == "day"
    assert guess_id(other, events) == "pump"
    with pytest.raises(InvalidParameterError, match="column for the time"):
        guess_sample_columns(table(pump=[1], torque=[5.0]), {}, events)


@pytest.mark.parametrize(
    "name",
    ["censored", "is_censored", "alive", "OK", "survived", "notFailed", "event free"],
)
def test_a_name_that_says_the_opposite_is_never_taken_for_the_event(table, name):
    file = table(**{"pump": [1, 1], "day": [1, 2], name: [0, 1]})
    with pytest.raises(InvalidParameterError, match="1 means no event") as caught:
        guess_event_columns(file, {})
    assert f"--event 'not {name}'" in str(caught.value)
    assert guess_event_columns(file, {"event": name}).event == name
    said = guess_event_columns(file, {"event": f"not {name}"}).describe(file)
    assert f"`not {name}` as the event (choose" in said  # and nothing is left unused


def test_a_clear_name_of_events_is_taken_beside_its_opposite(table):
    file = table(pump=[1, 1], day=[1, 2], alive=[1, 0], failed=[1, 0])
    assert guess_event_columns(file, {}).event == "failed"


def test_the_opposite_of_a_missing_column_is_refused(table):
    file = table(pump=[1, 1], day=[1, 2], failed=[1, 0])
    with pytest.raises(InvalidParameterError, match="lacks --event censored"):
        guess_event_columns(file, {"event": "not censored"})
