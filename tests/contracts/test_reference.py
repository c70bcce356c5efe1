"""The reference of the documentation site has every public name, once."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from tests.contracts.test_public_names import ROOMS

DOCS = Path(__file__).parents[2] / "docs"
TABLE = re.compile(r"\.\. autosummary::\n((?:   :.*\n)*)\n((?:   ~.*\n)+)")


@pytest.fixture(scope="module")
def public():
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        return importlib.import_module("public_names")
    finally:
        sys.path.remove(str(DOCS / "_ext"))


def read_tables(page):
    for options, names in TABLE.findall(page.read_text()):
        yield ":toctree:" in options, re.findall(r"~(\S+)", names)


def page_of(room):
    return DOCS / "reference" / f"{room.rpartition('.')[2]}.md"


def test_every_folder_with_public_names_is_known(public):
    assert sorted(ROOMS) == sorted(public.list_rooms())


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_of_a_folder_lists_all_its_names(public, room):
    listed = [name for _, names in read_tables(page_of(room)) for name in names]
    names = public.find_public_names()
    wanted = {shown for name, shown in names.items() if name.rpartition(".")[0] == room}
    assert wanted
    assert sorted(listed) == sorted(wanted)


def test_every_object_has_exactly_one_page(public):
    made = [
        name
        for page in DOCS.glob("reference/*.md")
        for is_page, names in read_tables(page)
        if is_page
        for name in names
    ]
    assert sorted(made) == sorted(set(public.find_public_names().values()))


def test_names_in_the_list_of_tasks_exist(public):
    text = (DOCS / "reference" / "index.md").read_text()
    tasks = text.split("## All names")[0]
    names = re.findall(r"`([\w.]+)`", tasks)
    links = importlib.import_module("boostr")
    shown = set(public.find_public_names().values())
    short = {name.rpartition(".")[2]: name for name in shown}
    for name in names:
        head, _, method = name.removeprefix("boostr.").partition(".")
        if head in short and head[0].isupper():
            assert not method or hasattr(getattr(links, head), method), name
        else:
            assert name in shown or name in short, name
