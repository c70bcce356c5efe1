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
from boostr._typing import Address, FloatArray, IndexArray, PositionArray

__all__ = [
    "Followed",
    "GrownTrees",
    "boost",
    "find_add",
    "find_grow",
    "find_grow_groups",
]

_N_NODES = types.UniTuple(types.int64, 2)  # and number of splits by category
_grow: Any
_grow, find_grow = call_any_by_address(grow_best_first, _N_NODES)  # or the next one
_, find_grow_groups = call_any_by_address(grow_groups_best_first, _N_NODES)
_add, find_add = call_any_by_address(add_grown_tree, types.float64)


class Followed(NamedTuple):
    """What trees are added to, and what the loss is computed from."""

    members: IndexArray  # (n_members,) that trees are grown on
    held_out: IndexArray  # (n_held_out,) all others
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
def _write_tree(
    nodes: GrowingNodes,
    n_nodes: int,
    learning_rate: float,
    first: int,
    first_set: int,
    out: GrownTrees,
) -> None:
    """Write a tree, shrunk, after those of earlier rounds."""
    n_terms, n_bins = nodes.value.shape[1], nodes.goes_left.shape[1]
    trees = out.nodes
    for node in range(n_nodes):
        place = first + node
        trees.feature[place] = nodes.feature[node]
        trees.bin_threshold[place] = nodes.bin_threshold[node]
        trees.missing_left[place] = nodes.missing_left[node]
        trees.left_child[place] = nodes.left_child[node]
        trees.category_set[place] = nodes.category_set[node]
        out.gain[place] = nodes.gain[node]
        out.n_members[place] = nodes.n_members[node]
        for term in range(n_terms):
            trees.value[place, term] = nodes.value[node, term] * learning_rate
        if nodes.category_set[node] < 0:
            continue
        own = trees.categories[first_set + nodes.category_set[node]]
        for word in range(own.shape[0]):
            own[word] = 0
        for bin_index in range(n_bins):
            if nodes.goes_left[node, bin_index]:
                own[bin_index // 32] |= np.uint32(1) << np.uint32(bin_index % 32)


@inner_kernel
def _copy_held_out(theta: FloatArray, held_out: IndexArray, out: FloatArray) -> None:
    for position in range(held_out.shape[0]):
        row = np.uint64(held_out[position])
        for term in range(theta.shape[1]):
            out[position, term] = theta[row, term]


@kernel
def boost(
    grow: Address,
    add: Address,
    seeds: PositionArray,
    learning_rate: float,
    individuals: Individuals,
    root: FloatArray,
    gradients: FloatArray,
    rules: SplitRules,
    max_leaves: int,
    histograms: FloatArray,
    nodes: GrowingNodes,
    kind: PlainRules | GroupRules,
    followed: Followed,
    out: GrownTrees,
) -> None:
    """Grow and add one tree after the other.

    Parameters
    ----------
    grow, add : Address
        Of the kernel that grows a tree, given the next arguments (see `grow_best_first`),
        and of `add_grown_tree`.
    seeds : (n_rounds,) int64
        Seeds of the trees, in the place of that of ``rules``.
    learning_rate : float
        What the coefficients of leaves are multiplied by.
    individuals, root, gradients, rules, max_leaves, histograms, nodes, kind
        Arguments of the kernel that grows a tree; the root is not summed yet.
    followed : Followed
        Coefficients, which are updated in place, as are the gradients of individuals.
    out : GrownTrees
        Overwritten.
    """
    held_out, theta, members = followed.held_out, followed.theta, individuals.members
    trees, first, first_set = out.nodes, 0, 0
    for turn in range(seeds.shape[0]):
        for position in range(members.shape[0]):
            members[position] = followed.members[position]
        own_rules = SplitRules(
            rules.features,
            rules.n_values,
            rules.is_categorical,
            rules.penalty,
            rules.min_count,
            rules.n_candidates,
            np.uint64(seeds[turn]),
            rules.rising,
            rules.is_candidate,
            rules.price,
            rules.accumulate,
        )
        n_nodes, n_sets = _grow(
            grow,
            individuals,
            root,
            gradients,
            own_rules,
            max_leaves,
            histograms,
            nodes,
            kind,
        )
        _write_tree(nodes, n_nodes, learning_rate, first, first_set, out)
        last, last_set = first + n_nodes, first_set + n_sets
        tree = Nodes(
            trees.feature[first:last],
            trees.bin_threshold[first:last],
            trees.missing_left[first:last],
            trees.left_child[first:last],
            trees.category_set[first:last],
            trees.categories[first_set:last_set],
            trees.value[first:last],
        )
        out.losses[turn, 0] = _add(
            add,
            individuals.x_fine,
            followed.missing_bin,
            tree,
            followed.linear,
            followed.quadratic,
            theta,
            individuals.gradients,
            members,
            nodes.span,
            held_out,
            individuals.scratch,
            followed.losses,
        )
        gradient = individuals.gradients
        out.losses[turn, 1] = quadratic_loss(theta, gradient, followed.linear, held_out)
        _copy_held_out(theta, held_out, out.kept[turn])
        out.ends[turn, 0], out.ends[turn, 1] = last, last_set
        first, first_set = last, last_set
