"""For tests and for examples in docstrings alike."""

import functools
import itertools
import sys

import pytest

_COUNTED_TREES = 50  # of every test
_trees = itertools.count()


@pytest.fixture(autouse=True)
def _close_all_figures():
    """Close what a test or an example has drawn: beyond 20 figures matplotlib warns."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_runtest_setup():
    """Begin to count the trees of a test."""
    global _trees  # noqa: PLW0603
    _trees = itertools.count()


@pytest.fixture(autouse=True, scope="session")
def _count_lines_of_few_trees():
    """Stop coverage during the later trees of a test, whose time it doubles."""
    from boostr._engine.boosting import Booster  # noqa: PLC0415 - lines are counted by now

    step = Booster.step

    @functools.wraps(step)
    def step_partly_counted(*args, **kwargs):
        tracer = sys.gettrace()
        if next(_trees) < _COUNTED_TREES or tracer is None:
            return step(*args, **kwargs)
        sys.settrace(None)
        try:
            return step(*args, **kwargs)
        finally:
            sys.settrace(tracer)

    Booster.step = step_partly_counted
    yield
    Booster.step = step
