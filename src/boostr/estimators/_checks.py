"""Checks of what is handed to `fit` and `predict`."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import as_times, check_window_order, first_few, spread_times
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.data import features as tables
from boostr.exceptions import InvalidParameterError

ROWS_HINT = (
    "static features go into one row each; rows of a long table of events are not "
    "individuals."
)

__all__ = [
    "ROWS_HINT",
    "check_length",
    "check_rows",
    "check_spread",
    "check_times",
    "check_window",
]


def check_rows(y: object, n_rows: int) -> RecurrentEvents:
    """Return the target if it is one history per row of features."""
    return tables.check_rows(y, n_rows, ROWS_HINT)


def check_times(times: ArrayLike, name: str = "times") -> FloatArray:
    """Return times as a 1-D array of finite numbers that are not negative."""
    hint = (
        "times count units since `y.origin`; for time stamps: "
        "(stamp - y.origin) / numpy.timedelta64(1, y.time_unit)."
    )
    values = as_times(times, name, hint)
    if values.ndim != 1:
        raise InvalidParameterError(
            f"`{name}` must be a number or a sequence of numbers, but its shape is "
            f"{values.shape}."
        )
    if not np.all((values >= 0.0) & np.isfinite(values)):
        wrong = values[~((values >= 0.0) & np.isfinite(values))]
        raise InvalidParameterError(
            f"`{name}` must be finite and not negative, got {first_few(wrong)}."
        )
    return values


def check_length(length: Any, name: str) -> float:
    """Return one length of time, finite and above zero."""
    is_number = isinstance(length, numbers.Real) and not isinstance(length, bool)
    if not is_number or not 0.0 < float(length) < np.inf:
        raise InvalidParameterError(
            f"`{name}` must be one finite number above zero, but it is {length!r}."
        )
    return float(length)


def check_window(
    start: ArrayLike, stop: ArrayLike, n: int
) -> tuple[FloatArray, FloatArray]:
    """Return starts and stops of windows, one each per individual."""
    starts, stops = check_spread(start, n, "start"), check_spread(stop, n, "stop")
    check_window_order(starts, stops)
    return starts, stops


def check_spread(times: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one time per individual from a single one or as many."""
    return spread_times(check_times(times, name), n, name)
