"""Clocks: the time in which leaf functions are written."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, RiskTable

__all__ = ["CalendarClock", "Clock", "OperationalClock"]

_MAX_KNOTS = 64
_SAMPLE_SIZE = 200_000  # individuals that the pooled mean is read from
_FIRST_SLOPES = (0.05, 20.0)  # exponents that the power law before the first knot may have
_LAST_SLOPES = (0.1, 3.0)  # and after the last one: less trust in what nobody has seen
_MOST_ENDING = 0.1  # share of follow-ups that may end with an event by chance
_N_ROUNDS = 10  # of weighing


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
        cls,
        events: RecurrentEvents,
        weights: FloatArray | None = None,
        *,
        is_power_law: bool = False,
    ) -> OperationalClock | CalendarClock:
        """Smooth the mean cumulative function of the events, or fit a power law to them.

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
        max_knots = 1 if is_power_law else _MAX_KNOTS
        n_knots = int(np.clip(round(times.size ** (1 / 3)), 1, max_knots))
        ranks = np.unique(np.linspace(0, times.size - 1, n_knots + 1)[1:].astype(np.int64))
        # The middle of the jump: half of an event has happened at its own time.
        counts = 0.5 * (mean[ranks] + np.where(ranks > 0, mean[ranks - 1], 0.0))
        log_times = np.log(times[ranks] - origin)
        # Far from the origin, times that differ by rounding have the same logarithm.
        is_later = np.diff(log_times, prepend=-np.inf) > 0.0
        log_times, log_counts = log_times[is_later], np.log(counts[is_later])
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
    """Return the mean cumulative function where it rises: times and values.

    Individuals count with their frailties, unless everybody is observed all the time,
    where that would change nothing, or observation seems to stop because of events, where
    the mean would no longer be the same.
    """
    table = RiskTable.from_events(events, weights)
    at_risk = table.at_risk()
    mean = np.cumsum(table.totals(table.cost) / at_risk)
    is_staggered = mean.size > 0 and mean[-1] > 0.0 and np.any(at_risk != at_risk[0])
    if is_staggered and _share_ending_with_event(events, weights) < _MOST_ENDING:
        seen = np.bincount(events.event_owner, events.costs, len(events))
        mean = _weigh(table, mean, seen.astype(np.float64))
    rises = np.diff(mean, prepend=0.0) > 0.0  # events that cost nothing are none
    return table.times[rises], mean[rises]


def _weigh(table: RiskTable, mean: FloatArray, seen: FloatArray) -> FloatArray:
    """Return the mean where individuals count as their own histories say.

    Where observation of some ends before that of others, dividing by numbers of individuals
    takes a few that always had many events, and are left, for a rise of everybody's rate.
    Counts ``n`` where ``m`` were expected make weights ``u = (1 + v n) / (1 + v m)``, the
    expected frailties if these are gamma variables of variance ``v`` (rounds of the EM
    algorithm of Nielsen et al., 1992). Whatever the law of events, ``u`` is 1 on average
    if observation does not depend on them, so that the limit is the mean cumulative
    function as it is without weights; only the errors are smaller.
    """
    jumps = table.totals(table.cost)
    unit = float(table.totals(table.cost**2).sum() / jumps.sum())
    for _ in range(_N_ROUNDS):
        expected = _expect(table, mean)
        dispersion = _excess_variance(seen, expected, table.weight, unit) / unit
        frailty = (1.0 + dispersion * seen) / (1.0 + dispersion * expected)
        mean = np.cumsum(jumps / replace(table, weight=table.weight * frailty).at_risk())
    # As many events are expected of all as they had.
    level = float(table.weight @ seen) / float(table.weight @ _expect(table, mean))
    return mean * level


def _share_ending_with_event(events: RecurrentEvents, weights: FloatArray) -> float:
    """Return the share of individuals whose observation ends with an event of their own."""
    closing = events.times == events.end[events.event_owner]
    is_last = np.bincount(events.event_owner, closing, len(events)) > 0.0
    return float(weights @ is_last / weights.sum())


def _expect(table: RiskTable, mean: FloatArray) -> FloatArray:
    """Return what was expected of each individual while it was observed."""
    so_far = np.concatenate([[0.0], mean])
    rises = so_far[table.leave] - so_far[table.enter]
    return np.bincount(table.window_owner, rises, len(table.weight)).astype(np.float64)


def _excess_variance(
    seen: FloatArray, expected: FloatArray, weights: FloatArray, unit: float
) -> float:
    """Return the variance of frailties by moments: what Poisson counts leave over.

    Costs in units of mean square over mean have the variance of counts.
    """
    excess = weights @ ((seen - expected) ** 2 - unit * expected)
    return max(float(excess / (weights @ expected**2)), 0.0)


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
