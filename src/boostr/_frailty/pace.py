"""The pace of events: how much faster than predicted they come to individuals as they are.

The average of all who are observed at a time changes with who is observed: machines that
fail more often may be the older ones, and customers that came first the more regular ones.
For individuals whose own history is known, that is not a course of time. With frailties
``u_i``, as their histories tell them, the rate at ``t`` is right for all individuals where
``sum of u_i E_i = N`` in every stretch of time, with ``N`` events where ``E_i`` were
predicted. The factors of the stretches, and the frailties, are found in turn (the EM
algorithm of Nielsen et al., 1992, with predictions in the place of covariates).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from boostr._frailty.law import SeenNumbers, sum_by_owner
from boostr._frailty.own_pace import ReadCurves, SecondScale
from boostr._kernels.curves import count_passed
from boostr._typing import FloatArray, PositionArray
from boostr.basis import Clock, OperationalClock
from boostr.basis.clock import sum_exposure
from boostr.basis.recent import (
    ROUNDING,
    end_exponent,
    fit_fall,
    follow_trend,
    pool_recent,
)
from boostr.data import RecurrentEvents
from boostr.data.events.exposure import exposed_windows
from boostr.data.flat import owners_of

__all__ = [
    "CurvesOnClock",
    "FittedPace",
    "Pace",
    "PacedClock",
    "Table",
    "find_rises",
    "fit_pace",
]

# Values of curves of individuals at clock times: all at common ones, or each at its own.
ReadAll = Callable[[FloatArray], FloatArray]

_MOST_ROUNDS = 8
_STILL = 1e-3  # relative change of all factors in a round that needs no further one
_PRIOR = 2.0  # events, as many as expected, beside those of a stretch
_STEPS = (0.5, 2.0)  # factors of one round
_FACTORS = (0.02, 50.0)  # paces that are possible
_LEAST_EXPECTED = 1e-12  # events, so that rates are never zero
_N_STRETCHES = 10  # of a clock without knots


class CurvesOnClock(NamedTuple):
    """A clock, and how curves of individuals are read at its times."""

    clock: Clock
    read_all: ReadAll
    read: ReadCurves


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """Factors of rates: that of place ``k`` holds from ``begins[k]`` to the next begin."""

    begins: FloatArray  # (k,) ascending; the first one also holds before it
    factors: FloatArray  # (k,)

    @classmethod
    def even(cls) -> Self:
        """Return a pace that changes nothing."""
        return cls.at(np.zeros(1))

    @classmethod
    def at(cls, begins: FloatArray) -> Self:
        """Return stretches with factors of 1."""
        return cls(begins, np.ones(len(begins)))

    def find(self, times: FloatArray) -> PositionArray:
        """Return the stretch of every time; a begin belongs to the stretch before."""
        places = np.empty(len(times), dtype=np.int64)
        count_passed(self.begins[1:], times, places)
        return places


class Table(NamedTuple):
    """Curves of individuals where the stretches of a pace begin."""

    plain: FloatArray  # (k, n) without the pace
    paced: FloatArray  # (k, n)


@dataclass(frozen=True, slots=True, eq=False)
class PacedClock:
    """A clock, and the pace of events on it."""

    clock: Clock
    pace: Pace
    second: SecondScale | None = None  # None: rates depend on one time alone

    def table(self, read_all: ReadAll) -> Table:
        """Return the curves where stretches begin."""
        plain = read_all(self.clock.read(self.pace.begins)).T
        factors, paced = self.pace.factors, np.empty(plain.shape)
        np.multiply(plain[0], factors[0], out=paced[0])
        np.subtract(plain[1:], plain[:-1], out=paced[1:])
        paced[1:] *= factors[:-1, None]
        for before, after in pairwise(paced):  # rows are long: faster than np.cumsum
            np.add(before, after, out=after)
        return Table(plain, paced)

    def read_all(self, read_all: ReadAll, table: Table, times: FloatArray) -> FloatArray:
        """Return paced curves at common times, (n, m), from where stretches begin."""
        place = self.pace.find(times)
        rises = read_all(self.clock.read(times)) - table.plain[place].T
        return np.asarray(table.paced[place].T + self.pace.factors[place] * rises)

    def read(
        self, each: ReadCurves, table: Table, rows: PositionArray, times: FloatArray
    ) -> FloatArray:
        """Return paced curves, each at a time, from those where stretches begin."""
        if np.all(times == self.pace.begins[0]):  # as where all begin together
            return np.asarray(table.paced[0].take(rows))
        place = self.pace.find(times)
        flat = place * table.plain.shape[1] + rows  # one index is faster than two
        rise = each(rows, self.clock.read(times)) - table.plain.take(flat)
        return np.asarray(table.paced.take(flat) + self.pace.factors.take(place) * rise)


@dataclass(frozen=True, slots=True, eq=False)
class FittedPace:
    """The pace of events up to the end, and what tells how it goes on."""

    clock: Clock
    edges: FloatArray  # (k + 1,) of stretches
    factors: FloatArray  # (k,)
    variance: float  # of permanent frailties
    came: FloatArray  # (k,) events
    expected: FloatArray  # (k,) events, for a pace of 1
    speed: FloatArray  # (k,) of the clock, while individuals are observed
    second: SecondScale | None = None

    def go_on(self, *, falls: bool = True) -> PacedClock:
        """Return the pace, also after the end: a clear fall goes on if ``falls``."""
        clock, edges, factors = self.clock, self.edges, self.factors
        if isinstance(clock, OperationalClock) and clock.is_power_law:
            # What a stretch shows beside the power law is for the sensors to explain.
            return PacedClock(clock, Pace(edges[:-1], factors), self.second)
        came, expected = self.came.copy(), np.maximum(self.expected, _LEAST_EXPECTED)
        # As in every stretch, so that events without exposure do not make an infinite pace.
        came[-1], expected[-1] = came[-1] + _PRIOR, expected[-1] + _PRIOR
        if not isinstance(clock, OperationalClock) or clock.last_rate is None:
            factor = pool_recent(edges, came, came, expected)
        else:
            since = edges - clock.origin
            slope = fit_fall(since, factors * self.speed, came) if falls else 0.0
            # Time under observation, of those for whom one event a unit of it is expected.
            exposure = expected / self.speed * follow_trend(since, slope)
            factor = pool_recent(edges, came, came, exposure) / clock.last_rate
            if clock.last_slope != end_exponent(slope):  # a new clock needs new curves
                clock = replace(clock, last_slope=end_exponent(slope))
        factors = np.append(factors, max(factor, _LEAST_EXPECTED))
        return PacedClock(clock, Pace(edges, factors), self.second)


def fit_pace(
    curves: CurvesOnClock,
    events: RecurrentEvents,
    amounts: FloatArray,
    weights: FloatArray,
    unit: float = 1.0,
    *,
    near: float | None = None,
) -> FittedPace:
    """Return the pace of events on a clock, and the variance of permanent frailties.

    ``amounts`` are the costs of the events in units that make them counts, and ``weights``
    those of the individuals. ``near`` is a guess of the variance, which makes the search
    for it shorter.
    """
    clock, end = curves.clock, float(events.window_stop.max())
    pace = _place(clock, float(events.window_start.min()), end)
    n, k, edges = len(events), len(pace.begins), np.append(pace.begins, end)
    rises = find_rises(curves, edges, events)
    rises /= unit
    owner = events.event_owner
    seen = sum_by_owner(owner, amounts, n)
    numbers = SeenNumbers.of(seen, weights)
    came = sum_by_owner(pace.find(events.times), amounts * weights[owner], k)
    factors, variance, frailty = np.ones(k), 0.0, np.ones(n)
    for _ in range(_MOST_ROUNDS):
        expected = np.einsum("kn,k->n", rises, factors)
        variance = near = numbers.fit_variance(expected, near)
        frailty = (1.0 + variance * seen) / (1.0 + variance * expected)
        counted = np.einsum("n,kn->k", weights * frailty, rises) * factors
        ratio = (came + _PRIOR) / (counted + _PRIOR)
        factors = np.clip(factors * np.clip(ratio, *_STEPS), *_FACTORS)
        if np.abs(ratio - 1.0).max() < _STILL:
            break
    expected = np.einsum("n,kn->k", weights * frailty, rises)
    speed = _find_speed(clock, edges, events, weights)
    return FittedPace(clock, edges, factors, variance, came, expected, speed)


def _find_speed(
    clock: Clock, edges: FloatArray, events: RecurrentEvents, weights: FloatArray
) -> FloatArray:
    """Return the mean speed of a clock between edges, while individuals are observed.

    That over all of the time where nobody is.
    """
    windows, all_passed = exposed_windows(events), clock.read(edges)
    amounts = weights[windows.owner] * windows.factor
    start, stop = windows.start - edges[0], windows.stop - edges[0]
    observed = sum_exposure(start, stop, amounts, edges - edges[0])
    start, stop = clock.read(windows.start), clock.read(windows.stop)
    passed = sum_exposure(start, stop, amounts, all_passed)
    lengths = np.diff(edges)
    some = observed > ROUNDING * lengths * amounts.sum()
    return np.where(some, passed, np.diff(all_passed)) / np.where(some, observed, lengths)


def find_rises(
    curves: CurvesOnClock, edges: FloatArray, events: RecurrentEvents
) -> FloatArray:
    """Return the rises of curves between edges, (k, n), while individuals are observed.

    Nobody is observed before the first edge or after the last one.
    """
    clock, read_all, read = curves
    owner, start = owners_of(events.window_offsets), events.window_start
    values, has_gaps = read_all(clock.read(edges)).T, len(owner) > len(events)
    values = values.take(owner, axis=1) if has_gaps else values
    at_start, late = values[0].copy(), np.flatnonzero(start > edges[0])
    at_start[late] = read(owner[late], clock.read(start[late]))
    at_stop = read(owner, clock.read(events.window_stop))
    rises = np.empty((len(edges) - 1, len(owner)))
    # Curves do not fall: edges before a window count as its start, those after as its stop.
    before = at_start
    for value, rise in zip(values[1:], rises, strict=True):
        after = np.minimum(value, at_stop)
        np.maximum(after, before, out=after)
        np.subtract(after, before, out=rise)
        before = after
    return np.add.reduceat(rises, events.window_offsets[:-1], axis=1) if has_gaps else rises


def _place(clock: Clock, start: float, end: float) -> Pace:
    """Return stretches up to the end, with factors of 1.

    Those of a clock with knots begin just after these: an event at a knot belongs to the
    stretch before it, however logarithms are rounded.
    """
    if isinstance(clock, OperationalClock):
        begins = clock.origin + np.exp(clock.log_times) * (1.0 + ROUNDING)
    else:
        begins = np.linspace(start, end, _N_STRETCHES + 1)
    inner = begins[(begins > start) & (begins < end * (1.0 - 1e-12))]
    return Pace.at(np.append(start, inner))
