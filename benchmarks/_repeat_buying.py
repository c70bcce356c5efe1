"""Pareto/NBD: purchases at a constant rate up to a dropout, both gamma-mixed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp
from sklearn.base import BaseEstimator

from boostr import RecurrentEvents

WEEK = 7.0  # days; the model is fitted in weeks, as usual
LARGEST = 10.0  # logarithm of a parameter: beyond it the law has no variance
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)


@dataclass(frozen=True)
class Purchases:
    """What the model reads of every customer, in weeks since the first purchase."""

    count: np.ndarray
    last: np.ndarray
    age: np.ndarray

    @classmethod
    def read(cls, y: RecurrentEvents) -> Purchases:
        last = y.start.copy()
        np.maximum.at(last, y.event_owner, y.times)
        return cls(y.n_events, (last - y.start) / WEEK, (y.end - y.start) / WEEK)


class ParetoNBD(BaseEstimator):
    """Expected purchases of customers; times are days since the first purchase."""

    def fit(self, X, y: RecurrentEvents) -> ParetoNBD:
        seen = Purchases.read(y)
        found = minimize(
            lambda point: -_log_likelihood(np.exp(point), seen)[0].sum(),
            np.log([0.5, 10.0, 0.5, 10.0]),
            method="Nelder-Mead",
            bounds=[(-LARGEST, LARGEST)] * 4,
            options={"maxiter": 2000, "xatol": 1e-3, "fatol": 1e-3},
        )
        self.params_ = np.exp(found.x)
        return self

    def forecast(
        self, X, y: RecurrentEvents, horizon: float | np.ndarray, level: float = 0.9
    ) -> pd.DataFrame:
        seen, ahead = Purchases.read(y), np.asarray(horizon) / WEEK
        r, alpha, s, beta = self.params_
        total, alive = _log_likelihood(self.params_, seen)
        growth = 1.0 - ((beta + seen.age) / (beta + seen.age + ahead)) ** (s - 1.0)
        rate = (r + seen.count) * (beta + seen.age) / ((alpha + seen.age) * (s - 1.0))
        return pd.DataFrame(
            {"id": y.ids, "expected": np.exp(alive - total) * rate * growth}
        )


def _log_likelihood(params: np.ndarray, seen: Purchases) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-likelihood of every customer, and that of being alive at the end.

    Dropouts between the last purchase and the end are integrated numerically: the
    hypergeometric functions of the closed form are slow for many purchases.
    """
    r, alpha, s, beta = params
    x = seen.count
    alive = -(r + x) * np.log(alpha + seen.age) - s * np.log(beta + seen.age)
    least = min(alpha, beta)
    begin, end = np.log(least + seen.last), np.log(least + seen.age)
    half = 0.5 * (end - begin)
    log_time = begin[:, None] + half[:, None] * (1.0 + NODES)
    time = np.exp(log_time) - least
    density = -(r + x)[:, None] * np.log(alpha + time) - (s + 1.0) * np.log(beta + time)
    with np.errstate(divide="ignore"):
        weights = np.log(half)[:, None] + np.log(WEIGHTS)
    dead = np.log(s) + logsumexp(density + log_time + weights, axis=1)
    front = gammaln(r + x) - gammaln(r) + r * np.log(alpha) + s * np.log(beta)
    return front + np.logaddexp(alive, dead), front + alive
