"""The gallery shows every public plot; its scripts have the form sphinx-gallery reads."""

import ast
import re
import runpy
from pathlib import Path

import pytest

from boostr import plotting

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("plot_*.py"))
DOCS = EXAMPLES.parent / "docs"
ORDER = runpy.run_path(str(DOCS / "_ext" / "reading_order.py"))["ORDER"]
NOTEBOOKS = sorted([*DOCS.glob("guides/*.md"), *DOCS.glob("concepts/*.md")])


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


def test_every_example_has_its_place_in_the_gallery():
    assert {script.name for script in SCRIPTS} == {f"plot_{name}.py" for name in ORDER}
    assert len(SCRIPTS) == len(ORDER)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_guides_and_concepts_are_notebooks(notebook):
    text = notebook.read_text()
    assert text.startswith("---\njupytext:")
    cells = re.findall(
        r"```\{code-cell\} ipython3\n(?::tags:.*\n)?(.*?)```", text, re.DOTALL
    )
    assert cells
    for cell in cells:
        ast.parse(cell)


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
