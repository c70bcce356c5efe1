"""Several rounds of boosting, where calls from Python would take longer than a tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boostr._kernels._jit import call_any_by_address, inner_kernel, kernel, types
from boostr._kernels.apply import Nodes, add_grown_tree, quadratic_loss
from boostr._kernels.growth import (
    GrowingNodes,
    Individuals,
    PlainRules,
    SplitRules,
    grow_best_first,
    grow_groups_best_first,
)
from boostr._kernels.growth_groups import GroupRules
from boostr._typing import Address, AnyArray, FloatArray, IndexArray, PositionArray

__all__ = [
    "GrownTrees",
    "ModelState",
    "begin_round",
    "boost",
    "end_round",
    "find_add",
    "find_grow",
    "find_grow_groups",
    "read_tree",
    "write_tree",
]

_N_NODES = types.UniTuple(types.int64, 2)  # and number of splits by category
_grow: Any
_grow, find_grow = call_any_by_address(grow_best_first, _N_NODES)  # or the next one
_, find_grow_groups = call_any_by_address(grow_groups_best_first, _N_NODES)
_add, find_add = call_any_by_address(add_grown_tree, types.float64)


class ModelState(NamedTuple):
    """A model in the making: coefficients, and what its loss depends on."""

    members: IndexArray  # (n_members,) that trees are grown on
    others: IndexArray  # (n_others,) that they are not grown on
    held_out: IndexArray  # (n_held_out,) some of the others, or all
    missing_bin: int
    linear: FloatArray  # (n_individuals, n_terms)
    quadratic: FloatArray  # (n_individuals, n_terms or n_terms * (n_terms + 1) / 2)
    theta: FloatArray  # (n_individuals, n_terms)
    losses: FloatArray  # (n_chunks,) working space


class GrownTrees(NamedTuple):
    """Trees of several rounds, one after the other, and what they lead to."""

    nodes: Nodes
    gain: FloatArray  # (n_nodes,)
    n_members: FloatArray  # (n_nodes,)
    ends: PositionArray  # (n_rounds, 2) of the nodes of a tree, and of its sets
    losses: FloatArray  # (n_rounds, 2) of all individuals, and of those held out
    kept: FloatArray  # (n_rounds, n_held_out, n_terms) coefficients of those held out


@inner_kernel
def write_tree(
    turn: int, nodes: GrowingNodes, n_new: tuple[int, int], rate: float, out: GrownTrees
) -> None:
    """Write a tree, shrunk, after those of earlier rounds."""
    n_terms, n_bins = nodes.value.shape[1], nodes.goes_left.shape[1]
    trees, first, first_set = out.nodes, 0, 0
    if turn > 0:
        first, first_set = out.ends[turn - 1, 0], out.ends[turn - 1, 1]
    out.ends[turn, 0], out.ends[turn, 1] = first + n_new[0], first_set + n_new[1]
    for node in range(n_new[0]):
        place = first + node
        trees.feature[place] = nodes.feature[node]
        trees.bin_threshold[place] = nodes.bin_threshold[node]
        trees.missing_left[place] = nodes.missing_left[node]
        trees.left_child[place] = nodes.left_child[node]
        trees.category_set[place] = nodes.category_set[node]
        out.gain[place] = nodes.gain[node]
        out.n_members[place] = nodes.n_members[node]
        for term in range(n_terms):
            trees.value[place, term] = nodes.value[node, term] * rate
        if nodes.category_set[node] < 0:
            continue
        own = trees.categories[first_set + nodes.category_set[node]]
        for word in range(own.shape[0]):
            own[word] = 0
        for bin_index in range(n_bins):
            if nodes.goes_left[node, bin_index]:
                own[bin_index // 32] |= np.uint32(1) << np.uint32(bin_index % 32)


@inner_kernel
def read_tree(turn: int, out: GrownTrees) -> Nodes:
    """Return the tree of a round."""
    trees, first, first_set = out.nodes, 0, 0
    if turn > 0:
        first, first_set = out.ends[turn - 1, 0], out.ends[turn - 1, 1]
    last, last_set = out.ends[turn, 0], out.ends[turn, 1]
    return Nodes(
        trees.feature[first:last],
        trees.bin_threshold[first:last],
        trees.missing_left[first:last],
        trees.left_child[first:last],
        trees.category_set[first:last],
        trees.categories[first_set:last_set],
        trees.value[first:last],
    )


@inner_kernel
def end_round(
    turn: int, total: float, gradients: FloatArray, model: ModelState, out: GrownTrees
) -> None:
    """Write what a tree led to, given the loss of all individuals."""
    theta, held_out, kept = model.theta, model.held_out, out.kept[turn]
    out.losses[turn, 0] = total
    out.losses[turn, 1] = quadratic_loss(theta, gradients, model.linear, held_out)
    for position in range(held_out.shape[0]):
        row = np.uint64(held_out[position])
        for term in range(theta.shape[1]):
            kept[position, term] = theta[row, term]


@inner_kernel
def begin_round(
    turn: int,
    seeds: AnyArray,
    members: IndexArray,
    model: ModelState,
    rules: SplitRules,
) -> None:
    """Put all members at the root, and set the seed of the tree."""
    rules.seed[0] = seeds[turn]
    for position in range(members.shape[0]):
        members[position] = model.members[position]


@kernel
def boost(
    grow: Address,
    add: Address,
    seeds: AnyArray,
    learning_rate: float,
    individuals: Individuals,
    root: FloatArray,
    gradients: FloatArray,
    rules: SplitRules,
    max_leaves: int,
    histograms: FloatArray,
    nodes: GrowingNodes,
    kind: PlainRules | GroupRules,
    model: ModelState,
    out: GrownTrees,
) -> None:
    """Grow and add one tree after the other.

    Parameters
    ----------
    grow, add : Address
        Of the kernel that grows a tree, given the next arguments (see `grow_best_first`),
        and of `add_grown_tree`.
    seeds : (n_rounds,) uint64
        Seeds of the trees.
    learning_rate : float
        What the coefficients of leaves are multiplied by.
    individuals, root, gradients, rules, max_leaves, histograms, nodes, kind
        Arguments of the kernel that grows a tree. If the root is summed already, there
        may be one round only.
    model : ModelState
        Coefficients, which are updated in place, as are the gradients of individuals.
    out : GrownTrees
        Overwritten.
    """
    for turn in range(seeds.shape[0]):
        begin_round(turn, seeds, individuals.members, model, rules)
        n_new = _grow(
            grow,
            individuals,
            root,
            gradients,
            rules,
            max_leaves,
            histograms,
            nodes,
            kind,
        )
        write_tree(turn, nodes, n_new, learning_rate, out)
        total = _add(
            add,
            individuals.x_fine,
            model.missing_bin,
            read_tree(turn, out),
            model.linear,
            model.quadratic,
            model.theta,
            individuals.gradients,
            individuals.members,
            nodes.span,
            model.others,
            individuals.scratch,
            model.losses,
        )
        end_round(turn, total, individuals.gradients, model, out)
