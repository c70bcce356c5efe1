"""Tables of events to records, and containers back to tables."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._checks.numbers import blame, first_few
from boostr._optional import require
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.data.columns import (
    Column,
    Frame,
    as_frame,
    check_columns,
    find_owners,
    read_flags,
    read_moments,
    read_numbers,
)
from boostr.data.events.assemble import Records
from boostr.data.events.follow_up import by_id, is_unknown, join_ids, spread
from boostr.data.flat import owners_of
from boostr.data.individuals import count_of
from boostr.data.times import as_moments, common_kind, measure
from boostr.exceptions import (
    DuplicateRowsWarning,
    InvalidEventsError,
    InvalidParameterError,
)

if TYPE_CHECKING:
    from boostr.data.events.container import EventContainer

__all__ = ["settle_duplicates"]

_CHOICES = ("warn", "keep", "drop", "error")


def settle_duplicates(
    df: Any, names: Iterable[str | None], id: str, duplicates: str
) -> Any:
    """Return the table; keep, drop, warn about or refuse rows that repeat another one.

    Rows must agree in all columns; those in ``names`` are compared first, to save time.
    """
    if duplicates not in _CHOICES:
        raise InvalidParameterError(
            f"`duplicates` must be one of {', '.join(map(repr, _CHOICES))}, but it is "
            f"{duplicates!r}.\n\nHint: 'drop' keeps one row of each."
        )
    frame = as_frame(df)
    asked = [name for name in dict.fromkeys(names) if name is not None]
    if duplicates == "keep" or not set(asked) <= set(frame.columns):
        return df  # a column that is not there is refused by whoever reads it
    repeated = _find_repeated(frame, asked)
    if not repeated.size:
        return df
    if duplicates == "drop":
        kept = np.ones(len(frame), dtype=bool)
        kept[repeated] = False
        return frame.filter(kept.tolist()).to_native()
    ids = dict.fromkeys(frame.get_column(id)[repeated.tolist()].to_list())
    said = (
        f"{count_of(repeated.size, 'row')} of the table of events "
        f"{'repeats' if repeated.size == 1 else 'repeat'} another row in all columns, for "
        f"{count_of(len(ids), 'individual')} (ids {first_few(ids)})"
    )
    if duplicates == "error":
        raise InvalidEventsError(
            f"Rows must be different, but {said}.\n\n"
            "Hint: duplicates='drop' keeps one row of each, 'keep' all."
        )
    warnings.warn(
        f"{said}. Each counts; say duplicates='drop' (in the shell --duplicates drop) to "
        "keep one row of each, or 'keep' if all are right.",
        DuplicateRowsWarning,
        stacklevel=3,
    )
    return df


def _find_repeated(frame: Frame, names: list[str]) -> OffsetArray:
    """Return the positions of rows that repeat an earlier one in all columns."""
    alike = frame.select(names).is_duplicated()
    rows = np.flatnonzero(alike.to_numpy())
    # As texts, because missing values equal each other and lists need not be hashable.
    columns = [column.to_list() for column in frame.filter(alike).iter_columns()]
    seen: set[str] = set()
    repeated = []
    for row, values in zip(rows.tolist(), zip(*columns, strict=True), strict=True):
        text = repr(values)
        if text in seen:
            repeated.append(row)
        seen.add(text)
    return np.array(repeated, dtype=np.int64)


Columns = dict[str, str | None]


def read_long(
    df: Any,
    columns: Columns,
    *,
    start: Any,
    unit: str | None,
    origin: Any,
    end: Any = None,
) -> Records:
    """Return unchecked records from rows of events and of ends of follow-up.

    `start` and `end` are a column, one for all, or by id; `end` fills missing end rows.
    """
    start, end = by_id(start, "start"), by_id(end, "end")
    frame = as_frame(df)
    start_column = start if isinstance(start, str) else None
    check_columns(frame, columns | {"start": start_column}, df)
    ids, owner = find_owners(_column(frame, columns, "id"))
    is_event = _read_events(frame, columns, end, owner, ids)
    times = read_moments(_column(frame, columns, "time"))
    rows = slice(owner.size)  # of the table; others may follow
    ids, owner = join_ids(ids, owner, start, end)
    entry = None
    if start is not None:
        entry = _read_entry(frame, start, times.dtype.kind, owner, ids)
    if end is not None:
        ends = _read_each(frame, end, "end", times.dtype.kind, owner, ids)
        without = np.bincount(owner[~is_event], minlength=ids.size) == 0
        added = np.flatnonzero(without & ~is_unknown(ends))
        times = np.concatenate([times, ends[added]])
        owner = np.concatenate([owner, added])
        is_event = np.concatenate([is_event, np.zeros(added.size, dtype=bool)])
    is_end = ~is_event
    _check_one_end(is_end, owner, ids)
    moments = {"time": times} | ({} if entry is None else {"start": entry[owner]})
    numbers, clock = measure(moments, owner, unit=unit, origin=origin)
    return Records(
        times=numbers["time"][is_event],
        event_owner=owner[is_event],
        costs=_read_costs(frame, columns["cost"], is_event[rows], owner[rows], ids),
        window_start=np.zeros(ids.size) if entry is None else numbers["start"][is_end],
        window_stop=numbers["time"][is_end],
        window_owner=owner[is_end],
        ids=ids,
        has_ids=True,
        id_name=columns["id"],
        **clock,
    )


def read_start_stop(df: Any, columns: Columns, *, unit: str | None, origin: Any) -> Records:
    """Return unchecked records from rows of windows, with a flag for an event at stop."""
    frame = as_frame(df)
    check_columns(frame, columns, df)
    ids, owner = find_owners(_column(frame, columns, "id"))
    is_event = read_flags(_column(frame, columns, "event"), owner, ids)
    moments = {
        role: read_moments(_column(frame, columns, role)) for role in ("start", "stop")
    }
    numbers, clock = measure(moments, owner, unit=unit, origin=origin)
    return Records(
        times=numbers["stop"][is_event],
        event_owner=owner[is_event],
        costs=_read_costs(frame, columns["cost"], is_event, owner, ids),
        window_start=numbers["start"],
        window_stop=numbers["stop"],
        window_owner=owner,
        ids=ids,
        has_ids=True,
        id_name=columns["id"],
        **clock,
    )


def write_long(y: EventContainer, backend: str | None) -> Any:
    """Return a table of events and ends of follow-up; histories must have no gaps."""
    gaps = np.diff(y.window_offsets) > 1
    if gaps.any():
        raise blame(
            "The long form needs one window without gaps for each individual",
            y.ids,
            gaps,
            "use y.to_start_stop(), which can express gaps.",
        )
    n = len(y)
    event_rows = np.arange(y.times.size) + y.event_owner
    end_rows = y.event_offsets[1:] + np.arange(n)
    owner = np.repeat(np.arange(n), y.n_events + 1)
    times = _scatter(event_rows, y.times, end_rows, y.end)
    columns = {
        "start": as_moments(y, owner, y.start[owner]),
        "time": as_moments(y, owner, times),
    }
    costs = _scatter(event_rows, y.costs, end_rows, np.zeros(n))
    flags = _scatter(event_rows, np.ones(y.times.size), end_rows, np.zeros(n)) == 1
    return _table(y, owner, columns, flags, costs, backend)


def write_start_stop(y: EventContainer, backend: str | None) -> Any:
    """Return a table of windows that are cut at the events; there must be no ties."""
    _check_no_ties(y)
    n_events = y.times.size
    owner = np.concatenate([y.event_owner, owners_of(y.window_offsets)])
    stop = np.concatenate([y.times, y.window_stop])
    costs = np.concatenate([y.costs, np.zeros(y.window_stop.size)])
    is_stop = np.arange(stop.size) >= n_events
    order = np.lexsort((is_stop, stop, owner))
    owner, stop, costs, is_stop = owner[order], stop[order], costs[order], is_stop[order]
    window: OffsetArray = np.cumsum(is_stop) - is_stop
    keep = np.ones(stop.size, dtype=bool)  # all but the stops at which an event stands
    keep[1:] = ~(is_stop[1:] & (window[1:] == window[:-1]) & (stop[1:] == stop[:-1]))
    owner, stop, costs, window = owner[keep], stop[keep], costs[keep], window[keep]
    start = y.window_start[window]
    goes_on: BoolArray = window[1:] == window[:-1]
    start[1:][goes_on] = stop[:-1][goes_on]
    columns = {"start": as_moments(y, owner, start), "stop": as_moments(y, owner, stop)}
    return _table(y, owner, columns, ~is_stop[keep], costs, backend)


def _column(frame: Frame, columns: Columns, role: str) -> Column:
    """Return the column of a role."""
    name = columns[role]
    if name is None:
        unless = ", unless `end` is given," if role == "event" else ""
        raise InvalidParameterError(
            f"`{role}` must be the name of a column{unless or ','} but it is None.\n\n"
            f"Hint: the columns are {', '.join(map(repr, frame.columns))}."
        )
    return frame.get_column(name)


def _check_one_end(is_end: BoolArray, owner: OffsetArray, ids: AnyArray) -> None:
    """Refuse individuals with no end of follow-up, or with several."""
    n_ends = np.bincount(owner[is_end], minlength=ids.size)
    if (n_ends == 0).any():
        raise blame(
            "Every individual must have a row for its end of follow-up (event 0)",
            ids,
            n_ends == 0,
            "add a row with event 0 at the time until which the individual was observed, "
            "or give that time as `end`; it is not the last event unless observation "
            "stopped with it.",
        )
    if (n_ends > 1).any():
        raise blame(
            "Every individual must have only one row for its end of follow-up (event 0)",
            ids,
            n_ends > 1,
            "keep the latest of them; for gaps in the observation use `from_start_stop`.",
        )


def _read_events(
    frame: Frame, columns: Columns, end: Any, owner: OffsetArray, ids: AnyArray
) -> BoolArray:
    """Return which rows are events: all of them if ends are given but no flags."""
    if columns["event"] is None and end is not None:
        return np.ones(owner.size, dtype=bool)
    return read_flags(_column(frame, columns, "event"), owner, ids)


def _read_entry(
    frame: Frame, start: Any, kind: str, owner: OffsetArray, ids: AnyArray
) -> AnyArray:
    """Return the start of follow-up of every individual; none may be missing."""
    entry = _read_each(frame, start, "start", kind, owner, ids)
    unknown = is_unknown(entry)
    if unknown.any():
        raise blame(
            "`start` must be known",
            ids,
            unknown,
            "write it into all rows; start={id: time} also gives that of individuals "
            "without rows.",
        )
    return entry


def _read_each(
    frame: Frame, given: Any, name: str, kind: str, owner: OffsetArray, ids: AnyArray
) -> AnyArray:
    """Return one time per individual, from a column, one value for all, or by id."""
    if not isinstance(given, str) or given not in frame.columns:
        return spread(given, ids, kind, name)
    values = read_moments(frame.get_column(given))
    common_kind({"time": kind, name: values.dtype.kind})
    each = np.full(ids.size, np.nan).astype(values.dtype)
    each[owner] = values
    differs = (values != each[owner]) & ~(is_unknown(values) & is_unknown(each[owner]))
    if differs.any():
        raise blame(
            f"`{name}` must be the same in all rows of an individual",
            ids,
            owner[differs],
            "write it into all rows; for several windows use `from_start_stop`.",
        )
    return each


def _read_costs(
    frame: Frame,
    name: str | None,
    is_event: BoolArray,
    owner: OffsetArray,
    ids: AnyArray,
) -> FloatArray | None:
    """Return the costs of the events; costs of other rows are refused."""
    if name is None:
        return None
    costs = read_numbers(frame.get_column(name))
    stray = ~is_event & ~np.isnan(costs) & (costs != 0)
    if stray.any():
        raise blame(
            f"Column {name!r} must be 0 or missing in rows that are no event",
            ids,
            owner[stray],
            "set it to 0 there; only events have a cost.",
        )
    return costs[is_event]


def find_tied(y: EventContainer) -> OffsetArray:
    """Return the individual of every event that is tied with the one before."""
    owner = y.event_owner
    tied = (owner[1:] == owner[:-1]) & (y.times[1:] == y.times[:-1])
    return owner[1:][tied]


def _check_no_ties(y: EventContainer) -> None:
    """Refuse tied events of one individual."""
    tied = find_tied(y)
    if tied.size:
        raise blame(
            "The start-stop form needs different times for the events of an individual",
            y.ids,
            tied,
            "use y.to_long(), which can express ties (but no gaps).",
        )


def _scatter(
    event_rows: OffsetArray, events: FloatArray, end_rows: OffsetArray, ends: FloatArray
) -> FloatArray:
    """Return values of events and ends in one array, at the given rows."""
    out = np.empty(events.size + ends.size)
    out[event_rows] = events
    out[end_rows] = ends
    return out


def _table(
    y: EventContainer,
    owner: OffsetArray,
    columns: dict[str, AnyArray],
    is_event: BoolArray,
    costs: FloatArray,
    backend: str | None,
) -> Any:
    """Return a table of ids, times, flags and, if there are any, costs."""
    taken = {*columns, "event", "cost"}
    id_name = "id" if y.id_name is None or y.id_name in taken else y.id_name
    ids = y.ids[owner]
    # Lists let both libraries find the type of ids that NumPy calls objects.
    table: dict[str, Any] = {id_name: ids.tolist() if ids.dtype.kind == "O" else ids}
    table |= columns | {"event": is_event}
    if y.has_costs:
        table["cost"] = costs
    return make_table(table, backend)


def make_table(columns: dict[str, Any], backend: str | None) -> Any:
    """Return a pandas or polars DataFrame; by default of the library that is installed."""
    if backend is None:
        backend = "pandas" if find_spec("pandas") else "polars"
    if backend not in {"pandas", "polars"}:
        raise InvalidParameterError(
            f"`backend` must be 'pandas' or 'polars', but it is {backend!r}.\n\n"
            "Hint: leave it out to get the one that is installed."
        )
    library = require(backend, extra=backend, feature="Writing a table")
    return library.DataFrame(columns)
