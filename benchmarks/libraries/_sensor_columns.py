"""Sensors as columns of a table: their means over spells of time."""

from __future__ import annotations

import numpy as np

from benchmarks.libraries._tuning import FloatArray
from boostr import Trajectories

CELL_LENGTH = 2.0  # days; sensors are nearly constant in a cell


def attach(X: FloatArray, sensors: FloatArray) -> FloatArray:
    """Repeat every row of features for its cells, with the sensors of each cell."""
    _, n_cells, n_sensors = sensors.shape
    repeated = np.repeat(X, n_cells, axis=0)
    return np.column_stack([repeated, sensors.reshape(-1, n_sensors)])


def mean_between(Z: Trajectories, begins: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the means of the sensors over spells, (n, m, n_sensors) for (n, m) spells.

    A spell of no length has 0. Sensors must be known from time 0 on.
    """
    lengths = (ends - begins)[:, :, None]
    totals = _integrate(Z, ends) - _integrate(Z, begins)
    return np.divide(totals, lengths, out=np.zeros_like(totals), where=lengths > 0.0)


def _integrate(Z: Trajectories, times: FloatArray) -> FloatArray:
    """Return the integrals of the sensors from 0 to every individual's times."""
    out = np.empty((*times.shape, len(Z.names)))
    for individual, wanted in enumerate(times):
        pieces = slice(*Z.offsets[individual : individual + 2])
        begins, values = Z.times[pieces], Z.values[:, pieces]
        areas = values[:, :-1] * np.diff(begins)
        before = np.hstack([np.zeros((len(values), 1)), np.cumsum(areas, axis=1)])
        piece = np.maximum(np.searchsorted(begins, wanted, side="left") - 1, 0)
        elapsed = wanted - begins[piece]
        out[individual] = (before[:, piece] + values[:, piece] * elapsed).T
    return out
