import json

import numpy as np
import pandas as pd
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from tests.cli.scenes import TINY  # noqa: E402

import boostr  # noqa: E402
from boostr import RecurrentEvents  # noqa: E402


@pytest.fixture(scope="module")
def direct(pumps, model):
    """Return forecasts of the library from the same tables."""
    events, static, _ = pumps
    y = RecurrentEvents.from_long(pl.read_csv(events), "pump", "day", "failed")
    X = pl.read_csv(static).sort("pump").drop("pump")

    def ask(**options):
        fitted = boostr.load(model)
        return fitted.forecast(X, y, **options), fitted.forecast_fleet(X, y, horizon=30)

    return ask


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_table_is_the_library_s(run, pumps, model, direct, tmp_path, ending):
    out = tmp_path / f"next.{ending}"
    result = run(
        "forecast", model, pumps[0], "--static", pumps[1], "--horizon", 30, "--out", out
    )
    assert result.exit_code == 0, result.output
    found = pl.read_csv(out) if ending == "csv" else pl.read_parquet(out)
    assert found.equals(direct(horizon=30)[0])
    assert "40 forecasts in" in result.stderr


@pytest.mark.parametrize("read", ["model", "events", "static"])
def test_results_never_replace_a_file_that_is_read(run, pumps, model, read):
    files = {"model": model, "events": pumps[0], "static": pumps[1]}
    before = files[read].read_bytes()
    out = files[read].parent / "." / files[read].name
    result = run("forecast", model, pumps[0], "--static", pumps[1], "--out", out)
    assert result.exit_code == 2
    assert "--out must not be a file that is read" in result.stderr
    assert files[read].read_bytes() == before


def test_options_reach_the_forecast(run, pumps, model, direct):
    result = run(
        *("forecast", model, pumps[0], "--static", pumps[1], "--horizon", 30, "--json"),
        *("--now", 50, "--level", 0.5, "--at-least", 2, "--no-own-history"),
    )
    options = {"level": 0.5, "now": 50.0, "k": 2, "own_history": False}
    expected = direct(horizon=30, **options)[0]
    found = pl.DataFrame(json.loads(result.stdout)["rows"])
    assert np.allclose(found["probability"], expected["probability"])
    assert np.allclose(found["upper"], expected["upper"])
    assert found["now"].to_list() == [50.0] * 40


@pytest.mark.slow
def test_conformal_intervals_need_a_model_with_validation(run, pumps, model, tmp_path):
    asked = [pumps[0], "--static", pumps[1], "--horizon", 30, "--conformal", "--json"]
    refused = run("forecast", model, *asked)
    assert refused.exit_code == 2
    assert "without validation" in refused.stderr
    validated = tmp_path / "validated.boostr"
    given = ["--static", pumps[1], "--out", validated, "--n-estimators", 3]
    assert run("fit", pumps[0], *given).exit_code == 0
    result = run("forecast", validated, *asked)
    assert len(json.loads(result.stdout)["rows"]) == 40


def test_json_has_the_total_and_either_the_rows_or_the_file(
    run, pumps, model, direct, tmp_path
):
    given = ["forecast", model, pumps[0], "--static", pumps[1], "--horizon", 30, "--json"]
    found = json.loads(run(*given).stdout)
    assert found["total"]["expected"] == direct(horizon=30)[1].expected
    assert len(found["rows"]) == 40
    out = tmp_path / "next.json"
    found = json.loads(run(*given, "--out", out).stdout)
    assert found["out"] == str(out)
    assert len(json.loads(out.read_text())) == 40


def test_the_screen_shows_those_most_at_risk_and_the_total(run, pumps, model, direct):
    result = run(
        "forecast", model, pumps[0], "--static", pumps[1], "--horizon", 30, "--top", 3
    )
    table, total = direct(horizon=30)
    assert "first 3 of 40" in result.stdout
    shown = [one for one in table["id"].to_list() if one in result.stdout]
    assert shown == table["id"].head(3).to_list()
    assert f"{total.expected:.1f} expected in 30" in result.stdout


@pytest.mark.parametrize(("horizon", "is_said"), [(99, False), (101, True)])
def test_a_horizon_longer_than_all_histories_is_said(run, pumps, model, horizon, is_said):
    given = ["forecast", model, pumps[0], "--static", pumps[1], "--horizon", horizon]
    shown = " ".join(run(*given).stderr.split())
    assert ("no history is longer than 100 units of time: beyond that" in shown) == is_said


@pytest.mark.parametrize(("now", "is_said"), [(100, False), (104, True)])
def test_a_time_after_follow_up_is_said(run, pumps, model, now, is_said):
    given = ["--static", pumps[1], "--horizon", 30, "--now", now]
    shown = " ".join(run("forecast", model, pumps[0], *given).stderr.split())
    message = "`now` is later than the end of follow-up of 40 of 40 individuals (ids "
    assert (message in shown) == is_said


@pytest.mark.slow
def test_a_plan_for_some_of_the_sensors_changes_some_of_the_forecasts(run, pumps, tmp_path):
    events, _, sensors = pumps
    model, plan = tmp_path / "x.boostr", tmp_path / "plan.csv"
    tables = [events, "--sensors", sensors]
    settings = ["--set", "gamma2=0", "--set", "sensor_penalty=ridge"]
    settings += ["--set", "min_samples_leaf=2"]
    assert run("fit", *tables, "--out", model, *TINY, *settings).exit_code == 0
    pl.DataFrame(
        {"pump": ["P00", "P01"], "day": [100.0] * 2, "torque": [0.1, 0.9]}
    ).write_csv(plan)
    given = ["forecast", model, *tables, "--horizon", 30, "--json", "--no-own-history"]
    rows = [
        {
            row["id"]: row["expected"]
            for row in json.loads(run(*given, *more).stdout)["rows"]
        }
        for more in ([], ["--future", plan])
    ]
    changed = {one for one in rows[0] if abs(rows[0][one] - rows[1][one]) > 1e-9}
    assert changed == {"P00", "P01"}


@pytest.mark.slow
def test_dates_go_in_and_come_out(run, pumps, tmp_path):
    events, model, out = (tmp_path / name for name in ("e.csv", "x.boostr", "next.csv"))
    moments = pl.datetime(2024, 1, 1) + pl.duration(hours=(24 * pl.col("day")).ceil())
    pl.read_csv(pumps[0]).with_columns(day=moments).write_csv(events)
    fitted = run("fit", events, "--start", "2024-01-01", "--out", model, *TINY)
    assert fitted.exit_code == 0, fitted.output
    given = ["forecast", model, events, "--now", "2024-03-01", "--horizon", 30]
    assert run(*given, "--out", out).exit_code == 0
    assert pl.read_csv(out)["now"].unique().to_list() == ["2024-03-01T00:00:00.000000"]
    judged = run("evaluate", model, events, "--as-of", "2024-03-01", "--horizon", 30)
    assert judged.exit_code == 0, judged.output
    result = run(*given, "--json")
    row = json.loads(result.stdout)["rows"][0]
    assert row["now"] == "2024-03-01T00:00:00"
    due = np.datetime64(row["next_event_date"]) - np.datetime64("2024-03-01", "us")
    assert due / np.timedelta64(1, "D") == pytest.approx(row["next_event_median"])
    assert json.loads(result.stdout)["unit"] == "D"
    assert "warning" not in result.stderr
    wrong = run("forecast", model, events, "--now", "March")
    assert wrong.exit_code == 2
    assert "must be a time stamp" in wrong.stderr


@pytest.fixture(scope="module")
def ageing(run, pumps, tmp_path_factory):
    """Paths of a table with dates and own starts, and of a model of ages."""
    folder = tmp_path_factory.mktemp("ageing")
    begin = pl.lit("2024-01-01").str.to_datetime(time_unit="us")
    number = pl.col("pump").str.slice(1).cast(pl.Int64)
    table = pl.read_csv(pumps[0]).with_columns(
        installed=begin + pl.duration(days=number),
        day=begin + pl.duration(days=number) + pl.duration(seconds=86_400 * pl.col("day")),
    )
    events, model = folder / "events.csv", folder / "ageing.boostr"
    table.write_csv(events)
    asked = ["--start", "installed", "--origin", "individual", "--out", model]
    result = run("fit", events, *asked, *TINY)
    assert result.exit_code == 0, result.output
    return events, model, table


def test_a_date_is_the_present_of_ages_too(run, ageing):
    events, model, table = ageing
    asked = ["forecast", model, events, "--horizon", 30, "--json"]
    result = run(*asked, "--now", "2024-03-01")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["rows"]
    assert {row["now"] for row in rows} == {"2024-03-01T00:00:00"}
    y = RecurrentEvents.from_long(
        table, "pump", "day", "failed", start="installed", origin="individual"
    )
    ages = 60.0 - np.arange(40.0)
    direct = boostr.load(model).forecast(np.empty((40, 0)), y, 30, now=ages)
    assert [row["id"] for row in rows] == direct["id"].tolist()
    assert np.allclose([row["expected"] for row in rows], direct["expected"])
    by_age = json.loads(run(*asked, "--now", 50).stdout)["rows"]
    assert len({row["now"] for row in by_age}) == 40


def test_those_who_were_last_observed_long_ago_are_said(run, tmp_path):
    rows = [
        (f"P{pump:02d}", day, event)
        for pump in range(40)
        for day, event in (("2024-02-01", 1), ("2024-03-01", 1))
    ]
    rows += [
        (f"P{pump:02d}", "2024-03-15" if pump < 3 else "2024-06-01", 0)
        for pump in range(40)
    ]
    events, model = tmp_path / "events.csv", tmp_path / "pumps.boostr"
    pd.DataFrame(rows, columns=["pump", "day", "failed"]).to_csv(events, index=False)
    result = run("fit", events, "--start", "2024-01-01", *TINY, "--out", model)
    assert result.exit_code == 0, result.stderr
    given = model, events, "--start", "2024-01-01"
    result = run("forecast", *given, "--horizon", 30)
    assert "3 of 40 individuals were last observed 30 days or more before" in result.stderr
    assert "2024-06-01 (ids P00, P01, P02)" in result.stderr
    assert "last observed" not in run("forecast", *given, "--horizon", 99).stderr


def test_those_who_start_after_the_present_are_left_out(run, ageing):
    events, model, _ = ageing
    result = run("forecast", model, events, "--now=2024-01-31", "--json")
    assert "left out 9 of 40 individuals, which start after --now" in result.stderr
    found = json.loads(result.stdout)
    assert len(found["rows"]) == found["total"]["n_individuals"] == 31


@pytest.mark.parametrize(
    ("now", "message"),
    [
        ("2024-02-30", "--now must be a date, or a time since each one's own start"),
        ("-1", "all individuals start after it"),
    ],
)
def test_impossible_presents_of_ages_are_messages(run, ageing, now, message):
    events, model, _ = ageing
    result = run("forecast", model, events, f"--now={now}")
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("default::boostr.exceptions.SensorRangeWarning")
def test_warnings_of_the_library_are_lines(run, pumps, tmp_path):
    events, _, sensors = pumps
    model, strange = tmp_path / "x.boostr", tmp_path / "strange.csv"
    assert run("fit", events, "--sensors", sensors, "--out", model, *TINY).exit_code == 0
    pl.read_csv(sensors).with_columns(torque=pl.lit(5.0)).write_csv(strange)
    result = run("forecast", model, events, "--sensors", strange, "--horizon", 30)
    assert result.exit_code == 0
    (line,) = [line for line in result.stderr.splitlines() if "outside" in line]
    assert line.startswith("warning: Sensors are outside")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--horizon", -1], "`horizon` must be"),
        (["--level", 2], "`level` must be"),
        (["--now", "soon"], "--now must be a number"),
        (["--out", "next.xlsx"], "is no format of tables"),
        (["--out", "."], "it is a folder"),
        (["--future", "nowhere.csv"], "there is nothing at"),
    ],
)
def test_bad_options_are_messages(run, pumps, model, arguments, message):
    result = run("forecast", model, pumps[0], "--static", pumps[1], *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_what_is_no_model_is_refused(run, pumps, tmp_path):
    for path, message in (
        (pumps[0], "cannot be read"),
        (tmp_path, "Is a directory"),
        (tmp_path / "nowhere.boostr", "No such file"),
    ):
        result = run("forecast", path, pumps[0])
        assert result.exit_code == 2
        assert message in result.stderr
        assert "Traceback" not in result.output


@pytest.mark.parametrize("column", ["site", "country"])
def test_totals_by_group_are_those_of_the_library(run, pumps, model, tmp_path, column):
    static = tmp_path / "pumps.csv"
    table = pl.read_csv(pumps[1]).with_columns(country=pl.col("site").str.to_uppercase())
    table.write_csv(static)  # of which the model has learned the site alone
    given = ["forecast", model, pumps[0], "--static", static, "--horizon", 30]
    result = run(*given, "--by", column, "--json")
    assert result.exit_code == 0, result.output
    y = RecurrentEvents.from_long(pl.read_csv(pumps[0]), "pump", "day", "failed")
    ordered = table.sort("pump")
    expected = boostr.load(model).forecast_fleet(
        ordered.drop("pump", "country"), y, horizon=30, by=ordered[column].to_list()
    )
    found = json.loads(result.stdout)["groups"]
    assert [row[column] for row in found] == expected["group"].to_list()
    for name in ("n_individuals", "expected", "upper"):
        assert [row[name] for row in found] == pytest.approx(expected[name].to_list())
    shown = run(*given, "--by", column).stdout
    assert f"By {column}" in shown


def test_groups_must_be_in_the_features(run, pumps, model):
    given = ["forecast", model, pumps[0], "--horizon", 30, "--by", "owner"]
    refused = run(*given, "--static", pumps[1])
    assert refused.exit_code == 2
    assert "has none called `owner`" in refused.stderr
    assert "Hint: --static FILE" in run(*given).stderr
