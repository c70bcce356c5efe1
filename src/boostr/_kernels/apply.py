"""Leaf of every individual, and what a new tree changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel, kernel
from boostr._kernels.threads import run_in_parts
from boostr._typing import (
    AnyArray,
    BinArray,
    BoolArray,
    FloatArray,
    IndexArray,
    PositionArray,
)

__all__ = [
    "Nodes",
    "add_grown_tree",
    "add_leaves",
    "add_tree",
    "add_tree_parallel",
    "find_leaves",
    "find_some_leaves",
    "quadratic_loss",
    "sum_in_order",
    "sum_leaves",
    "sum_leaves_parallel",
]


class Nodes(NamedTuple):
    """Nodes of one tree, or of many trees one after the other.

    Children are counted from the root of their own tree; the right child follows the left.
    The missing bin is higher than all others, and its bit in a set of categories says the
    same as ``missing_left``.
    """

    feature: IndexArray  # (n_nodes,) -1 in leaves
    bin_threshold: BinArray  # (n_nodes,) bins up to this one go left
    missing_left: BoolArray  # (n_nodes,)
    left_child: IndexArray  # (n_nodes,)
    category_set: IndexArray  # (n_nodes,) row of ``categories``, -1 for numeric splits
    categories: AnyArray  # (n_sets, 8) uint32, bit sets of the categories that go left
    value: FloatArray  # (n_nodes, n_terms) coefficients; inner nodes keep theirs too


_BLOCK = 256  # rows that walk through one tree before the next tree is fetched


@inner_kernel
def _leaf_of(
    x_binned: BinArray, row: int, missing_bin: int, nodes: Nodes, root: int
) -> int:
    """Walk from the root of one tree down to a leaf."""
    # Indices are unsigned: the compiler would else look whether they count from the end.
    node: Any = np.uint64(root)
    feature = nodes.feature[node]
    while feature >= 0:
        bin_index = x_binned[row, np.uint64(feature)]
        # The missing bin is the highest: unless it is sent left, it goes right by itself.
        is_left = bin_index <= nodes.bin_threshold[node]
        if nodes.missing_left[node] and bin_index == missing_bin:
            is_left = True
        elif nodes.categories.shape[0] > 0 and nodes.category_set[node] >= 0:
            word = nodes.categories[nodes.category_set[node], bin_index >> 5]
            is_left = (word >> np.uint32(bin_index & 31)) & np.uint32(1) == 1
        node = np.uint64(root + nodes.left_child[node] + (0 if is_left else 1))
        feature = nodes.feature[node]
    return node


@kernel
def find_leaves(
    x_binned: BinArray, missing_bin: int, nodes: Nodes, root: int, out: IndexArray
) -> None:
    """Write the leaf (its node number) of every individual in one tree.

    Parameters
    ----------
    x_binned : (n_individuals, n_features) uint8, C order
        Bin of every individual on every feature.
    missing_bin : int
        The bin of missing values.
    nodes : Nodes
        The tree, or many of them.
    root : int
        First node of the tree to walk through.
    out : (n_individuals,) int32
        Overwritten with node numbers.
    """
    for row in range(x_binned.shape[0]):
        out[row] = _leaf_of(x_binned, row, missing_bin, nodes, root)


@inner_kernel
def add_leaves(
    begin: int,
    end: int,
    leaves: IndexArray,
    value: FloatArray,
    linear: FloatArray,
    quadratic: FloatArray,
    theta: FloatArray,
    gradients: FloatArray,
) -> float:
    """Add the leaves of some individuals; return their loss."""
    n_terms = value.shape[1]
    is_diagonal = quadratic.shape[1] == n_terms
    total = 0.0
    first_row, last_row = np.uint64(begin), np.uint64(end)
    if n_terms == 1:  # the same by name, which is faster
        for row in range(first_row, last_row):
            added = value[np.uint64(leaves[row]), 0]
            coefficient = theta[row, 0] + added
            gradient = gradients[row, 0] + quadratic[row, 0] * added
            theta[row, 0] = coefficient
            gradients[row, 0] = gradient
            total += coefficient * (gradient - linear[row, 0])
        return 0.5 * total
    if n_terms == 2 and not is_diagonal:
        for row in range(first_row, last_row):
            leaf = np.uint64(leaves[row])
            first, second = value[leaf, 0], value[leaf, 1]
            theta_1, theta_2 = theta[row, 0] + first, theta[row, 1] + second
            mixed = quadratic[row, 1]
            gradient_1 = gradients[row, 0] + quadratic[row, 0] * first + mixed * second
            gradient_2 = gradients[row, 1] + mixed * first + quadratic[row, 2] * second
            theta[row, 0], theta[row, 1] = theta_1, theta_2
            gradients[row, 0], gradients[row, 1] = gradient_1, gradient_2
            total += theta_1 * (gradient_1 - linear[row, 0])
            total += theta_2 * (gradient_2 - linear[row, 1])
        return 0.5 * total
    for row in range(first_row, last_row):
        leaf, position = np.uint64(leaves[row]), 0
        for term in range(n_terms):
            added = value[leaf, term]
            theta[row, term] += added
            if is_diagonal:
                gradients[row, term] += quadratic[row, term] * added
                continue
            for other in range(term):
                gradients[row, term] += quadratic[row, position] * value[leaf, other]
                gradients[row, other] += quadratic[row, position] * added
                position += 1
            gradients[row, term] += quadratic[row, position] * added
            position += 1
        for term in range(n_terms):
            total += theta[row, term] * (gradients[row, term] - linear[row, term])
    return 0.5 * total


@kernel
def sum_in_order(losses: FloatArray) -> float:
    """Return a sum whose bits do not depend on the number of threads."""
    total = 0.0
    for chunk in range(losses.shape[0]):
        total += losses[chunk]
    return total


@allocating_kernel
def add_tree(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    linear: FloatArray,
    quadratic: FloatArray,
    theta: FloatArray,
    gradients: FloatArray,
) -> float:
    """Add one tree to the coefficients and gradients of all individuals.

    Parameters
    ----------
    x_binned : (n_individuals, n_features) uint8, C order
        Bin of every individual on every feature.
    missing_bin : int
        The bin of missing values.
    nodes : Nodes
        The tree; its values are added as they are (already shrunk).
    linear : (n_individuals, n_terms) float64
        Every individual's b.
    quadratic : (n_individuals, n_terms or n_terms * (n_terms + 1) / 2) float64
        Diagonal or lower triangle of every individual's H.
    theta : (n_individuals, n_terms) float64
        Coefficients; updated in place.
    gradients : (n_individuals, n_terms) float64
        Updated in place.

    Returns
    -------
    float
        The loss of all individuals after the update, see `quadratic_loss`.
    """
    leaves = np.empty(x_binned.shape[0], np.int32)
    find_leaves(x_binned, missing_bin, nodes, 0, leaves)
    data = (linear, quadratic, theta, gradients)
    return add_leaves(0, leaves.shape[0], leaves, nodes.value, *data)


@inner_kernel
def _count_below(rows: IndexArray, row: int) -> int:
    """Return how many of ascending rows come before one."""
    first, last = 0, rows.shape[0]
    while first < last:
        middle = (first + last) // 2
        if rows[middle] < row:
            first = middle + 1
        else:
            last = middle
    return first


@inner_kernel
def find_some_leaves(
    begin: int,
    end: int,
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    members: IndexArray,
    span: PositionArray,
    others: IndexArray,
    leaves: IndexArray,
) -> None:
    """Write the leaves of some individuals, or of all, see `add_grown_tree`.

    Unless these are all, the members of every leaf must be in ascending order, and so must
    the others.
    """
    for node in range(nodes.feature.shape[0]):
        if nodes.feature[node] < 0:
            own = members[span[node, 0] : span[node, 1]]
            for position in range(_count_below(own, begin), _count_below(own, end)):
                leaves[own[position]] = node
    for position in range(_count_below(others, begin), _count_below(others, end)):
        row: Any = np.int64(others[position])
        leaves[row] = _leaf_of(x_binned, row, missing_bin, nodes, 0)


@kernel
def add_grown_tree(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    linear: FloatArray,
    quadratic: FloatArray,
    theta: FloatArray,
    gradients: FloatArray,
    members: IndexArray,
    span: PositionArray,
    others: IndexArray,
    leaves: IndexArray,
    losses: FloatArray,
) -> float:
    """Do the same with a tree of which most individuals know their leaf already.

    Parameters
    ----------
    x_binned, missing_bin, nodes, linear, quadratic, theta, gradients
        See `add_tree`.
    members : (n_members,) int32
        Individuals that the tree was grown on, those of a leaf side by side.
    span : (n_nodes, 2) int64
        The first member of every node, and the one after the last.
    others : (n_others,) int32
        All other individuals.
    leaves : (n_individuals,) int32
        Working space.
    losses : (n_chunks,) float64
        Overwritten with the losses of runs of individuals; with as many parts, their sum
        has the same bits as that of `add_tree_parallel`.

    Returns
    -------
    float
        The loss of all individuals after the update, see `quadratic_loss`.
    """
    n_rows, n_chunks = leaves.shape[0], losses.shape[0]
    known = x_binned, missing_bin, nodes, members, span, others
    find_some_leaves(0, n_rows, *known, leaves)
    for chunk in range(n_chunks):
        begin, end = chunk * n_rows // n_chunks, (chunk + 1) * n_rows // n_chunks
        losses[chunk] = add_leaves(
            begin, end, leaves, nodes.value, linear, quadratic, theta, gradients
        )
    return sum_in_order(losses)


def add_tree_parallel(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    linear: FloatArray,
    quadratic: FloatArray,
    theta: FloatArray,
    gradients: FloatArray,
    n_parts: int,
) -> float:
    """Do the same on all threads; individuals are independent, so the bits are the same.

    The loss alone depends, in its last bits, on the number of parts.
    """

    def add(own: slice) -> float:
        data = linear[own], quadratic[own], theta[own], gradients[own]
        return add_tree(x_binned[own], missing_bin, nodes, *data)

    return sum_in_order(np.array(run_in_parts(len(x_binned), n_parts, add)))


@kernel
def quadratic_loss(
    theta: FloatArray, gradients: FloatArray, linear: FloatArray, members: IndexArray
) -> float:
    """Return the summed loss 1/2 theta'H theta - b'theta = 1/2 theta'(g - b) of members."""
    total = 0.0
    for position in range(members.shape[0]):
        member = np.uint64(members[position])
        for term in range(theta.shape[1]):
            total += theta[member, term] * (gradients[member, term] - linear[member, term])
    return 0.5 * total


@kernel
def sum_leaves(
    x_binned: BinArray, missing_bin: int, nodes: Nodes, roots: IndexArray, out: FloatArray
) -> None:
    """Add the leaf coefficients of many trees for every individual.

    Parameters
    ----------
    x_binned : (n_individuals, n_features) uint8, C order
        Bin of every individual on every feature.
    missing_bin : int
        The bin of missing values.
    nodes : Nodes
        The trees, one after the other.
    roots : (n_trees,) int32
        First node of every tree.
    out : (n_individuals, n_terms) float64
        The sums are added to it.

    Notes
    -----
    A block of rows walks through one tree before the next one: the tree stays in the cache.
    """
    n_rows = x_binned.shape[0]
    for begin in range(0, n_rows, _BLOCK):
        end = begin + _BLOCK if begin + _BLOCK < n_rows else n_rows
        for tree in range(roots.shape[0]):
            root: Any = np.int64(roots[tree])
            for row in range(begin, end):
                leaf = _leaf_of(x_binned, row, missing_bin, nodes, root)
                for term in range(out.shape[1]):
                    out[row, term] += nodes.value[leaf, term]


def sum_leaves_parallel(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    roots: IndexArray,
    out: FloatArray,
    n_parts: int,
) -> None:
    """Do the same on all threads."""
    run_in_parts(
        len(x_binned),
        n_parts,
        lambda own: sum_leaves(x_binned[own], missing_bin, nodes, roots, out[own]),
    )
