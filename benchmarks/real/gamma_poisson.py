"""Empirical Bayes: gamma-mixed Poisson rates, for all or by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import nbinom
from sklearn.base import BaseEstimator

from boostr import Panel, RecurrentEvents

FEWEST = 10  # events of a group that has a law of its own


class GammaPoisson(BaseEstimator):
    """Every individual has a constant rate, drawn from the gamma law of its group.

    Small groups, and those that training has not seen, have the law of all.
    """

    def __init__(self, group: str | None = None) -> None:
        self.group = group

    def fit(self, X: Any, y: RecurrentEvents) -> GammaPoisson:
        self.law_ = _fit_gamma(y.n_events, y.follow_up)
        self.laws_ = {}
        groups = self._read_groups(X)
        for name in np.unique(groups):
            own = groups == name
            if y.n_events[own].sum() >= FEWEST:
                self.laws_[name] = _fit_gamma(y.n_events[own], y.follow_up[own])
        return self

    def forecast(
        self, X: Any, y: RecurrentEvents, horizon: np.ndarray, level: float = 0.9
    ) -> pd.DataFrame:
        laws = [self.laws_.get(name, self.law_) for name in self._read_groups(X)]
        shape, rate = np.array(laws).T
        shape, rate = shape + y.n_events, rate + y.follow_up
        share = rate / (rate + horizon)
        tail = 0.5 * (1.0 - level)
        return pd.DataFrame(
            {
                "id": y.ids,
                "expected": shape / rate * horizon,
                "lower": nbinom.ppf(tail, shape, share),
                "upper": nbinom.ppf(1.0 - tail, shape, share),
            }
        )

    def _read_groups(self, X: Any) -> np.ndarray:
        table = X.X if isinstance(X, Panel) else X
        if self.group is None:
            return np.full(len(table), "all")
        return table[self.group].astype(str).to_numpy()


def _fit_gamma(counts: np.ndarray, exposure: np.ndarray) -> tuple[float, float]:
    """Return shape and rate of the gamma law by maximum likelihood."""
    mean = max(counts.sum(), 0.5) / exposure.sum()

    def loss(point: np.ndarray) -> float:
        shape, rate = np.exp(point)
        terms = gammaln(shape + counts) - gammaln(shape) + shape * np.log(rate)
        return -float(np.sum(terms - (shape + counts) * np.log(rate + exposure)))

    begin = np.log([1.0, 1.0 / mean])
    # A law without variance is reached as both grow: far enough is far enough.
    bounds = [(-8.0, 8.0), (begin[1] - 16.0, begin[1] + 16.0)]
    found = minimize(loss, begin, method="L-BFGS-B", bounds=bounds)
    shape, rate = np.exp(found.x)
    return float(shape), float(rate)
