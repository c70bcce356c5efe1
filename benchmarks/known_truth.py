"""Bounds: models that know how the features act."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from boostr import MeanCumulativeFunction, RecurrentEvents
from boostr.simulate import Simulation

FloatArray = NDArray[np.float64]


class TrueRegions:
    """Events over expected events in each true group, times the pooled mean curve."""

    def __init__(self, simulation: Simulation) -> None:
        self._truth = simulation.truth
        # Groups differ somewhere: a third, two thirds and the whole of the follow-up.
        self._marks = simulation.horizon * np.array([1.0, 2.0, 3.0]) / 3.0

    def fit(self, X: FloatArray, y: RecurrentEvents) -> Self:
        self._mean = MeanCumulativeFunction().fit(y)
        self._groups, group = np.unique(self._curves(X), axis=0, return_inverse=True)
        n_events = np.bincount(group.ravel(), y.n_events)
        expected = np.bincount(group.ravel(), self._mean.predict(y.end))
        self._ratios = n_events / expected
        return self

    def predict_cumulative(self, X: FloatArray, times: FloatArray) -> FloatArray:
        rates = self._ratios[self._find_groups(X)]
        return np.multiply.outer(rates, self._mean.predict(times))

    def _find_groups(self, X: FloatArray) -> NDArray[np.intp]:
        """Return the training group of the nearest true curve: the same, if any has it."""
        distance = np.abs(self._curves(X)[:, None, :] - self._groups).sum(axis=2)
        return np.argmin(distance, axis=1)

    def _curves(self, X: FloatArray) -> Any:
        return self._truth(self._marks, X).round(9)


class TrueForm:
    """The true curves up to one common factor, which alone is estimated."""

    def __init__(self, simulation: Simulation) -> None:
        self._truth = simulation.truth

    def fit(self, X: FloatArray, y: RecurrentEvents) -> Self:
        ends, place = np.unique(y.end, return_inverse=True)
        if len(ends) * len(y) > 10_000_000:
            raise ValueError("The true form is for few different ends of follow-up.")
        expected = self._truth(ends, X)[np.arange(len(y)), place]
        self._factor = y.n_events.sum() / expected.sum()
        return self

    def predict_cumulative(self, X: FloatArray, times: FloatArray) -> FloatArray:
        return self._factor * self._truth(times, X)
