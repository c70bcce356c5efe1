"""Growth of one tree over a source of histograms."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from boostr._engine.tree._coarse import CoarseBins, joins_bins, refine_split
from boostr._engine.tree._limits import Bounds, LimitedNode, Limits
from boostr._engine.tree._search import FoundSplit, LeafProblem, SearchParams, find_split
from boostr._engine.tree._source import HistogramSource
from boostr._engine.tree._tree import Tree, pack_sides
from boostr._engine.tree._whole import (
    GrownRound,
    NextRounds,
    WholeRoot,
    find_kernel,
    grow_ahead,
    grow_whole_tree,
)
from boostr._kernels.apply import Nodes
from boostr._kernels.compiling import has_kernel
from boostr._kernels.rounds import boost
from boostr._kernels.split import sum_bins
from boostr._typing import BoolArray, FloatArray, IndexArray

__all__ = [
    "GrowthParams",
    "can_grow_rounds",
    "grow_rounds",
    "grow_tree",
    "read_whole_root",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthParams:
    """How far and in what order a tree grows."""

    max_leaves: int
    growth: Literal["best", "level"] = "best"
    min_samples_leaf: int = 1
    gamma1: float = 0.0
    n_candidates: int = 0  # thresholds drawn per feature and node; 0: all of them


@dataclass(slots=True)
class _Candidate:
    """A leaf that can be split."""

    node: int
    gain: float  # after the price of a leaf
    split: FoundSplit


class _TreeBuilder:
    """The tree so far, and the search for the next split."""

    def __init__(
        self,
        search: SearchParams,
        params: GrowthParams,
        features: IndexArray,
        seed: int,
        coarse: CoarseBins | None = None,
    ) -> None:
        self.problem = search.problem
        self.coarse = coarse
        self.params = params
        self.search = search
        self.features = features
        self.seed = seed
        self.feature: list[int] = []
        self.bin_threshold: list[int] = []
        self.missing_left: list[bool] = []
        self.left_child: list[int] = []
        self.category_set: list[int] = []
        self.categories: list[FloatArray] = []
        self.value: list[FloatArray] = []
        self.gain: list[float] = []
        self.count: list[float] = []

    def add_node(self, histograms: FloatArray) -> _Candidate | None:
        """Append a leaf; return its best split if that pays."""
        node = len(self.feature)
        split = self._find_split(node, histograms)
        self._append(split.value, split.sums[0, -1])
        gain = split.gain - self.params.gamma1
        return _Candidate(node, gain, split) if split.feature >= 0 < gain else None

    def add_leaf(self, histograms: FloatArray) -> None:
        """Append a leaf that is not to be split."""
        sums = np.empty(histograms.shape[2])
        sum_bins(histograms[0], sums)
        self._append(self._solve(len(self.feature), sums), sums[-1])

    def _find_split(self, node: int, histograms: FloatArray) -> FoundSplit:
        return find_split(histograms, self.features, self.search, self._seed_of(node))

    def _solve(self, node: int, sums: FloatArray) -> FloatArray:
        """Return the coefficients of a leaf."""
        value = np.empty(len(self.problem.penalty))
        self.problem.solve(sums, value)
        return value

    def _seed_of(self, node: int) -> int:
        return (self.seed + node * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF

    def add_last_leaves(self, candidate: _Candidate) -> None:
        """Append the children of the last split: their sums are known already."""
        both, left = candidate.split.sums
        for sums in (left, both - left):
            self._append(self._solve(len(self.feature), sums), sums[-1])

    def _append(self, value: FloatArray, count: float) -> None:
        self.feature.append(-1)
        self.bin_threshold.append(0)
        self.missing_left.append(False)
        self.left_child.append(0)
        self.category_set.append(-1)
        self.value.append(value)
        self.gain.append(0.0)
        self.count.append(count)

    def split(self, source: HistogramSource, candidate: _Candidate) -> tuple[int, int]:
        """Turn a leaf into a split; return the numbers that its children will have."""
        node, split = candidate.node, candidate.split
        if self.coarse is not None:
            refine_split(source, self.coarse, self.search, node, split, self._seed_of(node))
            candidate.gain = split.gain - self.params.gamma1
        self.feature[node] = split.feature
        self.bin_threshold[node] = split.bin_index
        self.missing_left[node] = split.missing_left
        self.gain[node] = candidate.gain
        self.left_child[node] = len(self.feature)
        is_categorical = self.search.is_categorical
        if is_categorical is not None and is_categorical[split.feature]:
            self.category_set[node] = len(self.categories)
            self.categories.append(pack_sides(split.goes_left))
        return len(self.feature), len(self.feature) + 1

    def finish(self) -> Tree:
        """Return the tree as arrays."""
        nodes = Nodes(
            feature=np.array(self.feature, dtype=np.int32),
            bin_threshold=np.array(self.bin_threshold, dtype=np.uint8),
            missing_left=np.array(self.missing_left, dtype=np.bool_),
            left_child=np.array(self.left_child, dtype=np.int32),
            category_set=np.array(self.category_set, dtype=np.int32),
            categories=np.array(self.categories, dtype=np.uint32).reshape(-1, 8),
            value=np.array(self.value),
        )
        return Tree(nodes, np.array(self.gain), np.array(self.count))


class _LimitedBuilder(_TreeBuilder):
    """The same within limits: nodes know the features on the way to them, and bounds."""

    def __init__(self, limits: Limits, *arguments: Any) -> None:
        super().__init__(*arguments)
        root = LimitedNode(limits, frozenset(), Bounds.none(len(self.problem.penalty)))
        self.places = {0: root}

    def _find_split(self, node: int, histograms: FloatArray) -> FoundSplit:
        place, seed = self.places[node], self._seed_of(node)
        return place.find_split(histograms, self.features, self.search, seed)

    def _solve(self, node: int, sums: FloatArray) -> FloatArray:
        place = self.places[node]
        if place.limits.is_ordered:
            return place.solve(sums, self.search)[0]
        return super()._solve(node, sums)

    def split(self, source: HistogramSource, candidate: _Candidate) -> tuple[int, int]:
        """Turn a leaf into a split; its children inherit limits."""
        children = super().split(source, candidate)
        place = self.places.pop(candidate.node)
        pair = place.split(candidate.split, self.search)
        self.places |= dict(zip(children, pair, strict=True))
        return children


def grow_tree(
    source: HistogramSource,
    problem: LeafProblem,
    params: GrowthParams,
    n_values: IndexArray,
    is_categorical: BoolArray | None,
    features: IndexArray,
    seed: int,
    root: WholeRoot | None = None,
) -> Tree:
    """Split leaves until no split pays or the tree has enough of them.

    Growth ``best`` splits the leaf with the largest gain and ends exactly at
    ``max_leaves``. Growth ``level`` is the paper's: in each round every leaf with a
    positive gain is split, and no round begins once there are ``max_leaves`` leaves.
    Most trees are grown by one kernel; others node by node, each step on all threads, and
    so are trees within limits. ``root`` is what `read_whole_root` returns, if it is known.
    """
    search, coarse = _state_search(problem, params, n_values, is_categorical)
    root = root or read_whole_root(source, problem, params, features)
    if root is not None:
        return grow_whole_tree(root, search, features, params.gamma1, seed)
    builder = _TreeBuilder(search, params, features, seed, coarse)
    if problem.limits is not None:
        builder = _LimitedBuilder(problem.limits, search, params, features, seed, coarse)
    (_grow_best_first if params.growth == "best" else _grow_by_level)(source, builder)
    return builder.finish()


def read_whole_root(
    source: HistogramSource,
    problem: LeafProblem,
    params: GrowthParams,
    features: IndexArray,
) -> WholeRoot | None:
    """Return the root of a tree that one kernel grows, None of others."""
    if not _is_whole(problem, params):
        return None
    return source.read_root(features, params.max_leaves)


def can_grow_rounds(problem: LeafProblem, params: GrowthParams) -> bool:
    """Return whether one kernel can grow the trees of several rounds."""
    return _is_whole(problem, params) and has_kernel(boost)


def grow_rounds(
    root: WholeRoot,
    problem: LeafProblem,
    params: GrowthParams,
    n_values: IndexArray,
    is_categorical: BoolArray | None,
    features: IndexArray,
    to_come: NextRounds,
) -> list[GrownRound]:
    """Grow, shrink and add the trees of the next rounds by one kernel, at least one."""
    search, _ = _state_search(problem, params, n_values, is_categorical)
    return grow_ahead(root, search, features, params.gamma1, to_come)


def _state_search(
    problem: LeafProblem,
    params: GrowthParams,
    n_values: IndexArray,
    is_categorical: BoolArray | None,
) -> tuple[SearchParams, CoarseBins | None]:
    """Return what a search must know, and the coarse bins of histograms, if any."""
    search = SearchParams(
        problem,
        n_values,
        is_categorical,
        float(params.min_samples_leaf),
        params.n_candidates,
    )
    if not joins_bins(problem.solver, len(problem.penalty)):
        return search, None
    coarse = CoarseBins(n_values, is_categorical)
    return replace(search, n_values=coarse.n_values), coarse


def _is_whole(problem: LeafProblem, params: GrowthParams) -> bool:
    """Return whether one kernel can grow a tree, and is compiled."""
    is_best_first = params.growth == "best" and problem.limits is None
    return is_best_first and has_kernel(find_kernel(problem))


def _split_leaf(
    source: HistogramSource, builder: _TreeBuilder, candidate: _Candidate
) -> list[_Candidate]:
    """Split one leaf; return those of its children that can be split in turn."""
    children = builder.split(source, candidate)
    split = candidate.split
    pair = source.split(candidate.node, split.feature, split.goes_left, children)
    found = [builder.add_node(histograms) for histograms in pair]
    return [child for child in found if child is not None]


def _grow_best_first(source: HistogramSource, builder: _TreeBuilder) -> None:
    heap: list[tuple[float, int, _Candidate]] = []
    if builder.params.max_leaves == 1:
        builder.add_leaf(source.root(builder.features))
        return
    root = builder.add_node(source.root(builder.features))
    n_leaves = 1
    if root is not None:
        heap.append((-root.gain, root.node, root))
    while heap and n_leaves < builder.params.max_leaves:
        candidate = heapq.heappop(heap)[2]
        n_leaves += 1
        if n_leaves == builder.params.max_leaves:
            builder.split(source, candidate)
            builder.add_last_leaves(candidate)
            return
        for child in _split_leaf(source, builder, candidate):
            heapq.heappush(heap, (-child.gain, child.node, child))


def _grow_by_level(source: HistogramSource, builder: _TreeBuilder) -> None:
    root = builder.add_node(source.root(builder.features))
    level = [] if root is None else [root]
    n_leaves = 1
    while level and n_leaves < builder.params.max_leaves:
        n_leaves += len(level)
        level = [child for leaf in level for child in _split_leaf(source, builder, leaf)]
