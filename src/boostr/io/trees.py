"""Many trees packed into a few arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.ensemble import Ensemble, Member
from boostr._engine.tree import Tree
from boostr._kernels.apply import Nodes
from boostr._typing import AnyArray, BinArray, BoolArray, FloatArray, IndexArray
from boostr.io.classes import BASIS, CLOCK, check_clock_reach
from boostr.io.rules import array, instance, number, optional, require
from boostr.io.values import register

__all__ = ["ENSEMBLE", "PackedTrees", "check_trees_match"]

ENSEMBLE = instance(Ensemble, words="Ensemble")


@dataclass(frozen=True, slots=True, eq=False)
class PackedTrees:
    """The nodes of many trees, one after the other; see `Nodes`."""

    n_nodes: IndexArray  # (n_trees,)
    n_sets: IndexArray  # (n_trees,) sets of categories
    feature: IndexArray
    bin_threshold: BinArray
    missing_left: BoolArray
    left_child: IndexArray  # counted from the root of the tree
    category_set: IndexArray  # counted within the tree
    categories: AnyArray
    value: FloatArray
    gain: FloatArray
    count: FloatArray

    @classmethod
    def from_trees(cls, trees: Sequence[Tree], n_terms: int) -> PackedTrees:
        """Return trees packed one after the other."""
        parts = [tree.nodes for tree in trees]

        def join(arrays: list[AnyArray], like: AnyArray) -> AnyArray:
            return np.concatenate(arrays) if arrays else like

        index = np.empty(0, dtype=np.int32)
        return cls(
            n_nodes=np.array([len(part.feature) for part in parts], dtype=np.int32),
            n_sets=np.array([len(part.categories) for part in parts], dtype=np.int32),
            feature=join([part.feature for part in parts], index),
            bin_threshold=join(
                [part.bin_threshold for part in parts], np.empty(0, np.uint8)
            ),
            missing_left=join([part.missing_left for part in parts], np.empty(0, np.bool_)),
            left_child=join([part.left_child for part in parts], index),
            category_set=join([part.category_set for part in parts], index),
            categories=join(
                [part.categories for part in parts], np.empty((0, 8), np.uint32)
            ),
            value=join([part.value for part in parts], np.empty((0, n_terms))),
            gain=join([tree.gain for tree in trees], np.empty(0)),
            count=join([tree.count for tree in trees], np.empty(0)),
        )

    def to_trees(self) -> list[Tree]:
        """Return the trees one by one."""
        ends = np.cumsum(self.n_nodes).tolist()
        set_ends = np.cumsum(self.n_sets).tolist()
        trees = []
        begin = set_begin = 0
        for end, set_end in zip(ends, set_ends, strict=True):
            here = slice(begin, end)
            nodes = Nodes(
                self.feature[here],
                self.bin_threshold[here],
                self.missing_left[here],
                self.left_child[here],
                self.category_set[here],
                self.categories[set_begin:set_end],
                self.value[here],
            )
            trees.append(Tree(nodes, self.gain[here], self.count[here]))
            begin, set_begin = end, set_end
        return trees


def _check_packed(trees: PackedTrees) -> None:
    """Refuse nodes that are no trees: every walk down must end, and inside."""
    n_total, n_sets = len(trees.feature), len(trees.categories)
    lengths = {len(getattr(trees, name)) for name in _PER_NODE}
    require(lengths == {n_total}, "All nodes must have all entries")
    require(trees.categories.shape[1] == 8, "A set of categories must have eight words")
    require(len(trees.n_sets) == len(trees.n_nodes), "All trees must have all entries")
    require(
        np.all(trees.n_nodes > 0) and np.all(trees.n_sets >= 0), "Trees must have nodes"
    )
    ends = np.cumsum(trees.n_nodes, dtype=np.int64)
    is_all = n_total == (ends[-1] if len(ends) else 0)
    is_all = is_all and n_sets == trees.n_sets.sum(dtype=np.int64)
    require(is_all, "All nodes and sets of categories must belong to a tree")
    root = np.repeat(ends - trees.n_nodes, trees.n_nodes)
    size = np.repeat(trees.n_nodes, trees.n_nodes)
    is_split = trees.feature >= 0
    node = np.flatnonzero(is_split)
    left = trees.left_child[node].astype(np.int64)
    is_below = (left > node - root[node]) & (left + 1 < size[node])
    require(np.all(is_below), "The children of a node must come after it, in its tree")
    children = np.concatenate([left, left + 1]) + np.tile(root[node], 2)
    n_parents = np.bincount(children, minlength=n_total)
    is_root = np.arange(n_total) == root
    is_tree = np.all(n_parents[~is_root] == 1)
    require(is_tree, "Every node but the root must be the child of one other")
    own_sets = np.repeat(trees.n_sets, trees.n_nodes)
    is_known = (trees.category_set >= -1) & (trees.category_set < own_sets)
    require(np.all(is_known), "Sets of categories must belong to the tree")
    require(np.all(trees.count >= 0.0), "Numbers of individuals must not be negative")


def check_trees_match(trees: PackedTrees, is_categorical: BoolArray, n_terms: int) -> None:
    """Refuse trees that do not match the functions or the features."""
    require(trees.value.shape[1] == n_terms, "Leaves must have a number per function")
    require(
        np.all((trees.feature >= -1) & (trees.feature < len(is_categorical))),
        "Trees must split on features that there are",
    )
    is_split = trees.feature >= 0
    by_set = trees.category_set[is_split] >= 0
    require(
        np.array_equal(by_set, is_categorical[trees.feature[is_split]]),
        "Categories must be split by sets, and numbers by thresholds",
    )


def _take_ensemble(ensemble: Ensemble) -> dict[str, Any]:
    members = ensemble.members
    trees = [tree for member in members for tree in member.trees]
    return {
        "clock": ensemble.clock,
        "basis": ensemble.basis,
        "mapper": ensemble.mapper,
        "horizon": ensemble.horizon,
        "weights": np.array([member.weight for member in members], dtype=np.float64),
        "n_trees": np.array([len(member.trees) for member in members], dtype=np.int32),
        "trees": PackedTrees.from_trees(trees, ensemble.basis.n_terms),
        "floor": ensemble.floor,
    }


def _make_ensemble(**parts: Any) -> Ensemble:
    packed: PackedTrees = parts["trees"]
    weights, n_trees = parts["weights"], parts["n_trees"]
    is_right = len(weights) == len(n_trees) > 0 and bool(np.all(n_trees >= 0))
    is_right = is_right and n_trees.sum(dtype=np.int64) == len(packed.n_nodes)
    require(is_right, "All trees must belong to a model of the ensemble")
    check_trees_match(packed, parts["mapper"].is_categorical, parts["basis"].n_terms)
    check_clock_reach(parts["clock"], parts["horizon"])
    trees = packed.to_trees()
    lasts = np.cumsum(n_trees)
    members = tuple(
        Member(tuple(trees[last - count : last]), float(weight))
        for weight, count, last in zip(weights, n_trees, lasts, strict=True)
    )
    return Ensemble(
        parts["clock"],
        parts["basis"],
        parts["mapper"],
        parts["horizon"],
        members,
        parts.get("floor"),
    )


_PER_NODE = {
    "feature": array("int32", "n_nodes"),
    "bin_threshold": array("uint8", "n_nodes"),
    "missing_left": array("bool", "n_nodes"),
    "left_child": array("int32", "n_nodes"),
    "category_set": array("int32", "n_nodes"),
    "value": array("float64", "n_nodes", "n_terms"),
    "gain": array("float64", "n_nodes"),
    "count": array("float64", "n_nodes"),
}
register(
    PackedTrees,
    {
        "n_nodes": array("int32", "n_trees"),
        "n_sets": array("int32", "n_trees"),
        **_PER_NODE,
        "categories": array("uint32", "n_sets", "8"),
    },
    check=_check_packed,
)
register(
    Ensemble,
    {
        "clock": CLOCK,
        "basis": BASIS,
        "mapper": instance(BinMapper, words="BinMapper"),
        "horizon": number(0.0, above=True),
        "weights": array("float64", "n_members"),
        "n_trees": array("int32", "n_members"),
        "trees": instance(PackedTrees, words="PackedTrees"),
    },
    take_apart=_take_ensemble,
    put_together=_make_ensemble,
    later={"floor": optional(number(0.0, above=True))},
)
