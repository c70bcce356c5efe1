"""Checks of predictions, observed counts in windows, and exposure."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_labels, first_few
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray, PositionArray
from boostr.data import RecurrentEvents, check_target
from boostr.data.events.terminal import known_stops
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = [
    "check_borders",
    "check_chances",
    "check_curves",
    "check_grid",
    "check_horizon",
    "check_observed",
    "check_positive",
    "check_values",
    "count_events",
    "covers",
    "expected_counts",
    "interpolate_rows",
    "inverse_weighted_costs",
    "observed_share",
    "window_owner",
]


def _as_numbers(values: ArrayLike, name: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"`{name}` must be numbers, but it is a {type(values).__name__} that cannot "
            "become an array of them.\n\n"
            "Hint: metrics take predictions; scorers take the estimator that makes them."
        ) from error


def check_values(values: ArrayLike, y: RecurrentEvents, name: str) -> FloatArray:
    """Return one finite number per individual."""
    check_labels(values, y, name)
    checked, n = _as_numbers(values, name), len(y)
    if checked.shape != (n,):
        raise InvalidParameterError(
            f"`{name}` must have one number per individual, but its shape is "
            f"{checked.shape} for {n} individuals.\n\n"
            "Hint: predict(X, horizon=…) and predict_count(X, start, stop) give one each."
        )
    _check_finite(checked, n, name)
    return checked


def check_positive(values: ArrayLike, y: RecurrentEvents, name: str) -> FloatArray:
    """Return one finite, nonnegative number per individual."""
    checked, n = check_values(values, y, name), len(y)
    wrong = np.flatnonzero(checked < 0.0)
    if wrong.size:
        raise InvalidParameterError(
            f"`{name}` must not be negative, but it is for {wrong.size} of {n} individuals "
            f"(rows {first_few(wrong)}).\n\nHint: a number of events cannot be negative; "
            "BoostR(monotone=True) never predicts one."
        )
    return checked


def check_chances(values: ArrayLike, y: RecurrentEvents) -> FloatArray:
    """Return one probability per individual."""
    checked, n = check_positive(values, y, "probability"), len(y)
    wrong = np.flatnonzero(checked > 1.0)
    if wrong.size:
        raise InvalidParameterError(
            f"`probability` must not exceed 1, but it does for {wrong.size} of {n} "
            f"individuals (rows {first_few(wrong)}).\n\nHint: expected numbers of events "
            "become chances of any by 1 - np.exp(-expected)."
        )
    return checked


def check_grid(times: ArrayLike) -> FloatArray:
    """Return at least two increasing times."""
    grid = _as_numbers(times, "times")
    if grid.ndim != 1 or grid.size < 2 or not np.all(np.diff(grid) > 0.0):
        raise InvalidParameterError(
            "`times` must be at least two increasing numbers, but it has shape "
            f"{grid.shape}{'' if grid.ndim != 1 else ' and ' + _order(grid)}.\n\n"
            "Hint: use np.linspace(0.0, horizon, 201)."
        )
    return grid


def _order(grid: FloatArray) -> str:
    n_steps_back = np.count_nonzero(~(np.diff(grid) > 0.0))
    return f"{n_steps_back} steps that do not increase"


def check_curves(
    curves: ArrayLike, times: ArrayLike, n: int, name: str = "predicted"
) -> tuple[FloatArray, FloatArray]:
    """Return finite curves, one row per individual, and the times of their columns."""
    grid = check_grid(times)
    checked = np.ascontiguousarray(_as_numbers(curves, name))
    if checked.shape != (n, grid.size):
        raise InvalidParameterError(
            f"`{name}` must have one row per individual and one column per time, but its "
            f"shape is {checked.shape} for {n} individuals at {grid.size} times.\n\n"
            "Hint: predict_cumulative(X, times) gives such curves."
        )
    _check_finite(checked, n, name)
    return checked, grid


def _check_finite(values: FloatArray, n: int, name: str) -> None:
    finite = np.isfinite(values)
    wrong = np.flatnonzero(~(finite.all(axis=1) if values.ndim == 2 else finite))
    if wrong.size:
        raise InvalidParameterError(
            f"`{name}` must be finite, but it is not for {wrong.size} of {n} individuals "
            f"(rows {first_few(wrong)}).\n\nHint: leave out individuals without a "
            "prediction, from the events too."
        )


def check_horizon(horizon: float | None) -> float:
    """Return the time up to which events count; infinity by default."""
    if horizon is None:
        return np.inf
    value = _as_numbers(horizon, "horizon")
    if value.ndim != 0 or np.isnan(value):
        raise InvalidParameterError(
            f"`horizon` must be one time, but it is {horizon!r}.\n\n"
            "Hint: None counts all events up to the end of follow-up."
        )
    return float(value)


def check_borders(
    start: ArrayLike, stop: ArrayLike, n: int
) -> tuple[FloatArray, FloatArray]:
    """Return starts and stops of windows, one each per individual."""
    borders = []
    for values, name in ((start, "start"), (stop, "stop")):
        border: AnyArray = _as_numbers(values, name)
        if border.shape not in {(), (n,)} or np.isnan(border).any():
            raise InvalidParameterError(
                f"`{name}` must be one time or one per individual, but its shape is "
                f"{border.shape} for {n} individuals, {np.isnan(border).sum()} of them "
                "missing.\n\nHint: events are counted in (start, stop]."
            )
        borders.append(np.broadcast_to(border, (n,)))
    wrong = np.flatnonzero(borders[0] >= borders[1])
    if wrong.size:
        raise InvalidParameterError(
            "A window must stop after it starts, but it does not for "
            f"{wrong.size} of {n} individuals (rows {first_few(wrong)}).\n\n"
            "Hint: events are counted in (start, stop]."
        )
    return borders[0], borders[1]


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
    """Return whether events are known all the way from start to stop, as of the dead."""
    owner = window_owner(y)
    whole = (y.window_start <= start[owner]) & (known_stops(y) >= stop[owner])
    observed: BoolArray = np.logical_or.reduceat(whole, y.window_offsets[:-1])
    return observed


def observed_share(y: RecurrentEvents, weight: FloatArray, times: FloatArray) -> FloatArray:
    """Return the share of individuals whose events are known at each time."""
    weights = weight[window_owner(y)]

    def total_before(borders: FloatArray) -> FloatArray:
        order = np.argsort(borders, kind="stable")
        sums = np.concatenate([[0.0], np.cumsum(weights[order])])
        return sums[np.searchsorted(borders[order], times, side="left")]

    at_risk = total_before(y.window_start) - total_before(known_stops(y))
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
    begins, ends = y.window_start[matters], known_stops(y)[matters]
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
