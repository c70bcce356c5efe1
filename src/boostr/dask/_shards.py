"""Statistics and bins from rows; they stay on the workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from dask.delayed import delayed
from distributed import Client, wait

from boostr._engine.binning import BinMapper, BinnedFeatures
from boostr._engine.suffstats import SufficientStats
from boostr._typing import FloatArray
from boostr.dask._cohort import DaskCohort
from boostr.dask._parts import Files, Roles, load_part
from boostr.dask._shard import Shard
from boostr.dask._survey import Headcount, Tasks
from boostr.dask._tasks import share
from boostr.dask._threads import use_worker_threads
from boostr.dask._trainees import Shards
from boostr.dask._watch import MORE_MEMORY
from boostr.estimators._features import FeatureEncoder
from boostr.estimators._statistics import Plan
from boostr.exceptions import ClusterLostError

__all__ = ["Recipe", "build_cohort"]

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


def build_cohort(
    client: Client,
    context: tuple[Roles, Files],
    tasks: Tasks,
    heads: Headcount,
    recipe: Recipe,
) -> DaskCohort:
    """Compute statistics and bins, one shard of neighbouring individuals per worker.

    A shard is a pure function of the rows, so another worker can rebuild a lost one.
    """
    for _ in range(_MOST_TRIES):
        cohort = _try_to_build(client, context, tasks, heads, recipe)
        if cohort is not None:
            return cohort
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
) -> DaskCohort | None:
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
    return DaskCohort(made, recipe.mapper.layout, recipe.plan.basis.n_terms)


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
