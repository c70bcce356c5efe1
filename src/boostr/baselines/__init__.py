"""Baseline models, and tests for groups and trends."""

from __future__ import annotations

from boostr.baselines._andersen_gill import AndersenGill
from boostr.baselines._coefficients import CoefficientTable
from boostr.baselines._expanded import LightGBMPoisson, XGBoostPoisson
from boostr.baselines._forest import RandomForestRecurrence
from boostr.baselines._hist_rate import HistGradientBoostingRate
from boostr.baselines._mcf import MeanCumulativeFunction
from boostr.baselines._mcf_difference import McfDifference, mcf_difference
from boostr.baselines._mcf_regressor import McfK, McfRegressor
from boostr.baselines._poisson import HomogeneousPoisson, PowerLawProcess
from boostr.baselines._trend import TrendTest, laplace_test, mil_hdbk_189_test
from boostr.baselines._two_sample import McfComparison, compare_mcf
from boostr.baselines._xgboost_time import XGBoostTime

__all__ = [
    "AndersenGill",
    "CoefficientTable",
    "HistGradientBoostingRate",
    "HomogeneousPoisson",
    "LightGBMPoisson",
    "McfComparison",
    "McfDifference",
    "McfK",
    "McfRegressor",
    "MeanCumulativeFunction",
    "PowerLawProcess",
    "RandomForestRecurrence",
    "TrendTest",
    "XGBoostPoisson",
    "XGBoostTime",
    "compare_mcf",
    "laplace_test",
    "mcf_difference",
    "mil_hdbk_189_test",
]
