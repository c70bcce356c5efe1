"""The best split of a node, searched on one thread or on several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boostr._kernels.group_lasso import Groups, solve_groups
from boostr._kernels.solve import FULL, GROUPED, solve_leaf
from boostr._kernels.split import find_best_split, sum_bins
from boostr._kernels.threads import run_in_parts
from boostr._typing import BoolArray, FloatArray, IndexArray

if TYPE_CHECKING:
    from boostr._engine.tree._limits import Limits

__all__ = ["FoundSplit", "LeafProblem", "SearchParams", "find_split"]


@dataclass(frozen=True, slots=True, eq=False)
class LeafProblem:
    """What is solved in a leaf: ``g'beta + 1/2 beta'(H + penalty) beta``, and prices."""

    solver: int  # see boostr._kernels.solve
    penalty: FloatArray  # (n_terms, n_terms)
    groups: Groups | None = None  # and the prices of their lengths, for GROUPED
    limits: Limits | None = None  # of trees

    @property
    def kernel_solver(self) -> int | None:
        """Solver as kernels know it: None for groups, and for the default's few terms."""
        is_special = self.has_few_terms is not None or self.groups is not None
        return None if is_special else self.solver

    @property
    def has_few_terms(self) -> bool | None:
        """Whether leaves have one or two terms that interact; kernels know None as no."""
        if self.groups is not None or self.solver != FULL:
            return None
        return True if len(self.penalty) <= 2 else None

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
        return _search(histograms, features, params, seed, node)
    found = run_in_parts(
        len(features),
        n_parts,
        lambda own: _search(histograms[own], features[own], params, seed, node),
    )
    return max(found, key=lambda split: split.gain)  # the first of equals


class _Node(NamedTuple):
    """A node as a leaf. Threads share it, so that their number does not touch its bits."""

    totals: FloatArray  # (n_channels,)
    value: FloatArray  # (n_terms,)
    reduction: float


def _solve(histogram: FloatArray, problem: LeafProblem) -> _Node:
    totals = np.empty(histogram.shape[1])
    value = np.empty(len(problem.penalty))
    sum_bins(histogram, totals)
    return _Node(totals, value, problem.solve(totals, value))


def _search(
    histograms: FloatArray,
    features: IndexArray,
    params: SearchParams,
    seed: int,
    node: _Node,
) -> FoundSplit:
    problem = params.problem
    goes_left = np.empty(histograms.shape[1], dtype=np.bool_)
    sums = np.empty((2, histograms.shape[2]))
    sums[0] = node.totals
    gain, slot, bin_index, missing_left = find_best_split(
        histograms,
        features,
        params.n_values,
        params.is_categorical,
        problem.penalty,
        problem.kernel_solver,
        problem.has_few_terms,
        problem.groups,
        params.min_count,
        params.n_candidates,
        np.uint64(seed),
        node.reduction,
        node.value,
        goes_left,
        sums,
    )
    feature = int(features[slot]) if slot >= 0 else -1
    return FoundSplit(
        gain,
        feature,
        bin_index,
        missing_left,
        goes_left,
        sums,
        node.value,
        node.reduction,
    )
