"""What remembers the past of a path: means, fading sums, maxima, counts of events.

Pieces are those of :mod:`boostr._kernels.paths`; the first may begin at minus infinity. A
value on a grid is that just after the grid's time: what happens later plays no part. All
kernels are linear in pieces and points.
"""

from __future__ import annotations

import math

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel, kernel
from boostr._kernels.segments import Runs
from boostr._typing import FloatArray

__all__ = ["count_within", "fading_sum", "running_max", "running_mean"]


@inner_kernel
def _add_area(
    row: FloatArray, piece: int, length: float, area: float, known: float
) -> tuple[float, float]:
    """Add a piece to the sum of value times length and to the length that is known."""
    if math.isnan(row[piece]):
        return area, known
    return area + row[piece] * length, known + length


@allocating_kernel
def running_mean(
    pieces: Runs, row: FloatArray, window: float, grid: Runs, out: FloatArray
) -> None:
    """Write the mean over the known part of the last ``window``, weighted by time.

    Parameters
    ----------
    pieces : Runs
        Where the pieces begin.
    row : (n_pieces,) float64
        Values of one sensor.
    window : float
        How far back the mean reaches.
    grid : Runs
        Times from the first piece on.
    out : (k,) float64
        Overwritten; the present value where nothing was known in the window.

    Notes
    -----
    Whole pieces in the window are a queue kept as two stacks, one with sums from each
    piece to the turn and one with the sum since: no piece is ever subtracted, so that
    large values leave no rounding behind.
    """
    begin, offsets = pieces
    points, grid_offsets = grid
    for individual in range(offsets.shape[0] - 1):
        first, last = offsets[individual], offsets[individual + 1]
        areas, lengths = np.zeros(last - first + 1), np.zeros(last - first + 1)
        oldest = newest = turn = first
        area = known = 0.0
        for point in range(grid_offsets[individual], grid_offsets[individual + 1]):
            time = points[point]
            while newest + 1 < last and begin[newest + 1] <= time:
                length = begin[newest + 1] - begin[newest]
                area, known = _add_area(row, newest, length, area, known)
                newest += 1
            while oldest < newest and begin[oldest + 1] + window <= time:
                oldest += 1
            if oldest + 1 > turn:
                area = known = 0.0
                for piece in range(newest - 1, oldest, -1):
                    length = begin[piece + 1] - begin[piece]
                    area, known = _add_area(row, piece, length, area, known)
                    areas[piece - first], lengths[piece - first] = area, known
                turn = newest
                areas[turn - first] = lengths[turn - first] = area = known = 0.0
            if oldest == newest:
                out[point] = row[newest]
                continue
            inside = oldest + 1 - first
            total, weight = area + areas[inside], known + lengths[inside]
            since = max(begin[oldest], time - window)
            length = max(begin[oldest + 1] - since, 0.0)
            total, weight = _add_area(row, oldest, length, total, weight)
            total, weight = _add_area(row, newest, time - begin[newest], total, weight)
            out[point] = total / weight if weight > 0.0 else row[newest]


@kernel
def fading_sum(
    pieces: Runs, row: FloatArray, half_life: float, grid: Runs, out: FloatArray
) -> None:
    """Write the integral of the past, each part halved for every half-life since.

    Parameters
    ----------
    pieces, row
        As in `running_mean`; unknown counts as zero.
    half_life : float
        Time after which a part counts half.
    grid
        As in `running_mean`; the grid holds the beginnings of all pieces.
    out : (k,) float64
        Overwritten.
    """
    begin, offsets = pieces
    points, grid_offsets = grid
    rate = math.log(2.0) / half_life
    for individual in range(offsets.shape[0] - 1):
        piece, last = offsets[individual], offsets[individual + 1]
        if piece == last:
            continue
        level = 0.0 if math.isnan(row[piece]) else row[piece]
        total = 0.0 if math.isfinite(begin[piece]) else level / rate
        start = grid_offsets[individual]
        for point in range(start, grid_offsets[individual + 1]):
            if point > start:
                elapsed = rate * (points[point] - points[point - 1])
                total = total * math.exp(-elapsed) - level / rate * math.expm1(-elapsed)
            while piece + 1 < last and begin[piece + 1] <= points[point]:
                piece += 1
                level = 0.0 if math.isnan(row[piece]) else row[piece]
            out[point] = total


@allocating_kernel
def running_max(
    pieces: Runs, row: FloatArray, window: float, grid: Runs, out: FloatArray
) -> None:
    """Write the largest known value of the last ``window``, the present one included.

    Parameters
    ----------
    pieces, row, grid
        As in `running_mean`.
    window : float
        How far back the maximum reaches; infinite for all of the past.
    out : (k,) float64
        Overwritten; NaN where nothing is known.

    Notes
    -----
    The queue holds the pieces that may still become the largest: later and smaller.
    """
    begin, offsets = pieces
    points, grid_offsets = grid
    for individual in range(offsets.shape[0] - 1):
        first, last = offsets[individual], offsets[individual + 1]
        queue = np.empty(last - first, dtype=np.int64)
        head = tail = 0
        piece = first - 1
        for point in range(grid_offsets[individual], grid_offsets[individual + 1]):
            time = points[point]
            while piece + 1 < last and begin[piece + 1] <= time:
                piece += 1
                if math.isnan(row[piece]):
                    continue
                while tail > head and row[queue[tail - 1]] <= row[piece]:
                    tail -= 1
                queue[tail] = piece
                tail += 1
            while head < tail and queue[head] < piece:
                if begin[queue[head] + 1] + window > time:
                    break
                head += 1
            out[point] = row[queue[head]] if head < tail else np.nan


@kernel
def count_within(events: Runs, window: float, grid: Runs, out: FloatArray) -> None:
    """Count the events that happened at most ``window`` ago.

    Parameters
    ----------
    events : Runs
        Times of the events.
    window : float
        An event at ``t`` counts on ``(t, t + window]``.
    grid : Runs
        Times at which to count.
    out : (k,) float64
        Overwritten.
    """
    times, offsets = events
    points, grid_offsets = grid
    for individual in range(offsets.shape[0] - 1):
        came = gone = offsets[individual]
        last = offsets[individual + 1]
        for point in range(grid_offsets[individual], grid_offsets[individual + 1]):
            while came < last and times[came] <= points[point]:
                came += 1
            while gone < last and times[gone] + window <= points[point]:
                gone += 1
            out[point] = came - gone
