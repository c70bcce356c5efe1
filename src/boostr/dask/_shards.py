"""Statistics and bins of the training set; they stay on the workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any
from uuid import uuid4

import numpy as np
from dask.delayed import delayed
from distributed import Client, Future, wait

from boostr._engine.binning import BinMapper, BinnedFeatures, FeatureLayout
from boostr._engine.boosting import Booster
from boostr._engine.statistics import SufficientStats
from boostr._engine.training_set import LocalTrainingSet
from boostr._training.features import FeatureEncoder
from boostr._training.statistics import Plan
from boostr._typing import FloatArray, IndexArray
from boostr.dask._boosting_state import Shards, SharedBoostingState
from boostr.dask._cluster import MORE_MEMORY, share, use_worker_threads
from boostr.dask._parts import Files, Roles, load_part
from boostr.dask._shard import Shard, View, apply, hold_out, take
from boostr.dask._survey import Headcount, Tasks
from boostr.exceptions import ClusterLostError

__all__ = ["DaskTrainingSet", "Recipe", "RemoteRows", "build_training_set"]

_MOST_BESIDE = 8  # models whose orders are on their way at the same time


@dataclass(frozen=True, slots=True, eq=False)
class RemoteRows:
    """Rows of all individuals, each part on the worker of its shard."""

    futures: tuple[Future[Any], ...]


@dataclass(frozen=True, slots=True, eq=False)
class DaskTrainingSet:
    """Individuals whose statistics and bins stay on the workers; see `TrainingSet`."""

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

    def follow(
        self, solver: int, held_out: IndexArray, n_threads: int
    ) -> SharedBoostingState:
        """Return the boosting state of all individuals for a new model."""
        return SharedBoostingState(self.shards, self.view, solver, held_out, uuid4().hex)

    def count_beside(self, n_models: int, n_threads: int, *, has_long_steps: bool) -> int:
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

    def take(self, positions: IndexArray) -> LocalTrainingSet:
        """Return some individuals in local memory."""
        ends = np.searchsorted(positions, self.shards.firsts)
        own = [positions[ends[k] : ends[k + 1]] for k in range(len(self.shards.counts))]
        futures = self.shards.submit(take, self._repeat(self.view), own)
        parts = self.shards.client.gather(futures)
        return LocalTrainingSet(
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

    def restrict(self, term: int) -> DaskTrainingSet:
        """Return the same individuals with a single term."""
        return replace(self, n_terms=1, view=replace(self.view, term=term))

    def add_shuffled(self, seed: int) -> LocalTrainingSet:
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


_PATIENCE = 5.0  # seconds until workers are counted again
_MOST_TRIES = 6  # each after a loss


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """Plan, encoder, bins and categories that determine statistics and bins."""

    plan: Plan
    encoder: FeatureEncoder
    mapper: BinMapper
    categories: Mapping[str, tuple[Any, ...]]  # of the sensors


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Statistics and bins of one part."""

    stats: SufficientStats
    features: BinnedFeatures
    weights: FloatArray


def build_training_set(
    client: Client,
    context: tuple[Roles, Files],
    tasks: Tasks,
    heads: Headcount,
    recipe: Recipe,
) -> DaskTrainingSet:
    """Compute statistics and bins, one shard of neighbouring individuals per worker.

    A shard is a pure function of the rows, so another worker can rebuild a lost one.
    """
    for _ in range(_MOST_TRIES):
        training_set = _try_to_build(client, context, tasks, heads, recipe)
        if training_set is not None:
            return training_set
    raise ClusterLostError(
        f"Training needs workers that last, but some were lost in each of {_MOST_TRIES} "
        f"attempts to compute the statistics.\n\nHint: {MORE_MEMORY}."
    )


def _try_to_build(
    client: Client,
    context: tuple[Roles, Files],
    tasks: Tasks,
    heads: Headcount,
    recipe: Recipe,
) -> DaskTrainingSet | None:
    """Compute the shards on all workers; None if one is lost meanwhile."""
    # The largest first: the same workers in another order make the same shards.
    workers = dict(sorted(client.nthreads().items(), key=lambda each: -each[1]))
    shared = share((*context, recipe), "recipe")
    groups = _group(heads.n_used, list(workers.values()))
    shards: list[Any] = []
    counts: list[int] = []
    futures: list[Any] = []
    for worker, (begin, end) in zip(workers, groups, strict=True):
        count = sum(heads.n_used[begin:end])
        if not count:
            continue
        chunks = [delayed(_compute_part)(shared, *rows) for rows in tasks[begin:end]]
        shards.append(delayed(_join)(len(shards), sum(counts), chunks))
        futures.append(_start(client, shards[-1], worker))
        counts.append(count)
    if not _wait(client, futures, set(workers)):
        return None
    _untie(client, shards)
    made = Shards.host(client, futures, counts)
    return DaskTrainingSet(made, recipe.mapper.layout, recipe.plan.basis.n_terms)


def _start(client: Client, shard: Any, worker: str) -> Any:
    """Compute a shard, with all its inputs, on one worker if possible."""
    return client.compute(
        shard, workers=[worker], allow_other_workers=True, optimize_graph=False
    )


def _wait(client: Client, futures: Sequence[Any], workers: set[str]) -> bool:
    """Wait for all shards; False if one of their workers is lost.

    Dask may let tasks wait forever for a lost worker, even if they may run elsewhere.
    """
    pending = set(futures)
    try:
        while pending:
            try:
                done = wait(list(pending), _PATIENCE, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                there = set(client.nthreads())
                if there and not workers <= there:
                    client.cancel(list(futures))
                    return False
                continue
            for future in done:
                if future.status == "error":
                    future.result()
            pending -= set(done)
    except BaseException:
        client.cancel(list(futures))
        raise
    return True


def _untie(client: Client, shards: Sequence[Any]) -> None:
    """Let lost shards be rebuilt on any worker, also on later ones."""
    keys = {key: None for shard in shards for key in shard.dask}
    scheduler: Any = client.scheduler
    client.sync(scheduler.set_restrictions, worker=keys)


def _group(n_used: Sequence[int], n_threads: Sequence[int]) -> list[tuple[int, int]]:
    """Return the parts of every worker: neighbours, in proportion to its threads."""
    ends = np.cumsum(n_used)
    middles = ends - 0.5 * np.asarray(n_used)
    shares = np.cumsum(n_threads) / sum(n_threads)
    limits = np.searchsorted(middles, shares[:-1] * ends[-1])
    return list(pairwise([0, *limits.tolist(), len(n_used)]))


def _compute_part(shared: tuple[Roles, Files, Recipe], *rows: Any) -> _Chunk | None:
    roles, files, recipe = shared
    part = load_part(roles, files, *rows)
    if part is None or not len(part):
        return None
    features = recipe.encoder.transform(part.features)
    sensors = part.sensors
    if sensors is not None:
        sensors = sensors.encode(recipe.categories)
    is_even = bool(np.all(part.weights == 1.0))
    with use_worker_threads() as n_threads:
        binned = recipe.mapper.transform(features, n_threads)
        weights = None if is_even else part.weights
        stats = recipe.plan.compute(part.events, sensors, weights)
    return _Chunk(stats, binned, part.weights)


def _join(index: int, first: int, chunks: Sequence[_Chunk | None]) -> Shard:
    """Return the parts of one worker as a shard."""
    some = [chunk for chunk in chunks if chunk is not None]
    stats = SufficientStats(
        np.concatenate([chunk.stats.linear for chunk in some]),
        np.concatenate([chunk.stats.quadratic for chunk in some]),
    )
    bins = np.concatenate([chunk.features.bins for chunk in some])
    weights = np.concatenate([chunk.weights for chunk in some])
    return Shard(index, first, stats, some[0].features.holding(bins), weights)
