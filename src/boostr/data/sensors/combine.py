"""Sensors combined: merged, changed, or continued with a future."""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few
from boostr._kernels.segments import Runs
from boostr._typing import FloatArray
from boostr.data.flat import owners_of
from boostr.data.sensors.checks import check_clocks, check_own_names, unite_categories
from boostr.data.sensors.container import (
    PathContainer,
    assign_sensors,
    hold,
    keep_times,
    one_each,
    unite,
)
from boostr.data.sensors.shared import SharedSensors
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, SensorTypeError


class PathAlgebra(PathContainer):
    """Sensors that can be merged, changed and continued."""

    @overload
    def merge(self, other: PathContainer) -> Self: ...

    @overload
    def merge(self, other: SharedSensors) -> SharedSensors: ...

    def merge(self, other: PathContainer | SharedSensors) -> Self | SharedSensors:
        """Put the sensors of the same individuals from two sources side by side.

        Parameters
        ----------
        other : Trajectories or SharedSensors
            Other sensors. Those of individuals are put into the order of these ids, or
            matched by position where one of the two has no ids.

        Returns
        -------
        Trajectories or SharedSensors
            All sensors, with pieces that begin at the samples of either; shared sensors
            join them when they meet histories.

        Raises
        ------
        InvalidSensorsError
            If the individuals differ, or a sensor stands in both.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> load = Trajectories.from_flat([1, 3], [0, 2], [[5, 6]], ["load"])
        >>> speed = Trajectories.from_flat([2], [0, 1], [[9]], ["speed"])
        >>> load.merge(speed).values
        array([[ 5.,  5.,  6.],
               [nan,  9.,  9.]])
        """
        if isinstance(other, SharedSensors):
            return other._beside(self)
        other = self._matched(other)
        check_own_names(self.names, other.names)
        grid = unite(self._samples(), other._samples())
        if self.before != other.before:
            unknown, first = (self, other) if self.before == "unknown" else (other, self)
            grid = unite(grid, _just_before(unknown, first))
        values = np.empty((len(self.names) + len(other.names), grid.times.size))
        hold(self, grid, values[: len(self.names)])
        hold(other, grid, values[len(self.names) :])
        identity = other if other.has_ids and not self.has_ids else self
        return self._with(
            **grid._asdict(),
            values=values,
            names=self.names + other.names,
            categories=self.categories + other.categories,
            before=self.before if self.before == other.before else "first",
            ids=identity.ids,
            has_ids=identity.has_ids,
            id_name=identity.id_name,
            time_unit=self.time_unit or other.time_unit,
            origin=other.origin if self.origin is None else self.origin,
            known_ahead=self._known_ahead() + other._known_ahead(),
        )

    def _matched(self, other: Any) -> PathContainer:
        """Return other sensors in the order of these individuals."""
        if not isinstance(other, PathContainer):
            raise SensorTypeError(
                f"Sensors must come in a Trajectories, but they come in a "
                f"{type(other).__name__}.\n\n"
                "Hint: Trajectories.from_long and Trajectories.from_flat make one."
            )
        check_clocks(self, other)
        if self.has_ids and other.has_ids:
            return other.align(self.ids)
        other._check_as_many(len(self))
        return other

    def assign(self, **sensors: Any) -> Self:
        """Change sensors, or add some that follow from others.

        Parameters
        ----------
        **sensors : callable, number or array
            By name. For a sensor that is there: a function of the array of its known
            values, or one value for all of these. For a new one: a function of a dict
            with the arrays of all sensors, or one value for all pieces. In both cases
            also an array with the values of all pieces. A sensor of categories takes one
            of them.

        Returns
        -------
        Trajectories
            The same pieces with other values; what was unknown stays unknown.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 10]], ["torque"])
        >>> Z.assign(torque=lambda v: 0.8 * v, speed=3.0).values
        array([[4., 8.],
               [3., 3.]])
        """
        return self._with(**assign_sensors(self, sensors))

    def followed_by(self, future: PathContainer, at: ArrayLike | None = None) -> Self:
        """Continue the paths with those of a future.

        Parameters
        ----------
        future : Trajectories
            What the sensors will show; all of these sensors or some of them. It is put
            into the order of these ids.
        at : float or (n,) array-like, optional
            Until when the own paths hold, by default the last sample of each individual.

        Returns
        -------
        Trajectories
            The own paths up to ``at``; then, from the first known value on, those of the
            future, beginning with what holds there at ``at``. Until then, and where the
            future lacks the sensor, the last own value goes on.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 6]], ["load"])
        >>> future = Trajectories.from_flat([0, 4], [0, 2], [[1, 2]], ["load"])
        >>> Z.followed_by(future, at=3.0).read([3.0, 4.0, 5.0])[:, :, 0]
        array([[6., 1., 2.]])
        """
        future = self._matched(future)
        strangers = [name for name in future.names if name not in self.names]
        if strangers:
            raise InvalidSensorsError(
                f"The future must be of the same sensors, but {len(strangers)} of its "
                f"sensors are not there ({first_few(strangers)}).\n\n"
                "Hint: future.select(Z.names)."
            )
        own = self.select(future.names)
        lists = unite_categories([own._categorical(), future._categorical()])
        past, future = self.encode(lists), future.encode(lists)
        moment = _moments(self, at)
        grid = _past_and_future(self, future, moment)
        since = moment[owners_of(grid.offsets)]
        values = hold(past, Runs(np.minimum(grid.times, since), grid.offsets))
        for name, row in zip(future.names, hold(future, grid), strict=True):
            row[grid.times < since] = np.nan
            has_begun = _has_been_known(row, grid)
            values[past._index(name), has_begun] = row[has_begun]
        return past._with(**grid._asdict(), values=values)


def _first_times(paths: PathContainer) -> FloatArray:
    """Return the first sample time of every individual, infinity without samples."""
    first = np.full(len(paths), np.inf)
    some = np.diff(paths.offsets) > 0
    first[some] = paths.times[paths.offsets[:-1][some]]
    return first


def _just_before(unknown: PathContainer, first: PathContainer) -> Runs:
    """Return the last moment at which sensors are unknown beside some that never are."""
    begin = _first_times(unknown)
    leads = np.isfinite(begin) & (begin <= _first_times(first))
    return one_each(np.nextafter(begin, -np.inf), leads)


def _moments(paths: PathContainer, at: ArrayLike | None) -> FloatArray:
    """Return the time up to which each individual's own values hold."""
    if at is None:
        return paths.last_times
    given = np.asarray(at, dtype=np.float64)
    if given.shape not in {(), (len(paths),)} or not np.isfinite(given).all():
        raise InvalidParameterError(
            "`at` must be one finite time, or one per individual, but it is "
            f"{at!r} for {len(paths)} individuals."
        )
    return np.broadcast_to(given, (len(paths),)).copy()


def _past_and_future(
    past: PathContainer, future: PathContainer, moment: FloatArray
) -> Runs:
    """Return a grid of own times before each moment, the moment, and later future times."""
    is_past = past.times < moment[owners_of(past.offsets)]
    grid = keep_times(past._samples(), is_past)
    is_known = np.isfinite(moment)
    if past.before == "first":  # what held before the first sample needs a piece
        cut = is_known & (np.diff(grid.offsets) == 0) & (np.diff(past.offsets) > 0)
        grid = unite(grid, one_each(np.nextafter(moment, -np.inf), cut))
    grid = unite(grid, one_each(moment, is_known))
    is_future = future.times > moment[owners_of(future.offsets)]
    return unite(grid, keep_times(future._samples(), is_future))


def _has_been_known(row: FloatArray, grid: Runs) -> Any:
    """Return where a sensor is known, or was at an earlier time of the grid."""
    places = np.where(np.isnan(row), -1, np.arange(row.size))
    begin = grid.offsets[owners_of(grid.offsets)]
    return np.maximum.accumulate(places) >= begin
