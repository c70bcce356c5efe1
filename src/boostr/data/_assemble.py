"""From loose events and windows to checked, sorted and merged flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data._checks import check_costs, check_inside, check_times, check_windows
from boostr.data._flat import merge_touching, offsets_of, order_within
from boostr.exceptions import InvalidEventsError


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
    times, costs, event_offsets = _lay_out_events(records)
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
    }


def _check_values(records: Records) -> None:
    """Refuse invalid times and costs, whatever their order."""
    ids, window_owner = records.ids, records.window_owner
    check_times(records.times, records.event_owner, ids)
    check_times(records.window_start, window_owner, ids, name="Starts of follow-up")
    check_times(records.window_stop, window_owner, ids, name="Ends of follow-up")
    if records.costs is not None:
        check_costs(records.costs, records.event_owner, ids)


def _lay_out_windows(records: Records) -> tuple[FloatArray, FloatArray, OffsetArray]:
    """Sort the windows within individuals, check and merge them."""
    start, stop, owner = records.window_start, records.window_stop, records.window_owner
    order = order_within(start, owner)
    if order is not None:
        start, stop = start[order], stop[order]
    offsets = offsets_of(np.bincount(owner, minlength=records.ids.size))
    check_windows(start, stop, offsets, records.ids)
    return merge_touching(start, stop, offsets)


def _lay_out_events(
    records: Records,
) -> tuple[FloatArray, FloatArray | None, OffsetArray]:
    """Sort the events within individuals."""
    times, costs, owner = records.times, records.costs, records.event_owner
    order = order_within(times, owner)
    if order is not None:
        times = times[order]
        costs = None if costs is None else costs[order]
    offsets = offsets_of(np.bincount(owner, minlength=records.ids.size))
    return times, costs, offsets
