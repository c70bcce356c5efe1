"""Numbers as text on the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["list_names", "say", "say_mean", "standard_error"]


def say(value: float) -> str:
    """Return a number with three digits, or all digits of its whole part."""
    if not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def standard_error(values: ArrayLike) -> float:
    """Return the standard error of a mean, NaN for a single value."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.size < 2:
        return math.nan
    return float(sample.std(ddof=1) / math.sqrt(sample.size))


def say_mean(values: ArrayLike) -> str:
    """Return a mean with two digits of its standard error, if there is one."""
    mean = float(np.asarray(values, dtype=np.float64).mean())
    error = standard_error(values)
    if not math.isfinite(error):
        return say(mean)
    if error == 0.0:
        return f"{say(mean)} ± 0"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"


def list_names(names: Sequence[str]) -> str:
    """Return names as part of a sentence."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
