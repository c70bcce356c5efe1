"""Month, quarter, weekday and hour as sensors that are known in advance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.data.flat import owners_of
from boostr.data.times import MICROSECONDS, as_moments, find_origins
from boostr.exceptions import InvalidParameterError, SeasonWarning

if TYPE_CHECKING:
    from boostr.data.events.container import EventContainer

__all__ = ["SEASONS", "Season", "find_resolution", "find_seasons"]

N_CYCLES = 2  # that must have been seen before a season is told from chance


@dataclass(frozen=True, kw_only=True)
class Season:
    """Recurring periods of the calendar, one category each."""

    categories: tuple[str, ...]
    unit: str  # of numpy, in whose multiples periods begin
    multiple: int = 1
    shift: int = 0  # of the period that has 1970-01-01
    n_days: int  # of one cycle
    words: str  # what two cycles are

    def periods(self, first: Any, last: Any) -> tuple[AnyArray, FloatArray]:
        """Return the begin and the code of every period from one date to beyond another."""
        begin, end = (
            int(moment.astype(f"datetime64[{self.unit}]").astype(np.int64)) // self.multiple
            for moment in (first, last)
        )
        places = np.arange(begin, end + 2)
        stamps = (places * self.multiple).astype(f"datetime64[{self.unit}]")
        codes = (places + self.shift) % len(self.categories)
        return stamps.astype("datetime64[us]"), codes.astype(np.float64)


_MONTHS = "January February March April May June July August September October November"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
SEASONS = {
    "month": Season(
        categories=(*_MONTHS.split(), "December"), unit="M", n_days=365, words="years"
    ),
    "quarter": Season(
        categories=("Q1", "Q2", "Q3", "Q4"), unit="M", multiple=3, n_days=365, words="years"
    ),
    "weekday": Season(
        categories=tuple(_DAYS.split()), unit="D", shift=3, n_days=7, words="weeks"
    ),
    "hour": Season(
        categories=tuple(f"{hour:02d}" for hour in range(24)),
        unit="h",
        n_days=1,
        words="days",
    ),
}


def find_resolution(y: EventContainer) -> int:
    """Return the precision of the dates of events in microseconds: a day, an hour or 0.

    Ends of follow-up are used if there are no events.
    """
    if y.times.size:
        moments = as_moments(y, owners_of(y.event_offsets), y.times)
    else:
        moments = as_moments(y, slice(None), y.end)
    ticks = moments.astype("datetime64[us]").astype(np.int64)
    for unit in ("D", "h"):
        if not np.any(ticks % MICROSECONDS[unit]):
            return MICROSECONDS[unit]
    return 0


def find_seasons(
    y: EventContainer, names: str | Sequence[str], n_cycles: float
) -> tuple[str, ...]:
    """Return the seasons with at least `n_cycles` observed; warn about the others."""
    asked = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    wrong = [name for name in asked if name not in SEASONS]
    if wrong or not asked:
        raise InvalidParameterError(
            f"A season must be one of {', '.join(SEASONS)}, but it is "
            f"{wrong[0] if wrong else names!r}."
        )
    if find_origins(y) is None:
        raise InvalidParameterError(
            "Seasons need histories that count time from a date, but these count from an "
            "unknown one.\n\n"
            "Hint: RecurrentEvents.from_long reads tables of time stamps."
        )
    first = as_moments(y, slice(None), y.start).min()
    last = as_moments(y, slice(None), y.end).max()
    span = (last - first) / np.timedelta64(1, "D")
    short = {name: f"{n_cycles:g} {SEASONS[name].words}" for name in asked}
    short = {name: w for name, w in short.items() if span < n_cycles * SEASONS[name].n_days}
    for name, needed in short.items():
        warnings.warn(
            f"The season {name!r} is left out, because it needs {needed} of data and "
            f"follow-up covers {span:.0f} days ({str(first)[:10]} to {str(last)[:10]}).",
            SeasonWarning,
            stacklevel=3,
        )
    return tuple(name for name in asked if name not in short)
