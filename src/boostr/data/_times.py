"""Time stamps and durations to numbers, and back."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr._validation import first_few
from boostr.exceptions import InvalidParameterError

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
