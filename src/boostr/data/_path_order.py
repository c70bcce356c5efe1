"""Whose rows stand where, and the order in which they are sorted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.data._columns import Column, factor
from boostr.data._flat import gather, offsets_of


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Rows of a table in runs of one individual each.

    Run ``r`` is the rows ``starts[r]:starts[r + 1]`` of individual ``owner[r]``.
    """

    starts: OffsetArray  # (n_runs + 1,)
    owner: OffsetArray  # (n_runs,)
    ids: AnyArray  # (n,)

    def owner_of(self, rows: AnyArray) -> OffsetArray:
        """Give the individuals of some rows."""
        return self.owner[np.searchsorted(self.starts, rows, side="right") - 1]


def find_runs(
    column: Column, factor: Callable[[Column], tuple[AnyArray, OffsetArray]]
) -> Runs:
    """Cut a column of ids where it changes.

    Parameters
    ----------
    column : narwhals.Series
        Id of every row.
    factor : callable
        Finds the individuals among the ids of the runs, sorted by id.

    Returns
    -------
    Runs
        Few where the rows of an individual stand together, which spares sorting all
        rows to find out who there is.
    """
    n_rows = len(column)
    if n_rows == 0 or column.is_null().any():
        ids, owner = factor(column)  # which refuses missing ids
        return Runs(starts=np.zeros(1, dtype=np.int64), owner=owner, ids=ids)
    changes = _changes(column)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1, [n_rows]]).astype(np.int64)
    heads = column if starts.size == n_rows + 1 else column[starts[:-1]]
    ids, owner = factor(heads)
    return Runs(starts=starts, owner=owner, ids=ids)


def find_owners(column: Column) -> tuple[AnyArray, OffsetArray]:
    """Find the individuals of a table, sorted by id; the faster, the longer its runs.

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
    >>> from boostr.data._columns import as_frame
    >>> find_owners(as_frame(pd.DataFrame({"well": ["W7", "W3"]}))["well"])[1]
    array([1, 0])
    """
    if column.dtype.is_numeric():
        return factor(column)
    runs = find_runs(column, factor)
    return runs.ids, np.repeat(runs.owner, np.diff(runs.starts))


def _changes(column: Column) -> BoolArray:
    """Tell for every row but the first whether its id differs from that of the last."""
    if column.dtype.is_numeric():
        values = column.to_numpy()
        return np.asarray(values[1:] != values[:-1])
    changes = (column != column.shift(1)).fill_null(True).to_numpy()
    return np.asarray(changes[1:], dtype=bool)


def order_rows(times: FloatArray, runs: Runs) -> tuple[OffsetArray | None, OffsetArray]:
    """Sort rows by individual and then by time, ties in the order of the table.

    Parameters
    ----------
    times : (n_rows,) float64 array
        Time of every row.
    runs : Runs
        Individuals of the rows.

    Returns
    -------
    order : (n_rows,) int64 array or None
        Rows in sorted order; None if they are sorted already.
    offsets : (n + 1,) int64 array
        Where each individual begins.

    Examples
    --------
    >>> runs = Runs(starts=np.array([0, 2, 3]), owner=np.array([1, 0]), ids=np.arange(2))
    >>> order_rows(np.array([1.0, 2.0, 5.0]), runs)
    (array([2, 0, 1]), array([0, 1, 3]))
    """
    lengths = np.diff(runs.starts)
    counts = np.bincount(runs.owner, weights=lengths, minlength=runs.ids.size)
    offsets = offsets_of(counts.astype(np.int64))
    if (runs.owner[1:] > runs.owner[:-1]).all() and _rises(times, offsets):
        return None, offsets
    by_owner = np.argsort(runs.owner, kind="stable").astype(np.int64, copy=False)
    rows, _ = gather(runs.starts, by_owner)
    if _rises(times[rows], offsets):
        return rows, offsets
    owner = np.repeat(runs.owner, lengths)
    return np.lexsort((times, owner)).astype(np.int64, copy=False), offsets


def _rises(times: FloatArray, offsets: OffsetArray) -> bool:
    """Tell whether times never fall within an individual."""
    falls = times[1:] < times[:-1]
    inner = offsets[1:-1]
    falls[inner[(inner > 0) & (inner < times.size)] - 1] = False
    return not falls.any()
