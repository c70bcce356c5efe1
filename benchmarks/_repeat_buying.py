"""Pareto/NBD: purchases at a constant rate up to a dropout, both gamma-mixed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import gammaln, hyp2f1
from sklearn.base import BaseEstimator

from boostr import RecurrentEvents

WEEK = 7.0  # days; the model is fitted in weeks, as usual


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
            options={"maxiter": 4000, "xatol": 1e-4, "fatol": 1e-4},
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
    """Return the log-likelihood of every customer, and that of being alive at the end."""
    r, alpha, s, beta = params
    x = seen.count
    larger, second = (alpha, s + 1.0) if alpha >= beta else (beta, r + x)
    power, gap = r + s + x, abs(alpha - beta)

    def log_part(t: np.ndarray) -> np.ndarray:
        # Euler's transformation: the series converges also for many purchases.
        z = gap / (larger + t)
        value = hyp2f1(1.0, power + 1.0 - second, power + 1.0, z)
        return np.log(value) + (1.0 - second) * np.log1p(-z) - power * np.log(larger + t)

    alive = -(r + x) * np.log(alpha + seen.age) - s * np.log(beta + seen.age)
    upper, lower = log_part(seen.last), log_part(seen.age)
    ratio = np.exp(np.minimum(lower - upper, -1e-300))
    with np.errstate(divide="ignore"):
        dead = np.log(s / power) + upper + np.log1p(-ratio)
    front = gammaln(r + x) - gammaln(r) + r * np.log(alpha) + s * np.log(beta)
    return front + np.logaddexp(alive, dead), front + alive
