import pytest


@pytest.fixture(scope="session")
def run():
    """Run a command in this process; the result has exit_code, stdout and stderr."""
    testing = pytest.importorskip("typer.testing")
    from boostr.cli._app import app

    def invoke(*arguments):
        return testing.CliRunner().invoke(app, [str(each) for each in arguments])

    return invoke


@pytest.fixture(scope="session")
def pumps(tmp_path_factory):
    """Paths of events, features and sensors of a small fleet."""
    pytest.importorskip("polars")
    from tests.cli.scenes import write_pumps

    return write_pumps(tmp_path_factory.mktemp("pumps"))


@pytest.fixture(scope="session")
def model(run, pumps):
    """Path of a model of the pumps with their features."""
    from tests.cli.scenes import TINY

    events, static, _ = pumps
    path = events.parent / "pumps.boostr"
    result = run("fit", events, "--static", static, "--out", path, *TINY)
    assert result.exit_code == 0, result.output
    return path
