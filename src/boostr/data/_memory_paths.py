"""New sensors that remember: the paths behind the methods of ``Trajectories``."""

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
    """Find sensors, and the names of what is made from them.

    Parameters
    ----------
    paths : Trajectories
        The sensors.
    sensor : str or sequence of str
        Those asked for.
    suffix : str
        What follows a sensor's name in the new one.
    name : str or None
        The new name, if it is given.

    Returns
    -------
    positions : list of int
        Positions of the sensors.
    names : tuple of str
        New names.

    Examples
    --------
    >>> from boostr.data import Trajectories
    >>> Z = Trajectories.from_flat([1], [0, 1], [[5]], ["load"])
    >>> sensors_of(Z, "load", "lag 5", None)
    ([0], ('load lag 5',))
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
    """Refuse sensors of categories.

    Parameters
    ----------
    paths : Trajectories
        The sensors.
    positions : list of int
        Those that must hold numbers.

    Examples
    --------
    >>> from boostr.data import Trajectories
    >>> check_numeric(Trajectories.from_flat([1], [0, 1], [[5]], ["load"]), [0])
    """
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
    """Run a kernel that remembers over some sensors.

    Parameters
    ----------
    paths : Trajectories
        The sensors.
    positions : list of int
        Those to run over.
    kernel : callable
        One of `boostr._kernels.path_memory`.
    span : float
        Its window or half-life.
    grid : Runs
        Where to write the values.

    Returns
    -------
    (n_positions, k) float64 array
        Values on the grid.
    """
    pieces = paths._pieces()
    out = np.empty((len(positions), grid.times.size))
    for position, row in zip(positions, out, strict=True):
        kernel(pieces, paths.values[position], span, grid, row)
    return out


def match_events(paths: PathContainer, events: Any) -> RecurrentEvents:
    """Put events into the order of the series.

    Parameters
    ----------
    paths : Trajectories
        The series.
    events : RecurrentEvents
        Histories of the same individuals.

    Returns
    -------
    RecurrentEvents
        One history per series.

    Examples
    --------
    >>> from boostr.data import Trajectories
    >>> y = RecurrentEvents.from_lists([[1.0], []], end=2.0)
    >>> match_events(Trajectories.from_events(y), y).n_events
    array([1, 0])
    """
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
    """Measure the time since the last event, or since entry, in steps.

    Parameters
    ----------
    events : RecurrentEvents
        Histories.
    step : float
        Length of the steps.
    until : (n,) float64 array
        When the steps end.

    Returns
    -------
    grid : Runs
        Where the pieces begin.
    values : (1, k) float64 array
        Time since the last event at the beginning of each piece.

    Examples
    --------
    >>> y = RecurrentEvents.from_lists([[1.5]], end=[3.0])
    >>> grid, values = since_last_event(y, 1.0, y.end)
    >>> grid.times, values
    (array([0. , 1. , 1.5, 2.5]), array([[0., 1., 0., 1.]]))
    """
    happened = Runs(events.times, events.event_offsets)
    anchors = unite(one_each(events.start), happened)
    grid = refine(anchors, step, until=until)
    last = np.empty((1, grid.times.size))
    hold_values(anchors, anchors.times[None, :], grid, last)
    return grid, grid.times - last


def count_recent(events: RecurrentEvents, window: float) -> tuple[Runs, FloatArray]:
    """Count the events of the last ``window``, from entry on.

    Parameters
    ----------
    events : RecurrentEvents
        Histories.
    window : float
        How long an event counts.

    Returns
    -------
    grid : Runs
        Where the pieces begin.
    values : (1, k) float64 array
        Number of events in each piece.

    Examples
    --------
    >>> y = RecurrentEvents.from_lists([[1.5]], end=[3.0])
    >>> grid, values = count_recent(y, 1.0)
    >>> grid.times, values
    (array([0. , 1.5, 2.5]), array([[0., 1., 0.]]))
    """
    happened = Runs(events.times, events.event_offsets)
    grid = unite(one_each(events.start), happened)
    grid = unite(grid, Runs(happened.times + window, happened.offsets))
    values = np.empty((1, grid.times.size))
    count_within(happened, window, grid, values[0])
    return grid, values
