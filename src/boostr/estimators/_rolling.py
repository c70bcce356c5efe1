"""Forecasts from earlier dates: how levels held, and what errors of totals to expect.

Every individual's present is moved back by one, two, ... leads. Clock, pace and level are
those of what was known then; coefficients and the law of frailties are those of the whole
training, since learning them anew for each date would take as long as the training itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boostr._forecasting.frailty import FrailtyLaw
from boostr._forecasting.pace import Pace, PacedClock, fit_pace
from boostr._typing import FloatArray
from boostr.basis import Clock, OperationalClock
from boostr.data import RecurrentEvents
from boostr.data._clip import clip, clip_sensors
from boostr.estimators._folds import FoldCurves
from boostr.estimators._forecast_law import Shock
from boostr.estimators._frailty import Seen, count_after, sum_histories

if TYPE_CHECKING:
    from boostr.estimators._out_of_fold import OutOfFoldPredictor

__all__ = ["find_lead", "measure_level", "roll_back"]

_LEADS = 10  # in the time axis
_LEAST = 10  # individuals, and events, that a date needs before it
_PRIOR = 5.0  # events, as many as expected, beside those that tell the level
_TRUST = 0.5  # power to which the level of the last lead is believed to go on


def find_lead(seen: Seen) -> float:
    """Return the length of the time that is forecast from earlier dates."""
    events = seen.data.events
    return float(events.end.max() - events.start.min()) / _LEADS


def measure_level(seen: Seen, law: FrailtyLaw, lead: float) -> float:
    """Return the level of events in the last lead, over what was expected.

    Levels wander, and return: half of the difference, on the scale of logarithms, is what
    goes on.
    """
    expected, came, _ = _forecast(seen, law, seen.data.events.end - lead)
    return float(((came + _PRIOR) / (expected + _PRIOR)) ** _TRUST)


def roll_back(
    model: OutOfFoldPredictor, seen: Seen, law: FrailtyLaw, lead: float, n_dates: int
) -> Shock:
    """Return the errors of totals that forecasts from earlier dates would have had."""
    errors = []
    for place in range(1, n_dates + 1):
        error = _roll_back_once(model, seen, law, lead, place)
        if error is not None:
            errors.append(error)
    table = np.array(errors).reshape(-1, 2)
    return Shock(lead, table[:, 0].copy(), table[:, 1].copy())


def _roll_back_once(
    model: OutOfFoldPredictor, seen: Seen, law: FrailtyLaw, lead: float, place: int
) -> tuple[float, float] | None:
    """Return the logarithm of what came over what was forecast, and its chance variance."""
    data = seen.data
    now = data.events.end - place * lead
    known, rows = clip(data.events, np.full(len(data), -np.inf), now)
    if len(rows) < _LEAST or len(known.times) < _LEAST:
        return None
    part = data.take(rows)
    sensors = part.sensors
    if sensors is not None:
        sensors = clip_sensors(sensors, now[rows])
    theta = None if seen.theta is None else seen.theta[rows]
    clock = _clock_then(model.clock_, known, part.weights)
    bare = PacedClock(clock, Pace.even())
    curves = FoldCurves(model, part.features, sensors, theta, bare)
    amounts = known.costs / seen.costs.unit
    paced, _ = fit_pace(
        clock, curves.average.values_at, known, amounts, part.weights, seen.costs.unit
    )
    then = replace(
        seen,
        data=replace(part, events=known, sensors=sensors),
        theta=theta,
        curves=FoldCurves(model, part.features, sensors, theta, paced),
    )
    level = measure_level(then, law, lead)
    ahead = replace(then, data=part)
    expected, came, chance = _forecast(ahead, law, now[rows], now[rows] + lead)
    expected, chance = level * expected, level**2 * chance + level * expected
    if expected <= 0.0:
        return None
    return float(np.log((came + 0.5) / (expected + 0.5))), chance / (expected + 0.5) ** 2


def _clock_then(clock: Clock, known: RecurrentEvents, weights: FloatArray) -> Clock:
    """Return the clock of what was known then."""
    if not isinstance(clock, OperationalClock):
        return clock
    return OperationalClock.from_events(known, weights)


def _forecast(
    seen: Seen, law: FrailtyLaw, now: FloatArray, stop: FloatArray | None = None
) -> tuple[float, float, float]:
    """Return totals expected and seen after a time, and the excess of their variance.

    Of those who were observed before it, while they are observed after it.
    """
    data, costs, curves = seen.data, seen.costs, seen.curves
    events = data.events
    before, rows = clip(events, np.full(len(events), -np.inf), now)
    entry = np.minimum(events.start, now)
    histories = sum_histories(curves.expect, before, rows, entry, law.cell, costs)
    frailties = law.posterior(histories, now, np.zeros(len(events)))
    expected, came, _ = count_after(curves, events, now, costs, stop)
    expected = expected * frailties.mean
    weights = np.where(now > events.start, data.weights, 0.0)
    excess = float(weights @ (frailties.dispersion * expected**2))
    return float(weights @ expected), float(weights @ came), excess
