"""Kinds of events in the shell."""

import json

import numpy as np
import pytest

polars = pytest.importorskip("polars")

from tests.cli.scenes import TINY  # noqa: E402

from boostr import RecurrentEvents  # noqa: E402


@pytest.fixture(scope="module")
def pumps(tmp_path_factory):
    """Paths of events with failure modes, and of features."""
    folder = tmp_path_factory.mktemp("pumps")
    rng = np.random.default_rng(0)
    load, counts = rng.uniform(size=80), rng.poisson(4.0, size=(80, 2))
    kinds = [["motor"] * a + ["seal"] * b for a, b in counts]
    times = [rng.uniform(0.0, 100.0, size=len(each)).round(3) for each in kinds]
    y = RecurrentEvents.from_lists(times, end=100.0, kind=kinds)
    table = y.to_long(backend="polars").rename(
        {"id": "pump", "time": "day", "kind": "mode"}
    )
    events, static = folder / "events.csv", folder / "static.csv"
    table.drop("start").with_columns(polars.col("event").cast(int)).write_csv(events)
    polars.DataFrame({"pump": np.arange(80), "load": load}).write_csv(static)
    return events, static


@pytest.fixture(scope="module")
def model(run, pumps):
    events, static = pumps
    path = events.parent / "pumps.boostr"
    result = run("fit", events, "--static", static, "--kind", "mode", "--out", path, *TINY)
    assert result.exit_code == 0, result.output
    return path


def test_forecasts_name_the_likely_kind(run, model, pumps):
    events, static = pumps
    result = run("forecast", model, events, "--static", static, "--horizon", 30, "--json")
    assert result.exit_code == 0, result.output
    kinds = {row["likely_kind"] for row in json.loads(result.stdout)["rows"]}
    assert kinds == {"motor", "seal"}


def test_kinds_are_counted_in_the_first_message(run, model, pumps):
    events, static = pumps
    result = run("forecast", model, events, "--static", static, "--horizon", 30)
    counts = polars.read_csv(events).filter(polars.col("event") == 1)["mode"]
    seals, motors = (counts == "seal").sum(), (counts == "motor").sum()
    listed = sorted([(motors, "motor"), (seals, "seal")], reverse=True)
    shown = ", ".join(f"{kind} {count}" for count, kind in listed)
    assert f"rows; 2 kinds ({shown})" in result.stderr


def test_models_are_evaluated_and_reported(run, model, pumps):
    events, static = pumps
    result = run("evaluate", model, events, "--static", static)
    assert result.exit_code == 0, result.output
    page = events.parent / "page.html"
    result = run("report", model, events, "--static", static, "--out", page)
    assert result.exit_code == 0, result.output
    assert "Kind with most expected events" in page.read_text(encoding="utf-8")


def test_the_column_must_be_there(run, pumps):
    events, static = pumps
    out = ["--out", events.parent / "other.boostr"]
    result = run("fit", events, "--static", static, "--kind", "cause", *out, *TINY)
    assert result.exit_code == 2
    assert "cause" in result.stderr
