"""Several rounds of boosting by several threads.

All steps of a split are shared, see :mod:`boostr._kernels.team`. Their parts depend on the
number of threads, but the bits of their results do not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostr._kernels._jit import inner_kernel, kernel
from boostr._kernels.apply import add_leaves, find_some_leaves, sum_in_order
from boostr._kernels.binning import partition_members
from boostr._kernels.growth import (
    GrowingNodes,
    Individuals,
    PlainRules,
    SplitRules,
    add_last_leaves,
    add_sums,
    begin_node,
    close_leaves,
    copy_sums,
    end_node,
    find_largest,
    find_members,
    number_set,
    place_children,
    search_node,
)
from boostr._kernels.histogram import call_accumulate, count_shares
from boostr._kernels.rounds import (
    GrownTrees,
    ModelState,
    end_round,
    read_tree,
    write_tree,
)
from boostr._kernels.split import ROUNDING
from boostr._kernels.team import (
    RESULTS,
    Team,
    begin_step,
    cut,
    dismiss,
    next_part,
    read_step,
)
from boostr._typing import AnyArray, BoolArray, FloatArray, IndexArray, PositionArray

__all__ = ["FoundSplits", "boost_together"]

_SUM, _JOIN, _SEARCH, _DIVIDE, _GATHER, _ADD = range(6)  # steps
_PARTS_ADDED = 4  # of the individuals for each thread: some parts take longer than others


class FoundSplits(NamedTuple):
    """The best splits on runs of features: of a node, or of two, one after the other."""

    drop: FloatArray  # (2,) how far leaves lower the objective
    reduction: FloatArray  # (n_places,) how far splits do; see `find_best_split`
    split: PositionArray  # (n_places, 3) feature, bin, and whether missing values go left
    goes_left: BoolArray  # (n_places, n_bins) fine ones
    sums: FloatArray  # (n_places, 2, n_channels)


_Tree = tuple[  # what all steps need, see `_do_step`
    Individuals,
    FloatArray,
    FloatArray,
    SplitRules,
    PlainRules,
    FloatArray,
    GrowingNodes,
    FoundSplits,
    ModelState,
    GrownTrees,
    Team,
]


@inner_kernel
def _sum_part(
    node: int,
    part: int,
    n_parts: int,
    individuals: Individuals,
    root: FloatArray,
    gradients: FloatArray,
    rules: SplitRules,
    histograms: FloatArray,
    nodes: GrowingNodes,
    everybody: IndexArray,
) -> None:
    """Sum over members, many by shares, see `count_shares`.

    Without shares, whoever sums some features also joins their sums.
    """
    begin, end = nodes.span[node, 0], nodes.span[node, 1]
    n_shares = count_shares(end - begin)
    n_runs = n_parts // n_shares
    share = part // n_runs
    first, last = cut(begin, end, share, n_shares)
    low, high = cut(0, rules.features.shape[0], part % n_runs, n_runs)
    if node == 0:
        out = gradients[share]
    else:
        out = histograms[nodes.slot[node] if share == 0 else histograms.shape[0] - share]
    call_accumulate(
        rules.accumulate,
        individuals.x_binned,
        individuals.gradients,
        individuals.curvatures,
        (everybody if node == 0 else individuals.members)[first:last],
        rules.features[low:high],
        out[low:high],
    )
    if n_shares == 1:
        _join_part(node, part, n_parts, root, gradients, histograms, nodes)


@inner_kernel
def _join_part(
    node: int,
    part: int,
    n_parts: int,
    root: FloatArray,
    gradients: FloatArray,
    histograms: FloatArray,
    nodes: GrowingNodes,
) -> None:
    """Add the sums of shares; the sibling of a node has what is left of the parent's.

    Those of the root are copied, so that its children may overwrite them.
    """
    low, high = cut(0, root.shape[0], part, n_parts)
    n_shares = count_shares(nodes.span[node, 1] - nodes.span[node, 0])
    if node == 0:
        for slot in range(low, high):
            for bin_index in range(gradients.shape[2]):
                for channel in range(gradients.shape[3]):
                    total = gradients[0, slot, bin_index, channel]
                    for share in range(1, n_shares):
                        total += gradients[share, slot, bin_index, channel]
                    root[slot, bin_index, channel] = total
        copy_sums(root[low:high], histograms[0, low:high])
        return
    sums = histograms[nodes.slot[node], low:high]
    for share in range(1, n_shares):
        add_sums(histograms[histograms.shape[0] - share, low:high], 1.0, sums)
    sibling = node + 1 if node % 2 == 1 else node - 1
    add_sums(sums, -1.0, histograms[nodes.slot[sibling], low:high])


@inner_kernel
def _search_part(
    node: int,
    part: int,
    n_parts: int,
    individuals: Individuals,
    root: FloatArray,
    histograms: FloatArray,
    rules: SplitRules,
    plain: PlainRules,
    nodes: GrowingNodes,
    found: FoundSplits,
) -> None:
    """Find the best split on a run of features: of the root, or of one of two siblings."""
    n_nodes = 1 if node == 0 else 2
    own = node + part % n_nodes
    low, high = cut(0, rules.features.shape[0], part // n_nodes, n_parts // n_nodes)
    sums = root if own == 0 else histograms[nodes.slot[own]]
    total = nodes.sums[own, 0]
    for channel in range(total.shape[0]):
        found.sums[part, 0, channel] = total[channel]
    # With 0 in the place of what a leaf gains: `_choose_split` compares the best with it.
    reduction, slot, bin_index, missing_left = search_node(
        own,
        part,
        0.0,
        sums[low:high],
        rules.features[low:high],
        find_members(0, 0, individuals, rules),
        rules,
        plain,
        found.goes_left[part],
        found.sums[part],
    )
    found.reduction[part] = reduction
    found.split[part, 0] = low + slot if slot >= 0 else -1
    found.split[part, 1], found.split[part, 2] = bin_index, missing_left


@inner_kernel
def _choose_split(
    node: int,
    drop: float,
    first: int,
    step: int,
    n_parts: int,
    rules: SplitRules,
    nodes: GrowingNodes,
    found: FoundSplits,
) -> None:
    """Choose the best of the splits of a node, the first of equals, as it is done alone."""
    best, most = -1, drop * (1.0 + ROUNDING)
    for part in range(first, n_parts, step):
        if found.split[part, 0] >= 0 and found.reduction[part] > most:
            best, most = part, found.reduction[part]
    split = -1.0, -1, 0, False
    if best >= 0:
        slot, bin_index = found.split[best, 0], found.split[best, 1]
        split = most - drop, slot, bin_index, found.split[best, 2] == 1
        for channel in range(nodes.sums.shape[2]):
            nodes.sums[node, 1, channel] = found.sums[best, 1, channel]
        for bin_index in range(nodes.goes_left.shape[1]):
            nodes.goes_left[node, bin_index] = found.goes_left[best, bin_index]
    end_node(node, split, rules, nodes)


@inner_kernel
def _divide_part(
    node: int,
    part: int,
    n_parts: int,
    individuals: Individuals,
    nodes: GrowingNodes,
    everybody: IndexArray,
    board: PositionArray,
) -> None:
    """Divide members of a node; those who go right stand in the scratch, too.

    Those of the root are everybody, in ascending order.
    """
    begin, end = cut(nodes.span[node, 0], nodes.span[node, 1], part, n_parts)
    if node == 0:
        _copy_members(everybody[begin:end], individuals.members[begin:])
    board[RESULTS + part] = partition_members(
        individuals.x_fine,
        int(np.int64(nodes.feature[node])),
        nodes.goes_left[node],
        individuals.members[begin:end],
        individuals.scratch[begin:end],
    )


@inner_kernel
def _copy_members(members: IndexArray, out: IndexArray) -> None:
    """Copy members one after the other, so that they may move to the front."""
    for position in range(np.uint64(members.shape[0])):
        out[position] = members[position]


@inner_kernel
def _gather_left(
    node: int, n_parts: int, members: IndexArray, nodes: GrowingNodes, board: PositionArray
) -> None:
    """Bring those of all parts who go left together; divide the span of their node."""
    begin, end, left = nodes.span[node, 0], nodes.span[node, 1], nodes.left_child[node]
    middle = begin
    for part in range(n_parts):
        first, _ = cut(begin, end, part, n_parts)
        n_left = board[RESULTS + part]
        # The places in between are free: those who go right are in the scratch.
        if part > 0:
            _copy_members(members[first : first + n_left], members[middle:])
        middle += n_left
    nodes.span[left, 0], nodes.span[left, 1] = begin, middle
    nodes.span[left + 1, 0], nodes.span[left + 1, 1] = middle, end


@inner_kernel
def _gather_right(
    node: int,
    part: int,
    n_parts: int,
    individuals: Individuals,
    nodes: GrowingNodes,
    board: PositionArray,
) -> None:
    """Copy those of a part who go right to their places."""
    begin, end = nodes.span[node, 0], nodes.span[node, 1]
    first, last = cut(begin, end, part, n_parts)
    place = first
    for other in range(part, n_parts):
        place += board[RESULTS + other]  # who go left have come from behind
    right = individuals.scratch[first : last - board[RESULTS + part]]
    _copy_members(right, individuals.members[place:])


@inner_kernel
def _add_part(
    turn: int,
    part: int,
    n_parts: int,
    individuals: Individuals,
    span: PositionArray,
    model: ModelState,
    out: GrownTrees,
) -> None:
    """Add the tree of a round to the coefficients of some individuals."""
    leaves, tree = individuals.scratch, read_tree(turn, out)
    n_rows, n_chunks = leaves.shape[0], model.losses.shape[0]
    first, last = cut(0, n_chunks, part, n_parts)
    find_some_leaves(
        cut(0, n_rows, first, n_chunks)[0],
        cut(0, n_rows, last, n_chunks)[0],
        individuals.x_fine,
        model.missing_bin,
        tree,
        individuals.members,
        span,
        model.others,
        leaves,
    )
    for chunk in range(first, last):
        begin, end = cut(0, n_rows, chunk, n_chunks)
        model.losses[chunk] = add_leaves(
            begin,
            end,
            leaves,
            tree.value,
            model.linear,
            model.quadratic,
            model.theta,
            individuals.gradients,
        )


@inner_kernel
def _do_step(
    kind: int,
    node: int,
    n_parts: int,
    individuals: Individuals,
    root: FloatArray,
    gradients: FloatArray,
    rules: SplitRules,
    plain: PlainRules,
    histograms: FloatArray,
    nodes: GrowingNodes,
    found: FoundSplits,
    model: ModelState,
    out: GrownTrees,
    team: Team,
) -> None:
    """Do a step together with helpers; as one of them, do parts of all steps.

    The node is the number of the round where a tree is added.
    """
    board = team.board
    part = begin_step(team, kind, node, n_parts)
    while part >= 0:
        kind, node, n_parts = read_step(team)
        if kind == _SUM:
            data = (individuals, root, gradients, rules, histograms, nodes)
            _sum_part(node, part, n_parts, *data, model.members)
        elif kind == _JOIN:
            _join_part(node, part, n_parts, root, gradients, histograms, nodes)
        elif kind == _SEARCH:
            sums = (individuals, root, histograms)
            _search_part(node, part, n_parts, *sums, rules, plain, nodes, found)
        elif kind == _DIVIDE:
            _divide_part(node, part, n_parts, individuals, nodes, model.members, board)
        elif kind == _GATHER:
            _gather_right(node, part, n_parts, individuals, nodes, board)
        else:
            _add_part(node, part, n_parts, individuals, nodes.span, model, out)
        part = next_part(team)


@inner_kernel
def _sum(node: int, n_runs: int, nodes: GrowingNodes, tree: _Tree) -> None:
    """Sum over the members of a node, and find the sums of its sibling."""
    n_shares = count_shares(nodes.span[node, 1] - nodes.span[node, 0])
    if n_shares > 1:
        _do_step(_SUM, node, n_shares * ((n_runs + n_shares - 1) // n_shares), *tree)
        _do_step(_JOIN, node, n_runs, *tree)
    else:
        _do_step(_SUM, node, n_runs, *tree)


@inner_kernel
def _search(node: int, n_nodes: int, n_runs: int, tree: _Tree) -> None:
    """Add the root, or two siblings: leaves that are open if their best splits pay."""
    _, root, _, rules, plain, histograms, nodes, found, _, _, _ = tree
    for place in range(n_nodes):
        own = node + place
        sums = root if own == 0 else histograms[nodes.slot[own]]
        found.drop[place] = begin_node(own, sums[0], rules, plain, None, nodes)
    n_parts = n_nodes * n_runs
    _do_step(_SEARCH, node, n_parts, *tree)
    for place in range(n_nodes):
        drop, parts = found.drop[place], (place, n_nodes, n_parts)
        _choose_split(node + place, drop, *parts, rules, nodes, found)


@inner_kernel
def _grow(tree: _Tree, max_leaves: int) -> tuple[int, int]:
    """Do what `grow_best_first` does on several threads."""
    individuals, root, gradients, rules, plain, histograms, nodes, _, model, _, team = tree
    n_threads, n_features = team.n_threads, rules.features.shape[0]
    n_runs = n_threads if n_threads < n_features else n_features
    nodes.span[0, 0], nodes.span[0, 1] = 0, individuals.members.shape[0]
    nodes.slot[0] = 0
    if gradients.shape[1] > 0:
        _sum(0, n_runs, nodes, tree)
    else:
        copy_sums(root, histograms[0])
    _search(0, 1, n_runs, tree)
    n_nodes, n_sets = 1, 0
    for n_leaves in range(2, max_leaves + 1):
        node = find_largest(nodes, n_nodes)
        if node < 0:
            break
        nodes.is_open[node] = False
        nodes.left_child[node] = n_nodes
        n_sets += number_set(node, rules.is_categorical, n_sets, nodes)
        _do_step(_DIVIDE, node, n_threads, *tree)
        _gather_left(node, n_threads, individuals.members, nodes, team.board)
        _do_step(_GATHER, node, n_threads, *tree)
        if n_leaves == max_leaves:
            add_last_leaves(node, n_nodes, rules, plain, None, nodes)
        else:
            smaller = place_children(node, n_nodes, n_leaves - 1, nodes)
            _sum(smaller, n_runs, nodes, tree)
            _search(n_nodes, 2, n_runs, tree)
        n_nodes += 2
    if n_nodes == 1:  # no step has put everybody at the root
        _copy_members(model.members, individuals.members)
    close_leaves(nodes, n_nodes)
    return n_nodes, n_sets


@kernel
def boost_together(
    seeds: AnyArray,
    learning_rate: float,
    individuals: Individuals,
    root: FloatArray,
    gradients: FloatArray,
    rules: SplitRules,
    max_leaves: int,
    histograms: FloatArray,
    nodes: GrowingNodes,
    plain: PlainRules,
    model: ModelState,
    out: GrownTrees,
    found: FoundSplits,
    team: Team,
) -> None:
    """Do what `boost` does on several threads."""
    tree = (
        individuals,
        root,
        gradients,
        rules,
        plain,
        histograms,
        nodes,
        found,
        model,
        out,
        team,
    )
    if team.number > 0:
        _do_step(0, 0, 0, *tree)
        return
    for turn in range(seeds.shape[0]):
        rules.seed[0] = seeds[turn]
        n_new = _grow(tree, max_leaves)
        write_tree(turn, nodes, n_new, learning_rate, out)
        n_chunks, n_parts = model.losses.shape[0], _PARTS_ADDED * team.n_threads
        _do_step(_ADD, turn, n_parts if n_parts < n_chunks else n_chunks, *tree)
        total = sum_in_order(model.losses)
        end_round(turn, total, individuals.gradients, model, out)
    dismiss(team)
