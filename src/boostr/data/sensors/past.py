"""Sensors computed from the past: lags, moving averages, time since the last event.

No value depends on the future. Values that change continuously become pieces, each with the
value at its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few
from boostr._checks.parameters import check_length
from boostr._kernels.path_memory import count_within, fading_sum, running_max, running_mean
from boostr._kernels.paths import hold_values
from boostr._kernels.segments import Runs
from boostr._typing import FloatArray
from boostr.data.events.intervals import refuse_intervals
from boostr.data.sensors.build import one_each, refine, unite
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents
    from boostr.data.sensors.trajectories import Trajectories

Sensors = TypeVar("Sensors", bound="Trajectories")
Kernel = Callable[..., None]
Names = str | Sequence[str]

_N_STEPS = 20  # of a window or half-life, by default
_N_STEPS_OF_FOLLOW_UP = 200
_N_HALF_LIVES = 10  # after which a fading sum has settled to a thousandth


def add_lag(Z: Sensors, sensor: Names, by: float, name: str | None) -> Sensors:
    """Return the sensors with lagged ones added."""
    delay = check_length(by, "by")
    positions, names = _name_new(Z, sensor, f"lag {delay:g}", name)
    lagged = Z._with(
        times=Z.times + delay,
        values=Z.values[positions],
        names=names,
        categories=tuple(Z.categories[i] for i in positions),
    )
    return Z.merge(lagged)


def add_running_mean(
    Z: Sensors, sensor: Names, window: float, step: float | None, name: str | None
) -> Sensors:
    """Return the sensors with moving averages added."""
    span = check_length(window, "window")
    grid = refine(Z._samples(), _resolve_step(step, span / _N_STEPS), reach=span)
    new = _name_numeric(Z, sensor, f"mean {span:g}", name)
    return _add_computed(Z, new, running_mean, span, grid)


def add_fading_sum(
    Z: Sensors, sensor: Names, half_life: float, step: float | None, name: str | None
) -> Sensors:
    """Return the sensors with integrals over the past added, with exponential decay."""
    span = check_length(half_life, "half_life")
    length = _resolve_step(step, span / _N_STEPS)
    new = _name_numeric(Z, sensor, f"fading {span:g}", name)
    grid = refine(Z._samples(), length, reach=_N_HALF_LIVES * span)
    return _add_computed(Z, new, fading_sum, span, grid)


def add_running_max(
    Z: Sensors, sensor: Names, window: float | None, name: str | None
) -> Sensors:
    """Return the sensors with running maxima added."""
    span = np.inf if window is None else check_length(window, "window")
    suffix = "max" if window is None else f"max {span:g}"
    new = _name_numeric(Z, sensor, suffix, name)
    grid = Z._samples()
    if window is not None:
        grid = unite(grid, Runs(Z.times + span, Z.offsets))
    return _add_computed(Z, new, running_max, span, grid)


def add_time_since_event(
    Z: Sensors,
    events: RecurrentEvents,
    step: float | None,
    until: ArrayLike | None,
    name: str,
) -> Sensors:
    """Return the sensors with the time since the last event, or since entry."""
    refuse_intervals(events, "The time since the last event")
    longest = float((events.end - events.start).max()) if len(events) else 1.0
    length = _resolve_step(step, longest / _N_STEPS_OF_FOLLOW_UP)
    happened = Runs(events.times, events.event_offsets)
    anchors = unite(one_each(events.start), happened)
    stop = events.end if until is None else _read_until(Z, until)
    grid = refine(anchors, length, until=stop)
    last = np.empty((1, grid.times.size))
    hold_values(anchors, anchors.times[None, :], grid, last)
    return _add(Z, grid, grid.times - last, (name,))


def _read_until(Z: Trajectories, until: ArrayLike) -> FloatArray:
    """Return the time at which the time since the last event stops growing."""
    given = np.asarray(until, dtype=np.float64)
    rule = "`until` must be one finite time, or one per individual, but"
    if given.shape not in {(), (len(Z),)}:
        raise InvalidParameterError(
            f"{rule} it has the shape {given.shape} for {len(Z)} individuals."
        )
    stop = np.broadcast_to(given, (len(Z),)).copy()
    wrong = ~np.isfinite(stop)
    if wrong.any():
        raise InvalidParameterError(
            f"{rule} it is not finite for {wrong.sum()} of {len(Z)} individuals "
            f"(ids {first_few(Z.ids[wrong])})."
        )
    return stop


def add_recent_events(
    Z: Sensors, events: RecurrentEvents, window: float, name: str | None
) -> Sensors:
    """Return the sensors with the number of events in the last `window`."""
    refuse_intervals(events, "The number of recent events")
    span = check_length(window, "window")
    happened = Runs(events.times, events.event_offsets)
    grid = unite(one_each(events.start), happened)
    grid = unite(grid, Runs(happened.times + span, happened.offsets))
    values = np.empty((1, grid.times.size))
    count_within(happened, span, grid, values[0])
    label = f"events in last {span:g}" if name is None else name
    return _add(Z, grid, values, (label,))


def _name_new(
    Z: Trajectories, sensor: Names, suffix: str, name: str | None
) -> tuple[list[int], tuple[str, ...]]:
    """Return the positions of some sensors, and the names of those made from them.

    A new name is the old one and `suffix`, unless `name` is given for a single sensor.
    """
    chosen = [sensor] if isinstance(sensor, str) else list(sensor)
    positions = [Z._index(one) for one in chosen]
    if name is None:
        return positions, tuple(f"{one} {suffix}" for one in chosen)
    if len(chosen) != 1:
        raise InvalidParameterError(
            f"`name` must be None for several sensors, but it is {name!r} for "
            f"{len(chosen)}.\n\nHint: take one sensor at a time, or leave out `name`."
        )
    return positions, (name,)


def _name_numeric(
    Z: Trajectories, sensor: Names, suffix: str, name: str | None
) -> tuple[list[int], tuple[str, ...]]:
    """Return the same as `_name_new`; refuse categorical sensors."""
    positions, names = _name_new(Z, sensor, suffix, name)
    wrong = [Z.names[i] for i in positions if Z.categories[i] is not None]
    if wrong:
        raise InvalidSensorsError(
            f"Sensor {wrong[0]!r} must hold numbers for this, but it holds categories."
            "\n\nHint: lag works for categories; for the share of time in one, make a "
            "column of 0 and 1 of it."
        )
    return positions, names


def _add_computed(
    Z: Sensors,
    new: tuple[list[int], tuple[str, ...]],
    kernel: Kernel,
    span: float,
    grid: Runs,
) -> Sensors:
    """Return the sensors with those that a kernel computes, with the same `before`."""
    positions, names = new
    values = np.empty((len(positions), grid.times.size))
    for position, row in zip(positions, values, strict=True):
        kernel(Z._pieces(), Z.values[position], span, grid, row)
    return _add(Z, grid, values, names, Z.before)


def _add(
    Z: Sensors,
    grid: Runs,
    values: FloatArray,
    names: tuple[str, ...],
    before: str = "unknown",
) -> Sensors:
    """Return the sensors with new numeric ones added."""
    fields: dict[str, Any] = {"names": names, "before": before}
    categories = (None,) * len(names)
    return Z.merge(
        Z._with(**grid._asdict(), values=values, categories=categories, **fields)
    )


def _resolve_step(step: float | None, default: float) -> float:
    """Return the length of the steps."""
    return default if step is None else check_length(step, "step")
