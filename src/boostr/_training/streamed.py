"""Statistics of histories and sensors read from files in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_ids_match, check_weights
from boostr._engine.statistics import SufficientStats
from boostr._training.features import FeatureEncoder
from boostr._training.inputs import TrainingData, find_step, spread_rows
from boostr._training.run import Progress
from boostr._training.settings import Settings
from boostr._training.statistics import (
    MOST_EVENTS,
    MOST_VALUES,
    N_CLOCK_SAMPLE,
    N_SAMPLE,
    Plan,
    Prepared,
    plan_statistics,
)
from boostr._training.summary import DataSummary
from boostr._typing import BoolArray, FloatArray, OffsetArray
from boostr.data import RecurrentEvents, ScannedEvents, ScannedTrajectories, Trajectories
from boostr.data.events.fingerprint import Fingerprint
from boostr.data.features import ROWS_HINT, check_one_row_each
from boostr.data.parquet.pairs import read_in_step
from boostr.data.parquet.rows import map_ahead

__all__ = ["ScannedData", "check_scanned_data", "is_scanned", "stream_statistics"]

# Histories and sensors of some individuals, and the place of the first among those used.
Part = tuple[int, RecurrentEvents, Trajectories | None]


@dataclass(frozen=True, slots=True, eq=False)
class ScannedData:
    """Individuals of positive weight whose histories or sensors are in files."""

    features: FloatArray  # (n_used, p)
    events: ScannedEvents | RecurrentEvents  # of all
    weights: FloatArray  # (n_used,)
    sensors: ScannedTrajectories | Trajectories | None  # of all
    is_used: BoolArray  # (n,)

    def spread(self, rows: FloatArray | None) -> FloatArray | None:
        """Return rows of the used individuals among all, NaN for the others."""
        return spread_rows(rows, self.is_used)

    def parts(self, n_threads: int) -> Iterator[Part]:
        """Yield the used individuals in chunks, in the order of their ids."""
        first, n_before = 0, 0
        for events, sensors in read_in_step(self.events, self.sensors, n_threads):
            chosen = self.is_used[first : first + len(events)]
            first += len(events)
            n_used = int(chosen.sum())
            if n_used == len(events):
                yield n_before, events, sensors
            elif n_used:
                own = None if sensors is None else sensors[chosen]
                yield n_before, events[chosen], own
            n_before += n_used


class _Sample:
    """Evenly spaced subsample of a stream whose number of values is not known yet.

    The step ends as the one of `find_step`, since it only ever doubles.
    """

    def __init__(self, n: int, n_most: int, most_values: int) -> None:
        self._n, self._n_most, self._most_values = n, n_most, most_values
        self._n_values = 0
        self._kept: list[tuple[OffsetArray, RecurrentEvents, Trajectories | None]] = []
        self._step = 1

    def add(self, part: Part, n_values: int) -> None:
        """Add individuals with ``n_values`` values in total."""
        self._n_values += n_values
        step = find_step(self._n, self._n_most, self._n_values, self._most_values)
        first, events, sensors = part
        rows = np.arange(first, first + len(events))
        if step > self._step:
            self._kept = [_thin(*kept, step) for kept in self._kept]
            self._step = step
        self._kept.append(_thin(rows, events, sensors, step))

    def take(self, data: ScannedData) -> TrainingData:
        """Return the subsample."""
        rows = np.concatenate([kept[0] for kept in self._kept])
        series = [kept[2] for kept in self._kept if kept[2] is not None]
        is_used = np.zeros(len(data.is_used), dtype=np.bool_)
        is_used[np.flatnonzero(data.is_used)[rows]] = True
        return TrainingData(
            data.features[rows],
            RecurrentEvents.concatenate([kept[1] for kept in self._kept]),
            data.weights[rows],
            Trajectories.concatenate(series) if series else None,
            is_used,
        )


def _thin(
    rows: OffsetArray, events: RecurrentEvents, sensors: Trajectories | None, step: int
) -> tuple[OffsetArray, RecurrentEvents, Trajectories | None]:
    """Return the individuals whose position is a multiple of the step."""
    chosen = np.flatnonzero(rows % step == 0)
    if len(chosen) == len(rows):
        return rows, events, sensors
    return rows[chosen], events[chosen], None if sensors is None else sensors[chosen]


def is_scanned(y: object, sensors: object) -> bool:
    """Return whether histories or sensors are in files."""
    if not isinstance(y, (ScannedEvents, RecurrentEvents)):
        return False
    return isinstance(y, ScannedEvents) or isinstance(sensors, ScannedTrajectories)


def check_scanned_data(
    table: Any,
    encoder: FeatureEncoder,
    y: ScannedEvents | RecurrentEvents,
    sensors: Any,
    sample_weight: ArrayLike | None,
) -> ScannedData:
    """Check features, events in files and weights against each other."""
    features = encoder.transform(table)
    check_one_row_each(y, len(features), ROWS_HINT)
    check_ids_match(table, y)
    weights = check_weights(sample_weight, y)
    is_used = weights > 0.0
    if not is_used.all():
        features, weights = features[is_used], weights[is_used]
    return ScannedData(features, y, weights, sensors, is_used)


def stream_statistics(
    settings: Settings, data: ScannedData, n_threads: int, progress: Progress
) -> Prepared:
    """Fit the clock, place the functions and compute all statistics.

    Files are read twice: once for summary and subsamples, once for the statistics.
    """
    parts = _show(data, "survey", n_threads, progress)
    summary, clock_sample, sample = _survey(data, parts)
    summary.check(settings.clock)
    plan = plan_statistics(settings, clock_sample, sample, summary)
    parts = _show(data, "statistics", n_threads, progress)
    stats = _compute_parts(plan, data.weights, parts, n_threads)
    problem = plan.state_problem(lambda summand: summand(stats, data.weights))
    return Prepared(plan, stats, problem, lambda: sample)


def _show(
    data: ScannedData, stage: str, n_threads: int, progress: Progress
) -> Iterator[Part]:
    """Yield the chunks and announce the progress."""
    for part in data.parts(n_threads):
        yield part
        share = (part[0] + len(part[1])) / len(data.weights)
        progress.announce(f"{stage}, {share:.0%} of the files")


def _survey(
    data: ScannedData, parts: Iterator[Part]
) -> tuple[DataSummary, TrainingData, TrainingData]:
    """Return the summary of all individuals and the two subsamples."""
    n = len(data.weights)
    clock_sample, sample = (
        _Sample(n, N_CLOCK_SAMPLE, MOST_EVENTS),
        _Sample(n, N_SAMPLE, MOST_VALUES),
    )
    summaries_of_parts = []
    for part in parts:
        first, events, sensors = part
        weights = data.weights[first : first + len(events)]
        summary = DataSummary.of(events, weights, sensors)
        fingerprint = Fingerprint.of(events, None)
        summaries_of_parts.append(replace(summary, fingerprint=fingerprint))
        clock_sample.add((first, events, None), len(events.times))
        if sensors is not None:
            sample.add(part, sensors.values.size + sensors.times.size)
    summary = summaries_of_parts[0]
    for other in summaries_of_parts[1:]:
        summary = summary.join(other)
    pooled = clock_sample.take(data)
    return summary, pooled, pooled if data.sensors is None else sample.take(data)


def _compute_parts(
    plan: Plan, weights: FloatArray, parts: Iterator[Part], n_threads: int
) -> SufficientStats:
    """Compute the statistics chunk by chunk while the next ones are read."""
    is_even = bool(np.all(weights == 1.0))

    def compute(part: Part) -> tuple[int, SufficientStats]:
        numba.set_num_threads(n_threads)  # every thread of Python has its own number
        first, events, sensors = part
        own = None if is_even else weights[first : first + len(events)]
        return first, plan.compute(events, sensors, own)

    n_terms = plan.basis.n_terms
    linear = np.empty((len(weights), n_terms))
    quadratic = np.empty((len(weights), 0))
    # In turn, because kernels are on all threads already.
    for first, stats in map_ahead(compute, parts, n_threads, in_turn=True):
        if quadratic.shape[1] == 0:  # a diagonal or a triangle
            quadratic = np.empty((len(weights), stats.quadratic.shape[1]))
        last = first + len(stats.linear)
        linear[first:last], quadratic[first:last] = stats.linear, stats.quadratic
    return SufficientStats(linear, quadratic)
