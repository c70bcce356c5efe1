"""The end of a fit: the level of rates, and the law that forecasts follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.ensemble import Ensemble, gain_importance
from boostr._engine.screening import rise_without
from boostr._engine.training import Trained
from boostr._engine.training_set import TrainingSet
from boostr._frailty.law import Ahead, fit_law
from boostr._training.features import FeatureEncoder
from boostr._training.fitted import Fitted
from boostr._training.fold_curves import TreeModel
from boostr._training.frailty import (
    ForecastLaw,
    Shock,
    TrainingCurves,
    count_after,
    find_cell,
    score_halves,
    sum_histories,
)
from boostr._training.inputs import TrainingData
from boostr._training.level import fit_link
from boostr._training.rolling import find_lead, make_shock, measure_level, roll_back
from boostr._training.sensors import SensorLayout
from boostr._training.settings import Settings
from boostr._training.statistics import Plan
from boostr._typing import FloatArray
from boostr.basis import FittedSensorBasis, OperationalClock
from boostr.data import RecurrentEvents
from boostr.data.clip import clip

__all__ = ["Grown", "finish_fit"]

_LAST_PART = 0.35  # of every follow-up, which the law of frailties is judged by
_CLEARLY = 1.0 / 3.0  # of the squared errors with a fall: so few without it overrule it
_MOST_ENDING = 0.1  # share of follow-ups that may end with an event by chance


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """Trees, and the statistics and bins that they were grown on."""

    plan: Plan
    mapper: BinMapper
    training_set: TrainingSet
    trained: Trained


def finish_fit(
    settings: Settings,
    grown: Grown,
    encoder: FeatureEncoder,
    layout: SensorLayout | None,
    data: TrainingData,
    theta: FloatArray | None,
    all_theta: FloatArray | None,
) -> Fitted:
    """Correct the level of rates, fit the forecast law and return all results.

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
    law = _learn_law(model, known, data, theta)
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
        sensor_usefulness=_measure_usefulness(grown),
        train_loss=trained.train_loss,
        validation_results=_describe_runs(trained),
        out_of_fold_coefficients=None if all_theta is None else level * all_theta,
        forecast_law=law,
        cost_moments=np.array([known.costs.mean, known.costs.square]),
        forecast_scores=score_halves(known, law),
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


def _measure_usefulness(grown: Grown) -> dict[str, tuple[float, float]] | None:
    """Return the rise of held-out loss without each sensor, and its standard error."""
    basis, theta = grown.plan.basis, grown.trained.out_of_fold
    if not isinstance(basis, FittedSensorBasis) or theta is None:
        return None
    rises, errors, n_known = rise_without(grown.training_set, basis.starts, theta)
    return {
        sensor.name: (float(rise) / n_known, float(error) / n_known)
        for sensor, rise, error in zip(basis.sensors, rises, errors, strict=True)
    }


def _learn_law(
    model: TreeModel, seen: TrainingCurves, data: TrainingData, theta: FloatArray | None
) -> ForecastLaw:
    """Fit frailty, pace, recent level and common errors, in this order."""
    events, weights = seen.data.events, seen.data.weights
    paced, variance = seen.find_pace()
    seen = TrainingCurves.of(model, data, theta, paced)
    span = float(events.end.max() - events.start.min())
    frailty = fit_law(_cut_last_part(seen), variance, span)
    lead = find_lead(events)
    if _share_ending_with_event(events, weights) >= _MOST_ENDING:
        # The last lead of such histories has more events than any other: it tells nothing.
        return ForecastLaw(frailty, paced, 1.0, Shock(lead, np.empty(0), np.empty(0)))
    shock = make_shock(
        lead, roll_back(model, seen, frailty, lead, model.settings.n_origins)
    )
    if isinstance(paced.clock, OperationalClock) and paced.clock.last_slope < 1.0:
        steady = roll_back(
            model, seen, frailty, lead, model.settings.n_origins, falls=False
        )
        other = make_shock(lead, steady)
        # A few dates are a noisy judge: they must be clear.
        if np.sum(other.errors**2) < _CLEARLY * np.sum(shock.errors**2):
            paced, shock = (
                TrainingCurves.of(model, data, theta).find_pace(falls=False)[0],
                other,
            )
            seen = TrainingCurves.of(model, data, theta, paced)
    return ForecastLaw(frailty, paced, measure_level(seen, frailty, lead), shock)


def _cut_last_part(seen: TrainingCurves) -> Ahead:
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
