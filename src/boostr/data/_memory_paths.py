"""Computation of the sensors that depend on the past, for ``MemoryTransforms``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._kernels.path_memory import count_within
from boostr._kernels.paths import hold_values
from boostr._kernels.runs import Runs
from boostr._typing import FloatArray
from boostr.data._events import RecurrentEvents
from boostr.data._path_grids import one_each, refine, unite
from boostr.data._sensor_checks import check_clocks, match_ids
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, SensorTypeError

if TYPE_CHECKING:
    from boostr.data._path_container import PathContainer

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
