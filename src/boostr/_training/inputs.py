"""Checked training data, and checks of what is passed to `fit` and `predict`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import (
    check_ids_match,
    check_weights,
)
from boostr._training.features import FeatureEncoder
from boostr._typing import BoolArray, FloatArray, PositionArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.features import check_rows

__all__ = ["TrainingData", "check_training_data", "find_step", "spread_rows"]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    """Individuals of positive weight; ``is_used`` marks them among all."""

    features: FloatArray  # (n_used, p)
    events: RecurrentEvents
    weights: FloatArray  # (n_used,)
    sensors: Trajectories | None  # of the same individuals
    is_used: BoolArray  # (n,)

    def __len__(self) -> int:
        return len(self.events)

    def take(self, rows: PositionArray) -> TrainingData:
        """Return some of the individuals, marked among all."""
        if np.array_equal(rows, np.arange(len(self))):
            return self
        is_used = np.zeros(len(self.is_used), dtype=np.bool_)
        is_used[np.flatnonzero(self.is_used)[rows]] = True
        return TrainingData(
            self.features[rows],
            self.events[rows],
            self.weights[rows],
            None if self.sensors is None else self.sensors[rows],
            is_used,
        )

    def sample(self, n_most: int) -> TrainingData:
        """Return an evenly spaced subsample of about `n_most` individuals."""
        return self.every(max(1, len(self) // n_most))

    def every(self, step: int) -> TrainingData:
        """Return the first individual and every ``step``-th after it."""
        if step == 1:
            return self
        without_features = replace(self, features=self.features[:, :0])
        some = without_features.take(np.arange(0, len(self), step))
        return replace(some, features=self.features[::step])  # these are not copied

    def spread(self, rows: FloatArray | None) -> FloatArray | None:
        """Return rows of the used individuals among all, NaN for the others."""
        return spread_rows(rows, self.is_used)

    @property
    def uneven_weights(self) -> FloatArray | None:
        """The weights, unless all are 1."""
        return None if bool(np.all(self.weights == 1.0)) else self.weights


def find_step(n: int, n_most: int, n_values: int, most_values: int) -> int:
    """Return the step of an evenly spaced subsample of about ``n_most`` individuals.

    It doubles until the subsample has at most ``most_values`` of all ``n_values``.
    """
    step = max(1, n // n_most)
    while n_values > most_values * step:
        step *= 2
    return step


def spread_rows(rows: FloatArray | None, is_used: BoolArray) -> FloatArray | None:
    """Return rows of the used individuals among all, NaN for the others."""
    if rows is None:
        return None
    spread = np.full((len(is_used), rows.shape[1]), np.nan)
    spread[is_used] = rows
    return spread


def check_training_data(
    table: Any,
    encoder: FeatureEncoder,
    y: object,
    sensors: Trajectories | None,
    sample_weight: ArrayLike | None,
) -> TrainingData:
    """Check features, events and weights against each other; drop weights of zero."""
    features = encoder.transform(table)
    events = check_rows(y, len(features))
    check_ids_match(table, events)
    weights = check_weights(sample_weight, events)
    is_used = weights > 0.0
    if is_used.all():
        return TrainingData(features, events, weights, sensors, is_used)
    return TrainingData(
        features[is_used],
        events[is_used],
        weights[is_used],
        None if sensors is None else sensors[is_used],
        is_used,
    )
