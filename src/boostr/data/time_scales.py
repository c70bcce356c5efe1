"""The same histories in calendar time and in age."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import blame
from boostr._typing import AnyArray, FloatArray
from boostr.data.events.container import EventContainer
from boostr.data.flat import owners_of
from boostr.data.times import MICROSECONDS, as_stamp, to_numbers, to_stamps
from boostr.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.sensors.container import PathContainer

__all__ = ["TimeScales", "find_shift", "move_samples"]

_TOLERANCE = 1e-9  # of the longest time, up to which two time scales agree


class TimeScales(EventContainer):
    """Histories that can be read in another time scale."""

    def in_calendar_time(self, since: ArrayLike | None = None) -> Self:
        """Count the time of all individuals from one date.

        Who starts later enters late, as in a table that was read with a common origin.

        Parameters
        ----------
        since : array-like of shape (n,), optional
            When time 0 of each individual was: time stamps, or numbers in the unit of the
            histories. By default `origins`, which histories have that were read with
            ``origin="individual"``.

        Returns
        -------
        RecurrentEvents
            The same events, counted from the first entry of all where `since` are time
            stamps. Histories with a common `origin` are returned as they are.

        See Also
        --------
        in_age : The way back.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0], [1.0]], end=[10.0, 7.0])
        >>> calendar = y.in_calendar_time(since=[0.0, 100.0])
        >>> calendar.start, calendar.end, calendar.times
        (array([  0., 100.]), array([ 10., 107.]), array([  3., 101.]))
        """
        if since is None and self.origin is not None:
            return self
        given = self.origins if since is None else since
        if given is None:
            raise InvalidParameterError(
                "Calendar time needs the date of time 0 of every individual, but the "
                "histories do not have them.\n\nHint: in_calendar_time(since=dates), or "
                "RecurrentEvents.from_long(…, origin='individual') with time stamps."
            )
        moments = _read_moments(given, len(self), self.time_unit)
        if moments.dtype.kind == "f":
            return _move(self, moments, origin=None, origins=None)
        entries = to_stamps(self.start, moments, str(self.time_unit))
        origin = entries.min()
        shift = to_numbers(moments, origin, self.time_unit)
        return _move(self, shift, origin=origin, origins=None)

    def in_age(self, since: ArrayLike | None = None) -> Self:
        """Count the time of each individual from a moment of its own.

        Parameters
        ----------
        since : array-like of shape (n,), optional
            When each individual has age 0, not after its entry: time stamps, or numbers on
            the time axis of the histories. By default the entry itself.

        Returns
        -------
        RecurrentEvents
            The same events; `origins` has the dates of age 0 if they are known. Histories
            that count from each one's own date already are returned as they are, unless
            `since` is given.

        See Also
        --------
        in_calendar_time : The way back.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists(
        ...     [[3.0], [101.0]], start=[0.0, 100.0], end=[10.0, 107.0]
        ... )
        >>> y.in_age().end, y.in_age(since=[0.0, 50.0]).start
        (array([10.,  7.]), array([ 0., 50.]))
        """
        if since is None and self.origins is not None:
            return self
        zero = self.start if since is None else self._count(since)
        origins = self.origins
        if self.origin is not None:
            origins = to_stamps(zero, self.origin, str(self.time_unit))
        elif origins is not None:
            origins = to_stamps(zero, origins, str(self.time_unit))
        return _move(self, -zero, origin=None, origins=origins)

    def _count(self, since: ArrayLike) -> FloatArray:
        """Return moments as numbers on the time axis."""
        moments = _read_moments(since, len(self), self.time_unit)
        if moments.dtype.kind == "f":
            return moments
        origin = self.origins if self.origin is None else self.origin
        if origin is None:
            raise InvalidParameterError(
                "`since` must be numbers where histories do not count time from a known "
                "date, but it holds time stamps."
            )
        return to_numbers(moments, origin, self.time_unit)


def find_shift(y: EventContainer, other: EventContainer) -> FloatArray | None:
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
    sensors: PathContainer, y: EventContainer, other: EventContainer
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


def _move(y: Any, shift: FloatArray, **clock: Any) -> Any:
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
