"""Tasks, threads, memory and compiled kernels of a cluster's workers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Event, RLock, Thread
from typing import Any
from uuid import uuid4

import numba
from dask.base import compute
from dask.delayed import delayed
from distributed import Client, KilledWorker, as_completed, default_client, get_worker, wait
from threadpoolctl import ThreadpoolController

from boostr._training.dozen import draw_dozen
from boostr._training.run import use_threads
from boostr.estimators import BoostR
from boostr.exceptions import ClusterLostError, InvalidParameterError

__all__ = [
    "FAN_IN",
    "MORE_MEMORY",
    "choose_one_per_host",
    "compile_once",
    "find_client",
    "gather",
    "reduce_tree",
    "share",
    "use_worker_threads",
    "watch_workers",
]

# Numba's threads take one caller at a time, and two callers would share the same cores.
_KERNELS = RLock()


@contextmanager
def use_worker_threads() -> Iterator[int]:
    """Run kernels on all threads of this worker; yield their number.

    Tasks of a worker take turns here, so they never use more threads than it has,
    whatever the number of cores. Linear algebra runs on one.
    """
    with (
        _KERNELS,
        use_threads(_count_threads()) as n_threads,
        _find_libraries().limit(limits=1, user_api="blas"),
    ):
        yield n_threads


@cache
def _find_libraries() -> ThreadpoolController:
    """Return the linear algebra libraries; cached, as it takes milliseconds."""
    return ThreadpoolController()


def _count_threads() -> int:
    try:
        n_threads = int(get_worker().state.nthreads)
    except ValueError:  # not inside of a worker: a scheduler of threads, or none
        return int(numba.get_num_threads())
    return n_threads


FAN_IN = 16  # results that are put together at a time


def find_client(client: Client | None) -> Client:
    """Return the given client, or the current one."""
    if client is not None:
        return client
    try:
        return default_client()
    except ValueError as error:
        raise InvalidParameterError(
            "Training on a cluster needs a Dask client, but there is none.\n\n"
            "Hint: client = distributed.Client() starts workers on this machine, "
            "Client('tcp://scheduler:8786') joins a cluster."
        ) from error


def share(value: Any, name: str) -> Any:
    """Return a value needed by many tasks as a task, so that it is sent once.

    As a part of the graph it cannot be lost.
    """
    return delayed(value, name=f"boostr-{name}-{uuid4().hex}", traverse=False)


def gather(client: Client | None, tasks: Sequence[Any]) -> list[Any]:
    """Return the results of tasks in order; the first error cancels the others.

    Without a client, Dask's default scheduler computes them.
    """
    if client is None:
        return list(compute(*tasks))
    futures = client.compute(list(tasks), optimize_graph=False)
    try:
        for future in as_completed(futures):
            if future.status == "error":
                future.result()
    except BaseException:
        client.cancel(list(futures))
        raise
    return list(client.gather(futures))


def reduce_tree(join: Callable[[Sequence[Any]], Any], tasks: Sequence[Any]) -> Any:
    """Return a task that merges the results of tasks, a few neighbours at a time."""
    level = list(tasks)
    while len(level) > 1:
        level = [
            delayed(join)(level[first : first + FAN_IN])
            for first in range(0, len(level), FAN_IN)
        ]
    return level[0]


_LOGGER = logging.getLogger(__name__)
_GLANCE = 5.0  # seconds between looks at the workers
_GIGABYTE = 1e9

MORE_MEMORY = (
    "give every worker more memory or fewer threads, as in LocalCluster(n_workers=2, "
    "threads_per_worker=1, memory_limit='8GB'), add workers, or write tables in smaller "
    "partitions or row groups"
)


@contextmanager
def watch_workers(client: Client) -> Iterator[None]:
    """Log workers that pause for lack of memory; explain errors of killed ones."""
    is_done = Event()
    # Beside the work: whatever waits for a worker need not know about this.
    Thread(target=_look, args=(client, is_done), name="boostr-watch", daemon=True).start()
    try:
        yield
    except KilledWorker as error:
        raise ClusterLostError(
            f"Training needs workers that last, but {error.allowed_failures + 1} in a row "
            "ended while they did the same work, most often for lack of memory; the last "
            f"one was {error.last_worker.address}.\n\n"
            f"Hint: {MORE_MEMORY}; the log of the worker says why it ended."
        ) from error
    finally:
        is_done.set()


def _look(client: Client, is_done: Event) -> None:
    """Log every paused worker, once per pause, until the work is done."""
    known: set[str] = set()
    while not is_done.wait(_GLANCE):
        try:
            workers = client.scheduler_info(n_workers=-1)["workers"]
        except Exception:  # the caller reports what is lost
            return
        paused = {name for name in workers if workers[name].get("status") == "paused"}
        for name in sorted(paused - known):
            _LOGGER.warning(
                "Worker %s has paused, as its memory is nearly full (%s); it takes up no "
                "work, and training waits for it, until some is free. Hint: %s.",
                name,
                _describe_memory(workers[name]),
                MORE_MEMORY,
            )
        known = paused


def _describe_memory(worker: dict[str, Any]) -> str:
    used = worker.get("metrics", {}).get("memory") or 0
    limit = worker.get("memory_limit") or 0
    return f"{used / _GIGABYTE:.1f} of {limit / _GIGABYTE:.1f} GB"


_DONE: set[bool] = set()  # kinds of models that this process has kernels for
_PATIENCE = 600.0  # seconds; kernels of a slow machine take a few minutes
_PAUSE = 1.0  # seconds between looks at the workers


def compile_once(client: Any, *, has_sensors: bool) -> list[str]:
    """Let one worker per machine compile the kernels; return these workers.

    Numba's cache on disk serves the other workers of the machine. A lost or slow worker
    is not waited for: without this, a fit is only slower.
    """
    chosen = choose_one_per_host(client.scheduler_info(n_workers=-1)["workers"])
    waiting = [
        client.submit(
            _warm_up, has_sensors, workers=[worker], allow_other_workers=True, pure=False
        )
        for worker in chosen
    ]
    _wait(client, waiting, set(chosen))
    return chosen


def _wait(client: Any, waiting: Sequence[Any], chosen: set[str]) -> None:
    """Wait until the kernels are compiled, a worker is lost or it takes too long."""
    last = time.monotonic() + _PATIENCE
    while time.monotonic() < last:
        try:
            wait(waiting, timeout=_PAUSE)
        except TimeoutError:
            # Dask may let a task wait for ever for a worker of its own that was lost.
            if chosen <= set(client.nthreads()):
                continue
            break
        client.gather(waiting)  # raises what a worker has raised
        return
    client.cancel(waiting)


def choose_one_per_host(workers: Iterable[str] | dict[str, Any]) -> list[str]:
    """Return one worker address per machine, the first in order."""
    hosts: dict[str, str] = {}
    for address in sorted(workers):
        host = address.rsplit(":", maxsplit=1)[0]
        hosts.setdefault(host, address)
    return list(hosts.values())


def _warm_up(has_sensors: bool) -> None:
    """Fit a model to a dozen individuals, node by node as shards are, with all kernels."""
    if has_sensors in _DONE:
        return
    features, events, sensors = draw_dozen(has_sensors=has_sensors)
    with use_worker_threads() as n_threads:
        model = BoostR(
            n_estimators=2,
            growth="level",
            min_samples_leaf=2,
            n_jobs=n_threads,
            random_state=0,
        )
        model.fit(features, events, sensors)
    _DONE.add(has_sensors)
