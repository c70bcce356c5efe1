"""Frailties of the training individuals, and the law that forecasts follow."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boostr._frailty.counts import Counts
from boostr._frailty.forecast_law import Costs, ForecastLaw
from boostr._frailty.law import (
    N_CELLS,
    Frailties,
    FrailtyLaw,
    Histories,
    Pieces,
    cut_windows,
    sum_by_owner,
)
from boostr._frailty.own_pace import find_offsets
from boostr._frailty.pace import CurvesOnClock, FittedPace, PacedClock, fit_pace
from boostr._frailty.second_scale import fit_second_scale
from boostr._training.fitted import TreeModel
from boostr._training.fold_curves import Expect, FoldCurves
from boostr._training.inputs import TrainingData
from boostr._typing import FloatArray, PositionArray
from boostr.data import RecurrentEvents
from boostr.data.clip import Observed, observe

__all__ = [
    "TrainingCurves",
    "count_after",
    "find_cell",
    "look_ahead",
    "relative_variance",
    "score_halves",
    "score_windows",
    "some_of",
    "sum_histories",
    "sum_pieces",
]


_MOST = 3000  # individuals that frailties are fitted to
_MOST_VARIABLE = 10.0  # relative variance of a prediction beyond which it says nothing


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
        curves = FoldCurves(
            model,
            data.features,
            data.sensors,
            theta,
            paced,
            exposure,
            find_offsets(data.events),
        )
        return cls(data, theta, Costs.of(data.events), curves)

    def thin(self, most: int) -> TrainingCurves:
        """Return an evenly spaced subsample."""
        if len(self.data) <= most:
            return self
        rows = some_of(np.arange(len(self.data)), most)
        return self.take(rows, self.data.take(rows), self.costs)

    def take(
        self,
        rows: PositionArray,
        data: TrainingData,
        costs: Costs,
        paced: PacedClock | None = None,
    ) -> TrainingCurves:
        """Return some individuals with other data, at another pace if one is given."""
        theta = None if self.theta is None else self.theta[rows]
        curves = self.curves.take(rows, data.sensors, paced)
        return TrainingCurves(data, theta, costs, curves)

    def at_pace(self, paced: PacedClock) -> TrainingCurves:
        """Return the same individuals at another pace."""
        return replace(self, curves=self.curves.at_pace(paced))

    def find_pace(self, near: float | None = None) -> FittedPace:
        """Return the pace of their events and the variance of permanent frailties.

        ``near`` is a guess of the variance.
        """
        events, weights, unit = self.data.events, self.data.weights, self.costs.unit
        return fit_pace(self._plain, events, self.amounts, weights, unit, near=near)

    def add_second_scale(self, pace: FittedPace) -> FittedPace | None:
        """Return the pace with factors along a second time scale, if these are clear."""
        events, weights, unit = self.data.events, self.data.weights, self.costs.unit
        return fit_second_scale(self._plain, events, self.amounts, weights, pace, unit)

    @property
    def _plain(self) -> CurvesOnClock:
        """Curves without a pace."""
        curves = self.curves
        return CurvesOnClock(curves.clock, curves.read_all, curves.average.values_at)

    @property
    def amounts(self) -> FloatArray:
        """Costs of the events in units in which they vary as counts do."""
        return self.data.events.costs / self.costs.unit

    def histories(self, cell: float) -> Histories:
        """Return observed and expected events of each individual, in pieces of time."""
        events = self.data.events
        observed = Observed.of(events)
        return sum_histories(self.curves.expect, observed, events.start, cell, self.costs)


def find_cell(events: RecurrentEvents) -> float:
    """Return the length of the pieces in which the fading of frailty is fitted."""
    return float(events.window_stop.max() - events.window_start.min()) / N_CELLS


def some_of(known: PositionArray, most: int = _MOST) -> PositionArray:
    """Return the evenly spaced subsample that is used for frailties and scores."""
    n = min(len(known), most)
    return known[np.arange(n) * len(known) // max(n, 1)]


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
    expect: Expect, observed: Observed, entry: FloatArray, cell: float, costs: Costs
) -> Histories:
    """Return observed and expected events of individuals, in pieces of time.

    ``entry`` has one time for each of all individuals; those without events or windows
    have an empty history.
    """
    pieces = cut_windows(observed.owner, observed.start, observed.stop, cell)
    return sum_pieces(expect, observed, entry, pieces, costs)


def sum_pieces(
    expect: Expect, observed: Observed, entry: FloatArray, pieces: Pieces, costs: Costs
) -> Histories:
    """Return observed and expected events from pieces of time that are already cut."""
    expected = expect(pieces.owner, pieces.start, pieces.stop) / costs.unit
    return Histories(
        entry,
        pieces,
        np.maximum(expected, 0.0),
        observed.event_owner,
        observed.times,
        observed.costs / costs.unit,
    )


def look_ahead(
    curves: FoldCurves,
    events: RecurrentEvents,
    now: FloatArray,
    law: FrailtyLaw,
    costs: Costs,
    variance: FloatArray,
) -> tuple[Frailties, FoldCurves]:
    """Return frailties and curves after a time, as histories up to it tell.

    ``variance`` is the relative variance of predictions.
    """
    if not law.uses_history:
        return law.without_history(variance), curves
    before = observe(events, np.full(len(events), -np.inf), now)
    entry = np.minimum(events.start, now)
    histories = sum_histories(curves.expect, before, entry, law.cell, costs)
    known = law.posterior(histories, now, variance)
    return known, curves.at_own_pace(law.renew(histories, now, curves.read))


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
    if own_history:
        frailties, curves = look_ahead(curves, events, now, law.frailty, costs, variance)
    else:
        frailties = law.frailty.without_history(variance)
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
    n = len(events)
    after = observe(events, now, np.full(n, np.inf) if stop is None else stop)
    windows = curves.expect(after.owner, after.start, after.stop) / costs.unit
    expected = np.maximum(sum_by_owner(after.owner, windows, n), 0.0)
    came = sum_by_owner(after.event_owner, after.costs / costs.unit, n)
    return expected, came, np.flatnonzero(np.bincount(after.owner, minlength=n))
