"""Cumulative curves of individuals: sums of terms, made monotone where they are not."""

from __future__ import annotations

import numpy as np

from boostr._kernels.isotonic import project_monotone
from boostr._typing import BoolArray, FloatArray, PositionArray
from boostr.basis import FittedBasis

__all__ = ["MonotoneCurves"]

_N_INSIDE = 129  # grid points up to the horizon
_N_BEYOND = 64  # grid points beyond it
_REACH = 1000.0  # how many horizons the grid extends
_BLOCK = 8192  # curves that are projected at a time, to bound the memory


class MonotoneCurves:
    """Curves ``theta . phi(s)`` on the clock of a basis.

    A sum of leaf functions can decrease; a cumulative count cannot. Such curves are
    replaced by the nearest non-decreasing ones on a fixed grid, with straight lines between
    its points: fixed, so that the value at one time does not depend on the others asked
    for. Curves that are monotone as they are stay untouched.
    """

    def __init__(
        self, basis: FittedBasis, theta: FloatArray, horizon: float, monotone: bool
    ) -> None:
        self._basis = basis
        self._theta = theta
        inside = np.linspace(0.0, horizon, _N_INSIDE)
        beyond = np.geomspace(horizon, _REACH * horizon, _N_BEYOND + 1)[1:]
        self._grid = np.concatenate([inside, beyond])
        self._bent = np.flatnonzero(self._find_bent() & monotone)
        self._projected = self._project(self._bent)

    def values(self, times: FloatArray) -> FloatArray:
        """Return the curves at clock times, (n, m)."""
        result = self._theta @ self._basis.evaluate(times).T
        if self._bent.size:
            left, share = self._locate(times)
            before = self._projected[:, left]
            result[self._bent] = before + share * (self._projected[:, left + 1] - before)
        return result

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return the derivatives of the curves on the clock, (n, m)."""
        result = self._theta @ self._finite_rates(times).T
        if self._bent.size:
            left, _ = self._locate(times)
            rise = self._projected[:, left + 1] - self._projected[:, left]
            result[self._bent] = rise / np.diff(self._grid)[left]
        return result

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at clock time ``times[k]``."""
        result = np.einsum("kt,kt->k", self._theta[rows], self._basis.evaluate(times))
        bent, place = self._find_bent_rows(rows)
        left, share = self._locate(times[bent])
        before = self._projected[place, left]
        result[bent] = before + share * (self._projected[place, left + 1] - before)
        return np.asarray(result)

    def slopes_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the derivative of curve ``rows[k]`` at clock time ``times[k]``."""
        result = np.einsum("kt,kt->k", self._theta[rows], self._finite_rates(times))
        bent, place = self._find_bent_rows(rows)
        left, _ = self._locate(times[bent])
        rise = self._projected[place, left + 1] - self._projected[place, left]
        result[bent] = rise / np.diff(self._grid)[left]
        return np.asarray(result)

    def _find_bent_rows(self, rows: PositionArray) -> tuple[PositionArray, PositionArray]:
        """Return which of ``rows`` are bent, and where their projections stand."""
        place = np.searchsorted(self._bent, rows)
        place = np.minimum(place, max(len(self._bent) - 1, 0))
        if not self._bent.size:
            return self._bent, self._bent
        is_bent = self._bent[place] == rows
        return np.flatnonzero(is_bent), place[is_bent]

    def _finite_rates(self, times: FloatArray) -> FloatArray:
        """Return the terms' rates, 0 where they have no bound (s**e at zero, e < 1)."""
        rates = self._basis.rates(times)
        return np.where(np.isfinite(rates), rates, 0.0)

    def _find_bent(self) -> BoolArray:
        """Find the curves that decrease or fall below zero somewhere."""
        suspects = np.any(self._theta < 0.0, axis=1) | (not self._basis.is_increasing)
        bent = np.zeros(len(self._theta), dtype=np.bool_)
        rows = np.flatnonzero(suspects)
        terms = self._basis.evaluate(self._grid).T
        for begin in range(0, len(rows), _BLOCK):
            block = rows[begin : begin + _BLOCK]
            steps = np.diff(self._theta[block] @ terms, axis=1, prepend=0.0)
            bent[block] = np.any(steps < 0.0, axis=1)
        return bent

    def _project(self, rows: PositionArray) -> FloatArray:
        curves = self._theta[rows] @ self._basis.evaluate(self._grid).T
        project_monotone(curves, _N_INSIDE)
        return curves

    def _locate(self, times: FloatArray) -> tuple[PositionArray, FloatArray]:
        """Return the grid cell of every time and how far into it the time lies."""
        left = np.searchsorted(self._grid, times, side="left") - 1
        left = np.clip(left, 0, len(self._grid) - 2)
        share = (times - self._grid[left]) / (self._grid[left + 1] - self._grid[left])
        return left, np.clip(share, 0.0, 1.0)
