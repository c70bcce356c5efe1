"""Estimators with the interface of scikit-learn."""

from boostr._engine.selection import FitProgress
from boostr._forecasting.results import (
    CurveBand,
    FleetForecast,
    ForecastCalibration,
)
from boostr.estimators._boostr import BoostR
from boostr.estimators._static import StaticTransformer

__all__ = [
    "BoostR",
    "CurveBand",
    "FitProgress",
    "FleetForecast",
    "ForecastCalibration",
    "StaticTransformer",
]
