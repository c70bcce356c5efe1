"""Work orders: rows of events alone, without ends or machines that never failed."""

import json

import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from tests.cli.scenes import TINY, draw_pumps  # noqa: E402

import boostr  # noqa: E402
from boostr.cli._inputs import FleetFiles  # noqa: E402
from boostr.cli._tables import read_fleet  # noqa: E402
from boostr.data import RecurrentEvents  # noqa: E402
from boostr.exceptions import BoostrError  # noqa: E402

ORDERS = "order,machine,date\n1,M1,2024-02-01\n2,M1,2024-03-01\n3,M2,2024-03-05\n"
MACHINES = (
    "machine,site,installed,seen\nM3,b,2024-01-09,2024-06-01\n"
    "M1,a,2024-01-01,2024-05-01\nM2,b,2024-01-05,2024-04-01\n"
)


@pytest.fixture
def read(tmp_path):
    paths = {"events": tmp_path / "orders.csv", "static": tmp_path / "machines.csv"}
    paths["events"].write_text(ORDERS)
    paths["static"].write_text(MACHINES)

    def read(*, static=True, **given):
        used = paths if static else {"events": paths["events"]}
        return read_fleet(FleetFiles(**used, given=given))

    return read


def test_every_row_is_an_event_where_an_end_is_given(read, capsys):
    y = read(static=False, start="2024-01-01", end="2024-06-29").y
    assert y.n_events.tolist() == [2, 1]
    assert y.end.tolist() == [180.0, 180.0]
    assert "every row as an event" in capsys.readouterr().err


def test_machines_without_orders_are_observed_without_events(read):
    fleet = read(start="2024-01-01", end="2024-06-29")
    assert fleet.y.ids.tolist() == ["M1", "M2", "M3"]
    assert fleet.y.n_events.tolist() == [2, 1, 0]
    assert fleet.X["site"].to_list() == ["a", "b", "b"]


def test_starts_and_ends_may_be_columns_of_the_features(read):
    fleet = read(start="installed", end="seen")
    assert fleet.y.start.tolist() == [0.0, 4.0, 8.0]
    assert fleet.y.end.tolist() == [121.0, 91.0, 152.0]
    assert fleet.X.columns == ["site"]
    assert (fleet.reading["entry"], fleet.reading["end"]) == ("installed", "seen")
    aged = read(start="installed", end="seen", origin="individual").y
    assert aged.end.tolist() == [121.0, 87.0, 144.0]


def test_an_end_of_all_is_not_remembered(read):
    assert read(start="installed", end="2024-06-29").reading["end"] is None


def test_without_an_end_the_way_in_is_told(read):
    with pytest.raises(BoostrError, match="all rows are events, --end DATE"):
        read(start="2024-01-01")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"end": "soon"}, "--end must be a column of --static, a number or a date"),
        ({"end": "180"}, "those of events are dates and --end is not"),
        ({"end": "2024-02-05"}, r"not come after the end .* \(ids M1, M2\)"),
        (
            {"end": "2024-06-29", "stop": "date", "start": None},
            "--stop and --end are both given",
        ),
        ({"end": "site"}, "must hold numbers or dates"),
    ],
)
def test_ends_that_cannot_be_are_refused(read, given, message):
    with pytest.raises(BoostrError, match=message):
        read(**{"start": "2024-01-01"} | given)


def test_a_start_that_is_said_comes_before_a_column_called_so(tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("pump,start,day,failed\n1,3,5,1\n1,3,9,0\n")
    assert read_fleet(FleetFiles(events=path, given={})).y.start.tolist() == [3.0]
    assert read_fleet(FleetFiles(events=path, given={"start": "1"})).y.start[0] == 1.0


@pytest.mark.slow
def test_commands_take_the_end(run, tmp_path):
    events, static, _ = draw_pumps()
    orders, pumps, model = (tmp_path / name for name in ("o.csv", "p.csv", "x.boostr"))
    events.filter(pl.col("failed") == 1).drop("failed").write_csv(orders)
    static.write_csv(pumps)
    given = [orders, "--static", pumps, "--end", 100]
    fitted = run("fit", *given, "--out", model, *TINY)
    assert fitted.exit_code == 0, fitted.output
    y = RecurrentEvents.from_long(events, "pump", "day", "failed")
    assert (y.n_events == 0).any()
    direct = boostr.BoostR(n_estimators=5, validation=None, random_state=0)
    X = static.sort("pump").drop("pump")
    expected = direct.fit(X, y).forecast_fleet(X, y, horizon=30).expected
    result = run("forecast", model, *given, "--horizon", 30, "--json")
    total = json.loads(result.stdout)["total"]
    assert total["n_individuals"] == 40
    assert total["expected"] == pytest.approx(expected)
