"""Kernels compiled once per machine, before its workers need them at the same time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from distributed import wait

from boostr.dask._threads import use_worker_threads
from boostr.data import RecurrentEvents, Trajectories
from boostr.estimators import BoostR

__all__ = ["choose_one_per_host", "compile_once"]

_DONE: set[bool] = set()  # kinds of models that this process has kernels for
_PATIENCE = 600.0  # seconds; kernels of a slow machine take a few minutes
_GLANCE = 1.0  # seconds between looks at who is there


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
            wait(waiting, timeout=_GLANCE)
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
    """Fit a model to a dozen individuals, which runs all kernels of a large fit."""
    if has_sensors in _DONE:
        return
    n = 12
    ids = [f"{place:02d}" for place in range(n)]
    events = RecurrentEvents.from_lists(
        [[1.0 + place] for place in range(n)], 20.0, ids=ids
    )
    sensors = None
    if has_sensors:
        values = [[float(place % 5) for place in range(2 * n)]]
        offsets = list(range(0, 2 * n + 1, 2))
        sensors = Trajectories.from_flat(
            [0.0, 9.0] * n, offsets, values, ["sensor"], ids=ids
        )
    features = [[float(place), float(place % 3)] for place in range(n)]
    with use_worker_threads() as n_threads:
        model = BoostR(n_estimators=2, min_samples_leaf=2, n_jobs=n_threads, random_state=0)
        model.fit(features, events, sensors)
    _DONE.add(has_sensors)
