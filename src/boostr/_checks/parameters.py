"""Checks of parameters: counts, numbers, choices and threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from boostr.exceptions import InvalidParameterError

__all__ = ["check_choice", "check_count", "check_number", "count_threads"]


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
