"""Nonparametric estimates of the mean, and tests for groups and trends."""

from __future__ import annotations

from boostr.nonparametric._mcf import (
    McfDifference,
    MeanCumulativeFunction,
    mcf_by_group,
    mcf_difference,
)
from boostr.nonparametric._tests import (
    McfComparison,
    TrendTest,
    compare_mcf,
    laplace_test,
    mil_hdbk_189_test,
)

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
