"""Columns of any DataFrame as plain arrays, with messages that name the column."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe

from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr._validation import blame, first_few
from boostr.exceptions import InvalidEventsError, InvalidParameterError, TargetTypeError

Frame = nw.DataFrame[Any]
Column = nw.Series[Any]


def as_frame(df: Any) -> Frame:
    """Wrap a table, or say what was given instead.

    Parameters
    ----------
    df : DataFrame
        From pandas, polars or anything else that narwhals reads.

    Returns
    -------
    narwhals.DataFrame
        The same table.

    Examples
    --------
    >>> import pandas as pd
    >>> as_frame(pd.DataFrame({"day": [1.0]})).columns
    ['day']
    """
    try:
        frame = nw.from_native(df, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InvalidParameterError(
            "The columns of a table must have different names, but some share one.\n\n"
            "Hint: df.loc[:, ~df.columns.duplicated()] keeps the first of each."
        ) from error
    if isinstance(frame, nw.DataFrame):
        return frame
    raise TargetTypeError(
        "Events must come in a pandas or polars DataFrame, but they come in a "
        f"{type(df).__name__}.\n\n"
        "Hint: pandas.DataFrame(…) of it, .collect() for a lazy table, "
        "`from_lists` for lists or `from_wide` for an array."
    )


def check_columns(frame: Frame, columns: dict[str, str | None], df: Any) -> None:
    """Refuse names of columns that the table does not have.

    Parameters
    ----------
    frame : narwhals.DataFrame
        The table.
    columns : dict
        Name of the column by role; None for a role that is not used.
    df : DataFrame
        The table as the user gave it, whose index may hold the column.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"day": [1.0]})
    >>> check_columns(as_frame(df), {"time": "day"}, df)
    """
    wanted = {role: name for role, name in columns.items() if name is not None}
    missing = {role: name for role, name in wanted.items() if name not in frame.columns}
    if not missing:
        return
    named = first_few(f"{role}={name!r}" for role, name in missing.items())
    in_index = is_pandas_dataframe(df) and not set(df.index.names).isdisjoint(
        missing.values()
    )
    hint = (
        "the index has it: pass df.reset_index()."
        if in_index
        else f"the columns are {', '.join(map(repr, frame.columns))}."
    )
    raise InvalidParameterError(
        f"The table must have the columns that are named, but it lacks {named}.\n\n"
        f"Hint: {hint}"
    )


def factor(column: Column) -> tuple[AnyArray, OffsetArray]:
    """Find the individuals of a table, sorted by id.

    Parameters
    ----------
    column : narwhals.Series
        Id of every row.

    Returns
    -------
    ids : (n,) array
        The different ids, sorted.
    owner : (n_rows,) int64 array
        Position of every row's id.

    Examples
    --------
    >>> import pandas as pd
    >>> ids, owner = factor(as_frame(pd.DataFrame({"well": [7, 3, 7]}))["well"])
    >>> ids, owner
    (array([3, 7]), array([1, 0, 1]))
    """
    values = column.to_numpy()
    _check_ids_known(column, values)
    if values.dtype.kind != "O":
        if not (values[1:] >= values[:-1]).all():
            ids, owner = np.unique(values, return_inverse=True)
            return ids, owner.astype(np.int64, copy=False)
        is_first = np.ones(values.size, dtype=bool)  # tables often come sorted
        np.not_equal(values[1:], values[:-1], out=is_first[1:])
        return values[is_first], np.cumsum(is_first) - 1
    rows = values.tolist()
    try:
        names = sorted(set(rows))
    except TypeError:
        kinds = first_few(dict.fromkeys(type(value).__name__ for value in rows))
        raise InvalidEventsError(
            f"Ids must be all numbers or all texts, but column {column.name!r} mixes "
            f"{kinds}.\n\nHint: make them texts, for instance df[id].astype(str)."
        ) from None
    position = {name: i for i, name in enumerate(names)}
    owner = np.fromiter(map(position.__getitem__, rows), np.int64, count=len(rows))
    ids = np.empty(len(names), dtype=object)
    ids[:] = names
    return ids, owner


def _check_ids_known(column: Column, values: AnyArray) -> None:
    """Refuse rows without an id."""
    unknown = column.is_null().to_numpy().astype(bool)
    if values.dtype.kind == "f":
        unknown |= np.isnan(values)
    if unknown.any():
        rows = np.flatnonzero(unknown)
        raise InvalidEventsError(
            f"Every row must have an id, but column {column.name!r} has none in "
            f"{rows.size} of {values.size} rows (rows {first_few(rows[:6])}).\n\n"
            "Hint: fill in the id, or drop those rows."
        )


def read_flags(column: Column, owner: OffsetArray, ids: AnyArray) -> BoolArray:
    """Read which rows are events.

    Parameters
    ----------
    column : narwhals.Series
        Booleans, or 0 and 1.
    owner : (n_rows,) int64 array
        Individual of every row.
    ids : (n,) array
        Id of every individual.

    Returns
    -------
    (n_rows,) bool array
        True for an event.

    Examples
    --------
    >>> import pandas as pd
    >>> column = as_frame(pd.DataFrame({"failed": [1, 0]}))["failed"]
    >>> read_flags(column, np.array([0, 0]), np.array(["W1"]))
    array([ True, False])
    """
    rule = f"Column {column.name!r} must be True or False, or 1 or 0, in every row"
    hint = (
        "write 1 for an event and 0 for the end of follow-up, for instance df[event] == 1."
    )
    if column.dtype != nw.Boolean and not column.dtype.is_numeric():
        raise InvalidEventsError(f"{rule}, but it holds {column.dtype}.\n\nHint: {hint}")
    values = column.cast(nw.Float64).to_numpy()
    bad = ~((values == 0) | (values == 1))
    if bad.any():
        raise blame(rule, ids, owner[bad], hint)
    return np.asarray(values == 1)


def read_numbers(column: Column) -> FloatArray:
    """Read numbers, missing ones as NaN.

    Parameters
    ----------
    column : narwhals.Series
        Any kind of number.

    Returns
    -------
    (n_rows,) float64 array
        A copy.

    Examples
    --------
    >>> import pandas as pd
    >>> read_numbers(as_frame(pd.DataFrame({"cost": [1, 2]}))["cost"])
    array([1., 2.])
    """
    if not column.dtype.is_numeric():
        raise InvalidEventsError(
            f"Column {column.name!r} must hold numbers, but it holds {column.dtype}.\n\n"
            "Hint: convert it, for instance with pandas.to_numeric."
        )
    return column.cast(nw.Float64).to_numpy().astype(np.float64)


def read_moments(column: Column) -> AnyArray:
    """Read times, which may be numbers, time stamps or durations.

    Parameters
    ----------
    column : narwhals.Series
        One of the three.

    Returns
    -------
    (n_rows,) float64, datetime64[us] or timedelta64[us] array
        NaN or NaT where missing; stamps with a zone are converted to UTC.

    Examples
    --------
    >>> import pandas as pd
    >>> read_moments(as_frame(pd.DataFrame({"day": [1, 2]}))["day"])
    array([1., 2.])
    """
    dtype = column.dtype
    if dtype.is_numeric():
        return read_numbers(column)
    native = column.to_native()
    if getattr(getattr(native, "dtype", None), "tz", None) is not None:
        # Of pandas, for narwhals does not know zones with an underscore or a digit.
        return np.asarray(native.dt.tz_convert(None)).astype("datetime64[us]")
    if dtype == nw.Duration:
        return column.to_numpy().astype("timedelta64[us]")
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if dtype == nw.Date or isinstance(dtype, nw.Datetime):
        return column.to_numpy().astype("datetime64[us]")
    raise InvalidEventsError(
        f"Column {column.name!r} must hold numbers, time stamps or durations, but it "
        f"holds {dtype}.\n\n"
        "Hint: convert it, for instance with pandas.to_datetime or pandas.to_numeric."
    )
