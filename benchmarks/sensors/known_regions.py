"""A bound: a model that knows which individuals are alike."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from boostr import RecurrentEvents, Trajectories
from boostr._engine.sensor_curves import PathCurves
from boostr._engine.statistics import compute_suffstats, put_on_clock, put_paths_on_clock
from boostr.basis import OperationalClock, SensorBasis
from boostr.simulate import Simulation

FloatArray = NDArray[np.float64]


class KnownRegions:
    """Least squares on the rate in each true region: a constant and splines of all sensors.

    The functions and the statistics are boostr's own, with default knots; nothing is drawn
    towards zero.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._truth = simulation.truth

    def fit(self, X: FloatArray, y: RecurrentEvents, Z: Trajectories) -> Self:
        self._clock = OperationalClock.from_events(y)
        self._horizon = float(self._clock.read(np.array([y.end.max()]))[0])
        clocked = put_on_clock(y, self._clock, Z)
        self._basis = SensorBasis().place(clocked, "intensity")
        stats = compute_suffstats(clocked, self._basis, "intensity")
        region = self._truth.region(X)
        rows, columns = np.tril_indices(stats.n_terms)
        self._theta = np.zeros((region.max() + 1, stats.n_terms))
        for number in np.unique(region):
            members = region == number
            gram = np.empty((stats.n_terms, stats.n_terms))
            gram[rows, columns] = stats.quadratic[members].sum(axis=0)
            gram[columns, rows] = gram[rows, columns]
            right = stats.linear[members].sum(axis=0)
            self._theta[number] = np.linalg.lstsq(gram, right, rcond=None)[0]
        return self

    def predict_cumulative(
        self, X: FloatArray, times: FloatArray, Z: Trajectories
    ) -> FloatArray:
        theta = self._theta[self._truth.region(X)]
        paths = put_paths_on_clock(Z, self._clock)
        reach = float(self._clock.read(np.array([times.max()]))[0])
        curves = PathCurves(self._basis, theta, paths, self._horizon, reach, True)
        return curves.values(self._clock.read(times))
