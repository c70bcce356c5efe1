"""Counts, ranges, quantiles and subsamples of all individuals; computed first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
from dask.delayed import delayed
from distributed import Client

from boostr._engine.binning import BinMapper, separate
from boostr._training.features import (
    FeatureEncoder,
    choose_categorical,
    count_categories,
    trim_counts,
)
from boostr._training.inputs import TrainingData, find_step
from boostr._training.statistics import MOST_EVENTS, MOST_VALUES, N_CLOCK_SAMPLE, N_SAMPLE
from boostr._training.summary import DataSummary
from boostr._typing import BoolArray, FloatArray, IndexArray, OffsetArray
from boostr.dask._cluster import gather, reduce_tree, share, use_worker_threads
from boostr.dask._parts import Files, Part, Roles, load_part, read_static
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.fingerprint import Fingerprint
from boostr.data.sensors.checks import unite_categories
from boostr.exceptions import InvalidParameterError

__all__ = [
    "N_KEPT",
    "Headcount",
    "Summary",
    "Survey",
    "count_heads",
    "find_summarized_bins",
    "merge_features",
    "summarize_features",
    "survey",
]

N_KEPT = 4096  # values of a summary at most


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Values of one feature with their counts, in ascending order.

    For every ``x``, the number of summarized values up to ``x`` lies between
    ``sum(counts[values <= x])`` and ``error`` more.
    """

    values: FloatArray  # (k,) different
    counts: OffsetArray  # (k,)
    error: int = 0  # individuals; 0 as long as nothing was left out

    @classmethod
    def of(cls, values: FloatArray, n_kept: int = N_KEPT) -> Summary:
        """Return the summary of values without NaN."""
        found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        return cls(found, counts.astype(np.int64)).shorten(n_kept)

    @property
    def n(self) -> int:
        """Number of summarized values."""
        return int(self.counts.sum())

    def shorten(self, n_kept: int = N_KEPT) -> Summary:
        """Return a summary of at most ``n_kept`` values, if needed with a larger error."""
        if len(self.values) <= n_kept:
            return self
        begins = np.cumsum(self.counts) - self.counts
        # Values belong to the run that they begin in, so that all but the last one of a run
        # lie in it wholly: they are less than an even share of all individuals.
        run = begins * n_kept // self.n
        first = np.flatnonzero(np.diff(run, prepend=-1))
        last = np.append(first[1:], len(run)) - 1
        counts = np.add.reduceat(self.counts, first)
        moved = int((counts - self.counts[last]).max())
        return Summary(self.values[last], counts, self.error + moved)

    @classmethod
    def merge(cls, parts: Sequence[Summary], n_kept: int = N_KEPT) -> Summary:
        """Return the summary of several summaries; errors add up."""
        values, place = np.unique(
            np.concatenate([part.values for part in parts]), return_inverse=True
        )
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([part.counts for part in parts]))
        return cls(values, counts, sum(part.error for part in parts)).shorten(n_kept)

    def find_thresholds(self, max_bins: int) -> FloatArray:
        """Return at most ``max_bins - 1`` thresholds between neighbouring values.

        As `BinMapper.from_quantiles` if nothing was left out; otherwise shares are off by
        at most half of the error and of the individuals that share a value.
        """
        values = self.values
        if values.size > max_bins:
            ranks = np.linspace(0, self.n - 1, max_bins + 1)[1:-1].astype(np.int64)
            ends = np.cumsum(self.counts) + self.error // 2
            below = np.unique(np.searchsorted(ends, ranks, side="right"))
            below = below[below < values.size - 1]
        else:
            below = np.arange(max(values.size - 1, 0))
        return separate(values, below)


def summarize_features(
    features: FloatArray, is_categorical: BoolArray, n_kept: int = N_KEPT
) -> list[Summary | None]:
    """Return a summary of every feature, None for categorical ones."""
    return [
        None if is_category else Summary.of(features[:, place], n_kept)
        for place, is_category in enumerate(is_categorical)
    ]


def merge_features(
    parts: Sequence[Sequence[Summary | None]], n_kept: int = N_KEPT
) -> list[Summary | None]:
    """Return the summaries of all features over several parts."""
    merged: list[Summary | None] = []
    for same in zip(*parts, strict=True):
        known = [summary for summary in same if summary is not None]
        merged.append(Summary.merge(known, n_kept) if known else None)
    return merged


def find_summarized_bins(
    summaries: Sequence[Summary | None],
    max_bins: int,
    is_categorical: BoolArray,
    n_categories: IndexArray,
) -> BinMapper:
    """Return thresholds of all features from their summaries."""
    thresholds = [
        np.zeros(n_known) if summary is None else summary.find_thresholds(max_bins)
        for summary, n_known in zip(summaries, n_categories, strict=True)
    ]
    return BinMapper.from_thresholds(thresholds, is_categorical)


Tasks = Sequence[tuple[Any, ...]]  # rows of X, events and sensors of every part


@dataclass(frozen=True, slots=True)
class Headcount:
    """Numbers of individuals, and of those with positive weight, by part."""

    n: tuple[int, ...]
    n_used: tuple[int, ...]
    with_text: frozenset[str] = frozenset()  # features of any type that hold some text

    @property
    def firsts(self) -> list[int]:
        """Position of each part's first individual among those used."""
        return [0, *np.cumsum(self.n_used).tolist()][:-1]

    @property
    def total(self) -> int:
        """Number of used individuals."""
        return sum(self.n_used)


def count_heads(
    client: Client, roles: Roles, files: Sequence[str], static: Sequence[Any]
) -> Headcount:
    """Return the numbers of individuals, part by part."""
    context = share((roles, files), "roles")
    found = gather(client, [delayed(_count_part)(context, rows) for rows in static])
    heads = Headcount(
        tuple(n for n, _, _ in found),
        tuple(n_used for _, n_used, _ in found),
        frozenset(name for _, _, names in found for name in names),
    )
    if not heads.total:
        raise InvalidParameterError(
            "There must be individuals to learn from, but "
            + ("all weights are zero." if sum(heads.n) else "`X` has no rows.")
            + "\n\nHint: weights of zero leave individuals out."
        )
    return heads


def _count_part(context: tuple[Roles, Sequence[str]], static: Any) -> tuple[Any, ...]:
    if not len(static):
        return 0, 0, ()
    _, table, weights = read_static(*context, static)
    with_text = [
        name
        for name in table.columns
        if table[name].dtype == object
        and any(isinstance(value, str) for value in table[name])
    ]
    return len(weights), int(np.sum(weights > 0.0)), with_text


@dataclass(frozen=True, slots=True)
class _SurveyOptions:
    """Steps of the subsamples and further options, the same for all parts."""

    clock_sample_step: int
    sample_step: int
    is_categorical: tuple[bool, ...]
    wants_summaries: bool  # of the features, for their quantiles
    wants_ranges: bool  # of the sensors
    wants_used: bool  # which individuals are used


@dataclass(frozen=True, slots=True, eq=False)
class _Totals:
    """Summary of all individuals of one or several parts."""

    summary: DataSummary | None  # None where no individual is used
    n_values: int  # times and values of sensors
    counts: Mapping[str, Counter[Any] | None]
    summaries: Sequence[Summary | None]
    categories: Mapping[str, tuple[Any, ...] | None]


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Features, events, weights and sensors of some individuals."""

    table: Any
    events: RecurrentEvents
    weights: FloatArray
    sensors: Trajectories | None


@dataclass(frozen=True, slots=True, eq=False)
class _Findings:
    """The survey of one part."""

    totals: _Totals
    clock_sample: _Sample | None
    sample: _Sample | None
    is_used: BoolArray | None


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """Summary and subsamples of all individuals."""

    summary: DataSummary
    encoder: FeatureEncoder
    summaries: Sequence[Summary | None]  # of the features; empty unless wanted
    categories: Mapping[str, tuple[Any, ...]]  # of the sensors that have some
    clock_sample: TrainingData
    sample: TrainingData
    sample_step: int  # of the sample among the individuals used
    binned: FloatArray  # features that exact thresholds are read from
    is_used: BoolArray | None  # of all individuals; None if not wanted


def survey(
    client: Client,
    context: tuple[Roles, Files],
    tasks: Tasks,
    heads: Headcount,
    features: tuple[Any, Any],
    *,
    wants_summaries: bool,
    wants_used: bool,
) -> Survey:
    """Read and check all rows once; return summary and subsamples.

    ``features`` are a table of features without rows and ``categorical_features``.
    Subsamples are those of one machine: evenly spaced, in the order of ids.
    """
    has_sensors = len(tasks[0]) > 2
    sample_step = max(1, heads.total // (N_SAMPLE if has_sensors else N_CLOCK_SAMPLE))
    options = _SurveyOptions(
        max(1, heads.total // N_CLOCK_SAMPLE),
        sample_step,
        tuple(_choose_categorical(*features, heads.with_text)),
        wants_summaries,
        has_sensors and sample_step > 1,
        wants_used,
    )
    shared = share((*context, options), "survey")
    parts = [
        delayed(_survey_part)(shared, first, *rows)
        for first, rows in zip(heads.firsts, tasks, strict=True)
    ]
    totals = reduce_tree(_join_totals, [delayed(_totals_of)(part) for part in parts])
    samples = [delayed(_samples_of)(part) for part in parts]
    known, *found = gather(client, [totals, *samples])
    return _conclude(known, [one for one in found if one is not None], sum(heads.n))


def _choose_categorical(meta: Any, given: Any, with_text: frozenset[str]) -> list[bool]:
    """Return which features are categorical, also columns of any type with texts."""
    chosen = choose_categorical(meta, given)
    if not (isinstance(given, str) and given == "from_dtype"):
        return chosen
    return [
        is_category or name in with_text
        for name, is_category in zip(meta.columns, chosen, strict=True)
    ]


def _survey_part(
    shared: tuple[Roles, Files, _SurveyOptions], first: int, *rows: Any
) -> _Findings | None:
    roles, files, options = shared
    part = load_part(roles, files, *rows)
    if part is None:
        return None
    counts = count_categories(part.table, options.is_categorical)
    encoder = FeatureEncoder.from_counts(counts)
    summaries: list[Summary | None] = []
    summary = None
    if len(part):
        if options.wants_summaries:
            numbers = encoder.transform(part.features)
            summaries = summarize_features(numbers, encoder.is_categorical)
        with use_worker_threads():
            summary = DataSummary.of(
                part.events, part.weights, part.sensors, wants_ranges=options.wants_ranges
            )
            summary = replace(summary, fingerprint=Fingerprint.of(part.events, None))
    has_sensors = part.sensors is not None
    n_values = 0
    if part.sensors is not None:
        n_values = part.sensors.values.size + part.sensors.times.size
    totals = _Totals(summary, n_values, counts, summaries, part.categories)
    return _Findings(
        totals,
        _draw(part, first, options.clock_sample_step, with_sensors=False),
        _draw(part, first, options.sample_step, with_sensors=True) if has_sensors else None,
        part.is_used if options.wants_used else None,
    )


def _draw(part: Part, first: int, step: int, *, with_sensors: bool) -> _Sample | None:
    """Return every ``step``-th individual, counted over all parts."""
    rows = np.arange(-first % step, len(part), step)
    if not len(rows):
        return None
    return _Sample(
        part.features.iloc[rows],
        part.events[rows],
        part.weights[rows],
        part.sensors[rows] if with_sensors and part.sensors is not None else None,
    )


def _totals_of(found: _Findings | None) -> _Totals | None:
    return None if found is None else found.totals


def _samples_of(found: _Findings | None) -> _Findings | None:
    """Return the findings without what is merged on the cluster."""
    if found is None:
        return None
    return replace(found, totals=replace(found.totals, counts={}, summaries=[]))


def _join_totals(parts: Sequence[_Totals | None]) -> _Totals | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    counts: dict[str, Counter[Any] | None] = {}
    for name in known[0].counts:
        lists = [part.counts[name] for part in known]
        some = [one for one in lists if one is not None]
        counts[name] = trim_counts(sum(some, Counter())) if some else None
    summaries_of_parts = [part.summary for part in known if part.summary is not None]
    summaries = [part.summaries for part in known if part.summaries]
    united = unite_categories([dict(part.categories) for part in known])
    return _Totals(
        reduce(DataSummary.join, summaries_of_parts) if summaries_of_parts else None,
        sum(part.n_values for part in known),
        counts,
        merge_features(summaries) if summaries else [],
        dict(known[0].categories) | united,
    )


def _conclude(known: _Totals, found: Sequence[_Findings], n: int) -> Survey:
    """Return the survey, with the subsamples of all parts in the order of ids."""
    encoder = FeatureEncoder.from_counts(known.counts)
    assert known.summary is not None  # noqa: S101 - some individual is used
    categories = {name: one for name, one in known.categories.items() if one is not None}
    joined = _join_samples([one.clock_sample for one in found], encoder, categories)
    n_events = known.summary.n_events
    clock_sample, step = _thin(joined, known.summary, N_CLOCK_SAMPLE, n_events, MOST_EVENTS)
    sample = clock_sample
    if any(one.sample is not None for one in found):
        sample = _join_samples([one.sample for one in found], encoder, categories)
        sample, step = _thin(sample, known.summary, N_SAMPLE, known.n_values, MOST_VALUES)
    used = [one.is_used for one in found if one.is_used is not None]
    return Survey(
        known.summary,
        encoder,
        known.summaries,
        categories,
        clock_sample,
        sample,
        step,
        joined.features,
        np.concatenate(used) if used else None,
    )


def _thin(
    sample: TrainingData, summary: DataSummary, n_most: int, n_values: int, most_values: int
) -> tuple[TrainingData, int]:
    """Return the subsample, thinned if it has too many values, and its step."""
    step = find_step(summary.n, n_most, n_values, most_values)
    return sample.every(step // max(1, summary.n // n_most)), step


def _join_samples(
    samples: Sequence[_Sample | None],
    encoder: FeatureEncoder,
    categories: Mapping[str, tuple[Any, ...]],
) -> TrainingData:
    some = [sample for sample in samples if sample is not None]
    table = pd.concat([sample.table for sample in some], ignore_index=True)
    paths = [sample.sensors for sample in some if sample.sensors is not None]
    sensors = None
    if paths:
        sensors = Trajectories.concatenate([path.encode(categories) for path in paths])
    n = len(table)
    return TrainingData(
        encoder.transform(table),
        RecurrentEvents.concatenate([sample.events for sample in some]),
        np.concatenate([sample.weights for sample in some]),
        sensors,
        np.ones(n, dtype=np.bool_),
    )
