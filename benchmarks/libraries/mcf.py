"""The mean cumulative function: everybody gets the average curve."""

from __future__ import annotations

from typing import Self

import numpy as np

from benchmarks.libraries._tuning import FloatArray
from boostr import MeanCumulativeFunction, RecurrentEvents


class PooledMean:
    """No features at all; what any learner must beat."""

    def fit(self, X: FloatArray, y: RecurrentEvents) -> Self:
        self._mean = MeanCumulativeFunction().fit(y)
        return self

    def predict_cumulative(self, X: FloatArray, times: FloatArray) -> FloatArray:
        return np.tile(self._mean.predict(times), (len(X), 1))
