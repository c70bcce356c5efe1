import contextlib
import ctypes
import os
import runpy
import signal
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import pytest
from tests.reproduction.scenes import make_chapter

import boostr
from boostr import _command
from boostr.cli import main
from boostr.exceptions import BoostrError
from boostr.reproduction import _reproduce

typer = pytest.importorskip("typer")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.fixture
def built(monkeypatch):
    """Build chapters without computing, and list what was built."""
    asked = []

    def build(part, work):
        asked.append((part, work.scale.name))
        return make_chapter(part)

    for part in boostr.reproduction.PARTS:
        monkeypatch.setitem(_reproduce._CHAPTERS, part, partial(build, part))
    return asked


def test_the_page_is_made_and_named(run, built, tmp_path):
    result = run("reproduce", "C", "D", "--quick", "--out", tmp_path, "--no-progress")
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(tmp_path / "index.html")
    assert (tmp_path / "index.html").exists()
    assert built == [("C", "quick"), ("D", "quick")]


def test_all_parts_are_made_unless_asked_otherwise(run, built, tmp_path):
    run("reproduce", "--full", "--out", tmp_path, "--no-progress")
    assert built == [(part, "full") for part in boostr.reproduction.PARTS]


def test_an_error_of_the_library_is_a_message_and_status_2(run, built, tmp_path):
    result = run("reproduce", "E", "--out", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: There is no part 'E'.")
    assert "Hint:" in result.stderr
    assert "Traceback" not in result.output


def test_an_interrupted_run_says_how_to_go_on(run, monkeypatch, tmp_path):
    def interrupt(work):
        raise KeyboardInterrupt

    monkeypatch.setitem(_reproduce._CHAPTERS, "A", interrupt)
    result = run("reproduce", "A", "--out", tmp_path, "--no-progress")
    assert result.exit_code == 130
    assert "goes on from here" in result.stderr


def test_an_interrupt_that_a_library_made_an_error_of_is_one(run, monkeypatch, tmp_path):
    def interrupt(work):
        message = "kernel could not be loaded"
        raise RuntimeError(message) from KeyboardInterrupt()

    monkeypatch.setitem(_reproduce._CHAPTERS, "A", interrupt)
    result = run("reproduce", "A", "--out", tmp_path, "--no-progress")
    assert result.exit_code == 130
    assert "Stopped." in result.stderr


@pytest.fixture
def _usual_interrupts():
    """Interrupts as in a terminal; jobs in the background ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_usual_interrupts")
def test_an_interrupt_that_python_cannot_raise_is_one_all_the_same(
    run, monkeypatch, tmp_path
):
    def interrupt(work):
        @ctypes.CFUNCTYPE(None)
        def load():  # as LLVM calls back while it loads a kernel
            raise KeyboardInterrupt

        load()
        for _ in range(500):
            time.sleep(0.01)
        return make_chapter()

    monkeypatch.setitem(_reproduce._CHAPTERS, "A", interrupt)
    result = run("reproduce", "A", "--out", tmp_path, "--no-progress")
    assert result.exit_code == 130


@pytest.mark.usefixtures("_usual_interrupts")
@pytest.mark.parametrize("error", [RuntimeError("no kernel"), typer.Abort()])
def test_an_interrupt_that_a_library_has_swallowed_is_one(
    run, monkeypatch, tmp_path, error
):
    def interrupt(work):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise error

    monkeypatch.setitem(_reproduce._CHAPTERS, "A", interrupt)
    result = run("reproduce", "A", "--out", tmp_path, "--no-progress")
    assert result.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
@pytest.mark.parametrize("module", ["boostr.exceptions", "numba", "boostr.cli._options"])
def test_an_interrupt_while_modules_are_imported_has_no_traceback(module):
    process = start("fit", "--help", env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"})
    for line in process.stderr:
        if line.rstrip().endswith(f" {module}"):
            break
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert "Stopped." in rest


@pytest.mark.usefixtures("_usual_interrupts")
def test_a_program_that_uses_the_package_keeps_its_handler(monkeypatch):
    usual = signal.getsignal(signal.SIGINT)
    for script in ("analysis.py", "pytest"):
        monkeypatch.setattr(sys, "argv", [script])
        _command._begin()
        assert signal.getsignal(signal.SIGINT) is usual
    monkeypatch.setattr(sys, "argv", ["/usr/bin/boostr", "fit"])
    _command._begin()
    changed = signal.getsignal(signal.SIGINT)
    _command.end()
    assert changed is not usual
    assert signal.getsignal(signal.SIGINT) is usual


@pytest.mark.filterwarnings("always")
def test_names_in_messages_cannot_steer_the_terminal(run, monkeypatch, tmp_path):
    def fail(*_arguments, **_options):
        warnings.warn("id \x1b]0;title\x07", UserWarning, stacklevel=1)
        raise BoostrError("id \x1b[31mP1\r\u202e\n\nHint: none.")

    monkeypatch.setattr("boostr.cli._fit.read_fleet", fail)
    result = run("fit", "events.csv", "--out", tmp_path / "x.boostr")
    assert not set(result.stderr) & set("\x1b\x07\r\u202e")
    assert "warning: id \\x1b]0;title\\x07" in result.stderr
    assert "error: id \\x1b[31mP1\\r\\u202e\n\nHint" in result.stderr


def test_help_has_an_example_of_every_command(run):
    from boostr.cli._app import app

    shown = run("--help").stdout
    for command in app.registered_commands:
        assert f"  boostr {command.name} " in shown
        own = run(command.name, "--help").stdout
        assert f"  boostr {command.name} " in own
        assert command.help in " ".join(own.split())


def test_the_examples_can_be_run_as_they_stand(run, built, tmp_path, monkeypatch):
    from boostr.cli._app import app

    monkeypatch.chdir(tmp_path)
    lines = app.info.epilog.splitlines()
    (example,) = (line for line in lines if line.startswith("  boostr reproduce"))
    assert run(*example.split()[1:]).exit_code == 0


def test_the_version_is_told(run):
    assert run("--version").stdout.strip() == f"boostr {boostr.__version__}"


def test_without_typer_the_way_to_get_it_is_told(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "pip install 'boostr[cli]'" in capsys.readouterr().err


def test_the_module_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["boostr", "--version"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("boostr", run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out.strip() == f"boostr {boostr.__version__}"


def start(*arguments, **options):
    """Start a command in a process of its own."""
    command = [sys.executable, "-m", "boostr", *map(str, arguments)]
    return subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (BoostrError("No."), 2, "error: No."),
        (FileNotFoundError(2, "No such file", "x.csv"), 2, "'x.csv': No such file"),
        (OSError(28, "No space left on device"), 2, "error: No space left"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), 2, "can't decode"),
        (MemoryError(), 2, "not enough memory"),
        (KeyboardInterrupt(), 130, "Stopped."),
        (ZeroDivisionError("oh"), 1, "in boostr itself (ZeroDivisionError: oh)"),
    ],
)
def test_every_error_is_a_message_and_a_status(
    run, monkeypatch, tmp_path, error, status, message
):
    def fail(*_arguments, **_options):
        raise error

    monkeypatch.delenv("BOOSTR_TRACEBACK", raising=False)
    monkeypatch.setattr("boostr.cli._fit.read_fleet", fail)
    result = run("fit", "events.csv", "--out", tmp_path / "x.boostr")
    assert result.exit_code == status
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_errors_of_polars_are_messages(run, monkeypatch, tmp_path):
    polars = pytest.importorskip("polars")

    class PanicException(BaseException):
        pass

    for error, status in (
        (polars.exceptions.ComputeError("no"), 2),
        (PanicException("no"), 1),
    ):

        def fail(*_arguments, error=error, **_options):
            raise error

        monkeypatch.setattr("boostr.cli._fit.read_fleet", fail)
        result = run("fit", "events.csv", "--out", tmp_path / "x.boostr")
        assert result.exit_code == status
        assert "Traceback" not in result.output


def test_whoever_asks_for_it_sees_where_an_error_came_from(run, monkeypatch, tmp_path):
    def fail(*_arguments, **_options):
        raise ZeroDivisionError

    monkeypatch.setenv("BOOSTR_TRACEBACK", "1")
    monkeypatch.setattr("boostr.cli._fit.read_fleet", fail)
    result = run("fit", "events.csv", "--out", tmp_path / "x.boostr")
    assert isinstance(result.exception, ZeroDivisionError)


def test_wrong_usage_is_status_2(run):
    result = run("fit")
    assert result.exit_code == 2
    assert "Missing argument 'EVENTS'" in result.stderr


def test_shells_can_complete(run):
    shown = run("--help").stdout
    assert "--install-completion" in shown
    assert "--show-completion" in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)]
)
def test_a_stopped_fit_leaves_no_file(pumps, tmp_path, sent, status):
    arguments = ("fit", pumps[0], "--static", pumps[1], "--out", tmp_path / "x.boostr")
    process = start(*arguments, "--n-estimators", 1_000_000, "--validation", "none")
    said = [process.stderr.readline() for _ in range(3)]  # both tables are read
    assert "using `pump` as the id" in said[2]
    process.send_signal(sent)
    rest = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in rest[1]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_process_tells_machines_and_people_apart(pumps, model):
    arguments = ("forecast", model, pumps[0], "--static", pumps[1], "--horizon", 30)
    out, err = start(*arguments, "--json").communicate(timeout=60)
    assert out.startswith('{"horizon": 30.0')
    assert out.count("\n") == 1
    assert "using `pump` as the id" in err
    process = start("forecast", pumps[0], pumps[0])
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert err.startswith("error: ")


@pytest.mark.slow
@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_without_permission_is_refused(pumps, tmp_path):
    tmp_path.chmod(0o500)
    process = start("fit", pumps[0], "--out", tmp_path / "x.boostr")
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 2
    assert "not permitted" in err


@pytest.mark.slow
def test_the_script_is_installed():
    script = Path(sys.executable).with_name("boostr")
    if not script.exists():
        pytest.skip("boostr is run from its source")
    shown = subprocess.run(
        [script, "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == f"boostr {boostr.__version__}"
