"""The floor below which predicted rates are bent, and the level of all rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boostr._engine.curves import expose
from boostr._engine.ensemble import Ensemble
from boostr._training.inputs import TrainingData
from boostr._training.settings import Settings
from boostr._typing import FloatArray
from boostr.basis import OperationalClock
from boostr.data import RecurrentEvents
from boostr.data.events.exposure import exposed_windows
from boostr.data.flat import owners_of

__all__ = ["fit_link"]

_FLOORS = (0.02, 0.05, 0.1, 0.2, 0.4)  # of the average individual's rate
_USUAL_FLOOR = 0.1  # where no predictions are at hand that could tell
_LEVELS = (0.5, 2.0)  # factors that may put the total right


def fit_link(
    ensemble: Ensemble,
    data: TrainingData,
    theta: FloatArray | None,
    settings: Settings,
) -> tuple[Ensemble, float]:
    """Return the ensemble with the floor and level of highest likelihood, and the factor.

    Each floor is judged on out-of-fold rates (``theta``), scaled to expect as many events
    as observed. Without ``theta`` the floor is the usual one, the factor 1.
    """
    average = _average_rate(ensemble, data)
    usual = replace(ensemble, floor=_USUAL_FLOOR * average)
    is_judged = settings.loss == "intensity" and settings.monotone and average > 0.0
    if theta is None or not is_judged:
        return replace(usual, floor=usual.floor if average > 0.0 else None), 1.0
    known = np.flatnonzero(~np.isnan(theta[:, 0]))
    candidates = [replace(ensemble, floor=share * average) for share in _FLOORS]
    some, held_out = data.take(known), theta[known]
    judged = [_judge(candidate, some, held_out) for candidate in candidates]
    best = int(np.argmax([likelihood for likelihood, _ in judged]))
    level = judged[best][1]
    if len(known) < len(theta):
        # Few are held out, with more or fewer events than usual by chance: all tell it.
        filled = np.where(np.isnan(theta), ensemble.coefficients(data.features), theta)
        level = _judge(candidates[best], data, filled)[1]
    return candidates[best].scaled(level), level


def _average_rate(ensemble: Ensemble, data: TrainingData) -> float:
    """Return the average individual's rate on the ensemble's clock."""
    if isinstance(ensemble.clock, OperationalClock):
        return 1.0
    events, clock = data.events, ensemble.clock
    windows = exposed_windows(events)
    length = windows.factor * (clock.read(windows.stop) - clock.read(windows.start))
    total = float(data.weights[events.event_owner] @ events.costs)
    return total / float(data.weights[windows.owner] @ length)


def _judge(
    ensemble: Ensemble, data: TrainingData, theta: FloatArray
) -> tuple[float, float]:
    """Return the log-likelihood of the events at the best level, and this level."""
    events: RecurrentEvents = data.events
    unit = ensemble.curves(theta, data.sensors)
    curves = expose(unit, events.exposure, ensemble.clock)
    clock, owner = ensemble.clock, owners_of(events.window_offsets)
    expected = curves.values_at(owner, clock.read(events.window_stop))
    expected -= curves.values_at(owner, clock.read(events.window_start))
    total = float(data.weights[owner] @ expected)
    amounts = data.weights[events.event_owner] * events.costs
    level = float(np.clip(amounts.sum() / total, *_LEVELS))
    # Exposures multiply rates by every floor alike, and may be 0 where there was an event.
    rates = level * unit.slopes_at(events.event_owner, clock.read(events.times))
    some = (amounts > 0.0) & (rates > 0.0)  # events without exposure tell no floor
    return float(amounts[some] @ np.log(rates[some])) - level * total, level
