"""Lists and arrays of event times, made flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.ids import check_ids, check_offsets, check_one_each
from boostr._checks.numbers import blame
from boostr._typing import FloatArray, OffsetArray
from boostr.data.columns import read_numbers
from boostr.data.events.assemble import Records, as_floats
from boostr.data.flat import offsets_of, owners_of
from boostr.exceptions import InvalidEventsError


def read_flat(
    times: ArrayLike,
    event_offsets: ArrayLike,
    *,
    start: ArrayLike | None,
    end: ArrayLike,
    costs: ArrayLike | None,
    ids: ArrayLike | None,
) -> Records:
    """Return unchecked records from flat event times and offsets; no start means 0."""
    flat = _as_line(as_floats(times, "times"), "times")
    offsets = check_offsets(event_offsets, flat.size, "event_offsets", InvalidEventsError)
    n = offsets.size - 1
    marks = None if costs is None else _as_line(as_floats(costs, "costs"), "costs")
    if marks is not None and marks.size != flat.size:
        raise InvalidEventsError(
            f"`costs` must have one entry per event, but it has {marks.size} for "
            f"{flat.size} events.\n\nHint: give the cost of every event in the order of "
            "the times."
        )
    return Records(
        times=flat,
        event_owner=owners_of(offsets),
        costs=marks,
        window_start=_spread(0.0 if start is None else start, n, "start"),
        window_stop=_spread(end, n, "end"),
        window_owner=np.arange(n, dtype=np.int64),
        ids=check_ids(ids, n, InvalidEventsError),
        has_ids=ids is not None,
    )


def read_lists(
    events: Sequence[ArrayLike],
    *,
    start: ArrayLike | None,
    end: ArrayLike,
    cost: Sequence[ArrayLike] | None,
    ids: ArrayLike | None,
    kind: Sequence[Sequence[Any]] | None = None,
) -> Records:
    """Return unchecked records from one list of event times per individual."""
    times, counts = _flatten(events, "events")
    costs = None
    if cost is not None:
        check_one_each(len(cost), counts.size, "cost", InvalidEventsError)
        costs, cost_counts = _flatten(cost, "cost")
        differs = cost_counts != counts
        if differs.any():
            raise blame(
                "Every event must have one cost",
                check_ids(ids, counts.size, InvalidEventsError),
                differs,
                "give `cost` as lists of the same lengths as the lists of event times.",
            )
    flat = read_flat(times, offsets_of(counts), start=start, end=end, costs=costs, ids=ids)
    if kind is None:
        return flat
    check_one_each(len(kind), counts.size, "kind", InvalidEventsError)
    differs = np.array([len(each) for each in kind]) != counts
    if differs.any():
        raise blame(
            "Every event must have one kind",
            flat.ids,
            differs,
            "give `kind` as lists of the same lengths as the lists of event times.",
        )
    labels = [label for each in kind for label in np.asarray(each, dtype=object).tolist()]
    return replace(flat, labels=labels)


def read_wide(given: Any, *, start: ArrayLike | None, ids: Any) -> Records:
    """Return unchecked records from rows of event times followed by the end of follow-up.

    Rows are padded with NaN or negative numbers.
    """
    values = _as_rows(given)
    if values.ndim != 2:
        raise InvalidEventsError(
            "A wide array must have two dimensions, one row per individual, but it has "
            f"{values.ndim}.\n\nHint: for lists of different lengths use `from_lists`."
        )
    labels = check_ids(ids, values.shape[0], InvalidEventsError)
    is_time = ~(np.isnan(values) | (values < 0))
    counts = is_time.sum(axis=1)
    if not counts.all():
        raise blame(
            "Every row must hold the end of follow-up",
            labels,
            counts == 0,
            "put the end of follow-up after the event times, alone where there was "
            "no event.",
        )
    broken = np.any(is_time[:, 1:] & ~is_time[:, :-1], axis=1)
    if broken.any():
        raise blame(
            "Padding (NaN or negative numbers) must stand at the end of a row",
            labels,
            broken,
            "move the times to the left; an event whose time is unknown cannot be used.",
        )
    end = values[np.arange(counts.size), counts - 1]
    is_time[np.arange(counts.size), counts - 1] = False
    offsets = offsets_of(counts - 1)
    return read_flat(values[is_time], offsets, start=start, end=end, costs=None, ids=ids)


def _as_rows(given: Any) -> FloatArray:
    """Return an array or a table as a float array."""
    frame = nw.from_native(given, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = [read_numbers(column) for column in frame.iter_columns()]
        return np.column_stack(columns) if columns else np.empty((len(frame), 0))
    return as_floats(given, "values")


def _flatten(lists: Sequence[ArrayLike], name: str) -> tuple[FloatArray, OffsetArray]:
    """Return lists of numbers as one array, and their lengths."""
    if isinstance(lists, str) or not hasattr(lists, "__len__"):
        raise InvalidEventsError(
            f"`{name}` must be a list with one list per individual, but it is "
            f"{type(lists).__name__}.\n\nHint: list(…) of it, or `from_flat`."
        )
    arrays = [np.asarray(values) for values in lists]
    flat_dims = np.array([array.ndim != 1 for array in arrays], dtype=bool)
    if flat_dims.any():
        raise blame(
            f"`{name}` must hold one list of numbers per individual",
            np.arange(len(arrays)),
            flat_dims,
            "write [] for an individual without events and [3.0] for one event.",
        )
    counts = np.fromiter((a.size for a in arrays), dtype=np.int64, count=len(arrays))
    filled = [array for array in arrays if array.size]
    return as_floats(np.concatenate(filled) if filled else [], name), counts


def _as_line(values: FloatArray, name: str) -> FloatArray:
    """Return an array after checking that it has one dimension."""
    if values.ndim != 1:
        raise InvalidEventsError(
            f"`{name}` must have one dimension, but it has {values.ndim}.\n\n"
            "Hint: for one list per individual use `from_lists`."
        )
    return values


def _spread(given: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one value per individual; a scalar serves all."""
    values = as_floats(given, name)
    if values.ndim == 0:
        return np.full(n, values[()])
    values = _as_line(values, name)
    check_one_each(values.size, n, name, InvalidEventsError)
    return values
