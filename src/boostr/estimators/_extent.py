"""What must be known of everybody before the statistics of anybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._engine.suffstats import put_on_clock
from boostr._typing import FloatArray
from boostr.basis import CalendarClock
from boostr.basis._exposure import draw_exposure
from boostr.data import RecurrentEvents, Trajectories
from boostr.data._fingerprint import Fingerprint

__all__ = ["Extent"]

Ranges = tuple[FloatArray, FloatArray]  # (n_sensors,) each, NaN for one that is unknown


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """How far events and sensors of some individuals reach; joined, of all of them."""

    n: int
    n_events: int
    stop: float  # the last end of follow-up
    last_start: float
    fingerprint: Fingerprint
    ranges: Ranges | None = None  # of the sensors while observed, where it was looked at

    @classmethod
    def of(
        cls,
        events: RecurrentEvents,
        sensors: Trajectories | None,
        features: FloatArray | None = None,
    ) -> Extent:
        """Look at individuals and, if they are given, at the ranges of their sensors.

        Features tell individuals without ids apart.
        """
        ranges = None
        if sensors is not None:
            exposure = draw_exposure(put_on_clock(events, CalendarClock(), sensors))
            ranges = exposure.lows, exposure.highs
        return cls(
            len(events),
            len(events.times),
            float(events.window_stop.max()),
            float(events.window_start.max()),
            Fingerprint.of(events, features),
            ranges,
        )

    def join(self, other: Extent) -> Extent:
        """Return the extent of both."""
        ranges = self.ranges
        if ranges is not None and other.ranges is not None:
            ranges = (
                np.fmin(ranges[0], other.ranges[0]),
                np.fmax(ranges[1], other.ranges[1]),
            )
        return Extent(
            self.n + other.n,
            self.n_events + other.n_events,
            max(self.stop, other.stop),
            max(self.last_start, other.last_start),
            self.fingerprint.join(other.fingerprint),
            ranges,
        )
