"""Results of inspection made by hand, so that no plot needs a fit."""

import numpy as np

from boostr.inspection import CoefficientMap, SensorEffect, SensorImportance


def make_effect(**changes):
    functions = np.array([[-1.0, 0.0, 1.0, 2.0]]).T
    facts = {
        "sensor": "torque",
        "grid": np.array([0.0, 1.0, 2.0, 3.0]),
        "mean": functions[:, 0],
        "lower": functions[:, 0] - 1.0,
        "upper": functions[:, 0] + 2.0,
        "shares": np.array([0.1, 0.4, 0.3, 0.2]),
        "coefficients": np.ones((5, 1)),
        "functions": functions,
        "is_categorical": False,
        "is_centred": True,
        "speed": 1.0,
        "time_unit": "D",
    }
    return SensorEffect(**(facts | changes))


def make_modes(**changes):
    grid = np.array(["idle", "run", "rush", "off"], dtype=object)
    return make_effect(sensor="mode", grid=grid, is_categorical=True, **changes)


def make_importance(**changes):
    facts = {
        "sensors": ("load", "torque", "noise"),
        "norms": np.array([0.2, 0.5, 0.0]),
        "zero_shares": np.array([0.3, 0.1, 1.0]),
        "losses": np.array([0.02, 0.08, -0.01]),
        "errors": np.array([0.01, 0.02, 0.01]),
        "measure": "held-out loss",
        "features": ("depth", "site"),
        "feature_importances": np.array([0.7, 0.3]),
        "time_unit": "h",
    }
    return SensorImportance(**(facts | changes))


def make_map(**changes):
    facts = {
        "feature_x": "longitude",
        "feature_y": "latitude",
        "x_grid": np.array([0.0, 1.0, 2.0]),
        "y_grid": np.array([5.0, 7.0]),
        "values": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]]),
        "kind": "norm",
        "sensor": "torque",
        "at": None,
        "horizon": 90.0,
        "time_unit": "D",
    }
    return CoefficientMap(**(facts | changes))
