"""Basis functions of a model accumulated over time, the factors of its coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._engine.ensemble import Ensemble
from boostr._engine.exposed_curves import UnitCurves as Curves
from boostr._engine.exposed_curves import expose
from boostr._engine.path_curves import PathCurves
from boostr._typing import FloatArray, PositionArray
from boostr._validation import as_times, check_window_order, spread_times
from boostr.basis import Clock, FittedSensorBasis
from boostr.data import Trajectories
from boostr.data._exposure import Exposure
from boostr.exceptions import InvalidParameterError

__all__ = ["Asked", "accumulate_alike", "accumulate_own", "ask"]


# Values of individuals at times of the clock.
Read = Callable[[PositionArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Times of the wanted counts: common to all, or one window per individual."""

    times: FloatArray | None  # (m,)
    start: FloatArray | None = None  # (n,)
    stop: FloatArray | None = None  # (n,)
    exposure: Exposure | None = None  # of all individuals, None for 1 each

    def part(self, block: slice) -> Asked:
        """Return the same for some individuals."""
        exposure = None if self.exposure is None else self.exposure[block]
        if self.start is None or self.stop is None:
            return replace(self, exposure=exposure)
        return Asked(None, self.start[block], self.stop[block], exposure)

    def read(self, curves: Curves, clock: Clock) -> FloatArray:
        """Return the counts of individuals, each with its curve, (n, m)."""
        curves = expose(curves, self.exposure, clock)
        if self.start is None or self.stop is None:
            return curves.values(clock.read(self._times))
        rows = np.arange(len(self.start))
        before = curves.values_at(rows, clock.read(self.start))
        return (curves.values_at(rows, clock.read(self.stop)) - before)[:, None]

    def read_one(self, curve: Curves, clock: Clock) -> FloatArray:
        """Return the counts of one common curve: (1, m), or (n, 1) for windows.

        With exposures always (n, m).
        """
        if self.exposure is not None:
            return self._read_exposed(curve, clock, self.exposure)
        if self.start is None or self.stop is None:
            return curve.values(clock.read(self._times))
        rows = np.zeros(len(self.start), dtype=np.intp)
        before = curve.values_at(rows, clock.read(self.start))
        return (curve.values_at(rows, clock.read(self.stop)) - before)[:, None]

    def _read_exposed(self, curve: Curves, clock: Clock, exposure: Exposure) -> FloatArray:
        """Return the counts of one common curve with exposures, (n, m)."""

        def read(rows: PositionArray, times: FloatArray) -> FloatArray:
            return curve.values_at(np.zeros_like(rows), times)[:, None]

        return self.sum_exposed(read, clock, exposure)[:, :, 0]

    def sum_exposed(self, read: Read, clock: Clock, exposure: Exposure) -> FloatArray:
        """Return the rises of curves weighted by exposures, (n, m, k).

        ``read`` gives the values of individuals at times of the clock, (q, k).
        """
        n = len(exposure)
        ends = self.spread(n)
        if self.times is None:
            owner, start, stop = np.arange(n), ends[:, 0], ends[:, 1]
        else:
            owner, stop = np.repeat(np.arange(n), ends.shape[1]), ends.ravel()
            start = np.zeros_like(stop)
        parts = exposure.cut(owner, start, stop)
        rises = read(parts.owner, clock.read(parts.stop))
        rises = rises - read(parts.owner, clock.read(parts.start))
        sums = np.zeros((len(owner), rises.shape[1]))
        np.add.at(sums, parts.window, parts.factor[:, None] * rises)
        return sums.reshape(n, -1, rises.shape[1])

    def spread(self, n: int) -> FloatArray:
        """Return the times of every individual, (n, m), or its window, (n, 2)."""
        if self.start is None or self.stop is None:
            return np.broadcast_to(self._times, (n, len(self._times)))
        return np.column_stack([self.start, self.stop])

    @property
    def _times(self) -> FloatArray:
        assert self.times is not None  # noqa: S101 - there is no window
        return self.times


def ask(
    horizon: ArrayLike | None,
    start: ArrayLike | None,
    stop: ArrayLike | None,
    n: int,
    default: float,
) -> Asked:
    """Return the checked times: a horizon, several, or a window."""
    if start is None and stop is None:
        return Asked(_check_times(default if horizon is None else horizon, "horizon"))
    if horizon is not None or stop is None:
        raise InvalidParameterError(
            "Counts are either by a horizon or in a window, but `horizon` and `start` are "
            "both given, or `stop` is not.\n\n"
            "Hint: horizon=90 counts in (0, 90]; start=30, stop=90 in (30, 90]."
        )
    starts = spread_times(
        _check_times(0.0 if start is None else start, "start"), n, "start"
    )
    stops = spread_times(_check_times(stop, "stop"), n, "stop")
    check_window_order(starts, stops)
    return Asked(None, starts, stops)


def _check_times(times: ArrayLike, name: str) -> FloatArray:
    values = as_times(times, name, "times count units since `y.origin`.")
    if values.ndim == 1 and values.size and np.all((values >= 0.0) & np.isfinite(values)):
        return values
    raise InvalidParameterError(
        f"`{name}` must be finite and not negative, a number or a sequence of numbers, but "
        f"it is {times!r}."
    )


def accumulate_alike(
    ensemble: Ensemble, sensors: Trajectories | None, asked: Asked
) -> FloatArray:
    """Return the accumulated terms without sensors, (1 or n, m, n_terms).

    Missing sensors stand for their average in training.
    """
    unknown: Any = None
    if sensors is not None:
        first = sensors[:1]
        unknown = first._with(values=np.full_like(first.values, np.nan))
    parts = []
    for unit in np.eye(ensemble.basis.n_terms):
        curve = ensemble.curves(unit[None], unknown, monotone=False)
        parts.append(asked.read_one(curve, ensemble.clock))
    return np.stack(parts, axis=-1)


def accumulate_own(
    ensemble: Ensemble, sensors: Trajectories, asked: Asked
) -> tuple[FloatArray, FittedSensorBasis]:
    """Return the accumulated terms along each individual's sensors, (n, m, n_terms)."""
    basis = ensemble.basis
    assert isinstance(basis, FittedSensorBasis)  # noqa: S101 - it has sensors
    n = len(sensors)
    paths = ensemble.curves(np.zeros((n, basis.n_terms)), sensors, monotone=False)
    assert isinstance(paths, PathCurves)  # noqa: S101
    if asked.exposure is not None:
        sums = asked.sum_exposed(paths.accumulate, ensemble.clock, asked.exposure)
    else:
        grid = asked.spread(n)
        n_times = grid.shape[1]
        rows = np.repeat(np.arange(n), n_times)
        sums = paths.accumulate(rows, ensemble.clock.read(grid.ravel()))
        sums = sums.reshape(n, n_times, -1)
        if asked.times is None:  # from the start to the stop of a window
            sums = np.diff(sums, axis=1)
    result = np.zeros((n, sums.shape[1], basis.n_terms))
    result[:, :, basis.n_baseline :] = sums
    return result, basis
