"""A column of exposures, named once when a model is fitted."""

import json

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from tests.cli.scenes import TINY, draw_pumps  # noqa: E402

import boostr  # noqa: E402
from boostr import BoostR, RecurrentEvents, Trajectories  # noqa: E402


@pytest.fixture(scope="module")
def pipes(tmp_path_factory):
    """Return tables with a length of every pump and flows in time, and their files."""
    folder = tmp_path_factory.mktemp("pipes")
    events, static, sensors = draw_pumps()
    rng = np.random.default_rng(1)
    static = static.with_columns(pl.Series("km", rng.uniform(0.5, 5.0, static.height)))
    flow = pl.Series("flow", rng.uniform(0.0, 2.0, sensors.height))
    sensors = sensors.select("pump", "day").with_columns(flow)
    tables = {"events": events, "static": static, "sensors": sensors}
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")
    y = RecurrentEvents.from_long(events, "pump", "day", "failed")
    return folder, y, tables


@pytest.mark.slow
def test_a_column_of_features_is_an_exposure(run, pipes, tmp_path):
    folder, y, tables = pipes
    events, static, out = (
        folder / "events.csv",
        folder / "static.csv",
        tmp_path / "m.boostr",
    )
    fitted = run("fit", events, "--static", static, "--exposure", "km", "--out", out, *TINY)
    assert fitted.exit_code == 0, fitted.output
    table = tables["static"].sort("pump")
    exposed = y.with_exposure(table["km"].to_numpy())
    X = table.drop("pump", "km")
    model = BoostR(n_estimators=5, validation=None, random_state=0).fit(X, exposed)
    assert boostr.load(out).encoder_.names == ("load", "site")
    asked = run("forecast", out, events, "--static", static, "--horizon", 30, "--json")
    found = pl.DataFrame(json.loads(asked.stdout)["rows"]).sort("id")
    expected = model.forecast(X, exposed, 30).sort("id")
    assert np.allclose(found["expected"], expected["expected"])
    judged = run("evaluate", out, events, "--static", static, "--json")
    assert np.isclose(json.loads(judged.stdout)["score"], model.score(X, exposed))
    page = run("report", out, events, "--static", static, "--out", tmp_path / "r.html")
    assert page.exit_code == 0, page.output


@pytest.mark.slow
def test_a_column_of_sensors_is_an_exposure_that_changes(run, pipes, tmp_path):
    folder, y, tables = pipes
    events, sensors, out = (
        folder / "events.csv",
        folder / "sensors.csv",
        tmp_path / "m.boostr",
    )
    fitted = run(
        "fit", events, "--sensors", sensors, "--exposure", "flow", "--out", out, *TINY
    )
    assert fitted.exit_code == 0, fitted.output
    flow = Trajectories.from_long(tables["sensors"], "pump", "day", ids=y.ids)
    exposed, X = y.with_exposure(flow), np.empty((len(y), 0))
    model = BoostR(n_estimators=5, validation=None, random_state=0).fit(X, exposed)
    assert boostr.load(out).sensor_layout_ is None
    asked = run("forecast", out, events, "--sensors", sensors, "--horizon", 30, "--json")
    found = pl.DataFrame(json.loads(asked.stdout)["rows"]).sort("id")
    expected = model.forecast(X, exposed, 30).sort_values("id")
    assert np.allclose(found["expected"], expected["expected"])


def test_planned_exposures_follow_those_that_were_seen(run, pipes, tmp_path):
    folder, y, _ = pipes
    events, sensors, out = (
        folder / "events.csv",
        folder / "sensors.csv",
        tmp_path / "m.boostr",
    )
    run("fit", events, "--sensors", sensors, "--exposure", "flow", "--out", out, *TINY)
    plan = tmp_path / "plan.csv"
    pl.DataFrame({"pump": y.ids, "day": 100.0, "flow": 0.0}).write_csv(plan)
    asked = run(
        *("forecast", out, events, "--sensors", sensors, "--future", plan),
        *("--horizon", 30, "--json"),
    )
    assert json.loads(asked.stdout)["total"]["expected"] == 0.0


@pytest.mark.parametrize("command", ["fit", "forecast"])
def test_a_column_that_is_not_there_is_refused(run, pipes, model, tmp_path, command):
    folder, _, _ = pipes
    events, out = folder / "events.csv", tmp_path / "m.boostr"
    given = ["--static", folder / "static.csv", "--exposure", "miles"]
    if command == "fit":
        result = run("fit", events, *given, "--out", out, *TINY)
        assert "'miles' is in neither" in result.stderr
    else:
        result = run("forecast", model, events, *given)
        assert "fitted without exposures" in result.stderr
    assert result.exit_code == 2


def test_a_model_from_python_asks_for_the_column(run, pipes, tmp_path):
    folder, y, tables = pipes
    table = tables["static"].sort("pump")
    exposed = y.with_exposure(table["km"].to_numpy())
    out = tmp_path / "m.boostr"
    BoostR(n_estimators=2, validation=None).fit(table.select("load"), exposed).save(out)
    asked = ["forecast", out, folder / "events.csv", "--static", folder / "static.csv"]
    refused = run(*asked)
    assert refused.exit_code == 2
    assert "--exposure COLUMN" in refused.stderr
    assert run(*asked, "--exposure", "km").exit_code == 0
