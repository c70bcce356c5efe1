"""All individuals that models are boosted on, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from boostr._engine.binning import BinnedFeatures, FeatureLayout
from boostr._engine.boosting import Booster, BoostingState, LocalBoostingState, scatter
from boostr._engine.statistics import SufficientStats
from boostr._typing import FloatArray, IndexArray

__all__ = [
    "LocalTrainingSet",
    "Rows",
    "TrainingSet",
    "add_shuffled",
    "average_held_out",
    "mark_individuals",
    "sum_up",
]

_FEW = 3_000  # individuals up to which a tree is grown before a thread would wake up
_MANY = 30_000  # individuals from which one tree keeps all threads busy

# One row per individual, kept where the individuals are: an array, or a handle of several.
Rows = Any


class TrainingSet(Protocol):
    """Statistics and bins of all individuals, here or on many machines.

    What is kept for individuals never leaves the place where they are; functions are sent
    there instead. They get the statistics of some individuals, and rows of the same.
    """

    @property
    def layout(self) -> FeatureLayout:
        """What trees must know of the features."""
        ...

    @property
    def n_terms(self) -> int:
        """Number of coefficients of an individual."""
        ...

    @property
    def weights(self) -> Rows:
        """Weight of every individual."""
        ...

    def __len__(self) -> int: ...

    def follow(self, solver: int, held_out: IndexArray, n_threads: int) -> BoostingState:
        """Return the state of a new model; some individuals are held out."""
        ...

    def count_beside(self, n_models: int, n_threads: int, *, has_long_steps: bool) -> int:
        """Return how many of several models are best grown at the same time."""
        ...

    def gather_held_out(
        self, boosters: Sequence[Booster], folds: Sequence[IndexArray], n_kept: int
    ) -> Rows:
        """Return each individual's mean coefficients over the models that held them out.

        Those of the first ``n_kept`` trees, which were the last ones when state were
        told to keep theirs; NaN for individuals that were never held out.
        """
        ...

    def map(self, function: Callable[..., FloatArray], *rows: Rows) -> Rows:
        """Return the rows that a function makes of others."""
        ...

    def each(self, function: Callable[..., Any], *rows: Rows) -> list[Any]:
        """Return what a function makes of every part of the individuals, in order."""
        ...

    def take(self, positions: IndexArray) -> LocalTrainingSet:
        """Bring some individuals here."""
        ...

    def restrict(self, term: int) -> TrainingSet:
        """Return the same individuals with one term alone."""
        ...

    def add_shuffled(self, seed: int) -> TrainingSet:
        """Return them with a shuffled copy of every feature beside it."""
        ...

    def mark(self) -> str:
        """Return a text that differs where any statistics or bins do."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class LocalTrainingSet:
    """Individuals whose statistics and bins lie in local arrays."""

    stats: SufficientStats
    features: BinnedFeatures
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.stats.linear)

    @property
    def layout(self) -> FeatureLayout:
        """What trees must know of the features."""
        return self.features

    @property
    def n_terms(self) -> int:
        """Number of coefficients of an individual."""
        return self.stats.n_terms

    def follow(
        self, solver: int, held_out: IndexArray, n_threads: int
    ) -> LocalBoostingState:
        """Return the state of a new model."""
        return LocalBoostingState(self.stats, self.features, solver, held_out, n_threads)

    def count_beside(self, n_models: int, n_threads: int, *, has_long_steps: bool) -> int:
        """Return one, unless steps take long though they keep one thread busy only."""
        is_long, is_on_one_thread = len(self) >= _FEW, len(self) < _MANY
        is_worth_it = (has_long_steps or is_long) and is_on_one_thread
        return min(n_threads, n_models) if is_worth_it else 1

    def gather_held_out(
        self, boosters: Sequence[Booster], folds: Sequence[IndexArray], n_kept: int
    ) -> FloatArray:
        """Return each individual's mean coefficients over the models that held them out."""
        kept = []
        for booster in boosters:
            state: Any = booster.state
            kept.append(state.kept)
        return average_held_out(self.stats.linear.shape, kept, folds)

    def map(self, function: Callable[..., FloatArray], *rows: FloatArray) -> FloatArray:
        """Return the rows that a function makes of others."""
        return function(self.stats, *rows)

    def each(self, function: Callable[..., Any], *rows: FloatArray) -> list[Any]:
        """Return what a function makes of all individuals."""
        return [function(self.stats, *rows)]

    def take(self, positions: IndexArray) -> LocalTrainingSet:
        """Return some of the individuals."""
        return LocalTrainingSet(
            SufficientStats(self.stats.linear[positions], self.stats.quadratic[positions]),
            self.features.holding(self.features.bins[positions]),
            self.weights[positions],
        )

    def restrict(self, term: int) -> LocalTrainingSet:
        """Return the same individuals with one term alone."""
        return replace(self, stats=self.stats.restrict(term))

    def add_shuffled(self, seed: int) -> LocalTrainingSet:
        """Return them with a shuffled copy of every feature beside it."""
        return replace(self, features=add_shuffled(self.features, seed))

    def mark(self) -> str:
        """Return a text that differs where any statistics or bins do."""
        return str(mark_individuals(self.stats, self.features))


def sum_up(
    training_set: TrainingSet, function: Callable[..., tuple[FloatArray, ...]], *rows: Rows
) -> tuple[FloatArray, ...]:
    """Sum what a function makes of all parts of the individuals, in their order."""
    parts = training_set.each(function, *rows)
    return tuple(np.asarray(sum(same)) for same in zip(*parts, strict=True))


def add_shuffled(features: BinnedFeatures, seed: int) -> BinnedFeatures:
    """Return the features and a copy of each with the individuals shuffled."""
    shuffled = np.random.default_rng(seed).permuted(features.bins, axis=0)
    return replace(
        features,
        bins=np.ascontiguousarray(np.hstack([features.bins, shuffled])),
        n_values=np.tile(features.n_values, 2),
        is_categorical=np.tile(features.is_categorical, 2),
    )


def mark_individuals(
    stats: SufficientStats, features: BinnedFeatures, first: int = 0
) -> int:
    """Return a number that differs where any statistics or bins do, or their places.

    The sum, modulo 2**64, of one number for each individual; so the marks of parts, given
    the position of their first individual, add up to the mark of all.
    """
    state = np.arange(first, first + len(stats.linear), dtype=np.uint64)
    columns = np.hstack([stats.linear, stats.quadratic]).view(np.uint64).T
    for column in (*columns, *features.bins.T):
        state ^= column.astype(np.uint64)
        scatter(state)
    return int(state.sum(dtype=np.uint64))


def average_held_out(
    shape: tuple[int, ...], kept: Sequence[FloatArray], folds: Sequence[IndexArray]
) -> FloatArray:
    """Return each individual's mean row over the models that held it out, or NaN."""
    total = np.zeros(shape)
    times_held_out = np.zeros(len(total))
    for rows, held_out in zip(kept, folds, strict=True):
        total[held_out] += rows
        times_held_out[held_out] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(
            total / np.where(times_held_out > 0, times_held_out, np.nan)[:, None]
        )
