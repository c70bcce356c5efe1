"""Sensors and labels of the individuals to be inspected."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._typing import AnyArray
from boostr.data import Trajectories
from boostr.exceptions import InvalidSensorsError
from boostr.inspection._model import FittedModel, sensor_basis

__all__ = ["find_ids", "read_sensors"]


def read_sensors(
    model: FittedModel, given: Trajectories | None, asker: str
) -> Trajectories | None:
    """Return sensors as in training; required if the model was trained with some."""
    if model.sensor_layout_ is None:
        if given is not None:
            sensor_basis(model)  # says that the model has no sensors
        return None
    if given is None:
        raise InvalidSensorsError(
            "The model was fitted with sensors and needs them, but `Z` is missing.\n\n"
            f"Hint: {asker}(…, Z=Z)."
        )
    return model.sensor_layout_.apply(given)


def find_ids(table: Any, sensors: Trajectories | None, n: int) -> AnyArray:
    """Return the labels of individuals: an index, ids of the sensors, or positions."""
    if hasattr(table, "index") and hasattr(table.index, "to_numpy"):
        return np.asarray(table.index.to_numpy())
    if sensors is not None and sensors.has_ids:
        return sensors.ids
    return np.arange(n)
