"""What is left of the input of `fit` after all checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import BoolArray, FloatArray
from boostr._validation import check_ids_match, check_weights
from boostr.data import RecurrentEvents, Trajectories
from boostr.estimators._checks import check_rows
from boostr.estimators._features import FeatureEncoder

__all__ = ["TrainingData", "check_training_data"]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    """Individuals of positive weight, and who they are among all."""

    features: FloatArray  # (n_used, p)
    events: RecurrentEvents
    weights: FloatArray  # (n_used,)
    sensors: Trajectories | None  # of the same individuals
    is_used: BoolArray  # (n,)

    @property
    def uneven_weights(self) -> FloatArray | None:
        """The weights, unless all are 1."""
        return None if bool(np.all(self.weights == 1.0)) else self.weights


def check_training_data(
    table: Any,
    encoder: FeatureEncoder,
    y: object,
    sensors: Trajectories | None,
    sample_weight: ArrayLike | None,
) -> TrainingData:
    """Check that features, events and weights fit together; leave out weight zero."""
    features = encoder.transform(table)
    events = check_rows(y, len(features))
    check_ids_match(table, events)
    weights = check_weights(sample_weight, len(events))
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
