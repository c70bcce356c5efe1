"""Rises of curves between times that are common to all individuals."""

from __future__ import annotations

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray, OffsetArray, PositionArray

__all__ = ["count_passed", "scale_rises", "sum_rises"]


@kernel
def count_passed(marks: FloatArray, times: FloatArray, out: PositionArray) -> None:
    """Count the marks before every time.

    All are compared, which is faster than a search as long as there are few.

    Parameters
    ----------
    marks : (k,) float64
        Common times.
    times : (n,) float64
        In any order.
    out : (n,) int64
        Overwritten.
    """
    for place in range(times.shape[0]):
        n_passed, time = 0, times[place]
        for mark in range(marks.shape[0]):
            n_passed += marks[mark] < time
        out[place] = n_passed


@kernel
def sum_rises(
    values: FloatArray,
    owner: OffsetArray,
    at_start: FloatArray,
    at_stop: FloatArray,
    out: FloatArray,
) -> None:
    """Sum the rises of curves between edges, while individuals are observed.

    Curves do not fall: edges before a window count as its start, those after it as its
    stop.

    Parameters
    ----------
    values : (k + 1, n) float64
        Curves at the edges. Nobody is observed before the first edge or after the last one.
    owner : (m,) int64
        Individual of every window.
    at_start, at_stop : (m,) float64
        Its curve where the window begins and ends.
    out : (k, n) float64
        Overwritten.
    """
    n_rises = out.shape[0]
    for edge in range(n_rises):
        before, after, rises = values[edge], values[edge + 1], out[edge]
        for individual in range(rises.shape[0]):
            rises[individual] = 0.0
        for window in range(owner.shape[0]):
            individual = owner[window]
            start, stop = at_start[window], at_stop[window]
            low, high = start, stop
            if edge > 0 and before[individual] > start:
                low = before[individual]
            if edge < n_rises - 1 and after[individual] < stop:
                high = after[individual]
            if high > low:
                rises[individual] += high - low


@kernel
def scale_rises(values: FloatArray, factors: FloatArray, out: FloatArray) -> None:
    """Multiply the rises of curves after each of some times by a factor.

    Parameters
    ----------
    values : (k, n) float64
        Curves at these times; the first factor holds up to the first time, too.
    factors : (k,) float64
        Factors.
    out : (k, n) float64
        Overwritten with the curves that rise so.
    """
    for individual in range(values.shape[1]):
        out[0, individual] = factors[0] * values[0, individual]
    for place in range(1, values.shape[0]):
        factor = factors[place - 1]
        before, after = values[place - 1], values[place]
        scaled_before, scaled = out[place - 1], out[place]
        for individual in range(values.shape[1]):
            rise = after[individual] - before[individual]
            scaled[individual] = scaled_before[individual] + factor * rise
