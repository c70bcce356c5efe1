"""Trees that are grown by one call of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._engine.tree._search import (
    LeafProblem,
    SearchParams,
    group_nobody,
    search_nobody,
)
from boostr._engine.tree._tree import Tree, pack_sides
from boostr._kernels.apply import Nodes
from boostr._kernels.compiling import compile_for
from boostr._kernels.group_lasso import Groups, find_descend
from boostr._kernels.growth import (
    GrowingNodes,
    Individuals,
    PlainRules,
    SplitRules,
    grow_best_first,
    grow_groups_best_first,
)
from boostr._kernels.growth_groups import GroupRules, find_grouped_search
from boostr._kernels.growth_together import grow_together
from boostr._kernels.histogram import find_accumulate
from boostr._kernels.scan_groups import Buffers, Node
from boostr._kernels.split import find_search, sum_bins
from boostr._kernels.team import Team, can_share, run_together
from boostr._typing import Address, BinArray, BoolArray, FloatArray, IndexArray

__all__ = [
    "FineBins",
    "TreeSpace",
    "WholeRoot",
    "compile_grouped_growth",
    "compile_growth",
    "compile_shared_growth",
    "find_kernel",
    "grow_whole_tree",
]

_NO_SETS = np.empty((0, 8), dtype=np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class FineBins:
    """Bins of all individuals, several of which may be joined in histograms."""

    bins: BinArray  # (n_individuals, n_features)
    n_values: IndexArray  # (n_features,) in use
    steps: IndexArray  # (n_features,) how many are joined
    missing_bin: int


class TreeSpace:
    """Working space for one tree after the other, up to so many leaves."""

    def __init__(
        self, max_leaves: int, root_shape: tuple[int, ...], n_terms: int, missing_bin: int
    ) -> None:
        n_nodes = 2 * max_leaves - 1
        _, n_bins, n_channels = root_shape
        self.max_leaves = max_leaves
        self.rising: IndexArray = np.arange(n_bins, dtype=np.int32)
        self.is_candidate: BoolArray = np.ones((2, n_bins), dtype=np.bool_)
        self.histograms: FloatArray = np.empty((max_leaves + 1, *root_shape))
        self.gradients: FloatArray = np.empty((2, *root_shape[:2], n_terms))
        self.nodes = GrowingNodes(
            feature=np.empty(n_nodes, np.int32),
            bin_threshold=np.empty(n_nodes, np.uint8),
            missing_left=np.empty(n_nodes, np.bool_),
            left_child=np.empty(n_nodes, np.int32),
            category_set=np.empty(n_nodes, np.int32),
            value=np.empty((n_nodes, n_terms)),
            gain=np.empty(n_nodes),
            n_members=np.empty(n_nodes),
            goes_left=np.empty((n_nodes, missing_bin + 1), np.bool_),
            is_open=np.empty(n_nodes, np.bool_),
            sums=np.empty((n_nodes, 2, n_channels)),
            span=np.empty((n_nodes, 2), np.int64),
            slot=np.empty(n_nodes, np.int64),
        )
        self._grouped: GroupRules | None = None

    def state_group_rules(
        self, fine: FineBins, groups: Groups, search: SearchParams
    ) -> GroupRules:
        """Return the rules of groups, with working space that is used again."""
        if self._grouped is None or self._grouped.groups is not groups:
            called = find_grouped_search(search.is_categorical), find_descend()
            self._grouped = self._make_group_rules(fine, groups, search, called)
        return self._grouped

    def _make_group_rules(
        self,
        fine: FineBins,
        groups: Groups,
        search: SearchParams,
        called: tuple[Address, Address],
    ) -> GroupRules:
        """Return the rules of groups, given addresses of the kernels that are called."""
        _, n_features, n_bins, n_channels = self.histograms.shape
        nodes, penalty = self.nodes, search.problem.penalty
        node = Node(nodes.sums[0, 0], penalty, groups, nodes.value[0])
        n_rows = 2 * int(fine.steps.max()) + 4
        return GroupRules(
            groups,
            fine.n_values,
            fine.steps,
            fine.missing_bin,
            *called,
            buffers=Buffers.for_node(node, n_features, n_bins),
            sides=np.empty((len(nodes.feature), n_bins), np.bool_),
            drops=np.empty(len(nodes.feature)),
            cells=np.empty(n_rows * n_channels),
            one=np.zeros(1, np.int32),
            n_used=np.zeros(1, np.int32),
            is_category=None if search.is_categorical is None else np.zeros(1, np.bool_),
        )


class WholeRoot:
    """All that one kernel needs to grow a tree."""

    __slots__ = ("fine", "gradients", "individuals", "n_threads", "space", "sums")

    def __init__(
        self,
        individuals: Individuals,
        sums: FloatArray,
        space: TreeSpace,
        fine: FineBins,
        n_threads: int = 1,
        *,
        is_summed: bool = True,
    ) -> None:
        self.individuals = individuals
        self.sums = sums  # (n_used, n_bins, n_channels)
        self.space = space
        self.fine = fine
        self.n_threads = n_threads  # that grow the tree together
        # Where the kernel sums the channels that change from tree to tree, if it does.
        self.gradients = space.gradients[:, :0] if is_summed else space.gradients


def _make_empty_root(sums: FloatArray) -> WholeRoot:
    """Return the root of nobody, with leaves of one term."""
    nobody, one = np.empty(0, dtype=np.int32), np.ones(1, dtype=np.int32)
    bins, nothing = np.empty((0, 1), dtype=np.uint8), np.empty((0, 1))
    individuals = Individuals(bins, bins, nothing, nothing, nobody, nobody)
    fine = FineBins(bins, one, one, 1)
    return WholeRoot(individuals, sums, TreeSpace(2, sums.shape, 1, 1), fine)


def compile_growth(is_categorical: BoolArray) -> None:
    """Compile the kernel that grows whole trees, by a root of one term and of nobody."""
    sums, features, search = search_nobody(is_categorical)
    root = _make_empty_root(sums)
    # Kernels that it calls may still be missing.
    plain = PlainRules(search.problem.kernel_solver, 0)
    compile_for(grow_best_first, *_arguments(root, search, features, 0.0, 0, 0), plain)


def compile_shared_growth(is_categorical: BoolArray) -> None:
    """Compile the kernel by which threads grow large trees together."""
    sums, features, search = search_nobody(is_categorical)
    root = _make_empty_root(sums)
    plain = PlainRules(search.problem.kernel_solver, 0)
    arguments = _arguments(root, search, features, 0.0, 0, 0)
    compile_for(grow_together, *arguments, plain, Team.of(2))


def compile_grouped_growth(is_categorical: BoolArray) -> None:
    """Compile the kernel that grows whole trees of leaves with groups of terms."""
    sums, features, search, groups = group_nobody(is_categorical)
    root = _make_empty_root(sums)
    grouped = root.space._make_group_rules(root.fine, groups, search, (0, 0))
    arguments = _arguments(root, search, features, 0.0, 0, 0)
    compile_for(grow_groups_best_first, *arguments, grouped)


def find_kernel(problem: LeafProblem) -> Any:
    """Return the kernel that grows whole trees of such leaves."""
    return grow_best_first if problem.groups is None else grow_groups_best_first


def grow_whole_tree(
    root: WholeRoot, search: SearchParams, features: IndexArray, price: float, seed: int
) -> Tree:
    """Grow a tree best first; it has the same bits as one that is grown node by node."""
    space, problem = root.space, search.problem
    if space.max_leaves == 1:
        return _read_tree(space.nodes, _write_root(root, search), 0)
    individuals = root.individuals
    accumulate = find_accumulate(individuals.gradients, individuals.curvatures)
    arguments = _arguments(root, search, features, price, seed, accumulate)
    if problem.groups is not None:
        grouped = space.state_group_rules(root.fine, problem.groups, search)
        n_nodes, n_sets = grow_groups_best_first(*arguments, grouped)
    else:
        solver = problem.kernel_solver
        plain = PlainRules(solver, find_search(search.is_categorical, solver))
        if can_share(root.n_threads, grow_together):
            n_nodes, n_sets = run_together(root.n_threads, grow_together, *arguments, plain)
        else:
            n_nodes, n_sets = grow_best_first(*arguments, plain)
    return _read_tree(space.nodes, n_nodes, n_sets)


def _arguments(
    root: WholeRoot,
    search: SearchParams,
    features: IndexArray,
    price: float,
    seed: int,
    accumulate: Address,
) -> tuple[Individuals, FloatArray, FloatArray, SplitRules, int, FloatArray, GrowingNodes]:
    """Return the arguments of both kernels, given the address of the one that sums."""
    space = root.space
    rules = SplitRules(
        features,
        search.n_values,
        search.is_categorical,
        search.problem.penalty,
        search.min_count,
        search.n_candidates,
        np.uint64(seed),
        space.rising,
        space.is_candidate,
        price,
        accumulate,
    )
    return (
        root.individuals,
        root.sums,
        root.gradients,
        rules,
        space.max_leaves,
        space.histograms,
        space.nodes,
    )


def _write_root(root: WholeRoot, search: SearchParams) -> int:
    """Write a tree of one leaf; return its number of nodes."""
    nodes, problem = root.space.nodes, search.problem
    sums = nodes.sums[0, 0]
    sum_bins(root.sums[0], sums)
    problem.solve(sums, nodes.value[0])
    nodes.feature[0] = nodes.category_set[0] = -1
    nodes.bin_threshold[0] = nodes.left_child[0] = 0
    nodes.missing_left[0], nodes.gain[0], nodes.n_members[0] = False, 0.0, sums[-1]
    nodes.span[0] = 0, len(root.individuals.members)
    return 1


def _read_tree(nodes: GrowingNodes, n_nodes: int, n_sets: int) -> Tree:
    """Copy the tree: its space is used again."""
    categories = _NO_SETS
    category_set = nodes.category_set[:n_nodes].copy()
    if n_sets:
        splits = np.flatnonzero(category_set >= 0)
        categories = np.empty((n_sets, 8), dtype=np.uint32)
        for node in splits:
            categories[category_set[node]] = pack_sides(nodes.goes_left[node])
    packed = Nodes(
        nodes.feature[:n_nodes].copy(),
        nodes.bin_threshold[:n_nodes].copy(),
        nodes.missing_left[:n_nodes].copy(),
        nodes.left_child[:n_nodes].copy(),
        category_set,
        categories,
        nodes.value[:n_nodes].copy(),
    )
    return Tree(packed, nodes.gain[:n_nodes].copy(), nodes.n_members[:n_nodes].copy())
