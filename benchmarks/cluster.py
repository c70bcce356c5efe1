"""Boosting on two worker processes against boosting on two threads, and how both grow.

    python -m benchmarks.cluster
    python -m benchmarks.cluster --individuals 200000 --trees 10 --repetitions 1

Statistics and bins are made where they stay, so that reading is not timed. Traffic is what
the machine has sent to itself by the counters of Dask's monitor, which see everything: run
this alone. Weak scaling is measured with Dask as it comes, and with less housekeeping:
where every core computes, what Dask does beside that is taken from training.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks._timing import alternate, format_table, median_ratio, record, time_once
from boostr._engine.binning import BinMapper
from boostr._engine.boosting import BoostingParams
from boostr._engine.selection import Task, grow
from boostr._engine.statistics import SufficientStats
from boostr._engine.training_set import LocalTrainingSet, TrainingSet
from boostr._engine.tree import GrowthParams
from boostr._training.inputs import TrainingData
from boostr._training.settings import Settings
from boostr._training.statistics import Plan, plan_statistics
from boostr._training.summary import DataSummary
from boostr._typing import FloatArray
from boostr.basis import PowerBasis
from boostr.data import RecurrentEvents
from boostr.estimators import BoostR

N_LEAVES = 8
MEAN_EVENTS = 5.0
AS_IT_COMES: dict[str, Any] = {}
LESS_HOUSEKEEPING: dict[str, Any] = {  # as docs/large.md has it
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.worker.profile.enabled": False,
}


@dataclass(frozen=True)
class Recipe:
    """Where bins and functions lie."""

    plan: Plan
    mapper: BinMapper
    n_features: int

    @classmethod
    def draw(cls, n_features: int, n_terms: int = 2) -> Recipe:
        features, events = draw_part(0, 20_000, n_features)
        everybody = np.ones(len(events), dtype=np.bool_)
        data = TrainingData(features, events, np.ones(len(events)), None, everybody)
        exponents = tuple(1.0 + 0.5 * term for term in range(n_terms))
        settings = Settings(**BoostR(leaf=PowerBasis(exponents)).get_params(deep=False))
        plan = plan_statistics(
            settings, data, data, DataSummary.of(events, np.ones(len(events)))
        )
        return cls(plan, BinMapper.from_quantiles(features, 255), n_features)

    def compute(self, part: int, n: int) -> LocalTrainingSet:
        features, events = draw_part(part, n, self.n_features)
        stats = self.plan.compute(events, None)
        return LocalTrainingSet(stats, self.mapper.transform(features), np.ones(n))


def draw_part(part: int, n: int, n_features: int) -> tuple[FloatArray, RecurrentEvents]:
    rng = np.random.default_rng([7, part])
    features = rng.random((n, n_features))
    rate = MEAN_EVENTS * (0.5 + features[:, 0]) * np.where(features[:, 1] > 0.5, 1.5, 0.5)
    counts = rng.poisson(rate)
    owner = np.repeat(np.arange(n), counts)
    times = rng.random(owner.size)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    order = np.lexsort((times, owner))
    return features, RecurrentEvents.from_flat(times[order], offsets, end=np.ones(n))


def make_shard(index: int, n: int, recipe: Recipe) -> Any:
    from boostr.dask._shard import Shard

    own = recipe.compute(index, n)
    return Shard(index, index * n, own.stats, own.features, own.weights)


def spread(client: Any, recipe: Recipe, n_each: int) -> TrainingSet:
    """Make one shard on every worker."""
    from distributed import wait

    from boostr.dask._boosting_state import Shards
    from boostr.dask._shards import DaskTrainingSet

    workers = list(client.nthreads())
    futures = [
        client.submit(make_shard, index, n_each, recipe, workers=[worker], pure=False)
        for index, worker in enumerate(workers)
    ]
    wait(futures)
    shards = Shards.host(client, tuple(futures), (n_each,) * len(workers))
    return DaskTrainingSet(shards, recipe.mapper.layout, recipe.plan.basis.n_terms)


def gather(recipe: Recipe, n_each: int, n_parts: int) -> LocalTrainingSet:
    """Make the same individuals here."""
    parts = [recipe.compute(part, n_each) for part in range(n_parts)]
    bins = np.concatenate([part.features.bins for part in parts])
    return LocalTrainingSet(
        SufficientStats(
            np.concatenate([part.stats.linear for part in parts]),
            np.concatenate([part.stats.quadratic for part in parts]),
        ),
        recipe.mapper.layout.holding(bins),
        np.ones(len(bins)),
    )


def make_task(
    recipe: Recipe, training_set: TrainingSet, n_trees: int, n_threads: int
) -> Task:
    growth = GrowthParams(max_leaves=N_LEAVES, min_samples_leaf=20)
    params = BoostingParams(growth=growth, learning_rate=0.1)
    problem = recipe.plan.state_problem(lambda summand: ())
    return Task(training_set, problem, params, n_trees, n_threads, lambda *report: None)


def boost(task: Task) -> Any:
    return grow(task, task.params.growth, task.n_rounds, "trees")[0]


def warm_up(task: Task) -> None:
    """Load all kernels."""
    boost(replace(task, n_rounds=2))


def count_bytes(client: Any) -> int:
    """Return what the machine has received so far, as the workers' monitors know it.

    Workers are on one machine, and so read the same counters: one of them is asked.
    """

    def read(dask_worker: Any) -> int:
        monitor = dask_worker.monitor
        monitor.update()
        return int(monitor._last_net_io_counters.bytes_recv)

    return int(max(client.run(read).values()))


def measure_traffic(client: Any, task: Task) -> float:
    """Return the bytes that workers send for one tree."""
    before = count_bytes(client)
    boost(task)
    return (count_bytes(client) - before) / task.n_rounds


def start(n_workers: int) -> Any:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
    )
    return Client(cluster, direct_to_workers=True)


def compare(recipe: Recipe, n: int, n_trees: int, repetitions: int) -> list[list[str]]:
    """Time two workers against two threads on the same individuals."""
    with start(2) as client:
        there = make_task(recipe, spread(client, recipe, n // 2), n_trees, 1)
        here = make_task(recipe, gather(recipe, n // 2, 2), n_trees, 2)
        warm_up(there)
        warm_up(here)
        seconds = alternate(
            {"cluster": partial(boost, there), "local": partial(boost, here)}, repetitions
        )
        traffic = measure_traffic(client, replace(there, n_rounds=5))
        gap = max(
            float(np.abs(one.nodes.value - other.nodes.value).max())
            for one, other in zip(boost(there), boost(here), strict=True)
        )
        client.cluster.close()
    ratio = median_ratio(seconds["cluster"], seconds["local"])
    record(
        "cluster.jsonl",
        n=n,
        n_trees=n_trees,
        seconds=seconds,
        ratio=ratio,
        traffic=traffic,
        gap=gap,
    )
    shown = [f"{np.median(seconds[name]):.1f}" for name in ("cluster", "local")]
    row = [f"{n:,}", *shown, f"{ratio:.2f}", f"{traffic / 1e6:.2f}", f"{gap:.0e}"]
    print("; ".join(row), flush=True)
    return [row]


def scale_weakly(
    recipe: Recipe, n: int, n_trees: int, repetitions: int, settings: dict[str, Any]
) -> list[str]:
    """Time one worker against two with twice the individuals."""
    import dask

    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repetitions):
        for n_workers, known in seconds.items():
            with dask.config.set(settings), start(n_workers) as client:
                task = make_task(recipe, spread(client, recipe, n), n_trees, 1)
                warm_up(task)
                known.append(time_once(partial(boost, task)))
                client.cluster.close()
    efficiency = median_ratio(seconds[1], seconds[2])
    sizes = {"n_each": n, "n_trees": n_trees, "settings": settings}
    record("cluster.jsonl", **sizes, seconds=seconds, weak=efficiency)
    shown = [f"{np.median(each):.1f}" for each in seconds.values()]
    return [f"{n:,}", *shown, f"{efficiency:.1%}"]


def measure_growth(n: int, n_trees: int, repetitions: int) -> list[list[str]]:
    """Time one thread with more of one thing at a time: individuals, features, terms."""
    base = {"n": n, "p": 20, "P": 2}
    varied = {
        "n": [n // 4, n // 2, n, 2 * n],
        "p": [5, 10, 20, 40],
        "P": [1, 2, 3, 4],
    }
    rows = []
    for name, values in varied.items():
        for value in values:
            size = base | {name: value}
            recipe = Recipe.draw(size["p"], size["P"])
            training_set = gather(recipe, size["n"], 1)
            task = make_task(recipe, training_set, n_trees, 1)
            warm_up(task)
            seconds = alternate({"one": partial(boost, task)}, repetitions)["one"]
            per_tree = float(np.median(seconds)) / n_trees
            record("cluster.jsonl", varied=name, **size, seconds_per_tree=per_tree)
            rows.append([name, *(f"{size[key]:,}" for key in size), f"{per_tree:.3f}"])
            print("; ".join(rows[-1]), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--individuals", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--only", choices=["compare", "weak", "growth"])
    parser.add_argument("--quick", action="store_true", help="proves that it runs")
    asked = parser.parse_args()
    if asked.quick:
        asked.individuals, asked.trees, asked.repetitions = 8_000, 5, 1
    recipe = Recipe.draw(asked.features)
    n, n_trees = asked.individuals, asked.trees
    if asked.only in {None, "compare"}:
        rows = []
        for size in (n // 4, n // 2, n):
            rows += compare(recipe, size, n_trees, asked.repetitions)
        header = ["individuals", "two workers, s", "two threads, s", "ratio"]
        print(format_table([*header, "MB sent a tree", "largest gap of a value"], rows))
    if asked.only in {None, "weak"}:
        rows = [
            [name, *scale_weakly(recipe, n // 2, n_trees, asked.repetitions, settings)]
            for name, settings in {
                "Dask as it comes": AS_IT_COMES,
                "less housekeeping": LESS_HOUSEKEEPING,
            }.items()
        ]
        header = ["settings", "individuals a worker", "one worker, s", "two workers, s"]
        print(format_table([*header, "efficiency"], rows))
    if asked.only in {None, "growth"}:
        rows = measure_growth(n // 4, max(2, n_trees // 5), asked.repetitions)
        print(format_table(["varied", "n", "p", "P", "seconds a tree"], rows))


if __name__ == "__main__":
    main()
