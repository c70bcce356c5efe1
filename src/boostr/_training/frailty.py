"""Frailties of the training individuals, and the law that forecasts follow."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boostr._frailty.counts import Counts
from boostr._frailty.law import (
    N_CELLS,
    FrailtyLaw,
    Histories,
    Pieces,
    cut_windows,
    sum_by_owner,
)
from boostr._frailty.pace import PacedClock, fit_pace
from boostr._training.fold_curves import Expect, FoldCurves, TreeModel
from boostr._training.inputs import TrainingData
from boostr._typing import FloatArray, PositionArray
from boostr.data import RecurrentEvents
from boostr.data.clip import clip
from boostr.data.flat import owners_of

__all__ = [
    "Costs",
    "ForecastLaw",
    "Shock",
    "TrainingCurves",
    "count_after",
    "find_cell",
    "relative_variance",
    "score_halves",
    "score_windows",
    "some_of",
    "sum_histories",
    "sum_pieces",
]

_USUAL_ERROR = 0.12  # of totals over the length of a lead, on fleets of many kinds
_USUAL_FREEDOM = 2.0  # dates that this counts as
_MANY_LEADS = 4.0  # after which levels wander more slowly
_MOST_VARIABLE_TOTAL = 1.0  # relative variance of a total


@dataclass(frozen=True, slots=True, eq=False)
class Shock:
    """Errors of totals that all individuals share, from forecasts at earlier dates.

    ``errors`` are log ratios of observed to forecast totals over ``lead``; ``noise`` is
    the part of their squares due to the chance of single individuals.
    """

    lead: float
    errors: FloatArray  # (k,) the latest date first
    noise: FloatArray  # (k,)

    def variance(self, length: FloatArray) -> FloatArray:
        """Return the relative variance of totals over a time ahead.

        It grows with the time as levels wander, more slowly after some leads. A usual
        error counts as two more dates; a Student factor allows for their small number.
        """
        excess = np.maximum(self.errors**2 - self.noise, 0.0)
        freedom = _USUAL_FREEDOM + len(excess)
        usual = _USUAL_FREEDOM * _USUAL_ERROR**2
        factor = freedom / (freedom - 2.0) if freedom > 3.0 else 3.0
        over_lead = factor * (usual + float(excess.sum())) / freedom
        passed = np.asarray(length) / self.lead
        wandered = np.minimum(passed, np.sqrt(_MANY_LEADS * passed))
        grown = over_lead * np.maximum(wandered, 0.5 + 0.5 * wandered)
        return np.asarray(np.minimum(grown, _MOST_VARIABLE_TOTAL))


@dataclass(frozen=True, slots=True, eq=False)
class ForecastLaw:
    """Frailty, pace, level and shock with which predictions become forecasts."""

    frailty: FrailtyLaw
    paced: PacedClock | None = None  # None: the clock of the predictions
    level: float = 1.0  # of the recent past, for all individuals
    shock: Shock | None = None  # None: what folds and clocks disagree about

    def of_strangers(self) -> ForecastLaw:
        """Return the law for individuals without a history: plain predictions."""
        return replace(self, paced=None, level=1.0)


_MOST = 4000  # individuals that frailties are fitted to
_MOST_VARIABLE = 10.0  # relative variance of a prediction beyond which it says nothing


@dataclass(frozen=True, slots=True)
class Costs:
    """Mean and mean square of the cost of an event; both 1 if events are counted.

    In multiples of ``unit``, totals have a variance equal to their mean, as counts have,
    if costs are independent of each other and of the event times.
    """

    mean: float
    square: float

    @classmethod
    def of(cls, events: RecurrentEvents) -> Costs:
        """Return the moments of the events' costs."""
        if not events.has_costs or not events.costs.sum() > 0.0:
            return cls(1.0, 1.0)
        return cls(float(events.costs.mean()), float(np.mean(events.costs**2)))

    @property
    def unit(self) -> float:
        """Cost that counts as one event in variances."""
        return self.square / self.mean

    def interval(self, counts: Counts, level: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals of totals from counts of cost units.

        Totals need not be whole units, so each number covers all totals rounded to it.
        """
        lower, upper = counts.interval(level)
        if self.mean == self.square == 1.0:  # events are counted, or all cost 1
            return lower, upper
        lower = np.maximum(lower - 0.5, 0.0)
        upper = np.where(counts.mean > 0.0, upper + 0.5, upper)
        return lower * self.unit, upper * self.unit


@dataclass(frozen=True, slots=True, eq=False)
class TrainingCurves:
    """Some training individuals with their out-of-fold curves."""

    data: TrainingData
    theta: FloatArray | None  # of models that left them out
    costs: Costs
    curves: FoldCurves

    @classmethod
    def of(
        cls,
        model: TreeModel,
        data: TrainingData,
        theta: FloatArray | None,
        paced: PacedClock | None = None,
    ) -> TrainingCurves:
        """Return a subsample of those with out-of-fold coefficients, or of all."""
        if theta is None:
            known = some_of(np.arange(len(data)))
        else:
            known = some_of(np.flatnonzero(~np.isnan(theta[:, 0])))
            theta = theta[known]
        return cls.among(model, data.take(known), theta, paced)

    @classmethod
    def among(
        cls,
        model: TreeModel,
        data: TrainingData,
        theta: FloatArray | None,
        paced: PacedClock | None = None,
    ) -> TrainingCurves:
        """Return all given individuals."""
        exposure = data.events.exposure
        curves = FoldCurves(model, data.features, data.sensors, theta, paced, exposure)
        return cls(data, theta, Costs.of(data.events), curves)

    def find_pace(self, *, falls: bool = True) -> tuple[PacedClock, float]:
        """Return the pace of their events and the variance of permanent frailties."""
        return fit_pace(
            self.curves.clock,
            self.curves.average.values_at,
            self.data.events,
            self.amounts,
            self.data.weights,
            self.costs.unit,
            falls=falls,
        )

    @property
    def amounts(self) -> FloatArray:
        """Costs of the events in units in which they vary as counts do."""
        return self.data.events.costs / self.costs.unit

    def histories(self, cell: float) -> Histories:
        """Return observed and expected events of each individual, in pieces of time."""
        events = self.data.events
        rows = np.arange(len(events))
        return sum_histories(
            self.curves.expect, events, rows, events.start, cell, self.costs
        )


def find_cell(events: RecurrentEvents) -> float:
    """Return the length of the pieces in which the fading of frailty is fitted."""
    return float(events.window_stop.max() - events.window_start.min()) / N_CELLS


def some_of(known: PositionArray) -> PositionArray:
    """Return the subsample of individuals used for frailties and scores."""
    return known[:: max(-(-len(known) // _MOST), 1)]


def score_halves(known: TrainingCurves, law: ForecastLaw) -> FloatArray:
    """Return sorted scores of forecasts from the middle of each follow-up to its end.

    Sensor values after the middle are not used, as in forecasts. Empty without
    out-of-fold coefficients.
    """
    if known.theta is None:
        return np.empty(0)
    events = known.data.events
    middle = 0.5 * (events.start + events.end)
    curves = known.curves.at_pace(law.paced, middle)
    scores = score_windows(curves, events, middle, law, known.costs)
    return np.sort(scores[~np.isnan(scores)])


def sum_histories(
    expect: Expect,
    events: RecurrentEvents,
    rows: PositionArray,
    entry: FloatArray,
    cell: float,
    costs: Costs,
) -> Histories:
    """Return observed and expected events of individuals ``rows``, in pieces of time.

    ``entry`` has one time for each of all individuals; those without events or windows
    have an empty history.
    """
    owner = rows[owners_of(events.window_offsets)]
    pieces = cut_windows(owner, events.window_start, events.window_stop, cell)
    return sum_pieces(expect, events, rows, entry, pieces, costs)


def sum_pieces(
    expect: Expect,
    events: RecurrentEvents,
    rows: PositionArray,
    entry: FloatArray,
    pieces: Pieces,
    costs: Costs,
) -> Histories:
    """Return observed and expected events from pieces of time that are already cut."""
    expected = expect(pieces.owner, pieces.start, pieces.stop) / costs.unit
    return Histories(
        entry,
        pieces,
        np.maximum(expected, 0.0),
        rows[events.event_owner],
        events.times,
        events.costs / costs.unit,
    )


def relative_variance(curves: FoldCurves, by_fold: FloatArray) -> FloatArray:
    """Return the variance of predictions over their squared mean."""
    mean = np.mean(by_fold, axis=0)
    variance = curves.variance(by_fold)
    share = np.divide(
        variance, mean**2, out=np.zeros_like(mean), where=(mean > 0.0) & (variance > 0.0)
    )
    return np.minimum(share, _MOST_VARIABLE)


def score_windows(
    curves: FoldCurves,
    events: RecurrentEvents,
    now: FloatArray,
    law: ForecastLaw,
    costs: Costs,
    *,
    own_history: bool = True,
) -> FloatArray:
    """Return scores of forecasts made at a time, given what happened after it.

    ``curves`` must not use sensor values after that time. NaN for individuals that were
    not observed after it.
    """
    variance = np.zeros(len(events))
    if law.frailty.drifts:
        individuals = np.arange(len(events))
        by_fold = curves.expect_by_fold(individuals, now, np.maximum(events.end, now))
        variance = relative_variance(curves, by_fold)
    frailties = law.frailty.without_history(variance)
    if own_history:
        before, rows = clip(events, np.full(len(events), -np.inf), now)
        entry, cell = np.minimum(events.start, now), law.frailty.cell
        histories = sum_histories(curves.expect, before, rows, entry, cell, costs)
        frailties = law.frailty.posterior(histories, now, variance)
    expected, seen, rows = count_after(curves, events, now, costs)
    ahead = law.frailty.ahead(frailties, np.maximum(events.end - now, 0.0)).take(rows)
    counts = Counts(expected[rows] * ahead.mean, ahead.dispersion)
    scores = np.full(len(events), np.nan)
    scores[rows] = counts.score(seen[rows])
    return scores


def count_after(
    curves: FoldCurves,
    events: RecurrentEvents,
    now: FloatArray,
    costs: Costs,
    stop: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, PositionArray]:
    """Return expected and observed events after a time, and who was observed then."""
    last = np.full(len(events), np.inf) if stop is None else stop
    after, rows = clip(events, now, last)
    owner = rows[owners_of(after.window_offsets)]
    windows = curves.expect(owner, after.window_start, after.window_stop) / costs.unit
    expected = np.maximum(sum_by_owner(owner, windows, len(events)), 0.0)
    owner = rows[after.event_owner]
    return expected, sum_by_owner(owner, after.costs / costs.unit, len(events)), rows
