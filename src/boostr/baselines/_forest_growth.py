"""Growth of a random forest on the engine's statistics, bins and trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from boostr._engine.binning import BinnedFeatures
from boostr._engine.penalty import time_problem
from boostr._engine.statistics import SufficientStats, compute_suffstats, put_on_clock
from boostr._engine.tree import GrowthParams, LeafProblem, Tree, grow_tree, pack_trees
from boostr._kernels.apply import Nodes, find_leaves
from boostr._kernels.binning import partition_members
from boostr._kernels.histogram import accumulate_histograms
from boostr._typing import AnyArray, BinArray, BoolArray, FloatArray, IndexArray
from boostr.basis import CalendarClock, Clock, OperationalClock, PowerBasis
from boostr.data import RecurrentEvents

__all__ = ["Forest", "ForestParams", "grow_forest", "map_threads"]

_GAMMA2 = 1e-6  # imaginary individuals in a leaf: enough not to divide by zero

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestParams:
    """Growth parameters of a forest."""

    n_trees: int
    n_drawn: int  # features that a node may split on
    min_samples_leaf: int
    bootstrap: bool
    seed: int
    n_threads: int  # the forest does not depend on it


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """All trees, and the number of times each individual was drawn for each."""

    trees: tuple[Tree, ...]
    nodes: Nodes
    roots: IndexArray  # (n_trees,)
    n_draws: AnyArray  # (n, n_trees) int32

    def find_leaves(self, features: BinnedFeatures) -> IndexArray:
        """Return each individual's leaf in each tree, as a node of the whole forest."""
        leaves = np.empty((len(self.roots), len(features.bins)), dtype=np.int32)
        for root, row in zip(self.roots, leaves, strict=True):
            find_leaves(features.bins, features.missing_bin, self.nodes, root, row)
        return leaves.T

    def find_leaves_of(
        self, tree: int, bins: BinArray, missing_bin: int, out: IndexArray
    ) -> None:
        """Write each individual's leaf in one tree into its column."""
        leaves = np.empty(len(bins), dtype=np.int32)
        find_leaves(bins, missing_bin, self.nodes, self.roots[tree], leaves)
        out[:, tree] = leaves

    def sum_gains(self, n_features: int) -> FloatArray:
        """Return the total gain of the splits per feature, averaged over trees."""
        gains = np.zeros(n_features)
        for tree in self.trees:
            is_split = tree.nodes.feature >= 0
            np.add.at(gains, tree.nodes.feature[is_split], tree.gain[is_split])
        return gains / len(self.trees)


def grow_forest(
    features: BinnedFeatures,
    events: RecurrentEvents,
    weights: FloatArray,
    clock: Clock,
    params: ForestParams,
) -> Forest:
    """Grow all trees, each on its own draw of individuals.

    Splits lower the intensity loss of one rate per leaf on the operational clock: events
    over those of an average individual under the same observation.
    """
    stats, problem = _find_statistics(events, weights, clock)
    seeds = np.random.SeedSequence(params.seed).spawn(params.n_trees)

    def grow(seed: np.random.SeedSequence) -> tuple[Tree, AnyArray]:
        return _grow(features, stats, problem, params, np.random.default_rng(seed))

    grown = map_threads(grow, seeds, params.n_threads)
    trees = tuple(tree for tree, _ in grown)
    nodes, roots = pack_trees(trees, 1)
    return Forest(trees, nodes, roots, np.stack([draws for _, draws in grown], axis=1))


def map_threads(
    function: Callable[[Item], Result], items: Sequence[Item], n_threads: int
) -> list[Result]:
    """Return a function's results for all items in order, computed on threads."""
    if n_threads < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))


def _find_statistics(
    events: RecurrentEvents, weights: FloatArray, clock: Clock
) -> tuple[SufficientStats, LeafProblem]:
    running = clock if isinstance(clock, OperationalClock) else CalendarClock()
    clocked = put_on_clock(events, running)
    basis = PowerBasis((1.0,)).place(clocked, "intensity")
    stats = compute_suffstats(clocked, basis, "intensity", weights)
    problem = time_problem(basis, "intensity", clocked.horizon, _GAMMA2)
    return stats, problem


def _grow(
    features: BinnedFeatures,
    stats: SufficientStats,
    problem: LeafProblem,
    params: ForestParams,
    rng: np.random.Generator,
) -> tuple[Tree, AnyArray]:
    n, n_features = features.bins.shape
    members = np.arange(n, dtype=np.int32)
    if params.bootstrap:
        members = np.sort(rng.integers(0, n, n)).astype(np.int32)
    source = DrawingSource(features, stats, members, params, rng)
    growth = GrowthParams(
        max_leaves=n + 1, growth="level", min_samples_leaf=params.min_samples_leaf
    )
    tree = grow_tree(
        source,
        problem,
        growth,
        features.n_values,
        features.is_categorical if features.is_categorical.any() else None,
        np.arange(n_features, dtype=np.int32),
        0,
    )
    return tree, np.bincount(members, minlength=n).astype(np.int32)


class DrawingSource:
    """Histograms of features that are drawn for each node separately.

    Only features that vary among the node's members are drawn. All others have all
    members in one bin, which no threshold can split.
    """

    def __init__(
        self,
        features: BinnedFeatures,
        stats: SufficientStats,
        members: IndexArray,
        params: ForestParams,
        rng: np.random.Generator,
    ) -> None:
        self._bins = features.bins
        self._n_bins = features.n_bins
        self._gradients, self._curvatures = -stats.linear, stats.quadratic
        self._params = params
        self._rng = rng
        self._order = members.copy()
        self._scratch = np.empty_like(members)
        self._span = {0: (0, len(members))}

    def read_root(self, features: IndexArray, max_leaves: int) -> None:
        """Return None: every node draws features of its own."""

    def read_bins(self, node: int, feature: int, first: int, stop: int) -> FloatArray:
        """Raise an error: bins are never coarse here."""
        raise NotImplementedError

    def root(self, features: IndexArray) -> FloatArray:
        """Return the root's sums."""
        return self._sum(*self._span[0])

    def split(
        self, node: int, feature: int, goes_left: BoolArray, children: tuple[int, int]
    ) -> tuple[FloatArray, FloatArray]:
        """Partition the node and return the sums of both children."""
        begin, end = self._span.pop(node)
        n_left = partition_members(
            self._bins, feature, goes_left, self._order[begin:end], self._scratch[begin:end]
        )
        middle = begin + n_left
        self._span[children[0]], self._span[children[1]] = (begin, middle), (middle, end)
        return self._sum(begin, middle), self._sum(middle, end)

    def _sum(self, begin: int, end: int) -> FloatArray:
        members = self._order[begin:end]
        data = (self._gradients, self._curvatures)
        sums = [own[members].sum(axis=0) for own in data]
        totals = np.concatenate([*sums, [len(members)]])
        out = np.zeros((self._bins.shape[1], self._n_bins, len(totals)))
        out[:, 0] = totals
        if end - begin < 2 * self._params.min_samples_leaf:
            return out
        own = self._bins[members]
        varied = np.flatnonzero(own.min(axis=0) < own.max(axis=0))
        if varied.size > self._params.n_drawn:
            varied = self._rng.permutation(varied)[: self._params.n_drawn]
        drawn = np.sort(varied).astype(np.int32)
        found = np.empty((len(drawn), *out.shape[1:]))
        accumulate_histograms(self._bins, *data, members, drawn, found)
        out[drawn] = found
        return out
