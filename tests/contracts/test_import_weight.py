import gc
import subprocess
import sys

import pytest

import boostr

HEAVY = ["scipy", "numba", "sklearn", "pandas", "polars", "matplotlib"]
# What nobody needs who fits a model. scikit-learn imports pandas by itself where it is
# installed: look at what comes on top.
OPTIONAL = [
    *("matplotlib", "pandas", "polars", "tqdm", "pyarrow", "scipy.interpolate"),
    *("typer", "rich", "jinja2", "plotly", "dask", "distributed"),
]


def run_python(code):
    """Return what a fresh Python prints."""
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return shown.stdout.strip()


def test_import_brings_nothing_heavy():
    code = f"import sys, boostr; print([m for m in {HEAVY} if m in sys.modules])"
    assert run_python(code) == "[]"


def test_the_help_of_the_command_brings_nothing_heavy():
    code = (
        "import sys; sys.argv = ['boostr', '--help']; import atexit, boostr.cli\n"
        f"atexit.register(lambda: print([m for m in {HEAVY} if m in sys.modules]))\n"
        "boostr.cli.main()"
    )
    assert run_python(code).splitlines()[-1] == "[]"


@pytest.mark.slow
def test_an_estimator_brings_nothing_optional():
    code = f"""
import sys
import sklearn.base, sklearn.utils
before = set(sys.modules)
from boostr import BoostR
print([name for name in {OPTIONAL} if name in set(sys.modules) - before])
"""
    assert run_python(code) == "[]"


@pytest.mark.parametrize("name", [n for n in boostr.__all__ if n[0] != "_"])
def test_every_public_name_is_found_by_itself(name):
    if name == "dask":
        pytest.importorskip("distributed")
    assert name in dir(boostr)
    boostr.__dict__.pop(name, None)
    found = getattr(boostr, name)
    assert found is getattr(boostr, name)
    assert name in str(found) or found.__name__ == name


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Bootsr'"):
        boostr.Bootsr  # noqa: B018


@pytest.mark.slow
def test_histories_draw_themselves_where_nothing_else_was_imported():
    code = (
        "import matplotlib; matplotlib.use('agg')\n"
        "from boostr import RecurrentEvents\n"
        "y = RecurrentEvents.from_lists([[1.0, 2.0]], end=[3.0])\n"
        "print(type(y.plot()).__name__)"
    )
    assert run_python(code) == "Axes"


@pytest.mark.parametrize("begin", [gc.enable, gc.disable])
def test_garbage_is_collected_after_an_import_as_before(begin):
    begin()
    try:
        expected = gc.isenabled()
        boostr.__dict__.pop("BoostrError", None)
        assert boostr.BoostrError is not None
        assert gc.isenabled() == expected
    finally:
        gc.enable()
