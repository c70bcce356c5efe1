"""Columns of any DataFrame as plain arrays, and the order that sorts rows by individual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe

from boostr._checks.numbers import blame, first_few
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.data.flat import offsets_of, take_entries
from boostr.exceptions import InvalidEventsError, InvalidParameterError, TargetTypeError

Frame = nw.DataFrame[Any]
Column = nw.Series[Any]

_EVENT_HINT = (
    "write 1 for an event and 0 for the end of follow-up, for instance df[event] == 1."
)


def as_frame(df: Any) -> Frame:
    """Return the table as a narwhals DataFrame; refuse anything that is not a table."""
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
    """Refuse column names, given by role, that are missing in the table.

    A role with the name None is not used; `df` is only needed for the hint.
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
    """Return the sorted ids and the position of every row's id."""
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


def read_flags(
    column: Column, owner: OffsetArray, ids: AnyArray, hint: str = _EVENT_HINT
) -> BoolArray:
    """Return the rows that have a flag, from booleans or 0 and 1."""
    rule = f"Column {column.name!r} must be True or False, or 1 or 0, in every row"
    if column.dtype != nw.Boolean and not column.dtype.is_numeric():
        raise InvalidEventsError(f"{rule}, but it holds {column.dtype}.\n\nHint: {hint}")
    values = column.cast(nw.Float64).to_numpy()
    bad = ~((values == 0) | (values == 1))
    if bad.any():
        raise blame(rule, ids, owner[bad], hint)
    return np.asarray(values == 1)


def read_numbers(column: Column) -> FloatArray:
    """Return a float64 copy of a column; missing values become NaN."""
    if not column.dtype.is_numeric():
        raise InvalidEventsError(
            f"Column {column.name!r} must hold numbers, but it holds {column.dtype}.\n\n"
            "Hint: convert it, for instance with pandas.to_numeric."
        )
    return column.cast(nw.Float64).to_numpy().astype(np.float64)


def read_moments(column: Column) -> AnyArray:
    """Return times as float64, datetime64[us] or timedelta64[us].

    Missing ones are NaN or NaT; time stamps with a time zone are converted to UTC.
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


@dataclass(frozen=True, kw_only=True)
class RowRuns:
    """Rows of a table in runs of one individual each.

    Run ``r`` is the rows ``starts[r]:starts[r + 1]`` of individual ``owner[r]``.
    """

    starts: OffsetArray  # (n_runs + 1,)
    owner: OffsetArray  # (n_runs,)
    ids: AnyArray  # (n,)

    def owner_of(self, rows: AnyArray) -> OffsetArray:
        """Return the individuals of some rows."""
        return self.owner[np.searchsorted(self.starts, rows, side="right") - 1]


def find_runs(
    column: Column, factor: Callable[[Column], tuple[AnyArray, OffsetArray]]
) -> RowRuns:
    """Return the runs of equal ids in a column; `factor` sorts the ids of the runs.

    This avoids sorting all rows if the rows of each individual stand together.
    """
    n_rows = len(column)
    if n_rows == 0 or column.is_null().any():
        ids, owner = factor(column)  # which refuses missing ids
        return RowRuns(starts=np.zeros(1, dtype=np.int64), owner=owner, ids=ids)
    changes = _changes(column)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1, [n_rows]]).astype(np.int64)
    heads = column if starts.size == n_rows + 1 else column[starts[:-1]]
    ids, owner = factor(heads)
    return RowRuns(starts=starts, owner=owner, ids=ids)


def find_owners(column: Column) -> tuple[AnyArray, OffsetArray]:
    """Return the sorted ids and the position of every row's id; fast for long runs."""
    if column.dtype.is_numeric():
        return factor(column)
    runs = find_runs(column, factor)
    return runs.ids, np.repeat(runs.owner, np.diff(runs.starts))


def _changes(column: Column) -> BoolArray:
    """Return for every row but the first whether its id differs from the row before."""
    if column.dtype.is_numeric():
        values = column.to_numpy()
        return np.asarray(values[1:] != values[:-1])
    changes = (column != column.shift(1)).fill_null(True).to_numpy()
    return np.asarray(changes[1:], dtype=bool)


def order_rows(times: FloatArray, runs: RowRuns) -> tuple[OffsetArray | None, OffsetArray]:
    """Return the stable order of rows by individual and time, and the offsets.

    The order is None if the rows are sorted already.
    """
    lengths = np.diff(runs.starts)
    counts = np.bincount(runs.owner, weights=lengths, minlength=runs.ids.size)
    offsets = offsets_of(counts.astype(np.int64))
    if (runs.owner[1:] > runs.owner[:-1]).all() and _rises(times, offsets):
        return None, offsets
    by_owner = np.argsort(runs.owner, kind="stable").astype(np.int64, copy=False)
    rows, _ = take_entries(runs.starts, by_owner)
    if _rises(times[rows], offsets):
        return rows, offsets
    owner = np.repeat(runs.owner, lengths)
    return np.lexsort((times, owner)).astype(np.int64, copy=False), offsets


def _rises(times: FloatArray, offsets: OffsetArray) -> bool:
    """Return whether times never decrease within an individual."""
    falls = times[1:] < times[:-1]
    inner = offsets[1:-1]
    falls[inner[(inner > 0) & (inner < times.size)] - 1] = False
    return not falls.any()
