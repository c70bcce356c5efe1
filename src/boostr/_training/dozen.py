"""A fit to a dozen individuals, which compiles kernels and leaves them on disk.

Run as a program, it reads settings from its input and fits trees of one leaf: this needs
nearly all kernels but those that search for splits, see :mod:`boostr._training.first_use`.
"""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np

from boostr._kernels.group_lasso import Groups
from boostr._kernels.scan_groups import Node, Ordered, look_ahead
from boostr._training.fit import fit_model
from boostr._training.run import Hooks
from boostr._training.settings import Settings
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, Trajectories

__all__ = ["draw_dozen"]

_N = 12


def draw_dozen(
    *, has_sensors: bool
) -> tuple[FloatArray, RecurrentEvents, Trajectories | None]:
    """Return features, events and sensors of a dozen individuals."""
    ids = [f"{place:02d}" for place in range(_N)]
    places = np.arange(float(_N))
    features = np.column_stack([places, places % 3.0])
    events = RecurrentEvents.from_lists([[1.0 + place] for place in places], 20.0, ids=ids)
    if not has_sensors:
        return features, events, None
    values = [[float(place % 5) for place in range(2 * _N)]]
    offsets = list(range(0, 2 * _N + 1, 2))
    sensors = Trajectories.from_flat([0.0, 9.0] * _N, offsets, values, ["sensor"], ids=ids)
    return features, events, sensors


def _compile_bounds() -> None:
    """Compile the bounds of thresholds, a third of the search with sensors."""
    none, one = np.empty(0, dtype=np.int32), np.zeros(1)
    feature = Ordered(np.zeros((2, 3)), none, np.empty(0, dtype=np.bool_), 1.0, True)
    groups = Groups(np.array([0, 1], dtype=np.int32), one, True)
    look_ahead(feature, Node(np.zeros(3), np.ones((1, 1)), groups, one))


def main() -> None:
    """Compile what another process, which sent the settings, does not."""
    settings, has_sensors = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process
    assert isinstance(settings, Settings)  # noqa: S101 - for type checkers
    if has_sensors:
        _compile_bounds()
    alone = replace(settings, n_estimators=1, n_jobs=1, verbose=0)
    fit_model(alone, *draw_dozen(has_sensors=has_sensors), None, Hooks())


if __name__ == "__main__":
    main()
