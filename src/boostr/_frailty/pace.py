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
from typing import NamedTuple, Self

import numpy as np

from boostr._frailty.law import fit_variance, sum_by_owner
from boostr._typing import FloatArray, PositionArray
from boostr.basis import Clock, OperationalClock
from boostr.basis.clock import ROUNDING, fit_fall, pool_recent
from boostr.data import RecurrentEvents
from boostr.data.flat import owners_of

__all__ = ["Pace", "PacedClock", "Table", "find_rises", "fit_pace"]

# Values of curves of individuals at clock times: all at common ones, or each at its own.
ReadAll = Callable[[FloatArray], FloatArray]
ReadEach = Callable[[PositionArray, FloatArray], FloatArray]

_N_ROUNDS = 8
_PRIOR = 2.0  # events, as many as expected, beside those of a stretch
_STEPS = (0.5, 2.0)  # factors of one round
_FACTORS = (0.02, 50.0)  # paces that are possible
_LEAST_EXPECTED = 1e-12  # events, so that rates are never zero
_N_STRETCHES = 10  # of a clock without knots


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """Factors of rates: that of place ``k`` holds from ``begins[k]`` to the next begin."""

    begins: FloatArray  # (k,) ascending; the first one also holds before it
    factors: FloatArray  # (k,)

    @classmethod
    def even(cls) -> Self:
        """Return a pace that changes nothing."""
        return cls(np.zeros(1), np.ones(1))

    def find(self, times: FloatArray) -> PositionArray:
        """Return the stretch of every time; a begin belongs to the stretch before."""
        places = np.searchsorted(self.begins, times, side="left") - 1
        return np.maximum(places, 0)


class Table(NamedTuple):
    """Curves of individuals where the stretches of a pace begin."""

    plain: FloatArray  # (n, k) without the pace
    paced: FloatArray  # (n, k)


@dataclass(frozen=True, slots=True, eq=False)
class PacedClock:
    """A clock, and the pace of events on it."""

    clock: Clock
    pace: Pace

    def table(self, read_all: ReadAll) -> Table:
        """Return the curves where stretches begin."""
        plain = read_all(self.clock.read(self.pace.begins))
        rises = np.diff(plain, axis=1) * self.pace.factors[:-1]
        before = plain[:, :1] * self.pace.factors[0]
        return Table(plain, np.cumsum(np.hstack([before, rises]), axis=1))

    def read_all(self, read_all: ReadAll, table: Table, times: FloatArray) -> FloatArray:
        """Return paced curves at common times, (n, m), from where stretches begin."""
        place = self.pace.find(times)
        rises = read_all(self.clock.read(times)) - table.plain[:, place]
        return np.asarray(table.paced[:, place] + self.pace.factors[place] * rises)

    def read(
        self, each: ReadEach, table: Table, rows: PositionArray, times: FloatArray
    ) -> FloatArray:
        """Return paced curves, each at a time, from those where stretches begin."""
        place = self.pace.find(times)
        flat = rows * table.plain.shape[1] + place  # one index is faster than two
        rise = each(rows, self.clock.read(times)) - table.plain.take(flat)
        return np.asarray(table.paced.take(flat) + self.pace.factors.take(place) * rise)


def fit_pace(
    clock: Clock,
    read_all: ReadAll,
    each: ReadEach,
    events: RecurrentEvents,
    amounts: FloatArray,
    weights: FloatArray,
    unit: float = 1.0,
    *,
    falls: bool = True,
) -> tuple[PacedClock, float]:
    """Return the pace of events on a clock, and the variance of permanent frailties.

    ``amounts`` are the costs of the events in units that make them counts, and ``weights``
    those of the individuals. A clear fall of the rate goes on if ``falls``.
    """
    end = float(events.window_stop.max())
    pace = Pace(*_place(clock, float(events.window_start.min()), end))
    n, k = len(events), len(pace.begins)
    rises = find_rises(clock, pace, read_all, each, events) / unit
    seen = sum_by_owner(events.event_owner, amounts, n)
    weighted = amounts * weights[events.event_owner]
    came = sum_by_owner(pace.find(events.times), weighted, k)
    factors, variance, frailty = np.ones(k), 0.0, np.ones(n)
    for turn in range(_N_ROUNDS):
        expected = np.einsum("nk,k->n", rises, factors)
        near = variance if turn > 0 else None
        variance = fit_variance(expected, seen, weights, near)
        frailty = (1.0 + variance * seen) / (1.0 + variance * expected)
        counted = np.einsum("n,nk->k", weights * frailty, rises) * factors
        ratio = (came + _PRIOR) / (counted + _PRIOR)
        factors = np.clip(factors * np.clip(ratio, *_STEPS), *_FACTORS)
    if isinstance(clock, OperationalClock) and clock.is_power_law:
        # What a stretch shows beside the power law is for the sensors to explain.
        return PacedClock(clock, replace(pace, factors=factors)), variance
    begins = np.append(pace.begins, end)
    weighed = np.einsum("n,nk->k", weights * frailty, rises)
    expected = np.maximum(weighed, _LEAST_EXPECTED)
    # As in every stretch, so that events without exposure do not make an infinite pace.
    came[-1], expected[-1] = came[-1] + _PRIOR, expected[-1] + _PRIOR
    clock, factor = _go_on(clock, begins, factors, came, expected, falls=falls)
    return PacedClock(clock, Pace(begins, np.append(factors, factor))), variance


def find_rises(
    clock: Clock,
    pace: Pace,
    read_all: ReadAll,
    each: ReadEach,
    events: RecurrentEvents,
) -> FloatArray:
    """Return the rises of curves in stretches, (n, k), while individuals are observed."""
    owner = owners_of(events.window_offsets)
    start, stop = events.window_start, events.window_stop
    first = pace.find(np.nextafter(start, np.inf))
    last = np.maximum(pace.find(stop), first)
    at_begins = read_all(clock.read(pace.begins))
    n, k = at_begins.shape

    at_start = at_begins[owner, first]
    inside = np.flatnonzero(start > pace.begins[first])
    at_start[inside] = each(owner[inside], clock.read(start[inside]))
    at_stop = at_begins[owner, np.minimum(last + 1, k - 1)]
    inside = np.flatnonzero(stop < np.append(pace.begins[1:], np.inf)[last])
    at_stop[inside] = each(owner[inside], clock.read(stop[inside]))

    # The first and the last stretch of a window are in it in part, those between in full.
    is_one = first == last
    head = np.where(is_one, at_stop, at_begins[owner, np.minimum(first + 1, k - 1)])
    tail = np.where(is_one, 0.0, at_stop - at_begins[owner, last])
    changes = np.zeros((n, k + 1))  # of the number of windows that contain a stretch
    np.add.at(changes, (owner, first + 1), 1.0)
    np.add.at(changes, (owner, np.maximum(last, first + 1)), -1.0)
    rises = np.maximum(np.diff(at_begins, axis=1, append=at_begins[:, -1:]), 0.0)
    rises *= np.cumsum(changes[:, :k], axis=1)
    np.add.at(rises, (owner, first), np.maximum(head - at_start, 0.0))
    np.add.at(rises, (owner, last), np.maximum(tail, 0.0))
    return rises


def _go_on(
    clock: Clock,
    edges: FloatArray,
    factors: FloatArray,
    came: FloatArray,
    expected: FloatArray,
    *,
    falls: bool,
) -> tuple[Clock, float]:
    """Return the clock and the factor by which rates go on after the end.

    ``came`` and ``expected`` are events between the edges, the latter for a pace of 1.
    """
    if not isinstance(clock, OperationalClock) or clock.last_rate is None:
        level = pool_recent(edges, came, came, expected)
        return clock, max(level, _LEAST_EXPECTED)
    speed = np.diff(clock.read(edges)) / np.diff(edges)
    fall = fit_fall(edges - clock.origin, factors * speed, came) if falls else None
    # Time under observation, of individuals for whom one event a unit of time is expected.
    slope, level = fall or (0.0, pool_recent(edges, came, came, expected / speed))
    factor = max(level / clock.last_rate, _LEAST_EXPECTED)
    if clock.last_slope != 1.0 + slope:  # a new clock needs new curves
        clock = replace(clock, last_slope=1.0 + slope)
    return clock, factor


def _place(clock: Clock, start: float, end: float) -> tuple[FloatArray, FloatArray]:
    """Return where stretches begin, up to the end, with factors of 1.

    Those of a clock with knots begin just after these: an event at a knot belongs to the
    stretch before it, however logarithms are rounded.
    """
    if isinstance(clock, OperationalClock):
        begins = clock.origin + np.exp(clock.log_times) * (1.0 + ROUNDING)
    else:
        begins = np.linspace(start, end, _N_STRETCHES + 1)
    inner = begins[(begins > start) & (begins < end * (1.0 - 1e-12))]
    begins = np.append(start, inner)
    return begins, np.ones(len(begins))
