"""Warnings of workers that run out of memory."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from distributed import Client, KilledWorker

from boostr.exceptions import ClusterLostError

__all__ = ["MORE_MEMORY", "watch_workers"]

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
        except Exception:  # whoever waits for the cluster says what is lost
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
