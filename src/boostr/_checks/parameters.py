"""Checks of parameters: counts, numbers, choices, threads, times and windows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few
from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError

__all__ = [
    "as_times",
    "check_choice",
    "check_count",
    "check_length",
    "check_number",
    "check_spread",
    "check_times",
    "check_window_order",
    "check_windows",
    "count_threads",
    "spread_times",
]

_COUNTED = (
    "times count units since `y.origin`; for time stamps: "
    "(stamp - y.origin) / numpy.timedelta64(1, y.time_unit)."
)


def as_times(times: ArrayLike, name: str, hint: str = _COUNTED) -> FloatArray:
    """Return times as an array of floats with at least one dimension.

    ``name`` and ``hint`` are for the message if they are not numbers.
    """
    error = InvalidParameterError(
        f"`{name}` must be numbers, but they are {times!r}.\n\nHint: {hint}"
    )
    if np.asarray(times).dtype.kind in "mM":  # whose units NumPy would count
        raise error
    try:
        return np.atleast_1d(np.asarray(times, dtype=np.float64))
    except (TypeError, ValueError) as reason:
        raise error from reason


def check_times(times: ArrayLike, name: str = "times") -> FloatArray:
    """Return times as a 1-D array of finite numbers that are not negative."""
    values = as_times(times, name)
    if values.ndim != 1:
        raise InvalidParameterError(
            f"`{name}` must be a number or a sequence of numbers, but its shape is "
            f"{values.shape}."
        )
    is_wrong = ~((values >= 0.0) & np.isfinite(values))
    if is_wrong.any():
        raise InvalidParameterError(
            f"`{name}` must be finite and not negative, got {first_few(values[is_wrong])}."
        )
    return values


def check_length(length: Any, name: str) -> float:
    """Return one length of time, finite and above zero."""
    is_number = np.ndim(length) == 0 and np.asarray(length).dtype.kind in "iuf"
    if not is_number or not 0.0 < float(length) < np.inf:
        raise InvalidParameterError(
            f"`{name}` must be a finite number above zero, but it is {length!r}.\n\n"
            "Hint: give it in the unit of the times, for instance 7 for a week of days."
        )
    return float(length)


def check_spread(times: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one time per individual from a single one or as many."""
    return spread_times(check_times(times, name), n, name)


def check_windows(
    start: ArrayLike, stop: ArrayLike, n: int
) -> tuple[FloatArray, FloatArray]:
    """Return starts and stops of windows, one each per individual."""
    starts, stops = check_spread(start, n, "start"), check_spread(stop, n, "stop")
    check_window_order(starts, stops)
    return starts, stops


def spread_times(times: FloatArray, n: int, name: str) -> FloatArray:
    """Return one time per individual, from one time or ``n``; a copy."""
    if len(times) not in {1, n}:
        raise InvalidParameterError(
            f"`{name}` must be one time or one per individual, but it has {len(times)} "
            f"for {n} individuals."
        )
    return np.broadcast_to(times, (n,)).copy()


def check_window_order(starts: FloatArray, stops: FloatArray) -> None:
    """Refuse windows that stop before they start."""
    wrong = np.flatnonzero(stops < starts)
    if wrong.size:
        raise InvalidParameterError(
            "A window must not stop before it starts, but it does for "
            f"{wrong.size} of {len(starts)} individuals (rows {first_few(wrong)}).\n\n"
            "Hint: predict_count(X, start, stop) counts in (start, stop]."
        )


def check_choice(value: object, choices: Sequence[str | None], name: str) -> None:
    """Refuse a value that is not one of the choices."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise InvalidParameterError(
            f"`{name}` must be one of {', '.join(map(repr, choices))}, but it is {value!r}."
        )


def check_count(value: Any, name: str, least: int = 1) -> None:
    """Refuse all but whole numbers of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidParameterError(
            f"`{name}` must be a whole number of at least {least}, but it is {value!r}."
        )


def check_number(value: Any, name: str, low: float, high: float = np.inf) -> None:
    """Refuse all but numbers in (low, high]."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not low < float(value) <= high:
        limits = f"above {low:g}" + ("" if np.isinf(high) else f" and at most {high:g}")
        raise InvalidParameterError(
            f"`{name}` must be a number {limits}, but it is {value!r}."
        )


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads: one by default, all for -1."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InvalidParameterError(
            f"`n_jobs` must be a number of threads, but it is {n_jobs!r}.\n\n"
            "Hint: None is one thread, -1 all of them."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
