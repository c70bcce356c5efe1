"""The best split of a node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from boostr._kernels.group_lasso import Groups, find_descend, solve_groups
from boostr._kernels.histogram import Members
from boostr._kernels.scan_groups import Buffers, Node
from boostr._kernels.solve import FULL, GROUPED, solve_leaf
from boostr._kernels.split import find_best_split, find_search, sum_bins
from boostr._kernels.split_groups import find_best_grouped_split
from boostr._typing import Address, BoolArray, FloatArray, IndexArray

if TYPE_CHECKING:
    from boostr._engine.tree._limits import Limits

__all__ = [
    "FoundSplit",
    "LeafNode",
    "LeafProblem",
    "SearchParams",
    "compile_grouped_search",
    "compile_search",
    "find_split",
    "group_nobody",
    "search_features",
    "search_nobody",
]


_NO_MEMBERS = Members(
    np.empty((0, 1), np.uint8), np.empty((0, 1)), np.empty((0, 1)), np.empty(0, np.int32), 0
)


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


class LeafNode(NamedTuple):
    """A node as a leaf."""

    totals: FloatArray  # (n_channels,)
    value: FloatArray  # (n_terms,)
    reduction: float


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

    @classmethod
    def none(cls, node: LeafNode, histograms: FloatArray) -> Self:
        """Return a node that is not split yet."""
        _, n_bins, n_channels = histograms.shape
        sums = np.empty((2, n_channels))
        sums[0] = node.totals
        goes_left = np.empty(n_bins, dtype=np.bool_)
        return cls(-1.0, -1, 0, False, goes_left, sums, node.value, node.reduction)


def find_split(
    histograms: FloatArray, features: IndexArray, params: SearchParams, seed: int
) -> FoundSplit:
    """Find the best split of a node."""
    node = _solve(histograms[0], params.problem)
    return search_features(histograms, features, params, seed, node)


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
    found = FoundSplit.none(node, histograms)
    if node.totals[-1] < 2.0 * params.min_count:
        return found
    if problem.groups is not None:
        best = _search_groups(
            histograms, features, params, seed, problem.groups, found, find_descend()
        )
    else:
        best = find_best_split(
            histograms,
            _NO_MEMBERS,
            features,
            params.n_values,
            params.is_categorical,
            problem.penalty,
            problem.kernel_solver,
            params.min_count,
            params.n_candidates,
            np.uint64(seed),
            node.reduction,
            _number_bins(n_bins),
            np.empty(n_bins, dtype=np.int32),
            np.ones(n_bins, dtype=np.bool_),
            found.goes_left,
            found.sums,
        )
    found.gain, slot, found.bin_index, found.missing_left = best
    found.feature = int(features[slot]) if slot >= 0 else -1
    return found


@cache
def _number_bins(n_bins: int) -> IndexArray:
    return np.arange(n_bins, dtype=np.int32)


def _search_groups(
    histograms: FloatArray,
    features: IndexArray,
    params: SearchParams,
    seed: int,
    groups: Groups,
    found: FoundSplit,
    descend: Address,
) -> tuple[float, int, int, bool]:
    """Search a node whose terms have groups, see `find_best_grouped_split`."""
    rising = _number_bins(histograms.shape[1])
    node = Node(found.sums[0], params.problem.penalty, groups, found.value)
    return find_best_grouped_split(
        histograms,
        features,
        params.n_values,
        params.is_categorical,
        node,
        params.min_count,
        params.n_candidates,
        np.uint64(seed),
        found.reduction,
        rising,
        np.ones(len(rising), dtype=np.bool_),
        Buffers.for_node(node, len(features), len(rising)),
        descend,
        found.goes_left,
        found.sums[1],
    )


# --- First use


def search_nobody(
    is_categorical: BoolArray,
) -> tuple[FloatArray, IndexArray, SearchParams]:
    """Return sums, features and what else a search of one term among nobody needs."""
    one = np.ones(1, dtype=np.int32)
    categories = is_categorical if is_categorical.any() else None
    problem = LeafProblem(FULL, np.ones((1, 1)))
    return np.zeros((1, 2, 3)), one - 1, SearchParams(problem, one, categories, 1.0, 0)


def compile_search(is_categorical: BoolArray) -> None:
    """Compile the kernel that searches for splits."""
    _, _, params = search_nobody(is_categorical)
    find_search(params.is_categorical, params.problem.kernel_solver)


def group_nobody(
    is_categorical: BoolArray,
) -> tuple[FloatArray, IndexArray, SearchParams, Groups]:
    """Return the same, and the groups, for one term in a group."""
    sums, features, params = search_nobody(is_categorical)
    groups = Groups(np.array([0, 1], dtype=np.int32), np.zeros(1), True)
    problem = LeafProblem(GROUPED, np.ones((1, 1)), groups)
    return sums, features, replace(params, problem=problem), groups


def compile_grouped_search(is_categorical: BoolArray) -> None:
    """Compile the kernel that searches for splits of leaves with groups of terms."""
    sums, features, params, groups = group_nobody(is_categorical)
    nobody = FoundSplit.none(LeafNode(np.zeros(3), np.zeros(1), 0.0), sums)
    _search_groups(sums, features, params, 0, groups, nobody, descend=0)
