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
    """Give the full name of a unit of time.

    Parameters
    ----------
    unit : str or None
        A unit as `RecurrentEvents` keeps it.

    Returns
    -------
    str or None
        Its name, or the unit itself if it has no other.

    Examples
    --------
    >>> name_unit("D"), name_unit("km"), name_unit(None)
    ('days', 'km', None)
    """
    return UNIT_NAMES.get(unit or "", unit)


def name_length(length: float, unit: str | None) -> str:
    """Give a length of time in words.

    Parameters
    ----------
    length : float
        A number of units.
    unit : str or None
        A unit as `RecurrentEvents` keeps it, or its full name.

    Returns
    -------
    str
        Number and name of the unit, as everybody is to read it.

    Examples
    --------
    >>> name_length(1, "D"), name_length(8760.0, "h"), name_length(2.5, None)
    ('1 day', '8,760 hours', '2.5 units of time')
    """
    name = name_unit(unit) or "units of time"
    if length == 1.0:
        singular = {plural: plural.removesuffix("s") for plural in UNIT_NAMES.values()}
        name = (singular | {"units of time": "unit of time"}).get(name, name)
    return f"{length:,.0f} {name}" if abs(length) >= 1000.0 else f"{length:.4g} {name}"


def resolve_unit(unit: str | None, kind: str) -> str | None:
    """Give the unit of the resulting numbers.

    Parameters
    ----------
    unit : str or None
        As the user gave it.
    kind : {"f", "M", "m"}
        Whether the table holds numbers, time stamps or durations.

    Returns
    -------
    str or None
        None if the unit of numbers was not named.

    Examples
    --------
    >>> resolve_unit(None, "M"), resolve_unit("m", "M"), resolve_unit("km", "f")
    ('D', 'min', 'km')
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
    """Give the common moment of time 0, in microseconds.

    Parameters
    ----------
    origin : time stamp or None
        As the user gave it; None asks for the earliest stamp.
    stamps : datetime64[us] array
        All time stamps of the table.

    Returns
    -------
    numpy.datetime64
        Moment of time 0.

    Examples
    --------
    >>> stamps = np.array(["2024-01-02", "2024-01-01"], dtype="datetime64[us]")
    >>> str(resolve_origin(None, stamps))
    '2024-01-01T00:00:00.000000'
    """
    if origin is not None:
        return as_stamp(origin, "origin")
    known = stamps[~np.isnat(stamps)]
    return known.min() if known.size else np.datetime64(0, "us")


def as_stamp(moment: Any, name: str) -> Any:
    """Read one time stamp.

    Parameters
    ----------
    moment : str, datetime, date or numpy.datetime64
        Text in ISO format; zones are converted to UTC.
    name : str
        What it is, for the message.

    Returns
    -------
    numpy.datetime64
        In microseconds.

    Examples
    --------
    >>> str(as_stamp("2024-01-01", "origin"))
    '2024-01-01T00:00:00.000000'
    """
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
    """Measure times from an origin in a unit.

    Parameters
    ----------
    values : (k,) float64, datetime64[us] or timedelta64[us] array
        Times as read.
    origin : scalar, (k,) array or None
        Time 0, of the kind of the values; None to leave them where they are.
    unit : str or None
        Unit of the result; numbers are not converted.

    Returns
    -------
    (k,) float64 array
        NaN where the time is missing.

    Examples
    --------
    >>> stamps = np.array(["2024-01-02T12"], dtype="datetime64[us]")
    >>> to_numbers(stamps, np.datetime64("2024-01-01"), "D")
    array([1.5])
    """
    shifted = values if origin is None else values - origin
    if shifted.dtype.kind == "m":
        shifted = shifted / np.timedelta64(MICROSECONDS[str(unit)], "us")
    return np.asarray(shifted, dtype=np.float64)


def to_stamps(times: FloatArray, origin: Any, unit: str) -> AnyArray:
    """Turn numbers back into time stamps.

    Parameters
    ----------
    times : (k,) float64 array
        Times since the origin.
    origin : numpy.datetime64 or (k,) datetime64 array
        Moment of time 0, or one for each time.
    unit : str
        Unit of the times.

    Returns
    -------
    (k,) datetime64[us] array
        Rounded to the microsecond.

    Examples
    --------
    >>> to_stamps(np.array([1.5]), np.datetime64("2024-01-01"), "D")
    array(['2024-01-02T12:00:00.000000'], dtype='datetime64[us]')
    """
    shift = np.rint(times * MICROSECONDS[unit]).astype(np.int64)
    return np.asarray(origin.astype("datetime64[us]") + shift.astype("timedelta64[us]"))


def common_kind(kinds: dict[str, str]) -> str:
    """Give the kind that all columns of times share.

    Parameters
    ----------
    kinds : dict
        Kind ("f", "M" or "m") by name of the column.

    Returns
    -------
    str
        The one kind.

    Examples
    --------
    >>> common_kind({"start": "f", "stop": "f"})
    'f'
    """
    found = sorted(set(kinds.values()))
    if len(found) == 1:
        return found[0]
    names = {"f": "numbers", "M": "time stamps", "m": "durations"}
    raise InvalidParameterError(
        "Times must all be numbers, all be time stamps or all be durations, but "
        f"{first_few(f'{name!r} holds {names[kind]}' for name, kind in kinds.items())}."
        "\n\nHint: convert one of them, for instance with pandas.to_datetime."
    )
