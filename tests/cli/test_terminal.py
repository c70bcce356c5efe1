"""Terminal events in the shell."""

import json

import numpy as np
import pytest

polars = pytest.importorskip("polars")

from tests.cli.scenes import TINY  # noqa: E402

from boostr import simulate  # noqa: E402


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """Paths of events and features of patients who may die, and who did."""
    folder = tmp_path_factory.mktemp("clinic")
    patients = simulate.patients(n=80, random_state=1)
    table = patients.y.to_long(backend="polars").rename({"id": "patient", "time": "day"})
    events, static = folder / "events.csv", folder / "static.csv"
    table.drop("start").with_columns(polars.col("event", "terminal").cast(int)).write_csv(
        events
    )
    features = {f"x{k}": patients.X[:, k] for k in range(5)}
    polars.DataFrame({"patient": np.arange(80), **features}).write_csv(static)
    return events, static, patients.y.is_terminal


@pytest.fixture(scope="module")
def model(run, clinic):
    events, static, _ = clinic
    path = events.parent / "clinic.boostr"
    result = run(
        "fit", events, "--static", static, "--terminal", "terminal", "--out", path, *TINY
    )
    assert result.exit_code == 0, result.output
    return path


def forecast(run, model, clinic):
    events, static, _ = clinic
    result = run("forecast", model, events, "--static", static, "--horizon", 30, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["rows"]


def test_forecasts_tell_the_chance_of_death(run, model, clinic):
    rows = sorted(forecast(run, model, clinic), key=lambda row: row["id"])
    is_dead = np.array([row["expected"] == 0.0 for row in rows])
    assert np.array_equal(is_dead, clinic[2])
    assert all(row["terminal"] > 0.0 for row in rows if row["expected"] > 0.0)


def test_the_column_must_be_there(run, clinic):
    events, static, _ = clinic
    out = ["--out", events.parent / "other.boostr"]
    result = run("fit", events, "--static", static, "--terminal", "died", *out, *TINY)
    assert result.exit_code == 2
    assert "died" in result.stderr


def test_terminal_events_are_counted_in_the_first_message(run, model, clinic):
    events, static, is_terminal = clinic
    result = run("forecast", model, events, "--static", static, "--horizon", 30)
    assert f"rows; {is_terminal.sum()} terminal events" in result.stderr
    assert "own history" in result.stdout


def test_events_and_terminal_events_need_two_columns(run, clinic):
    events, static, _ = clinic
    out = ["--out", events.parent / "other.boostr"]
    both = ["--event", "event", "--terminal", "event"]
    result = run("fit", events, "--static", static, *both, *out, *TINY)
    assert result.exit_code == 2
    assert "--event and --terminal must be two columns" in result.stderr


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_other_commands_read_the_column(run, model, clinic, command, tmp_path):
    events, static, _ = clinic
    more = ["--out", tmp_path / "page.html"] if command == "report" else ["--as-of", 30]
    more += ["--horizon", 20]
    result = run(
        command, model, events, "--static", static, "--terminal", "terminal", *more
    )
    assert result.exit_code == 0, result.output


def test_an_end_for_all_is_not_that_of_the_dead(run, clinic, tmp_path):
    orders = polars.DataFrame(
        {
            "patient": [1, 1, 2, 3] * 10,
            "day": [3.0, 9.0, 4.0, 5.0] * 10,
            "died": [0, 1, 0, 0] * 10,
        }
    ).with_columns(patient=polars.int_range(40) // 4 * 10 + polars.col("patient"))
    path = tmp_path / "orders.csv"
    orders.write_csv(path)
    columns = ["--id", "patient", "--time", "day", "--terminal", "died", "--end", 20]
    out = tmp_path / "m.boostr"
    result = run("fit", path, *columns, "--out", out, *TINY)
    assert result.exit_code == 0, result.output
