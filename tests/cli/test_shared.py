"""Shared sensors and seasons from the shell."""

import json
from datetime import date, timedelta

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from tests.cli.scenes import TINY  # noqa: E402

import boostr  # noqa: E402
from boostr import RecurrentEvents, Trajectories  # noqa: E402

START, N_DAYS, N = date(2021, 1, 1), 800, 30


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Paths of dated events, of own sensors and of the weather."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("dated")
    days = [START + timedelta(days=day) for day in range(N_DAYS + 100)]
    rate = np.where([day.month in {11, 12, 1, 2} for day in days], 0.06, 0.01)
    rows, torque = [], []
    for number in range(N):
        name = f"P{number:02d}"
        counts = rng.poisson(rate[1 : N_DAYS + 1])
        rows += [(name, days[place + 1], 1) for place in np.flatnonzero(counts)]
        rows += [(name, days[N_DAYS], 0)]
        torque += [(name, days[0], float(rng.uniform()))]
    tables = {
        "events": pl.DataFrame(rows, schema=["pump", "day", "failed"], orient="row"),
        "sensors": pl.DataFrame(torque, schema=["pump", "day", "torque"], orient="row"),
        "weather": pl.DataFrame({"date": days, "cold": rate}),
    }
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.write_csv(paths[name])
    return paths


def ask(run, *arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.slow
def test_seasons_and_shared_sensors_go_from_fit_to_forecast(run, files, tmp_path):
    out = tmp_path / "pumps.boostr"
    tables = (files["events"], "--shared", files["weather"], "--sensors", files["sensors"])
    said = ask(
        run, "fit", *tables, "--start", START, "--season", "month", "--out", out, *TINY
    )
    assert said["sensors"] == ["torque", "cold", "month"]
    found = ask(run, "forecast", out, *tables, "--horizon", 60)

    events = pl.read_csv(files["events"], try_parse_dates=True)
    y = RecurrentEvents.from_long(events, "pump", "day", "failed", start=START)
    own = pl.read_csv(files["sensors"], try_parse_dates=True)
    weather = pl.read_csv(files["weather"], try_parse_dates=True)
    Z = (
        Trajectories.from_long(own, "pump", "day", origin=y.origin)
        .merge(Trajectories.shared(weather, time="date"))
        .merge(Trajectories.seasonal(y, "month"))
    )
    total = boostr.load(out).forecast_fleet(np.empty((N, 0)), y, 60.0, Z)
    assert found["total"]["expected"] == pytest.approx(total.expected, rel=1e-12)


@pytest.mark.slow
def test_evaluate_and_report_know_the_season(run, files, tmp_path):
    out = tmp_path / "pumps.boostr"
    options = ("--start", START, "--season", "month", "--out", out, *TINY)
    ask(run, "fit", files["events"], *options)
    events = files["events"]
    whole = ask(run, "evaluate", out, events)
    winter, summer = (
        ask(run, "evaluate", out, events, "--as-of", day, "--horizon", 60)
        for day in ("2021-12-31", "2022-06-30")
    )
    assert whole["individuals"] == N
    assert winter["expected"] > summer["expected"]
    page = ask(run, "report", out, events, "--out", tmp_path / "page.html")
    assert page["individuals"] == N


@pytest.mark.slow
def test_back_tests_know_the_season(run, files):
    dates = ("--as-of", "2021-12-31", "--as-of", "2022-06-30", "--horizon", 60)
    tiny = ("--set", "n_estimators=5", "--set", "validation=none")
    options = ("--start", START, "--season", "month", *tiny)
    found = ask(run, "backtest", files["events"], *dates, *options)
    winter, summer = (row["expected"] for row in found["rows"])
    assert winter > summer


@pytest.mark.slow
def test_exposures_may_come_from_the_sensors_beside_shared_ones(run, files, tmp_path):
    out = tmp_path / "pumps.boostr"
    tables = (files["events"], "--shared", files["weather"], "--sensors", files["sensors"])
    exposure = ("--exposure", "torque")
    said = ask(run, "fit", *tables, *exposure, "--start", START, "--out", out, *TINY)
    assert said["sensors"] == ["cold"]
    model = boostr.load(out)
    found = ask(run, "forecast", out, *tables, "--horizon", 60)

    events = pl.read_csv(files["events"], try_parse_dates=True)
    y = RecurrentEvents.from_long(events, "pump", "day", "failed", start=START)
    own = pl.read_csv(files["sensors"], try_parse_dates=True)
    weather = pl.read_csv(files["weather"], try_parse_dates=True)
    torque = Trajectories.from_long(own, "pump", "day", origin=y.origin)
    Z = Trajectories.shared(weather, time="date")
    total = model.forecast_fleet(np.empty((N, 0)), y, 60.0, Z, exposure=torque)
    assert found["total"]["expected"] == pytest.approx(total.expected, rel=1e-12)


@pytest.mark.slow
def test_a_model_without_its_shared_sensors_says_what_is_missing(run, files, tmp_path):
    out = tmp_path / "pumps.boostr"
    shared = ("--shared", files["weather"])
    ask(run, "fit", files["events"], "--start", START, *shared, "--out", out, *TINY)
    result = run("forecast", out, files["events"])
    assert result.exit_code == 2
    assert "cold" in result.stderr
    assert "--shared FILE" in result.stderr
