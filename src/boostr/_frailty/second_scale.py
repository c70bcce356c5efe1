"""The fit of rates along a second time scale: the age of individuals, or the date.

Curves are functions of one time. Where individuals enter at different times, rates may
depend on a second one, too: on the age in a fleet that grows in calendar time, and on the
date where time is counted from the start of each individual. The rate of individual ``i``
then is ``g(t + offset_i) f(t) u_i lambda_i(t)`` with pace ``f`` and frailty ``u_i``, and
``g`` is constant in every stretch of the second time scale.

Individuals that entered earlier may differ from later ones for good. That looks like an
effect of the age or the date, but does not go on as one: there is no ``g`` where factors of
cohorts explain the events as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from boostr._frailty.law import Pieces, SeenNumbers, log_step, sum_by_owner
from boostr._frailty.own_pace import SecondScale, find_offsets
from boostr._frailty.pace import CurvesOnClock, FittedPace, Pace
from boostr._frailty.weighted_exposure import cut_at_events
from boostr._typing import FloatArray, PositionArray
from boostr.basis.recent import pool_recent
from boostr.data import RecurrentEvents
from boostr.data.flat import owners_of
from boostr.data.times import find_origins

__all__ = ["fit_second_scale"]

_N_STRETCHES = 10  # with as many events each
_LEAST_EVENTS = 20.0  # of a stretch
_PRIOR = 1.0  # events, as many as expected, beside those of a stretch
_WORTH = 1.5  # log-likelihood that every further factor must gain
_MOST_ROUNDS = 12
_N_STEPS = 25  # of a round, in which frailties stay
_STILL = 1e-3  # relative change of all factors in a round that needs no further one
_LEAST_VARIANCE = 1e-8  # as good as none


def fit_second_scale(
    curves: CurvesOnClock,
    events: RecurrentEvents,
    amounts: FloatArray,
    weights: FloatArray,
    pace: FittedPace,
    unit: float = 1.0,
) -> FittedPace | None:
    """Return the pace with factors along a second time scale; None if these are not clear.

    The arguments are those of `fit_pace`, and the pace it returned.
    """
    offsets, owner = find_offsets(events), events.event_owner
    weighted = amounts * weights[owner]
    n_stretches = min(_N_STRETCHES, int(weighted.sum() / _LEAST_EVENTS))
    if np.ptp(offsets) == 0.0 or n_stretches < 2:
        return None
    places = events.times + offsets[owner]
    first, end = float((events.start + offsets).min()), float((events.end + offsets).max())
    inner = _find_quantiles(places, weighted, n_stretches)
    inner = inner[(inner > first) & (inner < end)]
    if not inner.size:
        return None
    stretches = Pace.at(np.append(first, inner))
    cohorts = Pace.at(
        np.append(-np.inf, _find_quantiles(offsets[owner], weighted, n_stretches))
    )
    pieces = _cut(curves, events, pace.edges, stretches, offsets)
    counts = _Counts.of(events, amounts, weights, pieces.rises / unit)
    grid = _Grid.of(counts, pieces, pace, events.times)
    plain = grid.fit(pace, 0)
    by_stretch = grid.split(stretches, pieces.stretch, stretches.find(places))
    found = by_stretch.fit(pace, _MOST_ROUNDS)
    gained = found.log_likelihood - plain.log_likelihood
    if gained < _WORTH * (len(stretches.begins) - 1):
        return None
    cohort = cohorts.find(offsets)
    by_cohort = grid.split(cohorts, cohort[pieces.owner], cohort[owner])
    if by_cohort.fit(pace, _MOST_ROUNDS).log_likelihood > found.log_likelihood:
        return None
    second = SecondScale(
        stretches.begins, found.columns, bool(np.ndim(find_origins(events)))
    )
    if second.counts_dates:  # ages of the time ahead have been seen, dates have not
        second = _go_on(second, end, found.came.sum(axis=0), found.rows @ found.expected)
    return replace(
        pace,
        factors=found.rows,
        variance=found.variance,
        came=found.came.sum(axis=1),
        expected=found.expected @ found.columns,
        second=second,
    )


def _find_quantiles(values: FloatArray, weights: FloatArray, n_parts: int) -> FloatArray:
    """Return values that divide all into parts of about the same weight."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    shares = np.arange(1, n_parts) / n_parts
    # Rounding must not choose between a value and the next one.
    places = np.searchsorted(total, (shares - 1e-9) * total[-1])
    return np.unique(values[order][places])


def _go_on(
    second: SecondScale, end: float, came: FloatArray, expected: FloatArray
) -> SecondScale:
    """Return factors that go on at the recent level after the end."""
    edges = np.append(second.begins, end)
    level = pool_recent(edges, came, came + _PRIOR, expected + _PRIOR)
    return replace(second, begins=edges, factors=np.append(second.factors, level))


class _Pieces(NamedTuple):
    """Pieces of the time under observation, between edges of both time scales."""

    owner: PositionArray  # (k,)
    step: PositionArray  # (k,) of the pace
    stretch: PositionArray  # (k,) of the second time scale
    rises: FloatArray  # (k,) of curves


def _cut(
    curves: CurvesOnClock,
    events: RecurrentEvents,
    edges: FloatArray,
    stretches: Pace,
    offsets: FloatArray,
) -> _Pieces:
    own = stretches.begins[1:] - offsets[:, None]
    common = np.broadcast_to(edges[1:-1], (len(events), len(edges) - 2))
    times, start, end = np.hstack([common, own]), events.start, events.end
    cuts = np.nonzero((times > start[:, None]) & (times < end[:, None]))
    windows = Pieces(
        owners_of(events.window_offsets), events.window_start, events.window_stop
    )
    pieces = cut_at_events(windows, cuts[0], times[cuts])
    values = (
        curves.read(pieces.owner, curves.clock.read(at))
        for at in (pieces.stop, pieces.start)
    )
    middle = 0.5 * (pieces.start + pieces.stop)
    return _Pieces(
        pieces.owner,
        Pace.at(edges[:-1]).find(middle),
        stretches.find(middle + offsets[pieces.owner]),
        np.maximum(np.subtract(*values), 0.0),
    )


class _Counts(NamedTuple):
    """Events of individuals, and what curves expect in pieces of time."""

    amounts: FloatArray  # (m,) of the events, weighted
    seen: FloatArray  # (n,)
    weights: FloatArray  # (n,)
    rises: FloatArray  # (k,) of pieces, in units of events

    @classmethod
    def of(
        cls,
        events: RecurrentEvents,
        amounts: FloatArray,
        weights: FloatArray,
        rises: FloatArray,
    ) -> Self:
        owner = events.event_owner
        seen = sum_by_owner(owner, amounts, len(events))
        return cls(amounts * weights[owner], seen, weights, rises)


class _Fitted(NamedTuple):
    """Factors of rows and columns of a grid, and what they rest on."""

    rows: FloatArray  # (k,)
    columns: FloatArray  # (m,)
    variance: float  # of permanent frailties
    log_likelihood: float
    came: FloatArray  # (k, m)
    expected: FloatArray  # (k, m) for factors of 1, given frailties


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """Events and pieces of time by stretches of the pace, and by a second sort."""

    counts: _Counts
    owner: PositionArray  # (k,) of pieces
    cell: PositionArray  # (k,) of the flattened grid
    at_event: PositionArray  # (m,) cells of the events
    shape: tuple[int, int]

    @classmethod
    def of(
        cls, counts: _Counts, pieces: _Pieces, pace: FittedPace, times: FloatArray
    ) -> Self:
        """Return a grid with one column."""
        steps = Pace.at(pace.edges[:-1])
        shape = len(steps.begins), 1
        return cls(counts, pieces.owner, pieces.step, steps.find(times), shape)

    def split(
        self, columns: Pace, of_pieces: PositionArray, of_events: PositionArray
    ) -> Self:
        """Return the same with the columns of pieces, and of events."""
        n = len(columns.begins)
        return replace(
            self,
            cell=n * self.cell + of_pieces,
            at_event=n * self.at_event + of_events,
            shape=(self.shape[0], n),
        )

    def fit(self, pace: FittedPace, n_rounds: int) -> _Fitted:
        """Return factors of rows and columns, found in turn with frailties."""
        counts, rows, columns = self.counts, pace.factors, np.ones(self.shape[1])
        numbers, variance = SeenNumbers.of(counts.seen, counts.weights), pace.variance
        came = sum_by_owner(self.at_event, counts.amounts, self._size).reshape(self.shape)
        by_row, by_column = came.sum(axis=1), came.sum(axis=0)
        expected = self._expect(rows, columns)
        for _ in range(n_rounds):
            known, before = self._sum_known(expected, variance), np.append(rows, columns)
            for _ in range(_N_STEPS):
                rows = (by_row + _PRIOR) / (known @ columns + _PRIOR)
                columns = (by_column + _PRIOR) / (rows @ known + _PRIOR)
            expected = self._expect(rows, columns)
            variance = numbers.fit_variance(expected, variance or None)
            if np.abs(np.append(rows, columns) / before - 1.0).max() < _STILL:
                break
        level = np.exp(np.average(np.log(columns), weights=by_column))
        rows, columns = rows * level, columns / level
        spread = np.full(len(expected), max(variance, _LEAST_VARIANCE))
        chances = log_step(expected, counts.seen, np.ones(len(expected)), spread)
        of_times = by_row @ np.log(rows) + by_column @ np.log(columns)
        likelihood = float(counts.weights @ chances + of_times)
        known = self._sum_known(expected, variance)
        return _Fitted(rows, columns, variance, likelihood, came, known)

    def _expect(self, rows: FloatArray, columns: FloatArray) -> FloatArray:
        """Return the expected events of individuals, for frailties of 1."""
        factors = np.outer(rows, columns).ravel()[self.cell]
        counts = self.counts
        return sum_by_owner(self.owner, counts.rises * factors, len(counts.seen))

    def _sum_known(self, expected: FloatArray, variance: float) -> FloatArray:
        """Return expected events in the grid, given frailties, for factors of 1."""
        counts = self.counts
        frailty = (1.0 + variance * counts.seen) / (1.0 + variance * expected)
        weighted = (counts.weights * frailty)[self.owner] * counts.rises
        return sum_by_owner(self.cell, weighted, self._size).reshape(self.shape)

    @property
    def _size(self) -> int:
        return self.shape[0] * self.shape[1]
