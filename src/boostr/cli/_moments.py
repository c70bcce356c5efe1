"""Columns of times and flags in any usual notation."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from boostr._checks.numbers import first_few
from boostr.cli._files import TableFile, load_polars
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = [
    "could_be_flags",
    "could_be_times",
    "is_date",
    "parse_flags",
    "parse_time",
    "parse_times",
]

_DAY = "%Y-%m-%d"
# Formats of one family may be mixed in a column.
_FAMILIES = (
    (_DAY, *(f"{_DAY}{gap}%H:%M{rest}" for gap in (" ", "T") for rest in ("", ":%S%.f"))),
    tuple(f"{_DAY}{gap}%H:%M:%S%.f%#z" for gap in (" ", "T")),
    ("%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S"),
    ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"),
    ("%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S"),
    ("%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S"),
    *(
        tuple(f"{day}{rest}" for rest in ("", " %H:%M", " %H:%M:%S"))
        for day in ("%d-%B-%Y", "%d %B %Y")  # also of the first three letters
    ),
)
_SAMPLE = 1_000
_LOOKS_LIKE_DATE = re.compile(
    r"\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?!\d)|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{4})"
)
_FLAGS = {
    **dict.fromkeys(("1", "1.0", "true", "t", "yes", "y"), True),
    **dict.fromkeys(("0", "0.0", "false", "f", "no", "n"), False),
}
_COMPACT_DAYS = (19_000_101, 21_001_231)
_COMPACT = {"%Y%m%d": 1, "%Y%m%d%H%M": 10_000, "%Y%m%d%H%M%S": 1_000_000}
_LEAST_YEAR = 100  # before which a year has two digits


def could_be_times(column: Any) -> bool:
    """Return whether a column may hold times: numbers, time stamps or dates as text."""
    polars = load_polars()
    if column.dtype != polars.String:
        return bool(column.dtype.is_numeric() or column.dtype.is_temporal())
    first = column.drop_nulls().head(1).to_list()
    return bool(first) and _LOOKS_LIKE_DATE.match(first[0]) is not None


def could_be_flags(column: Any) -> bool:
    """Return whether a column holds only yes and no, in one of the usual words."""
    polars = load_polars()
    known = column.drop_nulls()
    if column.dtype == polars.Boolean:
        return True
    if column.dtype == polars.String:
        return (
            bool(known.len())
            and known.str.strip_chars().str.to_lowercase().is_in(list(_FLAGS)).all()
        )
    if not column.dtype.is_numeric() or not known.len():
        return False
    numbers = known.cast(polars.Float64)
    return bool(((numbers == 0.0) | (numbers == 1.0)).all())


def parse_flags(column: Any, file: TableFile | None = None) -> Any:
    """Return a column of yes and no as booleans; numbers are left to the library.

    With ``file``, an error names the line of the first unknown word.
    """
    polars = load_polars()
    if column.dtype != polars.String:
        return column
    words = column.str.strip_chars().str.to_lowercase()
    flags = words.replace_strict(_FLAGS, default=None, return_dtype=polars.Boolean)
    strange = column.filter(flags.is_null()).unique(maintain_order=True)
    if strange.len():
        raise InvalidEventsError(
            f"Column `{column.name}` must be 1 or 0, true or false, yes or no in every row,"
            f" but there is {first_few(map(repr, strange.to_list()))}"
            f"{_locate(flags.is_null(), file)}.\n\n"
            "Hint: write 1 for an event and 0 for the end of follow-up."
        )
    return flags.alias(column.name)


def parse_times(column: Any, file: TableFile | None = None) -> Any:
    """Return a column of times as numbers or time stamps; refuse others.

    With ``file``, an error names the line of the first unreadable value.
    """
    polars = load_polars()
    if column.dtype.is_integer():
        return _parse_compact(column)
    if column.dtype != polars.String:
        return column
    text = column.str.strip_chars()
    numbers = text.cast(polars.Float64, strict=False)
    if numbers.null_count() == text.null_count():
        return numbers
    sample = text.drop_nulls().head(_SAMPLE)
    fitting = [family for family in _FAMILIES if not _parse(sample, family).null_count()]
    parsed = [(family, _parse(text, family)) for family in fitting]
    parsed = [pair for pair in parsed if pair[1].null_count() == text.null_count()]
    if not parsed:
        raise _refuse_times(text, file)
    if any(not pair[1].equals(parsed[0][1]) for pair in parsed[1:]):
        raise InvalidEventsError(
            f"Dates must have one meaning, but {sample[0]!r} in column `{column.name}` may "
            "be day first or month first.\n\nHint: write dates as 2024-01-31."
        )
    return parsed[0][1]


def parse_time(text: str, what: str) -> float | datetime:
    """Return the time given as an option: a number or a time stamp."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidParameterError(
            f"{what} must be a number or a date, but it is {text!r}.\n\n"
            "Hint: write dates as 2024-01-31 or 2024-01-31T12:00:00."
        ) from error


def is_date(text: str) -> bool:
    """Return whether an option is a date."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _parse_compact(column: Any) -> Any:
    """Return dates that are written as whole numbers, such as 19970131; others as given."""
    polars = load_polars()
    low, high = _COMPACT_DAYS
    known = column.drop_nulls()
    for form, factor in _COMPACT.items():
        if known.len() and known.is_between(low * factor, (high + 1) * factor - 1).all():
            found = column.cast(polars.String).str.to_datetime(form, strict=False)
            if found.null_count() == column.null_count():
                return found
    return column


def _parse(text: Any, family: tuple[str, ...]) -> Any:
    """Return time stamps, missing if no format of the family fits."""
    polars = load_polars()
    found = None
    for form in family:
        stamps = text.str.to_datetime(
            form, time_unit="us", strict=False, ambiguous="earliest"
        )
        found = stamps if found is None else found.fill_null(stamps)
    assert found is not None  # noqa: S101 - families are not empty
    if isinstance(found.dtype, polars.Datetime) and found.dtype.time_zone is not None:
        found = found.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    is_usual = found.dt.year() >= _LEAST_YEAR
    return polars.select(polars.when(is_usual).then(found)).to_series().alias(text.name)


def _refuse_times(text: Any, file: TableFile | None) -> InvalidEventsError:
    """Refuse times, with the first value that is written differently and its line."""
    polars = load_polars()
    is_known = text.is_not_null()
    read = [text.cast(polars.Float64, strict=False)]
    read += [_parse(text, family) for family in _FAMILIES]
    is_odd = min((each.is_null() & is_known for each in read), key=lambda mask: mask.sum())
    odd, rest = text.filter(is_odd), text.filter(is_known & ~is_odd)
    where = _locate(is_odd, file)
    if not rest.len():
        return InvalidEventsError(
            f"Column `{text.name}` must hold numbers or dates, but there is "
            f"{first_few(map(repr, odd.unique(maintain_order=True).head(6).to_list()))}"
            f"{where}.\n\n"
            "Hint: write dates as 2024-01-31, or name another column for the times."
        )
    if _shape(odd[0]) in map(_shape, rest.head(_SAMPLE)):
        return InvalidEventsError(
            f"Column `{text.name}` must hold dates of the calendar, but {odd[0]!r}{where} "
            "is none.\n\nHint: correct the date, or drop the row."
        )
    return InvalidEventsError(
        f"Column `{text.name}` must hold numbers, or dates that are all written alike, but "
        f"there is {odd[0]!r}{where} beside {rest[0]!r}.\n\n"
        "Hint: write dates as 2024-01-31 or 2024-01-31T12:00:00."
    )


def _shape(text: str) -> str:
    """Return the pattern in which a date is written."""
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d", "9", text))


def _locate(is_odd: Any, file: TableFile | None) -> str:
    """Return the line of the first odd value, for a message."""
    if file is None:
        return ""
    return f" (row {file.lines(is_odd.arg_true().head(1))} of {file.path.name!r})"
