"""HistGradientBoosting: one rate per individual times the mean cumulative function."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from benchmarks.libraries._tuning import (
    LEARNING_RATE,
    FloatArray,
    TreeShape,
    draw_folds,
    tune,
)
from boostr import MeanCumulativeFunction, RecurrentEvents

_N_BINS = 255
_LEAST_EXPOSURE = 1e-9  # of somebody who left before the first event of all


class HistGBRate:
    """Poisson regression of events over expected events, weighted by the latter."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: FloatArray, y: RecurrentEvents) -> Self:
        self._mean = MeanCumulativeFunction().fit(y)
        expected = np.maximum(self._mean.predict(y.end), _LEAST_EXPOSURE)
        ratio = y.n_events / expected
        self._thresholds = np.quantile(X, np.arange(1, _N_BINS) / _N_BINS, axis=0)
        X = self._bin(X)
        folds = list(draw_folds(len(y), self.seed))

        def held_out_loss(shape: TreeShape, rate: float, n_rounds: int) -> FloatArray:
            total = np.zeros(n_rounds)
            for is_trained, is_held in folds:
                model = _make_model(shape, rate, n_rounds, self.seed)
                model.fit(X[is_trained], ratio[is_trained], expected[is_trained])
                stages = np.array(list(model.staged_predict(X[is_held])))
                losses = stages - ratio[is_held] * np.log(stages)
                total += losses @ expected[is_held]
            return total

        with threadpool_limits(1):
            shape, n_rounds = tune(held_out_loss)
            self._model = _make_model(shape, LEARNING_RATE, n_rounds, self.seed)
            self._model.fit(X, ratio, expected)
        return self

    def predict_cumulative(self, X: FloatArray, times: FloatArray) -> FloatArray:
        with threadpool_limits(1):
            rates = self._model.predict(self._bin(X))
        return np.multiply.outer(rates, self._mean.predict(times))

    def _bin(self, X: FloatArray) -> FloatArray:
        """Bin features once for all fits.

        With sample weights scikit-learn looks for the bins of more than 255 distinct values
        one by one, which takes ten times as long as the trees.
        """
        columns = zip(X.T, self._thresholds.T, strict=True)
        return np.column_stack(
            [np.searchsorted(edges, column) for column, edges in columns]
        )


def _make_model(
    shape: TreeShape, rate: float, n_rounds: int, seed: int
) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(
        loss="poisson",
        learning_rate=rate,
        max_iter=n_rounds,
        max_leaf_nodes=shape.n_leaves,
        min_samples_leaf=shape.least_members,
        early_stopping=False,
        random_state=seed,
    )
