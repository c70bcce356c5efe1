"""Words for reasons: whose events are counted, and the values that features have."""

from __future__ import annotations

import numpy as np

from boostr.data._times import name_unit
from boostr.inspection import Explanation
from boostr.plotting._style import shorten

__all__ = ["name_count", "name_reason"]


def name_count(explanation: Explanation) -> str:
    """Say which events are expected: by a time, or in a window."""
    unit = name_unit(explanation.time_unit)
    suffix = f" {unit}" if unit else ""
    if explanation.times is not None:
        moment = f"{explanation.times[0]:.4g}"
        return f"events by {moment}{suffix}" if unit else f"events by time {moment}"
    assert explanation.start is not None  # noqa: S101 - there are times or windows
    assert explanation.stop is not None  # noqa: S101
    start, stop = explanation.start, explanation.stop
    if np.ptp(start) == 0.0 and np.ptp(stop) == 0.0:
        return f"events in ({start[0]:.4g}, {stop[0]:.4g}]{suffix}"
    lengths = stop - start
    if np.allclose(lengths, lengths[0]):
        return f"events in the next {lengths[0]:.4g}{suffix or ' units of time'}"
    return "events in the window"


def name_reason(explanation: Explanation, place: int, i: int) -> str:
    """Return the name of a reason, with the value that an individual has."""
    name = shorten(explanation.reasons[place])
    if place >= len(explanation.features):
        return name
    value = explanation.data[i, place]
    known = explanation.categories[place]
    unlearned = explanation.unlearned.get((i, place))
    if unlearned is not None:
        return f"{name} = {shorten(unlearned)}"
    if np.isnan(value):
        return f"{name} unknown"
    if known is not None:
        return f"{name} = {shorten(known[int(value)])}"
    # Three digits tell individuals apart; whole numbers stay as they are.
    text = f"{value:.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"
    return f"{name} = {text}"
