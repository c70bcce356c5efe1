from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles

from boostr._kernels.path_memory import (
    count_within,
    fading_sum,
    running_max,
    running_mean,
)
from boostr._kernels.segments import Runs

COUNTS = [9, 0, 1, 14]
OFFSETS = np.concatenate([[0], np.cumsum(COUNTS)])


@pytest.fixture(params=["unknown", "first"])
def begin(request, rng):
    times = [np.sort(rng.choice(60, k, replace=False)) / 4 for k in COUNTS]
    if request.param == "first":
        for own in times:
            own[:1] = -np.inf
    return np.concatenate(times)


@pytest.fixture
def row(rng, begin):
    row = rng.integers(-5, 6, begin.size).astype(float)
    row[rng.random(row.size) < 0.3] = np.nan
    return row


@pytest.fixture
def grid(rng, begin):
    """Times from the first sample on: all samples, and others that fall on them."""
    grids = []
    for first, last in pairwise(OFFSETS):
        own = np.where(np.isinf(begin[first:last]), -1.0, begin[first:last])
        more = rng.integers(0, 100, 30) / 4
        more = more[more >= own[0]] if own.size else more[:0]
        grids.append(np.union1d(own, more))
    offsets = np.concatenate([[0], np.cumsum([g.size for g in grids])])
    return Runs(np.concatenate(grids), offsets)


def by_oracle(function, begin, row, span, grid):
    times, offsets = grid
    return [
        function(
            begin[OFFSETS[i] : OFFSETS[i + 1]], row[OFFSETS[i] : OFFSETS[i + 1]], span, t
        )
        for i in range(len(COUNTS))
        for t in times[offsets[i] : offsets[i + 1]]
    ]


def run(kernel, begin, row, span, grid):
    out = np.full(grid[0].size, -99.0)
    kernel(Runs(begin, OFFSETS), row, span, grid, out)
    return out


@pytest.mark.parametrize("window", [0.5, 2.0, 7.25, 100.0])
def test_the_mean_is_that_of_the_known_past(begin, row, grid, window):
    expected = by_oracle(oracles.mean_of_past, begin, row, window, grid)
    assert_allclose(run(running_mean, begin, row, window, grid), expected, atol=1e-12)


@pytest.mark.parametrize("half_life", [0.5, 3.0, 50.0])
def test_the_past_fades(begin, row, grid, half_life):
    expected = by_oracle(oracles.faded_past, begin, row, half_life, grid)
    assert_allclose(run(fading_sum, begin, row, half_life, grid), expected, atol=1e-10)


@pytest.mark.parametrize("window", [0.5, 2.0, 7.25, np.inf])
def test_the_maximum_is_that_of_the_known_past(begin, row, grid, window):
    expected = by_oracle(oracles.max_of_past, begin, row, window, grid)
    assert_array_equal(run(running_max, begin, row, window, grid), expected)


def test_a_huge_value_leaves_nothing_behind_in_the_mean():
    times = np.arange(12.0)
    row = np.where(times == 2, 1e17, 0.1)
    out = np.full(12, np.nan)
    samples = Runs(times, np.array([0, 12]))
    running_mean(samples, row, 2.5, samples, out)
    assert_allclose(out[6:], 0.1, rtol=1e-15)


@pytest.mark.parametrize("window", [0.25, 2.0, 30.0])
def test_events_count_for_the_window(rng, window):
    events = [np.sort(rng.integers(0, 40, k)) / 4 for k in (0, 1, 12)]
    offsets = np.concatenate([[0], np.cumsum([e.size for e in events])])
    grid = np.arange(0, 15, 0.25)
    points = Runs(np.tile(grid, 3), np.arange(4) * grid.size)
    out = np.full(3 * grid.size, -9.0)
    count_within(Runs(np.concatenate(events), offsets), window, points, out)
    expected = [oracles.events_of_past(own, window, t) for own in events for t in grid]
    assert_array_equal(out, expected)
