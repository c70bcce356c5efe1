"""The law that forecasts follow, learned from a subsample of training histories."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from boostr._frailty.forecast_law import ForecastLaw, Shock
from boostr._frailty.law import Ahead, FrailtyLaw, add_renewal, fit_law
from boostr._frailty.pace import FittedPace
from boostr._training.fitted import LearnedLaw, TreeModel
from boostr._training.frailty import (
    TrainingCurves,
    count_after,
    find_cell,
    score_halves,
    sum_histories,
)
from boostr._training.rolling import (
    Forecast,
    find_lead,
    make_shock,
    measure_level,
    roll_back,
)
from boostr._training.run import use_threads
from boostr._typing import FloatArray
from boostr.basis import OperationalClock
from boostr.data import RecurrentEvents
from boostr.data.clip import observe

__all__ = ["learn_law"]

_MOST_FOR_RENEWAL = 1000  # individuals
_LAST_PART = 0.35  # of every follow-up, which the law of frailties is judged by
_CLEARLY = 1.0 / 3.0  # of the squared errors with a fall: so few without it overrule it
_N_JUDGES = 3  # earlier dates that judge factors along a second time scale
_LITTLE = 2.0  # log-likelihood at these dates that such factors may cost by chance
_MOST_ENDING = 0.1  # share of follow-ups that may end with an event by chance


def learn_law(model: TreeModel, known: TrainingCurves) -> LearnedLaw:
    """Return the law of forecasts, and the scores of forecasts that follow it."""
    with use_threads(model.settings.n_jobs):
        law = _learn_at_best_pace(model, known)
        return LearnedLaw(law, score_halves(known, law))


def _learn_at_best_pace(model: TreeModel, known: TrainingCurves) -> ForecastLaw:
    """Fit the law of forecasts, with factors along a second time scale if these help."""
    pace = known.find_pace()
    plain = _learn_at_pace(model, known, pace)
    with_second = known.add_second_scale(pace) if plain.forecasts else None
    if with_second is None:
        return plain.law
    # With the same frailties: wide distributions forgive what nobody could know then.
    n_dates, lead = min(model.settings.n_origins, _N_JUDGES), find_lead(known.data.events)
    [found] = roll_back(
        model, known, plain.law.frailty, lead, n_dates, has_second_scale=True
    )
    gained = _judge_forecasts(found) - _judge_forecasts(plain.forecasts[: len(found)])
    if gained < -_LITTLE:
        return plain.law
    return _learn_at_pace(model, known, with_second).law


def _judge_forecasts(forecasts: list[Forecast]) -> float:
    """Return the log-likelihood of what happened after earlier dates."""
    return sum(made.log_likelihood for made in forecasts)


class _Learned(NamedTuple):
    """A law, and forecasts from earlier dates with what was known of it then."""

    law: ForecastLaw
    forecasts: list[Forecast]  # latest first


def _learn_at_pace(model: TreeModel, known: TrainingCurves, pace: FittedPace) -> _Learned:
    """Fit frailty, recent level and common errors, in this order."""
    events, weights = known.data.events, known.data.weights
    paced = pace.go_on()
    seen = known.at_pace(paced)
    span = float(events.end.max() - events.start.min())
    frailty = fit_law(_cut_last_part(seen), pace.variance, span)
    if seen.theta is not None:  # trees that have seen the events take later ones for rarer
        frailty = _add_renewal(frailty, seen.thin(_MOST_FOR_RENEWAL), span)
    lead = find_lead(events)
    if _share_ending_with_event(events, weights) >= _MOST_ENDING:
        # The last lead of such histories has more events than any other: it tells nothing.
        shock = Shock(lead, np.empty(0), np.empty(0))
        return _Learned(ForecastLaw(frailty, paced, 1.0, shock), [])
    is_falling = isinstance(paced.clock, OperationalClock) and paced.clock.last_slope < 1.0
    ways = (True, False) if is_falling else (True,)
    n_dates, two = model.settings.n_origins, pace.second is not None
    found = roll_back(model, seen, frailty, lead, n_dates, ways, has_second_scale=two)
    chosen = found[0]
    shock = make_shock(lead, chosen)
    for forecasts in found[1:]:
        unlike = make_shock(lead, forecasts)
        # A few dates are a noisy judge: they must be clear.
        if np.sum(unlike.errors**2) < _CLEARLY * np.sum(shock.errors**2):
            paced, shock, chosen = pace.go_on(falls=False), unlike, forecasts
            seen = known.at_pace(paced)
    law = ForecastLaw(frailty, paced, measure_level(seen, frailty, lead), shock)
    return _Learned(law, chosen)


def _cut_last_part(seen: TrainingCurves) -> Ahead:
    """Return the last part of all histories, and what came before it."""
    events, costs = seen.data.events, seen.costs
    now = events.end - _LAST_PART * (events.end - events.start)
    before = observe(events, np.full(len(events), -np.inf), now)
    cell = find_cell(events)
    expect = partial(seen.curves.expect, cell=cell)
    histories = sum_histories(expect, before, events.start, cell, costs)
    expected, came, _ = count_after(seen.curves, events, now, costs)
    length = float(np.average(events.end - now, weights=seen.data.weights))
    return Ahead(histories, now, expected, came, seen.data.weights, length)


def _add_renewal(law: FrailtyLaw, seen: TrainingCurves, span: float) -> FrailtyLaw:
    """Return the law with the renewal by events that whole histories show, if any."""
    events, cell = seen.data.events, find_cell(seen.data.events)
    histories = seen.histories(cell)
    return add_renewal(law, histories, cell, seen.data.weights, events.end, span)


def _share_ending_with_event(events: RecurrentEvents, weights: FloatArray) -> float:
    """Return the share of individuals whose observation ends with an event of their own."""
    closing = events.times == events.end[events.event_owner]
    is_last = np.bincount(events.event_owner, closing, len(events)) > 0.0
    return float(weights @ is_last / weights.sum())
