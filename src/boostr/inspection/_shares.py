"""Share of time that a sensor spends around each value."""

from __future__ import annotations

import numpy as np

from boostr._kernels.segments import measure_pieces
from boostr._typing import FloatArray
from boostr.basis import Sensor
from boostr.data import Trajectories

__all__ = ["path_shares", "training_shares"]


def training_shares(sensor: Sensor, grid: FloatArray) -> FloatArray | None:
    """Return the share of training time around each value of a grid.

    Cells reach halfway to the neighbours, the outer ones to infinity. None for a sensor
    without training data.
    """
    if sensor.shares.size == 0:
        return None
    if sensor.categories is not None:
        return np.asarray(sensor.shares[grid.astype(np.int64)])
    ends = np.linspace(sensor.low, sensor.high, len(sensor.shares) + 1)
    until = np.concatenate([[0.0], np.cumsum(sensor.shares)])
    return np.diff(np.interp(_middles(grid), ends, until), prepend=0.0, append=1.0)


def path_shares(
    sensors: Trajectories,
    place: int,
    grid: FloatArray,
    weights: FloatArray,
    horizon: float,
) -> FloatArray:
    """Return the share of time that sensors spend around each value of a grid.

    Time counts from 0 to the horizon where the sensor is known; last values hold. Codes
    of categories must match exactly.
    """
    n = len(sensors)
    time = np.empty(len(sensors.times))
    measure_pieces(
        sensors.begin_times(),
        sensors.offsets,
        np.zeros(n),
        np.full(n, horizon),
        np.arange(n + 1),
        time,
    )
    time *= np.repeat(weights, np.diff(sensors.offsets))
    values = sensors.values[place]
    known = ~np.isnan(values)
    values, time = values[known], time[known]
    total = max(time.sum(), np.finfo(np.float64).tiny)
    if sensors.categories[place] is not None:
        amounts = np.array([time[values == code].sum() for code in grid])
    else:
        cells = np.searchsorted(_middles(grid), values)
        amounts = np.bincount(cells, time, len(grid))
    return np.asarray(amounts / total)


def _middles(grid: FloatArray) -> FloatArray:
    return 0.5 * grid[:-1] + 0.5 * grid[1:]
