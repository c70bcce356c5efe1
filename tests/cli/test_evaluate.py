import json

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from tests.cli.scenes import TINY, write_pumps  # noqa: E402

import boostr  # noqa: E402
from boostr import RecurrentEvents, metrics  # noqa: E402


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Return paths of pumps that the model has not seen."""
    return write_pumps(tmp_path_factory.mktemp("fresh"), seed=1)


def test_figures_are_those_of_the_metrics(run, model, fresh):
    result = run("evaluate", model, fresh[0], "--static", fresh[1], "--json")
    found = json.loads(result.stdout)
    fitted = boostr.load(model)
    y = RecurrentEvents.from_long(pl.read_csv(fresh[0]), "pump", "day", "failed")
    X = pl.read_csv(fresh[1]).sort("pump").drop("pump")
    risk = fitted.predict(X)
    expected = fitted.predict_count(X, y.start, y.end)
    slope = metrics.calibration_slope(y, expected, by=risk)
    assert found["observed"] == y.n_events.sum()
    assert found["expected"] == pytest.approx(expected.sum())
    assert found["score"] == pytest.approx(fitted.score(X, y))
    assert found["concordance"] == pytest.approx(metrics.event_concordance(y, risk))
    assert found["calibration_slope"] == pytest.approx(slope.slope)
    assert found["capture"] == pytest.approx(metrics.capture_curve(y, risk).at(0.1))
    assert found["concordance"] > 0.6


def test_forecasts_are_judged_by_what_came_after(run, model, fresh):
    given = ["--as-of", 60, "--horizon", 30, "--level", 0.8, "--json"]
    result = run("evaluate", model, fresh[0], "--static", fresh[1], *given)
    found = json.loads(result.stdout)
    table = pl.read_csv(fresh[0])
    y = RecurrentEvents.from_long(table, "pump", "day", "failed")
    X = pl.read_csv(fresh[1]).sort("pump").drop("pump")
    forecasts = (
        boostr.load(model).forecast(X, y, horizon=30, now=60.0, level=0.8).sort("id")
    )
    after = pl.col("day").is_between(60, 90, closed="right") & (pl.col("failed") == 1)
    counts = table.group_by("pump").agg(after.sum().alias("n")).sort("pump")["n"].to_numpy()
    is_in = (forecasts["lower"].to_numpy() <= counts) & (
        counts <= forecasts["upper"].to_numpy()
    )
    error = counts - forecasts["expected"].to_numpy()
    assert found["observed"] == counts.sum()
    assert found["expected"] == pytest.approx(forecasts["expected"].sum())
    assert found["covered"] == pytest.approx(is_in.mean())
    assert found["mean_absolute_error"] == pytest.approx(np.abs(error).mean())
    assert found["root_mean_squared_error"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert found["lower"] < found["expected"] < found["upper"]


def test_intervals_of_costs_hold_costs_that_are_no_whole_units(run, fresh, tmp_path):
    rng = np.random.default_rng(0)
    table = pl.read_csv(fresh[0])
    paid = pl.Series("paid", rng.lognormal(1.0, 0.7, len(table))) * table["failed"]
    events, model = tmp_path / "paid.csv", tmp_path / "paid.boostr"
    table.with_columns(paid).write_csv(events)
    fitted = run(
        "fit", events, "--static", fresh[1], "--cost", "paid", "--out", model, *TINY
    )
    assert fitted.exit_code == 0, fitted.output
    given = ["--static", fresh[1], "--cost", "paid", "--as-of", 60, "--json"]
    found = json.loads(run("evaluate", model, events, *given).stdout)
    assert found["covered"] > 0.8


def test_only_those_who_were_and_are_observed_are_judged(run, tmp_path):
    rows = [("a", 0.0, 50.0), ("b", 0.0, 100.0), ("c", 70.0, 100.0), ("d", 0.0, 80.0)]
    rows += [("d", 80.0, 100.0)]
    table = pl.DataFrame(rows, schema=["id", "start", "stop"], orient="row")
    events, model = tmp_path / "events.csv", tmp_path / "x.boostr"
    table.with_columns(event=pl.col("stop") == 80.0).write_csv(events)
    assert run("fit", events, "--out", model, *TINY).exit_code == 0
    result = run("evaluate", model, events, "--as-of", 60, "--json")
    assert json.loads(result.stdout)["individuals"] == 2
    assert "evaluating 2 of 4 individuals" in result.stderr
    result = run("evaluate", model, events, "--as-of", 100)
    assert result.exit_code == 2
    assert "observed after" in result.stderr


def test_somebody_must_be_observed_before_and_after(run, model, tmp_path):
    rows = [("P00", 0.0, 50.0, 1), ("P01", 70.0, 100.0, 0)]
    names = ["pump", "start", "stop", "failed"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "e.csv")
    static = pl.DataFrame({"pump": ["P00", "P01"], "load": [0.1, 0.9], "site": ["a", "b"]})
    static.write_csv(tmp_path / "s.csv")
    tables = [tmp_path / "e.csv", "--static", tmp_path / "s.csv"]
    result = run("evaluate", model, *tables, "--as-of", 60)
    assert result.exit_code == 2
    assert "observed before and after 60" in result.stderr


def test_figures_that_do_not_exist_are_null_and_said(run, pumps, tmp_path):
    model = tmp_path / "x.boostr"
    assert run("fit", pumps[0], "--out", model, *TINY).exit_code == 0
    result = run("evaluate", model, pumps[0], "--json")
    assert json.loads(result.stdout)["calibration_slope"] is None
    assert "no figure for the slope" in result.stderr


def test_the_screen_shows_all_figures_with_words(run, model, fresh):
    result = run("evaluate", model, fresh[0], "--static", fresh[1], "--as-of", 60)
    for words in ("events observed", "concordance", "calibration slope", "tenth most"):
        assert words in result.stdout


@pytest.mark.parametrize("given", [[], ["--as-of", 60]])
def test_histories_that_were_trained_on_are_in_sample(run, model, pumps, fresh, given):
    told = "warning: These 40 individuals were used in training: figures are in-sample"
    result = run("evaluate", model, pumps[0], "--static", pumps[1], *given, "--json")
    assert told in result.stderr
    assert result.stderr.count("in-sample") == 1
    assert json.loads(result.stdout)["in_sample"] is True
    result = run("evaluate", model, fresh[0], "--static", fresh[1], *given, "--json")
    assert "in-sample" not in result.stderr
    assert json.loads(result.stdout)["in_sample"] is False


def test_forecasts_from_what_was_known_are_not_in_sample(run, pumps, tmp_path):
    tables = [pumps[0], "--static", pumps[1]]
    early = tmp_path / "early.boostr"
    assert run("fit", *tables, "--until", 60, "--out", early, *TINY).exit_code == 0
    result = run("evaluate", early, *tables, "--as-of", 60)
    assert result.exit_code == 0, result.output
    assert "in-sample" not in result.stderr


def test_a_horizon_needs_a_time(run, model, fresh):
    result = run("evaluate", model, fresh[0], "--horizon", 30)
    assert result.exit_code == 2
    assert "--as-of TIME" in result.stderr
