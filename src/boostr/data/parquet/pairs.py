"""Events and sensors of the same individuals, read side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import numpy as np

from boostr.data.events.recurrent_events import RecurrentEvents
from boostr.data.parquet.events import ScannedEvents
from boostr.data.parquet.sensors import ScannedTrajectories
from boostr.data.sensors.checks import match_ids
from boostr.data.sensors.trajectories import Trajectories
from boostr.exceptions import InvalidSensorsError

__all__ = ["put_in_step", "read_in_step"]

Events = RecurrentEvents | ScannedEvents
Sensors = Trajectories | ScannedTrajectories


@overload
def _chunks(source: Events, n_threads: int) -> Iterator[RecurrentEvents]: ...


@overload
def _chunks(source: Sensors, n_threads: int) -> Iterator[Trajectories]: ...


def _chunks(source: Any, n_threads: int) -> Iterator[Any]:
    """Yield chunks of a scan, or a container in memory as it is."""
    if isinstance(source, (ScannedEvents, ScannedTrajectories)):
        return source.chunks(n_threads=n_threads)
    return iter([source])


def put_in_step(events: Events, sensors: Sensors) -> Sensors:
    """Return the sensors in the order of the events; at least one of the two is a scan.

    Events in memory must be in ascending order of ids if the sensors are a scan.
    """
    if isinstance(sensors, Trajectories):
        return sensors.align(events.ids)
    if match_ids(sensors.ids, events.ids) is not None:
        raise InvalidSensorsError(
            "Individuals must be in ascending order of their ids where sensors are "
            "scanned, but those of y are not.\n\n"
            "Hint: order = numpy.argsort(y.ids); fit(X.iloc[order], y[order], Z=Z)."
        )
    return sensors


def read_in_step(
    events: Events, sensors: Sensors | None, n_threads: int = 1
) -> Iterator[tuple[RecurrentEvents, Trajectories | None]]:
    """Yield events and sensors of the same complete individuals, some at a time."""
    if sensors is None:
        for chunk in _chunks(events, n_threads):
            yield chunk, None
        return
    series = _chunks(sensors, n_threads)
    path, used = next(series), 0
    for chunk in _chunks(events, n_threads):
        first = 0
        while first < len(chunk):
            if used == len(path):
                path, used = next(series), 0
            n = min(len(chunk) - first, len(path) - used)
            yield (
                chunk._take(np.arange(first, first + n)),
                path._take(np.arange(used, used + n)),
            )
            first, used = first + n, used + n
