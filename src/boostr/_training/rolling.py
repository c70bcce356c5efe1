"""Forecasts from earlier dates: recent level, and errors of totals.

Every individual's present is moved back by one, two, ... leads. Clock, pace and level are
those of what was known then; coefficients and the law of frailties are those of the whole
training, since learning them anew for each date would take as long as the training
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from boostr._frailty.counts import Counts
from boostr._frailty.forecast_law import Costs, ForecastLaw, Shock
from boostr._frailty.law import FrailtyLaw
from boostr._frailty.pace import FittedPace, Pace, PacedClock
from boostr._training.fitted import TreeModel
from boostr._training.frailty import TrainingCurves, count_after, look_ahead
from boostr._training.inputs import TrainingData
from boostr._training.statistics import leave_to_sensors
from boostr._typing import FloatArray, PositionArray
from boostr.basis import Clock, OperationalClock
from boostr.data import RecurrentEvents
from boostr.data.clip import clip, clip_sensors

__all__ = [
    "cut_back",
    "find_lead",
    "forecast_ahead",
    "look_back",
    "make_shock",
    "measure_level",
    "roll_back",
]

_LEADS = 10  # in the time axis
_LEAST_MEAN = 1e-12  # of a number of events
_LEAST = 10  # individuals, and events, that a date needs before it
_TRUST = 1.0 / 3.0  # power to which the level of the last lead is believed to go on


def find_lead(events: RecurrentEvents) -> float:
    """Return the horizon of the forecasts from earlier dates."""
    return float(events.end.max() - events.start.min()) / _LEADS


def measure_level(seen: TrainingCurves, law: FrailtyLaw, lead: float) -> float:
    """Return the recent level: observed over expected events in the last lead.

    Levels wander and return: a third of the log ratio is kept, shrunk for chance.
    """
    error, chance = _forecast(seen, law, seen.data.events.end - lead).error
    clear = max(1.0 - chance / error**2, 0.0) if error != 0.0 else 0.0
    return float(np.exp(_TRUST * clear * error))


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Expected and observed numbers of individuals over a lead."""

    expected: FloatArray  # (n,)
    dispersion: FloatArray  # (n,)
    came: FloatArray  # (n,)
    weights: FloatArray  # (n,) 0 for those who were not there

    def total(self, values: FloatArray) -> float:
        """Return the weighted sum of values of individuals."""
        return float(self.weights @ values)

    def scaled(self, level: float) -> Forecast:
        """Return the forecast with all expected numbers multiplied by a factor."""
        return replace(self, expected=level * self.expected)

    @property
    def error(self) -> tuple[float, float]:
        """Log ratio of observed to expected total, and its variance by chance."""
        expected = self.total(self.expected) + 0.5
        variance = self.total(self.expected + self.dispersion * self.expected**2)
        return float(
            np.log((self.total(self.came) + 0.5) / expected)
        ), variance / expected**2

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the observed numbers, up to a constant."""
        counts = Counts(np.maximum(self.expected, _LEAST_MEAN), self.dispersion)
        return self.total(counts.log_likelihood(self.came))


def roll_back(
    model: TreeModel,
    seen: TrainingCurves,
    law: FrailtyLaw,
    lead: float,
    n_dates: int,
    ways: Sequence[bool] = (True,),
    *,
    has_second_scale: bool = False,
) -> list[list[Forecast]]:
    """Return forecasts over one lead from earlier dates, latest first.

    There is one list for each of ``ways``, which tell whether a clear fall of the rate
    goes on. ``has_second_scale``: whether to look for factors along a second time scale at
    every date.
    """
    found: list[list[Forecast]] = [[] for _ in ways]
    for place in range(n_dates):
        past = cut_back(seen.data, (place + 1) * lead)
        if past is None:
            continue
        then, rows, pace = _learn_then(model, seen, past, law, has_second_scale)
        data = seen.data.take(rows)
        for falls, forecasts in zip(ways, found, strict=True):
            paced = then.at_pace(pace.go_on(falls=falls))
            made = forecast_ahead(paced, data, law, lead)
            if made.total(made.expected) > 0.0:  # somebody was observed then
                forecasts.append(made)
    return found


def look_back(
    model: TreeModel, seen: TrainingCurves, law: ForecastLaw, length: float
) -> ForecastLaw | None:
    """Return the law with clock, pace and level of what was known some time ago.

    None if too little was.
    """
    past = cut_back(seen.data, length)
    if past is None or law.paced is None:
        return None
    has_second_scale = law.paced.second is not None
    then, _, pace = _learn_then(model, seen, past, law.frailty, has_second_scale)
    paced = pace.go_on()
    lead = find_lead(then.data.events)
    level = measure_level(then.at_pace(paced), law.frailty, lead)
    return replace(law, paced=paced, level=level)


def _learn_then(
    model: TreeModel,
    seen: TrainingCurves,
    past: tuple[TrainingData, PositionArray],
    law: FrailtyLaw,
    has_second_scale: bool,
) -> tuple[TrainingCurves, PositionArray, FittedPace]:
    """Return the curves of individuals at an earlier date, who they are, and the pace."""
    known, rows = past
    even = PacedClock(_clock_then(model.clock, known), Pace.even())
    then = seen.take(rows, known, Costs.of(known.events), even)
    pace = then.find_pace(law.variance)
    if has_second_scale:
        pace = then.add_second_scale(pace) or pace
    return then, rows, pace


def cut_back(
    data: TrainingData, length: float
) -> tuple[TrainingData, PositionArray] | None:
    """Return the data known some time before the end and the rows; None if too little."""
    now = data.events.end - length
    events, rows = clip(data.events, np.full(len(data), -np.inf), now)
    if len(rows) < _LEAST or len(events.times) < _LEAST:
        return None
    known = data.take(rows)
    sensors = known.sensors
    if sensors is not None:
        sensors = clip_sensors(sensors, now[rows])
    return replace(known, events=events, sensors=sensors), rows


def forecast_ahead(
    then: TrainingCurves, data: TrainingData, law: FrailtyLaw, lead: float
) -> Forecast:
    """Return the forecast of one lead from earlier data, with what happened in it."""
    now = then.data.events.end
    then = replace(then, curves=then.curves.remembering())
    level = measure_level(then, law, lead)
    return _forecast(replace(then, data=data), law, now, now + lead).scaled(level)


def make_shock(lead: float, forecasts: Sequence[Forecast]) -> Shock:
    """Return the shared errors of totals that the forecasts had."""
    table = np.array([forecast.error for forecast in forecasts]).reshape(-1, 2)
    return Shock(lead, table[:, 0].copy(), table[:, 1].copy())


def _clock_then(clock: Clock, known: TrainingData) -> Clock:
    """Return the clock fitted to the data known then."""
    if not isinstance(clock, OperationalClock):
        return clock
    then = OperationalClock.from_events(known.events, known.weights)
    return leave_to_sensors(then, known, known) if clock.is_power_law else then


def _forecast(
    seen: TrainingCurves, law: FrailtyLaw, now: FloatArray, stop: FloatArray | None = None
) -> Forecast:
    """Return the forecast of events after a time, while individuals are observed.

    Individuals not observed before that time have weight 0.
    """
    data, costs = seen.data, seen.costs
    events = data.events
    nothing = np.zeros(len(events))
    frailties, curves = look_ahead(seen.curves, events, now, law, costs, nothing)
    expected, came, _ = count_after(curves, events, now, costs, stop)
    weights = np.where(now > events.start, data.weights, 0.0)
    return Forecast(expected * frailties.mean, frailties.dispersion, came, weights)
