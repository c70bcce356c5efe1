"""Boosting state of one model, spread over many workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Client, Future

from boostr._engine.tree import Tree
from boostr._typing import BoolArray, FloatArray, IndexArray
from boostr.dask._cluster import MORE_MEMORY
from boostr.dask._shard import Hosts, Reply, Request, Shard, SplitNode, View
from boostr.exceptions import ClusterLostError

__all__ = ["Shards", "SharedBoostingState"]

_MOST_REPEATS = 6  # of an request, each after a loss

Start = tuple[float, int, IndexArray]  # share, seed and features of a root


@dataclass(frozen=True, slots=True, eq=False)
class Shards:
    """Futures of all shards, in request, with the number of individuals in each."""

    client: Client
    futures: tuple[Future[Shard], ...]
    counts: tuple[int, ...]
    hosts: Hosts

    @classmethod
    def host(
        cls, client: Client, futures: Sequence[Future[Shard]], counts: Sequence[int]
    ) -> Shards:
        """Return the shards, each with a host."""
        return cls(client, tuple(futures), tuple(counts), Hosts(client, tuple(futures)))

    @property
    def firsts(self) -> list[int]:
        """Position of the first individual of every shard, and the number of all."""
        return [0, *np.cumsum(self.counts).tolist()]

    def submit(self, function: Any, *arguments: Sequence[Any]) -> list[Future[Any]]:
        """Run a function on every shard, with one value of each argument per shard."""
        return [
            self.client.submit(function, shard, *own, pure=False)
            for shard, *own in zip(self.futures, *arguments, strict=True)
        ]


class SharedBoostingState:
    """Individuals on the workers; requests go out, sums over them come back.

    Shards are summed in a fixed order, so that runs agree to the bit. If a rebuilt shard
    lacks the model, all shards restart with the trees so far.
    """

    def __init__(
        self, shards: Shards, view: View, solver: int, held_out: IndexArray, model: str
    ) -> None:
        self._shards = shards
        self._held_out = held_out
        self._first_request = Request(model, view, solver, 0, None)
        self._number = -1  # of the last request
        self._trees: list[Tree] = []
        self._start: Start | None = None
        self._splits: list[SplitNode] = []
        self._next_share = (1.0, 0)
        self._histograms: dict[int, FloatArray] = {}
        self._root: FloatArray | None = None  # of the next tree, if it was asked for early
        self._is_guessing = True  # that the next tree begins with the same features
        self._slots: dict[int, int] = {}  # of the features in histograms

    def start(self, share: float, seed: int) -> None:
        """Set the share and seed of the individuals that the next tree is grown on."""
        self._next_share = share, seed

    def read_root(self, features: IndexArray, max_leaves: int) -> None:
        """Return None: the individuals are elsewhere."""

    def root(self, features: IndexArray) -> FloatArray:
        """Return the root's sums."""
        if self._root is None or not self._is_as_before(features):
            self._is_guessing = self._root is None
            self._start = (*self._next_share, features)
            self._splits = []
            self._root = self._ask(start=self._start).histogram
        assert self._root is not None  # noqa: S101 - it was asked for
        self._slots = {int(feature): slot for slot, feature in enumerate(features)}
        self._histograms = {0: self._root}
        self._root = None
        return self._histograms[0]

    def read_bins(self, node: int, feature: int, first: int, stop: int) -> FloatArray:
        """Return a node's sums in some bins of a feature, see `HistogramSource`."""
        sums = self._ask(bins=(node, feature, first, stop)).histogram
        assert sums is not None  # noqa: S101 - it was asked for
        return sums

    def split(
        self, node: int, feature: int, goes_left: BoolArray, children: tuple[int, int]
    ) -> tuple[FloatArray, FloatArray]:
        """Split a node; sum over the smaller child and subtract for its sibling."""
        parent = self._histograms.pop(node)
        counts = parent[self._slots[feature], :, -1]
        side = int(2.0 * counts[goes_left].sum() > counts.sum())
        split = SplitNode(node, feature, goes_left, children, side)
        self._splits.append(split)
        smaller = self._ask(splits=(split,)).histogram
        assert smaller is not None  # noqa: S101 - it was asked for
        pair = (smaller, parent - smaller) if side == 0 else (parent - smaller, smaller)
        self._histograms[children[0]], self._histograms[children[1]] = pair
        return pair

    def add(self, tree: Tree) -> tuple[float, float]:
        """Add a tree; request the next root as well if it begins like this one."""
        self._trees.append(tree)
        self._splits = []
        if self._start is not None and (self._start[0] < 1.0 or not self._is_guessing):
            self._start = None
        reply = self._ask(trees=(tree,), start=self._start)
        self._root = reply.histogram
        return float(reply.losses[0]), float(reply.losses[1])

    def keep(self, coefficients: FloatArray | None) -> None:
        """Do nothing: the coefficients for any number of trees can be computed later."""

    def forget(self) -> None:
        """Let the workers drop the model."""
        self._shards.hosts.forget(self._first_request.model)

    def _is_as_before(self, features: IndexArray) -> bool:
        if self._start is None:
            return False
        share, _, known = self._start
        return share == self._next_share[0] == 1.0 and np.array_equal(features, known)

    def _ask(
        self,
        trees: tuple[Tree, ...] = (),
        start: Start | None = None,
        splits: tuple[SplitNode, ...] = (),
        bins: tuple[int, int, int, int] | None = None,
    ) -> Reply:
        """Send the increment; if a worker lost its state, resend everything."""
        self._number += 1
        request = replace(self._first_request, number=self._number, bins=bins)
        reply = None
        if self._number > 0:
            reply = self._send(replace(request, trees=trees, start=start, splits=splits))
        splits = tuple(self._splits)
        whole = replace(request, trees=tuple(self._trees), start=self._start, splits=splits)
        for _ in range(_MOST_REPEATS):
            if reply is not None:
                return reply
            reply = self._send(whole, self._held_out)
        if reply is None:
            raise ClusterLostError(
                f"Workers were lost {_MOST_REPEATS} times in a row at the same step.\n\n"
                f"Hint: {MORE_MEMORY}; see whether client and workers reach each other; "
                "fit(..., checkpoint=file) keeps the trees so far."
            )
        return reply

    def _send(self, request: Request, held_out: IndexArray | None = None) -> Reply | None:
        """Send a request to all shards; with ``held_out`` they restart."""
        begins = None
        if held_out is not None:
            ends = np.searchsorted(held_out, self._shards.firsts)
            parts = [held_out[begin:end] for begin, end in pairwise(ends)]
            begins = dict(enumerate(parts))
        return self._shards.hosts.ask(request, begins)
