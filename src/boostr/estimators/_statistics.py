"""From checked data to what boosting works on: clock, functions and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._engine.penalty import sensor_problem, time_problem
from boostr._engine.suffstats import SufficientStats, compute_suffstats, put_on_clock
from boostr._engine.tree import LeafProblem
from boostr.basis import (
    CalendarClock,
    Clock,
    FittedBasis,
    FittedSensorBasis,
    OperationalClock,
    SensorBasis,
)
from boostr.estimators._params import resolve_baseline, resolve_basis
from boostr.estimators._training_data import TrainingData
from boostr.exceptions import InvalidEventsError

__all__ = ["Prepared", "compute_statistics"]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """All that boosting needs to know of events, sensors and time."""

    clock: Clock
    reference_clock: Clock  # the average individual, whatever the clock
    horizon: float
    basis: FittedBasis | FittedSensorBasis
    stats: SufficientStats
    problem: LeafProblem


def compute_statistics(params: Mapping[str, Any], data: TrainingData) -> Prepared:
    """Fit the clock, place the functions and compute all statistics."""
    with np.errstate(over="ignore", invalid="ignore"):  # checked once, at the end
        pooled = OperationalClock.from_events(data.events, data.weights)
        has_events = isinstance(pooled, OperationalClock)
        clock = CalendarClock() if params["clock"] == "calendar" else pooled
        compute = _compute_times if data.sensors is None else _compute_sensors
        basis, stats, problem = compute(params, data, clock)
    return Prepared(
        clock,
        pooled if has_events else CalendarClock(speed=0.0),
        float(data.events.window_stop.max()),
        basis,
        stats,
        problem,
    )


def _compute_times(
    params: Mapping[str, Any], data: TrainingData, clock: Clock
) -> tuple[FittedBasis, SufficientStats, LeafProblem]:
    clocked = put_on_clock(data.events, clock)
    basis = resolve_basis(params["leaf"]).place(clocked, params["loss"])
    stats = compute_suffstats(clocked, basis, params["loss"], data.uneven_weights)
    _check_finite(stats)
    settings = (params["loss"], clocked.horizon, params["gamma2"])
    return basis, stats, time_problem(basis, *settings)


def _compute_sensors(
    params: Mapping[str, Any], data: TrainingData, clock: Clock
) -> tuple[FittedSensorBasis, SufficientStats, LeafProblem]:
    clocked = put_on_clock(data.events, clock, data.sensors)
    baseline = resolve_baseline(params["baseline"])
    family = SensorBasis(params["n_knots"], params["spline_order"], baseline)
    basis = family.place(clocked, params["loss"], data.uneven_weights)
    stats = compute_suffstats(clocked, basis, params["loss"], data.uneven_weights)
    _check_finite(stats)
    settings = (params["loss"], clocked.horizon, params["gamma2"], params["sensor_penalty"])
    return basis, stats, sensor_problem(basis, stats, data.weights, *settings)


def _check_finite(stats: SufficientStats) -> None:
    """Refuse statistics that ran over; only costs or weights beyond reason do that."""
    if not (np.isfinite(stats.linear).all() and np.isfinite(stats.quadratic).all()):
        raise InvalidEventsError(
            "Statistics of the events must be finite, but costs, weights or times are too "
            "large for that.\n\nHint: give them in a larger unit, for instance thousands."
        )
