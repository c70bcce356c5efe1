"""Sensors computed from the past: lags, moving averages, time since the last event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few
from boostr._kernels.path_memory import count_within, fading_sum, running_max, running_mean
from boostr._kernels.paths import hold_values
from boostr._kernels.segments import Runs
from boostr._typing import FloatArray
from boostr.data.events.recurrent_events import RecurrentEvents
from boostr.data.sensors.checks import check_clocks, check_length_of_time, match_ids
from boostr.data.sensors.combine import PathAlgebra
from boostr.data.sensors.container import one_each, refine, unite
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, SensorTypeError

if TYPE_CHECKING:
    from boostr.data.sensors.container import PathContainer

Kernel = Callable[..., None]


def sensors_of(
    paths: PathContainer, sensor: Any, suffix: str, name: str | None
) -> tuple[list[int], tuple[str, ...]]:
    """Return the positions of some sensors, and the names of those made from them.

    A new name is the old one and `suffix`, unless `name` is given for a single sensor.
    """
    asked = [sensor] if isinstance(sensor, str) else list(sensor)
    positions = [paths._index(one) for one in asked]
    if name is None:
        return positions, tuple(f"{one} {suffix}" for one in asked)
    if len(asked) != 1:
        raise InvalidParameterError(
            f"`name` must be None for several sensors, but it is {name!r} for "
            f"{len(asked)}.\n\nHint: take one sensor at a time, or leave out `name`."
        )
    return positions, (name,)


def check_numeric(paths: PathContainer, positions: list[int]) -> None:
    """Refuse categorical sensors at the given positions."""
    wrong = [paths.names[i] for i in positions if paths.categories[i] is not None]
    if wrong:
        raise InvalidSensorsError(
            f"Sensor {wrong[0]!r} must hold numbers for this, but it holds categories."
            "\n\nHint: lag works for categories; for the share of time in one, make a "
            "column of 0 and 1 of it."
        )


def remember(
    paths: PathContainer, positions: list[int], kernel: Kernel, span: float, grid: Runs
) -> FloatArray:
    """Return the values of a memory kernel on a grid, one row per sensor."""
    pieces = paths._pieces()
    out = np.empty((len(positions), grid.times.size))
    for position, row in zip(positions, out, strict=True):
        kernel(pieces, paths.values[position], span, grid, row)
    return out


def match_events(paths: PathContainer, events: Any) -> RecurrentEvents:
    """Return the histories in the order of the individuals of the sensors."""
    if not isinstance(events, RecurrentEvents):
        raise SensorTypeError(
            f"`events` must be a RecurrentEvents, but it is a {type(events).__name__}.\n\n"
            "Hint: pass the y to which the sensors belong."
        )
    check_clocks(paths, events)
    if paths.has_ids and events.has_ids:
        index = match_ids(events.ids, paths.ids)
        return events if index is None else events[index]
    paths._check_as_many(len(events))
    return events


def since_last_event(
    events: RecurrentEvents, step: float, until: FloatArray
) -> tuple[Runs, FloatArray]:
    """Return a grid of steps and the (1, k) times since the last event, or since entry."""
    happened = Runs(events.times, events.event_offsets)
    anchors = unite(one_each(events.start), happened)
    grid = refine(anchors, step, until=until)
    last = np.empty((1, grid.times.size))
    hold_values(anchors, anchors.times[None, :], grid, last)
    return grid, grid.times - last


def count_recent(events: RecurrentEvents, window: float) -> tuple[Runs, FloatArray]:
    """Return a grid and the (1, k) numbers of events in the last `window`."""
    happened = Runs(events.times, events.event_offsets)
    grid = unite(one_each(events.start), happened)
    grid = unite(grid, Runs(happened.times + window, happened.offsets))
    values = np.empty((1, grid.times.size))
    count_within(happened, window, grid, values[0])
    return grid, values


N_STEPS = 20  # of a window or half-life, by default
N_STEPS_OF_FOLLOW_UP = 200
N_HALF_LIVES = 10  # after which a fading sum has settled to a thousandth

Chosen = tuple[list[int], tuple[str, ...]]  # positions of sensors, names of the new ones


class MemoryTransforms(PathAlgebra):
    """Sensors with lagged, averaged or accumulated ones; no value depends on the future.

    Values that change continuously become pieces, each with the value at its beginning.
    """

    def lag(
        self, sensor: str | Sequence[str], by: float, *, name: str | None = None
    ) -> Self:
        """Add lagged values of sensors.

        Parameters
        ----------
        sensor : str or sequence of str
            Sensors to look at, of numbers or categories.
        by : float
            How long ago.
        name : str, optional
            Name of the new sensor, by default for instance "torque lag 5".

        Returns
        -------
        Trajectories
            One further sensor for each.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 4], [0, 2], [[1, 2]], ["torque"])
        >>> Z.lag("torque", 5.0).select("torque lag 5").read([5.0, 6.0, 9.0, 10.0]).ravel()
        array([nan,  1.,  1.,  2.])
        """
        delay = check_length_of_time(by, "by")
        positions, names = sensors_of(self, sensor, f"lag {delay:g}", name)
        return self.merge(
            self._with(
                times=self.times + delay,
                values=self.values[positions],
                names=names,
                categories=tuple(self.categories[i] for i in positions),
            )
        )

    def running_mean(
        self,
        sensor: str | Sequence[str],
        window: float,
        step: float | None = None,
        *,
        name: str | None = None,
    ) -> Self:
        """Add the moving average of sensors, weighted by time.

        Parameters
        ----------
        sensor : str or sequence of str
            Sensors of numbers.
        window : float
            How far back the mean reaches; only the known part of it counts. Where
            nothing in it was known, the present value stands.
        step : float, optional
            The longest piece while the mean changes, by default a 20th of the window.
        name : str, optional
            Name of the new sensor, by default for instance "torque mean 7".

        Returns
        -------
        Trajectories
            One further sensor for each.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 10], [0, 2], [[1, 2]], ["torque"])
        >>> Z = Z.running_mean("torque", 4.0, step=1.0)
        >>> Z.read([9.0, 10.5, 11.5, 12.5, 13.5, 14.5])[0, :, 1]
        array([1.  , 1.  , 1.25, 1.5 , 1.75, 2.  ])
        """
        span = check_length_of_time(window, "window")
        pace = _pace(step, span / N_STEPS)
        chosen = self._find_numeric(sensor, f"mean {span:g}", name)
        grid = refine(self._samples(), pace, reach=span)
        return self._remember(chosen, running_mean, span, grid)

    def fading_sum(
        self,
        sensor: str | Sequence[str],
        half_life: float,
        step: float | None = None,
        *,
        name: str | None = None,
    ) -> Self:
        """Add the integral of sensors over the past, with exponential decay.

        At time ``t`` it is the integral of ``z(u) * 2**(-(t - u) / half_life)`` over all
        ``u < t``; unknown values count as zero.

        Parameters
        ----------
        sensor : str or sequence of str
            Sensors of numbers.
        half_life : float
            Time after which the past counts half.
        step : float, optional
            The longest piece, by default a 20th of the half-life. Pieces end ten
            half-lives after a sample, when the sum has settled to a thousandth.
        name : str, optional
            Name of the new sensor, by default for instance "torque fading 7".

        Returns
        -------
        Trajectories
            One further sensor for each.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 1], [0, 2], [[1, 0]], ["torque"])
        >>> Z = Z.fading_sum("torque", half_life=2.0, step=1.0)
        >>> Z.read([1.5, 3.5])[0, :, 1].round(3)
        array([0.845, 0.423])
        """
        span = check_length_of_time(half_life, "half_life")
        pace = _pace(step, span / N_STEPS)
        chosen = self._find_numeric(sensor, f"fading {span:g}", name)
        grid = refine(self._samples(), pace, reach=N_HALF_LIVES * span)
        return self._remember(chosen, fading_sum, span, grid)

    def running_max(
        self,
        sensor: str | Sequence[str],
        window: float | None = None,
        *,
        name: str | None = None,
    ) -> Self:
        """Add the largest known value of sensors so far, the present one included.

        Parameters
        ----------
        sensor : str or sequence of str
            Sensors of numbers.
        window : float, optional
            How far back the maximum reaches, by default over all of the past.
        name : str, optional
            Name of the new sensor, by default "torque max" or for instance
            "torque max 7".

        Returns
        -------
        Trajectories
            One further sensor for each.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 1], [0, 2], [[3, 2]], ["torque"])
        >>> Z = Z.running_max("torque", window=4.0)
        >>> Z.read([0.5, 5.0, 5.5])[0, :, 1]
        array([3., 3., 2.])
        """
        span = np.inf if window is None else check_length_of_time(window, "window")
        suffix = "max" if window is None else f"max {span:g}"
        chosen = self._find_numeric(sensor, suffix, name)
        grid = self._samples()
        if window is not None:
            grid = unite(grid, Runs(self.times + span, self.offsets))
        return self._remember(chosen, running_max, span, grid)

    def time_since_event(
        self,
        events: Any,
        step: float | None = None,
        *,
        until: ArrayLike | None = None,
        name: str = "time since event",
    ) -> Self:
        """Add the time since the individual's last event.

        Before its first event it is the time since entry, and before entry unknown. An
        event at ``t`` counts after ``t``.

        Parameters
        ----------
        events : RecurrentEvents
            Histories of the same individuals, matched by id.
        step : float, optional
            The longest piece, by default a 200th of the longest follow-up.
        until : float or (n,) array-like, optional
            When the time stops growing, by default at the end of follow-up of every
            individual; a forecast needs a later time.
        name : str, default="time since event"
            Name of the new sensor.

        Returns
        -------
        Trajectories
            One further sensor.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents, Trajectories
        >>> y = RecurrentEvents.from_lists([[3.0]], end=[10.0])
        >>> Z = Trajectories.from_events(y).time_since_event(y, step=1.0)
        >>> Z.read([0.0, 1.0, 3.0, 4.5, 10.0]).ravel()
        array([nan,  0.,  2.,  1.,  6.])
        """
        own = match_events(self, events)
        longest = float((own.end - own.start).max()) if len(own) else 1.0
        pace = _pace(step, longest / N_STEPS_OF_FOLLOW_UP)
        end = own.end if until is None else np.asarray(until, dtype=np.float64)
        rule = "`until` must be one finite time, or one per individual, but"
        if end.shape not in {(), (len(self),)}:
            raise InvalidParameterError(
                f"{rule} it has the shape {end.shape} for {len(self)} individuals."
            )
        stop = np.broadcast_to(end, (len(self),)).copy()
        wrong = ~np.isfinite(stop)
        if wrong.any():
            raise InvalidParameterError(
                f"{rule} it is not finite for {wrong.sum()} of {len(self)} individuals "
                f"(ids {first_few(self.ids[wrong])})."
            )
        return self._add(*since_last_event(own, pace, stop), (name,))

    def events_in_window(
        self, events: Any, window: float, *, name: str | None = None
    ) -> Self:
        """Add the number of the individual's events within a moving window.

        An event at ``t`` counts on ``(t, t + window]``; before entry the number is
        unknown.

        Parameters
        ----------
        events : RecurrentEvents
            Histories of the same individuals, matched by id.
        window : float
            How long an event counts.
        name : str, optional
            Name of the new sensor, by default for instance "events in last 30".

        Returns
        -------
        Trajectories
            One further sensor.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents, Trajectories
        >>> y = RecurrentEvents.from_lists([[3.0, 4.0]], end=[10.0])
        >>> Z = Trajectories.from_events(y).events_in_window(y, 2.0)
        >>> Z.read([3.0, 3.5, 5.0, 5.5, 6.5]).ravel()
        array([0., 1., 2., 1., 0.])
        """
        span = check_length_of_time(window, "window")
        own = match_events(self, events)
        label = f"events in last {span:g}" if name is None else name
        return self._add(*count_recent(own, span), (label,))

    def _find_numeric(
        self, sensor: str | Sequence[str], suffix: str, name: str | None
    ) -> Chosen:
        """Return positions of numeric sensors, and names of those made from them."""
        positions, names = sensors_of(self, sensor, suffix, name)
        check_numeric(self, positions)
        return positions, names

    def _remember(self, chosen: Chosen, kernel: Kernel, span: float, grid: Runs) -> Self:
        """Add sensors computed by a kernel, with the same `before` as these."""
        positions, names = chosen
        values = remember(self, positions, kernel, span, grid)
        return self._add(grid, values, names, self.before)

    def _add(
        self,
        grid: Runs,
        values: FloatArray,
        names: tuple[str, ...],
        before: str = "unknown",
    ) -> Self:
        """Return these sensors with new numeric ones added."""
        new = self._with(
            **grid._asdict(),
            values=values,
            names=names,
            categories=(None,) * len(names),
            before=before,
        )
        return self.merge(new)


def _pace(step: float | None, default: float) -> float:
    """Return the length of the steps."""
    return default if step is None else check_length_of_time(step, "step")
