"""Growth of a whole tree, where calls from Python would take longer than the sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostr._kernels._jit import inlined_kernel, inner_kernel, kernel
from boostr._kernels.binning import partition_members
from boostr._kernels.growth_groups import (
    GroupRules,
    draw_threshold,
    find_threshold,
    search_groups,
    solve_group_leaf,
)
from boostr._kernels.histogram import (
    Members,
    accumulate_members,
    call_accumulate,
    count_shares,
)
from boostr._kernels.solve import solve_leaf
from boostr._kernels.split import call_search, sum_bins
from boostr._typing import (
    Address,
    AnyArray,
    BinArray,
    BoolArray,
    FloatArray,
    IndexArray,
    PositionArray,
)

__all__ = [
    "GrowingNodes",
    "Individuals",
    "PlainRules",
    "SplitRules",
    "add_last_leaves",
    "add_sums",
    "begin_node",
    "close_leaves",
    "copy_sums",
    "end_node",
    "find_largest",
    "find_members",
    "grow_best_first",
    "grow_groups_best_first",
    "number_set",
    "place_children",
    "search_node",
]

_NODE_STEP = 0x9E3779B97F4A7C15  # between the seeds of nodes


class Individuals(NamedTuple):
    """Individuals that a tree is grown on."""

    x_binned: BinArray  # (n_individuals, n_features) bins of histograms, C order
    x_fine: BinArray  # (n_individuals, n_features) bins of splits, C order
    gradients: FloatArray  # (n_individuals, n_gradients), C order
    curvatures: FloatArray  # (n_individuals, n_curvatures), C order
    members: IndexArray  # (n_members,) of the root; those of a node stand together
    scratch: IndexArray  # (n_members or more,) working space


class SplitRules(NamedTuple):
    """What may split a node, and what a split is worth; see `find_best_split`."""

    features: IndexArray  # (n_used,) that may split
    n_values: IndexArray  # (n_features,)
    is_categorical: BoolArray | None  # (n_features,)
    penalty: FloatArray  # (n_terms, n_terms)
    min_count: float
    n_candidates: int
    seed: AnyArray  # (1,) uint64 of the tree
    rising: IndexArray  # (n_bins,)
    listed: IndexArray  # (n_places, n_bins) working space
    is_candidate: BoolArray  # (n_places, n_bins) all True, working space
    price: float  # of a leaf
    accumulate: Address  # of `accumulate_histograms`


class PlainRules(NamedTuple):
    """What a node needs besides, where leaves have no groups of terms."""

    solver: int | None
    search: Address  # of `find_best_split`
    sums_anew: bool = False  # nodes are summed anew, and keep no histograms


class GrowingNodes(NamedTuple):
    """Nodes of a tree in the making, up to ``2 * max_leaves - 1`` of them."""

    feature: IndexArray  # -1 in leaves
    bin_threshold: BinArray
    missing_left: BoolArray
    left_child: IndexArray
    category_set: IndexArray  # number among the splits by category, -1 elsewhere
    value: FloatArray  # (n_nodes, n_terms)
    gain: FloatArray
    n_members: FloatArray  # as floats
    goes_left: BoolArray  # (n_nodes, n_bins) fine ones
    is_open: BoolArray  # leaves that can be split
    sums: FloatArray  # (n_nodes, 2, n_channels) of the node and of its left side
    span: PositionArray  # (n_nodes, 2) first member and the one after the last
    slot: PositionArray  # where the node's histograms are


# Numba does not compile what depends on an argument that is None.
@inner_kernel
def _solve(
    sums: FloatArray,
    penalty: FloatArray,
    plain: PlainRules | None,
    grouped: GroupRules | None,
    out: FloatArray,
) -> float:
    """Write the coefficients of a leaf; return how far they lower the objective."""
    drop = 0.0
    if plain is not None:
        drop = solve_leaf(sums, penalty, plain.solver, out)
    if grouped is not None:
        drop = solve_group_leaf(sums, penalty, grouped, out)
    return drop


@inlined_kernel
def _seed_of(node: int, rules: SplitRules) -> np.uint64:
    return rules.seed[0] + np.uint64(node) * np.uint64(_NODE_STEP)


@inner_kernel
def begin_node(
    node: int,
    histogram: FloatArray,
    rules: SplitRules,
    plain: PlainRules | None,
    grouped: GroupRules | None,
    nodes: GrowingNodes,
) -> float:
    """Write the coefficients of a leaf; return how far they lower the objective."""
    sums = nodes.sums[node, 0]
    sum_bins(histogram, sums)
    return _solve(sums, rules.penalty, plain, grouped, nodes.value[node])


@inner_kernel
def search_node(
    node: int,
    place: int,
    drop: float,
    histograms: FloatArray,
    features: IndexArray,
    members: Members,
    rules: SplitRules,
    plain: PlainRules,
    goes_left: BoolArray,
    sums: FloatArray,
) -> tuple[float, int, int, bool]:
    """Return the best split of a node on some features, see `find_best_split`.

    Searches in different places may be made at the same time.
    """
    return call_search(
        plain.search,
        histograms,
        members,
        features,
        rules.n_values,
        rules.is_categorical,
        rules.penalty,
        plain.solver,
        rules.min_count,
        rules.n_candidates,
        _seed_of(node, rules),
        drop,
        rules.rising,
        rules.listed[place],
        rules.is_candidate[place],
        goes_left,
        sums,
    )


@inner_kernel
def end_node(
    node: int,
    found: tuple[float, int, int, bool],
    rules: SplitRules,
    nodes: GrowingNodes,
) -> None:
    """Make a node a leaf, which is open if its best split pays."""
    gain, slot, bin_index, missing_left = found
    nodes.n_members[node] = nodes.sums[node, 0, nodes.sums.shape[2] - 1]
    nodes.gain[node] = gain - rules.price
    nodes.is_open[node] = slot >= 0 and nodes.gain[node] > 0.0
    nodes.feature[node] = rules.features[slot] if slot >= 0 else -1
    nodes.bin_threshold[node] = bin_index
    nodes.missing_left[node] = missing_left
    nodes.left_child[node] = 0
    nodes.category_set[node] = -1


@inner_kernel
def find_members(
    begin: int, end: int, individuals: Individuals, rules: SplitRules
) -> Members:
    """Return members of a tree that stand together."""
    return Members(
        individuals.x_binned,
        individuals.gradients,
        individuals.curvatures,
        individuals.members[begin:end],
        rules.accumulate,
    )


@inner_kernel
def _add_node(
    node: int,
    histograms: FloatArray,
    individuals: Individuals,
    rules: SplitRules,
    plain: PlainRules | None,
    grouped: GroupRules | None,
    nodes: GrowingNodes,
) -> None:
    """Add a leaf with its coefficients; open it if its best split pays."""
    sums_anew = False
    if plain is not None:
        sums_anew = plain.sums_anew
    begin, end = nodes.span[node, 0], nodes.span[node, 1] if sums_anew else 0
    members = find_members(begin, end, individuals, rules)
    if sums_anew:
        accumulate_members(members, rules.features[:1], histograms[:1])
    drop = begin_node(node, histograms[0], rules, plain, grouped, nodes)
    found, sums = (-1.0, -1, 0, False), nodes.sums[node]
    if plain is not None:
        found = search_node(
            node,
            0,
            drop,
            histograms,
            rules.features,
            members,
            rules,
            plain,
            nodes.goes_left[node],
            sums,
        )
    if grouped is not None:
        grouped.drops[node] = drop
        found = search_groups(
            histograms,
            rules.features,
            rules.n_values,
            rules.is_categorical,
            rules.penalty,
            nodes.value[node],
            drop,
            rules.min_count,
            rules.n_candidates,
            _seed_of(node, rules),
            rules.rising,
            rules.is_candidate[0],
            grouped,
            grouped.sides[node],
            sums[0],
            sums[1],
        )
    end_node(node, found, rules, nodes)


@inner_kernel
def _refine(
    node: int,
    individuals: Individuals,
    rules: SplitRules,
    grouped: GroupRules | None,
    nodes: GrowingNodes,
) -> None:
    """Replace the coarse bins of a split by fine ones, and its threshold by the best."""
    if grouped is None:
        return
    feature, sides = int(np.int64(nodes.feature[node])), grouped.sides[node]
    goes_left = nodes.goes_left[node]
    step, n_fine = int(grouped.steps[feature]), int(grouped.n_fine[feature])
    is_missing_left = sides[sides.shape[0] - 1]
    for place in range(goes_left.shape[0]):
        goes_left[place] = sides[place] if step == 1 and place < n_fine else is_missing_left
    if step == 1:
        return
    middle = (int(nodes.bin_threshold[node]) + 1) * step
    middle = middle if middle < n_fine else n_fine
    begin, end = nodes.span[node, 0], nodes.span[node, 1]
    members, sums = individuals.members[begin:end], nodes.sums[node]
    if rules.n_candidates > 0:
        middle = draw_threshold(
            members,
            individuals.x_fine,
            individuals.gradients,
            individuals.curvatures,
            feature,
            middle,
            rules.min_count,
            _seed_of(node, rules),
            grouped,
            sums[1],
        )
    else:
        gain, middle, missing_left = find_threshold(
            members,
            individuals.x_fine,
            individuals.gradients,
            individuals.curvatures,
            feature,
            middle,
            nodes.missing_left[node],
            rules.penalty,
            nodes.value[node],
            grouped.drops[node],
            rules.min_count,
            rules.rising,
            rules.is_candidate[0],
            grouped,
            sides,
            sums,
        )
        nodes.missing_left[node] = missing_left
        if gain > 0.0:
            nodes.gain[node] = gain - rules.price
    nodes.bin_threshold[node] = middle - 1
    for place in range(n_fine):
        goes_left[place] = place < middle
    goes_left[goes_left.shape[0] - 1] = nodes.missing_left[node]


@inner_kernel
def _close(node: int, nodes: GrowingNodes) -> None:
    """Make a node a leaf for good."""
    nodes.feature[node] = -1
    nodes.bin_threshold[node] = 0
    nodes.missing_left[node] = False
    nodes.left_child[node] = 0
    nodes.category_set[node] = -1
    nodes.gain[node] = 0.0


@inlined_kernel
def close_leaves(nodes: GrowingNodes, n_nodes: int) -> None:
    """Make all nodes without children leaves for good."""
    for node in range(n_nodes):
        if nodes.left_child[node] == 0:
            _close(node, nodes)


@inner_kernel
def number_set(
    node: int, is_categorical: BoolArray | None, n_sets: int, nodes: GrowingNodes
) -> int:
    """Give a split by category its number; return how many such splits this is."""
    if is_categorical is not None and is_categorical[nodes.feature[node]]:
        nodes.category_set[node] = n_sets
        return 1
    return 0


@inner_kernel
def find_largest(nodes: GrowingNodes, n_nodes: int) -> int:
    """Return the leaf whose split gains most, the first of equals; -1 if there is none."""
    best = -1
    for node in range(n_nodes):
        if nodes.is_open[node] and (best < 0 or nodes.gain[node] > nodes.gain[best]):
            best = node
    return best


@inner_kernel
def add_last_leaves(
    node: int,
    left: int,
    rules: SplitRules,
    plain: PlainRules | None,
    grouped: GroupRules | None,
    nodes: GrowingNodes,
) -> None:
    """Add the children of the last split: their sums are known already."""
    sums = nodes.sums[node]
    for channel in range(sums.shape[1]):
        sums[0, channel] -= sums[1, channel]
    for child in (left, left + 1):
        own = sums[1] if child == left else sums[0]
        _solve(own, rules.penalty, plain, grouped, nodes.value[child])
        nodes.n_members[child] = own[sums.shape[1] - 1]
        _close(child, nodes)


@inner_kernel
def _send_members(
    node: int, left: int, individuals: Individuals, nodes: GrowingNodes
) -> None:
    """Send the members of a node to its two children."""
    members, scratch = individuals.members, individuals.scratch
    begin, end = nodes.span[node, 0], nodes.span[node, 1]
    feature = int(np.int64(nodes.feature[node]))
    middle = begin + partition_members(
        individuals.x_fine,
        feature,
        nodes.goes_left[node],
        members[begin:end],
        scratch[begin:end],
    )
    nodes.span[left, 0], nodes.span[left, 1] = begin, middle
    nodes.span[left + 1, 0], nodes.span[left + 1, 1] = middle, end


@inner_kernel
def add_sums(values: FloatArray, factor: float, out: FloatArray) -> None:
    """Add sums to others, or take them away."""
    to, given = out.reshape(-1), values.reshape(-1)
    for place in range(to.shape[0]):
        to[place] += factor * given[place]


@inlined_kernel
def copy_sums(values: FloatArray, out: FloatArray) -> None:
    """Copy sums."""
    to, given = out.reshape(-1), values.reshape(-1)
    for place in range(to.shape[0]):
        to[place] = given[place]


@inner_kernel
def _sum_members(
    own: IndexArray,
    individuals: Individuals,
    rules: SplitRules,
    other: FloatArray,
    out: FloatArray,
) -> None:
    """Sum over members, many by shares, see `count_shares`."""
    x_binned, accumulate, features = individuals.x_binned, rules.accumulate, rules.features
    gradients, curvatures = individuals.gradients, individuals.curvatures
    n, n_shares = own.shape[0], count_shares(own.shape[0])
    for share in range(n_shares):
        some = own[n * share // n_shares : n * (share + 1) // n_shares]
        sums = out if share == 0 else other
        call_accumulate(accumulate, x_binned, gradients, curvatures, some, features, sums)
        if share > 0:
            add_sums(other, 1.0, out)


@inlined_kernel
def place_children(node: int, left: int, free: int, nodes: GrowingNodes) -> int:
    """Give the larger child the node's histograms, and return the smaller one."""
    begin, middle, end = nodes.span[left, 0], nodes.span[left, 1], nodes.span[left + 1, 1]
    smaller = left if middle - begin <= end - middle else left + 1
    larger = 2 * left + 1 - smaller
    nodes.slot[smaller], nodes.slot[larger] = free, nodes.slot[node]
    return smaller


@inner_kernel
def _sum_children(
    node: int,
    left: int,
    free: int,
    individuals: Individuals,
    rules: SplitRules,
    histograms: FloatArray,
    nodes: GrowingNodes,
) -> None:
    """Sum over the smaller child; the larger one is the difference."""
    smaller = place_children(node, left, free, nodes)
    own = individuals.members[nodes.span[smaller, 0] : nodes.span[smaller, 1]]
    other = histograms[histograms.shape[0] - 1]
    _sum_members(own, individuals, rules, other, histograms[free])
    larger = 2 * left + 1 - smaller
    add_sums(histograms[free], -1.0, histograms[nodes.slot[larger]])


@inner_kernel
def _sum_gradients(
    individuals: Individuals, rules: SplitRules, gradients: FloatArray, root: FloatArray
) -> None:
    """Sum the channels of the root that change from tree to tree."""
    own = gradients[0]
    _sum_members(individuals.members, individuals, rules, gradients[1], own)
    for slot in range(own.shape[0]):
        for bin_index in range(own.shape[1]):
            for channel in range(own.shape[2]):
                root[slot, bin_index, channel] = own[slot, bin_index, channel]


@inlined_kernel
def _grow(
    individuals: Individuals,
    root: FloatArray,
    gradients: FloatArray,
    rules: SplitRules,
    plain: PlainRules | None,
    grouped: GroupRules | None,
    max_leaves: int,
    histograms: FloatArray,
    nodes: GrowingNodes,
) -> tuple[int, int]:
    """Split the leaf with the largest gain until no split pays or there are enough leaves.

    Parameters
    ----------
    individuals : Individuals
        Bins and statistics; members are reordered, so that those of a leaf stand together.
    root : (n_used, n_bins, n_channels) float64, C order
        The sums of the root; working space for some features where nodes keep no sums.
    gradients : (2, n_used, n_bins, n_gradients) float64, C order
        Working space, where so many channels of the root, the first, are not summed yet;
        else empty.
    rules : SplitRules
        What may split a node.
    plain : PlainRules or None
        What else matters where leaves have no groups of terms.
    grouped : GroupRules or None
        What else matters where they have.
    max_leaves : int
        Leaves at most.
    histograms : (max_leaves + 1, n_used, n_bins, n_channels) float64, C order
        Working space; not used where nodes keep no sums.
    nodes : GrowingNodes
        Overwritten.

    Returns
    -------
    tuple of (int, int)
        Number of nodes, and of splits by category.
    """
    if gradients.shape[1] > 0:
        _sum_gradients(individuals, rules, gradients, root)
    nodes.span[0, 0], nodes.span[0, 1] = 0, individuals.members.shape[0]
    nodes.slot[0] = 0
    sums_anew = False
    if plain is not None:
        sums_anew = plain.sums_anew
    _add_node(0, root, individuals, rules, plain, grouped, nodes)
    if max_leaves > 2 and not sums_anew:
        copy_sums(root, histograms[0])
    n_nodes, n_sets = 1, 0
    for n_leaves in range(2, max_leaves + 1):
        node = find_largest(nodes, n_nodes)
        if node < 0:
            break
        nodes.is_open[node] = False
        nodes.left_child[node] = n_nodes
        _refine(node, individuals, rules, grouped, nodes)
        n_sets += number_set(node, rules.is_categorical, n_sets, nodes)
        _send_members(node, n_nodes, individuals, nodes)
        if n_leaves == max_leaves:
            add_last_leaves(node, n_nodes, rules, plain, grouped, nodes)
        else:
            free = n_leaves - 1
            if not sums_anew:
                _sum_children(node, n_nodes, free, individuals, rules, histograms, nodes)
            for child in (n_nodes, n_nodes + 1):
                own = root if sums_anew else histograms[nodes.slot[child]]
                _add_node(child, own, individuals, rules, plain, grouped, nodes)
        n_nodes += 2
    close_leaves(nodes, n_nodes)
    return n_nodes, n_sets


@kernel
def grow_best_first(
    individuals: Individuals,
    root: FloatArray,
    gradients: FloatArray,
    rules: SplitRules,
    max_leaves: int,
    histograms: FloatArray,
    nodes: GrowingNodes,
    plain: PlainRules,
) -> tuple[int, int]:
    """Grow a tree whose leaves have no groups of terms, see `_grow`."""
    return _grow(
        individuals, root, gradients, rules, plain, None, max_leaves, histograms, nodes
    )


@kernel
def grow_groups_best_first(
    individuals: Individuals,
    root: FloatArray,
    gradients: FloatArray,
    rules: SplitRules,
    max_leaves: int,
    histograms: FloatArray,
    nodes: GrowingNodes,
    grouped: GroupRules,
) -> tuple[int, int]:
    """Grow a tree whose leaves have groups of terms, see `_grow`."""
    return _grow(
        individuals, root, gradients, rules, None, grouped, max_leaves, histograms, nodes
    )
