"""Baseline models with the interface of `BoostR`."""

from __future__ import annotations

from boostr.baselines._andersen_gill import AndersenGill
from boostr.baselines._boosted import (
    HistGradientBoostingPoisson,
    HistGradientBoostingRate,
    HistGradientBoostingTime,
    LightGBMPoisson,
    XGBoostPoisson,
    XGBoostTime,
)
from boostr.baselines._forest import RandomForestRecurrence
from boostr.baselines._mcf_regressor import McfK, McfRegressor
from boostr.baselines._poisson import CoefficientTable, HomogeneousPoisson, PowerLawProcess
from boostr.baselines._tuning import tune

__all__ = [
    "AndersenGill",
    "CoefficientTable",
    "HistGradientBoostingPoisson",
    "HistGradientBoostingRate",
    "HistGradientBoostingTime",
    "HomogeneousPoisson",
    "LightGBMPoisson",
    "McfK",
    "McfRegressor",
    "PowerLawProcess",
    "RandomForestRecurrence",
    "XGBoostPoisson",
    "XGBoostTime",
    "tune",
]
