"""Cumulative curves of individuals along the paths of their sensors."""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np

from boostr._kernels.atoms import accumulate_atoms
from boostr._kernels.path_curves import (
    add_sensor_rates,
    read_path_curves,
    read_path_slopes,
)
from boostr._kernels.rates import bend_rates
from boostr._typing import FloatArray, OffsetArray, PositionArray
from boostr.basis import ClockedPaths, FittedSensorBasis

__all__ = ["PathCurves"]

_N_CELLS = 128  # up to the horizon, in which a baseline that bends is taken as straight


class PathCurves:
    """Curves ``theta . A(s)`` where A accumulates what the sensors have shown.

    The rate of a sum of leaf functions can fall below zero; the rate of events cannot. It
    is bent where it falls below the floor, see `bend_rate`. Values at a time depend only on
    the path up to it. All curves are constant from ``reach`` on.
    """

    def __init__(
        self,
        basis: FittedSensorBasis,
        theta: FloatArray,
        paths: ClockedPaths,
        horizon: float,
        reach: float,
        floor: float,
    ) -> None:
        self._basis = basis
        self._theta = theta
        self._paths = paths
        self._horizon = horizon
        self._reach = reach
        self._floor = floor

    def with_floor(self, floor: float) -> PathCurves:
        """Return the curves with another floor; what sensors add is not summed anew."""
        other = copy.copy(self)
        other.__dict__["_rates"] = self._rates
        other._floor = floor
        return other

    def values(self, times: FloatArray) -> FloatArray:
        """Return the curves at clock times, (n, m)."""
        order = np.argsort(times, kind="stable")
        sorted_times = np.minimum(times, self._reach)[order]
        offsets = np.arange(len(self._theta) + 1) * len(times)
        flat = self._read(np.tile(sorted_times, len(self._theta)), offsets)
        return _unsort(flat.reshape(-1, len(times)), order)

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return the derivatives of the curves on the clock, (n, m)."""
        order = np.argsort(times, kind="stable")
        sorted_times = times[order]
        offsets = np.arange(len(self._theta) + 1) * len(times)
        rows = np.repeat(np.arange(len(self._theta)), len(times))
        flat = self._slope(rows, np.tile(sorted_times, len(self._theta)), offsets)
        return _unsort(flat.reshape(-1, len(times)), order)

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at clock time ``times[k]``."""
        order, offsets = self._order(rows, times)
        result = np.empty(len(times))
        result[order] = self._read(np.minimum(times, self._reach)[order], offsets)
        return result

    def slopes_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the derivative of curve ``rows[k]`` at clock time ``times[k]``."""
        order, offsets = self._order(rows, times)
        result = np.empty(len(times))
        result[order] = self._slope(rows[order], times[order], offsets)
        return result

    def accumulate(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the integrals of the sensors' functions along paths, (k, n_functions).

        Entry k is of path ``rows[k]`` from zero to clock time ``times[k]``; coefficients
        have no say in it.
        """
        order, offsets = self._order(rows, times)
        atoms, paths = self._basis.atoms, self._paths
        integrals = np.empty((len(times), len(atoms.unknown)))
        sorted_times = np.minimum(times, self._reach)[order]
        accumulate_atoms(
            len(self._theta),
            paths.begins,
            paths.values,
            paths.offsets,
            atoms,
            sorted_times,
            offsets,
            integrals,
        )
        unsorted = np.empty_like(integrals)
        unsorted[order] = integrals
        return self._basis.combine_atoms(unsorted)

    @cached_property
    def _rates(self) -> tuple[FloatArray, FloatArray]:
        """What the sensors add to the rate in every piece, and before the first ones."""
        rates = np.empty(len(self._paths.begins))
        unknown = np.empty(len(self._theta))
        add_sensor_rates(
            len(self._theta),
            self._paths.values,
            self._paths.offsets,
            self._basis.atoms,
            self._basis.atom_weights(self._theta),
            rates,
            unknown,
        )
        return rates, unknown

    @cached_property
    def _grid(self) -> FloatArray:
        """Cells of curves whose baseline bends; a constant rate needs none."""
        if self._basis.has_constant_rate:
            return np.zeros(1)
        even = np.linspace(0.0, self._horizon, _N_CELLS + 1)
        beyond = np.geomspace(self._horizon, self._reach, _N_CELLS + 1)[1:]
        breaks = self._basis.breaks
        inside = breaks[(breaks > 0.0) & (breaks < self._reach)]
        return np.unique(np.concatenate([even, beyond, inside]))

    def _read(self, times: FloatArray, offsets: OffsetArray) -> FloatArray:
        rates, unknown = self._rates
        out = np.empty(len(times))
        read_path_curves(
            len(self._theta),
            self._paths.begins,
            rates,
            unknown,
            self._paths.offsets,
            self._baseline_theta,
            self._basis.evaluate_baseline(np.maximum(self._paths.begins, 0.0)),
            self._grid,
            self._basis.evaluate_baseline(self._grid),
            times,
            self._basis.evaluate_baseline(times),
            offsets,
            self._floor,
            out,
        )
        return out

    def _slope(
        self, rows: PositionArray, times: FloatArray, offsets: OffsetArray
    ) -> FloatArray:
        rates, unknown = self._rates
        terms = self._basis.baseline_rates(times)
        out = np.einsum("kt,kt->k", self._baseline_theta[rows], terms)
        read_path_slopes(
            len(self._theta),
            self._paths.begins,
            rates,
            unknown,
            self._paths.offsets,
            times,
            offsets,
            out,
        )
        bend_rates(out, self._floor)
        out[times > self._reach] = 0.0
        return out

    @property
    def _baseline_theta(self) -> FloatArray:
        return np.ascontiguousarray(self._theta[:, : self._basis.n_baseline])

    def _order(
        self, rows: PositionArray, times: FloatArray
    ) -> tuple[PositionArray, OffsetArray]:
        counts = np.bincount(rows, minlength=len(self._theta))
        return np.lexsort((times, rows)), np.concatenate([[0], np.cumsum(counts)])


def _unsort(values: FloatArray, order: PositionArray) -> FloatArray:
    """Put columns that are in sorted order back to where they were asked for."""
    result = np.empty_like(values)
    result[:, order] = values
    return result
