"""Estimators to compare with, and tests for groups and trends."""

from __future__ import annotations

from boostr.baselines._mcf import MeanCumulativeFunction
from boostr.baselines._mcf_difference import McfDifference, mcf_difference
from boostr.baselines._trend import TrendTest, laplace_test, mil_hdbk_189_test
from boostr.baselines._two_sample import McfComparison, compare_mcf

__all__ = [
    "McfComparison",
    "McfDifference",
    "MeanCumulativeFunction",
    "TrendTest",
    "compare_mcf",
    "laplace_test",
    "mcf_difference",
    "mil_hdbk_189_test",
]
