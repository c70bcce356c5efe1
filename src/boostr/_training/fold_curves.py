"""Trees of a model as the average of its folds, and the curves of individuals by them."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from boostr._engine.curves import UnitCurves, expose
from boostr._engine.ensemble import Curves
from boostr._engine.sensor_curves import PathCurves
from boostr._frailty.own_pace import OwnPace
from boostr._frailty.pace import PacedClock, Table
from boostr._training.fitted import TreeModel
from boostr._typing import FloatArray, PositionArray
from boostr.basis import Clock
from boostr.data import Trajectories
from boostr.data.clip import clip_sensors
from boostr.data.events.exposure import Exposure

__all__ = ["Expect", "FoldCurves", "jackknife_variance"]

_Reading = tuple[PositionArray, FloatArray, FloatArray]  # individuals, times and values
_N_READINGS = 4  # that are kept: at entry, one lead ago, now and one lead ahead
_MOST_IN_TABLE = 2.0  # values in a table of all individuals, for each that is asked for
# Expected events of individuals (rows) in windows (start, stop].
Expect = Callable[[PositionArray, FloatArray, FloatArray], FloatArray]


class FoldCurves:
    """Curves of individuals by the averaged model and by the model of every fold.

    The folds are a jackknife: the variance of the average of ``k`` folds is about ``k -
    1`` times the mean squared distance from it.

    Curves along no sensors, ``unit``, are the same functions of all clocks.
    """

    def __init__(
        self,
        model: TreeModel,
        features: FloatArray | None,
        sensors: Trajectories | None = None,
        theta: FloatArray | None = None,
        paced: PacedClock | None = None,
        exposure: Exposure | None = None,
        offsets: FloatArray | None = None,
        unit: Curves | None = None,
    ) -> None:
        if theta is None:
            assert features is not None  # noqa: S101 - which one of both follows from
            theta = model.coefficients(features)
        self.theta = theta
        self.clock: Clock = model.clock if paced is None else paced.clock
        if unit is None:
            ensemble = model.ensemble.on_clock(self.clock)
            unit = ensemble.curves(self.theta, sensors, **model.settings.link())
        self.unit = unit
        self.average: UnitCurves = expose(self.unit, exposure, self.clock)
        self.exposure, self.offsets = exposure, offsets
        self._model, self._features, self._sensors = model, features, sensors
        self._paced = paced
        self._own: OwnPace | None = None
        self._readings: deque[_Reading] = deque(maxlen=0)  # keeps none
        self._last_values: tuple[FloatArray, FloatArray] | None = None

    def take(
        self,
        rows: PositionArray,
        sensors: Trajectories | None,
        paced: PacedClock | None = None,
    ) -> FoldCurves:
        """Return the curves of some individuals along other sensors, without those by fold.

        At the same pace, unless another one is given.
        """
        unit = self.unit
        return FoldCurves(
            self._model,
            None,
            sensors,
            self.theta[rows],
            self._paced if paced is None else paced,
            None if self.exposure is None else self.exposure[rows],
            None if self.offsets is None else self.offsets[rows],
            None if isinstance(unit, PathCurves) else unit.take(rows),
        )

    def at_pace(
        self, paced: PacedClock | None, last: FloatArray | None = None
    ) -> FoldCurves:
        """Return curves at another pace; sensors hold their values of the ``last`` time."""
        sensors, unit = self._sensors, self.unit
        if sensors is not None and last is not None:
            sensors = clip_sensors(sensors, last)
        if paced is not None and paced.clock is self.clock and sensors is self._sensors:
            # The curves of a clock stay as they are; only the table depends on the pace.
            same = copy.copy(self)
            same._paced = paced
            same._readings = deque(maxlen=0)
            same.__dict__.pop("_table", None)
            same.__dict__.pop("_second", None)
            return same
        return FoldCurves(
            self._model,
            self._features,
            sensors,
            self.theta,
            paced,
            self.exposure,
            self.offsets,
            None if isinstance(unit, PathCurves) else unit,
        )

    def at_own_pace(self, pace: OwnPace | None) -> FoldCurves:
        """Return curves of which each has factors of its own; the same without factors."""
        if pace is None:
            return self
        same = copy.copy(self)
        same._readings = deque(maxlen=self._readings.maxlen)
        same._own = pace
        return same

    @cached_property
    def _folds(self) -> list[UnitCurves]:
        """Plain sums of the trees of each fold, which need not be monotone."""
        assert self._features is not None  # noqa: S101 - of all individuals, see `take`
        ensemble = self._model.ensemble.on_clock(self.clock)
        return [
            expose(
                ensemble.curves(one, self._sensors, monotone=False),
                self.exposure,
                self.clock,
            )
            for one in self._model.coefficients_by_fold(self._features)
        ]

    @property
    def _n_left_out(self) -> int:
        model = self._model
        return min(model.settings.n_folds, model.n_fold_models) - 1

    @cached_property
    def _table(self) -> Table:
        """Curves at the starts of stretches."""
        assert self._paced is not None  # noqa: S101 - used with a pace only
        return self._paced.table(self.read_all)

    def read_all(self, clock_times: FloatArray) -> FloatArray:
        """Return all curves at times of the clock, (n, m), without a pace.

        The last ones are kept: a pace is first found, and then read, from the same ones.
        """
        last = self._last_values
        if last is None or not np.array_equal(last[0], clock_times):
            last = self._last_values = clock_times, self.average.values(clock_times)
        return last[1]

    def remembering(self) -> FoldCurves:
        """Return the same curves, which keep their last readings.

        Forecasts from one date read the same times again and again. For few individuals:
        readings take memory.
        """
        same = copy.copy(self)
        same._readings = deque(maxlen=_N_READINGS)
        return same

    def read(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the cumulative intensity of individuals, each at a time."""
        for reading in self._readings:
            if np.array_equal(reading[1], times) and np.array_equal(reading[0], rows):
                return reading[2]
        values = self._read_common(rows, times)
        for own in (self._second, self._own):
            if own is not None:
                values = own.change(values, rows)
        self._readings.append((rows, times, values))
        return values

    def _read_common(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the same without factors of single individuals."""
        if self._paced is None:
            return self.average.values_at(rows, self.clock.read(times))
        return self._paced.read(self.average.values_at, self._table, rows, times)

    @cached_property
    def _second(self) -> OwnPace | None:
        """Factors along a second time scale."""
        second = None if self._paced is None else self._paced.second
        if second is None or self.offsets is None:
            return None
        return second.on(self._read_common, self.offsets)

    def _read_ends(self, rows: PositionArray, times: FloatArray, cell: float) -> FloatArray:
        """Return what `read` returns, faster if most times are multiples of ``cell``."""
        is_own = self._own is not None or self._second is not None
        if not np.isfinite(cell) or not times.size or is_own:
            return self.read(rows, times)
        number = np.rint(times / cell).astype(np.intp)
        first, last = int(number.min()), int(number.max())
        if len(self.theta) * (last - first + 1) > _MOST_IN_TABLE * len(times):
            return self.read(rows, times)
        common: FloatArray = np.arange(float(first), last + 1.0) * cell
        if self._paced is None:
            table = self.average.values(self.clock.read(common))
        else:
            table = self._paced.read_all(self.average.values, self._table, common)
        result = table.take(rows * len(common) + number - first)
        own = np.flatnonzero(times != common[number - first])
        result[own] = self.read(rows[own], times[own])
        return result

    def expect(
        self,
        rows: PositionArray,
        start: FloatArray,
        stop: FloatArray,
        cell: float = np.inf,
    ) -> FloatArray:
        """Return the expected number of events of individuals, each in a window.

        Windows of an individual that follow each other are read once where they meet, and
        many that end at multiples of ``cell`` are read for all individuals together.
        """
        at_stop = self._read_ends(rows, stop, cell)
        follows = (rows[1:] == rows[:-1]) & (start[1:] == stop[:-1])
        new = np.flatnonzero(np.append(True, ~follows)[: len(rows)])
        at_start = np.append(0.0, at_stop[:-1])[: len(rows)]
        at_start[new] = self.read(rows[new], start[new])
        return np.asarray(at_stop - at_start)

    def expect_by_fold(
        self, rows: PositionArray, start: FloatArray, stop: FloatArray
    ) -> FloatArray:
        """Return the expected numbers by the model of every fold, (n_folds, k)."""
        return np.stack([expect(rows, start, stop) for expect in self.by_fold()])

    def by_fold(self) -> list[Expect]:
        """Return one function of expected numbers per fold."""
        return [partial(_expect, fold, self.clock) for fold in self._folds]

    def by_clock(self) -> list[Expect]:
        """Return functions of expected numbers on the jackknife clocks."""
        return [
            partial(_expect, expose(self.unit, self.exposure, clock), clock)
            for clock in self._model.clock_variants
        ]

    def variance(self, by_fold: FloatArray) -> FloatArray:
        """Return the variance of averages over the folds; 0 for a single model."""
        return np.asarray(self._n_left_out * np.var(by_fold, axis=0))

    def shared_variance(self, by_fold: FloatArray, by_clock: FloatArray) -> float:
        """Return the variance of a figure due to errors of the trees and of the clock."""
        trees = jackknife_variance(by_fold, self._n_left_out + 1)
        if not by_clock.size:
            return trees
        return trees + jackknife_variance(by_clock, len(by_clock))


def jackknife_variance(without: FloatArray, n_groups: int) -> float:
    """Return the variance of a figure from its values without each of ``k`` groups.

    ``k - 1`` times their variance, times that of Student's t with ``k - 1`` degrees of
    freedom (3 for four groups or fewer), as few groups may agree by chance.
    """
    freedom = n_groups - 1
    factor = freedom / (freedom - 2) if freedom > 3 else 3.0
    return freedom * float(np.var(without)) * factor


def _expect(
    curves: UnitCurves,
    clock: Clock,
    rows: PositionArray,
    start: FloatArray,
    stop: FloatArray,
) -> FloatArray:
    begin, end = clock.read(start), clock.read(stop)
    return np.asarray(curves.values_at(rows, end) - curves.values_at(rows, begin))
