"""Warnings of event times that would make the level of forecasts wrong."""

from __future__ import annotations

import numpy as np

from boostr._checks.numbers import first_few, warn_user
from boostr._typing import FloatArray
from boostr.basis.clock import sum_exposure
from boostr.data import RecurrentEvents
from boostr.data.times import name_moment
from boostr.exceptions import DataWarning

__all__ = ["warn_of_doubtful_times"]

_MOST_DATES = 60  # so few that the last tenth of the time has one more or less by chance
_FEWEST_DATES = 10  # by which the end of the events is known
_EVENTS_PER_DATE = 5.0  # that make dates those of bookings
_FEWEST = 100  # events
_LEAST_SILENCE = 0.02  # of the time axis
_RECENT = 0.1  # of the time axis, whose rate is expected to go on
_MISSED = 30.0  # expected events without which a silence is by chance


def warn_of_doubtful_times(y: RecurrentEvents) -> None:
    """Warn of events at a few dates only, and of ends long after the last event."""
    if y.intervals is not None or y.times.size < _FEWEST:
        return
    dates = np.unique(y.times)
    if 2 < len(dates) <= min(_MOST_DATES, y.times.size / _EVENTS_PER_DATE):
        _warn_of_bookings(y, dates)
    elif len(dates) >= _FEWEST_DATES:
        _warn_of_silence(y)


def _warn_of_bookings(y: RecurrentEvents, dates: FloatArray) -> None:
    """Warn that many events share a few times."""
    warn_user(
        f"All {y.times.size:,} events are at {len(dates)} times, the last of which are "
        f"{first_few(_name(y, time) for time in dates[-3:])}. If these are dates at which "
        "events were booked, rates near the end and levels of forecasts may be far too "
        "high or too low: y.in_periods() takes each event as some time in the period "
        "before its date.",
        DataWarning,
    )


def _warn_of_silence(y: RecurrentEvents) -> None:
    """Warn if no individual has an event near the end, where many are expected."""
    last, end = float(y.times.max()), float(y.window_stop.max())
    span = end - float(y.window_start.min())
    if end - last < _LEAST_SILENCE * span:
        return
    before = last - max(end - last, _RECENT * span)
    exposure: FloatArray = sum_exposure(
        y.window_start,
        y.window_stop,
        np.ones(len(y.window_stop)),
        np.array([before, last, end]),
    )
    n_recent = np.count_nonzero(y.times > before)
    expected = n_recent * exposure[1] / exposure[0] if exposure[0] > 0.0 else 0.0
    if expected >= _MISSED:
        warn_user(
            f"No individual has an event after {_name(y, last)}, though follow-up goes on "
            f"to {_name(y, end)} and at the rate before about {expected:,.0f} would be "
            "expected. If the data end earlier, so must the follow-up: forecasts take the "
            "time without events for a fall of the rate.",
            DataWarning,
        )


def _name(y: RecurrentEvents, time: float) -> str:
    """Return a time as a date where all count from one, else as a number."""
    if y.origin is None:
        return f"{time:g}"
    return name_moment(time, y.time_unit, y.origin)
