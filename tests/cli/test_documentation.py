"""The commands of the page on the command line can be given as they stand."""

import json
import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("polars")
pytest.importorskip("typer")

pytestmark = pytest.mark.slow  # learns as much as the demo does

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
TINY = ["--n-estimators", "5", "--validation", "none"]


def test_the_commands_work_one_after_the_other(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    commands = [shlex.split(line)[2:] for block in blocks for line in block.splitlines()]
    assert [command[0] for command in commands].count("fit") == 2
    for command in commands:
        quick = {"fit": TINY, "demo": ["--n", "20"]}.get(command[0], [])
        result = run(*command, *quick)
        assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["total"]["n_individuals"] == 20
    assert Path("next.csv").exists()


def test_all_commands_and_the_statement_on_columns_are_there(run, tmp_path):
    from boostr.cli._app import app

    page = PAGE.read_text()
    for command in app.registered_commands:
        assert f"`boostr {command.name}" in page
    result = run("demo", "--n", 20, "--out", tmp_path)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("events.csv")]
    assert line in page
