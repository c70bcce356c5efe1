import os
import socket
from pathlib import Path

import pytest

from boostr import BoostR, backtest, io
from boostr.exceptions import InvalidParameterError
from boostr.io.files import check_output, write_atomically
from boostr.tuning import BoostRSearch

posix = pytest.mark.skipif(os.name != "posix", reason="devices, pipes and links of Unix")


@pytest.fixture
def places(tmp_path):
    """Return paths that are no files, by what they are."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    listener = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(tmp_path)  # names of sockets must be short
    listener.bind("socket")
    os.chdir(here)
    yield {
        "a device": Path("/dev/null"),
        "a pipe": tmp_path / "pipe",
        "a folder": tmp_path / "folder",
        "a socket": tmp_path / "socket",
    }
    listener.close()


@posix
@pytest.mark.parametrize("kind", ["a device", "a pipe", "a folder", "a socket"])
@pytest.mark.parametrize("is_linked", [False, True])
def test_what_is_no_file_is_refused_and_stays(places, tmp_path, kind, is_linked):
    path = places[kind]
    mode = path.stat().st_mode
    if is_linked:
        path = tmp_path / "link"
        path.symlink_to(places[kind])
    with pytest.raises(InvalidParameterError, match=rf"cannot be written: it is {kind}"):
        check_output(path)
    with pytest.raises(InvalidParameterError, match="Hint: "):
        write_atomically(path, b"content")
    assert path.stat().st_mode == mode


@posix
def test_links_in_a_circle_are_refused(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(InvalidParameterError, match=r"'.*one' cannot be written"):
        check_output(one)


@posix
def test_links_to_files_that_are_not_there_yet_are_followed(tmp_path):
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "new")
    write_atomically(link, b"content")
    assert link.is_symlink()
    assert (tmp_path / "new").read_bytes() == b"content"


def test_places_that_take_no_files_are_refused(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidParameterError, match=r"there is no folder '.*file'"):
        check_output(tmp_path / "file" / "x")
    with pytest.raises(InvalidParameterError, match="name too long"):
        check_output(tmp_path / ("x" * 250))  # its draft has more letters

    def refuse(*_arguments):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InvalidParameterError, match=r"The model .*: Read-only file system"):
        check_output(tmp_path / "x", "The model")
    check_output(tmp_path / "file", appends=True)  # it is there, nothing need be made


def test_files_that_must_not_be_changed_are_refused(tmp_path, monkeypatch):
    (tmp_path / "x").touch()
    monkeypatch.setattr(os, "access", lambda *_arguments: False)  # root may do all
    with pytest.raises(InvalidParameterError, match="it must not be changed"):
        check_output(tmp_path / "x")


def test_checks_leave_nothing(tmp_path):
    check_output(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


class Untouched:
    """Data that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(name)


def report(path):
    fleet_report = pytest.importorskip("boostr.report").fleet_report
    fleet_report(Untouched(), Untouched(), Untouched(), path=path)


def fit_on_cluster(path):
    model = pytest.importorskip("boostr.dask").DaskBoostR()
    names = {"id": "id", "time": "time", "event": "event"}
    model.fit(Untouched(), Untouched(), client=Untouched(), checkpoint=path, **names)


@posix
@pytest.mark.parametrize(
    "run",
    [
        lambda path: BoostR().fit(Untouched(), Untouched(), checkpoint=path),
        lambda path: BoostRSearch(checkpoint=path, random_state=0).fit(None, Untouched()),
        lambda path: backtest(
            Untouched(), None, Untouched(), as_of=[1.0], horizon=1.0, checkpoint=path
        ),
        lambda path: io.save(Untouched(), path),
        report,
        fit_on_cluster,
    ],
)
def test_devices_are_refused_before_anything_is_computed(run):
    with pytest.raises(InvalidParameterError, match=r"'/dev/zero' .* it is a device"):
        run("/dev/zero")
