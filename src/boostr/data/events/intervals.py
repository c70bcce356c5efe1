"""Counts over intervals: events whose times are known to lie between two inspections."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from boostr._typing import FloatArray, OffsetArray, PositionArray
from boostr.data.flat import owners_of
from boostr.exceptions import InvalidEventsError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

Events = TypeVar("Events", bound="RecurrentEvents")

__all__ = [
    "clip_intervals",
    "move_intervals",
    "place_events",
    "put_evenly",
    "refuse_intervals",
    "smear_events",
    "spread",
    "to_periods",
]

_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)  # multiples of it fill the unit interval evenly
_N_PARTS = 8  # of an event that is smeared over its interval
_N_GRID = 4096  # cells of time in which a clock is taken as straight


def spread(start: FloatArray, stop: FloatArray, counts: OffsetArray) -> FloatArray:
    """Return where the events of intervals are put, (n_events, 3).

    Columns are start, stop and the share of the way between them. The ``N`` events of an
    interval stand ``1 / N`` apart; the first one is shifted from interval to interval, so
    that all of them together fill the time evenly.
    """
    shift = (np.arange(1, counts.size + 1) * _GOLDEN) % 1.0
    interval = np.repeat(np.arange(counts.size), counts)
    rank = np.arange(interval.size) - np.repeat(np.cumsum(counts) - counts, counts)
    share = (rank + shift[interval]) / counts[interval]
    return np.column_stack([start[interval], stop[interval], share])


def put_evenly(intervals: FloatArray) -> FloatArray:
    """Return times of events for a rate that is constant in each interval."""
    start, stop, share = intervals.T
    return np.asarray(np.minimum(start + share * (stop - start), stop))


def place_events(
    y: RecurrentEvents, read: Callable[[FloatArray], FloatArray]
) -> RecurrentEvents:
    """Return histories with the events of intervals spread evenly on a clock."""
    if y.intervals is None or not y.times.size:
        return y
    first, last = float(y.window_start.min()), float(y.window_stop.max())
    grid = first + (last - first) * np.linspace(0.0, 1.0, _N_GRID + 1) ** 2
    clock = read(grid)
    start, stop, share = y.intervals.T
    begin, end = np.interp(start, grid, clock), np.interp(stop, grid, clock)
    times = np.interp(begin + share * (end - begin), clock, grid)
    times = np.where(end > begin, times, put_evenly(y.intervals))
    return y._with(times=np.clip(times, np.nextafter(start, stop), stop))


def to_periods(y: Events, *, at_start: bool) -> Events:
    """Return histories whose events came in the period that their time ends, or starts.

    Times of all individuals are those at which periods meet.
    """
    if y.intervals is not None or not y.times.size:
        return y
    owner, window = y.event_owner, _find_windows(y)
    dates, place = np.unique(y.times, return_inverse=True)
    if at_start:
        stop = np.append(dates[1:], y.window_stop.max())[place]
        start, stop = y.times, np.minimum(stop, y.window_stop[window])
    else:
        start = np.append(y.window_start.min(), dates[:-1])[place]
        start, stop = np.maximum(start, y.window_start[window]), y.times
    # What is booked when follow-up ends starts no period.
    start = np.where(start < stop, start, np.nextafter(stop, -np.inf))
    is_first = np.append(True, (np.diff(owner) != 0) | (np.diff(place) != 0))
    begins = np.flatnonzero(is_first)
    counts = np.diff(np.append(begins, owner.size))
    intervals = spread(start[begins], stop[begins], counts)
    times = np.maximum(put_evenly(intervals), np.nextafter(start, np.inf))
    return y._with(times=times, intervals=intervals)


def _find_windows(y: RecurrentEvents) -> PositionArray:
    """Return the window of every event."""
    is_window = np.repeat([True, False], [y.window_stop.size, y.times.size])
    owner = np.concatenate([owners_of(y.window_offsets), y.event_owner])
    order = np.lexsort((is_window, np.concatenate([y.window_stop, y.times]), owner))
    n_before = np.empty(order.size, dtype=np.int64)
    n_before[order] = np.cumsum(is_window[order]) - is_window[order]
    return n_before[y.window_stop.size :]


def smear_events(
    y: RecurrentEvents, read: Callable[[FloatArray], FloatArray]
) -> RecurrentEvents:
    """Return histories with every event of an interval in equal parts all over it.

    Sums over the parts, by their costs, are means over intervals on the clock.
    """
    if y.intervals is None:
        return y
    part = np.repeat(np.arange(y.times.size), _N_PARTS)
    intervals = y.intervals[part]
    intervals[:, 2] = np.tile((np.arange(_N_PARTS) + 0.5) / _N_PARTS, y.times.size)
    owner = y.event_owner[part]
    order = np.lexsort((intervals[:, 2], intervals[:, 0], owner))
    smeared = y._with(
        times=np.zeros(part.size),
        costs=y.costs[part][order] / _N_PARTS,
        has_costs=True,
        event_offsets=y.event_offsets * _N_PARTS,
        intervals=intervals[order],
        event_kind=None,
        kinds=None,
    )
    return place_events(smeared, read)


def clip_intervals(
    y: RecurrentEvents, start: FloatArray, stop: FloatArray, kept: PositionArray
) -> FloatArray | None:
    """Return the intervals of events that are kept, cut to one window per individual."""
    if y.intervals is None:
        return None
    owner, times = y.event_owner[kept], y.times[kept]
    begin = np.maximum(y.intervals[kept, 0], start[owner])
    end = np.minimum(y.intervals[kept, 1], stop[owner])
    is_cut = (begin != y.intervals[kept, 0]) | (end != y.intervals[kept, 1])
    share = np.where(is_cut, (times - begin) / (end - begin), y.intervals[kept, 2])
    return np.column_stack([begin, end, share])


def move_intervals(y: RecurrentEvents, shift: FloatArray) -> FloatArray | None:
    """Return the intervals of events, shifted by one number per individual."""
    if y.intervals is None:
        return None
    moved = y.intervals.copy()
    moved[:, :2] += shift[y.event_owner, None]
    return moved


def refuse_intervals(y: RecurrentEvents, what: str) -> None:
    """Refuse counts over intervals where times of events are needed."""
    if y.intervals is not None:
        raise InvalidEventsError(
            f"{what} needs the times of events, but these histories have counts over "
            "intervals.\n\nHint: RecurrentEvents.from_long reads events with their times; "
            "BoostR, MeanCumulativeFunction and metrics of counts take intervals."
        )
