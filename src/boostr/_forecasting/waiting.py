"""Waiting times: when a cumulative curve reaches a value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boostr._typing import FloatArray, PositionArray

__all__ = ["find_times", "needed_exposure"]

ReadCurves = Callable[[PositionArray, FloatArray], FloatArray]

_MAX_ROUNDS = 200
_TOLERANCE = 1e-9  # of the time from start to stop, or of the rise up to the target


def needed_exposure(
    share: float, frailty: FloatArray, dispersion: FloatArray
) -> FloatArray:
    """Return the cumulative intensity by which a share of first events has happened.

    With a gamma frailty of the given mean and relative variance, no event has happened at
    ``m`` with probability ``(1 + frailty * dispersion * m) ** (-1 / dispersion)``.
    """
    wait = -np.log1p(-share)
    is_poisson = dispersion < 1e-9
    safe = np.where(is_poisson, 1.0, dispersion)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        mixed = np.expm1(wait * safe) / safe
        return np.asarray(np.where(is_poisson, wait, mixed) / frailty)


def find_times(
    read: ReadCurves,
    rows: PositionArray,
    targets: FloatArray,
    start: FloatArray,
    stop: FloatArray,
) -> FloatArray:
    """Return when curves reach their targets; infinity where they do not by the stop.

    ``read(rows, times)`` gives the values of non-decreasing curves. All brackets shrink
    together: by a secant with halved weights (the Illinois rule), and by halving them
    where that is slow.
    """
    result = np.full(len(rows), np.inf)
    low, high = start.astype(np.float64), stop.astype(np.float64)
    below = read(rows, low) - targets
    above = read(rows, high) - targets
    active = np.flatnonzero(np.isfinite(targets) & (above >= 0.0))
    at_once = active[below[active] >= 0.0]
    result[at_once] = low[at_once]
    active = active[below[active] < 0.0]
    close = _TOLERANCE * np.abs(below)
    rose = np.zeros(len(rows), dtype=np.bool_)  # whether the lower edge moved last
    width = high - low
    for index in range(_MAX_ROUNDS):
        if not active.size:
            break
        share = below[active] / (below[active] - above[active])
        if index % 3 == 2:  # a flat piece makes a secant crawl
            is_slow = (high - low)[active] > 0.5 * width[active]
            share[is_slow] = 0.5
            width[active] = (high - low)[active]
        middle = low[active] + share * (high[active] - low[active])
        error = read(rows[active], middle) - targets[active]
        rises = error < 0.0
        up, down = active[rises], active[~rises]
        above[up] *= np.where(rose[up], 0.5, 1.0)
        below[down] *= np.where(rose[down], 1.0, 0.5)
        low[up], below[up] = middle[rises], error[rises]
        high[down], above[down] = middle[~rises], error[~rises]
        rose[active] = rises
        is_done = high[active] - low[active] <= _TOLERANCE * (stop - start)[active]
        is_done |= np.abs(error) <= close[active]
        result[active[is_done]] = middle[is_done]
        active = active[~is_done]
    result[active] = high[active]
    return result
