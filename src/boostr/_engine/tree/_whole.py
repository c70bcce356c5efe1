"""Trees that are grown by one call of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from boostr._engine.tree._search import (
    LeafProblem,
    SearchParams,
    group_nobody,
    search_nobody,
)
from boostr._engine.tree._tree import Tree, TreePack, pack_sides
from boostr._kernels.apply import Nodes
from boostr._kernels.compiling import compile_for, has_kernel
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
from boostr._kernels.histogram import find_accumulate
from boostr._kernels.rounds import (
    GrownTrees,
    ModelState,
    boost,
    find_add,
    find_grow,
    find_grow_groups,
)
from boostr._kernels.rounds_together import FoundSplits, boost_together
from boostr._kernels.scan_groups import Buffers, Node
from boostr._kernels.split import find_search, sum_bins
from boostr._kernels.team import Team, can_share, run_together
from boostr._typing import Address, BinArray, BoolArray, FloatArray, IndexArray

__all__ = [
    "FineBins",
    "GrownRound",
    "NextRounds",
    "TreeSpace",
    "WholeRoot",
    "compile_growth",
    "compile_rounds",
    "find_kernel",
    "grow_ahead",
    "grow_whole_tree",
]

_NO_SETS = np.empty((0, 8), dtype=np.uint32)
_MOST_AHEAD = 16  # rounds that are grown by one call
_MOST_SUMMED = 2**28  # numbers for the roots of such a call, so that progress is seen


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
        self,
        max_leaves: int,
        root_shape: tuple[int, ...],
        n_terms: int,
        missing_bin: int,
        n_spare: int = 1,
        n_threads: int = 1,
    ) -> None:
        n_nodes = 2 * max_leaves - 1
        _, n_bins, n_channels = root_shape
        self.max_leaves = max_leaves
        self.rising: IndexArray = np.arange(n_bins, dtype=np.int32)
        # Threads search two siblings at a time, and runs of the features of each.
        n_places = 2 * n_threads
        self.listed: IndexArray = np.empty((n_places, n_bins), dtype=np.int32)
        self.is_candidate: BoolArray = np.ones((n_places, n_bins), dtype=np.bool_)
        self.found = FoundSplits(
            np.empty(2),
            np.empty(n_places),
            np.empty((n_places, 3), np.int64),
            np.empty((n_places, missing_bin + 1), np.bool_),
            np.empty((n_places, 2, n_channels)),
        )
        self.histograms: FloatArray = np.empty((max_leaves + n_spare, *root_shape))
        self.gradients: FloatArray = np.empty((1 + n_spare, *root_shape[:2], n_terms))
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
        self.addresses: tuple[Address, Address] | None = None  # of kernels for rounds
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

    __slots__ = (
        "can_share",
        "fine",
        "gradients",
        "individuals",
        "is_summed",
        "model",
        "n_threads",
        "space",
        "sums",
        "sums_anew",
    )

    def __init__(
        self,
        individuals: Individuals,
        sums: FloatArray,
        space: TreeSpace,
        fine: FineBins,
        n_threads: int = 1,
        *,
        is_summed: bool = True,
        sums_anew: bool = False,
    ) -> None:
        self.individuals = individuals
        self.sums = sums  # (n_used, n_bins, n_channels)
        self.space = space
        self.fine = fine
        self.n_threads = n_threads  # that may grow the tree together
        # Asked for once: the kernel may be there a moment later.
        self.can_share = can_share(n_threads, boost_together)
        self.model: ModelState | None = None  # that trees are added to, if it is here
        self.is_summed = is_summed
        self.sums_anew = sums_anew  # nodes are summed anew, and keep no histograms
        # Where the kernel sums the channels that change from tree to tree, if it does.
        is_known = is_summed or sums_anew
        self.gradients = space.gradients[:, :0] if is_known else space.gradients

    def can_grow_rounds(self, n_rounds: int) -> bool:
        """Return whether one kernel had better grow and add the trees of so many rounds.

        One tree is grown and added faster by two kernels if one thread does it.
        """
        is_worth_it = self.can_share or (n_rounds > 1 and has_kernel(boost))
        return self.model is not None and is_worth_it


def _make_empty_root(sums: FloatArray) -> WholeRoot:
    """Return the root of nobody, with leaves of one term."""
    nobody, one = np.empty(0, dtype=np.int32), np.ones(1, dtype=np.int32)
    bins, nothing = np.empty((0, 1), dtype=np.uint8), np.empty((0, 1))
    individuals = Individuals(bins, bins, nothing, nothing, nobody, nobody)
    fine = FineBins(bins, one, one, 1)
    return WholeRoot(individuals, sums, TreeSpace(2, sums.shape, 1, 1), fine)


def _prepare_nobody(
    is_categorical: BoolArray, *, is_grouped: bool
) -> tuple[WholeRoot, SearchParams, tuple[Any, ...]]:
    """Return a root of one term and of nobody, and what a kernel needs to grow a tree."""
    sums, features, search, groups = group_nobody(is_categorical)
    if not is_grouped:
        sums, features, search = search_nobody(is_categorical)
    root = _make_empty_root(sums)
    # Kernels that are called by address may still be missing.
    kind: PlainRules | GroupRules = PlainRules(search.problem.kernel_solver, 0)
    if is_grouped:
        kind = root.space._make_group_rules(root.fine, groups, search, (0, 0))
    return root, search, (*_arguments(root, search, features, 0.0, 0, 0), kind)


def compile_growth(is_categorical: BoolArray, *, is_grouped: bool = False) -> None:
    """Compile the kernel that grows whole trees, of leaves with groups of terms or not."""
    _, search, arguments = _prepare_nobody(is_categorical, is_grouped=is_grouped)
    compile_for(find_kernel(search.problem), *arguments)


def compile_rounds(
    is_categorical: BoolArray, *, is_grouped: bool = False, is_shared: bool = False
) -> None:
    """Compile the kernel that grows and adds the trees of several rounds."""
    root, search, arguments = _prepare_nobody(is_categorical, is_grouped=is_grouped)
    nobody, nothing = root.individuals.members, root.individuals.gradients
    data = nobody, nobody, nobody, 1, nothing, nothing, nothing
    model = ModelState(*data, np.empty(1))
    out = _make_room(root.space, 1, model, search)
    steps = np.zeros(1, dtype=np.uint64), 1.0, *arguments, model, out
    if is_shared:
        compile_for(boost_together, *steps, root.space.found, Team.of(2))
    else:
        compile_for(boost, 0, 0, *steps)


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
    arguments = _prepare(root, search, features, price, seed)
    return _read_tree(space.nodes, *find_kernel(problem)(*arguments))


class NextRounds(NamedTuple):
    """Rounds that may be grown by one call."""

    seeds: Iterator[int]
    learning_rate: float
    n_at_most: int


class GrownRound(NamedTuple):
    """A tree that was grown and added, and what it led to."""

    tree: Tree
    total_loss: float
    held_out_loss: float
    kept: FloatArray | None  # (n_held_out, n_terms) of those held out, if known


def grow_ahead(
    root: WholeRoot,
    search: SearchParams,
    features: IndexArray,
    price: float,
    to_come: NextRounds,
) -> list[GrownRound]:
    """Grow and add the trees of the next rounds, at least one."""
    space, model = root.space, root.model
    assert model is not None  # noqa: S101 - callers have looked
    n_summed = max(root.individuals.x_binned.size * root.sums.shape[2], 1)
    n_rounds = max(1, min(to_come.n_at_most, _MOST_AHEAD, _MOST_SUMMED // n_summed))
    n_rounds = 1 if root.is_summed else n_rounds
    arguments = _prepare(root, search, features, price, 0)
    out = _make_room(space, n_rounds, model, search)
    seeds = np.fromiter(islice(to_come.seeds, n_rounds), np.uint64, n_rounds)
    steps = seeds, float(to_come.learning_rate), *arguments, model, out
    if root.can_share:
        run_together(root.n_threads, boost_together, *steps, space.found)
    else:
        if space.addresses is None:
            space.addresses = _find_addresses(root, arguments, out)
        run: Any = boost
        run(*space.addresses, *steps)
    return _read_rounds(out)


def _make_room(
    space: TreeSpace, n_rounds: int, model: ModelState, search: SearchParams
) -> GrownTrees:
    """Return room for the trees of so many rounds."""
    nodes = space.nodes
    n_nodes = n_rounds * len(nodes.feature)
    n_sets = 0 if search.is_categorical is None else n_rounds * (space.max_leaves - 1)
    n_terms = nodes.value.shape[1]
    trees = Nodes(
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.uint8),
        np.empty(n_nodes, np.bool_),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.empty((n_sets, 8), np.uint32),
        np.empty((n_nodes, n_terms)),
    )
    return GrownTrees(
        trees,
        np.empty(n_nodes),
        np.empty(n_nodes),
        np.empty((n_rounds, 2), np.int64),
        np.empty((n_rounds, 2)),
        np.empty((n_rounds, len(model.held_out), n_terms)),
    )


def _find_addresses(
    root: WholeRoot, arguments: tuple[Any, ...], out: GrownTrees
) -> tuple[Address, Address]:
    """Return the addresses of the kernels that grow trees and that add them."""
    find = find_grow if isinstance(arguments[-1], PlainRules) else find_grow_groups
    data, model = root.individuals, root.model
    assert model is not None  # noqa: S101 - callers have looked
    added = (
        data.x_fine,
        model.missing_bin,
        out.nodes,
        model.linear,
        model.quadratic,
        model.theta,
        data.gradients,
        data.members,
        root.space.nodes.span,
        model.others,
        data.scratch,
        model.losses,
    )
    return find(*arguments), find_add(*added)


def _read_rounds(out: GrownTrees) -> list[GrownRound]:
    """Return rounds one by one; their trees are parts of the same arrays."""
    pack = TreePack(out.nodes, out.gain, out.n_members, out.ends)
    results = zip(out.losses.tolist(), out.kept, strict=True)
    return [
        GrownRound(Tree.later(place, pack), total, held_out, kept)
        for place, ((total, held_out), kept) in enumerate(results)
    ]


def _prepare(
    root: WholeRoot, search: SearchParams, features: IndexArray, price: float, seed: int
) -> tuple[Any, ...]:
    """Return the arguments of the kernel that grows a tree."""
    individuals, problem = root.individuals, search.problem
    accumulate = find_accumulate(individuals.gradients, individuals.curvatures)
    arguments = _arguments(root, search, features, price, seed, accumulate)
    if problem.groups is not None:
        return *arguments, root.space.state_group_rules(root.fine, problem.groups, search)
    solver = problem.kernel_solver
    found = find_search(search.is_categorical, solver)
    return *arguments, PlainRules(solver, found, root.sums_anew)


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
        np.array([seed], dtype=np.uint64),
        space.rising,
        space.listed,
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
