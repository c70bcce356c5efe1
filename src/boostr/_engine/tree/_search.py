"""The best split of a node, searched on one thread or on several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boostr._kernels.group_lasso import Groups, find_descend, solve_groups
from boostr._kernels.scan_groups import Node, Ordered, Space, bound_features, scan_groups
from boostr._kernels.solve import FULL, GROUPED, solve_leaf
from boostr._kernels.split import (
    ROUNDING,
    draw_candidates,
    find_best_split,
    find_search,
    mix_bits,
    order_categories,
    shrink_categories,
    sum_bins,
)
from boostr._kernels.threads import run_in_parts
from boostr._typing import BoolArray, FloatArray, IndexArray

if TYPE_CHECKING:
    from boostr._engine.tree._limits import Limits

__all__ = [
    "FoundSplit",
    "LeafNode",
    "LeafProblem",
    "SearchParams",
    "compile_bounds",
    "compile_search",
    "find_split",
    "search_features",
    "search_nobody",
]


@dataclass(frozen=True, slots=True, eq=False)
class LeafProblem:
    """What is solved in a leaf: ``g'beta + 1/2 beta'(H + penalty) beta``, and prices."""

    solver: int  # see boostr._kernels.solve
    penalty: FloatArray  # (n_terms, n_terms)
    groups: Groups | None = None  # and the prices of their lengths, for GROUPED
    limits: Limits | None = None  # of trees

    @property
    def kernel_solver(self) -> int | None:
        """Solver as kernels know it: None for one or two terms that interact."""
        is_usual = self.solver == FULL and len(self.penalty) <= 2
        return None if is_usual else self.solver

    def solve(self, sums: FloatArray, out: FloatArray) -> float:
        """Write the coefficients of a leaf; return how far they lower the objective."""
        if self.groups is not None:
            return solve_groups(sums, self.penalty, self.groups, out)
        return solve_leaf(sums, self.penalty, self.kernel_solver, out)


@dataclass(frozen=True, slots=True, eq=False)
class SearchParams:
    """What a search must know besides the node's histograms."""

    problem: LeafProblem
    n_values: IndexArray  # (n_features,) bins in use
    is_categorical: BoolArray | None  # (n_features,), None if no feature is
    min_count: float
    n_candidates: int
    n_threads: int

    def is_category(self, feature: int) -> bool:
        """Return whether the bins of a feature have no order."""
        return self.is_categorical is not None and bool(self.is_categorical[feature])


@dataclass(slots=True, eq=False)
class FoundSplit:
    """The best split of a node and the node's coefficients as a leaf."""

    gain: float  # -1 where no split is possible
    feature: int
    bin_index: int
    missing_left: bool
    goes_left: BoolArray
    sums: FloatArray  # (2, n_channels) of the node and of its left side
    value: FloatArray  # (n_terms,)
    reduction: float  # of the objective by the node as a leaf


def find_split(
    histograms: FloatArray, features: IndexArray, params: SearchParams, seed: int
) -> FoundSplit:
    """Search all features; at the same time where thresholds take long to judge."""
    node = _solve(histograms[0], params.problem)
    n_parts = min(params.n_threads, len(features))
    if params.problem.solver != GROUPED or n_parts < 2:
        return search_features(histograms, features, params, seed, node)
    found = run_in_parts(
        len(features),
        n_parts,
        lambda own: search_features(histograms[own], features[own], params, seed, node),
    )
    return max(found, key=lambda split: split.gain)  # the first of equals


class LeafNode(NamedTuple):
    """A node as a leaf. Threads share it, so that their number does not touch its bits."""

    totals: FloatArray  # (n_channels,)
    value: FloatArray  # (n_terms,)
    reduction: float


def _solve(histogram: FloatArray, problem: LeafProblem) -> LeafNode:
    totals = np.empty(histogram.shape[1])
    value = np.empty(len(problem.penalty))
    sum_bins(histogram, totals)
    return LeafNode(totals, value, problem.solve(totals, value))


def search_features(
    histograms: FloatArray,
    features: IndexArray,
    params: SearchParams,
    seed: int,
    node: LeafNode,
) -> FoundSplit:
    """Search features one after the other."""
    problem, n_bins = params.problem, histograms.shape[1]
    sums = np.empty((2, histograms.shape[2]))
    sums[0] = node.totals
    goes_left = np.empty(n_bins, dtype=np.bool_)
    rising = np.arange(n_bins, dtype=np.int32)
    found = FoundSplit(-1.0, -1, 0, False, goes_left, sums, node.value, node.reduction)
    if problem.groups is not None:
        _search_groups(histograms, features, params, seed, problem.groups, rising, found)
        return found
    found.gain, slot, found.bin_index, found.missing_left = find_best_split(
        histograms,
        features,
        params.n_values,
        params.is_categorical,
        problem.penalty,
        problem.kernel_solver,
        params.min_count,
        params.n_candidates,
        np.uint64(seed),
        node.reduction,
        rising,
        np.ones(n_bins, dtype=np.bool_),
        goes_left,
        sums,
    )
    found.feature = int(features[slot]) if slot >= 0 else -1
    return found


def _search_groups(
    histograms: FloatArray,
    features: IndexArray,
    params: SearchParams,
    seed: int,
    groups: Groups,
    rising: IndexArray,
    found: FoundSplit,
) -> None:
    """Write the best split of a node whose terms have groups.

    Features come in the order of what they can reach, and end where that is too little.
    This is Python, as few features are scanned, and kernels within another one would be
    compiled twice.
    """
    totals, own = found.sums[0], found.reduction
    node = Node(totals, params.problem.penalty, groups, found.value)
    if totals[-1] < 2.0 * params.min_count:
        return
    space = Space.for_node(node, len(rising))
    bounds = np.full(len(features), np.inf)
    if len(features) > 1:
        _bound_features(histograms, features, params, seed, node, rising, space, bounds)
    descend = find_descend()
    best = own * (1.0 + ROUNDING)
    for slot in np.argsort(-bounds, kind="stable"):
        if bounds[slot] <= best:
            break
        feature, histogram = int(features[slot]), histograms[slot]
        for ordered in _order_bins(histogram, feature, params, seed, rising):
            reduction, position, missing_left = scan_groups(
                ordered, node, best, space, descend
            )
            if reduction > best:
                best = reduction
                if params.n_candidates == 0 and not params.is_category(feature):
                    position = _move_to_middle(
                        histogram[: len(ordered.order), -1], position
                    )
                found.gain, found.feature = best - own, feature
                found.bin_index = int(ordered.order[position])
                found.missing_left = missing_left
                found.goes_left[:] = missing_left  # so do bins that this node has not
                found.goes_left[ordered.order] = np.arange(len(ordered.order)) <= position
                found.sums[1] = histogram[found.goes_left].sum(axis=0)


def _bound_features(
    histograms: FloatArray,
    features: IndexArray,
    params: SearchParams,
    seed: int,
    node: Node,
    rising: IndexArray,
    space: Space,
    bounds: FloatArray,
) -> None:
    """Write what no threshold of a feature exceeds."""
    bound_features(
        histograms,
        features,
        params.n_values,
        params.is_categorical,
        node,
        params.min_count,
        params.n_candidates,
        np.uint64(seed),
        rising,
        np.ones(len(rising), dtype=np.bool_),
        space,
        bounds,
    )


def _move_to_middle(counts: FloatArray, position: int) -> int:
    """Move a threshold to the middle of the empty bins that follow it, as kernels do."""
    following = np.flatnonzero(counts[position + 1 :])
    return position + int(following[0]) // 2 if len(following) else len(counts) - 1


def _order_bins(
    histogram: FloatArray,
    feature: int,
    params: SearchParams,
    seed: int,
    rising: IndexArray,
) -> Iterator[Ordered]:
    """Yield the bins of a feature in every order in which they are tried."""
    n_used, n_candidates = int(params.n_values[feature]), params.n_candidates
    is_categorical = params.is_category(feature)
    counts, order, n_orders = histogram[:n_used, -1], rising[:n_used], 1
    if is_categorical:
        n_orders = n_terms = len(params.problem.penalty)
        histogram = shrink_categories(histogram, n_used, n_terms)
    for term in range(n_orders):
        if is_categorical:
            curvature_at = n_terms + term * (term + 3) // 2
            order = order_categories(histogram, n_used, term, curvature_at)
            counts = np.ones(len(order))
        is_candidate = np.ones(len(order), dtype=np.bool_)
        if n_candidates > 0 and len(order):
            own_seed = mix_bits(np.uint64(seed) + np.uint64(feature + 1))
            draw_candidates(counts, n_candidates, np.uint64(own_seed), is_candidate)
        skips_empty = n_candidates == 0 or is_categorical
        yield Ordered(histogram, order, is_candidate, params.min_count, skips_empty)


# --- First use


def search_nobody(
    is_categorical: BoolArray,
) -> tuple[FloatArray, IndexArray, SearchParams]:
    """Return sums, features and what else a search of one term among nobody needs."""
    one = np.ones(1, dtype=np.int32)
    categories = is_categorical if is_categorical.any() else None
    problem = LeafProblem(FULL, np.ones((1, 1)))
    return np.zeros((1, 2, 3)), one - 1, SearchParams(problem, one, categories, 1.0, 0, 1)


def compile_search(is_categorical: BoolArray, *, has_groups: bool) -> None:
    """Compile the kernels that search for splits, but for those of `compile_bounds`."""
    _, features, params = search_nobody(is_categorical)
    if not has_groups:
        find_search(params.is_categorical, params.problem.kernel_solver)
        return
    # A feature by which two individuals differ: it is alone, and needs no bounds.
    groups = Groups(np.array([0, 1], dtype=np.int32), np.zeros(1), True)
    params = replace(
        params,
        problem=LeafProblem(GROUPED, np.ones((1, 1)), groups),
        n_values=np.full(len(is_categorical), 2, dtype=np.int32),
    )
    sums = np.array([[[-1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]])
    find_split(sums, features, params, 0)


def compile_bounds(is_categorical: BoolArray) -> None:
    """Compile the kernel that bounds what features reach where terms have groups."""
    sums, features, params = search_nobody(is_categorical)
    groups = Groups(np.array([0, 1], dtype=np.int32), np.zeros(1), True)
    node = Node(np.zeros(3), params.problem.penalty, groups, np.zeros(1))
    rising, space = np.arange(2, dtype=np.int32), Space.for_node(node, 2)
    _bound_features(sums, features, params, 0, node, rising, space, np.empty(1))
