"""A baseline with sensors as columns: boosted rates in short cells of time."""

from __future__ import annotations

import importlib
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import BoolArray, FloatArray
from boostr.data import RecurrentEvents, Trajectories

__all__ = ["HistSensors"]

_CELL = 2.0  # days; sensors are nearly constant in a cell
_READS = 4  # of a sensor in a cell, to take the mean of
_MOST_TREES = 400
_HELD_OUT = 0.2  # share of individuals that say how many trees there are


class HistSensors:
    """Histogram gradient boosting of scikit-learn on cells of time.

    Each row has the static features, the time and the cell means of all sensors; the
    target is the Poisson rate. Individuals must be observed from 0 without gaps.
    """

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, X: FloatArray, y: RecurrentEvents, Z: Trajectories) -> Self:
        """Fit the rate; held-out individuals decide when to stop."""
        n_cells = int(np.ceil(float(y.end.max()) / _CELL))
        self.edges_ = _CELL * np.arange(n_cells + 1, dtype=np.float64)
        rows = self._describe(X, Z)
        exposure = np.clip(y.end[:, None] - self.edges_[:-1], 0.0, _CELL).ravel()
        counts = _count(y, self.edges_).ravel()
        owner = np.repeat(np.arange(len(X)), n_cells)
        rng = np.random.default_rng(self.random_state)
        is_held = (rng.random(len(X)) < _HELD_OUT)[owner]
        seen = exposure > 0.0
        data = rows, counts, exposure
        # scikit-learn brings it; with more threads than one, small data take far longer.
        pools: Any = importlib.import_module("threadpoolctl")
        with pools.threadpool_limits(1, user_api="openmp"):
            n_trees = self._count_trees(data, seen & ~is_held, seen & is_held)
            self.model_ = self._boost(data, seen, n_trees)
        return self

    def predict_cumulative(
        self, X: FloatArray, times: ArrayLike, Z: Trajectories
    ) -> FloatArray:
        """Predict with given sensors, up to the end of training at most."""
        rates = self.model_.predict(self._describe(X, Z)).reshape(len(X), -1)
        heights = np.zeros((len(X), len(self.edges_)))
        np.cumsum(_CELL * rates, axis=1, out=heights[:, 1:])
        wanted = np.asarray(times)
        return np.array([np.interp(wanted, self.edges_, each) for each in heights])

    def _describe(self, X: FloatArray, Z: Trajectories) -> FloatArray:
        n_cells = len(self.edges_) - 1
        moments = _CELL / _READS * (np.arange(n_cells * _READS) + 0.5)
        read = Z.read(moments).reshape(len(X), n_cells, _READS, -1).mean(axis=2)
        middles = np.tile(0.5 * (self.edges_[1:] + self.edges_[:-1]), len(X))
        sensors = read.reshape(len(X) * n_cells, -1)
        return np.column_stack([np.repeat(X, n_cells, axis=0), middles, sensors])

    def _count_trees(
        self,
        data: tuple[FloatArray, FloatArray, FloatArray],
        learned: BoolArray,
        held: BoolArray,
    ) -> int:
        """Return the number of trees with the lowest held-out deviance."""
        rows, counts, exposure = data
        model = self._boost(data, learned, _MOST_TREES)
        losses = [
            float(np.sum(exposure[held] * rate - counts[held] * np.log(rate)))
            for rate in model.staged_predict(rows[held])
        ]
        return int(np.argmin(losses)) + 1

    def _boost(
        self,
        data: tuple[FloatArray, FloatArray, FloatArray],
        chosen: BoolArray,
        n_trees: int,
    ) -> Any:
        rows, counts, exposure = data
        ensemble: Any = importlib.import_module("sklearn.ensemble")
        model = ensemble.HistGradientBoostingRegressor(
            loss="poisson",
            learning_rate=0.05,
            max_iter=n_trees,
            max_leaf_nodes=12,
            min_samples_leaf=5 * (len(self.edges_) - 1),
            early_stopping=False,
            random_state=self.random_state,
        )
        rates = counts[chosen] / exposure[chosen]
        return model.fit(rows[chosen], rates, sample_weight=exposure[chosen])


def _count(y: RecurrentEvents, edges: FloatArray) -> FloatArray:
    """Return each individual's number of events in each cell, (n, n_cells)."""
    n_cells = len(edges) - 1
    cell = np.searchsorted(edges, y.times, side="left") - 1
    counts = np.bincount(y.event_owner * n_cells + cell, minlength=len(y) * n_cells)
    return counts.reshape(len(y), n_cells).astype(np.float64)
