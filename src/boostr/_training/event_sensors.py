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
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from boostr._forecasting.outlook import HistorySensors, call_sensors
from boostr._frailty.law import cut_windows, log_likelihood
from boostr._frailty.weighted_exposure import (
    ExposedWindows,
    cut_at_events,
    measure_exposure,
)
from boostr._training.fold_curves import FoldCurves
from boostr._training.frailty import Costs, Seen, find_cell, law_of, sum_pieces
from boostr._training.inputs import TrainingData
from boostr._training.progress import forget, forget_if_interrupted
from boostr.data import RecurrentEvents, Trajectories, check_target
from boostr.data.events.exposure import exposed_windows
from boostr.data.flat import owners_of
from boostr.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from boostr.estimators._boostr import BoostR

__all__ = ["fit_in_turn"]

_N_TURNS = 2
_LEAST_RATE = 0.01  # of the mean rate: what an event tells where hardly any was expected


def fit_in_turn(
    model: BoostR,
    X: Any,
    y: object,
    Z: HistorySensors,
    sample_weight: ArrayLike | None,
    checkpoint: str | os.PathLike[str] | None,
) -> BoostR:
    """Fit a model some or all of whose sensors are computed from the events."""
    histories = _check_use(model, y)
    forget(model)
    shown = _call(Z, histories)
    others = _select_others(shown, _call(Z, _without_events(histories)))
    with forget_if_interrupted(model):
        fits = _Fits(model, X, histories, sample_weight, checkpoint)
        best = _find_best(fits, shown, others)
    learned = {name: value for name, value in vars(best).items() if name.endswith("_")}
    model.__dict__.update(learned)
    return model


def _find_best(fits: _Fits, shown: Trajectories, others: Trajectories | None) -> BoostR:
    """Fit sensors before and after frailties; return the model of highest likelihood."""
    plain = fits.run(shown)
    if plain.loss != "intensity":
        return plain  # the cumulative loss knows no factors of time
    earlier, before = fits.run(others), fits.read(others)
    if earlier.frailty_variance_ == 0.0:
        return plain
    candidates, data = [plain], fits.read(shown)
    for _ in range(_N_TURNS):
        earlier, before = fits.run(shown, _expose(earlier, before)), data
        candidates.append(earlier)
    return max(candidates, key=lambda candidate: _judge(candidate, data))


class _Fits:
    """Fits of one model to the same histories with different sensors and exposures."""

    def __init__(
        self,
        model: BoostR,
        X: Any,
        y: RecurrentEvents,
        sample_weight: ArrayLike | None,
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        # The same random numbers for all, so that they differ by what they are given.
        seed = model.random_state
        if not isinstance(seed, Integral) and checkpoint is None:
            seed = int(check_random_state(seed).randint(np.iinfo(np.int32).max))
        self._model = clone(model).set_params(random_state=seed)
        self._X, self._y, self._weight = X, y, sample_weight
        self._checkpoint = checkpoint
        self._n_done = 0

    def run(
        self, sensors: Trajectories | None, exposure: ExposedWindows | None = None
    ) -> BoostR:
        """Return a model fitted to sensors, with an exposure."""
        path = None
        if self._checkpoint is not None:
            path = f"{os.fspath(self._checkpoint)}.{self._n_done}"
        self._n_done += 1
        one: BoostR = clone(self._model)
        return one._fit(self._X, self._y, sensors, self._weight, path, exposure)

    def read(self, sensors: Trajectories | None) -> TrainingData:
        """Return the training individuals of positive weight, with sensors."""
        unused: BoostR = clone(self._model)
        data = unused._check_data(self._X, self._y, sensors, self._weight)
        assert isinstance(data, TrainingData)  # noqa: S101 - nothing is in files
        return data


def _check_use(model: BoostR, y: object) -> RecurrentEvents:
    """Return the histories; refuse options that need a single fit."""
    if model.warm_start:
        raise InvalidParameterError(
            "`warm_start` adds trees to a model, but where `Z` is a function several are "
            "fitted and one stays.\n\nHint: warm_start=False, or pass the sensors "
            "themselves, Z(y, y.end)."
        )
    return check_target(y)


def _call(Z: HistorySensors, y: RecurrentEvents) -> Trajectories:
    return call_sensors(Z, y, np.arange(len(y)), len(y), y.end)


def _without_events(y: RecurrentEvents) -> RecurrentEvents:
    return y._with(
        times=y.times[:0], costs=y.costs[:0], event_offsets=np.zeros_like(y.event_offsets)
    )


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


def _expose(model: BoostR, data: TrainingData) -> ExposedWindows:
    """Return the exposure weighted by the frailty known at each time."""
    theta = model._coefficients(data.features)
    left_out = model.out_of_fold_coefficients_
    if left_out is not None:
        left_out = left_out[data.is_used]
        theta = np.where(np.isnan(left_out), theta, left_out)
    events = data.events
    paced = law_of(model).paced
    curves = FoldCurves(model, data.features, data.sensors, theta, paced, events.exposure)
    owner = owners_of(events.window_offsets)
    pieces = cut_windows(owner, events.window_start, events.window_stop, find_cell(events))
    pieces = cut_at_events(pieces, events.event_owner, events.times)
    rows, costs = np.arange(len(events)), Costs.of(events)
    histories = sum_pieces(curves.expect, events, rows, events.start, pieces, costs)
    return measure_exposure(histories, law_of(model).frailty)


def _judge(model: BoostR, data: TrainingData) -> float:
    """Return the out-of-fold log-likelihood of the histories."""
    theta = model.out_of_fold_coefficients_
    seen = Seen.of(model, data, None if theta is None else theta[data.is_used])
    weights, cell = seen.data.weights, find_cell(seen.data.events)
    histories = seen.histories(cell)
    likelihood = log_likelihood(
        histories, cell, law_of(model).frailty, np.zeros(len(weights)), weights
    )
    clock, events = model.clock_, seen.data.events
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
