"""Squared distance of counting processes from curves."""

from __future__ import annotations

import numpy as np

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray, OffsetArray

__all__ = ["integrate_squared_gaps"]


@kernel
def integrate_squared_gaps(
    times: FloatArray,
    jumps: FloatArray,
    event_offsets: OffsetArray,
    window_start: FloatArray,
    window_stop: FloatArray,
    window_offsets: OffsetArray,
    grid: FloatArray,
    curves: FloatArray,
    out: FloatArray,
) -> None:
    """Integrate the squared difference of step functions and broken lines.

    Both start from zero with the first window, move within windows, and rest between
    them; the integral runs over the windows.

    Parameters
    ----------
    times : (n_events,) float64
        Where the step functions rise, individual after individual, inside windows.
    jumps : (n_events,) float64
        How much they rise.
    event_offsets : (n + 1,) int64
        Where the events of each individual begin.
    window_start, window_stop : (n_windows,) float64
        Windows, individual after individual, between the first and last time of the grid.
    window_offsets : (n + 1,) int64
        Where the windows of each individual begin.
    grid : (m,) float64
        Increasing times, at least two.
    curves : (n, m) or (1, m) float64
        Values of the broken lines on the grid; one row serves everybody.
    out : (n,) float64
        Overwritten with the integrals.

    Notes
    -----
    The difference is linear between neighbouring times of grid, windows and events. From
    ``a`` to ``b`` over a length of ``h`` its square has the integral
    ``h (a^2 + a b + b^2) / 3``.
    """
    last_cell = grid.shape[0] - 2
    for i in range(out.shape[0]):
        curve = curves[min(i, curves.shape[0] - 1)]
        event = event_offsets[i]
        gap, area = 0.0, 0.0
        for window in range(window_offsets[i], window_offsets[i + 1]):
            now, stop = window_start[window], window_stop[window]
            cell = min(max(np.searchsorted(grid, now, side="right") - 1, 0), last_cell)
            while now < stop:
                until = min(stop, grid[cell + 1])
                if event < event_offsets[i + 1]:
                    until = min(until, times[event])
                width = grid[cell + 1] - grid[cell]
                after = gap - (until - now) * (curve[cell + 1] - curve[cell]) / width
                area += (until - now) * (gap * gap + gap * after + after * after) / 3.0
                gap, now = after, until
                while event < event_offsets[i + 1] and times[event] <= now:
                    gap += jumps[event]
                    event += 1
                if now >= grid[cell + 1] and cell < last_cell:
                    cell += 1
        out[i] = area
