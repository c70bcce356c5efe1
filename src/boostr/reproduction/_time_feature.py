"""Trees for the cumulative count, with time as one more feature (Appendix A)."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr.baselines import XGBoostTime
from boostr.data import RecurrentEvents

__all__ = [
    "RATE",
    "HistTime",
    "find_library",
    "make_time_learner",
    "name_ad_hoc",
    "say_library",
]

RATE = 0.3  # XGBoost's own learning rate, where the paper states none

_N_TREES = 100  # rounds of XGBoost by default; the paper states none


def find_library() -> str:
    """Return the library of the trees: XGBoost, or scikit-learn without it."""
    return "XGBoost" if find_spec("xgboost") else "HistGB"


def name_ad_hoc() -> str:
    """Return the name of the model on the page."""
    return f"{find_library()}, time as a feature"


def say_library() -> str:
    """Return a sentence for the page if another library stands in."""
    if find_library() == "XGBoost":
        return ""
    return (
        "XGBoost is not installed: HistGB, the histogram gradient boosting of "
        "scikit-learn, stands in for it, on the same rows with time as a feature."
    )


def make_time_learner(learning_rate: float, n_times: int, random_state: int) -> Any:
    """Return the ad hoc model, whose curves are not smoothed."""
    if find_library() == "XGBoost":
        return XGBoostTime(
            n_estimators=_N_TREES,
            learning_rate=learning_rate,
            n_times=n_times,
            monotone=False,
            random_state=random_state,
        )
    return HistTime(learning_rate, n_times, random_state)


class HistTime:
    """Histogram gradient boosting of scikit-learn on the rows of `XGBoostTime`.

    Individuals must be observed from 0 without gaps.
    """

    def __init__(self, learning_rate: float, n_times: int, random_state: int) -> None:
        self.learning_rate = learning_rate
        self.n_times = n_times
        self.random_state = random_state

    def fit(self, X: FloatArray, y: RecurrentEvents) -> Self:
        """Fit the cumulative count at evenly spaced times."""
        self.times_ = np.linspace(0.0, float(y.end.max()), self.n_times + 1)[1:]
        is_known = (y.end[:, None] >= self.times_).ravel()
        rows = _cross(X, self.times_)[is_known]
        # Looked up late: they make the import slow. scikit-learn brings both, and with
        # more threads than one, small data take far longer.
        ensemble: Any = importlib.import_module("sklearn.ensemble")
        pools: Any = importlib.import_module("threadpoolctl")
        self.model_ = ensemble.HistGradientBoostingRegressor(
            learning_rate=self.learning_rate,
            max_iter=_N_TREES,
            max_leaf_nodes=6,  # that, and the size of leaves, as in `XGBoostTime`
            min_samples_leaf=20 * self.n_times,
            early_stopping=False,
            random_state=self.random_state,
        )
        with pools.threadpool_limits(1, user_api="openmp"):
            self.model_.fit(rows, _count(y, self.times_).ravel()[is_known])
        return self

    def predict_cumulative(self, X: FloatArray, times: ArrayLike) -> FloatArray:
        """Predict, linear between the times of training and constant after them."""
        heights = np.zeros((len(X), self.n_times + 1))
        predicted = self.model_.predict(_cross(X, self.times_))
        heights[:, 1:] = predicted.reshape(len(X), -1)
        grid = np.concatenate([[0.0], self.times_])
        return np.array([np.interp(np.asarray(times), grid, each) for each in heights])


def _cross(X: FloatArray, times: FloatArray) -> FloatArray:
    """Return each individual with each time, the time as last column."""
    return np.column_stack([np.repeat(X, len(times), axis=0), np.tile(times, len(X))])


def _count(y: RecurrentEvents, times: FloatArray) -> FloatArray:
    """Return each individual's number of events up to each time, (n, m)."""
    cell = np.searchsorted(times, y.times, side="left")
    place = y.event_owner * (len(times) + 1) + cell
    counts = np.bincount(place, minlength=len(y) * (len(times) + 1))
    return np.cumsum(counts.reshape(len(y), -1)[:, :-1], axis=1).astype(np.float64)
