"""Cumulative curves of individuals: sums of terms, made monotone where they are not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._kernels.isotonic import project_monotone
from boostr._typing import BoolArray, FloatArray, PositionArray
from boostr.basis import FittedBasis

__all__ = ["CurveLimits", "MonotoneCurves"]

_N_EARLY = 32  # grid points close to zero
_N_INSIDE = 129  # evenly spaced grid points up to the horizon
_N_BEYOND = 128  # grid points beyond it
_BLOCK = 8192  # curves that are projected at a time, to bound the memory


@dataclass(frozen=True, slots=True)
class CurveLimits:
    """Clock times that matter to curves."""

    horizon: float  # the end of the training data
    reach: float  # curves are constant from here on
    latest: float  # the last time that will be asked for


class MonotoneCurves:
    """Curves ``theta . phi(s)`` on the clock of a basis.

    A sum of leaf functions can decrease; a cumulative count cannot. Such curves are
    replaced by the nearest non-decreasing ones on a fixed grid, with straight lines between
    its points: fixed, so that the value at one time does not depend on the others asked
    for. Curves that are monotone as they are stay untouched. All are constant from
    ``reach`` on.
    """

    def __init__(
        self,
        basis: FittedBasis,
        theta: FloatArray,
        limits: CurveLimits,
        monotone: bool,
    ) -> None:
        self._basis = basis
        self._theta = theta
        self._reach = limits.reach
        even = np.linspace(0.0, limits.horizon, _N_INSIDE)
        early = np.geomspace(1e-6 * even[1], even[1], _N_EARLY, endpoint=False)
        inside = np.concatenate([even[:1], early, even[1:]])
        beyond = np.geomspace(limits.horizon, limits.reach, _N_BEYOND + 1)[1:]
        # Later points change nothing at earlier ones, so those nobody asks for are saved.
        n_asked = np.searchsorted(beyond, limits.latest) + 1
        has_later = limits.latest > limits.horizon
        self._grid = np.concatenate([inside, beyond[:n_asked]]) if has_later else inside
        self._pool_weights = np.diff(inside, append=inside[-1] + even[1])
        self._bent = np.flatnonzero(self._find_bent() & monotone)
        self._projected = self._project(self._bent)

    def values(self, times: FloatArray) -> FloatArray:
        """Return the curves at clock times, (n, m)."""
        times = np.minimum(times, self._reach)
        result = _combine(self._theta, self._basis.evaluate(times))
        if self._bent.size:
            left, share = self._locate(times)
            before = self._projected[:, left]
            result[self._bent] = before + share * (self._projected[:, left + 1] - before)
        return result

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return the derivatives of the curves on the clock, (n, m)."""
        result = _combine(self._theta, self._finite_rates(times))
        if self._bent.size:
            left, _ = self._locate(times)
            rise = self._projected[:, left + 1] - self._projected[:, left]
            result[self._bent] = rise / np.diff(self._grid)[left] * (times <= self._reach)
        return result

    def values_at(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at clock time ``times[k]``."""
        times = np.minimum(times, self._reach)
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
        result[bent] = rise / np.diff(self._grid)[left] * (times[bent] <= self._reach)
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
        """Return the terms' rates, 0 where infinite (at zero) or out of reach."""
        rates = self._basis.rates(times)
        is_known = np.isfinite(rates) & (times <= self._reach)[:, None]
        return np.where(is_known, rates, 0.0)

    def _find_bent(self) -> BoolArray:
        """Find the curves that decrease or fall below zero somewhere on the grid."""
        terms = self._basis.evaluate(self._grid)
        steps = np.diff(terms, axis=0, prepend=0.0)
        rates = steps[1:] / np.diff(self._grid)[:, None]
        # A sum cannot fall if the sum of its terms' own worst rates does not.
        worst = np.minimum(self._theta * rates.min(axis=0), self._theta * rates.max(axis=0))
        suspects = np.flatnonzero(worst.sum(axis=1) < 0.0)
        bent = np.zeros(len(self._theta), dtype=np.bool_)
        for begin in range(0, len(suspects), _BLOCK):
            block = suspects[begin : begin + _BLOCK]
            bent[block] = np.any(_combine(self._theta[block], steps) < 0.0, axis=1)
        return bent

    def _project(self, rows: PositionArray) -> FloatArray:
        curves = _combine(self._theta[rows], self._basis.evaluate(self._grid))
        project_monotone(curves, self._pool_weights)
        return curves

    def _locate(self, times: FloatArray) -> tuple[PositionArray, FloatArray]:
        """Return the grid cell of every time and how far into it the time lies."""
        left = np.searchsorted(self._grid, times, side="left") - 1
        left = np.clip(left, 0, len(self._grid) - 2)
        share = (times - self._grid[left]) / (self._grid[left + 1] - self._grid[left])
        return left, np.clip(share, 0.0, 1.0)


def _combine(theta: FloatArray, terms: FloatArray) -> FloatArray:
    """Return ``theta @ terms.T``, (n, m).

    Term by term, since there are few of them: a library for matrices would wake up threads
    for what is a handful of multiplications a number.
    """
    result = np.multiply.outer(theta[:, 0], terms[:, 0])
    for term in range(1, theta.shape[1]):
        result += np.multiply.outer(theta[:, term], terms[:, term])
    return np.asarray(result)
