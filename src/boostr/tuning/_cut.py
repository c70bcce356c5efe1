"""Event histories cut at a time: the past known by then, and the future."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import PositionArray
from boostr.data import RecurrentEvents, check_target
from boostr.data._clip import clip, clip_sensors, read_times

__all__ = ["Cut", "clip", "clip_sensors", "cut_at", "read_times"]


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Event histories before and after a time.

    Parameters
    ----------
    before, after : RecurrentEvents
        What was observed up to the time, the time included, and later. Times are as they
        were: after the cut, follow-up starts at the time of the cut or later.
    rows_before, rows_after : ndarray of int
        Positions of these individuals among all: those who were not observed at all before
        (or after) the time are not part of it.

    See Also
    --------
    cut_at : Makes it.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.tuning import cut_at
    >>> y = RecurrentEvents.from_lists([[3.0, 8.5], [1.0]], end=[10.0, 4.0])
    >>> cut_at(y, 5.0).rows_after
    array([0])
    """

    before: RecurrentEvents
    after: RecurrentEvents
    rows_before: PositionArray
    rows_after: PositionArray


def cut_at(y: RecurrentEvents, time: Any) -> Cut:
    """Cut event histories in two at a time.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    time : float, time stamp, or array-like of shape (n,)
        Where to cut: one time for all, on the time axis of `y`, or one for each
        individual, as where time is age. Time stamps need a `y` that was made of them.

    Returns
    -------
    Cut
        The two parts. An event at the very time belongs to the first.

    See Also
    --------
    as_of_split : A part to train on, and one to test with.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.tuning import cut_at
    >>> y = RecurrentEvents.from_lists([[3.0, 8.5], [1.0]], end=[10.0, 4.0])
    >>> cut = cut_at(y, 5.0)
    >>> cut.before
    RecurrentEvents(2 individuals, 2 events, follow-up 9)
    >>> cut.after.start, cut.after.times
    (array([5.]), array([8.5]))
    """
    events = check_target(y)
    times = read_times(events, time, "time")
    before, rows_before = clip(events, np.full(len(events), -np.inf), times)
    after, rows_after = clip(events, times, np.full(len(events), np.inf))
    return Cut(before, after, rows_before, rows_after)
