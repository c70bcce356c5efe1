"""Estimators to compare with."""

from __future__ import annotations

from boostr.baselines._mcf import MeanCumulativeFunction

__all__ = ["MeanCumulativeFunction"]
