"""Cumulative curves of individuals, of which each has an exposure of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from boostr._kernels.exposure import join_pieces
from boostr._typing import FloatArray, PositionArray
from boostr.basis import Clock
from boostr.data._exposure import Exposure
from boostr.data._flat import owners_of

__all__ = ["ExposedCurves", "UnitCurves", "expose"]


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
