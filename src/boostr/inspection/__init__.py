"""What a fitted model has learned: effects of sensors, importances, maps of features."""

from boostr.inspection._coefficient_map import CoefficientMap, coefficient_map
from boostr.inspection._importance import SensorImportance, sensor_importance
from boostr.inspection._sensor_effect import SensorEffect, sensor_effect

__all__ = [
    "CoefficientMap",
    "SensorEffect",
    "SensorImportance",
    "coefficient_map",
    "sensor_effect",
    "sensor_importance",
]
