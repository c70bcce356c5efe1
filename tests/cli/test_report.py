import json

import numpy as np
import pytest

from boostr import BoostR, RecurrentEvents

typer_testing = pytest.importorskip("typer.testing")
polars = pytest.importorskip("polars")
pytest.importorskip("jinja2")
pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write events, features and a model of thirty pumps."""
    folder = tmp_path_factory.mktemp("pumps")
    rng = np.random.default_rng(1)
    ids = [f"P{k:02d}" for k in range(30)]
    times = [np.sort(rng.uniform(0.0, 50.0, k)).tolist() for k in rng.poisson(3.0, 30)]
    rows = [
        (one, time, flag)
        for one, own in zip(ids, times, strict=True)
        for time, flag in [*((time, 1) for time in own), (50.0, 0)]
    ]
    events = polars.DataFrame(rows, schema=["pump", "day", "failed"], orient="row")
    X = polars.DataFrame({"depth": rng.uniform(size=30)})
    events.write_csv(folder / "events.csv")
    X.insert_column(0, polars.Series("pump", ids)).write_csv(folder / "pumps.csv")
    y = RecurrentEvents.from_long(events, "pump", "day", "failed")
    model = BoostR(n_estimators=2, n_folds=2, random_state=0).fit(X.drop("pump"), y)
    model.save(folder / "pumps.boostr")
    return folder


def run(folder, *arguments):
    from boostr.cli._app import app

    given = ["report", str(folder / "pumps.boostr"), str(folder / "events.csv")]
    return typer_testing.CliRunner().invoke(app, [*given, *map(str, arguments)])


@pytest.mark.slow
def test_the_command_writes_the_page(folder, tmp_path):
    out = tmp_path / "fleet.html"
    static = folder / "pumps.csv"
    result = run(folder, "--static", static, "--horizon", 9, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told == {"out": str(out), "bytes": out.stat().st_size, "individuals": 30}
    assert "These are the individuals that the model was trained on" in out.read_text()
    result = run(folder, "--static", static, "--out", out, "--title", "My pumps")
    assert f"30 individuals in {out}" in result.stderr
    assert "<h1>My pumps</h1>" in out.read_text()


def test_bad_input_is_a_message_and_leaves_no_file(folder, tmp_path):
    out = tmp_path / "fleet.html"
    for wrong in (["--level", 2], ["--horizon", -1], ["--max-individuals", 0]):
        result = run(folder, "--static", folder / "pumps.csv", "--out", out, *wrong)
        assert result.exit_code == 2
        assert result.stderr.splitlines()[-1]
        assert "Traceback" not in result.output
    assert run(folder, "--out", out).exit_code == 2
    assert run(folder, "--out", tmp_path / "none" / "x.html").exit_code == 2
    assert list(tmp_path.iterdir()) == []
