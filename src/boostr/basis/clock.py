"""Clocks: the time in which leaf functions are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._kernels.cubics import read_cubics
from boostr._kernels.curves import count_in_order
from boostr._typing import FloatArray
from boostr.basis.recent import (
    RECENT_EVENTS,
    ROUNDING,
    TREND_FROM,
    end_exponent,
    find_recent,
    fit_fall,
    follow_trend,
    pool_recent,
)
from boostr.data import RecurrentEvents
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.intervals import place_events

__all__ = [
    "CalendarClock",
    "Clock",
    "OperationalClock",
    "PooledHistories",
    "find_gaps",
    "sum_exposure",
]

_MAX_KNOTS = 64
_N_TENTHS = 10  # of the time axis, at whose ends there are knots as well
_SAMPLE_SIZE = 200_000  # individuals that the pooled mean is read from
_FIRST_SLOPES = (0.05, 20.0)  # exponents that the power law before the first knot may have
_N_LEVEL_CELLS = 80  # of the time axis, by which the time that tells the level is extended
_N_TREND_CELLS = 8  # of the time axis, whose rates tell a trend
_N_ROUNDS = 3  # of balancing what is expected and what came
_N_FINE = 16  # pieces between two knots in which numbers at risk are taken as constant
_STEPS = (0.5, 2.0)  # factors of one round
_N_REMEMBERED = 32  # clocks whose curves are not made again
_STEEPEST_END = 3.0  # slope of a monotone cubic at an end, over the mean slope there
_MOST_SPREADS = 20  # of events of intervals on the clock that they tell
_STILL = 1e-4  # of the time axis: the mean move of events below which they stay


@dataclass(frozen=True, slots=True)
class CalendarClock:
    """Time since the first start of all, ``s(t) = t``, or a clock that stands still."""

    speed: float = 1.0
    origin: float = 0.0  # no individual is observed before it

    def read(self, times: FloatArray) -> FloatArray:
        """Return the clock's time at the given times."""
        passed = np.asarray(times, dtype=np.float64) - self.origin
        return np.asarray(np.maximum(passed, 0.0) * self.speed)

    def rate(self, times: FloatArray) -> FloatArray:
        """Return the speed of the clock, ds/dt."""
        return np.where(np.asarray(times) < self.origin, 0.0, self.speed)


@dataclass(frozen=True, slots=True, eq=False)
class OperationalClock:
    """Time counted in events of the average individual.

    ``s(t)`` is the mean cumulative function of all training individuals, smoothed: a
    monotone cubic through some of its points in log time and log count, where every power
    law is a straight line. Before the first point it is a power law; after the last, the
    end of follow-up, the rate goes on from its recent level, constant or as a power of
    time: ``ds/dt = last_rate * (t / t_end) ** (last_slope - 1)``.
    """

    origin: float  # no individual is observed before it
    log_times: FloatArray  # (n_knots,)
    log_counts: FloatArray  # (n_knots,)
    first_slope: float  # exponent before the first knot
    last_slope: float  # exponent after the last knot
    last_rate: float | None = None  # at the last knot; None: that of one power law from 0

    @classmethod
    def from_events(
        cls, events: RecurrentEvents, weights: FloatArray | None = None
    ) -> OperationalClock | CalendarClock:
        """Smooth the mean cumulative function of the events.

        Without any event of positive cost there is nothing to count in, and the clock is
        the calendar. Events of intervals are spread evenly on the clock itself: it is
        estimated again until they stay where they are.
        """
        weights = np.ones(len(events)) if weights is None else weights
        clock = cls._smooth(events, weights)
        if events.intervals is None:
            return clock
        tolerance = _STILL * float(events.window_stop.max() - events.window_start.min())
        for _ in range(_MOST_SPREADS):
            moved = place_events(events, clock.read)
            change = np.abs(moved.times - events.times).mean() if moved.times.size else 0.0
            if change <= tolerance:
                break
            events, clock = moved, cls._smooth(moved, weights)
        return clock

    @classmethod
    def _smooth(
        cls, events: RecurrentEvents, weights: FloatArray
    ) -> OperationalClock | CalendarClock:
        """Return the clock of events with their times."""
        if not weights.all():
            events, weights = events[weights > 0.0], weights[weights > 0.0]
        step = max(1, len(events) // _SAMPLE_SIZE)
        if step > 1:
            events, weights = events[::step], weights[::step]
        origin = float(events.window_start.min())
        pooled = PooledHistories(events, weights, origin)
        times, mean = pooled.mean()
        if times.size == 0:
            return CalendarClock()
        since, rate = pooled.recent()
        places = _choose_places(events, times, pooled, origin, since)
        knots = _place_knots(times, mean, since, pooled, rate, places)
        slope = pooled.fall()
        clock = cls._through(origin, *knots, end_exponent(slope), pooled.level(slope))
        return pooled.balance(clock)

    @classmethod
    def power_law(
        cls, events: RecurrentEvents, weights: FloatArray, origin: float, exponent: float
    ) -> OperationalClock:
        """Return a power of time by which as many events as came are expected in all."""
        windows = exposed_windows(events)
        end = float(events.window_stop.max()) - origin
        start, stop = ((at - origin) / end for at in (windows.start, windows.stop))
        passed = windows.factor * (stop**exponent - start**exponent)
        count = weights[events.event_owner] @ events.costs
        count /= weights[windows.owner] @ passed
        return cls(origin, np.log([end]), np.log([count]), exponent, exponent)

    @property
    def is_power_law(self) -> bool:
        """Whether the clock is one power of time, after the end of follow-up as well."""
        return len(self.log_times) == 1 and self.last_rate is None

    @classmethod
    def _through(
        cls,
        origin: float,
        log_times: FloatArray,
        log_counts: FloatArray,
        last_slope: float,
        last_rate: float | None,
    ) -> OperationalClock:
        """Return the clock through some knots; through one it is straight, and stays so."""
        if len(log_times) == 1:
            rate = float(np.exp(log_counts[0] - log_times[0]))
            return cls(origin, log_times, log_counts, 1.0, 1.0, rate)
        first = float((log_counts[1] - log_counts[0]) / (log_times[1] - log_times[0]))
        first = float(np.clip(first, *_FIRST_SLOPES))
        return cls(origin, log_times, log_counts, first, last_slope, last_rate)

    def with_counts(self, log_counts: FloatArray) -> OperationalClock:
        """Return a clock with other counts at the knots."""
        ends = self.last_slope, self.last_rate
        return self._through(self.origin, self.log_times, log_counts, *ends)

    def read(self, times: FloatArray) -> FloatArray:
        """Return the clock's time at the given times."""
        first = np.ravel(times)[:1]
        if np.size(times) > 1 and np.all(times == first):  # as where all begin together
            return np.full(np.shape(times), self.read(first))
        log_time, last = self._log_time(times), self.log_times[-1]
        result = np.asarray(np.exp(self._log_read(log_time)))
        is_late = log_time > last
        if is_late.any():
            passed = log_time[is_late] - last  # in log time, since the end
            ahead = np.expm1(self.last_slope * passed) / self.last_slope
            result[is_late] += self.end_rate * ahead
        return result

    def rate(self, times: FloatArray) -> FloatArray:
        """Return the speed of the clock, ds/dt."""
        # A power law has no finite rate of its own at the origin: read it just after.
        soon = self.origin + 1e-6 * np.exp(self.log_times[0])
        log_time = self._log_time(np.maximum(np.asarray(times, dtype=np.float64), soon))
        slope = np.full(log_time.shape, self.first_slope)
        inside = (log_time >= self.log_times[0]) & (log_time <= self.log_times[-1])
        if len(self.log_times) > 1:
            curve = scipy.interpolate.PPoly(_interpolate(self), self.log_times)
            slope[inside] = curve.derivative()(log_time[inside])
        passed = log_time - self.log_times[-1]
        growth = slope * np.exp(self._log_read(log_time))
        ahead = self.end_rate * np.exp(self.last_slope * np.maximum(passed, 0.0))
        return np.asarray(np.where(passed > 0.0, ahead, growth) * np.exp(-log_time))

    @property
    def end_rate(self) -> float:
        """Rate at the last knot per unit of log time."""
        if self.last_rate is None:
            return float(self.last_slope * np.exp(self.log_counts[-1]))
        return float(self.last_rate * np.exp(self.log_times[-1]))

    def _log_time(self, times: FloatArray) -> FloatArray:
        passed = np.maximum(np.asarray(times, dtype=np.float64) - self.origin, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(passed))

    def _log_read(self, log_time: FloatArray) -> FloatArray:
        """Return the log count, after the last knot as it is there."""
        pieces = _interpolate(self) if len(self.log_times) > 1 else np.empty((4, 0))
        result = np.empty(log_time.shape)
        read_cubics(
            log_time.reshape(-1),
            self.log_times,
            pieces,
            self.log_counts[0],
            self.first_slope,
            result.reshape(-1),
        )
        return result


@lru_cache(maxsize=_N_REMEMBERED)
def _interpolate(clock: OperationalClock) -> FloatArray:
    """Return the coefficients of the monotone cubics between knots, (4, n_knots - 1).

    They begin and end with the rates around them.
    """
    times, counts = clock.log_times, clock.log_counts
    if clock.last_rate is None:
        return np.asarray(scipy.interpolate.PchipInterpolator(times, counts).c)
    lengths = np.diff(times)
    secants = np.diff(counts) / lengths
    end = clock.end_rate / np.exp(counts[-1])
    # The same slopes as above between the ends; there steeper ones might not be monotone.
    slopes = np.empty(len(times))
    slopes[0] = min(clock.first_slope, _STEEPEST_END * secants[0])
    slopes[-1] = min(end, _STEEPEST_END * secants[-1])
    before, after = lengths[:-1] + 2.0 * lengths[1:], 2.0 * lengths[:-1] + lengths[1:]
    with np.errstate(divide="ignore"):  # where counts do not rise, slopes are 0
        mean = (before / secants[:-1] + after / secants[1:]) / (before + after)
        slopes[1:-1] = 1.0 / mean
    bends = (slopes[:-1] + slopes[1:] - 2.0 * secants) / lengths
    starts = (secants - slopes[:-1]) / lengths
    return np.array([bends / lengths, starts - bends, slopes[:-1], counts[:-1]])


Clock = CalendarClock | OperationalClock


class PooledHistories:
    """Events and time under observation of all individuals together."""

    def __init__(self, events: RecurrentEvents, weights: FloatArray, origin: float) -> None:
        windows = exposed_windows(events)
        amounts = weights[windows.owner] * windows.factor
        start, stop = windows.start - origin, windows.stop - origin
        if not amounts.all():  # nothing is observed without exposure
            some = np.flatnonzero(amounts)
            start, stop, amounts = start[some], stop[some], amounts[some]
        self.end = float(events.window_stop.max()) - origin
        self._enter, self._leave = _Ramp(start, amounts), _Ramp(stop, amounts)
        self._least = float(np.min(amounts, initial=np.inf))
        numbers, costs = np.repeat(weights, events.n_events), events.costs
        times, is_free = events.times - origin, costs <= 0.0
        if is_free.any():  # events that cost nothing are none
            numbers, costs, times = numbers[~is_free], costs[~is_free], times[~is_free]
        self._times, sorted_numbers, sorted_costs = _sort(times, numbers, numbers * costs)
        self._numbers, self._costs = _sum_up(sorted_numbers), _sum_up(sorted_costs)

    def mean(self) -> tuple[FloatArray, FloatArray]:
        """Return the distinct times of events and the mean cumulative function there.

        If no individual is exposed at an event, the smallest exposure is used.
        """
        steps = np.diff(self._times, prepend=-np.inf)
        first = np.flatnonzero(steps > ROUNDING * self.end)  # others are the same time
        times, ends = self._times[first], np.append(first[1:], len(self._times))
        costs = np.diff(self._costs[ends], prepend=0.0)
        at_risk = self._enter.count(times) - self._leave.count(times)
        at_risk[at_risk < 0.5 * self._least] = self._least  # below is zero and rounding
        return times, np.cumsum(costs / at_risk)

    @cached_property
    def _unseen(self) -> tuple[_Ramp, _Ramp]:
        """Begins and ends of gaps in which nobody is observed, with usual rates around."""
        begins, ends = find_gaps(self._enter.times, self._leave.times, ROUNDING * self.end)
        rates, width = np.zeros(len(begins)), self.end / _N_TENTHS
        is_open = np.ones(len(begins), dtype=np.bool_)
        while is_open.any():
            first, last = np.maximum(begins - width, 0.0), ends + width
            numbers, costs = self._between(first, last)
            exposure = self._exposed_until(last) - self._exposed_until(first)
            found = _divide(costs, exposure, 0.0)
            rates[is_open] = found[is_open]
            is_open &= (numbers < RECENT_EVENTS) & (width < self.end)
            width *= 2.0
        return _Ramp(begins, rates), _Ramp(ends, rates)

    def rise_unseen(self, times: FloatArray) -> FloatArray:
        """Return how far the mean rises, up to some times, while nobody is observed.

        It rises at the mean rate of the time around, a tenth of the axis on either side or
        as much as has enough events.
        """
        begin, end = self._unseen
        return begin.read(times) - end.read(times)

    def count(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return numbers and costs of events between edges."""
        return self._between(edges[:-1], edges[1:])

    def _between(
        self, start: FloatArray, stop: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return numbers and costs of events in some times."""
        first, last = (
            np.searchsorted(self._times, at, side="right") for at in (start, stop)
        )
        numbers, costs = self._numbers, self._costs
        return numbers[last] - numbers[first], costs[last] - costs[first]

    def number_until(self, times: FloatArray) -> FloatArray:
        """Return how many events came until each time."""
        return self._numbers[np.searchsorted(self._times, times, side="right")]

    def exposure(self, edges: FloatArray) -> FloatArray:
        """Return the time under observation between edges."""
        return np.diff(self._exposed_until(edges))

    def _exposed_until(self, times: FloatArray) -> FloatArray:
        return self._enter.read(times) - self._leave.read(times)

    def rates(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean rates between edges, and numbers of events there."""
        counts, costs = self.count(edges)
        exposure = self.exposure(edges)
        return _divide(costs, exposure, 0.0), counts

    def balance(self, clock: OperationalClock) -> OperationalClock:
        """Return a clock by which as many events as came are expected between its knots.

        While nobody is observed, as many as expected count as having come.
        """
        knots = np.concatenate([[0.0], np.exp(clock.log_times)])
        knots[-1] = self.end  # without the rounding of logarithms
        fine = np.linspace(knots[:-1], knots[1:], _N_FINE, endpoint=False, axis=1)
        fine = np.append(fine.ravel(), self.end)
        at_risk = _divide(self.exposure(fine), np.diff(fine), 0.0)
        # Events at a knot belong to the stretch before it, however logarithms are rounded.
        came = self.count(knots * (1.0 + ROUNDING))[1]
        is_seen = at_risk > ROUNDING * at_risk.max()
        for _ in range(_N_ROUNDS):
            values = clock.read(clock.origin + fine)
            rises = np.diff(values)
            expected = (at_risk * rises).reshape(-1, _N_FINE).sum(axis=1)
            growth = np.diff(values[::_N_FINE])
            factors = _divide(came, expected, 1.0)
            if not is_seen.all():
                seen = np.where(is_seen, rises, 0.0).reshape(-1, _N_FINE).sum(axis=1)
                factors = 1.0 + _divide(seen, growth, 1.0) * (factors - 1.0)
            growth *= np.clip(factors, *_STEPS)
            clock = clock.with_counts(np.log(np.cumsum(growth)))
        return clock

    def recent(self) -> tuple[float, float]:
        """Return since when, and at what rate, events came recently."""
        since = find_recent(self._times, np.diff(self._numbers), 0.0, self.end)
        rate = self.rates(np.array([since, self.end]))[0][0]
        return since, float(rate)

    def level(self, slope: float) -> float:
        """Return the rate at the end, from which events go on with a slope."""
        edges = np.linspace(0.0, self.end, _N_LEVEL_CELLS + 1)
        counts, costs = self.count(edges)
        exposure = self.exposure(edges) * follow_trend(edges, slope)
        return pool_recent(edges, counts, costs, exposure)

    def fall(self) -> float:
        """Return the exponent of a clearly falling rate, 0 of others."""
        edges = np.linspace(TREND_FROM * self.end, self.end, _N_TREND_CELLS + 1)
        return fit_fall(edges, *self.rates(edges))


class _Ramp:
    """The function ``sum of w_i max(t - t_i, 0)``."""

    def __init__(self, times: FloatArray, weights: FloatArray) -> None:
        if np.all(times == times[:1]):  # one step, as where all begin together
            times, weights = times[:1], np.full(len(times[:1]), weights.sum())
        self.times, weights = _sort(times, weights)
        self._weight, self._moment = _sum_up(weights), _sum_up(weights * self.times)

    def count(self, times: FloatArray) -> FloatArray:
        """Return the sum of all weights before each of ascending times."""
        places = np.empty(len(times), dtype=np.int64)
        count_in_order(self.times, times, places)
        return self._weight[places]

    def read(self, times: FloatArray) -> FloatArray:
        """Return the function at some times."""
        places = np.searchsorted(self.times, times, side="right")
        return np.asarray(self._weight[places] * times - self._moment[places])


def sum_exposure(
    start: FloatArray, stop: FloatArray, amounts: FloatArray, edges: FloatArray
) -> FloatArray:
    """Return the time in windows between edges, each window with its amount."""
    return np.diff(_Ramp(start, amounts).read(edges) - _Ramp(stop, amounts).read(edges))


def find_gaps(
    starts: FloatArray, stops: FloatArray, least: float
) -> tuple[FloatArray, FloatArray]:
    """Return begins and ends of the time between windows, from sorted ends of these.

    None is shorter than ``least``. Windows that all start together are given by one start.
    """
    if len(starts) != len(stops):
        return starts[:0], stops[:0]
    after = np.flatnonzero(starts[1:] > stops[:-1] + least)
    return stops[after], starts[after + 1]


def _sort(times: FloatArray, *values: FloatArray) -> tuple[FloatArray, ...]:
    """Return times in order, with their values."""
    if all(np.all(each == each[:1]) for each in values):  # in any order they are the same
        return np.sort(times), *values
    order = np.argsort(times, kind="stable")
    return times[order], *(each[order] for each in values)


def _sum_up(values: FloatArray) -> FloatArray:
    """Return the sums of values up to each place, from before the first one on."""
    sums = np.zeros(len(values) + 1)
    np.cumsum(values, out=sums[1:])
    return sums


def _divide(above: FloatArray, below: FloatArray, otherwise: float) -> FloatArray:
    """Return ratios, or a number where nothing is to be divided by."""
    return np.divide(above, below, out=np.full(len(above), otherwise), where=below > 0.0)


def _choose_places(
    events: RecurrentEvents,
    times: FloatArray,
    pooled: PooledHistories,
    origin: float,
    since: float,
) -> FloatArray:
    """Return where knots may lie, from the origin up to where the recent time begins.

    That is at quantiles of the events, and at those tenths of the time axis that are not
    next to one: a handful of events between two knots would tell a rate that bends the
    clock around them. Of counts over intervals knots lie at ends of these, as many as fit
    into the time axis: nothing tells how the rate changes within.
    """
    n_knots, end = int(np.clip(round(times.size ** (1 / 3)), 1, _MAX_KNOTS)), pooled.end
    tenths = np.arange(1, _N_TENTHS) * end / _N_TENTHS
    if events.intervals is not None:
        length = float(np.mean(events.intervals[:, 1] - events.intervals[:, 0]))
        n_knots, tenths = min(n_knots, max(round(end / length), 1)), tenths[:0]
        times = np.unique(events.intervals[:, 1]) - origin
    ranks = np.linspace(0, times.size - 1, n_knots + 1)[1:].astype(np.int64)
    quantiles, tenths = (
        places[places <= since * (1.0 + ROUNDING)] for places in (times[ranks], tenths)
    )
    if not quantiles.size:
        return tenths
    is_far = _distance(tenths, quantiles) >= 0.5 * end / _N_TENTHS
    n_between = _distance(pooled.number_until(tenths), pooled.number_until(quantiles))
    return np.union1d(quantiles, tenths[is_far | (n_between >= RECENT_EVENTS)])


def _distance(values: FloatArray, others: FloatArray) -> FloatArray:
    """Return how far each value is from the nearest of others."""
    return np.asarray(np.abs(values[:, None] - others).min(axis=1))


def _place_knots(
    times: FloatArray,
    mean: FloatArray,
    since: float,
    pooled: PooledHistories,
    rate: float,
    places: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return log times and log counts of knots.

    Since few may be left at the end, where one event makes a large step of the mean
    cumulative function, the last stretch has the rate of all its events over all its time.
    """
    at = places[places <= since * (1.0 + ROUNDING)]
    # The middle of the jump: half of an event has happened at its own time.
    padded = np.concatenate([[0.0], mean])
    counts = 0.5 * (
        padded[np.searchsorted(times, at, side="left")]
        + padded[np.searchsorted(times, at, side="right")]
    )
    start = padded[np.searchsorted(times, since, side="right")]
    counts += pooled.rise_unseen(at)
    start += pooled.rise_unseen(np.array([since]))[0]
    at = np.append(at, pooled.end)
    counts = np.append(counts, start + rate * (pooled.end - since))
    # Far from the origin, times that differ by rounding have the same logarithm; and a
    # stretch without events must not stop the clock.
    with np.errstate(divide="ignore"):
        log_times, log_counts = np.log(at), np.log(counts)
    keep = [len(at) - 1]
    for place in range(len(at) - 2, -1, -1):
        rises = counts[place] < counts[keep[-1]] and log_times[place] < log_times[keep[-1]]
        if rises and counts[place] > 0.0:
            keep.append(place)
    keep.reverse()
    return log_times[keep], log_counts[keep]
