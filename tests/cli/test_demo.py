import json
import shlex

import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from boostr import BoostR  # noqa: E402
from boostr.cli import _demo  # noqa: E402


@pytest.fixture
def quick(monkeypatch):
    """Learn less, in the same way."""

    def make(**params):
        return BoostR(**params | {"n_estimators": 5, "validation": None})

    monkeypatch.setattr(_demo, "BoostR", make)


@pytest.mark.slow
def test_the_files_are_kept_and_the_commands_that_it_names_work(run, quick, tmp_path):
    folder = tmp_path / "my demo"
    result = run("demo", "--out", folder, "--n", 20)
    assert result.exit_code == 0, result.output
    names = {"events.csv", "wells.csv", "sensors.csv", "wells.boostr", "forecast.csv"}
    assert {path.name for path in folder.iterdir()} == names
    assert pl.read_csv(folder / "forecast.csv").height == 20
    assert "The next 30 days" in result.stdout
    assert "next event" in result.stdout
    lines = [line for line in result.stdout.splitlines() if line.startswith("  boostr ")]
    commands = [shlex.split(line)[1:] for line in lines]
    named = ["fit", "forecast", "report", "fit", "evaluate"]
    assert [arguments[0] for arguments in commands] == named
    for arguments in commands:
        if arguments[0] == "report":  # has tests of its own
            continue
        if arguments[0] == "fit":
            arguments += ["--n-estimators", "5", "--validation", "none"]
        shown = run(*arguments)
        assert shown.exit_code == 0
        if arguments[0] == "forecast":
            assert "The next 30 days" in shown.stdout


@pytest.mark.slow
def test_without_a_folder_nothing_is_left(run, quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--n", 20, "--json")
    found = json.loads(result.stdout)
    assert found["folder"] is None
    assert found["total"]["n_individuals"] == 20
    assert not list(tmp_path.iterdir())
    assert "boostr demo --out demo" in run("demo", "--n", 20).stdout


def test_a_file_in_the_place_of_the_folder_is_refused(run, tmp_path):
    (tmp_path / "demo").write_text("")
    result = run("demo", "--out", tmp_path / "demo")
    assert result.exit_code == 2
    assert "Traceback" not in result.output
