"""The gallery shows every public plot; its scripts have the form sphinx-gallery reads."""

import ast
import re
from pathlib import Path

import pytest

from boostr import plotting

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("plot_*.py"))
SECTIONS = [EXAMPLES, EXAMPLES / "concepts"]
GUIDES = sorted((EXAMPLES.parent / "docs" / "guides").glob("*.md"))


def name_script(script):
    return str(script.relative_to(EXAMPLES))


def list_calls(script):
    """Names of all functions that a script calls."""
    calls = [
        n.func for n in ast.walk(ast.parse(script.read_text())) if isinstance(n, ast.Call)
    ]
    return {call.id for call in calls if isinstance(call, ast.Name)}


def test_every_public_plot_is_in_the_gallery():
    shown = set().union(*map(list_calls, SCRIPTS))
    assert set(plotting.__all__) - shown == set()


def test_there_are_examples_guides_and_concepts():
    counts = [len(list(section.glob("plot_*.py"))) for section in SECTIONS]
    assert all(count >= least for count, least in zip(counts, (20, 7), strict=True))
    assert len(GUIDES) >= 4


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_every_section_has_a_header_with_a_title(section):
    title, line = (section / "GALLERY_HEADER.rst").read_text().splitlines()[:2]
    assert re.fullmatch(r"[-=]+", line)
    assert len(line) == len(title)


@pytest.mark.parametrize("script", SCRIPTS, ids=name_script)
def test_scripts_begin_with_a_title_and_a_few_sentences(script):
    title, line, blank, *text = ast.get_docstring(
        ast.parse(script.read_text())
    ).splitlines()
    assert line == "=" * len(title)
    assert not blank
    assert " ".join(text).strip()


@pytest.mark.parametrize("script", SCRIPTS, ids=name_script)
def test_headings_are_underlined_in_full(script):
    found = re.findall(r"# %%\n# (.+)\n# (-+)\n", script.read_text())
    assert found
    assert all(len(title) == len(line) for title, line in found)
