"""Paths from the roots of trees to their leaves, and who takes them."""

from __future__ import annotations

import numpy as np

from boostr._kernels.apply import Nodes
from boostr._kernels.shap import LeafPaths
from boostr._typing import FloatArray, IndexArray, OffsetArray, PositionArray
from boostr.data.flat import offsets_of

__all__ = ["average_leaves", "trace_paths"]


def _find_parents(
    nodes: Nodes, counts: FloatArray, roots: IndexArray
) -> tuple[PositionArray, FloatArray]:
    """Return the parent of every node (-1: none), and its share of the parent's members."""
    splits = np.flatnonzero(nodes.feature >= 0)
    left = _own_root(roots, splits) + nodes.left_child[splits]
    both = counts[left] + counts[left + 1]
    # Without individuals there is nothing to tell the sides apart.
    goes_left = np.divide(counts[left], both, out=np.full(len(left), 0.5), where=both > 0.0)
    parent, share = np.full(len(counts), -1), np.ones(len(counts))
    parent[left] = parent[left + 1] = splits
    share[left], share[left + 1] = goes_left, 1.0 - goes_left
    return parent, share


def _own_tree(roots: IndexArray, places: PositionArray) -> PositionArray:
    """Return the trees of nodes."""
    return np.searchsorted(roots, places, side="right") - 1


def _own_root(roots: IndexArray, places: PositionArray) -> PositionArray:
    """Return the roots of the trees of nodes."""
    return roots[_own_tree(roots, places)].astype(np.int64)


def average_leaves(nodes: Nodes, counts: FloatArray, roots: IndexArray) -> FloatArray:
    """Return the sum over trees of the average leaf: what is expected if nothing is known.

    Parameters
    ----------
    nodes : Nodes
        The trees, one after the other.
    counts : (n_nodes,) float64
        Training individuals in every node.
    roots : (n_trees,) int32
        First node of every tree.

    Returns
    -------
    (n_terms,) float64
        The sum.
    """
    parent, share = _find_parents(nodes, counts, roots)
    leaves = np.flatnonzero(nodes.feature < 0)
    total, node = share[leaves], parent[leaves]
    while (node >= 0).any():
        total = np.where(node >= 0, total * share[node], total)
        node = np.where(node >= 0, parent[node], -1)
    return np.asarray(total @ nodes.value[leaves])


def trace_paths(nodes: Nodes, counts: FloatArray, roots: IndexArray) -> LeafPaths:
    """List the steps and entries of all paths of all trees, and what leaves hold."""
    parent, share = _find_parents(nodes, counts, roots)
    splits, leaves = np.flatnonzero(nodes.feature >= 0), np.flatnonzero(nodes.feature < 0)
    n_trees, n_leaves = len(roots), len(leaves)
    split_tree, leaf_tree = _own_tree(roots, splits), _own_tree(roots, leaves)
    split_offsets = _count(split_tree, n_trees)
    leaf, node = _climb(leaves, parent)
    split = parent[node]
    feature = nodes.feature[split].astype(np.int64)
    entry, first = _number(leaf * (int(nodes.feature.max(initial=0)) + 1) + feature)
    entry_offsets = _count(leaf[first], n_leaves)
    entry_share = np.ones(len(first))
    np.multiply.at(entry_share, entry, share[node])
    used, used_tree = _find_used(nodes, splits, split_tree)
    used_offsets = _count(used_tree, n_trees)
    entry_tree = leaf_tree[leaf[first]]
    width = int(used.max(initial=0)) + 1
    found = np.searchsorted(
        used_tree * width + used, entry_tree * width + feature[first], side="left"
    )
    term_leaf, terms = np.nonzero(nodes.value[leaves])
    return LeafPaths(
        split_offsets=split_offsets,
        splits=splits,
        used_offsets=used_offsets,
        used=used,
        leaf_offsets=_count(leaf_tree, n_trees),
        leaves=leaves,
        step_offsets=_count(leaf, n_leaves),
        step_split=np.searchsorted(splits, split) - split_offsets[leaf_tree[leaf]],
        step_left=node == _own_root(roots, node) + nodes.left_child[split],
        step_entry=entry - entry_offsets[leaf],
        entry_offsets=entry_offsets,
        entry_feature=feature[first],
        entry_used=found - used_offsets[entry_tree],
        entry_share=entry_share,
        term_offsets=_count(term_leaf, n_leaves),
        terms=np.ascontiguousarray(terms),  # kernels are compiled for each layout
    )


def _count(owner: PositionArray, n: int) -> OffsetArray:
    """Return where the entries of each owner begin, of entries sorted by owner."""
    return offsets_of(np.bincount(owner, minlength=n))


def _climb(
    leaves: PositionArray, parent: PositionArray
) -> tuple[PositionArray, PositionArray]:
    """Return the leaf and the node of every step: from the first leaf up, and so on."""
    place, node = np.arange(len(leaves)), leaves
    steps = [(place[:0], node[:0])]
    while len(node):
        is_inner = parent[node] >= 0
        place, node = place[is_inner], node[is_inner]
        steps.append((place, node))
        node = parent[node]
    place, node = (np.concatenate(parts) for parts in zip(*steps, strict=True))
    order = np.argsort(place, kind="stable")
    return place[order], node[order]


def _number(keys: PositionArray) -> tuple[PositionArray, PositionArray]:
    """Return numbers of keys, in the order of their first places, and these places."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return number[inverse], first[order]


def _find_used(
    nodes: Nodes, splits: PositionArray, tree: PositionArray
) -> tuple[PositionArray, PositionArray]:
    """Return the features that trees split on, tree by tree, and their trees."""
    feature = nodes.feature[splits].astype(np.int64)
    width = int(feature.max(initial=0)) + 1
    keys = np.unique(tree * width + feature)
    return keys % width, keys // width
