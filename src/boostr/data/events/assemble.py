"""From loose events and windows to checked, sorted and merged flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._checks.numbers import blame
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.data.events.kinds import code_kinds
from boostr.data.flat import (
    inside_windows,
    merge_touching,
    offsets_of,
    order_within,
    owners_of,
)
from boostr.exceptions import InvalidEventsError


def as_floats(values: Any, name: str) -> FloatArray:
    """Return a float64 copy of the numbers; refuse arrays of texts."""
    given = np.asarray(values)
    if given.dtype.kind in "biuf":
        return given.astype(np.float64)
    try:
        if given.dtype.kind != "O":
            raise TypeError  # noqa: TRY301 - strings that look like numbers are no numbers
        return given.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidEventsError(
            f"`{name}` must hold numbers, but it holds {given.dtype}.\n\n"
            "Hint: for time stamps use `from_long` or `from_start_stop`, which read "
            "them from a table."
        ) from None


def _check_times(
    times: FloatArray, event_owner: OffsetArray, ids: AnyArray, *, name: str = "Event times"
) -> None:
    """Refuse times that are missing, infinite or negative."""
    bad = ~np.isfinite(times)
    if bad.any():
        raise blame(
            f"{name} must be finite numbers, not missing or infinite",
            ids,
            event_owner[bad],
            "drop the rows whose time is unknown, or fill it in.",
        )
    bad = times < 0
    if bad.any():
        raise blame(
            f"{name} must not be negative",
            ids,
            event_owner[bad],
            "count time from an earlier origin, for instance from entry, "
            "so that it begins at 0.",
        )


def _check_costs(costs: FloatArray, event_owner: OffsetArray, ids: AnyArray) -> None:
    """Refuse costs that are missing, infinite or negative."""
    bad = ~(np.isfinite(costs) & (costs >= 0))
    if bad.any():
        raise blame(
            "Costs of events must be finite and not negative",
            ids,
            event_owner[bad],
            "fill in the missing costs (1 counts the event once), or leave out `cost`.",
        )


def _check_windows(
    start: FloatArray,
    stop: FloatArray,
    offsets: OffsetArray,
    ids: AnyArray,
    *,
    are_intervals: bool,
) -> None:
    """Refuse windows that are empty or overlap; they come sorted within each individual.

    Intervals with counts have another name in the message and no `duplicates`.
    """
    owner = owners_of(offsets)
    bad = stop <= start
    if bad.any():
        raise blame(
            "Follow-up must end after it starts (start < end)",
            ids,
            owner[bad],
            "correct the times, or leave out individuals (or rows) that were never "
            "observed; an event at the end needs no row of length zero.",
        )
    overlaps = (owner[1:] == owner[:-1]) & (start[1:] < stop[:-1])
    if overlaps.any():
        name = "Intervals" if are_intervals else "Windows"
        remedy = "drop" if are_intervals else "duplicates='drop' leaves out"
        raise blame(
            f"{name} of one individual must not overlap",
            ids,
            owner[1:][overlaps],
            "cut the rows so that each begins at or after the stop of the one before; "
            f"{remedy} rows that repeat another; two individuals that share an id need ids "
            "of their own.",
        )


def check_inside(
    times: FloatArray,
    event_offsets: OffsetArray,
    window_start: FloatArray,
    window_stop: FloatArray,
    window_offsets: OffsetArray,
    ids: AnyArray,
) -> None:
    """Refuse events outside the windows, which come sorted and disjoint per individual."""
    owner = owners_of(event_offsets)
    early = times <= window_start[window_offsets[:-1]][owner]
    if early.any():
        raise blame(
            "Events must come after the start of follow-up (at risk is start < t <= end)",
            ids,
            owner[early],
            "drop events at the start if they only mark the entry (as at time zero), "
            "or let `start` be a little before the first event.",
        )
    late = times > window_stop[window_offsets[1:] - 1][owner]
    if late.any():
        raise blame(
            "Events must not come after the end of follow-up",
            ids,
            owner[late],
            "drop those events, or raise the end to the last event time.",
        )
    if window_start.size == ids.size:
        return
    window_owner = owners_of(window_offsets)
    outside = ~inside_windows(times, owner, window_start, window_stop, window_owner)
    if outside.any():
        raise blame(
            "Events must lie in a window in which the individual is observed",
            ids,
            owner[outside],
            "drop events in the gaps, or widen the windows to cover them.",
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """Unchecked events and windows of ``n`` individuals, in any order.

    The owners are positions of individuals; windows are ``(window_start, window_stop]``.
    """

    times: FloatArray  # (n_events,)
    event_owner: OffsetArray  # (n_events,)
    costs: FloatArray | None  # (n_events,)
    window_start: FloatArray  # (n_windows,)
    window_stop: FloatArray  # (n_windows,)
    window_owner: OffsetArray  # (n_windows,)
    ids: AnyArray  # (n,)
    has_ids: bool
    id_name: str | None = None
    time_unit: str | None = None
    origin: np.datetime64 | None = None
    origins: AnyArray | None = None  # (n,) datetime64[us]
    is_terminal: BoolArray | None = None  # (n,)
    intervals: FloatArray | None = None  # (n_events, 3)
    labels: Sequence[Any] | None = None  # (n_events,) kinds


def assemble(records: Records) -> dict[str, Any]:
    """Return checked and sorted records as the fields of a ``RecurrentEvents``."""
    if records.ids.size == 0:
        raise InvalidEventsError(
            "There must be at least one individual, but there is none.\n\n"
            "Hint: look at what was filtered out before; an individual without "
            "events is given by its end of follow-up alone."
        )
    _check_values(records)
    start, stop, window_offsets = _lay_out_windows(records)
    kinds = None
    codes = None
    if records.labels is not None:
        codes, kinds = code_kinds(records.labels, records.event_owner, records.ids)
    times, marks, event_offsets = _lay_out_events(records, codes)
    costs = marks.pop("costs")
    check_inside(times, event_offsets, start, stop, window_offsets, records.ids)
    return {
        "times": times,
        "event_offsets": event_offsets,
        "costs": np.ones_like(times) if costs is None else costs,
        "has_costs": costs is not None,
        "window_start": start,
        "window_stop": stop,
        "window_offsets": window_offsets,
        "ids": records.ids,
        "has_ids": records.has_ids,
        "id_name": records.id_name,
        "time_unit": records.time_unit,
        "origin": records.origin,
        "origins": records.origins,
        "is_terminal": records.is_terminal,
        "kinds": kinds,
        **marks,
    }


def _check_values(records: Records) -> None:
    """Refuse invalid times and costs, whatever their order."""
    ids, window_owner = records.ids, records.window_owner
    _check_times(records.times, records.event_owner, ids)
    _check_times(records.window_start, window_owner, ids, name="Starts of follow-up")
    _check_times(records.window_stop, window_owner, ids, name="Ends of follow-up")
    if records.costs is not None:
        _check_costs(records.costs, records.event_owner, ids)


def _lay_out_windows(records: Records) -> tuple[FloatArray, FloatArray, OffsetArray]:
    """Sort the windows within individuals, check and merge them."""
    start, stop, owner = records.window_start, records.window_stop, records.window_owner
    order = order_within(start, owner)
    if order is not None:
        start, stop = start[order], stop[order]
    offsets = offsets_of(np.bincount(owner, minlength=records.ids.size))
    are_intervals = records.intervals is not None
    _check_windows(start, stop, offsets, records.ids, are_intervals=are_intervals)
    return merge_touching(start, stop, offsets)


def _lay_out_events(
    records: Records, kinds: OffsetArray | None
) -> tuple[FloatArray, dict[str, Any], OffsetArray]:
    """Sort the events within individuals, with what is known of each."""
    times, owner = records.times, records.event_owner
    marks: dict[str, Any] = {
        "costs": records.costs,
        "intervals": records.intervals,
        "event_kind": kinds,
    }
    order = order_within(times, owner)
    if order is not None:
        times = times[order]
        marks = {
            name: None if values is None else values[order]
            for name, values in marks.items()
        }
    offsets = offsets_of(np.bincount(owner, minlength=records.ids.size))
    return times, marks, offsets
