"""Event sensors, fitted in turn with frailties.

Individuals with many events show it on sensors computed from the events, because events
bring events or because their frailty is high. Sensors that are fitted first also absorb
the differences between individuals, which then keep growing in forecasts. So the
frailties of a model without these sensors come first; with frailty-weighted exposure the
sensors explain the rest. Frailties are then fitted again, and sensors once more. Of these
models and the one whose sensors came first, the one with the highest likelihood is kept:
the latter, if events do bring events.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from boostr._frailty.forecast_law import Costs
from boostr._frailty.law import cut_windows, log_likelihood
from boostr._frailty.weighted_exposure import (
    ExposedWindows,
    cut_at_events,
    measure_exposure,
)
from boostr._training.features import FeatureEncoder
from boostr._training.fit import fit_model
from boostr._training.fitted import Fitted
from boostr._training.frailty import TrainingCurves, find_cell, sum_pieces
from boostr._training.inputs import TrainingData, check_training_data
from boostr._training.run import Hooks
from boostr._training.sensors import split_panel, spread_shared
from boostr._training.settings import Settings
from boostr._typing import FloatArray, PositionArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.clip import Observed
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.intervals import refuse_intervals
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

__all__ = ["HistorySensors", "call_sensors", "fit_event_sensors"]

# Sensors that are computed from the events: a function of histories and times to reach.
HistorySensors = Callable[[RecurrentEvents, FloatArray], Trajectories]

_N_TURNS = 2
_LEAST_RATE = 0.01  # of the mean rate: what an event tells where hardly any was expected


def fit_event_sensors(
    settings: Settings,
    table: Any,
    y: RecurrentEvents,
    Z: HistorySensors,
    sample_weight: ArrayLike | None,
    hooks: Hooks,
) -> Fitted:
    """Fit sensors before and after frailties; return the model of highest likelihood."""
    if settings.warm_start:
        raise InvalidParameterError(
            "`warm_start` adds trees to a model, but where `Z` is a function several are "
            "fitted and one stays.\n\nHint: warm_start=False, or pass the sensors "
            "themselves, Z(y, y.end)."
        )
    shown = _call(Z, y)
    others = _select_others(shown, _call(Z, _without_events(y)))
    fits = _Fits(settings, table, y, sample_weight, hooks)
    first = fits.run(shown)
    if settings.loss != "intensity":
        return first  # the cumulative loss knows no factors of time
    earlier, before = fits.run(others), fits.read(others)
    if earlier.frailty_variance == 0.0:
        return first
    candidates, data = [first], fits.read(shown)
    for _ in range(_N_TURNS):
        earlier, before = fits.run(shown, _expose(earlier, before)), data
        candidates.append(earlier)
    return max(candidates, key=lambda candidate: _judge(candidate, data))


class _Fits:
    """Fits to the same histories with different sensors and exposures."""

    def __init__(
        self,
        settings: Settings,
        table: Any,
        y: RecurrentEvents,
        sample_weight: ArrayLike | None,
        hooks: Hooks,
    ) -> None:
        # The same random numbers for all, so that they differ by what they are given.
        seed = settings.random_state
        if not isinstance(seed, Integral) and hooks.checkpoint is None:
            seed = int(check_random_state(seed).randint(np.iinfo(np.int32).max))
        self._settings = replace(settings, random_state=seed)
        self._table, self._y, self._weight = table, y, sample_weight
        self._hooks = hooks
        self._n_done = 0

    def run(
        self, sensors: Trajectories | None, exposure: ExposedWindows | None = None
    ) -> Fitted:
        """Return a model fitted to sensors, with an exposure."""
        hooks = self._hooks
        if hooks.checkpoint is not None:
            path = f"{os.fspath(hooks.checkpoint)}.{self._n_done}"
            hooks = replace(hooks, checkpoint=path)
        self._n_done += 1
        table, used = split_panel(self._table, sensors, self._y)
        return fit_model(
            self._settings, table, self._y, used, self._weight, hooks, exposure=exposure
        )

    def read(self, sensors: Trajectories | None) -> TrainingData:
        """Return the training individuals of positive weight, with sensors."""
        table, used = split_panel(self._table, sensors, self._y)
        encoder = FeatureEncoder.learn(table, self._settings.categorical_features)
        return check_training_data(table, encoder, self._y, used, self._weight)


def call_sensors(
    sensors: HistorySensors,
    events: RecurrentEvents,
    rows: PositionArray,
    n: int,
    stop: FloatArray,
) -> Trajectories:
    """Return the event sensors of histories without further events up to a time."""
    if len(rows) != n:
        raise InvalidParameterError(
            "Sensors that follow from the events need a history of every individual, but "
            f"{n - len(rows)} of {n} have none before `now`.\n\n"
            "Hint: leave these out, or forecast from a later time."
        )
    refuse_intervals(events, "A sensor that follows from the events")
    made = spread_shared(sensors(events, stop), events, n, until=stop)
    if not isinstance(made, Trajectories):
        raise InvalidSensorsError(
            "A function given as `Z` must return Trajectories, but it returned a "
            f"{type(made).__name__}.\n\nHint: Z=lambda y, until: "
            "Trajectories.from_events(y).time_since_event(y, until=until)."
        )
    return made


def _call(Z: HistorySensors, y: RecurrentEvents) -> Trajectories:
    return call_sensors(Z, y, np.arange(len(y)), len(y), y.end)


def _without_events(y: RecurrentEvents) -> RecurrentEvents:
    return y._with(**y._take_events(slice(0)), event_offsets=np.zeros_like(y.event_offsets))


def _select_others(shown: Trajectories, quiet: Trajectories) -> Trajectories | None:
    """Return the sensors that do not depend on the events; None if there are none."""
    renamed = quiet._with(names=tuple(f"{name} without events" for name in quiet.names))
    both = shown.merge(renamed)
    n_sensors = len(shown.names)
    others = [
        name
        for place, name in enumerate(shown.names)
        if name in quiet.names
        and shown.categories[place] == quiet.categories[quiet.names.index(name)]
        and np.array_equal(
            both.values[place],
            both.values[n_sensors + quiet.names.index(name)],
            equal_nan=True,
        )
    ]
    return shown.select(others) if others else None


def _expose(model: Fitted, data: TrainingData) -> ExposedWindows:
    """Return the exposure weighted by the frailty known at each time."""
    theta = model.trees.coefficients(data.features)
    left_out = model.out_of_fold_coefficients
    if left_out is not None:
        left_out = left_out[data.is_used]
        theta = np.where(np.isnan(left_out), theta, left_out)
    events, paced = data.events, model.forecast_law.paced
    curves = TrainingCurves.among(model.trees, data, theta, paced).curves
    observed = Observed.of(events)
    pieces = cut_windows(*observed[:3], find_cell(events))
    pieces = cut_at_events(pieces, observed.event_owner, observed.times)
    costs = Costs.of(events)
    histories = sum_pieces(curves.expect, observed, events.start, pieces, costs)
    return measure_exposure(histories, model.forecast_law.frailty)


def _judge(model: Fitted, data: TrainingData) -> float:
    """Return the out-of-fold log-likelihood of the histories."""
    theta = model.out_of_fold_coefficients
    seen = TrainingCurves.of(
        model.trees, data, None if theta is None else theta[data.is_used]
    )
    weights, cell = seen.data.weights, find_cell(seen.data.events)
    histories = seen.histories(cell)
    likelihood = log_likelihood(
        histories, cell, model.forecast_law.frailty, np.zeros(len(weights)), weights
    )
    clock, events = model.clock, seen.data.events
    # Per unit of exposure: that of an event is the same for all models.
    rates = seen.curves.unit.slopes_at(events.event_owner, clock.read(events.times))
    of_owner = weights[events.event_owner]
    windows = exposed_windows(events)
    lengths = windows.factor * (clock.read(windows.stop) - clock.read(windows.start))
    length = float(weights[windows.owner] @ lengths)
    least = _LEAST_RATE * float(of_owner @ events.costs) / length
    amounts = of_owner * histories.event_weights
    some = amounts > 0.0
    return likelihood + float(amounts[some] @ np.log(np.maximum(rates, least)[some]))
