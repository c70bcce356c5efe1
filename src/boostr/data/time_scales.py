"""The same histories in calendar time and in age."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import blame, check_labels
from boostr._typing import AnyArray, FloatArray
from boostr.data.events.intervals import move_intervals
from boostr.data.flat import owners_of
from boostr.data.times import MICROSECONDS, as_stamp, to_numbers, to_stamps
from boostr.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents
    from boostr.data.sensors.trajectories import Trajectories

__all__ = ["find_shift", "move_samples", "to_age", "to_calendar_time"]

Events = TypeVar("Events", bound="RecurrentEvents")
_TOLERANCE = 1e-9  # of the longest time, up to which two time scales agree


def to_calendar_time(y: Events, since: ArrayLike | None) -> Events:
    """Return the histories with the time of all individuals counted from one date."""
    check_labels(since, y, "since")
    if since is None and y.origin is not None:
        return y
    given = y.origins if since is None else since
    if given is None:
        raise InvalidParameterError(
            "Calendar time needs the date of time 0 of every individual, but the "
            "histories do not have them.\n\nHint: in_calendar_time(since=dates), or "
            "RecurrentEvents.from_long(…, origin='individual') with time stamps."
        )
    moments = _read_moments(given, len(y), y.time_unit)
    if moments.dtype.kind == "f":
        return _move(y, moments, origin=None, origins=None)
    origin = to_stamps(y.start, moments, str(y.time_unit)).min()
    shift = to_numbers(moments, origin, y.time_unit)
    return _move(y, shift, origin=origin, origins=None)


def to_age(y: Events, since: ArrayLike | None) -> Events:
    """Return the histories with the time of each individual counted from its own start."""
    check_labels(since, y, "since")
    if since is None and y.origins is not None:
        return y
    zero = y.start if since is None else _count(y, since)
    known = y.origins if y.origin is None else y.origin
    origins = None if known is None else to_stamps(zero, known, str(y.time_unit))
    return _move(y, -zero, origin=None, origins=origins)


def _count(y: RecurrentEvents, since: ArrayLike) -> FloatArray:
    """Return moments as numbers on the time axis."""
    moments = _read_moments(since, len(y), y.time_unit)
    if moments.dtype.kind == "f":
        return moments
    origin = y.origins if y.origin is None else y.origin
    if origin is None:
        raise InvalidParameterError(
            "`since` must be numbers where histories do not count time from a known "
            "date, but it holds time stamps."
        )
    return to_numbers(moments, origin, y.time_unit)


def find_shift(y: RecurrentEvents, other: RecurrentEvents) -> FloatArray | None:
    """Return what to add to the times of ``y`` to get those of ``other``, per individual.

    It is None unless both hold the same events of the same individuals in the same unit.
    """
    same_ids = not (y.has_ids and other.has_ids) or np.array_equal(y.ids, other.ids)
    if not (
        same_ids
        and y.time_unit == other.time_unit
        and np.array_equal(y.event_offsets, other.event_offsets)
        and np.array_equal(y.window_offsets, other.window_offsets)
    ):
        return None
    shift = other.end - y.end
    close = _tolerate(y.end, other.end)
    pairs = (
        (y.times, other.times, y.event_owner),
        (y.window_start, other.window_start, owners_of(y.window_offsets)),
    )
    is_same = all(
        np.allclose(times + shift[owner], moved, rtol=0.0, atol=close)
        for times, moved, owner in pairs
    )
    return shift if is_same else None


def move_samples(
    sensors: Trajectories, y: RecurrentEvents, other: RecurrentEvents
) -> dict[str, Any]:
    """Return the fields of sensors that change with the time scale of the histories."""
    shift = find_shift(y, other)
    if shift is None:
        raise InvalidParameterError(
            "Histories must be the same in both time scales, but they differ in more than "
            "one shift of time per individual.\n\nHint: other=y.in_calendar_time() or "
            "other=y.in_age()."
        )
    return {
        "times": sensors.times + shift[owners_of(sensors.offsets)],
        "time_unit": other.time_unit,
        "origin": other.origin,
    }


def _move(y: Events, shift: FloatArray, **clock: Any) -> Events:
    """Return histories with times shifted by one number per individual."""
    owner = owners_of(y.window_offsets)
    begin = y.window_start + shift[owner]
    begin[np.abs(begin) <= _tolerate(y.end + shift)] = 0.0  # rounded times of entry
    if (begin < 0.0).any():
        hint = "`since` must be early enough: at the entry, or before it."
        rule = "Individuals must not enter before time 0"
        raise blame(rule, y.ids, owner[begin < 0.0], hint)
    return y._with(
        times=y.times + shift[y.event_owner],
        intervals=move_intervals(y, shift),
        window_start=begin,
        window_stop=y.window_stop + shift[owner],
        exposure=None if y.exposure is None else y.exposure.move(shift),
        **clock,
    )


def _tolerate(*times: FloatArray) -> float:
    """Return the tolerance within which times count as equal."""
    return _TOLERANCE * max(1.0, *(float(np.abs(each).max()) for each in times))


def _read_moments(since: ArrayLike, n: int, unit: str | None) -> AnyArray:
    """Return one moment per individual: numbers, or time stamps in microseconds."""
    given: AnyArray = np.asarray(since)
    if given.shape != (n,):
        raise InvalidParameterError(
            f"`since` must hold one moment for each of the {n} individuals, but its shape "
            f"is {given.shape}."
        )
    if given.dtype.kind in "fiu":
        numbers: FloatArray = given.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise InvalidParameterError(
                f"`since` must be finite, but {int((~np.isfinite(numbers)).sum())} of {n} "
                "are not."
            )
        return numbers
    if unit not in MICROSECONDS:
        raise InvalidParameterError(
            "`since` must be numbers unless histories count in a unit that dates have, but "
            f"it holds time stamps and the unit is {unit!r}.\n\n"
            "Hint: RecurrentEvents.from_long(…, unit='D')."
        )
    return np.array([as_stamp(each, "since") for each in given], "datetime64[us]")
