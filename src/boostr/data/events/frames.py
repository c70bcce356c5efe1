"""Histories as tables, and tables of any results."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._checks.numbers import blame
from boostr._optional import require
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.data.events.intervals import refuse_intervals
from boostr.data.events.kinds import name_kinds
from boostr.data.events.read import find_tied
from boostr.data.flat import owners_of
from boostr.data.times import as_moments
from boostr.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents


def write_long(y: RecurrentEvents, backend: str | None) -> Any:
    """Return a table of events and ends of follow-up; histories must have no gaps."""
    refuse_intervals(y, "A table of events")
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
    kinds = _scatter(event_rows, _codes(y), end_rows, np.full(n, -1.0))
    return _table(y, owner, columns, flags, costs, kinds, backend)


def write_start_stop(y: RecurrentEvents, backend: str | None) -> Any:
    """Return a table of windows that are cut at the events; there must be no ties."""
    refuse_intervals(y, "A table of events")
    _check_no_ties(y)
    n_events = y.times.size
    owner = np.concatenate([y.event_owner, owners_of(y.window_offsets)])
    stop = np.concatenate([y.times, y.window_stop])
    costs = np.concatenate([y.costs, np.zeros(y.window_stop.size)])
    kinds = np.concatenate([_codes(y), np.full(y.window_stop.size, -1.0)])
    is_stop = np.arange(stop.size) >= n_events
    order = np.lexsort((is_stop, stop, owner))
    owner, stop, costs, is_stop = owner[order], stop[order], costs[order], is_stop[order]
    window: OffsetArray = np.cumsum(is_stop) - is_stop
    keep = np.ones(stop.size, dtype=bool)  # all but the stops at which an event stands
    keep[1:] = ~(is_stop[1:] & (window[1:] == window[:-1]) & (stop[1:] == stop[:-1]))
    owner, stop, costs, window = owner[keep], stop[keep], costs[keep], window[keep]
    kinds = kinds[order][keep]
    start = y.window_start[window]
    goes_on: BoolArray = window[1:] == window[:-1]
    start[1:][goes_on] = stop[:-1][goes_on]
    columns = {"start": as_moments(y, owner, start), "stop": as_moments(y, owner, stop)}
    return _table(y, owner, columns, ~is_stop[keep], costs, kinds, backend)


def _codes(y: RecurrentEvents) -> FloatArray:
    """Return the positions of the events' kinds, zeros without kinds."""
    return np.zeros(y.times.size) if y.event_kind is None else y.event_kind.astype(float)


def _check_no_ties(y: RecurrentEvents) -> None:
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
    y: RecurrentEvents,
    owner: OffsetArray,
    columns: dict[str, AnyArray],
    is_event: BoolArray,
    costs: FloatArray,
    kinds: FloatArray,
    backend: str | None,
) -> Any:
    """Return a table of ids, times, flags and, if given, costs, terminal events, kinds."""
    taken = {*columns, "event", "cost", "terminal", "kind"}
    id_name = "id" if y.id_name is None or y.id_name in taken else y.id_name
    ids = y.ids[owner]
    # Lists let both libraries find the type of ids that NumPy calls objects.
    table: dict[str, Any] = {id_name: ids.tolist() if ids.dtype.kind == "O" else ids}
    table |= columns | {"event": is_event}
    if y.has_costs:
        table["cost"] = costs
    if y.is_terminal is not None:
        is_last = np.diff(owner, append=-1) != 0
        table["terminal"] = is_last & y.is_terminal[owner]
    if y.kinds is not None:
        table["kind"] = name_kinds(y.kinds, kinds.astype(np.int64))
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
