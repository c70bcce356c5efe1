"""Clocks: the time in which leaf functions are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, RiskTable

__all__ = ["CalendarClock", "Clock", "OperationalClock"]

_MAX_KNOTS = 64
_SAMPLE_SIZE = 200_000  # individuals that the pooled mean is read from
_FIRST_SLOPES = (0.05, 20.0)  # exponents that the power law before the first knot may have
_LAST_SLOPES = (0.1, 3.0)  # and after the last one: less trust in what nobody has seen


@dataclass(frozen=True, slots=True)
class CalendarClock:
    """Time as it is given, ``s(t) = t``, or a clock that stands still."""

    speed: float = 1.0

    def read(self, times: FloatArray) -> FloatArray:
        """Return the clock's time at the given times."""
        return np.asarray(times, dtype=np.float64) * self.speed

    def rate(self, times: FloatArray) -> FloatArray:
        """Return the speed of the clock, ds/dt."""
        return np.full(np.shape(times), self.speed)


@dataclass(frozen=True, slots=True, eq=False)
class OperationalClock:
    """Time counted in events of the average individual.

    ``s(t)`` is the mean cumulative function of all training individuals, smoothed: a
    monotone cubic through some of its points in log time and log count, where every power
    law is a straight line, and a power law before the first and after the last of them.
    """

    origin: float  # nobody is observed before it
    log_times: FloatArray  # (n_knots,)
    log_counts: FloatArray  # (n_knots,)
    first_slope: float  # exponent before the first knot
    last_slope: float  # exponent after the last knot

    @classmethod
    def from_events(
        cls, events: RecurrentEvents, weights: FloatArray | None = None
    ) -> OperationalClock | CalendarClock:
        """Smooth the mean cumulative function of the events.

        Without any event of positive cost there is nothing to count in, and the clock is
        the calendar.
        """
        weights = np.ones(len(events)) if weights is None else weights
        if not weights.all():
            events, weights = events[weights > 0.0], weights[weights > 0.0]
        step = max(1, len(events) // _SAMPLE_SIZE)
        if step > 1:
            events, weights = events[::step], weights[::step]
        times, mean = _pool(events, weights)
        if times.size == 0:
            return CalendarClock()
        origin = float(events.window_start.min())
        n_knots = int(np.clip(round(times.size ** (1 / 3)), 1, _MAX_KNOTS))
        ranks = np.unique(np.linspace(0, times.size - 1, n_knots + 1)[1:].astype(np.int64))
        # The middle of the jump: half of an event has happened at its own time.
        counts = 0.5 * (mean[ranks] + np.where(ranks > 0, mean[ranks - 1], 0.0))
        log_times = np.log(times[ranks] - origin)
        log_counts = np.log(counts)
        return cls(
            origin,
            log_times,
            log_counts,
            *_end_slopes(times - origin, mean, log_times, log_counts),
        )

    def read(self, times: FloatArray) -> FloatArray:
        """Return the clock's time at the given times."""
        return np.asarray(np.exp(self._log_read(self._log_time(times))))

    def rate(self, times: FloatArray) -> FloatArray:
        """Return the speed of the clock, ds/dt."""
        # A power law has no finite rate of its own at the origin: read it just after.
        soon = self.origin + 1e-6 * np.exp(self.log_times[0])
        log_time = self._log_time(np.maximum(np.asarray(times, dtype=np.float64), soon))
        slope = np.where(
            log_time < self.log_times[0],
            self.first_slope,
            np.where(log_time > self.log_times[-1], self.last_slope, np.nan),
        )
        inside = np.isnan(slope)
        if len(self.log_times) > 1:
            derivative = scipy.interpolate.PchipInterpolator(
                self.log_times, self.log_counts
            ).derivative()
            slope[inside] = derivative(log_time[inside])
        else:
            slope[inside] = self.last_slope
        return np.asarray(slope * np.exp(self._log_read(log_time) - log_time))

    def _log_time(self, times: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(
                np.maximum(np.asarray(times, dtype=np.float64) - self.origin, 0.0)
            )

    def _log_read(self, log_time: FloatArray) -> FloatArray:
        below = self.log_counts[0] + self.first_slope * (log_time - self.log_times[0])
        above = self.log_counts[-1] + self.last_slope * (log_time - self.log_times[-1])
        if len(self.log_times) == 1:
            return np.where(log_time < self.log_times[0], below, above)
        middle = scipy.interpolate.PchipInterpolator(self.log_times, self.log_counts)(
            np.clip(log_time, self.log_times[0], self.log_times[-1])
        )
        result = np.where(log_time < self.log_times[0], below, middle)
        return np.where(log_time > self.log_times[-1], above, result)


Clock = CalendarClock | OperationalClock


def _pool(events: RecurrentEvents, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean cumulative function where it is above zero: times and values."""
    table = RiskTable.from_events(events, weights)
    mean = np.cumsum(table.totals(table.cost) / table.at_risk())
    return table.times[mean > 0.0], mean[mean > 0.0]


def _end_slopes(
    times: FloatArray, mean: FloatArray, log_times: FloatArray, log_counts: FloatArray
) -> tuple[float, float]:
    """Fit the exponents of the power laws before the first and after the last knot.

    Each is the mean slope, in log time and log count, over a quarter of the time axis or
    more; a single knot takes the maximum likelihood exponent of a power law.
    """
    if len(log_times) == 1:
        steps = np.diff(mean, prepend=0.0)
        spread = np.sum(steps * (log_times[-1] - np.log(times)))
        slope = float(mean[-1] / spread) if spread > 0 else 1.0
        first = last = slope
    else:
        quarter = np.searchsorted(log_times, log_times[-1] - np.log(4.0))
        start = min(int(quarter), len(log_times) - 2)
        last = float(
            (log_counts[-1] - log_counts[start]) / (log_times[-1] - log_times[start])
        )
        first = float((log_counts[1] - log_counts[0]) / (log_times[1] - log_times[0]))
    return float(np.clip(first, *_FIRST_SLOPES)), float(np.clip(last, *_LAST_SLOPES))
