"""Clock, functions of time and statistics from checked data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from boostr._engine.binning import N_KEPT
from boostr._engine.penalty import Total, sensor_problem, time_problem
from boostr._engine.statistics import SufficientStats, compute_suffstats, put_on_clock
from boostr._engine.tree import LeafProblem
from boostr._frailty.weighted_exposure import ExposedWindows, multiply_exposure
from boostr._training.inputs import TrainingData, find_step
from boostr._training.settings import Settings, resolve_baseline, resolve_basis
from boostr._training.summary import DataSummary
from boostr._typing import FloatArray
from boostr.basis import (
    CalendarClock,
    Clock,
    ClockedEvents,
    FittedBasis,
    FittedSensorBasis,
    OperationalClock,
    PowerBasis,
    SensorBasis,
)
from boostr.basis.base import Loss
from boostr.basis.clock import PooledHistories
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.exposure import Exposure
from boostr.data.events.fingerprint import Fingerprint
from boostr.data.events.intervals import place_events, smear_events
from boostr.data.flat import owners_of
from boostr.exceptions import InvalidEventsError

__all__ = [
    "MOST_EVENTS",
    "MOST_VALUES",
    "N_CLOCK_SAMPLE",
    "N_SAMPLE",
    "Plan",
    "Prepared",
    "compute_statistics",
    "leave_to_sensors",
    "plan_statistics",
]

_N_COMPARED = 100  # individuals whose sensors are compared with each other
_N_MOMENTS = 500  # of the axis of time, at which they are
_PENALTY = 1e-3  # on coefficients, in shares of the number of events: next to none
_N_STEPS = 30  # of Newton's method
_MOST_LOG_RATIO = 5.0  # of a rate to the mean rate
_EXPONENTS = (0.1, 3.0)
_N_STRETCHES = 24  # of the axis of time, in which a free clock follows the rate
_MOST = 0.75  # of what a free clock explains, by sensors of a common course
_WORTH = 2.0  # log-likelihood that sensors of a common course must gain for each column


@dataclass(frozen=True, slots=True, eq=False)
class _Course:
    """Values that individuals share, or nearly so, at the middle of cells of time."""

    edges: FloatArray  # (n_cells + 1,)
    columns: FloatArray  # (n_cells, n_columns); numbers, or zeros and ones of categories
    is_same: bool  # whether one of them is the same for all individuals

    @property
    def middles(self) -> FloatArray:
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def leave_to_sensors(
    clock: Clock, clock_sample: TrainingData, sample: TrainingData
) -> Clock:
    """Return a clock without the changes that shared sensors explain.

    With such sensors it is a power law of time (exponent by Poisson regression): a clock
    that follows all events would absorb a season, and forecasts would miss the next one.
    Sensors that are only similar must explain most of what a free clock would.
    """
    course = _find_course(sample)
    if course is None or not isinstance(clock, OperationalClock):
        return clock
    exponent = _fit_exponent(course, clock_sample, clock.origin)
    if exponent is None:
        return clock
    return OperationalClock.power_law(
        clock_sample.events, clock_sample.weights, clock.origin, exponent
    )


def _find_course(data: TrainingData) -> _Course | None:
    """Return the sensors that vary in time, and do so for all individuals together."""
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
    is_common = known.sum(axis=0) > 1
    columns, is_same = [], False
    for place, categories in enumerate(sensors.categories):
        some = is_common[:, place]
        shown = np.where(known[:, :, place], values[:, :, place], np.nan)[:, some]
        if _moves_together(times[some], shown, categories is not None):
            course = np.full(len(times), np.nan)
            course[some] = np.nanmean(shown, axis=0)
            columns.append(_write_columns(course, categories))
            is_same |= _is_same(shown)
    return _Course(edges, np.hstack(columns), is_same) if columns else None


def _moves_together(times: FloatArray, values: FloatArray, is_categorical: bool) -> bool:
    """Return whether a sensor moves in time, and is about the same for all individuals.

    ``values`` are of individuals (rows) at times. Values that differ must have more than
    half of their variance in a common course that is no trend of time: a clock can go on
    with a trend, but not with a season.
    """
    if not values.size:
        return False
    if _is_same(values):
        return bool(np.nanmax(values) > np.nanmin(values))
    if is_categorical:
        return False
    mean, within = np.nanmean(values, axis=0), float(np.nanvar(values, axis=0).mean())
    trend = np.column_stack([np.ones_like(times), times, np.log(times - times[0] + 1.0)])
    rest = mean - trend @ np.linalg.lstsq(trend, mean, rcond=None)[0]
    return bool(np.var(rest) > max(within, 0.5 * np.var(mean)))


def _is_same(values: FloatArray) -> bool:
    """Return whether all individuals (rows) have the same values."""
    return bool(np.all(np.nanmax(values, axis=0) == np.nanmin(values, axis=0)))


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
    columns, costs, exposure = columns[some], costs[some], exposure[some]
    coefficients = _regress(columns, costs, exposure)
    if not (course.is_same or _explains(columns, coefficients, costs, exposure)):
        return None
    return float(np.clip(1.0 + coefficients[1], *_EXPONENTS))


def _explains(
    columns: FloatArray, coefficients: FloatArray, counts: FloatArray, exposure: FloatArray
) -> bool:
    """Return whether sensors explain most of the changes of the rate, and clearly some.

    Counts are compared with those of a power of time, and of rates free in stretches.
    """
    power = columns[:, :2]
    alone = np.exp(power @ _regress(power, counts, exposure))
    stretch = np.arange(len(counts)) * _N_STRETCHES // len(counts)
    free = np.bincount(stretch, counts) / np.bincount(stretch, exposure)

    def judge(rates: FloatArray) -> float:
        expected = rates * exposure
        shares = expected[counts > 0.0] / expected.sum()
        return float(counts[counts > 0.0] @ np.log(shares))

    gained = judge(np.exp(columns @ coefficients)) - judge(alone)
    possible = judge(free[stretch]) - judge(alone) - _N_STRETCHES
    return gained > max(_MOST * possible, columns.shape[1] * _WORTH)


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


N_CLOCK_SAMPLE = N_KEPT  # individuals that the clock is read from
MOST_EVENTS = 20_000_000  # that they have, at most
N_SAMPLE = 20_000  # individuals that all else is read from, if they have sensors
MOST_VALUES = 15_000_000  # times and values of sensors that they have, at most


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Clock and functions; the statistics of each individual depend on nothing else."""

    clock: Clock
    reference_clock: Clock  # the average individual, whatever the clock
    horizon: float  # the last end of follow-up
    basis: FittedBasis | FittedSensorBasis
    loss: Loss
    gamma2: float
    sensor_penalty: Literal["group_lasso", "ridge"]
    fingerprint: Fingerprint | None  # of all individuals, if it is known by then
    mean_exposure: float = 1.0  # of individuals while they are observed

    def compute(
        self,
        events: RecurrentEvents,
        sensors: Trajectories | None,
        weights: FloatArray | None = None,
        exposure: ExposedWindows | None = None,
    ) -> SufficientStats:
        """Return the statistics of individuals; weights of 1 may be None.

        A frailty-weighted ``exposure`` needs the loss of intensities; the histories' own
        exposure multiplies it.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # checked at the end
            clocked = put_on_clock(events, self.clock, sensors, self.horizon)
            if exposure is not None:
                clocked = self._expose(clocked, multiply_exposure(exposure, events))
            stats = compute_suffstats(clocked, self.basis, self.loss, weights)
        _check_finite(stats)
        return stats

    def _expose(self, clocked: ClockedEvents, exposure: ExposedWindows) -> ClockedEvents:
        """Return histories whose windows carry exposure factors."""
        return replace(
            clocked,
            window_start=self.clock.read(exposure.start),
            window_stop=self.clock.read(exposure.stop),
            window_offsets=exposure.offsets,
            window_exposure=exposure.factors,
        )

    def state_problem(self, total: Total) -> LeafProblem:
        """Return the leaf problem; ``total`` sums over all individuals."""
        horizon = float(self.clock.read(np.array([self.horizon]))[0])
        loss = self.loss
        # An imaginary individual has the average exposure.
        amount = self.mean_exposure if loss == "intensity" else self.mean_exposure**2
        penalty = (loss, horizon, self.gamma2)
        if isinstance(self.basis, FittedSensorBasis):
            return sensor_problem(self.basis, total, *penalty, self.sensor_penalty, amount)
        return time_problem(self.basis, *penalty, amount)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Plan, statistics and leaf problem: the input of boosting."""

    plan: Plan
    stats: SufficientStats
    problem: LeafProblem
    take_sample: Callable[[], TrainingData]  # not kept: trees need the memory


def compute_statistics(
    settings: Settings, data: TrainingData, exposure: ExposedWindows | None = None
) -> Prepared:
    """Check what the data are like, fit the clock, place functions, compute statistics."""
    step = find_step(len(data), N_CLOCK_SAMPLE, len(data.events.times), MOST_EVENTS)
    given, data = data, _settle_intervals(data, step)
    clock_sample = data.every(step)
    sample = clock_sample
    if data.sensors is not None:
        n_values = data.sensors.values.size + data.sensors.times.size
        step = find_step(len(data), N_SAMPLE, n_values, MOST_VALUES)
        sample = data.every(step)
    summary = DataSummary.of(
        given.events, data.weights, data.sensors, wants_ranges=len(sample) < len(data)
    )
    summary.check(settings.clock)
    plan = plan_statistics(settings, clock_sample, sample, summary)
    events = smear_events(data.events, plan.reference_clock.read)
    stats = plan.compute(events, data.sensors, data.uneven_weights, exposure)
    problem = plan.state_problem(lambda summand: summand(stats, data.weights))
    return Prepared(plan, stats, problem, partial(data.every, step))


def _settle_intervals(data: TrainingData, step: int) -> TrainingData:
    """Return data in which events of intervals are spread evenly on the pooled clock."""
    if data.events.intervals is None:
        return data
    sample = data.every(step)
    clock = OperationalClock.from_events(sample.events, sample.weights)
    return replace(data, events=place_events(data.events, clock.read))


def plan_statistics(
    settings: Settings,
    clock_sample: TrainingData,
    sample: TrainingData,
    summary: DataSummary,
) -> Plan:
    """Fit the clock and place the functions on subsamples.

    ``clock_sample`` needs events and weights only, ``sample`` also sensors; ``summary``
    is that of all individuals.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # statistics are checked later
        pooled = OperationalClock.from_events(clock_sample.events, clock_sample.weights)
        has_events = isinstance(pooled, OperationalClock)
        calendar = CalendarClock(origin=summary.start)
        clock = calendar if settings.clock == "calendar" else pooled
        if isinstance(clock, OperationalClock):
            clock = leave_to_sensors(clock, clock_sample, sample)
        basis = _place_basis(settings, clock, sample, summary)
    return Plan(
        clock,
        pooled if has_events else CalendarClock(speed=0.0),
        summary.stop,
        basis,
        settings.loss,
        settings.gamma2,
        settings.sensor_penalty,
        summary.fingerprint,
        _average_exposure(clock_sample),
    )


def _place_basis(
    settings: Settings, clock: Clock, sample: TrainingData, summary: DataSummary
) -> FittedBasis | FittedSensorBasis:
    """Return the leaf functions; knots are placed where individuals are observed."""
    family = resolve_basis(settings.leaf)
    if sample.sensors is None and isinstance(family, PowerBasis):
        return family.check(settings.loss)  # no knots
    clocked = put_on_clock(sample.events, clock, sample.sensors, summary.stop)
    late = bool(clock.read(np.array([summary.last_start]))[0] > 0.0)
    clocked = replace(clocked, has_late_starts=late)
    if sample.sensors is None:
        return family.place(clocked, settings.loss)
    return _place_sensors(settings, clocked, sample, summary)


def _place_sensors(
    settings: Settings, clocked: ClockedEvents, sample: TrainingData, summary: DataSummary
) -> FittedSensorBasis:
    baseline = resolve_baseline(settings.baseline)
    family = SensorBasis(settings.n_knots, settings.spline_order, baseline)
    weights = sample.uneven_weights
    if sample.events.exposure is not None:
        weights = sample.weights * _mean_exposures(sample.events, sample.events.exposure)
    return family.place(clocked, settings.loss, weights, summary.ranges)


def _average_exposure(data: TrainingData) -> float:
    """Return the exposure averaged over individuals and time under observation."""
    events = data.events
    if events.exposure is None:
        return 1.0
    means = _mean_exposures(events, events.exposure)
    return float(np.average(means, weights=data.weights * events.follow_up))


def _mean_exposures(events: RecurrentEvents, exposure: Exposure) -> FloatArray:
    """Return the exposure of each individual, averaged over its observed time."""
    if exposure.is_constant:
        return exposure.values
    owner = owners_of(events.window_offsets)
    total = exposure.total(owner, events.window_start, events.window_stop)
    return np.asarray(total / events.follow_up)


def _check_finite(stats: SufficientStats) -> None:
    """Refuse statistics that overflowed, which only extreme costs or weights cause."""
    if not (np.isfinite(stats.linear).all() and np.isfinite(stats.quadratic).all()):
        raise InvalidEventsError(
            "Statistics of the events must be finite, but costs, weights or times are too "
            "large for that.\n\nHint: give them in a larger unit, for instance thousands."
        )
