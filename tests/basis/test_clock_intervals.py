"""The operational clock of counts over intervals."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from boostr import MeanCumulativeFunction
from boostr.basis import OperationalClock
from boostr.data import RecurrentEvents

END = 10.0


def count(times, cuts):
    """Return the counts of one individual between cuts."""
    return np.histogram(times, cuts)[0]


@pytest.fixture(params=["common", "own"])
def pair(request, rng):
    """Return histories of a falling rate, with times and as counts."""
    n = 300
    events = [END * rng.uniform(size=rng.poisson(8.0)) ** 2 for _ in range(n)]
    rows = []
    for who, times in enumerate(events):
        inner = np.arange(1.0, END)
        if request.param == "own":
            inner = np.sort(rng.uniform(0.0, END, size=9))
        cuts = np.concatenate([[0.0], inner, [END]])
        rows.append(
            pd.DataFrame(
                {"id": who, "a": cuts[:-1], "b": cuts[1:], "n": count(times, cuts)}
            )
        )
    counted = RecurrentEvents.from_counts(pd.concat(rows), "id", "a", "b", "n")
    return RecurrentEvents.from_lists(events, end=END), counted


def test_the_clock_is_close_to_that_of_times(pair):
    exact, counted = (OperationalClock.from_events(y) for y in pair)
    times = np.array([0.3, 1.0, 2.0, 5.0, 10.0])
    assert_allclose(counted.read(times), exact.read(times), rtol=0.12)


def test_the_total_is_that_of_the_events(pair):
    exact, counted = (MeanCumulativeFunction().fit(y) for y in pair)
    assert_allclose(counted.mcf_[-1], exact.mcf_[-1], rtol=1e-9)
    assert_allclose(counted.predict([2.0, 5.0]), exact.predict([2.0, 5.0]), rtol=0.08)
