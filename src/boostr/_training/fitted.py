"""The fitted attributes of `BoostR`."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.ensemble import Ensemble, gain_importance
from boostr._engine.screening import rise_without
from boostr._engine.training import Trained
from boostr._engine.training_set import Cohort
from boostr._training.inputs import TrainingData
from boostr._training.statistics import Plan
from boostr.basis import FittedSensorBasis

__all__ = ["describe_results"]


def describe_results(
    plan: Plan, pool: TrainingData, mapper: BinMapper, trained: Trained, cohort: Cohort
) -> dict[str, Any]:
    """Return the fitted attributes by name, except those of training individuals."""
    ensemble = Ensemble(plan.clock, plan.basis, mapper, plan.horizon, trained.members)
    n_features = len(mapper.is_categorical)
    scaled, gains, counts = gain_importance(trained.members, n_features)
    total = scaled.sum()
    return {
        "clock_": plan.clock,
        "reference_clock_": plan.reference_clock,
        "clock_variants_": [],  # the first model files have clocks of parts
        "horizon_": plan.horizon,
        "time_unit_": pool.events.time_unit,
        "time_origin_": pool.events.origin,
        "has_costs_": pool.events.has_costs,
        "fingerprint_": plan.fingerprint,
        "has_exposure_": pool.events.exposure is not None,
        "ensemble_": ensemble,
        "n_estimators_": ensemble.n_rounds,
        "n_fold_models_": len(trained.members) // max(int(np.sum(trained.weights > 0)), 1),
        "feature_importances_": scaled / total if total > 0 else scaled,
        "feature_gains_": gains,
        "split_counts_": counts,
        "sensor_usefulness_": _measure_usefulness(plan, trained, cohort),
        "train_loss_": trained.train_loss,
        "validation_results_": _describe_runs(trained),
    }


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
    plan: Plan, trained: Trained, cohort: Cohort
) -> dict[str, tuple[float, float]] | None:
    """Return the rise of held-out loss without each sensor, and its standard error."""
    basis = plan.basis
    if not isinstance(basis, FittedSensorBasis) or trained.out_of_fold is None:
        return None
    rises, errors, n_known = rise_without(cohort, basis.starts, trained.out_of_fold)
    return {
        sensor.name: (float(rise) / n_known, float(error) / n_known)
        for sensor, rise, error in zip(basis.sensors, rises, errors, strict=True)
    }
