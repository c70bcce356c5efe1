"""What drives the events of a fleet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.inspection import Explanation
from boostr.inspection._model import unused_features, unused_sensors
from boostr.report._fleet import Fleet, thin
from boostr.report._individuals import read_values

__all__ = ["Drivers", "Swarm"]

_MOST_ROWS = 12
_MOST_POINTS = 300  # individuals


@dataclass(frozen=True, slots=True, eq=False)
class Swarm:
    """What the largest reasons add for some individuals, and the values behind them."""

    names: tuple[str, ...]
    amounts: FloatArray  # (n, k)
    ranks: FloatArray  # (n, k) of the values among all, in [0, 1]; NaN where none
    n_individuals: int  # of whom these are some


@dataclass(frozen=True, slots=True, eq=False)
class Drivers:
    """How much reasons matter to this fleet, and to the model as it was trained."""

    reasons: tuple[str, ...]  # from the largest on
    sizes: FloatArray  # mean absolute amounts
    n_others: int  # reasons that are not listed
    swarm: Swarm
    features: tuple[str, ...]  # from the most important on
    importances: FloatArray  # shares of the gain of all splits
    sensors: dict[str, tuple[float, float]]  # rise of the held-out loss without, and error
    unused: tuple[tuple[str, ...], tuple[str, ...]]  # features and sensors

    @classmethod
    def of(cls, model: Any, explanation: Explanation, fleet: Fleet) -> Drivers:
        """Sum up the reasons of all individuals."""
        sizes = explanation.mean_sizes()
        order = np.argsort(-sizes, kind="stable")
        order = order[sizes[order] > 0.0]
        top = order[:_MOST_ROWS]
        gain = model.feature_importances_
        best = np.argsort(-gain, kind="stable")[:_MOST_ROWS]
        best = best[gain[best] > 0.0]
        some = thin(len(fleet), _MOST_POINTS)
        ranks = np.empty((len(fleet), len(top)))
        for column, place in enumerate(top):
            ranks[:, column] = _rank(explanation, fleet, int(place))
        return cls(
            reasons=tuple(explanation.reasons[k] for k in top),
            sizes=sizes[top],
            n_others=len(order) - len(top),
            swarm=Swarm(
                tuple(explanation.reasons[k] for k in top),
                explanation.amounts[some][:, top],
                ranks[some],
                len(fleet),
            ),
            features=tuple(model.encoder_.names[k] for k in best),
            importances=gain[best],
            sensors=dict(model.sensor_usefulness_ or {}),
            unused=(unused_features(model), unused_sensors(model)),
        )


def _rank(explanation: Explanation, fleet: Fleet, place: int) -> FloatArray:
    """Return ranks in [0, 1] of a feature or of a sensor's last value, NaN for others."""
    ranks = np.full(len(fleet), np.nan)
    sensors = () if fleet.sensors is None else fleet.sensors.categories
    known = (*explanation.categories, *sensors)
    if place >= len(known) or known[place] is not None:
        return ranks
    values = read_values(fleet)[:, place]
    is_known = ~np.isnan(values)
    if is_known.any():
        inverse = np.unique(values[is_known], return_inverse=True)[1]
        ranks[is_known] = inverse / max(int(inverse.max()), 1)
    return ranks
