import json
import re

import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from boostr import BoostR, RecurrentEvents, backtest  # noqa: E402
from boostr.tuning import Backtest  # noqa: E402

TINY = ("--set", "n_estimators=5", "--set", "validation=none")


@pytest.mark.slow
def test_figures_are_those_of_the_function(run, pumps, tmp_path):
    events, static, _ = pumps
    out = tmp_path / "table.csv"
    given = ["--as-of", 50, "--as-of", 60, "--horizon", 30, "--level", 0.8, "--out", out]
    result = run("backtest", events, "--static", static, *given, *TINY, "--json")
    assert result.exit_code == 0, result.output
    y = RecurrentEvents.from_long(pl.read_csv(events), "pump", "day", "failed")
    X = pl.read_csv(static).sort("pump").drop("pump")
    model = BoostR(n_estimators=5, validation=None, random_state=0)
    options = {"as_of": [50.0, 60.0], "horizon": 30, "level": 0.8}
    expected = backtest({"BoostR": model}, X, y, **options)
    (told,) = json.loads(result.stdout)["summary"]
    assert told["deviance"] == pytest.approx(expected.summary()["deviance"][0])
    written = Backtest(pl.read_csv(out))
    assert written.table["expected"].to_list() == pytest.approx(
        expected.table["expected"].to_list()
    )


@pytest.mark.slow
def test_baselines_and_a_picture_can_be_asked_for(run, pumps, tmp_path):
    picture = tmp_path / "picture.png"
    given = ["--horizon", 20, "--dates", 2, "--baseline", "HomogeneousPoisson"]
    result = run("backtest", pumps[0], *given, *TINY, "--plot", picture)
    assert result.exit_code == 0, result.output
    assert "HomogeneousPoisson" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def dates(path, pumps):
    """Write the same events with dates; pumps enter on different days."""
    day = pl.date(2024, 1, 1) + pl.duration(days=pl.col("pump").str.slice(1).cast(int))
    table = pl.read_csv(pumps[0]).with_columns(start=day)
    spent = pl.duration(hours=(24 * pl.col("day")).cast(pl.Int64) + 1)
    moment = pl.col("start").cast(pl.Datetime) + spent
    table.with_columns(day=moment).write_csv(path)


@pytest.mark.slow
def test_age_and_calendar_time_are_compared(run, pumps, tmp_path):
    dates(tmp_path / "dated.csv", pumps)
    given = [tmp_path / "dated.csv", "--start", "start", "--time-scales", *TINY, "--json"]
    given += ["--as-of", "2024-03-01", "--horizon", 20]
    for origin, other in ((["--origin", "individual"], "calendar time"), ([], "age")):
        result = run("backtest", *given, *origin)
        assert result.exit_code == 0, result.output
        names = [row["candidate"] for row in json.loads(result.stdout)["rows"]]
        assert names == ["BoostR", f"BoostR, {other}"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--horizon", -1], "above zero"),
        (["--horizon", 20, "--as-of", "soon"], "--as-of must be a number"),
        (["--horizon", 20, "--as-of", 100], "observed after"),
        (["--horizon", 20, "--baseline", "TrendTest"], "there are .*HomogeneousPoisson"),
        (["--horizon", 20, "--time-scales"], "needs events with dates"),
        (["--horizon", 20, "--out", "table.txt"], "no format of tables"),
        (["--horizon", 20, "--set", "trees=3"], "settings are"),
    ],
)
def test_bad_input_is_a_message(run, pumps, wrong, message):
    result = run("backtest", pumps[0], *wrong)
    assert result.exit_code == 2
    assert re.search(message, result.stderr)


@pytest.mark.slow
def test_a_stopped_backtest_goes_on(run, pumps, tmp_path):
    path = tmp_path / "runs.jsonl"
    given = ["--horizon", 20, "--as-of", 50, *TINY, "--checkpoint", path]
    assert run("backtest", pumps[0], *given).exit_code == 0
    before = path.read_text()
    assert run("backtest", pumps[0], *given).exit_code == 0
    assert path.read_text() == before


@pytest.mark.slow
def test_the_report_shows_the_table(run, model, pumps, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("plotly")
    table, page = tmp_path / "table.csv", tmp_path / "page.html"
    given = [pumps[0], "--static", pumps[1], "--horizon", 20]
    assert run("backtest", *given, "--as-of", 50, *TINY, "--out", table).exit_code == 0
    result = run("report", model, *given, "--backtest", table, "--out", page)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert "Forecasts at past dates" in text
    observed = pl.read_csv(table)["observed"][0]
    assert f"<td>{observed:.0f}</td>" in text
    result = run("report", model, *given, "--backtest", pumps[0], "--out", page)
    assert result.exit_code == 2
    assert "lacks" in result.stderr
