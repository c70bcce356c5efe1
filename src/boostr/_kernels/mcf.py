"""Squared residuals of mean cumulative functions, and distances from curves."""

from __future__ import annotations

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel, kernel
from boostr._typing import AnyArray, FloatArray, OffsetArray

__all__ = ["integrate_squared_gaps", "sweep_terminal_residuals"]

LEAVES = 0
ENTERS = 1
HAS_EVENT = 2
DIES = 3


@kernel
def sweep_squared_residuals(
    time_index: OffsetArray,
    kind: AnyArray,
    owner: OffsetArray,
    jump: FloatArray,
    exposure: FloatArray,
    drop: FloatArray,
    weight: FloatArray,
    residual: FloatArray,
    factor: FloatArray,
    out: FloatArray,
) -> None:
    """Sum the squared running residuals of all individuals at every event time.

    The residual of an individual starts at 0, rises by its own jumps, and falls by its
    exposure times ``drop[j]`` at every event time ``j`` at which it is at risk.

    Parameters
    ----------
    time_index : (n_changes,) int64
        Event time at which each change happens, ascending.
    kind : (n_changes,) int8
        0 for leaving the risk set, 1 for entering it, 2 for an event; ascending within
        an event time, so that a window may begin where the last one stopped.
    owner : (n_changes,) int64
        Individual that changes.
    jump : (n_changes,) float64
        Rise of the residual at an event; not read for other changes.
    exposure : (n_changes,) float64
        Exposure in the window that begins or ends; not read for events.
    drop : (n_times,) float64
        Fall of the residuals of those at risk.
    weight : (n_individuals,) float64
        How often each individual counts.
    residual : (n_individuals,) float64
        Zeros; overwritten.
    factor : (n_individuals,) float64
        Overwritten with the latest exposures.
    out : (n_times,) float64
        Overwritten with the weighted sums of squares.

    Notes
    -----
    All residuals at risk fall together, by exposures ``e`` times the same. So only their
    common fall is kept up to date, the buffer holds ``residual + e * fall`` for those at
    risk, and the sum of squares follows from the sums of ``w e^2``, ``w e r`` and
    ``w r^2``: ``sum w (r - e d)^2 = sum w r^2 - 2 d sum w e r + d^2 sum w e^2``.
    Those not at risk keep their residual, and their squares stand in ``frozen``.
    """
    fall, frozen = 0.0, 0.0
    sum_wee, sum_wer, sum_wrr = 0.0, 0.0, 0.0
    change = 0
    for j in range(drop.shape[0]):
        while change < time_index.shape[0] and time_index[change] == j:
            i = owner[change]
            w = weight[i]
            if kind[change] == LEAVES:
                residual[i] -= factor[i] * fall
                sign = -1.0
                r = residual[i]
            elif kind[change] == ENTERS:
                r = residual[i]
                sign = 1.0
                factor[i] = exposure[change]
                residual[i] += factor[i] * fall
            else:
                r = residual[i] - factor[i] * fall
                rise = jump[change]
                residual[i] += rise
                sum_wer += w * factor[i] * rise
                sum_wrr += w * rise * (2.0 * r + rise)
                sign = 0.0
            sum_wee += sign * w * factor[i] * factor[i]
            sum_wer += sign * w * factor[i] * r
            sum_wrr += sign * w * r * r
            frozen -= sign * w * r * r
            change += 1
        d = drop[j]
        sum_wrr += d * (d * sum_wee - 2.0 * sum_wer)
        sum_wer -= d * sum_wee
        fall += d
        out[j] = max(frozen + sum_wrr, 0.0)


@allocating_kernel
def sweep_terminal_residuals(
    time_index: OffsetArray,
    kind: AnyArray,
    owner: OffsetArray,
    jump: FloatArray,
    exposure: FloatArray,
    drop: FloatArray,
    hazard: FloatArray,
    mean: FloatArray,
    weight: FloatArray,
    state: FloatArray,
    out: FloatArray,
) -> None:
    """Sum the squared residuals of a mean that accounts for terminal events.

    Individual ``i`` has two running residuals while at risk. Its deaths ``a`` rise by its
    own jump and fall by ``hazard[j]``; its events ``p`` rise by its jumps, and by
    ``mean[j]`` times the changes of ``a``, and fall by its exposure times ``drop[j]``. The
    residual of the mean is ``p - mean[j] * a``.

    Parameters
    ----------
    time_index, kind, owner, jump, exposure, drop, weight
        As in `sweep_squared_residuals`; kind 3 is a terminal event.
    hazard : (n_times,) float64
        Fall of the deaths of those at risk.
    mean : (n_times,) float64
        The estimate at, and after, each time.
    state : (n_individuals, 3) float64
        Zeros; overwritten with ``p`` and ``a``, lifted by the falls so far, and exposures.
    out : (n_times,) float64
        Overwritten with the weighted sums of squares.

    Notes
    -----
    Those at risk fall together. So only the common falls are kept up to date, and sums of
    products of ``p``, ``a``, the exposure ``e`` and 1, of those at risk and of the others.
    """
    falls = np.zeros(3)  # of p per unit of exposure, of p, and of a
    at_risk, others = np.zeros((4, 4)), np.zeros((4, 4))
    row = np.ones(4)
    change = 0
    for j in range(drop.shape[0]):
        while change < time_index.shape[0] and time_index[change] == j:
            i = owner[change]
            if kind[change] == ENTERS:
                state[i, 2] = exposure[change]
                row[:3] = state[i]
                _add_product(others, row, -weight[i])
            else:
                row[2] = state[i, 2]
                row[0] = state[i, 0] - row[2] * falls[0] - falls[1]
                row[1] = state[i, 1] - falls[2]
                _add_product(at_risk, row, -weight[i])
            if kind[change] == LEAVES:
                _add_product(others, row, weight[i])
                state[i, :2] = row[:2]
            else:
                row[0] += jump[change] * (mean[j] if kind[change] == DIES else 1.0)
                row[1] += jump[change] if kind[change] == DIES else 0.0
                _add_product(at_risk, row, weight[i])
                state[i, 0] = row[0] + row[2] * falls[0] + falls[1]
                state[i, 1] = row[1] + falls[2]
            change += 1
        per_exposure, per_head, of_deaths = drop[j], hazard[j] * mean[j], hazard[j]
        for k in range(4):
            at_risk[0, k] -= per_exposure * at_risk[2, k] + per_head * at_risk[3, k]
            at_risk[1, k] -= of_deaths * at_risk[3, k]
        for k in range(4):
            at_risk[k, 0] -= per_exposure * at_risk[k, 2] + per_head * at_risk[k, 3]
            at_risk[k, 1] -= of_deaths * at_risk[k, 3]
        falls[0] += per_exposure
        falls[1] += per_head
        falls[2] += of_deaths
        sums = at_risk + others
        square = sums[0, 0] - 2.0 * mean[j] * sums[0, 1] + mean[j] ** 2 * sums[1, 1]
        out[j] = max(square, 0.0)


@inner_kernel
def _add_product(sums: FloatArray, row: FloatArray, weight: float) -> None:
    """Add the products of all pairs of a row's entries."""
    for first in range(4):
        for second in range(4):
            sums[first, second] += weight * row[first] * row[second]


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
