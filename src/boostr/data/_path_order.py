"""Runs of rows by individual, and the order that sorts the rows."""

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
        """Return the individuals of some rows."""
        return self.owner[np.searchsorted(self.starts, rows, side="right") - 1]


def find_runs(
    column: Column, factor: Callable[[Column], tuple[AnyArray, OffsetArray]]
) -> Runs:
    """Return the runs of equal ids in a column; `factor` sorts the ids of the runs.

    This avoids sorting all rows if the rows of each individual stand together.
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


def order_rows(times: FloatArray, runs: Runs) -> tuple[OffsetArray | None, OffsetArray]:
    """Return the stable order of rows by individual and time, and the offsets.

    The order is None if the rows are sorted already.
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
    """Return whether times never decrease within an individual."""
    falls = times[1:] < times[:-1]
    inner = offsets[1:-1]
    falls[inner[(inner > 0) & (inner < times.size)] - 1] = False
    return not falls.any()
