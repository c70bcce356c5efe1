"""Checks of what is handed to `fit` and `predict`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr._validation import first_few
from boostr.data import RecurrentEvents, check_target
from boostr.exceptions import InvalidFeaturesError, InvalidParameterError

__all__ = ["check_rows", "check_times", "check_window"]


def check_rows(y: object, n_rows: int) -> RecurrentEvents:
    """Return the target if it is one history per row of features."""
    events = check_target(y)
    if len(events) != n_rows:
        raise InvalidFeaturesError(
            f"`X` must have one row per individual, but it has {n_rows} rows for "
            f"{len(events)} individuals.\n\nHint: static features go into one row each; "
            "rows of a long table of events are not individuals."
        )
    return events


def check_times(times: ArrayLike, name: str = "times") -> FloatArray:
    """Return times as a 1-D array of finite numbers that are not negative."""
    try:
        values = np.atleast_1d(np.asarray(times, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"`{name}` must be numbers, but they are {times!r}.\n\n"
            "Hint: times count units since `y.origin`; for time stamps: "
            "(stamp - y.origin) / numpy.timedelta64(1, y.time_unit)."
        ) from error
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


def check_window(
    start: ArrayLike, stop: ArrayLike, n: int
) -> tuple[FloatArray, FloatArray]:
    """Return starts and stops of windows, one each per individual."""
    starts, stops = check_spread(start, n, "start"), check_spread(stop, n, "stop")
    wrong = np.flatnonzero(stops < starts)
    if wrong.size:
        raise InvalidParameterError(
            "A window must not stop before it starts, but it does for "
            f"{wrong.size} of {n} individuals (rows {first_few(wrong)}).\n\n"
            "Hint: predict_count(X, start, stop) counts in (start, stop]."
        )
    return starts, stops


def check_spread(times: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one time per individual from a single one or as many."""
    values = check_times(times, name)
    if len(values) not in {1, n}:
        raise InvalidParameterError(
            f"`{name}` must be one time or one per individual, but it has {len(values)} "
            f"for {n} individuals."
        )
    return np.broadcast_to(values, (n,)).copy()
