"""Paths from the roots of trees to their leaves, and who takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel
from boostr._kernels.apply import Nodes
from boostr._typing import BoolArray, FloatArray, IndexArray

__all__ = ["LeafPaths", "average_leaves", "end_of_tree", "longest_path", "trace_paths"]


class LeafPaths(NamedTuple):
    """The paths from the root of one tree to its leaves.

    A path has a step for every split and an entry for every feature on it.
    """

    splits: IndexArray  # (n_splits,) their nodes
    leaves: IndexArray  # (n_leaves,) their nodes
    step_offsets: IndexArray  # (n_leaves + 1,)
    step_split: IndexArray  # (n_steps,) place in ``splits``
    step_left: BoolArray  # (n_steps,)
    step_entry: IndexArray  # (n_steps,) place among the entries of the leaf
    entry_offsets: IndexArray  # (n_leaves + 1,)
    entry_feature: IndexArray  # (n_entries,)
    entry_share: FloatArray  # (n_entries,) of those who stay on the path


@inner_kernel
def _left_share(nodes: Nodes, counts: FloatArray, root: int, node: int) -> float:
    """Return the share of a split's individuals on its left side."""
    left = root + nodes.left_child[node]
    both = counts[left] + counts[left + 1]
    # Without individuals there is nothing to tell the sides apart.
    return counts[left] / both if both > 0.0 else 0.5


@allocating_kernel
def average_leaves(
    nodes: Nodes, counts: FloatArray, roots: IndexArray, out: FloatArray
) -> None:
    """Write the sum over trees of the average leaf: what is expected if nothing is known.

    Parameters
    ----------
    nodes : Nodes
        The trees, one after the other.
    counts : (n_nodes,) float64
        Training individuals in every node.
    roots : (n_trees,) int32
        First node of every tree.
    out : (n_terms,) float64
        Overwritten.
    """
    out[:] = 0.0
    share = np.ones(counts.shape[0])
    for tree in range(roots.shape[0]):
        root = roots[tree]
        for node in range(root, end_of_tree(roots, tree, counts.shape[0])):
            if nodes.feature[node] < 0:
                for term in range(out.shape[0]):
                    out[term] += share[node] * nodes.value[node, term]
                continue
            left = root + nodes.left_child[node]
            goes_left = _left_share(nodes, counts, root, node)
            share[left] = share[node] * goes_left
            share[left + 1] = share[node] * (1.0 - goes_left)


@inner_kernel
def end_of_tree(roots: IndexArray, tree: int, n_nodes: int) -> int:
    return roots[tree + 1] if tree + 1 < roots.shape[0] else n_nodes


@allocating_kernel
def longest_path(nodes: Nodes, roots: IndexArray) -> int:
    """Return the largest number of splits on a path from a root to a leaf."""
    depth = np.zeros(nodes.feature.shape[0], np.int64)
    longest = 0
    for tree in range(roots.shape[0]):
        root = roots[tree]
        for node in range(root, end_of_tree(roots, tree, depth.shape[0])):
            if nodes.feature[node] < 0:
                longest = max(longest, depth[node])
                continue
            left = root + nodes.left_child[node]
            depth[left] = depth[left + 1] = depth[node] + 1
    return longest


@allocating_kernel
def trace_paths(nodes: Nodes, counts: FloatArray, root: int, end: int) -> LeafPaths:
    """List the steps and entries of all paths of the tree from ``root`` to ``end``."""
    parent = np.full(end - root, -1, np.int32)
    place = np.zeros(end - root, np.int32)  # of a split among the splits
    depth = np.zeros(end - root, np.int32)
    n_leaves, n_steps = 0, 0
    for node in range(end - root):
        if nodes.feature[root + node] < 0:
            n_leaves += 1
            n_steps += depth[node]
            continue
        place[node] = node - n_leaves
        left = nodes.left_child[root + node]
        parent[left] = parent[left + 1] = node
        depth[left] = depth[left + 1] = depth[node] + 1
    paths = LeafPaths(
        np.empty(end - root - n_leaves, np.int32),
        np.empty(n_leaves, np.int32),
        np.zeros(n_leaves + 1, np.int32),
        np.empty(n_steps, np.int32),
        np.empty(n_steps, np.bool_),
        np.empty(n_steps, np.int32),
        np.zeros(n_leaves + 1, np.int32),
        np.empty(n_steps, np.int32),
        np.empty(n_steps),
    )
    leaf = 0
    for node in range(end - root):
        if nodes.feature[root + node] >= 0:
            paths.splits[place[node]] = root + node
            continue
        paths.leaves[leaf] = root + node
        _climb(nodes, counts, root, node, parent, place, leaf, paths)
        leaf += 1
    return paths


@inner_kernel
def _climb(
    nodes: Nodes,
    counts: FloatArray,
    root: int,
    node: int,
    parent: IndexArray,
    place: IndexArray,
    leaf: int,
    paths: LeafPaths,
) -> None:
    """Write the steps and entries of one leaf, from the leaf up to the root."""
    step, begin = paths.step_offsets[leaf], paths.entry_offsets[leaf]
    end = begin
    while parent[node] >= 0:
        split = parent[node]
        is_left = node == nodes.left_child[root + split]
        share = _left_share(nodes, counts, root, root + split)
        share = share if is_left else 1.0 - share
        feature = nodes.feature[root + split]
        entry = begin
        while entry < end and paths.entry_feature[entry] != feature:
            entry += 1
        if entry == end:
            paths.entry_feature[entry] = feature
            paths.entry_share[entry] = 1.0
            end += 1
        paths.entry_share[entry] *= share
        paths.step_split[step] = place[split]
        paths.step_left[step] = is_left
        paths.step_entry[step] = entry - begin
        step += 1
        node = split
    paths.step_offsets[leaf + 1] = step
    paths.entry_offsets[leaf + 1] = end
