"""Past dates of forecasts, as given by the user."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents
from boostr.data._clip import read_times
from boostr.data._flat import owners_of
from boostr.data._origins import find_origins
from boostr.data._times import as_stamp, to_stamps
from boostr.exceptions import InvalidParameterError

__all__ = ["Date", "list_dates"]

_WHOLE_DAYS = ("D", "W")  # units in which dates have no time of day


@dataclass(frozen=True, slots=True, eq=False)
class Date:
    """One date, on the time axis of each individual's history."""

    label: Any  # a number or a time stamp
    times: FloatArray  # (n,)

    def __str__(self) -> str:
        if isinstance(self.label, np.datetime64):
            return str(self.label).removesuffix("T00:00:00.000000")
        return f"{self.label:g}"

    def find_observed(
        self, y: RecurrentEvents, horizon: float
    ) -> tuple[AnyArray, FloatArray]:
        """Return who is under observation at the date, and for how long after it.

        That time ends at the first gap or at the horizon.
        """
        owner = owners_of(y.window_offsets)
        goes_on = (y.window_start < self.times[owner]) & (y.window_stop > self.times[owner])
        rows = owner[goes_on]
        lengths = np.minimum(y.window_stop[goes_on] - self.times[rows], horizon)
        return rows, lengths


def list_dates(as_of: Any, y: RecurrentEvents, horizon: float) -> list[Date]:
    """Return the given dates; a whole number means so many evenly spaced ones."""
    if isinstance(as_of, Integral) and not isinstance(as_of, bool):
        return _space_dates(int(as_of), y, horizon)
    if isinstance(as_of, str) or not hasattr(as_of, "__len__") or not len(as_of):
        raise InvalidParameterError(
            "`as_of` must be a list of dates, or how many to choose, but it is "
            f"{as_of!r}.\n\nHint: as_of=['2024-01-31', '2024-04-30'], as_of=[200, 300] or "
            "as_of=5."
        )
    dates = [_read_date(each, y) for each in as_of]
    if len({isinstance(date.label, float) for date in dates}) > 1:
        raise InvalidParameterError(
            "`as_of` must hold numbers or time stamps, but it holds both."
        )
    return dates


def _read_date(given: Any, y: RecurrentEvents) -> Date:
    if np.ndim(given) != 0:
        raise InvalidParameterError(
            "`as_of` must hold one time or time stamp per date, but it holds an array.\n\n"
            "Hint: where time is age, time stamps mean everybody's own age on that day; "
            "y.in_calendar_time(since=…) has dates where there are none."
        )
    times = read_times(y, given, "as_of")
    if np.asarray(given).dtype.kind in "fiu":
        return Date(float(given), times)
    return Date(as_stamp(given, "as_of"), times)


def _space_dates(n_dates: int, y: RecurrentEvents, horizon: float) -> list[Date]:
    """Return evenly spaced dates, the last one with a full horizon after it."""
    if n_dates < 1:
        raise InvalidParameterError(
            f"`as_of` must be at least one date, but it is {n_dates}."
        )
    is_dated = find_origins(y) is not None
    calendar = y.in_calendar_time() if is_dated else y
    first, last = calendar.start.min(), calendar.end.max()
    reach = last - first - horizon
    if not reach > 0.0:
        raise InvalidParameterError(
            "`horizon` must be shorter than the time from the first entry to the last end "
            f"of follow-up, to leave a past to learn from, but it is {horizon:g} and that "
            f"is {last - first:g}."
        )
    times = first + reach * np.arange(1, n_dates + 1) / n_dates
    if not is_dated:
        return [_read_date(float(each), y) for each in times]
    stamps = to_stamps(times, calendar.origin, str(y.time_unit))
    if y.time_unit in _WHOLE_DAYS:
        stamps = stamps.astype("datetime64[D]").astype("datetime64[us]")
    return [_read_date(stamp, y) for stamp in stamps]
