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
    """Return times by role as numbers since the origin, and the container's time fields.

    Times are of one kind; dates need "start" or an origin. Every individual has rows.
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
    """Return the common time 0; numbers and durations need none."""
    if kind == "M":
        return resolve_origin(origin, np.concatenate(list(moments.values())))
    if origin is not None:
        raise InvalidParameterError(
            f"`origin` must be None or 'individual' unless times are time stamps, but it "
            f"is {origin!r}.\n\nHint: subtract the origin from the times in the table."
        )
    return None


def _first_start(start: AnyArray, owner: OffsetArray) -> AnyArray:
    """Return the earliest start of every individual."""
    order = np.lexsort((start, owner))
    return start[order][np.flatnonzero(np.diff(owner[order], prepend=-1))]


def find_origins(y: EventContainer) -> Any:
    """Return the date of time 0, common or one per individual; None if not known.

    It is also None if the unit of time is not one that dates can be counted in.
    """
    if y.time_unit not in MICROSECONDS:
        return None
    return y.origins if y.origin is None else y.origin


def name_origin(y: EventContainer) -> str:
    """Return the origin of the histories for a message."""
    if y.origins is not None:
        return "each one's own start"
    return "an unknown date" if y.origin is None else str(y.origin)


def counts_from_elsewhere(y: EventContainer, origin: np.datetime64) -> bool:
    """Return whether an individual's known origin differs from a date."""
    since = y.origins if y.origin is None else y.origin
    return since is not None and bool(np.any(since != origin))


def as_moments(
    y: EventContainer, owner: OffsetArray | slice, times: FloatArray
) -> AnyArray:
    """Return times as dates if the histories have an origin, else as they are."""
    since = find_origins(y)
    if since is None:
        return times
    return to_stamps(
        times, since if np.ndim(since) == 0 else since[owner], str(y.time_unit)
    )


def join_origins(origins: Sequence[AnyArray | None]) -> AnyArray | None:
    """Return the origins of concatenated containers; None if a part has none."""
    known = [part for part in origins if part is not None]
    return np.concatenate(known) if len(known) == len(origins) else None
