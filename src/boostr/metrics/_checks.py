"""Checks of predictions passed to metrics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few
from boostr._typing import AnyArray, FloatArray
from boostr.exceptions import InvalidParameterError

__all__ = [
    "check_borders",
    "check_curves",
    "check_grid",
    "check_horizon",
    "check_positive",
    "check_values",
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


def check_values(values: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one finite number per individual."""
    checked = _as_numbers(values, name)
    if checked.shape != (n,):
        raise InvalidParameterError(
            f"`{name}` must have one number per individual, but its shape is "
            f"{checked.shape} for {n} individuals.\n\n"
            "Hint: predict(X, horizon=…) and predict_count(X, start, stop) give one each."
        )
    _check_finite(checked, n, name)
    return checked


def check_positive(values: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one finite, nonnegative number per individual."""
    checked = check_values(values, n, name)
    wrong = np.flatnonzero(checked < 0.0)
    if wrong.size:
        raise InvalidParameterError(
            f"`{name}` must not be negative, but it is for {wrong.size} of {n} individuals "
            f"(rows {first_few(wrong)}).\n\nHint: a number of events cannot be negative; "
            "BoostR(monotone=True) never predicts one."
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
