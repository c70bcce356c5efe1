"""Checks of what is handed to `fit` and `predict`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr._validation import first_few
from boostr.data import RecurrentEvents
from boostr.exceptions import (
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
    TargetTypeError,
)

__all__ = ["check_events", "check_spread", "check_times", "check_weights"]


def check_events(y: object, n_rows: int) -> RecurrentEvents:
    """Return the target if it is one history per row of features."""
    if y is None:
        raise InvalidEventsError(
            "This estimator requires y to be passed, but the target y is None.\n\n"
            "Hint: RecurrentEvents.from_long, from_start_stop, from_lists and from_wide "
            "make one."
        )
    if not isinstance(y, RecurrentEvents):
        raise TargetTypeError(
            f"`y` must be a RecurrentEvents, but it is a {type(y).__name__}: a plain array "
            "cannot hold event times and ends of follow-up.\n\n"
            "Hint: RecurrentEvents.from_long, from_start_stop, from_lists and from_wide "
            "make one."
        )
    if len(y) == 0:
        raise InvalidEventsError(
            "`y` must have at least one individual, but it has none.\n\n"
            "Hint: check the filter that selected the individuals."
        )
    if len(y) != n_rows:
        raise InvalidFeaturesError(
            f"`X` must have one row per individual, but it has {n_rows} rows for {len(y)} "
            "individuals.\n\nHint: static features go into one row each; rows of a long "
            "table of events are not individuals."
        )
    return y


def check_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """Return one weight per individual, 1 by default."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise InvalidParameterError(
            f"`sample_weight` must have one value per individual, but its shape is "
            f"{weights.shape} for {n} individuals.\n\n"
            "Hint: weights belong to individuals, not to events."
        )
    wrong = np.flatnonzero(~((weights >= 0.0) & np.isfinite(weights)))
    if wrong.size:
        raise InvalidParameterError(
            "`sample_weight` must be finite and not negative, but it is not for "
            f"{wrong.size} of {n} individuals (rows {first_few(wrong)}).\n\n"
            "Hint: use 0 to leave an individual out."
        )
    if not weights.any():
        raise InvalidParameterError("At least one `sample_weight` must be above zero.")
    return weights


def check_times(times: ArrayLike, name: str = "times") -> FloatArray:
    """Return times as a 1-D array of finite numbers that are not negative."""
    values = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if values.ndim != 1:
        raise InvalidParameterError(
            f"`{name}` must be a number or a sequence of numbers, but its shape is "
            f"{values.shape}."
        )
    if not np.all((values >= 0.0) & np.isfinite(values)):
        wrong = values[~((values >= 0.0) & np.isfinite(values))]
        raise InvalidParameterError(
            f"`{name}` must be finite and not negative, but they hold {first_few(wrong)}."
        )
    return values


def check_spread(times: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one time per individual from a single one or as many."""
    values = check_times(times, name)
    if len(values) not in {1, n}:
        raise InvalidParameterError(
            f"`{name}` must be one time or one per individual, but it has {len(values)} "
            f"for {n} individuals."
        )
    return np.broadcast_to(values, (n,)).copy()
