"""The training set, spread over the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Future

from boostr._engine.binning import FeatureLayout
from boostr._engine.booster import Booster
from boostr._engine.cohort import LocalCohort
from boostr._engine.suffstats import SufficientStats
from boostr._engine.tree import LeafProblem
from boostr._typing import FloatArray, IndexArray
from boostr.dask._shard import Shard, View, apply, hold_out, take
from boostr.dask._trainees import Shards, SharedTrainees

__all__ = ["DaskCohort", "RemoteRows"]

_MOST_BESIDE = 8  # models whose orders are on their way at the same time


@dataclass(frozen=True, slots=True, eq=False)
class RemoteRows:
    """Rows of all individuals, each part on the worker of its shard."""

    futures: tuple[Future[Any], ...]


@dataclass(frozen=True, slots=True, eq=False)
class DaskCohort:
    """Individuals whose statistics and bins stay on the workers; see `Cohort`."""

    shards: Shards
    layout: FeatureLayout
    n_terms: int
    view: View = field(default_factory=View)

    def __len__(self) -> int:
        return sum(self.shards.counts)

    @property
    def weights(self) -> RemoteRows:
        """Weight of every individual."""
        return RemoteRows(tuple(self.shards.submit(attrgetter("weights"))))

    def follow(self, solver: int, held_out: IndexArray, n_threads: int) -> SharedTrainees:
        """Return the boosting state of all individuals for a new model."""
        return SharedTrainees(self.shards, self.view, solver, held_out, uuid4().hex)

    def count_beside(self, problem: LeafProblem, n_models: int, n_threads: int) -> int:
        """Return the number of models grown at once: all of them, up to a limit."""
        return min(n_models, _MOST_BESIDE)

    def gather_held_out(
        self, boosters: Sequence[Booster], folds: Sequence[IndexArray], n_kept: int
    ) -> RemoteRows:
        """Return the mean coefficients over the models that held an individual out."""
        models = [booster.trees[:n_kept] for booster in boosters]
        ends = [np.searchsorted(fold, self.shards.firsts) for fold in folds]
        own = [
            [fold[end[k] : end[k + 1]] for fold, end in zip(folds, ends, strict=True)]
            for k in range(len(self.shards.counts))
        ]
        same = self._repeat(self.view), self._repeat(models)
        return RemoteRows(tuple(self.shards.submit(hold_out, *same, own)))

    def map(self, function: Callable[..., FloatArray], *rows: RemoteRows) -> RemoteRows:
        """Return rows computed by a function from other rows, on the workers."""
        return RemoteRows(self._apply(function, rows))

    def each(self, function: Callable[..., Any], *rows: RemoteRows) -> list[Any]:
        """Return the results of a function for every shard, in order."""
        results: list[Any] = self.shards.client.gather(self._apply(function, rows))
        return results

    def take(self, positions: IndexArray) -> LocalCohort:
        """Return some individuals in local memory."""
        ends = np.searchsorted(positions, self.shards.firsts)
        own = [positions[ends[k] : ends[k + 1]] for k in range(len(self.shards.counts))]
        futures = self.shards.submit(take, self._repeat(self.view), own)
        parts = self.shards.client.gather(futures)
        return LocalCohort(
            SufficientStats(
                np.concatenate([part.stats.linear for part in parts]),
                np.concatenate([part.stats.quadratic for part in parts]),
            ),
            self.layout.holding(np.concatenate([part.features.bins for part in parts])),
            np.concatenate([part.weights for part in parts]),
        )

    def collect(self, rows: RemoteRows, step: int = 1) -> FloatArray:
        """Return the rows of every ``step``-th individual in local memory."""
        futures = list(rows.futures)
        if step > 1:
            firsts = self.shards.firsts[:-1]
            futures = [
                self.shards.client.submit(_take_every, part, first, step, pure=False)
                for part, first in zip(rows.futures, firsts, strict=True)
            ]
        return np.concatenate(self.shards.client.gather(futures))

    def restrict(self, term: int) -> DaskCohort:
        """Return the same individuals with a single term."""
        return replace(self, n_terms=1, view=replace(self.view, term=term))

    def add_shuffled(self, seed: int) -> LocalCohort:
        """Return all individuals in local memory, with shuffled copies of all features.

        Copies are shuffled over all individuals; for large data it is called on a
        subsample.
        """
        return self.take(np.arange(len(self), dtype=np.int32)).add_shuffled(seed)

    def mark(self) -> str:
        """Return a fingerprint of all statistics and bins."""
        marks = self.shards.client.gather(self.shards.submit(Shard.mark))
        return str(sum(marks) % 2**64)

    def _apply(
        self, function: Callable[..., Any], rows: Sequence[RemoteRows]
    ) -> tuple[Future[Any], ...]:
        parts = [each.futures for each in rows]
        futures = self.shards.submit(
            apply, self._repeat(function), self._repeat(self.view), *parts
        )
        return tuple(futures)

    def _repeat(self, value: Any) -> list[Any]:
        return [value] * len(self.shards.counts)


def _take_every(rows: FloatArray, first: int, step: int) -> FloatArray:
    """Return every ``step``-th row, counted over all individuals."""
    return rows[-first % step :: step]
