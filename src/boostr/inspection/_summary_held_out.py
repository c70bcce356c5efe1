"""Out-of-fold predictions of the training individuals, compared with their histories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._frailty.law import sum_by_owner
from boostr._training.sensors import spread_shared
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, Trajectories, check_target
from boostr.data.events.fingerprint import check_histories
from boostr.data.flat import owners_of
from boostr.data.sensors.checks import align_with
from boostr.exceptions import BoostrError, InvalidEventsError
from boostr.inspection.model import FittedModel
from boostr.metrics import CalibrationSlope, calibration_slope, capture_curve

__all__ = ["HeldOut", "measure_held_out", "read_held_out"]

_LEAST = 1e-6  # share of the average prediction


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How out-of-fold predictions compare with what was observed."""

    n_events: int  # of all training individuals
    expected: float = np.nan  # of those that some model has left out
    observed: float = np.nan
    top_tenth: float = np.nan  # share of events among the tenth with highest predictions
    slope: CalibrationSlope | None = None


def measure_held_out(model: FittedModel, y: RecurrentEvents, Z: Any) -> HeldOut:
    """Compare out-of-fold predictions with the training histories."""
    if model.fitted.out_of_fold_coefficients is None:
        events = check_target(y)
        check_histories(model.estimator, events)
        return HeldOut(events.times.size)
    theta, events, sensors = read_held_out(model, y, Z)
    known = np.flatnonzero(~np.isnan(theta[:, 0]))
    own = None if sensors is None else sensors[known]
    expected, score = _predict(model, theta[known], events[known], own)
    return _compare(events, events[known], expected, score)


def read_held_out(
    model: FittedModel, y: RecurrentEvents, Z: Any
) -> tuple[FloatArray, RecurrentEvents, Trajectories | None]:
    """Return out-of-fold coefficients, histories and sensors of training individuals."""
    events, fitted = check_target(y), model.fitted
    check_histories(model.estimator, events)
    theta = fitted.training_coefficients(len(events))
    if float(events.end.max()) != fitted.horizon:
        raise InvalidEventsError(
            "`y` must be the histories of training, but the last end of follow-up is "
            f"{events.end.max():g} in the place of {fitted.horizon:g}.\n\n"
            "Hint: pass what `fit` was given, or nothing."
        )
    return theta, events, fitted.read_sensors(_match(Z, events))


def _match(Z: Any, y: RecurrentEvents) -> Trajectories | None:
    """Return sensors in the order of the histories."""
    given = spread_shared(Z, y, len(y), until=y.end)
    return None if given is None else align_with(given, y)


def _predict(
    model: FittedModel,
    theta: FloatArray,
    y: RecurrentEvents,
    sensors: Trajectories | None,
) -> tuple[FloatArray, FloatArray]:
    """Return expected events while observed, and by the horizon as the common score."""
    clock, owner = model.clock, owners_of(y.window_offsets)
    curves = model.fitted.trees.curves(theta, sensors, y.exposure)
    ends = (clock.read(times) for times in (y.window_start, y.window_stop))
    before, after = (curves.values_at(owner, end) for end in ends)
    expected = sum_by_owner(owner, after - before, len(y))
    score = curves.values(clock.read(np.array([model.horizon])))[:, 0]
    return expected, score


def _compare(
    every: RecurrentEvents, y: RecurrentEvents, expected: FloatArray, score: FloatArray
) -> HeldOut:
    observed = float(y.costs.sum())
    if not observed > 0.0:
        return HeldOut(every.times.size, float(expected.sum()), observed)
    least = _LEAST * max(float(expected.mean()), 1e-300)
    expected, score = np.maximum(expected, least), np.maximum(score, least)
    try:
        slope = calibration_slope(y, expected, by=score)
    except BoostrError:  # all predictions are equal, or there are too few events
        slope = None
    top = float(capture_curve(y, score).at(0.1))
    return HeldOut(every.times.size, float(expected.sum()), observed, top, slope)
