"""A part of the individuals on one worker, with the boosting state of its models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from boostr._engine.binning import BinnedFeatures
from boostr._engine.cohort import average_held_out, mark_individuals
from boostr._engine.suffstats import SufficientStats
from boostr._engine.trainees import LocalTrainees
from boostr._engine.tree import Tree
from boostr._typing import BoolArray, FloatArray, IndexArray
from boostr.dask._threads import use_worker_threads

__all__ = [
    "Answer",
    "Order",
    "Shard",
    "SplitNode",
    "View",
    "apply",
    "hold_out",
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
class Order:
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


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Sums over the individuals of one or several shards."""

    histogram: FloatArray | None
    losses: FloatArray  # (2,) of all individuals and of those held out

    def __sizeof__(self) -> int:
        own = 0 if self.histogram is None else self.histogram.nbytes
        return own + self.losses.nbytes


@dataclass(slots=True, eq=False)
class _Followed:
    """The boosting state of a model, with the last request and reply."""

    trainees: LocalTrainees
    number: int = -1  # of the last order
    answer: Answer | None = None


def serve(shard: Shard, order: Order) -> Answer | None:
    """Serve a request; None if the shard lacks the earlier ones."""
    with use_worker_threads() as n_threads:
        if order.begin is not None:
            stats, features = shard.look(order.view), shard.features
            held_out = (order.begin - shard.first).astype(np.int32)
            trainees = LocalTrainees(
                stats, features, order.solver, held_out, n_threads, shard.first
            )
            shard.followed[order.model] = _Followed(trainees)
        followed = shard.followed.get(order.model)
        if followed is not None and followed.number == order.number:
            return followed.answer  # asked again, since the answer was lost on its way
        if followed is None or (
            order.begin is None and followed.number != order.number - 1
        ):
            return None
        followed.answer = _carry_out(followed.trainees, order)
        followed.number = order.number
        return followed.answer


def _carry_out(trainees: LocalTrainees, order: Order) -> Answer:
    losses = np.zeros(2)
    for tree in order.trees:
        losses[:] = trainees.add(tree)
    histogram = None
    if order.start is not None:
        share, seed, features = order.start
        trainees.start(share, seed)
        histogram = trainees.root(features).copy()
    for split in order.splits:
        pair = trainees.split(split.node, split.feature, split.goes_left, split.children)
        histogram = pair[split.side].copy()
    return Answer(histogram, losses)


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
        nobody = np.empty(0, dtype=np.int32)
        own_folds = [positions - shard.first for positions in folds]
        kept = []
        for trees, own in zip(models, own_folds, strict=True):
            part = SufficientStats(stats.linear[own], stats.quadratic[own])
            bins = features.holding(features.bins[own])
            trainees = LocalTrainees(part, bins, 0, nobody)
            for tree in trees:
                trainees.add(tree)
            kept.append(trainees.theta)
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
