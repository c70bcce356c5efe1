"""Cumulative curves of individuals: sums of terms, bent where they do not rise."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from boostr._kernels.curves import combine_terms, read_lines
from boostr._kernels.rates import bend_rates, project_monotone
from boostr._kernels.segments import join_pieces
from boostr._typing import AnyArray, BoolArray, FloatArray, PositionArray
from boostr.basis import Clock, FittedBasis
from boostr.basis.base import find_linear_term
from boostr.data.events.exposure import Exposure
from boostr.data.flat import owners_of

__all__ = [
    "REACH",
    "ExposedCurves",
    "MonotoneCurves",
    "PositiveCurves",
    "UnitCurves",
    "expose",
]

REACH = 100.0  # times the horizon: how far curves are continued before they stay constant
_N_EARLY = 64  # grid points close to zero
_N_INSIDE = 129  # evenly spaced grid points up to the horizon
_N_BEYOND = 129  # grid points from the horizon to the reach
_BLOCK = 8192  # curves that are looked at together, to bound the memory
_ROUNDING = 1e-12  # slopes down by less than this share of the terms' are rounding


@dataclass(frozen=True, slots=True, eq=False)
class _Projection:
    """Those curves that had to be bent, as straight lines between grid points."""

    rows: PositionArray  # (n_bent,) which curves
    grid: FloatArray  # (n_grid,)
    values: FloatArray  # (n_bent or more, n_grid)
    places: PositionArray  # (n,) of all curves in the values, -1 for the others

    @classmethod
    def of(
        cls, n: int, rows: PositionArray, grid: FloatArray, values: FloatArray
    ) -> _Projection:
        """Return the projection of some of ``n`` curves."""
        places = np.full(n, -1)
        places[rows] = np.arange(len(rows))
        return cls(rows, grid, values, places)

    def take(self, rows: PositionArray) -> _Projection:
        """Return the projection of some of the curves, which shares the values."""
        places = self.places[rows]
        return _Projection(np.flatnonzero(places >= 0), self.grid, self.values, places)

    @property
    def column(self) -> PositionArray:
        """Places of the bent curves, below each other."""
        return self.places[self.rows][:, None]

    def find(self, rows: PositionArray) -> tuple[PositionArray, PositionArray]:
        """Return which of ``rows`` are bent, and their places in the projection."""
        place = self.places[rows]
        bent = np.flatnonzero(place >= 0)
        return bent, place[bent]

    def read(self, place: AnyArray, times: FloatArray) -> FloatArray:
        """Return values for places and times, which are broadcast."""
        left = self._cell(times)
        share = (times - self.grid[left]) / (self.grid[left + 1] - self.grid[left])
        before = self.values[place, left]
        return before + share * (self.values[place, left + 1] - before)

    def read_each(self, rows: PositionArray, times: FloatArray, out: FloatArray) -> None:
        """Write the values of the bent ones of some curves, each at a time."""
        read_lines(self.values, self.grid, self.places, rows, times, out)

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

    def take(self, rows: PositionArray) -> MonotoneCurves:
        """Return some of the curves."""
        theta, horizon, reach = self._theta[rows], self._horizon, self._reach
        return MonotoneCurves(self._basis, theta, horizon, reach, self._monotone)

    def values(self, times: FloatArray) -> FloatArray:
        """Return the curves at clock times, (n, m)."""
        times = np.minimum(times, self._reach)
        result = _combine(self._theta, self._basis.evaluate(times))
        if not self._monotone:
            return result
        early = np.flatnonzero(times <= self._horizon)
        late = np.flatnonzero(times > self._horizon)
        inside = self._inside
        result[inside.rows[:, None], early] = inside.read(inside.column, times[early])
        if late.size:
            beyond = self._beyond
            result[beyond.rows[:, None], late] = beyond.read(beyond.column, times[late])
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
                slope = projection.slope(projection.column, times[columns])
                result[projection.rows[:, None], columns] = slope
        return result

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at clock time ``times[k]``."""
        times = np.minimum(times, self._reach)
        result = _combine_each(self._theta, rows, self._basis.evaluate(times))
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
        result = _combine_each(self._theta, rows, self._finite_rates(times))
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
        values = _combine(self._theta[rows], self._basis.evaluate(grid)).copy()
        project_monotone(values, np.diff(grid, append=grid[-1] + even[1]))
        return _Projection.of(len(self._theta), rows, grid, values)

    @cached_property
    def _beyond(self) -> _Projection:
        """Curves that fall after the horizon: the highest they have been since."""
        grid = np.geomspace(self._horizon, self._reach, _N_BEYOND)
        grid = np.union1d(grid, self._breaks(self._horizon, self._reach))
        rows = self._find_bent(grid)
        values = _combine(self._theta[rows], self._basis.evaluate(grid))
        values = np.maximum.accumulate(values, axis=1)
        return _Projection.of(len(self._theta), rows, grid, values)

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
        return _find_low(self._basis, self._theta, grid, self._reach, 0.0)

    def _finite_rates(self, times: FloatArray) -> FloatArray:
        return _finite_rates(self._basis, times, self._reach)


def _find_low(
    basis: FittedBasis, theta: FloatArray, grid: FloatArray, reach: float, least: float
) -> PositionArray:
    """Find the curves that rise by less than a rate between grid points, or at one."""
    steps = np.diff(basis.evaluate(grid), axis=0) / np.diff(grid)[:, None]
    rates = np.vstack([steps, _finite_rates(basis, grid[grid < reach], reach)])
    low, high = rates.min(axis=0), rates.max(axis=0)
    # A sum cannot be low if the sum of its terms' own worst rates is not.
    lowest = np.minimum(theta * low, theta * high).sum(axis=1)
    sizes = np.maximum(np.abs(low), np.abs(high))
    rounding = _ROUNDING * np.abs(theta) @ sizes
    if np.sum(high - low > _ROUNDING * sizes) <= 1:
        # Only one term changes in time: the sum is lowest where this term is.
        return np.flatnonzero(lowest < least - rounding)
    suspects = np.flatnonzero(lowest < least)
    found = []
    for begin in range(0, len(suspects), _BLOCK):
        block = suspects[begin : begin + _BLOCK]
        is_low = _combine(theta[block], rates) < least - rounding[block, None]
        found.append(block[np.any(is_low, axis=1)])
    return np.concatenate(found) if found else suspects


def _finite_rates(basis: FittedBasis, times: FloatArray, reach: float) -> FloatArray:
    """Return the terms' rates, 0 where infinite (at zero) or out of reach."""
    rates = basis.rates(times)
    is_known = np.isfinite(rates) & (times <= reach)[:, None]
    return np.where(is_known, rates, 0.0)


class PositiveCurves:
    """Curves ``theta . phi(s)`` on the clock of a basis, whose rates stay above zero.

    A rate is bent where it falls below the floor, see `bend_rate`, and the curve is its
    integral. Rates that change in time are taken as constant in the cells of a fixed grid
    then, so that the value at one time does not depend on the others asked for; curves that
    stay above the floor are not changed. All curves are constant from ``reach`` on.
    Where order between curves must be kept, all of them are put on the grid: bending rises
    with the rate, so that cells, and their sums, keep the order of the rates.
    """

    def __init__(
        self,
        basis: FittedBasis,
        theta: FloatArray,
        horizon: float,
        reach: float,
        floor: float,
        *,
        keeps_order: bool = False,
    ) -> None:
        self._basis = basis
        self._keeps_order = keeps_order
        self._theta, self._is_straight = _bend_constant(basis, theta, floor)
        self._horizon = horizon
        self._reach = reach
        self._floor = floor

    def take(self, rows: PositionArray) -> PositiveCurves:
        """Return some of the curves; what is bent need not be bent again."""
        some = copy.copy(self)
        some._theta, some._is_straight = self._theta[rows], self._is_straight[rows]
        some.__dict__["_bent"] = self._bent.take(rows)
        return some

    def values(self, times: FloatArray) -> FloatArray:
        """Return the curves at clock times, (n, m)."""
        times = np.minimum(times, self._reach)
        result = _combine(self._theta, self._basis.evaluate(times))
        bent = self._bend_for(times)
        if bent.rows.size:
            result[bent.rows] = bent.read(bent.column, times)
        return result

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return the derivatives of the curves on the clock, (n, m)."""
        rates = _finite_rates(self._basis, times, self._reach)
        result = _combine(self._theta, rates)
        bent = self._bend_for(times)
        if bent.rows.size:
            slopes = bent.slope(bent.column, times)
            result[bent.rows] = np.where(times <= self._reach, slopes, 0.0)
        return result

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at clock time ``times[k]``."""
        times = np.minimum(times, self._reach)
        result = _combine_each(self._theta, rows, self._basis.evaluate(times))
        self._bend_for(times).read_each(rows, times, result)
        return result

    def slopes_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the derivative of curve ``rows[k]`` at clock time ``times[k]``."""
        rates = _finite_rates(self._basis, times, self._reach)
        result = _combine_each(self._theta, rows, rates)
        bent = self._bend_for(times)
        found, place = bent.find(rows)
        slopes = bent.slope(place, times[found])
        result[found] = np.where(times[found] <= self._reach, slopes, 0.0)
        return result

    @cached_property
    def _grid(self) -> FloatArray:
        even = np.linspace(0.0, self._horizon, _N_INSIDE)
        early = np.geomspace(1e-12 * even[1], even[1], _N_EARLY)
        beyond = np.geomspace(self._horizon, self._reach, _N_BEYOND)
        breaks = self._basis.breaks
        breaks = breaks[(breaks > 0.0) & (breaks < self._reach)]
        return np.unique(np.concatenate([even, early, beyond, breaks]))

    @cached_property
    def _bent_rows(self) -> PositionArray:
        """Curves whose rate falls below the floor somewhere, but for straight lines."""
        rows = np.arange(len(self._theta))
        if not self._keeps_order:
            rows = _find_low(self._basis, self._theta, self._grid, self._reach, self._floor)
        return rows[~self._is_straight[rows]]

    def _bend_for(self, times: FloatArray) -> _Projection:
        """Return the bent curves; what lies beyond the horizon is bent once it is read."""
        is_late = times.max(initial=0.0) > self._horizon
        return self._bent if is_late or "_bent" in self.__dict__ else self._bent_inside

    @cached_property
    def _bent(self) -> _Projection:
        return self._bend(self._grid)

    @cached_property
    def _bent_inside(self) -> _Projection:
        return self._bend(self._grid[self._grid <= self._horizon])

    def _bend(self, grid: FloatArray) -> _Projection:
        """Return the bent curves on a grid."""
        rows, widths = self._bent_rows, np.diff(grid)
        steps = np.diff(_combine(self._theta[rows], self._basis.evaluate(grid)), axis=1)
        steps /= widths
        bend_rates(steps, self._floor)
        steps *= widths
        values = np.zeros((len(rows), len(grid)))
        np.cumsum(steps, axis=1, out=values[:, 1:])
        return _Projection.of(len(self._theta), rows, grid, values)


def _bend_constant(
    basis: FittedBasis, theta: FloatArray, floor: float
) -> tuple[FloatArray, BoolArray]:
    """Bend the coefficients of curves that are straight lines, and tell which are.

    They need no grid.
    """
    term = find_linear_term(basis)
    if term is None:
        return theta, np.zeros(len(theta), dtype=np.bool_)
    others = np.arange(theta.shape[1]) != term
    is_straight = ~np.any(theta[:, others], axis=1)
    rates = np.ascontiguousarray(theta[is_straight, term])
    bend_rates(rates, floor)
    bent = theta.copy()
    bent[is_straight, term] = rates
    return bent, is_straight


def _combine(theta: FloatArray, terms: FloatArray) -> FloatArray:
    """Return ``theta @ terms.T``, (n, m), columns after each other in memory."""
    out = np.zeros((len(terms), len(theta)))
    combine_terms(np.ascontiguousarray(theta.T), np.ascontiguousarray(terms), out)
    return out.T


def _combine_each(theta: FloatArray, rows: PositionArray, terms: FloatArray) -> FloatArray:
    """Return ``theta[rows[k]] . terms[k]``, (k,)."""
    return np.asarray(np.einsum("kt,kt->k", theta.take(rows, axis=0), terms))


class UnitCurves(Protocol):
    """Cumulative curves on a clock, per unit of exposure."""

    def values(self, times: FloatArray) -> FloatArray:
        """Return all curves at common times, (n, m)."""
        ...

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return their derivatives, (n, m)."""
        ...

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at ``times[k]``."""
        ...

    def slopes_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the derivative of curve ``rows[k]`` at ``times[k]``."""
        ...


C = TypeVar("C", bound=UnitCurves)


def expose(curves: C, exposure: Exposure | None, clock: Clock) -> C | ExposedCurves:
    """Return the curves of individuals from those of a unit; the same without exposure."""
    return curves if exposure is None else ExposedCurves(curves, exposure, clock)


class ExposedCurves:
    """Curves ``E(s)``, the integrals of ``e(s) dV(s)`` for curves ``V`` of a unit.

    In the piece that begins at ``s_k`` the exposure is constant, so that
    ``E(s) = E(s_k) + e_k (V(s) - V(s_k))``.
    """

    def __init__(self, curves: UnitCurves, exposure: Exposure, clock: Clock) -> None:
        self._curves = curves
        is_first = np.isneginf(exposure.begins)
        begins = clock.read(np.where(is_first, 0.0, exposure.begins))
        self._exposure = replace(exposure, begins=np.where(is_first, -np.inf, begins))

    def values(self, times: FloatArray) -> FloatArray:
        """Return the curves at clock times, (n, m)."""
        return self._shift(self._curves.values(times), *self._spread(times))

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return the derivatives of the curves on the clock, (n, m)."""
        piece = self._exposure.find(*self._spread(times))
        slopes = self._curves.slopes(times)
        return slopes * self._factors(piece).reshape(len(slopes), -1)

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at clock time ``times[k]``."""
        return self._shift(self._curves.values_at(rows, times), rows, times)

    def slopes_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the derivative of curve ``rows[k]`` at clock time ``times[k]``."""
        piece = self._exposure.find(rows, times)
        return self._curves.slopes_at(rows, times) * self._factors(piece)

    def _spread(self, times: FloatArray) -> tuple[PositionArray, FloatArray]:
        """Return every individual with all times."""
        n = len(self._exposure)
        return np.repeat(np.arange(n), len(times)), np.tile(times, n)

    def _factors(self, piece: PositionArray) -> FloatArray:
        return np.asarray(self._exposure.values[piece])

    def _shift(
        self, values: FloatArray, rows: PositionArray, times: FloatArray
    ) -> FloatArray:
        """Return the exposed curves where those of a unit have the given values."""
        piece = self._exposure.find(rows, times)
        exposed = self._factors(piece) * values.ravel()
        if not self._exposure.is_constant:
            exposed += self._offsets[piece]
        return np.asarray(exposed.reshape(values.shape))

    @cached_property
    def _offsets(self) -> FloatArray:
        """Return ``E(s_k) - e_k V(s_k)`` of all pieces."""
        exposure = self._exposure
        owner, begins = owners_of(exposure.offsets), np.maximum(exposure.begins, 0.0)
        offsets = np.empty(len(owner))
        starts = self._curves.values_at(owner, begins)
        join_pieces(exposure.values, starts, exposure.offsets, offsets)
        return offsets
