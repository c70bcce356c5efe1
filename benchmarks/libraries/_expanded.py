"""Poisson regression on expanded rows, whatever library grows the trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from benchmarks.libraries._cells import ExpandedRows, TimeCells
from benchmarks.libraries._tuning import (
    LEARNING_RATE,
    FloatArray,
    Mask,
    TreeShape,
    draw_folds,
    tune,
)
from boostr import RecurrentEvents, Trajectories


class ExpandedPoisson(ABC):
    """Rates in cells of time; the offset is the log of what the pooled rate expects.

    The columns are features and time; with sensors, features and the sensors' means in
    short cells, without time.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: FloatArray, y: RecurrentEvents, Z: Trajectories | None = None) -> Self:
        self._cells = TimeCells.choose(y, Z)
        rows = self._cells.expand(X, y, Z)
        self._pooled_rate = rows.counts.sum() / rows.exposure.sum()
        folds = [
            (
                self._pack(rows, is_trained[rows.owner]),
                self._pack(rows, is_held[rows.owner]),
            )
            for is_trained, is_held in draw_folds(len(y), self.seed)
        ]

        def held_out_loss(shape: TreeShape, rate: float, n_rounds: int) -> FloatArray:
            return np.sum(
                [self._validate(*fold, shape, rate, n_rounds) for fold in folds], axis=0
            )

        shape, n_rounds = tune(held_out_loss)
        everybody = self._pack(rows, np.ones(len(rows.owner), dtype=bool))
        self._model = self._train(everybody, shape, LEARNING_RATE, n_rounds)
        return self

    def predict_cumulative(
        self, X: FloatArray, times: FloatArray, Z: Trajectories | None = None
    ) -> FloatArray:
        features = self._cells.describe(X, Z)
        exposure = np.tile(self._cells.lengths, len(X))
        counts = self._predict(features, self._offset(exposure)).reshape(len(X), -1)
        return self._cells.interpolate(np.cumsum(counts, axis=1), times)

    @property
    def _rows_per_member(self) -> int:
        return len(self._cells.lengths)

    def _offset(self, exposure: FloatArray) -> FloatArray:
        return np.log(exposure * self._pooled_rate)

    @abstractmethod
    def _pack(self, rows: ExpandedRows, chosen: Mask) -> Any:
        """Return some of the rows in the library's own container."""

    @abstractmethod
    def _validate(
        self, trained: Any, held_out: Any, shape: TreeShape, rate: float, n_rounds: int
    ) -> FloatArray:
        """Return the held-out loss, summed over rows, after each round."""

    @abstractmethod
    def _train(self, data: Any, shape: TreeShape, rate: float, n_rounds: int) -> Any:
        """Return a model of all the data."""

    @abstractmethod
    def _predict(self, features: FloatArray, offset: FloatArray) -> FloatArray:
        """Return expected counts."""
