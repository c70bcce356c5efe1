import json

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from tests.cli.scenes import TINY  # noqa: E402

import boostr  # noqa: E402
from boostr import BoostR, RecurrentEvents  # noqa: E402


def test_the_model_is_that_of_the_library(pumps, model):
    events, static, _ = pumps
    y = RecurrentEvents.from_long(pl.read_csv(events), "pump", "day", "failed")
    X = pl.read_csv(static).sort("pump").drop("pump")
    direct = BoostR(n_estimators=5, validation=None, random_state=0).fit(X, y)
    assert np.array_equal(boostr.load(model).predict(X), direct.predict(X))


def test_settings_reach_the_model(run, pumps, tmp_path):
    out = tmp_path / "x.boostr"
    settings = ["leaf=step", "gamma2=3", "monotone=false", "max-leaf-nodes=3"]
    pairs = [part for setting in settings for part in ("--set", setting)]
    result = run(
        "fit",
        pumps[0],
        "--out",
        out,
        *TINY,
        "--seed",
        7,
        "--jobs",
        1,
        *pairs,
        "--no-progress",
    )
    assert result.exit_code == 0, result.output
    found = boostr.load(out).get_params()
    expected = {"n_estimators": 5, "validation": None, "random_state": 7, "n_jobs": 1}
    expected |= {"leaf": "step", "gamma2": 3, "monotone": False, "max_leaf_nodes": 3}
    assert expected.items() <= found.items()


def test_json_is_one_object_and_messages_go_elsewhere(run, pumps, tmp_path):
    events, static, _ = pumps
    out = tmp_path / "x.boostr"
    result = run("fit", events, "--static", static, "--out", out, *TINY, "--json")
    found = json.loads(result.stdout)
    assert found["model"] == str(out)
    assert found["individuals"] == 40
    assert found["reading"]["id"] == "pump"
    assert next(iter(found["importance"])) == "load"
    assert "using `pump` as the id" in result.stderr


@pytest.mark.slow
def test_columns_are_chosen_by_options(run, pumps, tmp_path):
    events, static, _ = pumps
    out = tmp_path / "x.boostr"
    given = ["fit", events, "--static", static, "--out", out, *TINY]
    for chosen in (["--features", "load"], ["--drop", "site"]):
        assert run(*given, *chosen).exit_code == 0
        assert boostr.load(out).encoder_.names == ("load",)
    refused = run(*given, "--features", "load, torque")
    assert refused.exit_code == 2
    assert "no `torque`" in refused.stderr


def test_sensors_and_checkpoints_are_used(run, pumps, tmp_path):
    events, _, sensors = pumps
    out, checkpoint = tmp_path / "x.boostr", tmp_path / "x.checkpoint"
    result = run(
        "fit", events, "--sensors", sensors, "--out", out, *TINY, "--checkpoint", checkpoint
    )
    assert result.exit_code == 0, result.output
    assert boostr.load(out).sensor_layout_.names == ("torque", "mode")


@pytest.mark.slow
def test_only_the_past_is_learned_from(run, pumps, tmp_path):
    events = pl.read_csv(pumps[0])
    cut = pl.concat(
        [
            events.filter((pl.col("day") <= 50) & (pl.col("failed") == 1)),
            events.filter(pl.col("failed") == 0).with_columns(day=pl.lit(50.0)),
        ]
    )
    cut.write_csv(tmp_path / "cut.csv")
    arguments = {"early": (pumps[0], "--until", 50), "cut": (tmp_path / "cut.csv",)}
    models = []
    for name, given in arguments.items():
        out = tmp_path / f"{name}.boostr"
        assert run("fit", *given, "--out", out, *TINY).exit_code == 0
        models.append(boostr.load(out))
    X = np.empty((1, 0))
    assert models[0].horizon_ == 50.0
    assert models[0].predict(X) == models[1].predict(X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "trees=3"], "the settings are average_folds"),
        (["--set", "gamma2"], "NAME=VALUE"),
        (["--set", "leaf=nope"], "`leaf` must be"),
        (["--n-estimators", 0], "`n_estimators` must be"),
        (["--validation", "much"], "`validation` must be"),
        (["--until", "-5"], "none is before"),
        (["--static", "nowhere.csv"], "there is nothing at 'nowhere.csv'"),
        (["--id", "well"], "it has `pump`, `day`, `failed`"),
        (["--start", "well"], "must be a column, a number or a date"),
    ],
)
def test_bad_options_are_messages_and_no_file(run, pumps, tmp_path, arguments, message):
    out = tmp_path / "x.boostr"
    result = run("fit", pumps[0], "--out", out, *TINY, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("pump,day,failed\nP1,,1\nP1,9,0\n", "ids P1"),
        ("pump,day,failed\nP1,-3,1\nP1,9,0\n", "must not be negative"),
        ("pump,day,failed\nP1,3,1\n", "end of follow-up"),
        ("pump,day,failed\nP1,3,2\nP1,9,0\n", "Column 'failed' must be True or False"),
        ("pump,day,failed\nP1,3,maybe\nP1,9,no\n", "'maybe' (row 2 of 'events.csv')"),
        ("pump,day,failed\nP1,soon,1\nP1,9,0\n", "'soon' (row 2 of 'events.csv') beside"),
        ("pump,day,failed\nP1,2024-01-01,1\nP1,01.02.2024,0\n", "written alike"),
        ("pump,day,failed\nP1,2024-01-01,1\nP1,2024-02-01,0\n", "--start COLUMN"),
        ("pump,day,failed\n,1,1\nP1,9,0\n", "must have an id"),
        ("", "is empty"),
    ],
)
def test_bad_events_are_messages_and_no_file(run, tmp_path, content, message):
    events, out = tmp_path / "events.csv", tmp_path / "x.boostr"
    events.write_text(content)
    result = run("fit", events, "--out", out, *TINY)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not out.exists()


def test_a_bad_place_is_refused_before_anything_is_read(run, tmp_path):
    result = run("fit", tmp_path / "nowhere.csv", "--out", tmp_path)
    assert result.exit_code == 2
    assert "it is a folder" in result.stderr


@pytest.mark.slow
def test_sensors_are_listed_beside_the_features(run, pumps, tmp_path):
    events, static, sensors = pumps
    tables = [events, "--static", static, "--sensors", sensors, "--unit", "D"]
    given = [*tables, "--out", tmp_path / "x.boostr", *TINY]
    result = run("fit", *given, "--set", "sensor_penalty=ridge")
    assert result.exit_code == 0, result.output
    assert "effect (events per day)" in result.stdout
    assert {"torque", "mode", "load"} <= set(result.stdout.split())
    found = json.loads(run("fit", *given, "--json").stdout)["sensor_importance"]
    assert set(found) == {"torque", "mode"}


@pytest.mark.slow
@pytest.mark.filterwarnings("default::boostr.exceptions.UnusedInputWarning")
def test_sensors_that_are_not_used_are_named(run, pumps, tmp_path):
    events, static, sensors = pumps
    table = pl.read_csv(sensors).with_columns(torque=0.5)
    table.write_csv(tmp_path / "s.csv")
    tables = [events, "--static", static, "--sensors", tmp_path / "s.csv"]
    model = tmp_path / "x.boostr"
    settings = [*TINY, "--set", "sensor_penalty=ridge"]
    result = run("fit", *tables, "--out", model, *settings)
    (told,) = [line for line in result.stderr.splitlines() if "Not used" in line]
    assert "`torque`" in told
    assert "`load`" not in told
    plan = table.select("pump", pl.col("day") + 100.0, torque=pl.lit(0.9))
    plan.write_csv(tmp_path / "plan.csv")
    asked = ["--horizon", 20, "--future", tmp_path / "plan.csv"]
    result = run("forecast", model, *tables, *asked)
    assert result.exit_code == 0, result.output
    assert "warning: The model does not use the sensor 'torque'" in result.stderr
