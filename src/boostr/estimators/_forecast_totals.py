"""Totals of forecasts, with the errors that all individuals share."""

from __future__ import annotations

import numpy as np

from boostr._forecasting.counts import Counts
from boostr._typing import FloatArray, PositionArray
from boostr.estimators._forecast_results import FleetForecast
from boostr.estimators._outlook import Outlook

__all__ = ["sum_counts"]


def sum_counts(
    outlook: Outlook, counts: Counts, stop: FloatArray, level: float, rows: PositionArray
) -> FleetForecast:
    """Return the total of some individuals; only their shared errors do not average out."""
    unit, mean = outlook.costs.unit, counts.mean[rows]
    total = float(mean.sum())
    excess = float(counts.dispersion[rows] @ mean**2) + outlook.shared_variance(
        stop, counts.mean * unit, rows
    )
    dispersion = excess / total**2 if total > 0.0 else 0.0
    summed = Counts(np.array([total]), np.array([dispersion]))
    lower, upper = outlook.costs.interval(summed, level)
    return FleetForecast(total * unit, float(lower[0]), float(upper[0]), level, len(rows))
