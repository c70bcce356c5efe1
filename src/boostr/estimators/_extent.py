"""Counts, last follow-up and sensor ranges over all individuals; computed first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._checks.numbers import warn_user
from boostr._engine.statistics import put_on_clock
from boostr._typing import FloatArray
from boostr.basis import CalendarClock
from boostr.basis.sensor_ranges import draw_exposure
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.fingerprint import Fingerprint
from boostr.estimators._leverage import Leverage
from boostr.estimators._magnitudes import Magnitudes
from boostr.exceptions import DataWarning

__all__ = ["Extent"]

_YEARS = (1980.0, 2100.0)  # in which dates of events mostly lie
_DAYS = 365.2425  # of a year
# What numbers may count, from which year on and how many of them are in a year.
_LIKELY = (
    ("calendar years", 0.0, 1.0),
    ("days since 1970", 1970.0, _DAYS),
    ("seconds since 1970", 1970.0, 86_400.0 * _DAYS),
    ("milliseconds since 1970", 1970.0, 86_400e3 * _DAYS),
    ("microseconds since 1970", 1970.0, 86_400e6 * _DAYS),
    ("nanoseconds since 1970", 1970.0, 86_400e9 * _DAYS),
)
_FAR = 10.0  # first start over the time from then to the last end
_FAR_IF_LIKELY = 0.25  # the same for numbers that may be dates
_LATE = 0.5  # share of the time axis without events before the first one

Ranges = tuple[FloatArray, FloatArray]  # (n_sensors,) each, NaN for one that is unknown


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """Counts, first and last times, and sensor ranges; `join` combines two groups."""

    n: int
    n_events: int
    start: float  # the first start of follow-up
    stop: float  # the last end of follow-up
    last_start: float
    first_event: float  # infinite without events
    has_dates: bool  # whether times were time stamps
    magnitudes: Magnitudes
    leverage: Leverage
    fingerprint: Fingerprint
    ranges: Ranges | None = None  # of the sensors while observed, where it was looked at

    @classmethod
    def of(
        cls,
        events: RecurrentEvents,
        weights: FloatArray,
        sensors: Trajectories | None = None,
        features: FloatArray | None = None,
        *,
        wants_ranges: bool = True,
    ) -> Extent:
        """Return the summary of some individuals, with sensor ranges if wanted.

        Features tell individuals without ids apart.
        """
        ranges = None
        if sensors is not None and wants_ranges:
            exposure = draw_exposure(put_on_clock(events, CalendarClock(), sensors))
            ranges = exposure.lows, exposure.highs
        return cls(
            len(events),
            len(events.times),
            float(events.window_start.min()),
            float(events.window_stop.max()),
            float(events.window_start.max()),
            float(events.times.min(initial=np.inf)),
            events.origin is not None or events.origins is not None,
            Magnitudes.of(events, weights, sensors),
            Leverage.of(events, weights),
            Fingerprint.of(events, features),
            ranges,
        )

    def join(self, other: Extent) -> Extent:
        """Return the summary of both groups of individuals."""
        ranges = self.ranges
        if ranges is not None and other.ranges is not None:
            ranges = (
                np.fmin(ranges[0], other.ranges[0]),
                np.fmax(ranges[1], other.ranges[1]),
            )
        return Extent(
            self.n + other.n,
            self.n_events + other.n_events,
            min(self.start, other.start),
            max(self.stop, other.stop),
            max(self.last_start, other.last_start),
            min(self.first_event, other.first_event),
            self.has_dates,
            self.magnitudes.join(other.magnitudes),
            self.leverage.join(other.leverage),
            self.fingerprint.join(other.fingerprint),
            ranges,
        )

    def check(self, clock: str) -> None:
        """Refuse values too large or small to compute with; warn of suspicious times."""
        self.magnitudes.check()
        self.leverage.warn()
        if self.has_dates:
            return
        self._warn_of_missing_starts()
        if clock == "calendar":
            self._warn_of_far_start()

    def _warn_of_missing_starts(self) -> None:
        """Warn of events whose times look like dates, while follow-up begins at 0."""
        if self.n_events == 0 or self.start > 0.0 or self.first_event < _LATE * self.stop:
            return
        likely = _name_likely(self.first_event, self.stop)
        if likely is None:
            return
        warn_user(
            f"Follow-up begins at {self.start:g}, but the first event is at "
            f"{self.first_event:g}, and times look like {likely}: individuals count as "
            "observed without events for all the time before. Pass time stamps in the "
            "place of numbers, or when follow-up began, as `start`.",
            DataWarning,
        )

    def _warn_of_far_start(self) -> None:
        """Warn of times that begin far from 0, and what they may be."""
        likely = _name_likely(self.start, self.stop)
        nearest = _FAR if likely is None else _FAR_IF_LIKELY
        if self.start <= nearest * (self.stop - self.start):
            return
        warn_user(
            f"Times begin at {self.start:g} and end at {self.stop:g}, far from 0"
            + ("" if likely is None else f", like {likely}")
            + '. With clock="calendar" leaf functions of time begin at the first start and '
            "not at 0. Where numbers are dates, pass time stamps in their place, so that "
            "forecasts know the calendar; else subtract the first start from all times.",
            DataWarning,
        )


def _name_likely(start: float, stop: float) -> str | None:
    """Return the unit that times between the years 1980 and 2100 may be in."""
    for name, first, unit in _LIKELY:
        low, high = ((year - first) * unit for year in _YEARS)
        if low <= start and stop <= high:
            return name
    return None
