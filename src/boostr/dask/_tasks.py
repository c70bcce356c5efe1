"""Tasks on the cluster; the first error cancels all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from dask.base import compute
from dask.delayed import delayed
from distributed import Client, as_completed, default_client

from boostr.exceptions import InvalidParameterError

__all__ = [
    "FAN_IN",
    "find_client",
    "gather",
    "reduce_tree",
    "share",
]

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
