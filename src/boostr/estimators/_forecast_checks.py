"""Checks of what forecasts are asked for."""

from __future__ import annotations

import numbers
from typing import Any

from boostr._forecasting.counts import conformal_level
from boostr._typing import FloatArray
from boostr.estimators._forecast_results import ForecastCalibration
from boostr.exceptions import InvalidParameterError

__all__ = ["check_level", "check_share", "check_whole", "interval_level"]


def check_level(level: Any) -> None:
    """Refuse a probability of intervals that is none."""
    if not _is_share(level):
        raise InvalidParameterError(
            f"`level` must be a number above 0 and below 1, but it is {level!r}.\n\n"
            "Hint: level=0.9 gives intervals that hold nine times out of ten."
        )


def check_share(share: Any) -> float:
    """Return a probability of a quantile."""
    if not _is_share(share):
        raise InvalidParameterError(
            f"`quantiles` must be numbers above 0 and below 1, but there is {share!r}."
        )
    return float(share)


def check_whole(value: Any, name: str) -> int:
    """Return a whole number of at least 1."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or value < 1:
        raise InvalidParameterError(
            f"`{name}` must be a whole number of at least 1, but it is {value!r}."
        )
    return int(value)


def interval_level(intervals: Any, level: float, scores: FloatArray) -> float:
    """Return the level of the frailty model whose intervals are to be given."""
    if isinstance(intervals, str) and intervals == "frailty":
        return level
    if isinstance(intervals, ForecastCalibration):
        scores = intervals.scores
    elif not (isinstance(intervals, str) and intervals == "conformal"):
        raise InvalidParameterError(
            "`intervals` must be 'frailty', 'conformal' or what calibrate_forecast "
            f"returns, but it is {intervals!r}."
        )
    found = conformal_level(scores, level)
    if found is None:
        raise InvalidParameterError(
            f"Conformal intervals with a level of {level:g} need forecasts of more "
            f"individuals than the {len(scores)} there are.\n\n"
            f"Hint: a level of {len(scores) / (len(scores) + 1):.3g} or less, or "
            "intervals='frailty'."
        )
    return found


def _is_share(value: Any) -> bool:
    return (
        isinstance(value, numbers.Real)
        and not isinstance(value, bool)
        and 0.0 < float(value) < 1.0
    )
