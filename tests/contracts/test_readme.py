"""The README's examples run as printed and print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.slow
def test_examples_print_what_the_readme_says():
    namespace = {}
    printed = []
    expected = []
    for code, text in BLOCK.findall(README.read_text()):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(code, namespace)
        printed.append(shown.getvalue())
        expected.append(text)
    assert printed == expected
