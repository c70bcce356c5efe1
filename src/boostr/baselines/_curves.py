"""Cumulative curves of individuals by baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from boostr._typing import AnyArray, BoolArray, FloatArray, PositionArray

__all__ = ["BrokenLines", "Curves", "Family", "MeanCurves", "PowerFamily"]

_BLOCK = 2_000_000  # numbers that are held at the same time


class Curves(Protocol):
    """Curves of ``n`` individuals and their slopes."""

    def values(self, times: FloatArray) -> FloatArray:
        """Return all curves at all times, (n, m)."""
        ...

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return all slopes at all times, (n, m)."""
        ...

    def values_at(self, rows: AnyArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at ``times[k]``."""
        ...

    def slopes_at(self, rows: AnyArray, times: FloatArray) -> FloatArray:
        """Return the slope of curve ``rows[k]`` at ``times[k]``."""
        ...


class Family(Protocol):
    """Numbered functions of time."""

    def read(self, which: AnyArray, times: FloatArray) -> FloatArray:
        """Return values of functions at times, which are broadcast."""
        ...

    def rate(self, which: AnyArray, times: FloatArray) -> FloatArray:
        """Return slopes of functions at times, which are broadcast."""
        ...


Reader = Callable[[AnyArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class MeanCurves:
    """The mean of some functions of a family, times a factor, per individual.

    A function number of -1 is left out of the mean; a mean of nothing is NaN.
    """

    family: Family
    which: AnyArray  # (n, n_functions)
    factor: FloatArray  # (n,)

    def values(self, times: FloatArray) -> FloatArray:
        """Return all curves at all times, (n, m)."""
        return self._cross(self.family.read, times)

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return all slopes at all times, (n, m)."""
        return self._cross(self.family.rate, times)

    def values_at(self, rows: AnyArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at ``times[k]``."""
        return self._pair(self.family.read, rows, times)

    def slopes_at(self, rows: AnyArray, times: FloatArray) -> FloatArray:
        """Return the slope of curve ``rows[k]`` at ``times[k]``."""
        return self._pair(self.family.rate, rows, times)

    def _cross(self, read: Reader, times: FloatArray) -> FloatArray:
        """Evaluate each function once, then average over those of each individual."""
        is_used: BoolArray = self.which >= 0
        used, place = np.unique(self.which, return_inverse=True)
        place = place.reshape(self.which.shape)
        has_gaps = bool(used.size) and used[0] < 0  # -1 is the first of the numbers
        out = np.zeros((len(self.which), times.size))
        step = max(1, _BLOCK // max(used.size, 1))
        for first in range(0, times.size, step):
            block = slice(first, first + step)
            table = read(np.maximum(used, 0)[:, None], times[None, block])
            if has_gaps:
                table = np.where(np.arange(used.size)[:, None] == 0, 0.0, table)
            for column in place.T:
                out[:, block] += table[column]
        return self._scale(out, is_used.sum(axis=1))

    def _pair(self, read: Reader, rows: AnyArray, times: FloatArray) -> FloatArray:
        out = np.empty(times.size)
        step = max(1, _BLOCK // max(self.which.shape[1], 1))
        for first in range(0, times.size, step):
            block = slice(first, first + step)
            which = self.which[rows[block]]
            found = read(np.maximum(which, 0), times[block, None])
            total = np.where(which >= 0, found, 0.0).sum(axis=1)
            count = (which >= 0).sum(axis=1)
            out[block] = np.divide(
                total, count, out=np.full(total.size, np.nan), where=count > 0
            )
        return np.asarray(out * self.factor[rows])

    def _scale(self, total: FloatArray, count: AnyArray) -> FloatArray:
        share = np.divide(
            self.factor, count, out=np.full(count.size, np.nan), where=count > 0
        )
        return np.asarray(total * share[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class BrokenLines:
    """Linear interpolation between values at common times; constant outside."""

    edges: FloatArray  # (m,) ascending
    heights: FloatArray  # (n, m)

    def values(self, times: FloatArray) -> FloatArray:
        """Return all curves at all times, (n, m)."""
        cell, share = self._place(times)
        before = self.heights[:, cell]
        return np.asarray(before + share * (self.heights[:, cell + 1] - before))

    def slopes(self, times: FloatArray) -> FloatArray:
        """Return all slopes at all times, (n, m)."""
        cell, _ = self._place(times)
        rise = self.heights[:, cell + 1] - self.heights[:, cell]
        return self._slope(rise, cell, times)

    def values_at(self, rows: AnyArray, times: FloatArray) -> FloatArray:
        """Return the value of curve ``rows[k]`` at ``times[k]``."""
        cell, share = self._place(times)
        before = self.heights[rows, cell]
        return np.asarray(before + share * (self.heights[rows, cell + 1] - before))

    def slopes_at(self, rows: AnyArray, times: FloatArray) -> FloatArray:
        """Return the slope of curve ``rows[k]`` at ``times[k]``."""
        cell, _ = self._place(times)
        rise = self.heights[rows, cell + 1] - self.heights[rows, cell]
        return self._slope(rise, cell, times)

    def _place(self, times: FloatArray) -> tuple[PositionArray, FloatArray]:
        cell = np.searchsorted(self.edges, times, side="left") - 1
        cell = np.clip(cell, 0, len(self.edges) - 2)
        share = (times - self.edges[cell]) / np.diff(self.edges)[cell]
        return cell, np.clip(share, 0.0, 1.0)

    def _slope(self, rise: FloatArray, cell: Any, times: FloatArray) -> FloatArray:
        is_inside = (times >= self.edges[0]) & (times <= self.edges[-1])
        return np.where(is_inside, rise / np.diff(self.edges)[cell], 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class PowerFamily:
    """Power laws ``scale * (t / unit) ** shape``."""

    scale: FloatArray  # (n_functions,)
    shape: FloatArray  # (n_functions,)
    unit: float

    def read(self, which: AnyArray, times: FloatArray) -> FloatArray:
        """Return values of functions at times, which are broadcast."""
        powers = (times / self.unit) ** self.shape[which]
        return np.asarray(self.scale[which] * powers)

    def rate(self, which: AnyArray, times: FloatArray) -> FloatArray:
        """Return slopes; those at zero, which may be infinite, just after it."""
        shape = self.shape[which]
        share = np.maximum(times / self.unit, 1e-9)
        return np.asarray(self.scale[which] * shape / self.unit * share ** (shape - 1.0))
