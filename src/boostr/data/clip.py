"""Histories and sensors up to a time, and times as the user gives them."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from boostr._checks.numbers import check_labels
from boostr._typing import AnyArray, FloatArray, OffsetArray, PositionArray
from boostr.data.events.intervals import clip_intervals
from boostr.data.events.recurrent_events import RecurrentEvents
from boostr.data.flat import offsets_of, owners_of
from boostr.data.sensors.trajectories import Trajectories
from boostr.data.times import as_stamp, find_origins, to_numbers
from boostr.exceptions import InvalidParameterError

__all__ = ["Observed", "clip", "clip_sensors", "observe", "read_times"]


def clip(
    y: RecurrentEvents, start: FloatArray, stop: FloatArray
) -> tuple[RecurrentEvents, PositionArray]:
    """Return the histories clipped to ``(start, stop]``, without those not observed then.

    The positions of the remaining individuals are returned, too.
    """
    n, (seen, happens) = len(y), _find(y, start, stop)
    n_windows = np.bincount(seen.owner, minlength=n)
    rows = np.flatnonzero(n_windows)
    n_events = np.bincount(seen.event_owner, minlength=n)
    died = y.is_terminal
    part = y._with(
        **y._take_events(happens) | {"intervals": clip_intervals(y, start, stop, happens)},
        event_offsets=offsets_of(n_events[rows]),
        window_start=seen.start,
        window_stop=seen.stop,
        window_offsets=offsets_of(n_windows[rows]),
        ids=y.ids[rows],
        origins=None if y.origins is None else y.origins[rows],
        exposure=None if y.exposure is None else y.exposure[rows],
        is_terminal=None if died is None else (died & (y.end <= stop))[rows],
    )
    return part, rows


class Observed(NamedTuple):
    """Windows and events of individuals, each with its owner."""

    owner: OffsetArray  # (k,)
    start: FloatArray  # (k,)
    stop: FloatArray  # (k,)
    event_owner: OffsetArray  # (m,)
    times: FloatArray  # (m,)
    costs: FloatArray  # (m,)

    @classmethod
    def of(cls, y: RecurrentEvents, rows: PositionArray | None = None) -> Self:
        """Return all of some histories, whose individuals have places among others."""
        owner, event_owner = owners_of(y.window_offsets), y.event_owner
        if rows is not None:
            owner, event_owner = rows[owner], rows[event_owner]
        return cls(owner, y.window_start, y.window_stop, event_owner, y.times, y.costs)


def observe(y: RecurrentEvents, start: FloatArray, stop: FloatArray) -> Observed:
    """Return what was observed in ``(start, stop]``, one pair of times per individual."""
    return _find(y, start, stop)[0]


def _find(
    y: RecurrentEvents, start: FloatArray, stop: FloatArray
) -> tuple[Observed, PositionArray]:
    """Return what was observed between times, and which of the events that are."""
    everything = Observed.of(y)
    owner, who = everything.owner, everything.event_owner
    begin = np.maximum(y.window_start, start[owner])
    end = np.minimum(y.window_stop, stop[owner])
    seen = np.flatnonzero(end > begin)  # positions are faster to take than a mask
    happens = np.flatnonzero((y.times > start[who]) & (y.times <= stop[who]))
    windows = owner.take(seen), begin.take(seen), end.take(seen)
    costs = y.costs.take(happens)
    return Observed(*windows, who.take(happens), y.times.take(happens), costs), happens


def clip_sensors(
    sensors: Trajectories, stop: FloatArray, future: Trajectories | None = None
) -> Trajectories:
    """Return the samples up to one time per individual.

    Samples of a planned future and of sensors known in advance are added after it.
    """
    owner = owners_of(sensors.offsets)
    is_known = sensors.times <= stop[owner]
    past = sensors._with(
        times=sensors.times[is_known],
        values=np.ascontiguousarray(sensors.values[:, is_known]),
        offsets=offsets_of(np.bincount(owner[is_known], minlength=len(sensors))),
    )
    planned = () if future is None else future.names
    ahead = [name for name in sensors._known_ahead() if name not in planned]
    if ahead:
        known = sensors.select(ahead)
        future = known if future is None else future.merge(known)
    return past if future is None else past.followed_by(future, at=stop)


def read_times(y: RecurrentEvents, time: Any, name: str) -> FloatArray:
    """Return one time per individual on the time axis of the histories.

    Time stamps are counted from the common origin or from each individual's own.
    """
    check_labels(time, y, name)
    given: AnyArray = np.asarray(time)
    is_number = given.dtype.kind in "fiu"
    is_missing = is_number and np.isnan(given).any()
    if given.ndim > 1 or given.size not in {1, len(y)} or is_missing:
        raise InvalidParameterError(
            f"`{name}` must be one time, or one for each of the {len(y)} individuals, and "
            f"none may be missing, but its shape is {given.shape}."
        )
    values = given.ravel().astype(np.float64) if is_number else _read_stamps(y, time, name)
    return np.broadcast_to(values, (len(y),)).copy()


def _read_stamps(y: RecurrentEvents, time: Any, name: str) -> FloatArray:
    """Return one time stamp, or one per individual, as numbers."""
    since = find_origins(y)
    if since is None:
        raise InvalidParameterError(
            f"`{name}` must be a number, or one per individual, but it is {time!r} and the "
            "histories do not count time from a known date.\n\n"
            "Hint: RecurrentEvents.from_long reads tables of time stamps."
        )
    stamps = np.array(
        [as_stamp(moment, name) for moment in np.asarray(time).ravel()], "datetime64[us]"
    )
    return to_numbers(stamps, since, y.time_unit)
