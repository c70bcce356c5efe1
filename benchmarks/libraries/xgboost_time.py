"""XGBoost with time as a feature: regression of the count so far."""

from __future__ import annotations

from typing import Self

import numpy as np
import xgboost

from benchmarks.libraries._cells import TimeCells
from benchmarks.libraries._tuning import (
    LEARNING_RATE,
    FloatArray,
    TreeShape,
    draw_folds,
    tune,
)
from benchmarks.libraries._xgboost import make_params, validate
from boostr import RecurrentEvents, Trajectories


class XGBoostTime:
    """Squared error of N(t) at a few times, while observed, on features and t.

    With sensors the times are closer, and the sensors' values at t are columns, too.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: FloatArray, y: RecurrentEvents, Z: Trajectories | None = None) -> Self:
        self._cells = TimeCells.choose(y, Z)
        times = self._cells.edges[1:]
        features = self._describe(X, Z)
        counts = np.cumsum(self._cells.count(y), axis=1).ravel()
        is_seen = (y.end[:, None] >= times).ravel()
        owner = np.repeat(np.arange(len(y)), len(times))

        def pack(chosen: np.ndarray) -> xgboost.DMatrix:
            rows = is_seen & chosen[owner]
            return xgboost.DMatrix(features[rows], counts[rows], nthread=1)

        folds = [
            (pack(is_trained), pack(is_held))
            for is_trained, is_held in draw_folds(len(y), self.seed)
        ]

        def held_out_loss(shape: TreeShape, rate: float, n_rounds: int) -> FloatArray:
            params = self._params(shape, rate)
            # The metric is the root of the mean squared error.
            return np.sum(
                [f[1].num_row() * validate(params, *f, n_rounds) ** 2 for f in folds],
                axis=0,
            )

        shape, n_rounds = tune(held_out_loss)
        everybody = pack(np.ones(len(y), dtype=bool))
        self._model = xgboost.train(self._params(shape, LEARNING_RATE), everybody, n_rounds)
        return self

    def predict_cumulative(
        self, X: FloatArray, times: FloatArray, Z: Trajectories | None = None
    ) -> FloatArray:
        data = xgboost.DMatrix(self._describe(X, Z), nthread=1)
        values = self._model.predict(data)
        return self._cells.interpolate(values.reshape(len(X), -1).astype(float), times)

    def _describe(self, X: FloatArray, Z: Trajectories | None) -> FloatArray:
        times = self._cells.edges[1:]
        features = self._cells.cross(X, times)
        if Z is None:
            return features
        sensors = Z.read(times)
        return np.column_stack([features, sensors.reshape(-1, sensors.shape[2])])

    def _params(self, shape: TreeShape, rate: float) -> dict[str, object]:
        return make_params("reg:squarederror", shape, rate, len(self._cells.lengths))
