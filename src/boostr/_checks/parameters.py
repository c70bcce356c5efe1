"""Checks of parameters: choices, counts, numbers, threads, times and windows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import as_times, check_window_order, first_few, spread_times
from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError

__all__ = [
    "check_choice",
    "check_count",
    "check_number",
    "check_times",
    "check_windows",
    "count_threads",
]


def check_times(times: ArrayLike, name: str = "times") -> FloatArray:
    """Return times as a 1-D array of finite numbers that are not negative."""
    values = as_times(times, name, "times count units since `y.origin`.")
    if values.ndim != 1 or not np.all((values >= 0.0) & np.isfinite(values)):
        raise InvalidParameterError(
            f"`{name}` must be finite numbers in one row, none of them negative, got "
            f"{first_few(values.ravel())}."
        )
    return values


def check_windows(
    start: ArrayLike, stop: ArrayLike, n: int
) -> tuple[FloatArray, FloatArray]:
    """Return starts and stops of windows, one each per individual."""
    starts = spread_times(check_times(start, "start"), n, "start")
    stops = spread_times(check_times(stop, "stop"), n, "stop")
    check_window_order(starts, stops)
    return starts, stops


def check_count(value: Any, name: str, least: int = 1) -> None:
    """Refuse all but whole numbers of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidParameterError(
            f"`{name}` must be a whole number of at least {least}, but it is {value!r}."
        )


def check_choice(value: Any, choices: Sequence[str | None], name: str) -> None:
    """Refuse all but some words."""
    if value not in choices:
        *others, last = map(repr, choices)
        listed = f"{', '.join(others)} or {last}" if others else last
        raise InvalidParameterError(f"`{name}` must be {listed}, but it is {value!r}.")


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
