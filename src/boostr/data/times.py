"""Time stamps and durations to numbers since an origin, and back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.exceptions import InvalidEventsError, InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

__all__ = [
    "EPOCH",
    "as_moments",
    "count_times",
    "counts_from_elsewhere",
    "find_origins",
    "join_origins",
    "name_origin",
    "name_rate",
]

EPOCH = np.datetime64(0, "us")  # from which dates are counted where no origin is known
INDIVIDUAL = "individual"
UNIT_NAMES = {"s": "seconds", "min": "minutes", "h": "hours", "D": "days", "W": "weeks"}
MICROSECONDS = {
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "D": 86_400_000_000,
    "W": 604_800_000_000,
}


def name_unit(unit: str | None) -> str | None:
    """Return the full name of a unit of time, or the unit itself if it has none."""
    return UNIT_NAMES.get(unit or "", unit)


def name_length(length: float, unit: str | None) -> str:
    """Return a length of time in words, such as "1 day" or "8,760 hours"."""
    name = name_unit(unit) or "units of time"
    if length == 1.0:
        singular = {plural: plural.removesuffix("s") for plural in UNIT_NAMES.values()}
        name = (singular | {"units of time": "unit of time"}).get(name, name)
    return f"{length:,.0f} {name}" if abs(length) >= 1000.0 else f"{length:.4g} {name}"


def name_moment(time: float, unit: str | None, origin: np.datetime64 | None) -> str:
    """Return a time in words: as a date where times count from one."""
    if origin is None or unit not in MICROSECONDS:
        return name_length(time, unit)
    return str(to_stamps(np.array(time), origin, unit).astype("datetime64[D]"))


def name_rate(unit: str | None) -> str:
    """Return the unit of a rate of events."""
    name = name_unit(unit)
    if name is None:
        return "events per unit of time"
    is_plural = len(name) > 3 and name.endswith("s") and not name.endswith("ss")
    return f"events per {name[:-1] if is_plural else name}"


def resolve_unit(unit: str | None, kind: str) -> str | None:
    """Return the unit of the numbers read from times of a kind: "f", "M" or "m".

    It is days by default, and None for numbers whose unit is not given.
    """
    if kind == "f":
        return unit
    aliases = {"m": "min"} | {name: short for short, name in UNIT_NAMES.items()}
    unit = "D" if unit is None else aliases.get(unit, unit)
    if unit not in MICROSECONDS:
        raise InvalidParameterError(
            f"`unit` must be one of {', '.join(MICROSECONDS)} for time stamps and "
            f"durations, but it is {unit!r}.\n\n"
            "Hint: unit='D' counts in days, unit='h' in hours."
        )
    return unit


def resolve_origin(origin: Any, stamps: AnyArray) -> Any:
    """Return the common time 0 in microseconds, by default the earliest time stamp."""
    if origin is not None:
        return as_stamp(origin, "origin")
    known = stamps[~np.isnat(stamps)]
    return known.min() if known.size else np.datetime64(0, "us")


def as_stamp(moment: Any, name: str) -> Any:
    """Return one time stamp in microseconds, converted to UTC if it has a time zone."""
    if hasattr(moment, "to_datetime64"):  # a stamp of pandas, in UTC if it has a zone
        moment = moment.to_datetime64()
    if isinstance(moment, np.datetime64) and not np.isnat(moment):
        return moment.astype("datetime64[us]")
    try:
        read = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    except ValueError:
        read = None
    if isinstance(read, datetime) and read.tzinfo is not None:
        read = read.astimezone(UTC).replace(tzinfo=None)
    if isinstance(read, date):
        return np.datetime64(read, "us")
    raise InvalidParameterError(
        f"`{name}` must be a time stamp for a table of time stamps, but it is "
        f"{moment!r}.\n\n"
        "Hint: write it as '2024-01-31' or '2024-01-31T12:00:00', or as a datetime."
    )


def to_numbers(values: AnyArray, origin: Any, unit: str | None) -> FloatArray:
    """Return times since the origin (None to keep them) in a unit; NaN where missing.

    Numbers are shifted, but not converted.
    """
    shifted = values if origin is None else values - origin
    if shifted.dtype.kind == "m":
        shifted = shifted / np.timedelta64(MICROSECONDS[str(unit)], "us")
    return np.asarray(shifted, dtype=np.float64)


def to_stamps(times: FloatArray, origin: Any, unit: str) -> AnyArray:
    """Return numbers as time stamps, rounded to the microsecond."""
    shift = np.rint(times * MICROSECONDS[unit]).astype(np.int64)
    return np.asarray(origin.astype("datetime64[us]") + shift.astype("timedelta64[us]"))


def common_kind(kinds: dict[str, str]) -> str:
    """Return the one kind ("f", "M" or "m") of all columns of times."""
    found = sorted(set(kinds.values()))
    if len(found) == 1:
        return found[0]
    names = {"f": "numbers", "M": "time stamps", "m": "durations"}
    raise InvalidParameterError(
        "Times must all be numbers, all be time stamps or all be durations, but "
        f"{first_few(f'{name!r} holds {names[kind]}' for name, kind in kinds.items())}."
        "\n\nHint: convert one of them, for instance with pandas.to_datetime."
    )


def count_times(
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


def find_origins(y: RecurrentEvents) -> Any:
    """Return the date of time 0, common or one per individual; None if not known.

    It is also None if the unit of time is not one that dates can be counted in.
    """
    if y.time_unit not in MICROSECONDS:
        return None
    return y.origins if y.origin is None else y.origin


def name_origin(y: RecurrentEvents) -> str:
    """Return the origin of the histories for a message."""
    if y.origins is not None:
        return "each one's own start"
    return "an unknown date" if y.origin is None else str(y.origin)


def counts_from_elsewhere(y: RecurrentEvents, origin: np.datetime64) -> bool:
    """Return whether an individual's known origin differs from a date."""
    since = y.origins if y.origin is None else y.origin
    return since is not None and bool(np.any(since != origin))


def as_moments(
    y: RecurrentEvents, owner: OffsetArray | slice, times: FloatArray
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
