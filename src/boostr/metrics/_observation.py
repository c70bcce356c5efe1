"""Observed counts in windows, exposure, and shares of individuals under observation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import BoolArray, FloatArray, OffsetArray, PositionArray
from boostr.data import RecurrentEvents, check_target
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.metrics._checks import check_borders, check_curves

__all__ = [
    "check_observed",
    "count_events",
    "covers",
    "expected_counts",
    "interpolate_rows",
    "inverse_weighted_costs",
    "observed_share",
    "window_owner",
]


def expected_counts(
    y: RecurrentEvents,
    predicted: ArrayLike,
    times: ArrayLike,
    *,
    start: ArrayLike = -np.inf,
    stop: ArrayLike = np.inf,
) -> FloatArray:
    r"""Return the number of events that curves predict while individuals were observed.

    With the curve :math:`\mu_i` and the windows of observation :math:`(a_{ik}, c_{ik}]`,

    .. math::

        E_i = \sum_k \mu_i(c_{ik}) - \mu_i(a_{ik}),

    and :math:`\mu_i` is linear between the times given. What was observed may be narrowed
    to a window of time.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    predicted : array-like of shape (n, m)
        Predicted cumulative counts, one row per individual and one column per time.
    times : array-like of shape (m,)
        Increasing times that cover the follow-up.
    start, stop : float or array-like of shape (n,), default=-inf, inf
        Look at (start, stop] only, the same for all or one each.

    Returns
    -------
    ndarray of shape (n,)
        Expected number (or cost) of events in each individual's own follow-up.

    See Also
    --------
    poisson_deviance : Compares them with the observed numbers.
    calibration_table : The same by groups.

    Examples
    --------
    Two events a year are expected; one machine is observed for a year, the other later for
    half a year.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import expected_counts
    >>> y = RecurrentEvents.from_lists([[0.5], []], start=[0.0, 1.5], end=[1.0, 2.0])
    >>> expected_counts(y, [[0.0, 4.0], [0.0, 4.0]], [0.0, 2.0])
    array([2., 1.])
    """
    events = check_target(y)
    curves, grid = check_curves(predicted, times, len(events))
    first, last = check_borders(start, stop, len(events))
    owner = window_owner(events)
    begin = np.maximum(events.window_start, first[owner])
    end = np.maximum(np.minimum(events.window_stop, last[owner]), begin)
    looked_at = end > begin
    check_cover(grid, begin[looked_at], end[looked_at])
    # Windows that are not looked at may lie beyond the grid: their two ends are the same.
    gain = interpolate_rows(curves, grid, owner, end)
    gain -= interpolate_rows(curves, grid, owner, begin)
    gain[~looked_at] = 0.0
    return np.asarray(np.bincount(owner, gain, len(events)), dtype=np.float64)


def check_cover(grid: FloatArray, start: FloatArray, stop: FloatArray) -> None:
    """Refuse times that do not cover the follow-up."""
    if start.size and (grid[0] > start.min() or grid[-1] < stop.max()):
        raise InvalidParameterError(
            f"`times` must cover the follow-up, from {start.min():g} to {stop.max():g}, "
            f"but they reach from {grid[0]:g} to {grid[-1]:g}.\n\n"
            "Hint: predict at np.linspace(y.start.min(), y.end.max(), 201)."
        )


def interpolate_rows(
    curves: FloatArray, grid: FloatArray, rows: OffsetArray, times: FloatArray
) -> FloatArray:
    """Return the curves of rows at one time each, by linear interpolation."""
    cell = np.clip(np.searchsorted(grid, times, side="right") - 1, 0, grid.size - 2)
    position = np.clip(times, grid[0], grid[-1])
    share = (position - grid[cell]) / (grid[cell + 1] - grid[cell])
    read: FloatArray = (1.0 - share) * curves[rows, cell] + share * curves[rows, cell + 1]
    return read


def window_owner(y: RecurrentEvents) -> PositionArray:
    """Return the individual of every window."""
    return np.repeat(np.arange(len(y)), np.diff(y.window_offsets))


def count_events(
    y: RecurrentEvents, start: FloatArray, stop: FloatArray, costs: FloatArray | None = None
) -> FloatArray:
    """Return the total cost of each individual's events in (start, stop]."""
    owner = y.event_owner
    counts = (y.times > start[owner]) & (y.times <= stop[owner])
    values = y.costs if costs is None else costs
    return np.asarray(np.bincount(owner[counts], values[counts], len(y)), dtype=np.float64)


def covers(y: RecurrentEvents, start: FloatArray, stop: FloatArray) -> BoolArray:
    """Return whether individuals were observed all the way from start to stop."""
    owner = window_owner(y)
    whole = (y.window_start <= start[owner]) & (y.window_stop >= stop[owner])
    observed: BoolArray = np.logical_or.reduceat(whole, y.window_offsets[:-1])
    return observed


def observed_share(y: RecurrentEvents, weight: FloatArray, times: FloatArray) -> FloatArray:
    """Return the share of individuals under observation at each time."""
    weights = weight[window_owner(y)]

    def total_before(borders: FloatArray) -> FloatArray:
        order = np.argsort(borders, kind="stable")
        sums = np.concatenate([[0.0], np.cumsum(weights[order])])
        return sums[np.searchsorted(borders[order], times, side="left")]

    at_risk = total_before(y.window_start) - total_before(y.window_stop)
    return at_risk / weight.sum()


def inverse_weighted_costs(y: RecurrentEvents, weight: FloatArray) -> FloatArray:
    """Return event costs over the share under observation at the event."""
    counted = weight[y.event_owner] > 0.0
    share = observed_share(y, weight, y.times)
    return np.divide(y.costs, share, out=np.zeros_like(y.costs), where=counted)


def check_observed(
    y: RecurrentEvents, weight: FloatArray, start: float, stop: float
) -> None:
    """Refuse a time span with a moment at which no individual was observed."""
    matters = weight[window_owner(y)] > 0.0
    begins, ends = y.window_start[matters], y.window_stop[matters]
    order = np.argsort(begins, kind="stable")
    reached = np.maximum.accumulate(np.concatenate([[start], ends[order]]))
    next_begin = np.concatenate([begins[order], [np.inf]])
    hole = np.flatnonzero((next_begin > reached) & (reached < stop))
    if hole.size:
        last = min(float(next_begin[hole[0]]), stop)
        raise InvalidEventsError(
            f"At least one individual must be observed at every time from {start:g} to "
            f"{stop:g} to weight by the chance of being observed, but none is between "
            f"{reached[hole[0]]:g} and {last:g}.\n\n"
            "Hint: choose a horizon before the last end of follow-up, y.end.max(), and in "
            "cross-validation one that every fold reaches."
        )
