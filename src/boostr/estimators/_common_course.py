"""The common course of time, where sensors shared by all individuals explain part of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._typing import FloatArray
from boostr.basis import Clock, OperationalClock
from boostr.basis.clock import PooledHistories
from boostr.estimators._training_data import TrainingData

__all__ = ["leave_to_sensors"]

_N_COMPARED = 100  # individuals whose sensors are compared with each other
_N_MOMENTS = 500  # of the axis of time, at which they are
_PENALTY = 1e-3  # on coefficients, in shares of the number of events: next to none
_N_STEPS = 30  # of Newton's method
_MOST_LOG_RATIO = 5.0  # of a rate to the mean rate
_EXPONENTS = (0.1, 3.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Course:
    """Values that all individuals share at the middle of cells of time."""

    edges: FloatArray  # (n_cells + 1,)
    columns: FloatArray  # (n_cells, n_columns); numbers, or zeros and ones of categories

    @property
    def middles(self) -> FloatArray:
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def leave_to_sensors(clock: Clock, pool: TrainingData, few: TrainingData) -> Clock:
    """Return a clock without the changes that shared sensors explain.

    With such sensors it is a power law of time (exponent by Poisson regression): a clock
    that follows all events would absorb a season, and forecasts would miss the next one.
    """
    course = _find_course(few)
    if course is None or not isinstance(clock, OperationalClock):
        return clock
    exponent = _fit_exponent(course, pool, clock.origin)
    if exponent is None:
        return clock
    return OperationalClock.power_law(pool.events, pool.weights, clock.origin, exponent)


def _find_course(data: TrainingData) -> _Course | None:
    """Return the sensors that vary in time and are the same for all individuals."""
    if data.sensors is None or len(data) < 2:
        return None
    data = data.sample(_N_COMPARED)
    events, sensors = data.events, data.sensors
    assert sensors is not None  # noqa: S101 - a part of those that have some
    edges = np.linspace(events.start.min(), events.end.max(), _N_MOMENTS + 1)
    times = 0.5 * (edges[1:] + edges[:-1])
    values = sensors.read(times)
    is_seen = (times > events.start[:, None]) & (times <= events.end[:, None])
    known = is_seen[:, :, None] & ~np.isnan(values)
    low = np.where(known, values, np.inf).min(axis=0)  # (n_cells, n_sensors)
    high = np.where(known, values, -np.inf).max(axis=0)
    is_common = known.sum(axis=0) > 1
    columns = [
        _write_columns(np.where(is_common[:, place], low[:, place], np.nan), categories)
        for place, categories in enumerate(sensors.categories)
        if _is_same(low[:, place], high[:, place], is_common[:, place])
    ]
    return _Course(edges, np.hstack(columns)) if columns else None


def _is_same(low: FloatArray, high: FloatArray, is_common: FloatArray) -> bool:
    """Return whether a varying sensor is the same for all individuals that have it."""
    same = low[is_common]
    return bool(same.size and np.all(same == high[is_common]) and np.ptp(same) > 0.0)


def _write_columns(values: FloatArray, categories: tuple[object, ...] | None) -> FloatArray:
    """Return one column per category, or a standardized number and its square."""
    if categories is not None:
        return (values[:, None] == np.arange(len(categories))).astype(np.float64)
    scaled = np.nan_to_num((values - np.nanmean(values)) / np.nanstd(values))
    return np.column_stack([scaled, scaled**2])


def _fit_exponent(course: _Course, data: TrainingData, origin: float) -> float | None:
    """Return the exponent of time given the sensors; None without events."""
    pooled = PooledHistories(data.events, data.weights, origin)
    edges = course.edges - origin
    costs, exposure = pooled.count(edges)[1], pooled.exposure(edges)
    some = exposure > 0.0
    if not costs[some].any():
        return None
    log_time = np.log(course.middles - origin)
    columns = np.column_stack([np.ones_like(log_time), log_time, course.columns])
    slope = _regress(columns[some], costs[some], exposure[some])[1]
    return float(np.clip(1.0 + slope, *_EXPONENTS))


def _regress(columns: FloatArray, counts: FloatArray, exposure: FloatArray) -> FloatArray:
    """Return the coefficients of a Poisson regression on shares of all events."""
    counts, exposure = counts / counts.sum(), exposure / exposure.sum()
    penalty = np.diag([0.0, *np.full(columns.shape[1] - 1, _PENALTY)])
    coefficients = np.zeros(columns.shape[1])
    for _ in range(_N_STEPS):
        log_ratio = np.clip(columns @ coefficients, -_MOST_LOG_RATIO, _MOST_LOG_RATIO)
        expected = exposure * np.exp(log_ratio)
        gradient = columns.T @ (counts - expected) - penalty @ coefficients
        curvature = columns.T @ (expected[:, None] * columns) + penalty
        coefficients = coefficients + np.linalg.lstsq(curvature, gradient, rcond=None)[0]
    return coefficients
