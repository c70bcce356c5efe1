"""Nonparametric estimates of the mean, and tests for groups and trends."""

from __future__ import annotations

from boostr.nonparametric._difference import McfDifference, mcf_by_group, mcf_difference
from boostr.nonparametric._mcf import MeanCumulativeFunction
from boostr.nonparametric._trend import TrendTest, laplace_test, mil_hdbk_189_test
from boostr.nonparametric._two_sample import McfComparison, compare_mcf

__all__ = [
    "McfComparison",
    "McfDifference",
    "MeanCumulativeFunction",
    "TrendTest",
    "compare_mcf",
    "laplace_test",
    "mcf_by_group",
    "mcf_difference",
    "mil_hdbk_189_test",
]
