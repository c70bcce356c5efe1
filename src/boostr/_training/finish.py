"""The end of a fit: the level of rates, and what forecasts are learned from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.curves import expose
from boostr._engine.ensemble import Curves, Ensemble, gain_importance
from boostr._engine.screening import rise_without
from boostr._engine.sensor_curves import PathCurves
from boostr._engine.training import Trained
from boostr._engine.training_set import TrainingSet
from boostr._training.features import FeatureEncoder
from boostr._training.fitted import Fitted, LawOnDemand, TreeModel
from boostr._training.frailty import TrainingCurves
from boostr._training.inputs import TrainingData
from boostr._training.law import learn_law
from boostr._training.sensors import SensorLayout
from boostr._training.settings import Settings
from boostr._training.statistics import Plan
from boostr._typing import FloatArray
from boostr.basis import FittedBasis, FittedSensorBasis, OperationalClock
from boostr.data import RecurrentEvents
from boostr.data.events.exposure import exposed_windows
from boostr.data.flat import owners_of

__all__ = ["Grown", "finish_fit", "fit_link"]

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
    usual = ensemble.with_floor(_USUAL_FLOOR * average)
    is_judged = settings.loss == "intensity" and settings.monotone and average > 0.0
    if theta is None or not is_judged:
        return usual if average > 0.0 else ensemble.with_floor(None), 1.0
    known = np.flatnonzero(~np.isnan(theta[:, 0]))
    candidates = [ensemble.with_floor(share * average) for share in _FLOORS]
    some, held_out = data.take(known), theta[known]
    unit = candidates[0].curves(held_out, some.sensors, **settings.link())
    judged = [
        _judge(candidate, some, _put_on_floor(candidate, settings, some, held_out, unit))
        for candidate in candidates
    ]
    best = int(np.argmax([likelihood for likelihood, _ in judged]))
    level = judged[best][1]
    if len(known) < len(theta):
        # Few are held out, with more or fewer events than usual by chance: all tell it.
        filled = np.where(np.isnan(theta), ensemble.coefficients(data.features), theta)
        curves = candidates[best].curves(filled, data.sensors, **settings.link())
        level = _judge(candidates[best], data, curves)[1]
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


def _put_on_floor(
    ensemble: Ensemble,
    settings: Settings,
    data: TrainingData,
    theta: FloatArray,
    unit: Curves,
) -> Curves:
    """Return the curves of an ensemble, given those of the same with another floor."""
    if isinstance(unit, PathCurves) and ensemble.floor is not None:
        return unit.with_floor(ensemble.floor)
    return ensemble.curves(theta, data.sensors, **settings.link())


def _judge(ensemble: Ensemble, data: TrainingData, unit: Curves) -> tuple[float, float]:
    """Return the log-likelihood of the events at the best level, and this level.

    ``unit`` are the curves of a unit of exposure.
    """
    events: RecurrentEvents = data.events
    curves = expose(unit, events.exposure, ensemble.clock)
    clock, owner = ensemble.clock, owners_of(events.window_offsets)
    expected = curves.values_at(owner, clock.read(events.window_stop))
    expected -= curves.values_at(owner, clock.read(events.window_start))
    # Products of long vectors by a library for matrices would wake up threads.
    total = float(np.sum(data.weights[owner] * expected))
    amounts = data.weights[events.event_owner] * events.costs
    level = float(np.clip(amounts.sum() / total, *_LEVELS))
    # Exposures multiply rates by every floor alike, and may be 0 where there was an event.
    rates = level * unit.slopes_at(events.event_owner, clock.read(events.times))
    some = (amounts > 0.0) & (rates > 0.0)  # events without exposure tell no floor
    return float(np.sum(amounts[some] * np.log(rates[some]))) - level * total, level


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """Trees, and what is left of the statistics that they were grown on."""

    plan: Plan
    mapper: BinMapper
    trained: Trained
    sensor_usefulness: dict[str, tuple[float, float]] | None

    @classmethod
    def of(
        cls, plan: Plan, mapper: BinMapper, training_set: TrainingSet, trained: Trained
    ) -> Grown:
        """Return trees after which the training set may go."""
        usefulness = _measure_usefulness(plan.basis, training_set, trained.out_of_fold)
        return cls(plan, mapper, trained, usefulness)


def finish_fit(
    settings: Settings,
    grown: Grown,
    encoder: FeatureEncoder,
    layout: SensorLayout | None,
    data: TrainingData,
    theta: FloatArray | None,
    all_theta: FloatArray | None,
) -> Fitted:
    """Correct the level of rates and return all results; forecasts are learned later.

    ``theta`` are the out-of-fold coefficients of ``data``, a subsample; ``all_theta``
    those of all training individuals. Both are None without validation.
    """
    plan, mapper, trained = grown.plan, grown.mapper, grown.trained
    members = trained.members
    n_models = len(members) // max(int(np.sum(trained.weights > 0)), 1)
    ensemble = Ensemble(plan.clock, plan.basis, mapper, plan.horizon, members)
    ensemble, level = fit_link(ensemble, data, theta, settings)
    model = TreeModel(ensemble, settings, n_models)
    theta = None if theta is None else level * theta
    known = TrainingCurves.of(model, data, theta)
    scaled, gains, counts = gain_importance(members, len(mapper.is_categorical))
    events, total = data.events, scaled.sum()
    return Fitted(
        trees=model,
        encoder=encoder,
        sensor_layout=layout,
        reference_clock=plan.reference_clock,
        time_unit=events.time_unit,
        time_origin=events.origin,
        has_costs=events.has_costs,
        has_exposure=events.exposure is not None,
        fingerprint=plan.fingerprint,
        feature_importances=scaled / total if total > 0 else scaled,
        feature_gains=gains,
        split_counts=counts,
        sensor_usefulness=grown.sensor_usefulness,
        train_loss=trained.train_loss,
        validation_results=_describe_runs(trained),
        out_of_fold_coefficients=None if all_theta is None else level * all_theta,
        cost_moments=np.array([known.costs.mean, known.costs.square]),
        own_histories=LawOnDemand(partial(learn_law, model, known)),
    )


def _describe_runs(trained: Trained) -> list[dict[str, Any]]:
    return [
        {
            "label": run.label,
            "curve": run.curve,
            "n_trees": run.n_rounds,
            "loss": float(run.curve.min()),
            "weight": float(weight),
        }
        for run, weight in zip(trained.runs, trained.weights, strict=True)
    ]


def _measure_usefulness(
    basis: FittedBasis | FittedSensorBasis,
    training_set: TrainingSet,
    theta: FloatArray | None,
) -> dict[str, tuple[float, float]] | None:
    """Return the rise of held-out loss without each sensor, and its standard error."""
    if not isinstance(basis, FittedSensorBasis) or theta is None:
        return None
    rises, errors, n_known = rise_without(training_set, basis.starts, theta)
    return {
        sensor.name: (float(rise) / n_known, float(error) / n_known)
        for sensor, rise, error in zip(basis.sensors, rises, errors, strict=True)
    }
