"""Time 0, for all alike or for each individual: dates to numbers since it, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data._times import (
    INDIVIDUAL,
    MICROSECONDS,
    common_kind,
    resolve_origin,
    resolve_unit,
    to_numbers,
    to_stamps,
)
from boostr.exceptions import InvalidEventsError, InvalidParameterError

if TYPE_CHECKING:
    from boostr.data._container import EventContainer

__all__ = [
    "as_moments",
    "counts_from_elsewhere",
    "find_origins",
    "join_origins",
    "measure",
    "name_origin",
]


def measure(
    moments: dict[str, AnyArray], owner: OffsetArray, *, unit: str | None, origin: Any
) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Turn times of any kind into numbers since the origin.

    Parameters
    ----------
    moments : dict of (n_rows,) arrays
        Times by role, of one kind; "start" if it is known.
    owner : (n_rows,) int64 array
        Individual of every row; everybody has some.
    unit : str or None
        Unit of the numbers.
    origin : time stamp, "individual" or None
        Moment of time 0.

    Returns
    -------
    numbers : dict of (n_rows,) float64 arrays
        Times by role.
    clock : dict
        The fields of a container that are about the unit and the origin.

    Examples
    --------
    >>> days = np.array(["2024-01-01", "2024-02-01"], dtype="datetime64[us]")
    >>> moments = {"start": days, "stop": days + np.timedelta64(5, "D")}
    >>> rows = np.array([0, 1])
    >>> measure(moments, rows, unit=None, origin="individual")[0]["stop"]
    array([5., 5.])
    """
    kind = common_kind({role: values.dtype.kind for role, values in moments.items()})
    clock: dict[str, Any] = {"time_unit": resolve_unit(unit, kind)}
    is_individual = isinstance(origin, str) and origin == INDIVIDUAL
    if "start" not in moments and (is_individual or (kind == "M" and origin is None)):
        raise InvalidEventsError(
            "The start of follow-up must be known to count time from it, but the table "
            "has only events and ends.\n\n"
            "Hint: give the entry as start=…, a column or a time stamp, or the moment "
            "at which follow-up started for all as origin='2024-01-31'."
        )
    if is_individual:
        own = _first_start(moments["start"], owner)
        since, found = own[owner], {"origins": own}
    else:
        since = _common_origin(moments, kind, origin)
        found = {"origin": since}
    if kind == "M":
        clock |= found
    unit_of_time = clock["time_unit"]
    return {role: to_numbers(v, since, unit_of_time) for role, v in moments.items()}, clock


def _common_origin(moments: dict[str, AnyArray], kind: str, origin: Any) -> Any:
    """Find time 0 of all, which numbers and durations do not need."""
    if kind == "M":
        return resolve_origin(origin, np.concatenate(list(moments.values())))
    if origin is not None:
        raise InvalidParameterError(
            f"`origin` must be None or 'individual' unless times are time stamps, but it "
            f"is {origin!r}.\n\nHint: subtract the origin from the times in the table."
        )
    return None


def _first_start(start: AnyArray, owner: OffsetArray) -> AnyArray:
    """Find the earliest start of every individual."""
    order = np.lexsort((start, owner))
    return start[order][np.flatnonzero(np.diff(owner[order], prepend=-1))]


def find_origins(y: EventContainer) -> Any:
    """Give the date of time 0: one for all, one for each, or None if there is none.

    Parameters
    ----------
    y : RecurrentEvents
        Histories.

    Returns
    -------
    numpy.datetime64, (n,) datetime64 array or None
        None as well if time is in a unit that dates cannot be counted in.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> find_origins(RecurrentEvents.from_lists([[1.0]], end=2.0)) is None
    True
    """
    if y.time_unit not in MICROSECONDS:
        return None
    return y.origins if y.origin is None else y.origin


def name_origin(y: EventContainer) -> str:
    """Say from when histories count time.

    Parameters
    ----------
    y : RecurrentEvents
        Histories.

    Returns
    -------
    str
        A date, or words.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> name_origin(RecurrentEvents.from_lists([[1.0]], end=2.0))
    'an unknown date'
    """
    if y.origins is not None:
        return "each one's own start"
    return "an unknown date" if y.origin is None else str(y.origin)


def counts_from_elsewhere(y: EventContainer, origin: np.datetime64) -> bool:
    """Tell whether somebody's time is known not to count from a date.

    Parameters
    ----------
    y : RecurrentEvents
        Histories.
    origin : numpy.datetime64
        The date.

    Returns
    -------
    bool
        False if nothing is known.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> y = RecurrentEvents.from_lists([[1.0]], end=2.0)
    >>> counts_from_elsewhere(y, np.datetime64("2024-01-01"))
    False
    """
    since = y.origins if y.origin is None else y.origin
    return since is not None and bool(np.any(since != origin))


def as_moments(
    y: EventContainer, owner: OffsetArray | slice, times: FloatArray
) -> AnyArray:
    """Give times as the user knows them: as dates where time is counted from dates.

    Parameters
    ----------
    y : RecurrentEvents
        Histories.
    owner : (k,) int64 array or slice
        Individual of every time.
    times : (k,) float64 array
        Times on the axis of the histories.

    Returns
    -------
    (k,) float64 or datetime64[us] array
        The times themselves if there is no date of time 0.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> y = RecurrentEvents.from_lists([[1.0]], end=2.0)
    >>> as_moments(y, np.array([0, 0]), np.array([1.0, 2.0]))
    array([1., 2.])
    """
    since = find_origins(y)
    if since is None:
        return times
    return to_stamps(
        times, since if np.ndim(since) == 0 else since[owner], str(y.time_unit)
    )


def join_origins(origins: Sequence[AnyArray | None]) -> AnyArray | None:
    """Give the origins of containers put one after the other, if all of them are known.

    Parameters
    ----------
    origins : sequence of arrays or None
        Those of the parts.

    Returns
    -------
    (n,) datetime64[us] array or None
        All of them.

    Examples
    --------
    >>> days = np.array(["2024-01-01"], dtype="datetime64[D]")
    >>> join_origins([days, days]).shape, join_origins([days, None]) is None
    ((2,), True)
    """
    known = [part for part in origins if part is not None]
    return np.concatenate(known) if len(known) == len(origins) else None
