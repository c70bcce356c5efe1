"""Several rounds of boosting by several threads.

All steps of a split are shared, see :mod:`boostr._kernels.team`. Their parts depend on the
number of threads, but the bits of their results do not.
"""

from __future__ import annotations

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
    add_node,
    add_sums,
    close_leaves,
    copy_sums,
    find_largest,
    number_set,
    place_children,
)
from boostr._kernels.histogram import call_accumulate, count_shares
from boostr._kernels.rounds import (
    GrownTrees,
    ModelState,
    begin_round,
    end_round,
    read_tree,
    write_tree,
)
from boostr._kernels.team import (
    RESULTS,
    Team,
    begin_step,
    cut,
    dismiss,
    next_part,
    read_step,
)
from boostr._typing import AnyArray, FloatArray, IndexArray, PositionArray

__all__ = ["boost_together"]

_SUM, _JOIN, _SEARCH, _DIVIDE, _GATHER, _FIND, _ADD = range(7)  # steps
_N_FOUND = 8  # parts in which leaves are found
_Tree = tuple[  # what all steps need, see `_do_step`
    Individuals,
    FloatArray,
    FloatArray,
    SplitRules,
    PlainRules,
    FloatArray,
    GrowingNodes,
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
        individuals.members[first:last],
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
    """Add the sums of shares; the sibling of a node has what is left of the parent's."""
    low, high = cut(0, root.shape[0], part, n_parts)
    n_shares = count_shares(nodes.span[node, 1] - nodes.span[node, 0])
    if node == 0:
        own = gradients[0, low:high]
        for share in range(1, n_shares):
            add_sums(gradients[share, low:high], 1.0, own)
        for slot in range(high - low):
            for bin_index in range(own.shape[1]):
                for channel in range(own.shape[2]):
                    root[low + slot, bin_index, channel] = own[slot, bin_index, channel]
        return
    sums = histograms[nodes.slot[node], low:high]
    for share in range(1, n_shares):
        add_sums(histograms[histograms.shape[0] - share, low:high], 1.0, sums)
    sibling = node + 1 if node % 2 == 1 else node - 1
    add_sums(sums, -1.0, histograms[nodes.slot[sibling], low:high])


@inner_kernel
def _divide_part(
    node: int,
    part: int,
    n_parts: int,
    individuals: Individuals,
    nodes: GrowingNodes,
    board: PositionArray,
) -> None:
    """Divide members of a node; those who go right stand in the scratch, too."""
    begin, end = cut(nodes.span[node, 0], nodes.span[node, 1], part, n_parts)
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
    model: ModelState,
    out: GrownTrees,
) -> None:
    """Add the tree of a round to the coefficients of some individuals."""
    leaves = individuals.scratch
    begin, end = cut(0, leaves.shape[0], part, n_parts)
    model.losses[part] = add_leaves(
        begin,
        end,
        leaves,
        read_tree(turn, out).value,
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
    model: ModelState,
    out: GrownTrees,
    team: Team,
) -> None:
    """Do a step together with helpers; as one of them, do parts of all steps.

    The node is the number of the round where leaves are found and added.
    """
    board = team.board
    part = begin_step(team, kind, node, n_parts)
    while part >= 0:
        kind, node, n_parts = read_step(team)
        if kind == _SUM:
            data = (individuals, root, gradients, rules, histograms, nodes)
            _sum_part(node, part, n_parts, *data)
        elif kind == _JOIN:
            _join_part(node, part, n_parts, root, gradients, histograms, nodes)
        elif kind == _SEARCH:
            own = node + part
            sums = root if own == 0 else histograms[nodes.slot[own]]
            add_node(own, sums, individuals, rules, plain, None, nodes)
        elif kind == _DIVIDE:
            _divide_part(node, part, n_parts, individuals, nodes, board)
        elif kind == _GATHER:
            _gather_right(node, part, n_parts, individuals, nodes, board)
        elif kind == _FIND:
            find_some_leaves(
                individuals.x_fine,
                model.missing_bin,
                read_tree(node, out),
                individuals.members,
                nodes.span,
                model.others,
                part,
                n_parts,
                individuals.scratch,
            )
        else:
            _add_part(node, part, n_parts, individuals, model, out)
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
def _grow(tree: _Tree, max_leaves: int) -> tuple[int, int]:
    """Do what `grow_best_first` does on several threads."""
    individuals, root, gradients, rules, plain, histograms, nodes, _, _, team = tree
    n_threads, n_features = team.n_threads, rules.features.shape[0]
    n_runs = n_threads if n_threads < n_features else n_features
    nodes.span[0, 0], nodes.span[0, 1] = 0, individuals.members.shape[0]
    nodes.slot[0] = 0
    if gradients.shape[1] > 0:
        _sum(0, n_runs, nodes, tree)
    _do_step(_SEARCH, 0, 1, *tree)
    if max_leaves > 2:
        copy_sums(root, histograms[0])
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
            _do_step(_SEARCH, n_nodes, 2, *tree)
        n_nodes += 2
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
        model,
        out,
        team,
    )
    if team.is_helper:
        _do_step(0, 0, 0, *tree)
        return
    for turn in range(seeds.shape[0]):
        begin_round(turn, seeds, individuals.members, model, rules)
        n_new = _grow(tree, max_leaves)
        write_tree(turn, nodes, n_new, learning_rate, out)
        _do_step(_FIND, turn, _N_FOUND, *tree)
        _do_step(_ADD, turn, model.losses.shape[0], *tree)
        total = sum_in_order(model.losses)
        end_round(turn, total, individuals.gradients, model, out)
    dismiss(team)
