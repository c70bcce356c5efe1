import os
from functools import partial

import pytest
from tests.reproduction.scenes import make_chapter

from boostr.exceptions import InvalidParameterError, MissingDependencyError
from boostr.reproduction import PARTS, _reproduce, reproduce

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.fixture
def built(monkeypatch):
    """Build chapters without computing, and list what was built."""
    asked = []

    def build(part, work):
        asked.append((part, work.scale.name))
        return make_chapter(part)

    for part in PARTS:
        monkeypatch.setitem(_reproduce._CHAPTERS, part, partial(build, part))
    return asked


def test_the_page_lies_in_the_folder(built, tmp_path):
    page = reproduce(["A"], tmp_path / "new" / "folder", progress=False)
    assert page == tmp_path / "new" / "folder" / "index.html"
    assert "Data set A" in page.read_text(encoding="utf-8")


def test_nothing_is_left_of_writing(built, tmp_path):
    reproduce(["A"], tmp_path, progress=False)
    reproduce(["B"], tmp_path, progress=False)
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", "results"}


@pytest.mark.skipif(os.name != "posix", reason="no rights of this kind")
def test_a_page_that_is_replaced_keeps_its_rights_and_links(built, tmp_path):
    target, link = tmp_path / "shared.html", tmp_path / "out" / "index.html"
    target.write_text("old")
    target.chmod(0o660)
    link.parent.mkdir()
    link.symlink_to(target)
    reproduce(["A"], link.parent, progress=False)
    assert link.is_symlink()
    assert "Data set A" in target.read_text(encoding="utf-8")
    assert target.stat().st_mode & 0o777 == 0o660


def test_a_failed_write_leaves_the_old_page(built, tmp_path, monkeypatch):
    reproduce(["A"], tmp_path, progress=False)

    def fail(handle):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        reproduce(["B"], tmp_path, progress=False)
    (page,) = tmp_path.glob("*.html*")
    assert "Data set A" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("asked", "made"),
    [
        ("all", PARTS),
        (("D", "a", "Kelly"), ("A", "D", "kelly")),
        (("B", "all"), PARTS),
        (("C", "C"), ("C",)),
    ],
)
def test_parts_come_once_and_in_the_order_of_the_paper(built, tmp_path, asked, made):
    reproduce(asked, tmp_path, progress=False)
    assert tuple(part for part, _ in built) == made


@pytest.mark.parametrize(("full", "name"), [(False, "quick"), (True, "full")])
def test_the_scale_is_as_asked(built, tmp_path, full, name):
    reproduce(["A"], tmp_path, full=full, progress=False)
    assert built == [("A", name)]


@pytest.mark.parametrize("asked", [["E"], [], ["A", "B C"]])
def test_an_unknown_part_is_refused_with_those_known(built, tmp_path, asked):
    with pytest.raises(InvalidParameterError, match="parts are all, A, B"):
        reproduce(asked, tmp_path, progress=False)
    assert not built


def test_missing_packages_are_named_before_the_work(built, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=r"boostr\[report\]"):
        reproduce(["A"], tmp_path, progress=False)
    assert not built
