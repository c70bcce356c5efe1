"""A part of the individuals on one worker, and messages to all of them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from distributed import CancelledError, Client, Future, wait

from boostr._engine.binning import BinnedFeatures
from boostr._engine.boosting import LocalBoostingState
from boostr._engine.statistics import SufficientStats
from boostr._engine.training_set import average_held_out, mark_individuals
from boostr._engine.tree import Tree
from boostr._typing import BoolArray, FloatArray, IndexArray
from boostr.dask._cluster import FAN_IN, use_worker_threads
from boostr.exceptions import ClusterLostError

__all__ = [
    "Hosts",
    "Reply",
    "Request",
    "Shard",
    "SplitNode",
    "View",
    "apply",
    "hold_out",
    "join_replies",
    "serve",
    "take",
]


@dataclass(frozen=True, slots=True)
class View:
    """Terms of the statistics that a model uses."""

    term: int | None = None  # the only one, if not all


@dataclass(slots=True, eq=False, weakref_slot=True)
class Shard:
    """Statistics and bins of neighbouring individuals, with the state of each model.

    The state follows from the shard, the trees and the splits so far; it is not pickled,
    and is rebuilt from requests.
    """

    index: int
    first: int  # position of its first individual among all
    stats: SufficientStats
    features: BinnedFeatures
    weights: FloatArray
    followed: dict[str, _Followed] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.weights)

    def __sizeof__(self) -> int:
        arrays = (self.stats.linear, self.stats.quadratic, self.features.bins, self.weights)
        return sum(array.nbytes for array in arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.index, self.first, self.stats, self.features, self.weights)
        return Shard, parts

    def mark(self) -> int:
        """Return the contribution to the fingerprint of all individuals."""
        return mark_individuals(self.stats, self.features, self.first)

    def look(self, view: View) -> SufficientStats:
        """Return the statistics with the terms that a model uses."""
        return self.stats if view.term is None else self.stats.restrict(view.term)


@dataclass(frozen=True, slots=True, eq=False)
class SplitNode:
    """A split of a node, and the child whose sums are wanted."""

    node: int
    feature: int
    goes_left: BoolArray
    children: tuple[int, int]
    side: int  # 0 for the left child, 1 for the right one


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request to all shards for one model, numbered to detect lost state.

    Usually it has the increment only, and ``begin`` is None. A restart has all trees of
    the model and all splits of the current tree.
    """

    model: str
    view: View
    solver: int
    number: int  # of orders before
    begin: IndexArray | None  # positions of the shard's that are held out
    trees: tuple[Tree, ...] = ()  # to add
    start: tuple[float, int, IndexArray] | None = None  # share, seed, features of a root
    splits: tuple[SplitNode, ...] = ()
    bins: tuple[int, int, int, int] | None = None  # node, feature, first and stop to read


@dataclass(frozen=True, slots=True, eq=False)
class Reply:
    """Sums over the individuals of one or several shards."""

    histogram: FloatArray | None
    losses: FloatArray  # (2,) of all individuals and of those held out

    def __sizeof__(self) -> int:
        own = 0 if self.histogram is None else self.histogram.nbytes
        return own + self.losses.nbytes


@dataclass(slots=True, eq=False)
class _Followed:
    """The boosting state of a model, with the last request and reply."""

    state: LocalBoostingState
    number: int = -1  # of the last request
    reply: Reply | None = None


def serve(shard: Shard, request: Request) -> Reply | None:
    """Serve a request; None if the shard lacks the earlier ones."""
    with use_worker_threads() as n_threads:
        if request.begin is not None:
            stats, features = shard.look(request.view), shard.features
            held_out = (request.begin - shard.first).astype(np.int32)
            state = LocalBoostingState(
                stats, features, request.solver, held_out, n_threads, shard.first
            )
            shard.followed[request.model] = _Followed(state)
        followed = shard.followed.get(request.model)
        if followed is not None and followed.number == request.number:
            return followed.reply  # asked again, since the reply was lost on its way
        if followed is None or (
            request.begin is None and followed.number != request.number - 1
        ):
            return None
        followed.reply = _carry_out(followed.state, request)
        followed.number = request.number
        return followed.reply


def _carry_out(state: LocalBoostingState, request: Request) -> Reply:
    losses = np.zeros(2)
    for tree in request.trees:
        losses[:] = state.add(tree)
    histogram = None
    if request.start is not None:
        share, seed, features = request.start
        state.start(share, seed)
        histogram = state.root(features).copy()
    for split in request.splits:
        pair = state.split(split.node, split.feature, split.goes_left, split.children)
        histogram = pair[split.side].copy()
    if request.bins is not None:
        histogram = state.read_bins(*request.bins)
    return Reply(histogram, losses)


def hold_out(
    shard: Shard,
    view: View,
    models: Sequence[Sequence[Tree]],
    folds: Sequence[IndexArray],
) -> FloatArray:
    """Return the mean coefficients over the models that held individuals out.

    ``folds`` has the positions that each model held out.
    """
    with use_worker_threads():
        stats, features = shard.look(view), shard.features
        none = np.empty(0, dtype=np.int32)
        own_folds = [positions - shard.first for positions in folds]
        kept = []
        for trees, own in zip(models, own_folds, strict=True):
            part = SufficientStats(stats.linear[own], stats.quadratic[own])
            bins = features.holding(features.bins[own])
            state = LocalBoostingState(part, bins, 0, none)
            for tree in trees:
                state.add(tree)
            kept.append(state.theta)
        return average_held_out(stats.linear.shape, kept, own_folds)


def apply(shard: Shard, function: Callable[..., Any], view: View, *rows: FloatArray) -> Any:
    """Return the result of a function of statistics and rows of the same individuals."""
    with use_worker_threads():
        return function(shard.look(view), *rows)


def take(shard: Shard, view: View, positions: IndexArray) -> Shard:
    """Return the individuals at given positions."""
    own = positions - shard.first
    stats, features = shard.look(view), shard.features
    return replace(
        shard,
        stats=SufficientStats(stats.linear[own], stats.quadratic[own]),
        features=features.holding(features.bins[own]),
        weights=shard.weights[own],
        followed={},
    )


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

    def ask(self, request: Request, begins: Begins | None) -> Any:
        """Send a request; return the future reply."""
        return self.host.serve(request, self.choose(begins), self.members)


class Host:
    """A shard as a Dask actor, which replies directly, without the scheduler.

    Methods are coroutines and kernels run in threads, so that hosts can wait for each
    other without blocking.
    """

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    async def serve(
        self, request: Request, begins: Begins | None, members: Sequence[_Node]
    ) -> Reply | None:
        """Serve a request and pass it on; return the sum of all replies."""
        others = [member.ask(request, begins) for member in members]
        if begins is not None:
            request = replace(request, begin=begins[self._shard.index])
        own = await asyncio.to_thread(serve, self._shard, request)
        return join_replies([own, *[await other for other in others]])

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

    def ask(self, request: Request, begins: Begins | None) -> Reply | None:
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
                coming = [head.ask(request, begins) for head in heads]
                return join_replies([reply.result() for reply in coming])
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
            # Of a lost one, Dask says so at once or never replies: it is not waited for.
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


def join_replies(replies: Sequence[Reply | None]) -> Reply | None:
    """Return the sum of replies in their order; None if any is missing."""
    known = [reply for reply in replies if reply is not None]
    if len(known) < len(replies):
        return None
    losses = np.sum([reply.losses for reply in known], axis=0)
    histograms = [reply.histogram for reply in known if reply.histogram is not None]
    return Reply(sum(histograms[1:], histograms[0]) if histograms else None, losses)
