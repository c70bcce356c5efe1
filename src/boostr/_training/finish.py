"""The end of a fit: the level of rates, and the law that forecasts follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._frailty.law import Ahead, fit_law
from boostr._training.frailty import (
    ForecastLaw,
    Seen,
    Shock,
    count_after,
    find_cell,
    score_halves,
    sum_histories,
)
from boostr._training.inputs import TrainingData
from boostr._training.level import fit_link
from boostr._training.rolling import find_lead, make_shock, measure_level, roll_back
from boostr._typing import FloatArray
from boostr.basis import OperationalClock
from boostr.data import RecurrentEvents
from boostr.data.clip import clip

__all__ = ["finish_fit"]

_LAST_PART = 0.35  # of every follow-up, which the law of frailties is judged by
_CLEARLY = 1.0 / 3.0  # of the squared errors with a fall: so few without it overrule it
_MOST_ENDING = 0.1  # share of follow-ups that may end with an event by chance


def finish_fit(
    model: Any, data: TrainingData, theta: FloatArray | None, everybody: FloatArray | None
) -> None:
    """Correct the level of rates and fit the forecast law, in place.

    ``theta`` are the out-of-fold coefficients of ``data``, a subsample; ``everybody``
    those of all training individuals. Both are None without validation.
    """
    model.ensemble_, level = fit_link(model.ensemble_, data, theta, vars(model))
    model.out_of_fold_coefficients_ = None if everybody is None else level * everybody
    theta = None if theta is None else level * theta
    seen = Seen.of(model, data, theta)
    law = _learn_law(model, seen, data, theta)
    scores = np.empty(0)
    if seen.theta is not None:
        some, costs = seen.data, seen.costs
        scores = score_halves(
            model, some.features, some.sensors, seen.theta, some.events, law, costs
        )
    model.forecast_law_ = law
    model.frailty_variance_ = law.frailty.variance
    model.frailty_half_life_ = law.frailty.half_life
    model.cost_moments_ = np.array([seen.costs.mean, seen.costs.square])
    model.forecast_scores_ = scores


def _learn_law(
    model: Any, seen: Seen, data: TrainingData, theta: FloatArray | None
) -> ForecastLaw:
    """Fit frailty, pace, recent level and common errors, in this order."""
    events, weights = seen.data.events, seen.data.weights
    paced, variance = seen.find_pace()
    seen = Seen.of(model, data, theta, paced)
    span = float(events.end.max() - events.start.min())
    frailty = fit_law(_cut_last_part(seen), variance, span)
    lead = find_lead(events)
    if _share_ending_with_event(events, weights) >= _MOST_ENDING:
        # The last lead of such histories has more events than any other: it tells nothing.
        return ForecastLaw(frailty, paced, 1.0, Shock(lead, np.empty(0), np.empty(0)))
    shock = make_shock(lead, roll_back(model, seen, frailty, lead, model.n_origins))
    if isinstance(paced.clock, OperationalClock) and paced.clock.last_slope < 1.0:
        steady = roll_back(model, seen, frailty, lead, model.n_origins, falls=False)
        other = make_shock(lead, steady)
        # A few dates are a noisy judge: they must be clear.
        if np.sum(other.errors**2) < _CLEARLY * np.sum(shock.errors**2):
            paced, shock = Seen.of(model, data, theta).find_pace(falls=False)[0], other
            seen = Seen.of(model, data, theta, paced)
    return ForecastLaw(frailty, paced, measure_level(seen, frailty, lead), shock)


def _cut_last_part(seen: Seen) -> Ahead:
    """Return the last part of all histories, and what came before it."""
    events, costs = seen.data.events, seen.costs
    now = events.end - _LAST_PART * (events.end - events.start)
    before, rows = clip(events, np.full(len(events), -np.inf), now)
    histories = sum_histories(
        seen.curves.expect, before, rows, events.start, find_cell(events), costs
    )
    expected, came, _ = count_after(seen.curves, events, now, costs)
    length = float(np.average(events.end - now, weights=seen.data.weights))
    return Ahead(histories, now, expected, came, seen.data.weights, length)


def _share_ending_with_event(events: RecurrentEvents, weights: FloatArray) -> float:
    """Return the share of individuals whose observation ends with an event of their own."""
    closing = events.times == events.end[events.event_owner]
    is_last = np.bincount(events.event_owner, closing, len(events)) > 0.0
    return float(weights @ is_last / weights.sum())
