"""Tables of events to records, with starts and ends of follow-up in columns or by id."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._checks.ids import check_one_each, check_unique
from boostr._checks.numbers import blame, first_few, is_missing, warn_user
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
from boostr.data.events.intervals import put_evenly, spread
from boostr.data.events.terminal import check_terminal_rows
from boostr.data.individuals import concatenate_ids, count_of
from boostr.data.times import as_stamp, common_kind, count_times
from boostr.exceptions import (
    DataWarning,
    DuplicateRowsWarning,
    InvalidEventsError,
    InvalidParameterError,
)

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

_CHOICES = ("warn", "keep", "drop", "error")
_TYPES = {"f": "float64", "M": "datetime64[us]", "m": "timedelta64[us]"}

Columns = dict[str, str | None]


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
    used = [name for name in dict.fromkeys(names) if name is not None]
    if duplicates == "keep" or not set(used) <= set(frame.columns):
        return df  # a column that is missing is refused when it is read
    repeated = _find_repeated(frame, used)
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
    start, end = _by_id(start, "start"), _by_id(end, "end")
    frame = as_frame(df)
    start_column = start if isinstance(start, str) else None
    check_columns(frame, columns | {"start": start_column}, df)
    ids, owner = find_owners(_column(frame, columns, "id"))
    is_event = _read_events(frame, columns, end, owner, ids)
    is_terminal = _read_terminal(frame, columns, owner, ids)
    times = read_moments(_column(frame, columns, "time"))
    rows = slice(owner.size)  # of the table; others may follow
    ids, owner = _add_ids(ids, owner, start, end)
    entry = None
    if start is not None:
        entry = _read_entry(frame, start, times.dtype.kind, owner, ids)
    if end is not None or is_terminal is not None:
        ends = np.full(ids.size, np.nan).astype(times.dtype)
        if end is not None:
            ends = _read_each(frame, end, "end", times.dtype.kind, owner, ids)
            _warn_of_earlier_ends(times[~is_event], ends, owner[rows][~is_event], ids)
        if is_terminal is not None:  # events that are terminal are ends, too
            ends[owner[rows][is_terminal]] = times[is_terminal]
        without = np.bincount(owner[~is_event], minlength=ids.size) == 0
        added = np.flatnonzero(without & ~_is_unknown(ends))
        times = np.concatenate([times, ends[added]])
        owner = np.concatenate([owner, added])
        is_event = np.concatenate([is_event, np.zeros(added.size, dtype=bool)])
    is_end = ~is_event
    _check_one_end(is_end, owner, ids, is_given=end is not None)
    moments = {"time": times} | ({} if entry is None else {"start": entry[owner]})
    numbers, clock = count_times(moments, owner, unit=unit, origin=origin)
    stop, window_owner = numbers["time"][is_end], owner[is_end]
    return Records(
        times=numbers["time"][is_event],
        event_owner=owner[is_event],
        costs=_read_costs(frame, columns["cost"], is_event[rows], owner[rows], ids),
        labels=_read_kinds(frame, columns, is_event[rows]),
        window_start=np.zeros(ids.size) if entry is None else numbers["start"][is_end],
        window_stop=stop,
        window_owner=window_owner,
        ids=ids,
        has_ids=True,
        id_name=columns["id"],
        is_terminal=_find_terminal(
            is_terminal, numbers["time"][rows], owner[rows], stop, window_owner, ids
        ),
        **clock,
    )


def read_start_stop(df: Any, columns: Columns, *, unit: str | None, origin: Any) -> Records:
    """Return unchecked records from rows of windows, with a flag for an event at stop."""
    frame = as_frame(df)
    check_columns(frame, columns, df)
    ids, owner = find_owners(_column(frame, columns, "id"))
    is_event = read_flags(_column(frame, columns, "event"), owner, ids)
    is_terminal = _read_terminal(frame, columns, owner, ids)
    moments = {
        role: read_moments(_column(frame, columns, role)) for role in ("start", "stop")
    }
    numbers, clock = count_times(moments, owner, unit=unit, origin=origin)
    return Records(
        times=numbers["stop"][is_event],
        event_owner=owner[is_event],
        costs=_read_costs(frame, columns["cost"], is_event, owner, ids),
        labels=_read_kinds(frame, columns, is_event),
        window_start=numbers["start"],
        window_stop=numbers["stop"],
        window_owner=owner,
        ids=ids,
        has_ids=True,
        id_name=columns["id"],
        is_terminal=_find_terminal(
            is_terminal, numbers["stop"], owner, numbers["stop"], owner, ids
        ),
        **clock,
    )


def read_counts(
    df: Any, columns: Columns, *, unit: str | None, origin: Any
) -> tuple[Records, FloatArray]:
    """Return unchecked records from rows of intervals, and the starts of the rows."""
    frame = as_frame(df)
    check_columns(frame, columns, df)
    ids, owner = find_owners(_column(frame, columns, "id"))
    counts = _check_counts(read_numbers(_column(frame, columns, "count")), owner, ids)
    is_terminal = _read_terminal(frame, columns, owner, ids)
    moments = {
        role: read_moments(_column(frame, columns, role)) for role in ("start", "stop")
    }
    numbers, clock = count_times(moments, owner, unit=unit, origin=origin)
    start, stop = numbers["start"], numbers["stop"]
    order = np.lexsort((start, owner))  # so that the order of rows does not matter
    intervals = spread(start[order], stop[order], counts[order])
    records = Records(
        times=put_evenly(intervals),
        event_owner=np.repeat(owner[order], counts[order]),
        costs=None,
        window_start=start,
        window_stop=stop,
        window_owner=owner,
        ids=ids,
        has_ids=True,
        id_name=columns["id"],
        is_terminal=_find_terminal(is_terminal, stop, owner, stop, owner, ids),
        intervals=intervals,
        **clock,
    )
    return records, start


def _check_counts(counts: FloatArray, owner: OffsetArray, ids: AnyArray) -> OffsetArray:
    """Return whole numbers of events; refuse negative, fractional and missing ones."""
    rules = {
        "Counts of events must not be negative": counts < 0.0,
        "Counts of events must be whole numbers, not missing": ~(counts == np.floor(counts))
        | np.isinf(counts),
    }
    for rule, wrong in rules.items():
        if wrong.any():
            hint = "correct them, or leave out intervals whose count is not known."
            raise blame(rule, ids, owner[wrong], hint)
    return counts.astype(np.int64)


def _read_terminal(
    frame: Frame, columns: Columns, owner: OffsetArray, ids: AnyArray
) -> BoolArray | None:
    """Return which rows are terminal events, None without such a column."""
    if columns.get("terminal") is None:
        return None
    hint = "write 1 into the row at which an individual died or was scrapped, 0 elsewhere."
    return read_flags(_column(frame, columns, "terminal"), owner, ids, hint)


def _find_terminal(
    is_terminal: BoolArray | None,
    times: FloatArray,
    owner: OffsetArray,
    stop: FloatArray,
    window_owner: OffsetArray,
    ids: AnyArray,
) -> BoolArray | None:
    """Return whose end is terminal, from flags of rows and all stops of windows."""
    if is_terminal is None:
        return None
    end = np.full(ids.size, -np.inf)
    np.maximum.at(end, np.concatenate([window_owner, owner]), np.concatenate([stop, times]))
    return check_terminal_rows(is_terminal, times, owner, end, ids)


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


def _warn_of_earlier_ends(
    times: AnyArray, ends: AnyArray, owner: OffsetArray, ids: AnyArray
) -> None:
    """Warn if rows without an event end most follow-ups before the given end."""
    early = np.unique(owner[times < ends[owner]])
    if early.size > 0.5 * ids.size:
        warn_user(
            f"Follow-up ends before `end` for {early.size:,} of {ids.size:,} individuals "
            f"(ids {first_few(ids[early])}), at their rows with event 0. If these rows are "
            "something else, such as inspections, keep only the rows with events.",
            DataWarning,
        )


def _check_one_end(
    is_end: BoolArray, owner: OffsetArray, ids: AnyArray, *, is_given: bool
) -> None:
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
            "keep only the rows with events, as `end` is given."
            if is_given
            else "keep the latest of them; for gaps in the observation use "
            "`from_start_stop`.",
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
    unknown = _is_unknown(entry)
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
        return _spread(given, ids, kind, name)
    values = read_moments(frame.get_column(given))
    common_kind({"time": kind, name: values.dtype.kind})
    each = np.full(ids.size, np.nan).astype(values.dtype)
    each[owner] = values
    differs = (values != each[owner]) & ~(_is_unknown(values) & _is_unknown(each[owner]))
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


def _read_kinds(
    frame: Frame, columns: Columns, is_event: BoolArray
) -> Sequence[Any] | None:
    """Return the kinds of the events, None without such a column."""
    if columns.get("kind") is None:
        return None
    labels = _column(frame, columns, "kind").to_list()
    return [labels[row] for row in np.flatnonzero(is_event).tolist()]


def find_tied(y: RecurrentEvents) -> OffsetArray:
    """Return the individual of every event that is tied with the one before."""
    owner = y.event_owner
    tied = (owner[1:] == owner[:-1]) & (y.times[1:] == y.times[:-1])
    return owner[1:][tied]


def _by_id(given: Any, name: str) -> Any:
    """Return a pandas Series as a mapping from ids; pass anything else through."""
    index = getattr(given, "index", None)
    if index is None or callable(index):
        return given
    labels = np.asarray(index)
    check_unique(labels, InvalidEventsError, f"keep one entry of each in `{name}`.")
    return dict(zip(labels.tolist(), given, strict=True))


def check_common(start: Any) -> None:
    """Refuse starts by id where rows are read in parts."""
    if isinstance(_by_id(start, "start"), Mapping) or np.ndim(start):
        raise InvalidParameterError(
            "`start` must be the name of a column or one time, but it is a "
            f"{type(start).__name__}.\n\n"
            "Hint: put the entry of every individual into a column of the table."
        )


def _add_ids(
    ids: AnyArray, owner: OffsetArray, *given: Any
) -> tuple[AnyArray, OffsetArray]:
    """Return the sorted ids of table and mappings, and the position of each row's id."""
    known = set(ids.tolist())
    new = {key for each in given if isinstance(each, Mapping) for key in each} - known
    if not new:
        return ids, owner
    added = np.array(list(new))
    if added.dtype.kind != ids.dtype.kind:
        added = np.empty(len(new), dtype=object)
        added[:] = list(new)
    joined = concatenate_ids([ids, added])
    try:
        order = np.argsort(joined, kind="stable")
    except TypeError:
        raise InvalidEventsError(
            "Ids must be all numbers or all texts, but those of the table are like "
            f"{ids[0]!r} and others like {added[0]!r}.\n\n"
            "Hint: make them alike, for instance with df[id].astype(str)."
        ) from None
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return joined[order], place[owner]


def _spread(given: Any, ids: AnyArray, kind: str, name: str) -> AnyArray:
    """Return one moment per individual, of the same kind as the table's times.

    Individuals that a mapping does not list get a missing value.
    """
    if isinstance(given, Mapping):
        values: Sequence[Any] = [given.get(id_) for id_ in ids.tolist()]
    elif isinstance(given, str) or np.ndim(given) == 0:
        return np.full(ids.size, _as_moment(given, kind, name))
    else:
        check_one_each(len(given), ids.size, name, InvalidEventsError)
        values = list(given)
    return _as_moments(values, kind, name)


def _is_unknown(moments: AnyArray) -> BoolArray:
    """Return a mask of missing moments."""
    return np.isnat(moments) if moments.dtype.kind in "mM" else np.isnan(moments)


def _as_moments(values: Iterable[Any], kind: str, name: str) -> AnyArray:
    missing = np.array(np.nan).astype(_TYPES[kind])[()]
    found = [
        missing if is_missing(each) else _as_moment(each, kind, name) for each in values
    ]
    return np.array(found, dtype=_TYPES[kind])


def _as_moment(value: Any, kind: str, name: str) -> Any:
    """Return one time as a NumPy scalar."""
    if kind == "M":
        return as_stamp(value, name)
    scalar = np.asarray(np.timedelta64(value) if isinstance(value, timedelta) else value)
    if scalar.ndim or scalar.dtype.kind not in "iufm":
        raise InvalidParameterError(
            f"`{name}` must be the name of a column, one time, or times by id, but it has "
            f"{value!r}.\n\nHint: times of the table are "
            f"{'numbers' if kind == 'f' else 'durations'}; so must these be."
        )
    given = "m" if scalar.dtype.kind == "m" else "f"
    common_kind({"time": kind, name: given})
    return scalar.astype(_TYPES[kind])[()]
