from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from tests.cli.scenes import draw_pumps  # noqa: E402

from boostr import BoostR  # noqa: E402
from boostr.cli._inputs import FleetFiles, Known  # noqa: E402
from boostr.cli._tables import read_fleet, read_when  # noqa: E402
from boostr.data import RecurrentEvents, Trajectories  # noqa: E402
from boostr.datasets import load_cgd, load_valve_seats  # noqa: E402
from boostr.exceptions import (  # noqa: E402
    BoostrError,
    DuplicateRowsWarning,
    InvalidParameterError,
)

BEGIN = datetime(2024, 1, 1)


@pytest.fixture
def read(tmp_path):
    """Read a fleet from tables, written as CSV or Parquet."""

    def read(
        events, static=None, sensors=None, *, ending="csv", known=None, files=None, **given
    ):
        paths = dict(files or {})
        tables = {"events": events, "static": static, "sensors": sensors}
        for name, table in tables.items():
            if table is not None:
                paths[name] = tmp_path / f"{name}.{ending}"
                getattr(table, f"write_{ending}")(paths[name])
        return read_fleet(FleetFiles(**paths, given=given), known)

    return read


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_in_any_order_are_matched_by_id(read, ending):
    events, static, sensors = draw_pumps(n=6)
    fleet = read(
        *(table.sample(fraction=1.0, shuffle=True, seed=1) for table in (events, static)),
        sensors.reverse(),
        ending=ending,
    )
    assert fleet.y.equals(RecurrentEvents.from_long(events, "pump", "day", "failed"))
    assert fleet.X.equals(static.drop("pump"))
    direct = Trajectories.from_long(sensors, "pump", "day")
    assert fleet.Z.ids.tolist() == direct.ids.tolist()
    assert np.array_equal(fleet.Z.values, direct.values)


def test_rows_of_intervals_keep_their_gaps(read):
    table = pl.DataFrame(
        {"pump": [1, 1], "start": [0.0, 5.0], "stop": [3.0, 9.0], "failed": [1, 0]}
    )
    assert read(table).y.equals(
        RecurrentEvents.from_start_stop(table, "pump", "start", "stop", "failed")
    )


def test_ids_keep_their_zeros_and_are_numbers_where_they_can_be(read):
    table = pl.DataFrame({"pump": ["007", "8"], "day": [1, 2], "failed": [0, 0]})
    assert read(table).y.ids.tolist() == ["007", "8"]
    table = pl.DataFrame({"pump": ["10", "8"], "day": [1, 2], "failed": [0, 0]})
    assert read(table).y.ids.tolist() == [8, 10]


def test_ids_that_differ_by_spaces_or_case_are_different_and_warned_of(read, capsys):
    ids = ["a0", "a0 ", "A0", "b"]
    table = pl.DataFrame({"pump": ids, "day": [1, 2, 3, 4], "failed": [0] * 4})
    assert read(table).y.ids.tolist() == sorted(ids)
    said = capsys.readouterr().err
    assert (
        "warning: 3 ids of 'events.csv' differ from others only by spaces or case" in said
    )
    assert "'a0', 'a0 ', 'A0'" in said
    read(table.filter(pl.col("pump").is_in(["a0", "b"])))
    assert "warning" not in capsys.readouterr().err


def test_ids_that_do_not_match_for_a_space_are_told_so(read):
    events, static, _ = draw_pumps(n=4)
    spaced = static.with_columns(pl.col("pump").replace("P01", "p01 "))
    with pytest.raises(BoostrError, match="Hint: 1 is there with other spaces or case"):
        read(events, spaced)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_that_repeat_others_in_all_columns_are_warned_of(read, ending):
    table = pl.DataFrame({"pump": ["a"] * 4, "day": [1, 1, 1, 9], "failed": [1, 1, 1, 0]})
    notes = table.with_columns(note=pl.Series(["x", "x", "y", None]))
    with pytest.warns(DuplicateRowsWarning, match=r"^1 row .* 1 individual \(ids a\)"):
        assert read(notes, ending=ending).y.n_events.tolist() == [3]
    assert read(notes, ending=ending, duplicates="drop").y.n_events.tolist() == [2]
    assert read(table, ending=ending, duplicates="drop").y.n_events.tolist() == [1]
    assert read(table, ending=ending, duplicates="keep").y.n_events.tolist() == [3]
    with pytest.raises(BoostrError, match=r"2 rows .* repeat another row"):
        read(table, ending=ending, duplicates="error")


def test_ids_match_across_types_of_files(tmp_path):
    paths = {"events": tmp_path / "e.parquet", "static": tmp_path / "s.csv"}
    events = pl.DataFrame({"pump": [8.0, 7.0], "day": [1, 2], "failed": [0, 0]})
    events.write_parquet(paths["events"])
    pl.DataFrame({"pump": [7, 8], "load": [0.7, 0.8]}).write_csv(paths["static"])
    fleet = read_fleet(FleetFiles(**paths, given={}))
    assert fleet.X["load"].to_list() == [0.7, 0.8]


def dated(table):
    """Return a table with dates in the place of days."""
    days = [BEGIN + timedelta(days=day) for day in table["day"].to_list()]
    return table.with_columns(pl.Series("day", days))


def test_dates_are_counted_from_the_start_that_is_given(read):
    events, _, sensors = draw_pumps(n=4)
    fleet = read(dated(events), None, dated(sensors), start="2024-01-01")
    plain = read(events, None, sensors)
    assert fleet.y.origin == np.datetime64(BEGIN)
    assert np.allclose(fleet.y.times, plain.y.times)
    assert np.allclose(fleet.Z.times, plain.Z.times)
    assert fleet.reading["entry"] == "2024-01-01"
    assert fleet.reading["origin"] == "2024-01-01T00:00:00.000000"


def test_dates_without_a_start_are_refused_with_the_option(read):
    with pytest.raises(BoostrError, match="--start 2024-01-31"):
        read(dated(draw_pumps(n=2)[0]))


def test_time_is_age_if_counted_from_each_ones_start(read):
    events = pl.DataFrame(
        {
            "pump": [1, 1, 2],
            "installed": ["2024-01-01", "2024-01-01", "2024-02-01"],
            "day": ["2024-01-11", "2024-01-21", "2024-02-06"],
            "failed": [1, 0, 0],
        }
    )
    sensors = pl.DataFrame(
        {"pump": [2, 1], "day": ["2024-02-02", "2024-01-02"], "torque": [0.5, 0.6]}
    )
    fleet = read(events, None, sensors, origin="individual")
    assert fleet.y.end.tolist() == [20.0, 5.0]
    assert fleet.Z.times.tolist() == [1.0, 1.0]
    assert fleet.reading["origin"] == "individual"


def test_sensors_in_dates_do_not_go_with_events_in_numbers(read):
    events, _, sensors = draw_pumps(n=4)
    with pytest.raises(BoostrError, match="holds dates and events have numbers"):
        read(events, None, dated(sensors))
    with pytest.raises(BoostrError, match="holds numbers and events have dates"):
        read(dated(events), None, sensors, start="2024-01-01")


def test_dates_among_features_become_days(read):
    events, static, _ = draw_pumps(n=2)
    dates = pl.Series("since", ["1970-01-02", "1970-01-03"])
    texts = pl.Series("code", ["1970-01-02 x", "1970-01-03 y"])
    fleet = read(events, static.with_columns(dates, texts))
    assert fleet.X["since"].to_list() == [1.0, 2.0]
    assert fleet.X["code"].to_list() == texts.to_list()
    moments = pl.Series("since", [datetime(1970, 1, 2, 12), datetime(1970, 1, 3)])
    lengths = pl.Series("age", [timedelta(hours=12), timedelta(days=2)])
    fleet = read(events, static.with_columns(moments, lengths), ending="parquet")
    assert fleet.X["since"].to_list() == [1.5, 2.0]
    assert fleet.X["age"].to_list() == [0.5, 2.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.head(2), r"2 of 4 are not \(ids P02, P03\)"),
        (
            lambda table: pl.concat([table, table.head(1)]),
            r"more for 1 individual \(ids P00\)",
        ),
        (
            lambda table: table.with_columns(
                pl.col("pump").replace("P01", "P99"),
            ),
            r"1 of 4 are not \(ids P01\)",
        ),
        (
            lambda table: table.with_columns(pl.col("pump").replace("P01", None)),
            r"has none \(row 3 of the file\)",
        ),
        (lambda table: table.select("pump"), "must have some besides the id"),
    ],
    ids=["missing", "twice", "other", "unknown", "no features"],
)
def test_features_of_others_are_refused_by_name(read, change, message):
    events, static, _ = draw_pumps(n=4)
    with pytest.raises(BoostrError, match=message):
        read(events, change(static))


def test_surplus_individuals_are_refused_by_name(read):
    events, static, sensors = draw_pumps(n=4)
    fewer = events.filter(pl.col("pump") != "P03")
    with pytest.raises(BoostrError, match=r"'static.csv'.* \(ids P03\)"):
        read(fewer, static)
    with pytest.raises(BoostrError, match=r"'sensors.csv'.* \(ids P03\)"):
        read(fewer, None, sensors)
    with pytest.raises(BoostrError, match=r"1 of 4 are not \(ids P00\)"):
        read(events, None, sensors.filter(pl.col("pump") != "P00"))


def test_a_row_of_events_without_an_id_is_found_in_the_file(read):
    events = draw_pumps(n=2)[0].with_columns(pl.col("pump").replace("P01", None))
    first = 2 + events["pump"].is_null().arg_max()
    with pytest.raises(BoostrError, match=rf"'events.csv' ha.* none \(rows? {first}"):
        read(events)


def test_unmatched_individuals_can_be_left_out(read, capsys):
    events, static, sensors = draw_pumps(n=6)
    fleet = read(
        events.filter(pl.col("pump") != "P00"),
        static.filter(pl.col("pump") != "P01"),
        sensors.filter(pl.col("pump") != "P02"),
        files={"skips_unmatched": True},
    )
    whole = read(events, static, sensors)
    assert fleet.y.equals(whole.y[3:])
    assert fleet.X.equals(whole.X[3:])
    assert fleet.Z.equals(whole.Z[3:])
    said = capsys.readouterr().err
    assert "left out 1 of 5 individuals, who are not in 'static.csv' (ids P01)" in said
    assert "left out 1 of 4 individuals, who are not in 'sensors.csv' (ids P02)" in said
    assert "left out 2 individuals of 'static.csv', who are not in the events" in said
    with pytest.raises(
        BoostrError, match=r"no individual of the events is in 'static.csv'"
    ):
        read(
            events,
            static.with_columns(pump=pl.col("pump") + "x"),
            files={"skips_unmatched": True},
        )


def test_columns_can_be_chosen_and_left_out(read, capsys):
    tables = draw_pumps(n=4)
    assert read(*tables, files={"features": ("load",)}).X.columns == ["load"]
    fleet = read(*tables, files={"left_out": ("load", "mode")})
    assert fleet.X.columns == ["site"]
    assert fleet.Z.names == ("torque",)
    assert "`torque` as sensors" in capsys.readouterr().err
    with pytest.raises(InvalidParameterError, match=r"--drop must name .* no `weight`"):
        read(*tables, files={"left_out": ("load", "weight")})
    with pytest.raises(InvalidParameterError, match=r"--features must name .* no `torque`"):
        read(*tables, files={"features": ("load", "torque")})


def test_a_unit_is_the_same_by_either_name(read):
    events = draw_pumps(n=4)[0]
    trained = known(features={}, unit="days", reading={"unit": "days"})
    assert read(events, known=trained, unit="D").y.time_unit == "days"
    with pytest.raises(BoostrError, match=r"count in h .* in days(?s:.*)leave --unit out"):
        read(events, known=trained, unit="h")


def known(**changes):
    usual = {"features": {"load": False}, "sensors": None, "unit": None, "reading": {}}
    usual |= {"origin": None, "has_costs": False}
    return Known(**usual | changes)


def test_only_what_a_model_needs_is_read(read):
    events, static, _ = draw_pumps(n=4)
    fleet = read(events, static, known=known())
    assert fleet.X.columns == ["load"]


def test_categories_of_training_are_read_as_texts(read):
    events, static, sensors = draw_pumps(n=4)
    digits = {"site": ["1", "2", "1", "2"]}
    fleet = read(
        events,
        static.with_columns(**{name: pl.Series(v) for name, v in digits.items()}),
        sensors.with_columns(mode=pl.lit("7")),
        known=known(features={"site": True}, sensors={"mode": True}),
    )
    assert fleet.X["site"].to_list() == digits["site"]
    assert fleet.Z.names == ("mode",)
    assert fleet.Z.categories == (("7",),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": {"weight": False}}, "lacks `weight`"),
        ({"sensors": {"torque": False}}, "--sensors FILE"),
        ({"unit": "D"}, None),
        ({"unit": "h", "reading": {"origin": "2024-01-01"}}, "origin"),
        ({"reading": {"cost": "euro"}}, "costs of events in column `euro`"),
        ({"has_costs": True}, r"no costs and those had some\.\n\nHint: --cost COLUMN"),
    ],
)
def test_data_that_do_not_fit_the_model_are_refused(read, changes, message):
    events, static, _ = draw_pumps(n=4)
    if message is None:  # numbers are in the unit of training
        given = {"unit": "W"}
        message = "count in W and training counted in D"
    else:
        given = {}
    with pytest.raises(BoostrError, match=message):
        read(events, static, known=known(**changes), **given)


def test_costs_are_refused_where_a_model_counts_events(read):
    events = draw_pumps(n=4)[0].with_columns(euro=100.0 * pl.col("failed"))
    with pytest.raises(BoostrError, match=r"none\.\n\nHint: leave --cost out"):
        read(events, known=known(features={}), cost="euro")
    costly = known(features={}, has_costs=True)
    assert read(events, known=costly, cost="euro").y.has_costs


def test_dates_are_counted_from_the_origin_of_training(read):
    events = dated(draw_pumps(n=4)[0])
    trained = known(features={}, unit="D", origin=np.datetime64(BEGIN))
    with pytest.raises(BoostrError, match=r"from 2023-12-01.*\n\nHint: leave --origin"):
        read(events, known=trained, start="2024-01-01", origin="2023-12-01")
    read(events, known=trained, start="2024-01-01", origin="2024-01-01")
    read(events, known=trained, start="2024-01-01", origin="individual")
    with pytest.raises(BoostrError, match=r"each one's own start and .* from 2024-01-01"):
        read(events, known=trained, start="2023-12-01", origin="individual")


def test_ages_are_counted_where_training_counted_them(read):
    events = dated(draw_pumps(n=4)[0])
    reading = read(events, start="2024-01-01", origin="individual").reading
    trained = known(features={}, unit="D", reading=reading)
    assert read(events, known=trained).y.origins.tolist() == [BEGIN] * 4
    with pytest.raises(BoostrError, match=r"from each one's own start.*\n\nHint: leave"):
        read(events, known=trained, origin="2023-12-01")


def test_a_model_from_python_says_from_which_date_it_counts(read, capsys):
    events = dated(draw_pumps(n=40)[0])
    y = RecurrentEvents.from_long(events, "pump", "day", "failed", start=BEGIN)
    model = BoostR(n_estimators=2, validation=None).fit(np.empty((40, 0)), y)
    later = events.filter(pl.col("day") > BEGIN + timedelta(days=50))
    fleet = read(later, known=Known.of(model), start="2024-02-01")
    assert fleet.y.origin == np.datetime64(BEGIN)
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", [pl.Boolean, pl.Int64, pl.String])
def test_events_are_the_rows_without_the_opposite(read, capsys, kind):
    y = load_cgd().y
    table = y.to_start_stop(backend="polars").rename({y.id_name: "patient"})
    words = {True: "yes", False: "no"} if kind == pl.String else {True: 1, False: 0}
    flags = (~pl.col("event")).replace_strict(words).cast(kind).alias("censored")
    fleet = read(table.select("patient", "start", "stop", flags), event="not censored")
    assert fleet.y.n_events.tolist() == y.n_events.tolist()
    assert fleet.reading["event"] == "not censored"
    said = capsys.readouterr().err
    assert "76 events of 128 individuals in 203 rows" in said
    assert "inverted" not in said
    again = read(
        table.select("patient", "start", "stop", flags),
        known=known(features={}, reading=fleet.reading),
    )
    assert again.y.times.size == 76


def test_events_that_look_inverted_are_warned_of(read, capsys):
    y = load_cgd().y
    table = y.to_start_stop(backend="polars").with_columns(censored=~pl.col("event"))
    read(table, event="censored")
    said = capsys.readouterr().err
    assert "warning: events look inverted: 127 of 203 rows" in said
    assert "--event 'not censored'" in said
    valves = load_valve_seats().y
    valves = valves[~np.isin(valves.ids, [328, 402])]  # who have events at the same time
    assert valves.times.size > len(valves)
    read(valves.to_start_stop(backend="polars"))
    assert "inverted" not in capsys.readouterr().err


def test_ends_that_are_flagged_as_events_are_told(read):
    events = draw_pumps(n=4)[0].with_columns(ok=1 - pl.col("failed")).drop("failed")
    with pytest.raises(BoostrError, match=r"1 in their last row(?s:.*)--event 'not ok'"):
        read(events, event="ok")
    assert read(events, event="not ok").y.times.size == events["ok"].len() - 4
    late = events.with_columns(day=-pl.col("day"))  # wrong in another way
    with pytest.raises(BoostrError, match="must not be negative"):
        read(late, event="not ok")


def test_features_that_a_model_needs_must_come_in_a_file(read):
    with pytest.raises(InvalidParameterError, match=r"`load`.*\n\nHint: --static FILE"):
        read(draw_pumps(n=2)[0], known=known())


def test_a_model_remembers_columns_and_the_first_date(read):
    events = dated(draw_pumps(n=4)[0]).rename({"pump": "x", "failed": "y"})
    reading = read(events, start="2024-01-01", id="x", event="y").reading
    later = events.filter(pl.col("day") > BEGIN + timedelta(days=50)).rename(
        {"day": "when"}
    )
    fleet = read(later, known=known(features={}, unit="D", reading=reading))
    assert fleet.y.origin == np.datetime64(BEGIN)
    assert fleet.y.end.tolist() == [100.0] * 4


def test_what_is_given_comes_before_what_a_model_remembers(read, capsys):
    table = pl.DataFrame(
        {"pump": [1, 2], "from": [2.0, 1.0], "day": [5.0, 6.0], "to": [7.0, 8.0]}
    ).with_columns(failed=pl.lit(0))
    long = {"id": "pump", "time": "day", "event": "failed"}
    rows = {"id": "pump", "start": "from", "stop": "to", "event": "failed"}
    trained = {
        name: known(features={}, reading=roles)
        for name, roles in {"long": long, "rows": rows}.items()
    }
    assert read(table, known=trained["long"], **rows).y.end.tolist() == [7.0, 8.0]
    assert read(table, known=trained["rows"], **long).y.end.tolist() == [5.0, 6.0]
    # Nothing was guessed, so only numbers are told.
    assert capsys.readouterr().err == "0 events of 2 individuals in 2 rows\n" * 2


def test_a_start_with_a_zone_is_in_universal_time(read):
    events = dated(draw_pumps(n=2)[0])
    y = read(events, start="2023-12-31T19:00:00-05:00").y
    assert y.origin == np.datetime64(BEGIN)
    assert y.start.tolist() == [0.0, 0.0]


def test_an_unknown_origin_is_warned_of(read, capsys):
    events = dated(draw_pumps(n=4)[0])
    read(events, known=known(features={}, unit="D"), start="2024-01-01")
    assert "warning: the model does not say from which date" in capsys.readouterr().err


def test_moments_of_options_are_on_the_axis_of_the_events(read):
    events = draw_pumps(n=2)[0]
    assert read_when("50", read(events).y, "--now") == 50.0
    with pytest.raises(InvalidParameterError, match="--now must be a number"):
        read_when("2024-01-01", read(events).y, "--now")
    stamped = read(dated(events), start="2024-01-01").y
    assert read_when("2024-02-01", stamped, "--now") == "2024-02-01"
    aged = read(dated(events), start="2024-01-01", origin="individual").y
    assert read_when("20240201", aged, "--now") == "20240201"
    assert read_when("50", aged, "--now") == 50.0
    with pytest.raises(InvalidParameterError, match=r"--now must be a date, or a time"):
        read_when("2024-02-31", aged, "--now")


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_damaged_tables_give_a_fleet_or_an_error_of_boostr(tmp_path, data):
    contents = {
        "events": b"pump,day,failed\nP1,1.5,1\nP1,9,0\nP2,2,1\nP2,8,0\n",
        "static": b"pump,site,load\nP2,north,0.5\nP1,south,\n",
        "sensors": b"pump,day,torque\nP1,0,1\nP1,5,2\nP2,0,3\n",
    }
    pieces = [
        b"\x00",
        b"\xff",
        b",",
        b";",
        b"\n",
        b'"',
        b"inf",
        b"-1",
        b"1e999",
        b"NA",
        b"\r",
    ]
    paths = {}
    for name, content in contents.items():
        changed = bytearray(content)
        for _ in range(data.draw(st.integers(0, 2))):
            place = data.draw(st.integers(0, len(changed)))
            length = data.draw(st.integers(0, 3))
            changed[place : place + length] = data.draw(st.sampled_from(pieces))
        paths[name] = tmp_path / f"{name}.csv"
        paths[name].write_bytes(changed)
    try:
        fleet = read_fleet(FleetFiles(**paths, given={}))
    except BoostrError:
        return
    assert len(fleet.X) == len(fleet.y) == len(fleet.Z)
