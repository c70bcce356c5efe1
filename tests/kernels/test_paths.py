from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles

from boostr._kernels.paths import (
    add_expiries,
    carry_forward,
    count_refined,
    fill_paths,
    fill_ties,
    hold_values,
    read_values,
    refine_after,
    unite_times,
)
from boostr._kernels.segments import Runs

NAN = np.nan


@pytest.fixture
def paths(rng):
    """Samples of four individuals, one of them without any and one with one."""
    counts = [6, 0, 1, 9]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    times = np.concatenate([np.sort(rng.choice(40, k, replace=False)) / 4 for k in counts])
    values = rng.integers(-3, 4, (2, times.size)).astype(float)
    values[rng.random(values.shape) < 0.4] = NAN
    return times, offsets, values


def rows_of(paths, sensor):
    """Yield the samples of one sensor, individual by individual."""
    times, offsets, values = paths
    for first, last in pairwise(offsets):
        row = values[sensor, first:last]
        yield list(zip(times[first:last].tolist(), row.tolist(), strict=True))


def just_after(times):
    return np.nextafter(times, np.inf)


@pytest.mark.parametrize("before", ["unknown", "first"])
def test_the_last_known_value_holds(paths, before):
    _, offsets, values = paths
    expected = [
        [
            oracles.sensor_value(samples, just_after(t), before)
            for samples in rows_of(paths, sensor)
            for t, _ in samples
        ]
        for sensor in range(2)
    ]
    carry_forward(offsets, before == "first", values)
    assert_array_equal(values, expected)


def test_the_last_of_tied_samples_knows_all():
    values = np.array([[1.0, NAN, NAN], [2.0, 3.0, NAN]])
    fill_ties(Runs(np.array([1.0, 1.0, 2.0]), np.array([0, 3])), values)
    assert_array_equal(values, [[1.0, 1.0, NAN], [2.0, 3.0, NAN]])


def test_ties_of_two_individuals_are_none():
    values = np.array([[1.0, NAN]])
    fill_ties(Runs(np.array([1.0, 1.0]), np.array([0, 1, 2])), values)
    assert_array_equal(values, [[1.0, NAN]])


def expire(paths, max_gap):
    times, offsets, values = paths
    grid = Runs(np.full(times.size * 3, NAN), np.empty_like(offsets))
    written = add_expiries(Runs(times, offsets), values, max_gap, grid)
    return Runs(grid.times[:written], grid.offsets)


def test_expiries_stand_where_a_value_becomes_unknown(paths):
    grid, grid_offsets = expire(paths, 0.75)
    expected = []
    for one, other in zip(rows_of(paths, 0), rows_of(paths, 1), strict=True):
        ends = set()
        for samples in (one, other):
            known = [t for t, v in samples if not np.isnan(v)]
            ends |= {t + 0.75 for t in known if not any(t < u <= t + 0.75 for u in known)}
        expected.append(sorted(ends | {t for t, _ in one}))
    assert_array_equal(grid, np.concatenate(expected))
    assert_array_equal(np.diff(grid_offsets), [len(one) for one in expected])


@pytest.mark.parametrize("is_linear", [False, True])
@pytest.mark.parametrize("max_gap", [0.75, np.inf])
def test_paths_hold_or_move_until_they_expire(paths, is_linear, max_gap):
    times, offsets, values = paths
    pieces = expire(paths, max_gap)
    grid, grid_offsets = pieces
    out = np.full((2, grid.size), NAN)
    flags = np.array([is_linear, False])
    fill_paths(Runs(times, offsets), values, flags, False, max_gap, pieces, out)
    middle = np.append(0.5 * (grid[1:] + grid[:-1]), NAN)
    middle[grid_offsets[1:] - 1] = grid[grid_offsets[1:] - 1] + 1e-9
    own = [list(rows_of(paths, sensor)) for sensor in range(2)]
    for sensor, value in enumerate((oracles.linear_value, oracles.sensor_value)):
        read = value if is_linear else oracles.sensor_value
        expected = [
            read(own[sensor][i], middle[k], max_gap=max_gap)
            for i in range(4)
            for k in range(grid_offsets[i], grid_offsets[i + 1])
        ]
        assert_allclose(out[sensor], expected, atol=1e-12)


def test_a_first_value_fills_back_only_to_the_first_sample():
    samples = Runs(np.array([0.0, 1.0, 5.0]), np.array([0, 3]))
    values = np.array([[NAN, 7.0, NAN]])
    out = np.full((1, 3), NAN)
    fill_paths(samples, values, np.zeros(1, bool), True, 2.0, samples, out)
    assert_array_equal(out, [[7.0, 7.0, NAN]])


def test_the_union_holds_every_time_once():
    one = Runs(np.array([1.0, 2.0, 5.0]), np.array([0, 2, 2, 3]))
    other = Runs(np.array([2.0, 3.0, 4.0]), np.array([0, 2, 3, 3]))
    out = Runs(np.full(6, NAN), np.empty(4, np.int64))
    written = unite_times(one, other, out)
    assert_array_equal(out.times[:written], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert_array_equal(out.offsets, [0, 3, 4, 5])


def test_a_grid_reads_what_holds_just_after(paths, rng):
    times, offsets, values = paths
    grid_offsets = np.array([0, 5, 10, 15, 20])
    grid = np.concatenate([np.sort(rng.integers(0, 44, 5)) / 4 for _ in range(4)])
    out = np.full((2, 20), -9.0)
    hold_values(Runs(times, offsets), values, Runs(grid, grid_offsets), out)
    expected = [
        [
            oracles.held_value(
                times[offsets[i] : offsets[i + 1]], row[offsets[i] : offsets[i + 1]], t
            )
            for i in range(4)
            for t in grid[grid_offsets[i] : grid_offsets[i + 1]]
        ]
        for row in values
    ]
    assert_array_equal(out, expected)


def test_a_value_acts_after_its_time():
    out = np.full((1, 3, 1), -9.0)
    times = np.array([[1.0, 2.0, 2.5]])
    pieces = Runs(np.array([1.0, 2.0]), np.array([0, 2]))
    read_values(pieces, np.array([[5.0, 6.0]]), times, out)
    assert_array_equal(out.ravel(), [NAN, 5.0, 6.0])


def refined(times, until, reach, step):
    times, offsets = np.array(times), np.array([0, len(times)])
    counts = np.full(times.size, -1)
    count_refined(Runs(times, offsets), np.array([until]), reach, step, counts)
    grid = np.full(counts.sum(), NAN)
    refine_after(times, counts, reach, step, grid)
    return grid


@pytest.mark.parametrize(
    ("until", "reach", "expected"),
    [
        (np.inf, 1.0, [0.0, 0.4, 0.8, 1.0, 3.0, 3.4, 3.8, 4.0]),
        (np.inf, 0.4, [0.0, 0.4, 3.0, 3.4]),
        (np.inf, 0.3, [0.0, 0.3, 3.0, 3.3]),
        (3.8, np.inf, [*np.arange(8) * 0.4, 3.0, 3.4]),
        (3.0, np.inf, [*np.arange(8) * 0.4, 3.0]),
    ],
)
def test_steps_follow_every_sample_as_far_as_they_reach(until, reach, expected):
    assert_allclose(refined([0.0, 3.0], until, reach, 0.4), np.array(expected), atol=1e-12)


def test_steps_end_before_the_next_sample():
    assert_allclose(refined([0.0, 0.9], 1.0, np.inf, 0.3), [0.0, 0.3, 0.6, 0.9])


def test_rounding_makes_no_step_at_the_next_sample():
    grid = refined([1e6, 1e6 + 0.3], 1e6 + 0.4, np.inf, 0.1)
    assert_array_equal(grid, 1e6 + np.array([0.0, 0.1, 0.2, 0.3]))


def test_steps_do_not_depend_on_later_samples(rng):
    times = np.sort(rng.random(20)) * 10
    early, late = (refined(times[:k], np.inf, 0.7, 0.1) for k in (10, 20))
    known = early[early < times[10]]
    assert_array_equal(late[: known.size], known)
