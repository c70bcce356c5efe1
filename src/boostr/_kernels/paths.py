"""Piecewise constant paths: filling, reading, and grids that several share.

The pieces of individual ``i`` are the run ``offsets[i]:offsets[i + 1]``, sorted by time.
Piece ``k`` holds on ``(times[k], times[k + 1]]`` and the last one for ever; NaN is unknown.
``begin`` are the times, minus infinity where the first piece has no beginning. A value on a
grid is that just after the grid's time, so that nothing later than it plays a part.
"""

from __future__ import annotations

import math

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel, kernel
from boostr._kernels.segments import Runs
from boostr._typing import BoolArray, FloatArray, OffsetArray

__all__ = [
    "add_expiries",
    "carry_forward",
    "count_refined",
    "fill_paths",
    "fill_ties",
    "hold_values",
    "read_values",
    "refine_after",
    "unite_times",
]


@kernel
def carry_forward(offsets: OffsetArray, fills_back: bool, values: FloatArray) -> None:
    """Let the last known value hold where a sensor was not sampled.

    Parameters
    ----------
    offsets : (n + 1,) int64
        Where the samples of every individual begin.
    fills_back : bool
        Whether the first known value also holds before it was sampled.
    values : (n_sensors, n_samples) float64
        Changed in place.
    """
    for sensor in range(values.shape[0]):
        row = values[sensor]
        for individual in range(offsets.shape[0] - 1):
            first, last = offsets[individual], offsets[individual + 1]
            if fills_back:
                known = first
                while known < last and math.isnan(row[known]):
                    known += 1
                if known < last:
                    row[first:known] = row[known]
            for sample in range(first + 1, last):
                if math.isnan(row[sample]):
                    row[sample] = row[sample - 1]


@kernel
def fill_ties(samples: Runs, values: FloatArray) -> None:
    """Let the last of several samples at one time know what all of them know.

    Parameters
    ----------
    samples : Runs
        Times of the samples, with ties.
    values : (n_sensors, n_samples) float64
        Changed in place: NaN becomes the value of an earlier sample at the same time.
    """
    times, offsets = samples
    for sensor in range(values.shape[0]):
        row = values[sensor]
        for individual in range(offsets.shape[0] - 1):
            for sample in range(offsets[individual] + 1, offsets[individual + 1]):
                if math.isnan(row[sample]) and times[sample] == times[sample - 1]:
                    row[sample] = row[sample - 1]


@allocating_kernel
def add_expiries(samples: Runs, values: FloatArray, max_gap: float, out: Runs) -> int:
    """Write the samples' times and those at which a value has been held for too long.

    Parameters
    ----------
    samples : Runs
        Times of the samples, without ties.
    values : (n_sensors, n_samples) float64
        As sampled; NaN where a sensor was not.
    max_gap : float
        How long a value holds.
    out : Runs
        Overwritten; there must be room for (1 + n_sensors) * n_samples times.

    Returns
    -------
    int
        How many times were written.
    """
    times, offsets = samples
    grid, grid_offsets = out
    n_sensors = values.shape[0]
    written = 0
    grid_offsets[0] = 0
    for individual in range(offsets.shape[0] - 1):
        first, last = offsets[individual], offsets[individual + 1]
        found = np.empty((last - first) * (1 + n_sensors))
        found[: last - first] = times[first:last]
        size = last - first
        for sensor in range(n_sensors):
            expiry = np.inf
            for sample in range(first, last):
                if math.isnan(values[sensor, sample]):
                    continue
                if times[sample] > expiry:
                    found[size] = expiry
                    size += 1
                expiry = times[sample] + max_gap
            if expiry < np.inf:
                found[size] = expiry
                size += 1
        for time in np.sort(found[:size]):
            if written == grid_offsets[individual] or time > grid[written - 1]:
                grid[written] = time
                written += 1
        grid_offsets[individual + 1] = written
    return written


@inner_kernel
def _next_known(row: FloatArray, sample: int, last: int) -> int:
    """Return the first sample from ``sample`` on that is known, or ``last``."""
    while sample < last and math.isnan(row[sample]):
        sample += 1
    return sample


@kernel
def fill_paths(
    samples: Runs,
    values: FloatArray,
    is_linear: BoolArray,
    fills_back: bool,
    max_gap: float,
    pieces: Runs,
    out: FloatArray,
) -> None:
    """Write the paths of sensors on a grid that holds their samples and expiries.

    Parameters
    ----------
    samples : Runs
        Times of the samples, without ties.
    values : (n_sensors, n_samples) float64
        As sampled; NaN where a sensor was not.
    is_linear : (n_sensors,) bool
        Whether a sensor moves to its next sample in a line; a piece then has the value
        at its middle.
    fills_back : bool
        Whether the first known value also holds before it was sampled.
    max_gap : float
        How long a value holds, and how far a line reaches; infinite for no limit.
    pieces : Runs
        Where the pieces begin.
    out : (n_sensors, n_pieces) float64
        Overwritten.
    """
    times, offsets = samples
    grid, grid_offsets = pieces
    for sensor in range(values.shape[0]):
        row = values[sensor]
        for individual in range(offsets.shape[0] - 1):
            last = offsets[individual + 1]
            behind = -1
            ahead = _next_known(row, offsets[individual], last)
            early = row[ahead] if fills_back and ahead < last else np.nan
            for piece in range(grid_offsets[individual], grid_offsets[individual + 1]):
                while ahead < last and times[ahead] <= grid[piece]:
                    behind = ahead
                    ahead = _next_known(row, ahead + 1, last)
                if behind < 0:
                    out[sensor, piece] = early
                    continue
                expiry = times[behind] + max_gap
                if is_linear[sensor] and ahead < last and times[ahead] <= expiry:
                    middle = 0.5 * (grid[piece] + grid[piece + 1])
                    share = (middle - times[behind]) / (times[ahead] - times[behind])
                    out[sensor, piece] = row[behind] + share * (row[ahead] - row[behind])
                elif grid[piece] < expiry:
                    out[sensor, piece] = row[behind]
                else:
                    out[sensor, piece] = np.nan


@kernel
def unite_times(one: Runs, other: Runs, out: Runs) -> int:
    """Write the times that stand in at least one of two grids, each once.

    Parameters
    ----------
    one, other : Runs
        Times of the same individuals.
    out : Runs
        Overwritten; there must be room for the times of both.

    Returns
    -------
    int
        How many times were written.
    """
    times, offsets = one
    others, other_offsets = other
    grid, grid_offsets = out
    written = 0
    grid_offsets[0] = 0
    for individual in range(offsets.shape[0] - 1):
        left, left_end = offsets[individual], offsets[individual + 1]
        right, right_end = other_offsets[individual], other_offsets[individual + 1]
        while left < left_end or right < right_end:
            if right == right_end or (left < left_end and times[left] <= others[right]):
                time = times[left]
                left += 1
            else:
                time = others[right]
                right += 1
            if written == grid_offsets[individual] or time > grid[written - 1]:
                grid[written] = time
                written += 1
        grid_offsets[individual + 1] = written
    return written


@kernel
def hold_values(pieces: Runs, values: FloatArray, grid: Runs, out: FloatArray) -> None:
    """Read paths just after the times of a grid.

    Parameters
    ----------
    pieces : Runs
        Where the pieces begin.
    values : (n_sensors, n_pieces) float64
        Values of the pieces.
    grid : Runs
        Times to read at.
    out : (n_sensors, k) float64
        Overwritten; NaN before the first piece.
    """
    begin, offsets = pieces
    points, grid_offsets = grid
    for sensor in range(values.shape[0]):
        for individual in range(offsets.shape[0] - 1):
            piece, last = offsets[individual] - 1, offsets[individual + 1]
            value = np.nan
            for point in range(grid_offsets[individual], grid_offsets[individual + 1]):
                while piece + 1 < last and begin[piece + 1] <= points[point]:
                    piece += 1
                    value = values[sensor, piece]
                out[sensor, point] = value


@kernel
def read_values(
    pieces: Runs, values: FloatArray, times: FloatArray, out: FloatArray
) -> None:
    """Read the values that act at times: those of the pieces that began before.

    Parameters
    ----------
    pieces, values
        As in `hold_values`.
    times : (n, m) float64
        Times of every individual, in any order.
    out : (n, m, n_sensors) float64
        Overwritten; NaN up to the beginning of the first piece.
    """
    begin, offsets = pieces
    for individual in range(times.shape[0]):
        first, last = offsets[individual], offsets[individual + 1]
        for column in range(times.shape[1]):
            piece = (
                first + np.searchsorted(begin[first:last], times[individual, column]) - 1
            )
            for sensor in range(values.shape[0]):
                out[individual, column, sensor] = (
                    values[sensor, piece] if piece >= first else np.nan
                )


@inner_kernel
def _n_steps(reach: float, step: float) -> int:
    """Return into how many pieces of at most ``step`` a stretch is cut."""
    return max(1, math.ceil(reach / step * (1.0 - 1e-12)))


@inner_kernel
def _n_refined(time: float, following: float, reach: float, step: float) -> int:
    """Return how many points a sample and the time after it get."""
    if time + reach < following:
        return _n_steps(reach, step) + 1
    n_steps = _n_steps(min(reach, following - time), step)
    while n_steps > 1 and time + (n_steps - 1) * step >= following:
        n_steps -= 1
    return n_steps


@kernel
def count_refined(
    samples: Runs, until: FloatArray, reach: float, step: float, counts: OffsetArray
) -> None:
    """Count the points of `refine_after` for every sample.

    Parameters
    ----------
    samples : Runs
        Times of the samples, without ties.
    until : (n,) float64
        Where the steps of every individual end at the latest.
    reach, step
        As in `refine_after`.
    counts : (n_samples,) int64
        Overwritten.
    """
    times, offsets = samples
    for individual in range(offsets.shape[0] - 1):
        last = offsets[individual + 1] - 1
        for sample in range(offsets[individual], last + 1):
            following = times[sample + 1] if sample < last else until[individual]
            counts[sample] = _n_refined(times[sample], following, reach, step)


@kernel
def refine_after(
    times: FloatArray, counts: OffsetArray, reach: float, step: float, grid: FloatArray
) -> None:
    """Write a grid that follows every sample in equal steps until the next one.

    Steps are counted from the sample, so that the grid up to a time does not depend on
    what comes later. They end with a point at a distance ``reach`` from the sample.

    Parameters
    ----------
    times : (n_samples,) float64
        Sorted within each individual, without ties.
    counts : (n_samples,) int64
        From `count_refined`.
    reach : float
        How far after a sample steps are needed.
    step : float
        Length of a step.
    grid : (counts.sum(),) float64
        Overwritten.
    """
    n_steps = _n_steps(reach, step) if reach < np.inf else -1
    point = 0
    for sample in range(times.shape[0]):
        for position in range(counts[sample]):
            distance = reach if position == n_steps else position * step
            grid[point] = times[sample] + distance
            point += 1
