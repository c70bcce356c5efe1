import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles_forecasts
from tests.engine.histories import AWKWARD, clocked, histories

from boostr._kernels.counts import follow_frailties

VARIANCE = 0.7


def follow(individuals, expected, fading, least_prior=0.0):
    """Run the kernel on windows as pieces, which it need not know."""
    events = clocked(individuals)
    means = np.full(len(events.window_start), np.nan)
    follow_frailties(
        events.window_start,
        events.window_stop,
        events.window_offsets,
        np.asarray(expected, dtype=float),
        events.times,
        events.costs,
        events.event_offsets,
        np.array([windows[0][0] for windows, _, _ in individuals]),
        VARIANCE,
        fading,
        least_prior,
        means,
    )
    return means


def oracle(individual, expected, fading):
    windows, times, costs = individual
    means, past = [], []
    for (start, stop), amount in zip(windows, expected, strict=True):
        middle = 0.5 * (start + stop)
        seen = [pair for pair in zip(times, costs, strict=True) if pair[0] <= start]
        due = [*past, (middle, 0.5 * amount)]
        entry = windows[0][0]
        known = oracles_forecasts.faded_frailty(seen, due, VARIANCE, fading, middle, entry)
        means.append(known[0])
        past.append((middle, amount))
    return means


@pytest.mark.parametrize("fading", [0.0, 0.3])
@settings(max_examples=25)
@given(
    individual=histories(),
    amounts=st.lists(st.sampled_from([0.0, 0.5, 4.0]), min_size=3, max_size=3),
)
def test_means_are_those_of_the_gamma_distribution(fading, individual, amounts):
    expected = amounts[: len(individual[0])]
    found = follow([individual], expected, fading)
    assert_allclose(found, oracle(individual, expected, fading), rtol=1e-12)


@pytest.mark.parametrize("fading", [0.0, 0.3])
def test_individuals_do_not_know_of_each_other(fading):
    quiet = ([(0.0, 1.0), (1.0, 3.0)], [], [])
    found = follow([AWKWARD, quiet], [1.0, 2.0, 0.5, 0.5], fading)
    assert_allclose(found[:2], oracle(AWKWARD, [1.0, 2.0], fading))
    assert_allclose(found[2:], oracle(quiet, [0.5, 0.5], fading))


def test_nothing_is_forgotten_altogether():
    # Ages later the prior is the least there is, and an event is long gone.
    late = ([(0.0, 1.0), (1e6, 1e6 + 1.0)], [0.5], [1.0])
    assert_allclose(follow([late], [1.0, 0.0], 1.0, least_prior=0.5)[1], 1.0)
