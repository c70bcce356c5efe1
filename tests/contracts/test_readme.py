"""The examples of README and guide run as printed and print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = {"docs/coming-from.md": ("lifelines", "xgboost")}  # which `make test` may lack
BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/coming-from.md",
        "docs/comparing.md",
        "docs/exposure.md",
        "docs/forecasts.md",
        "docs/guide.md",
        "docs/index.md",
        "docs/intervals.md",
        "docs/kinds.md",
        "docs/large.md",
        "docs/reasons.md",
        "docs/sensors.md",
        "docs/terminal.md",
        "docs/time.md",
    ],
)
def test_examples_run_and_print_what_the_page_says(page):
    for package in NEEDED.get(page, ()):
        pytest.importorskip(package)
    namespace = {}
    printed = []
    expected = []
    for code, text in BLOCK.findall((ROOT / page).read_text()):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(code, namespace)
        printed.append(shown.getvalue())
        expected.append(text)
    assert expected
    assert printed == expected
