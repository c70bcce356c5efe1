"""Direct messages to shards in a tree: requests go down, sums come up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from distributed import CancelledError, Client, Future, wait

from boostr._typing import IndexArray
from boostr.dask._shard import Answer, Order, Shard, serve
from boostr.dask._tasks import FAN_IN
from boostr.exceptions import ClusterLostError

__all__ = ["Hosts", "join_answers"]

_LOGGER = logging.getLogger(__name__)

Begins = Mapping[int, IndexArray]  # positions that are held out, by shard


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A host and the hosts to which it passes requests on."""

    index: int  # of its shard
    host: Any
    members: tuple[_Node, ...] = ()

    def choose(self, begins: Begins | None) -> Begins | None:
        """Return the held-out positions of this host and its members."""
        if begins is None:
            return None
        return {index: begins[index] for index in self._list_indices()}

    def _list_indices(self) -> list[int]:
        return [self.index, *(i for each in self.members for i in each._list_indices())]

    def ask(self, order: Order, begins: Begins | None) -> Any:
        """Send a request; return the future reply."""
        return self.host.serve(order, self.choose(begins), self.members)


class Host:
    """A shard as a Dask actor, which replies directly, without the scheduler.

    Methods are coroutines and kernels run in threads, so that hosts can wait for each
    other without blocking.
    """

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    async def serve(
        self, order: Order, begins: Begins | None, members: Sequence[_Node]
    ) -> Answer | None:
        """Serve a request and pass it on; return the sum of all replies."""
        others = [member.ask(order, begins) for member in members]
        if begins is not None:
            order = replace(order, begin=begins[self._shard.index])
        own = await asyncio.to_thread(serve, self._shard, order)
        return join_answers([own, *[await other for other in others]])

    async def forget(self, model: str) -> None:
        """Drop a model."""
        self._shard.followed.pop(model, None)


class Hosts:
    """The hosts of all shards, and the tree in which requests are passed on."""

    def __init__(self, client: Client, shards: Sequence[Future[Shard]]) -> None:
        self._client = client
        self._shards = shards
        self._lock = Lock()  # models are grown beside each other
        self._n_calls = 0  # of new hosts, so that one loss is mended once
        self._futures: list[Future[Any]] = []
        self._heads: Sequence[_Node] = ()

    def ask(self, order: Order, begins: Begins | None) -> Answer | None:
        """Send a request to all shards; return the sum of replies in a fixed order.

        None if a shard lacks the earlier requests or a worker was lost, whose shards are
        then rebuilt elsewhere.
        """
        n_calls = self._n_calls
        try:
            with self._client.as_current():  # hosts bind to it; threads know the default
                with self._lock:
                    if not self._heads:
                        self._call_hosts()
                    n_calls, heads = self._n_calls, self._heads
                coming = [head.ask(order, begins) for head in heads]
                return join_answers([answer.result() for answer in coming])
        except CancelledError as error:
            raise ClusterLostError(
                "Training needs its cluster, but that is gone.\n\n"
                "Hint: fit(..., checkpoint=file) keeps the trees so far, and goes on from "
                "there on another cluster."
            ) from error
        except (OSError, RuntimeError, KeyError) as error:
            is_lost = isinstance(error, OSError) or self._has_lost_some()
            with self._lock:
                if not is_lost and n_calls == self._n_calls:
                    raise
                if n_calls == self._n_calls:
                    self._heads = ()
            _LOGGER.warning("A worker was lost; its individuals are made again: %s", error)
            return None

    def forget(self, model: str) -> None:
        """Let all hosts drop a model; lost hosts have nothing to drop."""
        with self._lock:
            nodes = _list_nodes(self._heads)
        for node in nodes:
            # Of a lost one, Dask says so at once or never answers: nobody waits for it.
            with contextlib.suppress(RuntimeError):
                node.host.forget(model)

    def _has_lost_some(self) -> bool:
        return any(future.status != "finished" for future in self._futures)

    def _call_hosts(self) -> None:
        """Start a host beside every shard; lost shards are rebuilt first."""
        self._n_calls += 1
        # Earlier ones go first: workers with fewer actors would get the new ones.
        self._heads, self._futures = (), []
        wait(self._shards)
        owners = self._client.who_has(self._shards)
        self._futures = [self._host(shard, owners[shard.key]) for shard in self._shards]
        level = [
            _Node(index, future.result()) for index, future in enumerate(self._futures)
        ]
        while len(level) > FAN_IN:
            level = [
                replace(level[first], members=_join_members(level, first))
                for first in range(0, len(level), FAN_IN)
            ]
        self._heads = level

    def _host(self, shard: Future[Shard], owners: Sequence[str]) -> Future[Any]:
        """Start a host on the worker of its shard, or anywhere if that was just lost."""
        places = {"workers": list(owners), "allow_other_workers": True} if owners else {}
        return self._client.submit(Host, shard, actor=True, pure=False, **places)


def _join_members(level: Sequence[_Node], first: int) -> tuple[_Node, ...]:
    """Return the members of a new head: its own, and its neighbours."""
    return (*level[first].members, *level[first + 1 : first + FAN_IN])


def _list_nodes(nodes: Sequence[_Node]) -> list[_Node]:
    return [each for node in nodes for each in (node, *_list_nodes(node.members))]


def join_answers(answers: Sequence[Answer | None]) -> Answer | None:
    """Return the sum of replies in their order; None if any is missing."""
    known = [answer for answer in answers if answer is not None]
    if len(known) < len(answers):
        return None
    losses = np.sum([answer.losses for answer in known], axis=0)
    histograms = [answer.histogram for answer in known if answer.histogram is not None]
    return Answer(sum(histograms[1:], histograms[0]) if histograms else None, losses)
