"""Mean numbers of events of individuals whose lives may end."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from boostr._engine.curves import REACH, UnitCurves
from boostr._typing import FloatArray, PositionArray
from boostr.basis import Clock

__all__ = ["SurvivingCurves", "mean_share", "sum_survived"]

_N_INSIDE = 128  # cells up to the horizon
_N_BEYOND = 64  # and from there to the reach


def mean_share(hazard: FloatArray) -> FloatArray:
    """Return the mean of ``exp(-h)`` while ``h`` rises evenly from 0."""
    tiny = hazard < 1e-8
    safe = np.where(tiny, 1.0, hazard)
    return np.asarray(np.where(tiny, 1.0 - 0.5 * hazard, -np.expm1(-safe) / safe))


def sum_survived(events: FloatArray, hazard: FloatArray) -> FloatArray:
    """Return the integral of ``exp(-H) dE`` at the grid points of curves, (n, m).

    Both rise evenly in proportion to each other between grid points.
    """
    alive = np.exp(-hazard[:, :-1]) * mean_share(np.diff(hazard, axis=1))
    total = np.zeros_like(events)
    np.cumsum(alive * np.diff(events, axis=1), axis=1, out=total[:, 1:])
    return total


class SurvivingCurves:
    """Curves ``M(t)``, the integrals of ``S(u-) dE(u)``, in the unit of time.

    ``E`` is the cumulative rate while there has been no terminal event, and ``S`` the
    chance of none. Integrals are summed over the cells of a fixed grid, so that the value
    at one time does not depend on the others asked for.
    """

    def __init__(
        self,
        curves: UnitCurves,
        clock: Clock,
        hazard: UnitCurves,
        hazard_clock: Clock,
        horizon: float,
    ) -> None:
        self._curves, self._clock = curves, clock
        self._hazard, self._hazard_clock = hazard, hazard_clock
        inside = np.linspace(0.0, horizon, _N_INSIDE + 1)
        beyond = np.geomspace(horizon, REACH * horizon, _N_BEYOND + 1)
        self._grid = np.concatenate([inside, beyond[1:]])

    def survival(self, times: FloatArray) -> FloatArray:
        """Return the chances of no terminal event up to common times, (n, m)."""
        return np.exp(-self._hazard.values(self._hazard_clock.read(times)))

    def values(self, times: FloatArray) -> FloatArray:
        """Return the curves at common times, (n, m)."""
        cell = self._find(times)
        return self._go_on(
            (slice(None), cell),
            self._curves.values(self._clock.read(times)),
            self._hazard.values(self._hazard_clock.read(times)),
        )

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at time ``times[k]``."""
        return self._go_on(
            (rows, self._find(times)),
            self._curves.values_at(rows, self._clock.read(times)),
            self._hazard.values_at(rows, self._hazard_clock.read(times)),
        )

    def _find(self, times: FloatArray) -> PositionArray:
        return np.maximum(np.searchsorted(self._grid, times, side="left") - 1, 0)

    def _go_on(self, place: Any, events: FloatArray, hazard: FloatArray) -> FloatArray:
        """Return the curves from those at the starts of cells."""
        begin, sum_before, hazard_before = (table[place] for table in self._tables)
        alive = np.exp(-hazard_before) * mean_share(np.maximum(hazard - hazard_before, 0.0))
        return np.asarray(sum_before + alive * (events - begin))

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Events, their survived sums and hazards at the grid points."""
        events = self._curves.values(self._clock.read(self._grid))
        hazard = self._hazard.values(self._hazard_clock.read(self._grid))
        return events, sum_survived(events, hazard), hazard
