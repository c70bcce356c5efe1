"""Cumulative curves of individuals: sums of terms, made monotone where they are not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boostr._kernels.isotonic import project_monotone
from boostr._typing import AnyArray, FloatArray, PositionArray
from boostr.basis import FittedBasis

__all__ = ["REACH", "MonotoneCurves"]

REACH = 100.0  # times the horizon: how far curves are continued before they stay constant
_N_EARLY = 64  # grid points close to zero
_N_INSIDE = 129  # evenly spaced grid points up to the horizon
_N_BEYOND = 129  # grid points from the horizon to the reach
_BLOCK = 8192  # curves that are looked at together, to bound the memory
_ROUNDING = 1e-12  # slopes down by less than this share of the terms' are rounding


@dataclass(frozen=True, slots=True, eq=False)
class _Projection:
    """Those curves that had to be bent, as straight lines between grid points."""

    rows: PositionArray  # (n_bent,) which curves, ascending
    grid: FloatArray  # (n_grid,)
    values: FloatArray  # (n_bent, n_grid)

    def find(self, rows: PositionArray) -> tuple[PositionArray, PositionArray]:
        """Return which of ``rows`` are bent, and their places in the projection."""
        if not self.rows.size:
            return self.rows, self.rows
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        is_bent = self.rows[place] == rows
        return np.flatnonzero(is_bent), place[is_bent]

    def read(self, place: AnyArray, times: FloatArray) -> FloatArray:
        """Return values for places and times, which are broadcast."""
        left = self._cell(times)
        share = (times - self.grid[left]) / (self.grid[left + 1] - self.grid[left])
        before = self.values[place, left]
        return before + share * (self.values[place, left + 1] - before)

    def slope(self, place: AnyArray, times: FloatArray) -> FloatArray:
        """Return slopes for places and times, which are broadcast."""
        left = self._cell(times)
        rise = self.values[place, left + 1] - self.values[place, left]
        return rise / (self.grid[left + 1] - self.grid[left])

    def _cell(self, times: FloatArray) -> PositionArray:
        left = np.searchsorted(self.grid, times, side="left") - 1
        return np.clip(left, 0, len(self.grid) - 2)


class MonotoneCurves:
    """Curves ``theta . phi(s)`` on the clock of a basis.

    A sum of leaf functions can decrease; a cumulative count cannot. Curves that do so up to
    the horizon are replaced there by the nearest non-decreasing ones on a fixed grid; those
    that do so beyond it rise wherever they rise above all they have been since. Others stay
    as they are. The grid is fixed, so that the value at one time does not depend on the
    others asked for. All curves are constant from ``reach`` on.
    """

    def __init__(
        self,
        basis: FittedBasis,
        theta: FloatArray,
        horizon: float,
        reach: float,
        monotone: bool,
    ) -> None:
        self._basis = basis
        self._theta = theta
        self._horizon = horizon
        self._reach = reach
        self._monotone = monotone

    def values(self, times: FloatArray) -> FloatArray:
        """Return the curves at clock times, (n, m)."""
        times = np.minimum(times, self._reach)
        result = _combine(self._theta, self._basis.evaluate(times))
        if not self._monotone:
            return result
        early = np.flatnonzero(times <= self._horizon)
        late = np.flatnonzero(times > self._horizon)
        inside = self._inside
        place = np.arange(len(inside.rows))[:, None]
        result[inside.rows[:, None], early] = inside.read(place, times[early])
        if late.size:
            beyond = self._beyond
            place = np.arange(len(beyond.rows))[:, None]
            result[beyond.rows[:, None], late] = beyond.read(place, times[late])
            result[inside.rows[:, None], late] += self._lift[:, None]
        return result

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return the derivatives of the curves on the clock, (n, m)."""
        result = _combine(self._theta, self._finite_rates(times))
        if not self._monotone:
            return result
        early = np.flatnonzero(times <= self._horizon)
        late = np.flatnonzero((times > self._horizon) & (times <= self._reach))
        for projection, columns in ((self._inside, early), (self._beyond, late)):
            if columns.size and projection.rows.size:
                place = np.arange(len(projection.rows))[:, None]
                slope = projection.slope(place, times[columns])
                result[projection.rows[:, None], columns] = slope
        return result

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at clock time ``times[k]``."""
        times = np.minimum(times, self._reach)
        result = np.einsum("kt,kt->k", self._theta[rows], self._basis.evaluate(times))
        if not self._monotone:
            return result
        is_late = times > self._horizon
        bent, place = self._inside.find(rows)
        early = ~is_late[bent]
        result[bent[early]] = self._inside.read(place[early], times[bent[early]])
        if is_late.any():
            lifted, lifted_place = bent[~early], place[~early]
            bent, place = self._beyond.find(rows)
            late = is_late[bent]
            result[bent[late]] = self._beyond.read(place[late], times[bent[late]])
            result[lifted] += self._lift[lifted_place]
        return result

    def slopes_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the derivative of curve ``rows[k]`` at clock time ``times[k]``."""
        result = np.einsum("kt,kt->k", self._theta[rows], self._finite_rates(times))
        if not self._monotone:
            return result
        is_early = times <= self._horizon
        is_late = ~is_early & (times <= self._reach)
        for name, is_meant in (("_inside", is_early), ("_beyond", is_late)):
            if is_meant.any():
                projection: _Projection = getattr(self, name)
                bent, place = projection.find(rows)
                meant = is_meant[bent]
                slope = projection.slope(place[meant], times[bent[meant]])
                result[bent[meant]] = slope
        return result

    @cached_property
    def _inside(self) -> _Projection:
        """Curves that fall, or fall below zero, up to the horizon: the nearest ones."""
        even = np.linspace(0.0, self._horizon, _N_INSIDE)
        early = np.geomspace(1e-12 * even[1], even[1], _N_EARLY)
        grid = np.union1d(np.concatenate([even, early]), self._breaks(0.0, self._horizon))
        rows = self._find_bent(grid)
        values = _combine(self._theta[rows], self._basis.evaluate(grid))
        project_monotone(values, np.diff(grid, append=grid[-1] + even[1]))
        return _Projection(rows, grid, values)

    @cached_property
    def _beyond(self) -> _Projection:
        """Curves that fall after the horizon: the highest they have been since."""
        grid = np.geomspace(self._horizon, self._reach, _N_BEYOND)
        grid = np.union1d(grid, self._breaks(self._horizon, self._reach))
        rows = self._find_bent(grid)
        values = _combine(self._theta[rows], self._basis.evaluate(grid))
        return _Projection(rows, grid, np.maximum.accumulate(values, axis=1))

    @cached_property
    def _lift(self) -> FloatArray:
        """How much the projection has moved the curves of `_inside` at the horizon."""
        end = self._basis.evaluate(np.array([self._horizon]))
        return (
            self._inside.values[:, -1] - _combine(self._theta[self._inside.rows], end)[:, 0]
        )

    def _breaks(self, start: float, stop: float) -> FloatArray:
        breaks = self._basis.breaks
        return breaks[(breaks > start) & (breaks < stop)]

    def _find_bent(self, grid: FloatArray) -> PositionArray:
        """Find the curves that decrease from one grid point to the next, or at one."""
        steps = np.diff(self._basis.evaluate(grid), axis=0) / np.diff(grid)[:, None]
        rates = np.vstack([steps, self._finite_rates(grid)])
        low, high = rates.min(axis=0), rates.max(axis=0)
        # A sum cannot fall if the sum of its terms' own worst rates does not.
        worst = np.minimum(self._theta * low, self._theta * high)
        suspects = np.flatnonzero(worst.sum(axis=1) < 0.0)
        found = []
        for begin in range(0, len(suspects), _BLOCK):
            block = suspects[begin : begin + _BLOCK]
            theta = self._theta[block]
            rounding = _ROUNDING * np.abs(theta) @ np.maximum(np.abs(low), np.abs(high))
            found.append(block[np.any(_combine(theta, rates) < -rounding[:, None], axis=1)])
        return np.concatenate(found) if found else suspects

    def _finite_rates(self, times: FloatArray) -> FloatArray:
        """Return the terms' rates, 0 where infinite (at zero) or out of reach."""
        rates = self._basis.rates(times)
        is_known = np.isfinite(rates) & (times <= self._reach)[:, None]
        return np.where(is_known, rates, 0.0)


def _combine(theta: FloatArray, terms: FloatArray) -> FloatArray:
    """Return ``theta @ terms.T``, (n, m).

    Term by term, since there are few of them: a library for matrices would wake up threads
    for what is a handful of multiplications a number.
    """
    result = np.multiply.outer(theta[:, 0], terms[:, 0])
    for term in range(1, theta.shape[1]):
        result += np.multiply.outer(theta[:, term], terms[:, term])
    return np.asarray(result)
