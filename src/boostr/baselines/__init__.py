"""Baseline models with the interface of `BoostR`."""

from __future__ import annotations

from boostr.baselines._andersen_gill import AndersenGill
from boostr.baselines._coefficients import CoefficientTable
from boostr.baselines._expanded import LightGBMPoisson, XGBoostPoisson
from boostr.baselines._forest import RandomForestRecurrence
from boostr.baselines._hist_rate import HistGradientBoostingRate
from boostr.baselines._mcf_regressor import McfK, McfRegressor
from boostr.baselines._poisson import HomogeneousPoisson, PowerLawProcess
from boostr.baselines._xgboost_time import XGBoostTime

__all__ = [
    "AndersenGill",
    "CoefficientTable",
    "HistGradientBoostingRate",
    "HomogeneousPoisson",
    "LightGBMPoisson",
    "McfK",
    "McfRegressor",
    "PowerLawProcess",
    "RandomForestRecurrence",
    "XGBoostPoisson",
    "XGBoostTime",
]
