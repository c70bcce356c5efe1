import subprocess
import sys

import pytest

HEAVY = [
    *("matplotlib", "pandas", "polars", "tqdm", "pyarrow", "scipy.interpolate"),
    *("typer", "rich", "jinja2", "plotly", "dask", "distributed"),
]
# scikit-learn imports pandas by itself where it is installed: look at what comes on top.
CODE = f"""
import sys
import sklearn.base, sklearn.utils
before = set(sys.modules)
import boostr
print([name for name in {HEAVY} if name in set(sys.modules) - before])
"""


@pytest.mark.slow
def test_import_brings_nothing_heavy():
    shown = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
