"""For tests and for examples in docstrings alike."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _close_all_figures():
    """Close what a test or an example has drawn: beyond 20 figures matplotlib warns."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
