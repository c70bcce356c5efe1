"""The end of a fit: the level of rates, and the law that forecasts follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.curves import expose
from boostr._engine.ensemble import Curves, Ensemble, gain_importance
from boostr._engine.screening import rise_without
from boostr._engine.sensor_curves import PathCurves
from boostr._engine.training import Trained
from boostr._engine.training_set import TrainingSet
from boostr._frailty.forecast_law import ForecastLaw, Shock
from boostr._frailty.law import Ahead, FrailtyLaw, add_renewal, fit_law
from boostr._frailty.pace import FittedPace
from boostr._training.features import FeatureEncoder
from boostr._training.fitted import Fitted, TreeModel
from boostr._training.frailty import (
    TrainingCurves,
    count_after,
    find_cell,
    score_halves,
    sum_histories,
)
from boostr._training.inputs import TrainingData
from boostr._training.rolling import (
    Forecast,
    find_lead,
    make_shock,
    measure_level,
    roll_back,
)
from boostr._training.sensors import SensorLayout
from boostr._training.settings import Settings
from boostr._training.statistics import Plan
from boostr._typing import FloatArray
from boostr.basis import FittedBasis, FittedSensorBasis, OperationalClock
from boostr.data import RecurrentEvents
from boostr.data.clip import observe
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


_MOST_FOR_RENEWAL = 1000  # individuals
_LAST_PART = 0.35  # of every follow-up, which the law of frailties is judged by
_CLEARLY = 1.0 / 3.0  # of the squared errors with a fall: so few without it overrule it
_N_JUDGES = 3  # earlier dates that judge factors along a second time scale
_LITTLE = 2.0  # log-likelihood at these dates that such factors may cost by chance
_MOST_ENDING = 0.1  # share of follow-ups that may end with an event by chance


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
    law = _learn_law(model, known)
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


def _learn_law(model: TreeModel, known: TrainingCurves) -> ForecastLaw:
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
